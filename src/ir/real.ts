/**
 * Real arithmetic as a directed acyclic graph, simplified while it is built.
 *
 * Every operation takes operands that are known at plan time or named at run time (VkFFT guide 3.3); known ones fold,
 * equal ones are shared, and signs are pushed outwards until they vanish into a subtraction. Butterflies are derived
 * by running the textbook formula through these constructors (design decisions 1 and 3).
 */

import type { Exact } from '../numeric/exact.ts';
import * as exact from '../numeric/exact.ts';
import type { ArrayRef } from './arrays.ts';
import { type Index, type IndexLike, index, indexKey } from './integer.ts';

/**
 * `swap` and `conj` see two neighbouring items of the loop that lanes walk along, 2i and 2i + 1, as the parts of a complex
 * number: `swap` is what the other one has, `conj` a constant that is negative in the second. For devices with vectors only.
 */
export type Real =
  | { readonly op: 'const'; readonly id: number; readonly value: Exact }
  | { readonly op: 'conj'; readonly id: number; readonly value: Exact }
  | { readonly op: 'load'; readonly id: number; readonly array: ArrayRef; readonly index: Index }
  | { readonly op: 'neg'; readonly id: number; readonly a: Real }
  | { readonly op: 'swap'; readonly id: number; readonly a: Real }
  | { readonly op: 'add' | 'sub' | 'mul'; readonly id: number; readonly a: Real; readonly b: Real };

/** A complex value: two reals. */
export interface Complex {
  readonly re: Real;
  readonly im: Real;
}

/** Builds hash-consed expressions: one builder per phase, so that equal subexpressions are the same node. */
export class Expressions {
  private readonly known = new Map<string, Real>();
  /** Operations by the numbers of their operands, one map for each kind. */
  private readonly operations = {
    neg: new Map<number, Real>(),
    swap: new Map<number, Real>(),
    add: new Map<number, Real>(),
    sub: new Map<number, Real>(),
    mul: new Map<number, Real>(),
  };
  private nextId = 0;
  /** Values at hand for each complex number. */
  readonly perNumber: number = 2;
  /** Groups of values in the order in which they are best computed: see `Phase.steps`. */
  readonly steps: Real[][] = [];

  /** Says that these values are done with what they were made of, and best computed before anything that follows. */
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

  load(array: ArrayRef, at: IndexLike): Real {
    const where = index(at);
    const key = `[${array.name}:${indexKey(where)}`;
    let node = this.known.get(key);
    if (!node) this.known.set(key, (node = { op: 'load', id: this.nextId++, array, index: where }));
    return node;
  }

  private unary(op: 'neg' | 'swap', a: Real): Real {
    const made = this.operations[op];
    let node = made.get(a.id);
    if (!node) made.set(a.id, (node = { op, id: this.nextId++, a } as Real));
    return node;
  }

  private operation(op: 'add' | 'sub' | 'mul', a: Real, b: Real): Real {
    const made = this.operations[op];
    const key = pairOf(a, b);
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
    if (isZero(a)) return b;
    if (isZero(b)) return a;
    if (b.op === 'neg') return this.sub(a, b.a);
    if (a.op === 'neg') return this.sub(b, a.a);
    const common = commonFactor(a, b);
    if (common) return this.mul(common.factor, this.add(common.a, common.b));
    return a.id < b.id ? this.operation('add', a, b) : this.operation('add', b, a);
  }

  sub(a: Real, b: Real): Real {
    if (a.op === 'const' && b.op === 'const') return this.constant(exact.sub(a.value, b.value));
    if (isZero(b)) return a;
    if (isZero(a)) return this.neg(b);
    if (a === b) return this.constant(exact.ZERO);
    if (b.op === 'neg') return this.add(a, b.a);
    // −a − b = −(a + b): the sign moves outwards.
    if (a.op === 'neg') return this.neg(this.add(a.a, b));
    const common = commonFactor(a, b);
    if (common) return this.mul(common.factor, this.sub(common.a, common.b));
    // b − a is known already: use its negative rather than a second subtraction.
    const reversed = this.operations.sub.get(pairOf(b, a));
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

  /** What the neighbouring item has: see `Real`. */
  swap(a: Real): Real {
    if (a.op === 'swap') return a.a;
    if (a.op === 'const') return a;
    if (a.op === 'conj') return this.neg(a);
    if (a.op === 'neg') return this.neg(this.swap(a.a));
    const [factor, rest] = factored(a);
    if (!factor) return this.unary('swap', a);
    const product = this.mul(factor, this.swap(rest));
    return factor.op === 'conj' ? this.neg(product) : product;
  }

  /** The negative in every second item, as a product with a constant: one that is there already takes the signs. */
  conj(a: Real): Real {
    if (a.op === 'neg') return this.neg(this.conj(a.a));
    if (a.op === 'conj') return this.constant(a.value);
    if (a.op === 'const') return isZero(a) ? a : this.fixed('conj', a.value);
    const [factor, rest] = factored(a);
    return this.mul(this.conj(factor ?? this.constant(1)), rest);
  }

  cadd(a: Complex, b: Complex): Complex {
    return { re: this.add(a.re, b.re), im: this.add(a.im, b.im) };
  }

  csub(a: Complex, b: Complex): Complex {
    return { re: this.sub(a.re, b.re), im: this.sub(a.im, b.im) };
  }

  /** The product of two complex values: 4 multiplications and 2 additions where nothing is known. */
  cmul(a: Complex, b: Complex): Complex {
    return {
      re: this.sub(this.mul(a.re, b.re), this.mul(a.im, b.im)),
      im: this.add(this.mul(a.re, b.im), this.mul(a.im, b.re)),
    };
  }

  /** A real factor. */
  cscale(a: Complex, by: Real): Complex {
    return { re: this.mul(by, a.re), im: this.mul(by, a.im) };
  }

  /** −i · a: a quarter turn in the forward direction. */
  quarter(a: Complex): Complex {
    return { re: a.im, im: this.neg(a.re) };
  }

  /**
   * a · e^{−2πi·p/q}. Eighth turns cost two additions and two multiplications, quarter turns nothing.
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

  /** a · (cos − i·sin). The larger of the two comes last: where it meets a sum, one that multiplies and adds takes it in. */
  private turned(a: Complex, cos: Exact, sin: Exact): Complex {
    const steep = exact.sign(exact.sub(exact.abs(sin), exact.abs(cos))) > 0;
    const [larger, smaller] = steep ? [sin, cos] : [cos, sin];
    const rest = this.cscale(a, this.constant(exact.div(smaller, larger)));
    const sum = steep ? this.cadd(this.quarter(a), rest) : this.cadd(a, this.quarter(rest));
    return this.cscale(sum, this.constant(larger));
  }
}

/** The constant in a product, or one that is negative in every second item, and the rest of it. */
function factored(a: Real): [factor: Real | undefined, rest: Real] {
  if (a.op !== 'mul') return [undefined, a];
  const isFactor = ({ op }: Real) => op === 'const' || op === 'conj';
  return isFactor(a.a) ? [a.a, a.b] : isFactor(a.b) ? [a.b, a.a] : [undefined, a];
}

/** The constant that both are products with, and what they are without it. */
function commonFactor(a: Real, b: Real): { factor: Real; a: Real; b: Real } | undefined {
  if (a.op !== 'mul' || b.op !== 'mul') return undefined;
  const [factor, first] = factored(a);
  const [other, second] = factored(b);
  return factor && factor === other ? { factor, a: first, b: second } : undefined;
}

/** A number for two nodes in this order; the nodes of one builder are far fewer than 2^26. */
function pairOf(a: Real, b: Real): number {
  return a.id * 2 ** 26 + b.id;
}

const constantKeys = new WeakMap<Exact, string>();

/** Long to make, so remembered: constants travel through many expressions. */
function constantKey(value: Exact): string {
  let key = constantKeys.get(value);
  if (key === undefined) constantKeys.set(value, (key = `#${exact.key(value)}`));
  return key;
}

function isZero(a: Real): boolean {
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
    if ('a' in node) visit(node.a);
    if ('b' in node) visit(node.b);
    order.push(node);
  };
  for (const value of values) visit(value);
  return order;
}
