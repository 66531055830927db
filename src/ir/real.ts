/**
 * Real arithmetic as a directed acyclic graph, simplified while it is built.
 *
 * Every operation takes operands that are known at plan time or named at run time (VkFFT guide 3.3); known ones fold, equal ones are shared, and
 * signs are pushed outwards until they vanish into a subtraction. Butterflies are derived by running the textbook formula through these constructors.
 */

import type { Exact } from '../numeric/exact.ts';
import * as exact from '../numeric/exact.ts';
import type { ArrayRef } from './arrays.ts';
import { EVERYWHERE, type Guard, guardAt, guardKey, simplified } from './guard.ts';
import { type Index, type IndexLike, index, indexKey, type Substitution, type Var } from './integer.ts';

/** `exactAdd` … are operations that no compiler may contract, reorder or simplify: see `Expressions.exactly`. */
export type BinaryOp = 'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'exactAdd' | 'exactSub' | 'exactMul';
export type UnaryOp = 'neg' | 'swap' | 'abs' | 'sqrt' | 'exponent' | 'inversePower';
export type Comparison = 'less' | 'lessEqual' | 'equal';

/**
 * `swap` and `conj` see two neighbouring items of the loop that lanes walk along, 2i and 2i + 1, as the parts of a complex
 * number: `swap` is the value of the other item, `conj` a constant that is negated in item 2i + 1. (If no vector holds both
 * items, `itemwise` in emit/ has each item compute the other one's value.)
 *
 * A load where its guard fails reads nothing and is 0. `select` is `a` where `left` and `right` compare so, otherwise `b`; `where` is
 * `a` where a guard holds, otherwise `b`. `fold` is one of the values that a loop ends with (`FoldLoop`), `carried` what that value was
 * before the present round; it stands in the loop over its variable only. `exactFma` is a·b + c rounded once, for devices that have such
 * an instruction.
 */
export type Real =
  | { readonly op: 'const'; readonly id: number; readonly value: Exact }
  | { readonly op: 'conj'; readonly id: number; readonly value: Exact }
  | {
      readonly op: 'load';
      readonly id: number;
      readonly array: ArrayRef;
      readonly index: Index;
      readonly guard?: Guard;
    }
  | { readonly op: UnaryOp; readonly id: number; readonly a: Real }
  | { readonly op: BinaryOp; readonly id: number; readonly a: Real; readonly b: Real }
  | { readonly op: 'exactFma'; readonly id: number; readonly a: Real; readonly b: Real; readonly c: Real }
  | {
      readonly op: 'select';
      readonly id: number;
      readonly comparison: Comparison;
      readonly left: Real;
      readonly right: Real;
      readonly a: Real;
      readonly b: Real;
    }
  | { readonly op: 'where'; readonly id: number; readonly guard: Guard; readonly a: Real; readonly b: Real }
  | { readonly op: 'carried'; readonly id: number; readonly over: Var; readonly slot: number }
  | { readonly op: 'fold'; readonly id: number; readonly loop: FoldLoop; readonly slot: number };

/**
 * A loop over all values of a variable, in order, that carries values from round to round: they begin as `first`, and each round makes
 * them `next`, all at once.
 */
export interface FoldLoop {
  readonly over: Var;
  readonly first: readonly Real[];
  readonly next: readonly Real[];
}

export type LoadNode = Extract<Real, { op: 'load' }>;
export type FoldNode = Extract<Real, { op: 'fold' }>;

/** The operands of a node, in order. */
export function operandsOf(node: Real): readonly Real[] {
  switch (node.op) {
    case 'const':
    case 'conj':
    case 'load':
    case 'carried':
      return [];
    case 'fold':
      return [...node.loop.first, ...node.loop.next];
    case 'select':
      return [node.left, node.right, node.a, node.b];
    case 'exactFma':
      return [node.a, node.b, node.c];
    default:
      return 'b' in node ? [node.a, node.b] : [node.a];
  }
}

/** The same operation on mapped operands; the node itself if no operand changes. */
export function mapOperands(node: Real, map: (operand: Real) => Real): Real {
  if (operandsOf(node).every((operand) => map(operand) === operand)) return node;
  if (node.op === 'fold') {
    const { over, first, next } = node.loop;
    return { ...node, loop: { over, first: first.map(map), next: next.map(map) } };
  }
  const made: Partial<Record<'left' | 'right' | 'a' | 'b' | 'c', Real>> = {};
  for (const field of ['left', 'right', 'a', 'b', 'c'] as const) {
    if (field in node) made[field] = map((node as unknown as Record<typeof field, Real>)[field]);
  }
  return { ...node, ...made } as Real;
}

/** A complex value: two reals. */
export interface Complex {
  readonly re: Real;
  readonly im: Real;
}

/** Builds hash-consed expressions: one builder per phase, so that equal subexpressions are the same node. */
export class Expressions {
  private readonly known = new Map<string, Real>();
  private readonly loops = new Map<string, FoldLoop>();
  /** Operations by the numbers of their operands, one map for each kind. */
  private readonly operations: Record<UnaryOp | BinaryOp, Map<number, Real>> = {
    neg: new Map(),
    swap: new Map(),
    abs: new Map(),
    sqrt: new Map(),
    exponent: new Map(),
    inversePower: new Map(),
    add: new Map(),
    sub: new Map(),
    mul: new Map(),
    div: new Map(),
    min: new Map(),
    max: new Map(),
    exactAdd: new Map(),
    exactSub: new Map(),
    exactMul: new Map(),
  };
  private nextId = 0;
  /** Values for each complex number: 2 for real and imaginary part; 1 if a vector holds both (`PackedExpressions`). */
  readonly perNumber: number = 2;
  /** Groups of values in the best order of computation: see `Phase.steps`. */
  readonly steps: Real[][] = [];

  /** A scheduling hint: computing these values frees their operands, so they are best computed before everything that follows. */
  together(...values: readonly Complex[]): void {
    this.steps.push(values.flatMap(({ re, im }) => [re, im]));
  }

  constant(value: Exact | number): Real {
    return this.fixed('const', typeof value === 'number' ? exact.exact(value) : value);
  }

  private fixed(op: 'const' | 'conj', value: Exact): Real {
    const key = op + constantKey(value);
    let node = this.known.get(key);
    if (!node) this.known.set(key, (node = { op, id: this.nextId++, value } as Real));
    return node;
  }

  /** @param guard condition under which memory is read; otherwise the value is 0. */
  load(array: ArrayRef, at: IndexLike, guard: Guard = EVERYWHERE): Real {
    const where = index(at);
    const needed = simplified(guard);
    if (!needed) return this.constant(exact.ZERO);
    const guarded = needed.length > 0 ? { guard: needed } : undefined;
    const key = `[${array.name}:${indexKey(where)}${guarded ? `?${guardKey(needed)}` : ''}`;
    return this.keyed(key, () => ({ op: 'load', id: this.nextId++, array, index: where, ...guarded }));
  }

  private keyed(key: string, make: () => Real): Real {
    let node = this.known.get(key);
    if (!node) this.known.set(key, (node = make()));
    return node;
  }

  private unary(op: UnaryOp, a: Real): Real {
    const made = this.operations[op];
    let node = made.get(a.id);
    if (!node) made.set(a.id, (node = { op, id: this.nextId++, a } as Real));
    return node;
  }

  private operation(op: BinaryOp, a: Real, b: Real): Real {
    const made = this.operations[op];
    const key = pairKey(a, b);
    let node = made.get(key);
    if (!node) made.set(key, (node = { op, id: this.nextId++, a, b }));
    return node;
  }

  neg(a: Real): Real {
    if (a.op === 'neg') return a.a;
    if (a.op === 'const') return this.constant(exact.neg(a.value));
    if (a.op === 'sub') return this.sub(a.b, a.a);
    return this.unary('neg', a);
  }

  add(a: Real, b: Real): Real {
    if (a.op === 'const' && b.op === 'const') return this.constant(exact.add(a.value, b.value));
    if (isZeroConstant(a)) return b;
    if (isZeroConstant(b)) return a;
    if (b.op === 'neg') return this.sub(a, b.a);
    if (a.op === 'neg') return this.sub(b, a.a);
    const common = commonFactor(a, b);
    if (common) return this.mul(common.factor, this.add(common.a, common.b));
    // A carried value is the first operand, as in the addition that updates it, so that both are the same node.
    const inOrder = a.op === 'carried' || b.op === 'carried' ? a.op === 'carried' : a.id < b.id;
    return inOrder ? this.operation('add', a, b) : this.operation('add', b, a);
  }

  sub(a: Real, b: Real): Real {
    if (a.op === 'const' && b.op === 'const') return this.constant(exact.sub(a.value, b.value));
    if (isZeroConstant(b)) return a;
    if (isZeroConstant(a)) return this.neg(b);
    if (a === b) return this.constant(exact.ZERO);
    if (b.op === 'neg') return this.add(a, b.a);
    // −a − b = −(a + b): the sign moves outwards.
    if (a.op === 'neg') return this.neg(this.add(a.a, b));
    const common = commonFactor(a, b);
    if (common) return this.mul(common.factor, this.sub(common.a, common.b));
    // b − a is known already: use its negative rather than a second subtraction.
    const reversed = this.operations.sub.get(pairKey(b, a));
    return reversed ? this.unary('neg', reversed) : this.operation('sub', a, b);
  }

  mul(a: Real, b: Real): Real {
    if (a.op === 'const' && b.op === 'const') return this.constant(exact.mul(a.value, b.value));
    if (b.op === 'const') return this.mul(b, a);
    if (a.op === 'const') {
      if (exact.isZero(a.value)) return a;
      if (exact.isOne(a.value)) return b;
      if (exact.sign(a.value) < 0) return this.neg(this.mul(this.constant(exact.neg(a.value)), b));
    }
    if (a.op === 'neg') return this.neg(this.mul(a.a, b));
    if (b.op === 'neg') return this.neg(this.mul(a, b.a));
    return a.id < b.id ? this.operation('mul', a, b) : this.operation('mul', b, a);
  }

  div(a: Real, b: Real): Real {
    if (a.op === 'const' && b.op === 'const' && !exact.isZero(b.value))
      return this.constant(exact.div(a.value, b.value));
    if (b.op === 'const' && exact.isOne(b.value)) return a;
    return this.operation('div', a, b);
  }

  sqrt(a: Real): Real {
    return this.unary('sqrt', a);
  }

  /** The exponent k of a positive number a = 2^k·m with 1 ≤ m < 2, read from its bits; without meaning for zeros, subnormals, infinities and NaN. */
  exponent(a: Real): Real {
    return this.unary('exponent', a);
  }

  /** The inverse 2^−k of the power of two in a positive number a = 2^k·m: a times it is m, exactly. It has to be a normal number, too. */
  inversePower(a: Real): Real {
    return this.unary('inversePower', a);
  }

  abs(a: Real): Real {
    if (a.op === 'const') return this.constant(exact.abs(a.value));
    return a.op === 'abs' || a.op === 'sqrt' ? a : this.unary('abs', a.op === 'neg' ? a.a : a);
  }

  min(a: Real, b: Real): Real {
    return this.extreme('min', a, b);
  }

  max(a: Real, b: Real): Real {
    return this.extreme('max', a, b);
  }

  private extreme(op: 'min' | 'max', a: Real, b: Real): Real {
    if (a === b) return a;
    if (a.op === 'const' && b.op === 'const') {
      return exact.sign(exact.sub(a.value, b.value)) < 0 === (op === 'min') ? a : b;
    }
    return a.id < b.id ? this.operation(op, a, b) : this.operation(op, b, a);
  }

  /**
   * An operation that is rounded once to the type of the kernel and never combined with another one, as error-free transforms require
   * (Dekker 1971, Knuth 1969). Nothing is folded here either.
   */
  exactly(op: 'add' | 'sub' | 'mul', a: Real, b: Real): Real {
    return this.operation(op === 'add' ? 'exactAdd' : op === 'sub' ? 'exactSub' : 'exactMul', a, b);
  }

  /** a·b + c, rounded once. */
  exactFma(a: Real, b: Real, c: Real): Real {
    return this.keyed(`fma${a.id},${b.id},${c.id}`, () => ({ op: 'exactFma', id: this.nextId++, a, b, c }));
  }

  /** `a` where left and right compare so, otherwise `b`. */
  select(comparison: Comparison, left: Real, right: Real, a: Real, b: Real): Real {
    if (a === b) return a;
    if (left.op === 'const' && right.op === 'const') {
      const sign = exact.sign(exact.sub(left.value, right.value));
      return (comparison === 'equal' ? sign === 0 : comparison === 'less' ? sign < 0 : sign <= 0) ? a : b;
    }
    const key = `${comparison}${left.id},${right.id},${a.id},${b.id}`;
    return this.keyed(key, () => ({ op: 'select', id: this.nextId++, comparison, left, right, a, b }));
  }

  /** `a` where a guard holds, otherwise `b`. */
  where(guard: Guard, a: Real, b: Real): Real {
    const needed = simplified(guard);
    if (!needed || a === b) return b;
    if (needed.length === 0) return a;
    const key = `where${guardKey(needed)}?${a.id},${b.id}`;
    return this.keyed(key, () => ({ op: 'where', id: this.nextId++, guard: needed, a, b }));
  }

  /** The sum of `a` over all values of a variable, in order, beginning from 0. */
  sum(over: Var, a: Real): Real {
    if (over.count === 1) return a;
    return this.folded(over, [this.constant(0)], [this.operation('add', this.carried(over, 0), a)])[0]!;
  }

  /**
   * The results of a loop over all values of a variable.
   * @param first initial values
   * @param next computes the values of a round from the values of the round before
   */
  fold(over: Var, first: readonly Real[], next: (carried: readonly Real[]) => readonly Real[]): readonly Real[] {
    if (over.count === 1) return next(first);
    return this.folded(over, first, next(first.map((_, slot) => this.carried(over, slot))));
  }

  /** `fold` with values that are already computed from `carried` ones. */
  folded(over: Var, first: readonly Real[], next: readonly Real[]): Real[] {
    const ids = (values: readonly Real[]) => values.map(({ id }) => id).join();
    const key = `fold${over.id}:${ids(first)}:${ids(next)}`;
    let loop = this.loops.get(key);
    if (!loop) this.loops.set(key, (loop = { over, first, next }));
    const whole = loop;
    return first.map((_, slot) => this.keyed(`${key}.${slot}`, () => this.slotOf(whole, slot)));
  }

  private slotOf(loop: FoldLoop, slot: number): Real {
    return { op: 'fold', id: this.nextId++, loop, slot };
  }

  /** The value that the loop over a variable carries from the previous round. */
  carried(over: Var, slot: number): Real {
    return this.keyed(`carried${over.id}.${slot}`, () => ({ op: 'carried', id: this.nextId++, over, slot }));
  }

  /** Rebuilds a node of another builder in this one, from rebuilt operands and substituted indices. */
  rebuilt(node: Real, made: (operand: Real) => Real, at: Substitution): Real {
    switch (node.op) {
      case 'const':
        return this.constant(node.value);
      case 'conj':
        return this.conj(this.constant(node.value));
      case 'load':
        return this.load(node.array, at.apply(node.index), node.guard && guardAt(node.guard, at));
      case 'select':
        return this.select(node.comparison, made(node.left), made(node.right), made(node.a), made(node.b));
      case 'where':
        return this.where(guardAt(node.guard, at), made(node.a), made(node.b));
      case 'carried':
        return this.carried(node.over, node.slot);
      case 'fold':
        return this.folded(node.loop.over, node.loop.first.map(made), node.loop.next.map(made))[node.slot]!;
      case 'exactFma':
        return this.exactFma(made(node.a), made(node.b), made(node.c));
      case 'exactAdd':
      case 'exactSub':
      case 'exactMul':
        return this.operation(node.op, made(node.a), made(node.b));
      default:
        return 'b' in node ? this[node.op](made(node.a), made(node.b)) : this[node.op](made(node.a));
    }
  }

  /** The value of the neighbouring lane: see `Real`. */
  swap(a: Real): Real {
    if (a.op === 'swap') return a.a;
    if (a.op === 'const') return a;
    if (a.op === 'conj') return this.neg(a);
    if (a.op === 'neg') return this.neg(this.swap(a.a));
    const [factor, rest] = constantFactor(a);
    if (!factor) return this.unary('swap', a);
    const product = this.mul(factor, this.swap(rest));
    return factor.op === 'conj' ? this.neg(product) : product;
  }

  /** Negates the value in every second lane by a product with a constant. A constant factor already present takes the signs. */
  conj(a: Real): Real {
    if (a.op === 'neg') return this.neg(this.conj(a.a));
    if (a.op === 'conj') return this.constant(a.value);
    if (a.op === 'const') return isZeroConstant(a) ? a : this.fixed('conj', a.value);
    const [factor, rest] = constantFactor(a);
    return this.mul(this.conj(factor ?? this.constant(1)), rest);
  }

  cadd(a: Complex, b: Complex): Complex {
    return { re: this.add(a.re, b.re), im: this.add(a.im, b.im) };
  }

  csub(a: Complex, b: Complex): Complex {
    return { re: this.sub(a.re, b.re), im: this.sub(a.im, b.im) };
  }

  /** The product of two complex values: 4 multiplications and 2 additions if nothing folds. */
  cmul(a: Complex, b: Complex): Complex {
    return {
      re: this.sub(this.mul(a.re, b.re), this.mul(a.im, b.im)),
      im: this.add(this.mul(a.re, b.im), this.mul(a.im, b.re)),
    };
  }

  /** The product with a real factor. */
  cscale(a: Complex, by: Real): Complex {
    return { re: this.mul(by, a.re), im: this.mul(by, a.im) };
  }

  /** −i · a: a quarter turn in the forward direction. */
  quarter(a: Complex): Complex {
    return { re: a.im, im: this.neg(a.re) };
  }

  /**
   * a · e^{−2πi·p/q}. An eighth of a turn costs two additions and two multiplications, a quarter turn nothing.
   */
  rotate(a: Complex, p: number, q: number): Complex {
    const turn = (((p * 8) % (8 * q)) + 8 * q) % (8 * q);
    if (turn % q !== 0) return this.turned(a, exact.cosTurn(p, q), exact.sinTurn(p, q));
    const eighths = turn / q;
    let result = a;
    for (let quarters = Math.floor(eighths / 2); quarters > 0; quarters--) result = this.quarter(result);
    if (eighths % 2 === 0) return result;
    // (1 − i)/√2 · a = (a − i·a)/√2
    return this.cscale(this.cadd(result, this.quarter(result)), this.constant(exact.cosTurn(1, 8)));
  }

  /** a · (cos − i·sin). The product with the larger of the two comes last, so that a sum that follows can become a multiply-add. */
  private turned(a: Complex, cos: Exact, sin: Exact): Complex {
    const steep = exact.sign(exact.sub(exact.abs(sin), exact.abs(cos))) > 0;
    const [larger, smaller] = steep ? [sin, cos] : [cos, sin];
    const rest = this.cscale(a, this.constant(exact.div(smaller, larger)));
    const sum = steep ? this.cadd(this.quarter(a), rest) : this.cadd(a, this.quarter(rest));
    return this.cscale(sum, this.constant(larger));
  }
}

/** Splits a product into its constant factor, which may alternate in sign from lane to lane, and the rest. */
function constantFactor(a: Real): [factor: Real | undefined, rest: Real] {
  if (a.op !== 'mul') return [undefined, a];
  const isFactor = ({ op }: Real) => op === 'const' || op === 'conj';
  return isFactor(a.a) ? [a.a, a.b] : isFactor(a.b) ? [a.b, a.a] : [undefined, a];
}

/** The constant factor that two products share, and both without it. */
function commonFactor(a: Real, b: Real): { factor: Real; a: Real; b: Real } | undefined {
  if (a.op !== 'mul' || b.op !== 'mul') return undefined;
  const [factor, first] = constantFactor(a);
  const [other, second] = constantFactor(b);
  return factor && factor === other ? { factor, a: first, b: second } : undefined;
}

/** A key for an ordered pair of nodes; one builder has far fewer than 2^26 nodes. */
function pairKey(a: Real, b: Real): number {
  return a.id * 2 ** 26 + b.id;
}

const constantKeys = new WeakMap<Exact, string>();

/** The key of a constant. Keys are remembered, because they take long to make and constants occur in many expressions. */
function constantKey(value: Exact): string {
  let key = constantKeys.get(value);
  if (key === undefined) constantKeys.set(value, (key = `#${exact.key(value)}`));
  return key;
}

/** Whether a value is the constant 0. */
export function isZeroConstant(a: Real): boolean {
  return a.op === 'const' && exact.isZero(a.value);
}

/** Additions, multiplications and negations in the graph under some values. */
export function countOperations(values: Iterable<Real>): {
  additions: number;
  multiplications: number;
  negations: number;
} {
  const counts = { additions: 0, multiplications: 0, negations: 0 };
  for (const node of reachable(values)) {
    if (node.op === 'add' || node.op === 'sub') counts.additions++;
    else if (node.op === 'mul') counts.multiplications++;
    else if (node.op === 'neg') counts.negations++;
  }
  return counts;
}

/** Every node under some values, operands before their users. */
export function reachable(values: Iterable<Real>): Real[] {
  const seen = new Set<Real>();
  const order: Real[] = [];
  const visit = (node: Real): void => {
    if (seen.has(node)) return;
    seen.add(node);
    for (const operand of operandsOf(node)) visit(operand);
    order.push(node);
  };
  for (const value of values) visit(value);
  return order;
}
