/** A pass over trees that computes roots of unity instead of loading them from tables, for languages with sines. */
import type { ElementType, Index, Table } from '../../../ir/index.ts';
import { productError } from '../../../numeric/double-double/doubledouble.ts';
import type { ComputedRoots } from '../tree/program.ts';
import {
  binary,
  call,
  cast,
  chain,
  declareConstant,
  type Expression,
  type FunctionTree,
  integer,
  mapExpressions,
  namesOf,
  type Statement,
  unary,
} from '../tree/tree.ts';
import { ComputedTable } from './computed.ts';
import { holdsRoots } from './memory.ts';

/** The words of a language for the function that computes roots. */
export interface RootWords {
  /** Sets `s` and `c` to the sine and the cosine of `x` half turns. */
  sines(type: ElementType): readonly Statement[];
  /** Quarter turns are computed by products with 0, 1 and −1, because conditions trigger compiler bugs in this language. */
  readonly unconditional?: boolean;
}

/** The names of the functions that compute a root, with angles of 32 and of 64 bits. */
const ROOT = 'root';
const WIDE_ROOT = 'root_wide';

/**
 * Replaces loads from tables that hold nothing but roots by calls.
 * @param which roots are replaced; the tables of the others stay
 * @throws RangeError if the roots of a table follow no rule.
 */
export function computedRoots(
  statements: readonly Statement[],
  tables: readonly Table[],
  which: ComputedRoots,
): readonly Statement[] {
  const computed = new Map(tables.filter(holdsRoots).map((table) => [table.name, new ComputedTable(table)]));
  return mapExpressions(statements, (e) => {
    const table = e.op === 'load' && e.array.space === 'table' ? computed.get(e.array.name) : undefined;
    return table && e.op === 'load' && isAsked(table, e.at, which)
      ? rootCall(table, e.at, e.array.type as ElementType)
      : e;
  });
}

function isAsked(table: ComputedTable, at: Index, which: ComputedRoots): boolean {
  return typeof which === 'boolean' ? which : table.isFourStep(at) === (which === 'four-step');
}

/** The call that computes e^{−2πi·p/q}. Its last arguments are 1/(2q) in two parts, by which the function multiplies the reduced angle. */
function rootCall(table: ComputedTable, at: Index, type: ElementType): Expression {
  const { first, factor, by, q, most } = table.at(at);
  const wide = 4 * most + q >= 2 ** 32;
  const operand = (value: Index): Expression => {
    const index: Expression = { op: 'index', value };
    return wide ? cast('long', index) : index;
  };
  const product = isZeroIndex(factor) || isZeroIndex(by) ? [] : [binary('*', operand(factor), operand(by))];
  const terms = isZeroIndex(first) && product.length > 0 ? product : [operand(first), ...product];
  const parts = highAndLow(q, type).map((value): Expression => ({ op: 'real', value, type }));
  return call(wide ? WIDE_ROOT : ROOT, chain('+', terms), integer(q, 'unsigned'), ...parts);
}

function isZeroIndex({ constant, terms }: Index): boolean {
  return constant === 0 && terms.length === 0;
}

/** 1/(2q) as a sum of two numbers of a type. */
function highAndLow(q: number, type: ElementType): [high: number, low: number] {
  const whole = 1 / (2 * q);
  if (type === 'f32') return [Math.fround(whole), Math.fround(whole - Math.fround(whole))];
  const product = whole * (2 * q);
  return [whole, (1 - product - productError(whole, 2 * q, product)) / (2 * q)];
}

/** The functions for roots that are called. */
export function rootFunctions(type: ElementType, called: ReadonlySet<string>, words: RootWords): FunctionTree[] {
  return [ROOT, WIDE_ROOT].filter((each) => called.has(each)).map((each) => rootFunction(each, type, words));
}

/** The function for a root. It subtracts quarter turns in integers; the remaining angle is at most an eighth of a turn and rounded once. */
function rootFunction(text: string, type: ElementType, words: RootWords): FunctionTree {
  const [integerType, unsigned] =
    text === WIDE_ROOT ? (['long', 'unsigned long'] as const) : (['int', 'unsigned'] as const);
  const real = { type, pair: false };
  const [p, q, high, low, quarters, rest] = namesOf('p', 'q', 'high', 'low', 'quarters', 'rest');
  const fourfold = binary('*', integer(4, 'unsigned'), p);
  const left = binary('-', fourfold, binary('*', quarters, q));
  const sum = binary('+', fourfold, binary('/', q, integer(2, 'unsigned')));
  return {
    name: text,
    parameters: [
      { name: 'p', type: unsigned },
      { name: 'q', type: unsigned },
      { name: 'high', type: real },
      { name: 'low', type: real },
    ],
    result: { type, pair: true },
    body: [
      declareConstant('quarters', unsigned, binary('/', sum, q)),
      declareConstant('rest', real, cast(real, cast(integerType, left))),
      declareConstant('x', real, { op: 'math', name: 'fma', type, of: [rest, high, binary('*', rest, low)] }),
      ...words.sines(type),
      ...(words.unconditional ? turnedByProducts(type) : turnedByChoice(type)),
    ],
  };
}

/** The conjugate of c + i·s, turned back by a number of quarter turns that conditions select. */
function turnedByChoice(type: ElementType): Statement[] {
  const real = { type, pair: false };
  const [s, c, quarters, odd, back, re, im] = namesOf('s', 'c', 'quarters', 'odd', 'back', 're', 'im');
  const bit = (value: number) =>
    binary('!=', binary('&', quarters, integer(value, 'unsigned')), integer(0, 'unsigned'));
  const either = (...of: Expression[]): Expression => ({ op: 'select', of });
  const signed = (part: Expression) => either(back, unary('-', part), part);
  return [
    declareConstant('odd', 'bool', bit(1)),
    declareConstant('back', 'bool', bit(2)),
    declareConstant('re', real, either(odd, unary('-', s), c)),
    declareConstant('im', real, either(odd, unary('-', c), unary('-', s))),
    { op: 'return', value: { op: 'pair', type, of: [signed(re), signed(im)] } },
  ];
}

/** `turnedByChoice` without a condition. Factors are 0, 1 or −1 and one term of each sum is 0, so nothing is rounded. */
function turnedByProducts(type: ElementType): Statement[] {
  const real = { type, pair: false };
  const [s, c, quarters, odd, even, sign] = namesOf('s', 'c', 'quarters', 'odd', 'even', 'sign');
  const one: Expression = { op: 'real', value: 1, type };
  const masked = (value: number) => cast(real, cast('int', binary('&', quarters, integer(value, 'unsigned'))));
  const re = binary('-', binary('*', even, c), binary('*', odd, s));
  const im = binary('+', binary('*', even, s), binary('*', odd, c));
  const of = [binary('*', sign, re), binary('*', unary('-', sign), im)];
  return [
    declareConstant('odd', real, masked(1)),
    declareConstant('even', real, binary('-', one, odd)),
    declareConstant('sign', real, binary('-', one, masked(2))),
    { op: 'return', value: { op: 'pair', type, of } },
  ];
}
