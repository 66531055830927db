/** Roots of unity in languages with sines, as a pass over trees: a function computes what a table would be read for. */
import type { ElementType, Index, Table } from '../../ir/index.ts';
import { productError } from '../../numeric/doubledouble.ts';
import { ComputedTable } from './computed.ts';
import { holdsRoots } from './memory.ts';
import {
  binary,
  call,
  cast,
  chain,
  constant,
  type Expression,
  type FunctionTree,
  integer,
  mapExpressions,
  names,
  type Statement,
  unary,
} from './tree.ts';

/** What the language has for the function. */
export interface RootWords {
  /** Sets `s` and `c` to the sine and the cosine of `x` half turns. */
  sines(type: ElementType): readonly Statement[];
  /** Quarter turns are made by products with 0, 1 and −1: the language's compilers are not to be given conditions. */
  readonly unconditional?: boolean;
}

/** Functions that are written for it: with angles of 32 bits, and of 64. */
const ROOT = 'root';
const WIDE_ROOT = 'root_wide';

/**
 * Calls in place of loads from tables that hold nothing but roots.
 * @throws RangeError where roots follow no rule.
 */
export function computedRoots(statements: readonly Statement[], tables: readonly Table[]): readonly Statement[] {
  const computed = new Map(tables.filter(holdsRoots).map((table) => [table.name, new ComputedTable(table)]));
  return mapExpressions(statements, (e) => {
    const table = e.op === 'load' && e.array.space === 'table' ? computed.get(e.array.name) : undefined;
    return table && e.op === 'load' ? rootCall(table, e.at, e.array.type as ElementType) : e;
  });
}

/** e^{−2πi·p/q}, with 1/(2q) in two parts that a rest of a quarter turn is multiplied with. */
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

/** The functions that are called. */
export function rootFunctions(type: ElementType, called: ReadonlySet<string>, words: RootWords): FunctionTree[] {
  return [ROOT, WIDE_ROOT].filter((each) => called.has(each)).map((each) => rootFunction(each, type, words));
}

/** Quarter turns are taken off in integers: what is left is at most an eighth of a turn, and rounded once. */
function rootFunction(own: string, type: ElementType, words: RootWords): FunctionTree {
  const [integerType, unsigned] =
    own === WIDE_ROOT ? (['long', 'unsigned long'] as const) : (['int', 'unsigned'] as const);
  const real = { type, pair: false };
  const [p, q, high, low, quarters, rest] = names('p', 'q', 'high', 'low', 'quarters', 'rest');
  const fourfold = binary('*', integer(4, 'unsigned'), p);
  const left = binary('-', fourfold, binary('*', quarters, q));
  const sum = binary('+', fourfold, binary('/', q, integer(2, 'unsigned')));
  return {
    name: own,
    parameters: [
      { name: 'p', type: unsigned },
      { name: 'q', type: unsigned },
      { name: 'high', type: real },
      { name: 'low', type: real },
    ],
    result: { type, pair: true },
    body: [
      constant('quarters', unsigned, binary('/', sum, q)),
      constant('rest', real, cast(real, cast(integerType, left))),
      constant('x', real, { op: 'math', name: 'fma', type, of: [rest, high, binary('*', rest, low)] }),
      ...words.sines(type),
      ...(words.unconditional ? turnedByProducts(type) : turnedByChoice(type)),
    ],
  };
}

/** The conjugate of (c, s), turned back by some quarters. */
function turnedByChoice(type: ElementType): Statement[] {
  const real = { type, pair: false };
  const [s, c, quarters, odd, back, re, im] = names('s', 'c', 'quarters', 'odd', 'back', 're', 'im');
  const bit = (value: number) =>
    binary('!=', binary('&', quarters, integer(value, 'unsigned')), integer(0, 'unsigned'));
  const either = (...of: Expression[]): Expression => ({ op: 'select', of });
  const signed = (part: Expression) => either(back, unary('-', part), part);
  return [
    constant('odd', 'bool', bit(1)),
    constant('back', 'bool', bit(2)),
    constant('re', real, either(odd, unary('-', s), c)),
    constant('im', real, either(odd, unary('-', c), unary('-', s))),
    { op: 'return', value: { op: 'pair', type, of: [signed(re), signed(im)] } },
  ];
}

/** The same without a condition. Each product is with 0, 1 or −1, and one term of each sum is 0: nothing is rounded. */
function turnedByProducts(type: ElementType): Statement[] {
  const real = { type, pair: false };
  const [s, c, quarters, odd, even, sign] = names('s', 'c', 'quarters', 'odd', 'even', 'sign');
  const one: Expression = { op: 'real', value: 1, type };
  const masked = (value: number) => cast(real, cast('int', binary('&', quarters, integer(value, 'unsigned'))));
  const re = binary('-', binary('*', even, c), binary('*', odd, s));
  const im = binary('+', binary('*', even, s), binary('*', odd, c));
  const of = [binary('*', sign, re), binary('*', unary('-', sign), im)];
  return [
    constant('odd', real, masked(1)),
    constant('even', real, binary('-', one, odd)),
    constant('sign', real, binary('-', one, masked(2))),
    { op: 'return', value: { op: 'pair', type, of } },
  ];
}
