/** Roots of unity in the languages of C's family: a function that computes one, and calls of it. */
import type { ElementType } from '../../ir/index.ts';
import { productError } from '../../numeric/doubledouble.ts';
import { decimal } from './dialect.ts';

/** The words that the function is made of. */
export interface RootWords {
  /** The 64-bit integer and how its literals end. */
  readonly wide: { readonly type: string; readonly suffix: string };
  /** Before the type of a function that the kernel calls. */
  readonly inline: string;
  pair(re: string, im: string, type: string): string;
  /** a · b + c, rounded once. */
  multiplyAdd(a: string, b: string, c: string, type: ElementType): string;
  /** Statements that set `s` and `c` to the sine and the cosine of `x` half turns. */
  sines(type: ElementType): readonly string[];
}

const NARROW = 'root';
const WIDE = 'root_wide';

/** e^{−2πi·p/q}, with 1/(2q) in two parts that a rest of a quarter turn is multiplied with. */
export function rootCall(p: string, wide: boolean, q: number, type: ElementType): string {
  const literals = halves(q, type).map((value) => `${decimal(value, type)}${type === 'f32' ? 'f' : ''}`);
  return `${wide ? WIDE : NARROW}(${p}, ${q}u, ${literals.join(', ')})`;
}

/** 1/(2q) as a sum of two numbers of a type. */
function halves(q: number, type: ElementType): [high: number, low: number] {
  const whole = 1 / (2 * q);
  if (type === 'f32') return [Math.fround(whole), Math.fround(whole - Math.fround(whole))];
  const product = whole * (2 * q);
  return [whole, (1 - product - productError(whole, 2 * q, product)) / (2 * q)];
}

/** The functions that some lines call, each whole. */
export function rootFunctions(type: ElementType, lines: readonly string[], words: RootWords): string[] {
  const calls = (name: string) => lines.some((line) => line.includes(`${name}(`));
  return [
    ...(calls(NARROW) ? [rootFunction(NARROW, 'int', type, words)] : []),
    ...(calls(WIDE) ? [rootFunction(WIDE, words.wide.type, type, words)] : []),
  ];
}

/** Quarter turns are taken off in integers: what is left is at most an eighth of a turn, and rounded once. */
function rootFunction(name: string, integer: string, type: ElementType, words: RootWords): string {
  const real = type === 'f32' ? 'float' : 'double';
  const pair = `${real}2`;
  const unsigned = `unsigned ${integer}`;
  const body = [
    `const ${unsigned} quarters = (4u * p + q / 2u) / q;`,
    `const ${real} rest = (${real})(${integer})(4u * p - quarters * q);`,
    `const ${real} x = ${words.multiplyAdd('rest', 'high', 'rest * low', type)};`,
    ...words.sines(type),
    'const bool odd = (quarters & 1u) != 0u, back = (quarters & 2u) != 0u;',
    `const ${real} re = odd ? -s : c, im = odd ? -c : -s;`,
    `return ${words.pair('back ? -re : re', 'back ? -im : im', pair)};`,
  ];
  return [
    `${words.inline} ${pair} ${name}(const ${unsigned} p, const ${unsigned} q, const ${real} high, const ${real} low) {`,
    ...body.map((line) => `  ${line}`),
    '}',
  ].join('\n');
}
