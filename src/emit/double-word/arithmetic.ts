/**
 * Arithmetic on unevaluated sums hi + lo of two numbers that a device computes in: as many bits as both have together, and the
 * range of one.
 *
 * Error-free transforms (Dekker 1971; Knuth, TAOCP vol. 2, 4.2.2) compute the rounding error of a sum or product exactly. They rest on
 * operations that no compiler contracts or reorders. All other operations work on terms of low order and may be contracted. A double-word is
 * normalised if |lo| is at most half a unit in the last place of hi. Stored numbers and factors are normalised; results of sums and
 * products are normalised only when it matters (Lange and Rump, "Faithfully rounded floating-point computations", 2020).
 *
 * With u the roundoff of one number, a product is off by at most 5u² of itself, a quotient by 10u² (Joldes, Muller and
 * Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017). A sum is off by a
 * few u² of |a| + |b|: of the larger operand where they cancel, which is what bounds the error of a Fourier transform in the
 * norm of all numbers.
 */
import {
  type Comparison,
  type ElementType,
  type Expressions,
  type Guard,
  isZeroConstant,
  type Real,
} from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';

/** Properties of a device's floating-point operations. */
export interface DoubleWordForm {
  /** Whether the device has a fused multiply-add. */
  readonly fused?: boolean;
  /** Whether ordinary operations are computed as written too, except that a product and a sum may be fused. */
  readonly ordered?: boolean;
}

/** A double-word number: the unevaluated sum hi + lo. */
export interface DoubleWord {
  readonly hi: Real;
  readonly lo: Real;
  /** Set if the number is not normalised: lo may reach some units in the last place of hi, or exceed hi after cancellation. */
  readonly loose?: true;
}

export class DoubleWordArithmetic {
  private readonly x: Expressions;
  private readonly element: ElementType;
  private readonly form: DoubleWordForm;
  private readonly zero: Real;
  /** Numbers already split into two halves of their bits. */
  private readonly split = new Map<Real, readonly [upper: Real, lower: Real]>();
  private readonly shapes = new Map<DoubleWord, DoubleWord>();

  constructor(x: Expressions, element: ElementType, form: DoubleWordForm) {
    this.x = x;
    this.element = element;
    this.form = form;
    this.zero = x.constant(0);
  }

  /** A single number as a double-word. */
  of(hi: Real): DoubleWord {
    return { hi, lo: this.zero };
  }

  constant(value: exact.Exact): DoubleWord {
    const hi = exact.exact(this.rounded(value));
    const lo = exact.exact(this.rounded(exact.sub(value, hi)));
    return { hi: this.x.constant(hi), lo: this.x.constant(lo) };
  }

  /** The same number, normalised: |lo| is at most half a unit in the last place of hi. */
  shaped(a: DoubleWord): DoubleWord {
    if (!a.loose) return a;
    let made = this.shapes.get(a);
    if (!made) this.shapes.set(a, (made = this.quickTwoSum(a.hi, a.lo)));
    return made;
  }

  neg(a: DoubleWord): DoubleWord {
    return this.each((part) => this.x.neg(part), a);
  }

  add(a: DoubleWord, b: DoubleWord): DoubleWord {
    const { x } = this;
    const sum = this.twoSum(a.hi, b.hi);
    const low = x.add(a.lo, b.lo);
    return isZeroConstant(low) ? sum : { hi: sum.hi, lo: x.add(sum.lo, low), loose: true };
  }

  sub(a: DoubleWord, b: DoubleWord): DoubleWord {
    return this.add(a, this.neg(b));
  }

  mul(a: DoubleWord, b: DoubleWord): DoubleWord {
    const { x } = this;
    const power = [a, b].find(isPowerOfTwo);
    if (power) return this.each((part) => x.mul(power.hi, part), power === a ? b : a);
    const [p, q] = [this.shaped(a), this.shaped(b)];
    const { hi, lo } = this.twoProduct(p.hi, q.hi);
    const low = x.add(x.mul(p.hi, q.lo), x.mul(p.lo, q.hi));
    return isZeroConstant(low) ? { hi, lo } : { hi, lo: x.add(low, lo), loose: true };
  }

  div(a: DoubleWord, b: DoubleWord): DoubleWord {
    const { x } = this;
    const [p, q] = [this.shaped(a), this.shaped(b)];
    const near = this.settled(x.div(p.hi, q.hi));
    const rest = this.shaped(this.sub(p, this.mul(this.of(near), q)));
    return this.quickTwoSum(near, x.div(rest.hi, q.hi));
  }

  /** The square root: one Newton step from the root of hi. */
  sqrt(a: DoubleWord): DoubleWord {
    const { x, zero } = this;
    const p = this.shaped(a);
    const near = this.settled(x.sqrt(p.hi));
    const rest = this.shaped(this.sub(p, this.twoProduct(near, near)));
    const low = x.div(rest.hi, x.add(near, near));
    return this.quickTwoSum(near, x.select('equal', near, zero, zero, low));
  }

  abs(a: DoubleWord): DoubleWord {
    return this.choose('less', a, this.of(this.zero), this.neg(a), a);
  }

  min(a: DoubleWord, b: DoubleWord): DoubleWord {
    return this.choose('less', b, a, b, a);
  }

  max(a: DoubleWord, b: DoubleWord): DoubleWord {
    return this.choose('less', a, b, b, a);
  }

  /** `a` where left and right compare so, otherwise `b`. */
  choose(comparison: Comparison, left: DoubleWord, right: DoubleWord, a: DoubleWord, b: DoubleWord): DoubleWord {
    const { x } = this;
    const [p, q] = [this.shaped(left), this.shaped(right)];
    return this.each(
      (one, other) => {
        const low = x.select(comparison, p.lo, q.lo, one, other);
        const equal = x.select('equal', p.hi, q.hi, low, other);
        return comparison === 'equal' ? equal : x.select('less', p.hi, q.hi, one, equal);
      },
      a,
      b,
    );
  }

  where(guard: Guard, a: DoubleWord, b: DoubleWord): DoubleWord {
    return this.each((one, other) => this.x.where(guard, one, other), a, b);
  }

  /** Applies an operation to the hi parts and to the lo parts. */
  each(operation: (part: Real, otherPart: Real) => Real, a: DoubleWord, b: DoubleWord = a): DoubleWord {
    const loose = a.loose || b.loose ? ({ loose: true } as const) : {};
    return { hi: operation(a.hi, b.hi), lo: operation(a.lo, b.lo), ...loose };
  }

  /** Knuth's TwoSum, for operands in any order of magnitude. */
  private twoSum(a: Real, b: Real): DoubleWord {
    const sum = this.add1(a, b);
    const other = this.sub1(sum, a);
    return { hi: sum, lo: this.add1(this.sub1(a, this.sub1(sum, other)), this.sub1(b, other)) };
  }

  /** Dekker's FastTwoSum: requires |a| ≥ |b|, or a = 0. */
  private quickTwoSum(a: Real, b: Real): DoubleWord {
    const sum = this.add1(a, b);
    return { hi: sum, lo: this.sub1(b, this.sub1(sum, a)) };
  }

  private twoProduct(a: Real, b: Real): DoubleWord {
    if (a.op === 'neg') return this.neg(this.twoProduct(a.a, b));
    if (b.op === 'neg') return this.neg(this.twoProduct(a, b.a));
    const { x } = this;
    const product = x.exactly('mul', a, b);
    // The negated factor needs no instruction of its own in a fused multiply-add.
    if (this.form.fused) return { hi: product, lo: x.neg(x.exactFma(x.neg(a), b, product)) };
    const [a1, a2] = this.halves(a);
    const [b1, b2] = this.halves(b);
    // All these products and sums are exact, so it does not matter whether the device fuses them.
    const { add, sub, mul } = this.form.ordered ? this.plain : this.kept;
    const lo = add(add(add(sub(mul(a1, b1), product), mul(a1, b2)), mul(a2, b1)), mul(a2, b2));
    return { hi: product, lo };
  }

  private readonly plain = {
    add: (a: Real, b: Real) => this.x.add(a, b),
    sub: (a: Real, b: Real) => this.x.sub(a, b),
    mul: (a: Real, b: Real) => this.x.mul(a, b),
  };

  private readonly kept = {
    add: (a: Real, b: Real) => this.add1(a, b),
    sub: (a: Real, b: Real) => this.sub1(a, b),
    mul: (a: Real, b: Real) => (isZeroConstant(a) || isZeroConstant(b) ? this.zero : this.x.exactly('mul', a, b)),
  };

  /** Dekker's splitting into upper and lower bits, whose products are exact. Constants are split at plan time. */
  private halves(a: Real): readonly [upper: Real, lower: Real] {
    let known = this.split.get(a);
    if (known) return known;
    const { x } = this;
    const splitter = this.element === 'f32' ? 2 ** 12 + 1 : 2 ** 27 + 1;
    if (a.op === 'const' || a.op === 'conj') {
      const value = this.rounded(a.value);
      const scaled = this.round(splitter * value);
      const upper = this.round(scaled - this.round(scaled - value));
      const part = (number: number) => (a.op === 'conj' ? x.conj(x.constant(number)) : x.constant(number));
      known = [part(upper), part(value - upper)];
    } else {
      const scaled = x.exactly('mul', x.constant(splitter), a);
      const upper = this.sub1(scaled, this.sub1(scaled, a));
      known = [upper, this.sub1(a, upper)];
    }
    this.split.set(a, known);
    return known;
  }

  /** Hides from compilers how a value was computed, so that they cannot simplify across it. */
  private settled(a: Real): Real {
    return this.form.ordered || this.form.fused ? a : this.x.exactly('add', a, this.zero);
  }

  /** a + b, rounded once. Zeros and signs fold. */
  private add1(a: Real, b: Real): Real {
    const { x } = this;
    if (isZeroConstant(a)) return b;
    if (isZeroConstant(b)) return a;
    if (b.op === 'neg') return this.sub1(a, b.a);
    if (a.op === 'neg') return this.sub1(b, a.a);
    // Constants always come first, because the treatment of a sum by compilers may depend on the order, and this order has been tested.
    const inOrder = (a.op === 'const') === (b.op === 'const') ? a.id < b.id : a.op === 'const';
    return inOrder ? x.exactly('add', a, b) : x.exactly('add', b, a);
  }

  private sub1(a: Real, b: Real): Real {
    const { x } = this;
    if (isZeroConstant(b)) return a;
    if (isZeroConstant(a)) return x.neg(b);
    if (a === b) return this.zero;
    if (b.op === 'neg') return this.add1(a, b.a);
    if (a.op === 'neg') return x.neg(this.add1(a.a, b));
    return x.exactly('sub', a, b);
  }

  private rounded(value: exact.Exact): number {
    return this.element === 'f32' ? exact.toSingle(value) : exact.toNumber(value);
  }

  private round(value: number): number {
    return this.element === 'f32' ? Math.fround(value) : value;
  }
}

function isPowerOfTwo({ hi, lo }: DoubleWord): boolean {
  if (hi.op === 'inversePower' && isZeroConstant(lo)) return true;
  if (hi.op !== 'const' || !isZeroConstant(lo)) return false;
  const size = Math.abs(exact.toNumber(hi.value));
  return size > 0 && Number.isInteger(Math.log2(size)) && 2 ** Math.log2(size) === size;
}
