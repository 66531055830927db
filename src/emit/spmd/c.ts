/**
 * What CUDA, HIP and OpenCL C have in common: the words of C, and the frame around the statements of a kernel.
 */
import type { Kernel } from '../../ir/index.ts';
import type { Barrier, Dialect, ValueType } from './dialect.ts';
import { decimal } from './dialect.ts';
import { groupsOf } from './grid.ts';
import { type Lowered, lower } from './lower.ts';
import type { BoundArray, PiecedArray } from './memory.ts';
import type { SpmdOptions, SpmdProgram } from './program.ts';
import { type RootWords, rootCall, rootFunctions } from './root.ts';

/** Where the members of the family differ. */
export interface CFamily extends RootWords {
  readonly language: Exclude<SpmdProgram['language'], 'wgsl'>;
  readonly reserved: Iterable<string>;
  /** Before the type of a pointer to a global. */
  readonly global: string;
  readonly restrict: string;
  /** The group's number along x, y or z, and the thread's along x. */
  group(axis: number): string;
  readonly thread: string;
  barrier(barrier: Barrier): string;
  /** See `Dialect`. */
  readonly blockCopy?: (name: string, block: string) => string;
  readonly begun?: Dialect['begun'];
  readonly globals?: Dialect['global'];
  readonly sharedLoad?: Dialect['sharedLoad'];
  /** What stands before everything: whole functions, or lines. */
  preamble(kernel: Kernel, shared: readonly SharedText[]): readonly string[];
  /** What stands before the name of the entry point. */
  head(threads: number, blocks: number, beside: number | undefined): string;
  /** Declarations of shared arrays. */
  shared(arrays: readonly SharedText[]): readonly string[];
}

export interface SharedText {
  readonly name: string;
  readonly type: string;
  readonly length: number;
  readonly byteOffset: number;
  readonly read: boolean;
}

const RESERVED = `
  auto bool break case char class const constant continue default delete do double else enum extern false first_group float for
  friend generic global goto group half if inline int kernel local long namespace new operator private public
  register restrict return root root_wide shared short signed sizeof static struct switch t template this true typedef typename
  uint ulong union unsigned using void volatile while`;

/** A kernel as the body of a function, and what stands around it. */
export interface WrittenKernel {
  readonly lowered: Lowered;
  /** Functions that the body calls, each whole. */
  readonly helpers: readonly string[];
  readonly parameters: readonly string[];
  /** Uses `group`, `rank` and `t`, of which it declares none. */
  readonly body: readonly string[];
  /** Pointers to shared arrays, and the memory itself before them. */
  readonly shared: readonly string[];
  uses(name: 'group' | 'rank' | 't'): boolean;
}

export function writeC(kernel: Kernel, options: SpmdOptions, family: CFamily): WrittenKernel {
  const lowered = lower(kernel, options, dialectOf(family));
  const { memory, lines, grid } = lowered;
  const { wide } = family;
  const shared = memory.shared.map((array) => ({ ...array, type: typeName(array) }));
  const words = new Set(lines.flatMap((line) => line.match(/\b(group|rank|t)\b/g) ?? []));
  return {
    lowered,
    helpers: [
      ...family.preamble(kernel, shared),
      ...memory.pieced.flatMap((array) => piecewise(array, family)),
      ...(options.computedRoots ? rootFunctions(kernel.precision, lines, family) : []),
    ],
    parameters: [
      ...memory.bindings.map((array) => pointer(array, family, !array.aliased)),
      ...memory.offsets.map(({ name }) => `const ${wide.type} ${name}_offset`),
      ...(grid.launches > 1 ? [`const ${wide.type} first_group`] : []),
    ],
    body: [
      ...memory.offsets.map((array) => {
        const offset = `${array.name}_offset${array.pair ? ' / 2' : ''}`;
        if (array.pieced) return `const ${wide.type} ${array.name}_start = ${offset};`;
        const constant = array.binding.written ? '' : 'const ';
        return `${constant}${family.global}${typeName(array)} *const ${array.name} = ${array.binding.name} + ${offset};`;
      }),
      ...lines,
    ],
    shared: family.shared(shared),
    uses: (name) => words.has(name),
  };
}

export function emitC(kernel: Kernel, options: SpmdOptions, family: CFamily): SpmdProgram {
  const { lowered, helpers, parameters, body, shared, uses } = writeC(kernel, options, family);
  const { entry, threads, grid, blocks, memory } = lowered;
  const groups = grid.dimensions;
  const numbers = groups.flatMap((count, axis) => {
    const step = groups.slice(0, axis).reduce((a, b) => a * b, 1);
    const name = axis === 0 && blocks > 1 ? `(int)${family.group(0)} / ${blocks}` : `(int)${family.group(axis)}`;
    return axis === 0 ? [name] : count === 1 ? [] : [`${step} * ${name}`];
  });
  if (grid.launches > 1) numbers.unshift('(int)first_group');
  // One group, or one thread: its number is known.
  const lines = [
    ...(uses('group') ? [`const int group = ${numbers.join(' + ')};`] : []),
    ...(uses('rank') ? [`const int rank = (int)${family.group(0)} % ${blocks};`] : []),
    ...(uses('t') ? [`const int t = (int)${family.thread};`] : []),
    ...shared,
    ...body,
  ];
  return {
    language: family.language,
    source: [...helpers, ...framed(`${family.head(threads, blocks, kernel.beside)} ${entry}`, parameters, lines)].join(
      '\n',
    ),
    entry,
    threads,
    groups: [groups[0] * blocks, groups[1], groups[2]],
    launches: grid.launches,
    launchSize: groupsOf(grid),
    cluster: blocks,
    sharedBytes: memory.sharedBytes,
    bindings: memory.bindings.map(({ written }) => ({ written })),
    alignments: memory.alignments,
  };
}

/** A function: what stands before its parameters, one line for each of those, and its body. */
export function framed(head: string, parameters: readonly string[], body: readonly string[]): string[] {
  return [
    `${head}(`,
    parameters.map((parameter) => `    ${parameter}`).join(',\n'),
    ') {',
    ...body.map((line) => (line === '' ? '' : `  ${line}`)),
    '}',
    '',
  ];
}

export function typeName({ type, pair }: ValueType): string {
  return `${type === 'f32' ? 'float' : 'double'}${pair ? '2' : ''}`;
}

function pointer(array: BoundArray, { global, restrict }: CFamily, unique: boolean): string {
  const constant = array.written ? '' : 'const ';
  return `${constant}${global}${typeName(array)} *${unique ? `${restrict} ` : ''}${array.name}`;
}

/** Functions that find the piece which holds a value. */
function piecewise(array: PiecedArray, family: CFamily): string[] {
  const { wide } = family;
  const pointers = array.pieces.map(({ binding }) => pointer(binding, family, false)).join(', ');
  const type = typeName(array);
  const chain = (access: (place: string) => string): string[] =>
    array.pieces
      .map(({ binding, first }, n) => {
        const next = array.pieces[n + 1];
        const found = access(`${binding.name}[at${first > 0 ? ` - ${first}${wide.suffix}` : ''}]`);
        return next ? `  if (at < ${next.first}${wide.suffix}) ${found}` : `  ${found}`;
      })
      .map((line, n) => (n === 0 ? line : line.replace(/^ {2}/, '  else ')));
  const at = `const ${wide.type} at`;
  const functions: string[] = [];
  if (array.read) {
    const body = chain((place) => `return ${place};`);
    functions.push([`${family.inline} ${type} load_${array.name}(${pointers}, ${at}) {`, ...body, '}'].join('\n'));
  }
  if (array.written) {
    const body = chain((place) => family.globals?.store(place, 'value', false) ?? `${place} = value;`);
    const head = `${family.inline} void store_${array.name}(${pointers}, ${at}, const ${type} value) {`;
    functions.push([head, ...body, '}'].join('\n'));
  }
  return functions;
}

function dialectOf(family: CFamily): Dialect {
  const { wide } = family;
  const integerType = (isWide: boolean) => (isWide ? wide.type : 'int');
  return {
    wideIntegers: true,
    pointers: true,
    reserved: new Set([...RESERVED.trim().split(/\s+/), ...family.reserved]),
    integer: (value, isWide) => `${value}${isWide ? wide.suffix : ''}`,
    widen: (operand) => `(${wide.type})${operand}`,
    quotient(kind, of, by, isWide, narrow) {
      const power = Number.isInteger(Math.log2(by));
      const suffix = isWide ? wide.suffix : '';
      let text: string;
      if (power) text = kind === 'div' ? `${of} >> ${Math.log2(by)}` : `${of} & ${by - 1}${suffix}`;
      else {
        // Without a sign the division by a constant is a multiplication and a shift.
        const unsigned = isWide ? `unsigned ${wide.type}` : 'unsigned int';
        text = `(${integerType(isWide)})((${unsigned})${of} ${kind === 'div' ? '/' : '%'} ${by}u)`;
      }
      return narrow ? `(int)(${text})` : text;
    },
    declareInteger: (name, value, isWide) => `const ${integerType(isWide)} ${name} = ${value};`,
    declareValue: (name, value, type) => `const ${typeName(type)} ${name} = ${value};`,
    declareVariable: (name, type) => `${typeName(type)} ${name} = 0;`,
    literal: (value, type) => `${decimal(value, type)}${type === 'f32' ? 'f' : ''}`,
    pair: (re, im, type) => family.pair(re, im, typeName({ type, pair: true })),
    root: rootCall,
    loop: (counter, rounds) => `for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++)`,
    barrier: (barrier) => family.barrier(barrier),
    ...(family.blockCopy ? { blockCopy: family.blockCopy } : {}),
    ...(family.begun ? { begun: family.begun } : {}),
    ...(family.globals ? { global: family.globals } : {}),
    ...(family.sharedLoad ? { sharedLoad: family.sharedLoad } : {}),
  };
}
