/**
 * Do two different elements of a strided tensor share a memory location?
 *
 * They do exactly when Σ dᵢ·strideᵢ = 0 has a solution d ≠ 0 with |dᵢ| < countᵢ (d is the difference of two indices). Sorting by stride settles
 * almost every tensor people use. The rest is a small integer problem: it is first reduced (dimensions that cannot take part are dropped,
 * contiguous ones merged, divisibility divided out), then searched, with the last two dimensions solved in closed form. No element is ever
 * enumerated.
 *
 * A dimension with a negative stride shares locations as one with a positive stride: only the sign of its difference changes. The whole span is
 * below 2^53, so that every sum here is exact.
 */
import { gcd, inverseModulo, multiplyModulo } from '../../numeric/primes.ts';

/** Two different index tuples of one location, or `undecided` where the search was given up. */
export type Collision = { readonly first: number[]; readonly second: number[] } | 'undecided';

/** One unknown of the equation, with a positive stride: `difference` ranges over −max … max, `assign` writes it back to the user's dimensions. */
interface Unknown {
  readonly stride: number;
  readonly max: number;
  readonly assign: (difference: number, differences: number[]) => void;
}

/** Search steps before giving up: about a second. Only three or more incommensurable, very long dimensions come near. */
const STEP_LIMIT = 1 << 21;

/**
 * Finds two elements of a tensor that share a location.
 * @param counts elements along each dimension
 * @param strides from each element to its neighbour along each dimension, in elements; negative or 0, too
 * @returns a pair of colliding indices, `undefined` when all locations differ, `undecided` when the step limit was hit
 */
export function findCollision(counts: readonly number[], strides: readonly number[]): Collision | undefined {
  const unknowns: Unknown[] = [];
  counts.forEach((count, dimension) => {
    if (count < 2) return;
    const sign = Math.sign(strides[dimension]!);
    const assign: Unknown['assign'] = (difference, differences) => {
      differences[dimension] = sign * difference;
    };
    unknowns.push({ stride: Math.abs(strides[dimension]!), max: count - 1, assign });
  });
  const repeated = counts.findIndex((count, d) => count > 1 && strides[d] === 0);
  if (repeated >= 0) {
    const zero = counts.map(() => 0);
    return { first: zero, second: zero.map((_, d) => Number(d === repeated)) };
  }
  if (areStridesNested(unknowns)) return undefined;

  const differences = new Array<number>(counts.length).fill(0);
  const outcome = new OverlapSearch(reduce(unknowns)).run(differences);
  if (outcome === 'undecided') return 'undecided';
  if (outcome === 'none') return undefined;
  return { first: differences.map((d) => Math.max(d, 0)), second: differences.map((d) => Math.max(-d, 0)) };
}

function reach(unknowns: readonly Unknown[]): number {
  return unknowns.reduce((sum, { stride, max }) => sum + stride * max, 0);
}

/** Whether every stride exceeds the span of all smaller ones: a cheap sufficient test. */
function areStridesNested(unknowns: readonly Unknown[]): boolean {
  let covered = 0;
  for (const { stride, max } of [...unknowns].sort((a, b) => a.stride - b.stride)) {
    if (stride <= covered) return false;
    covered += stride * max;
  }
  return true;
}

/** Applies every simplification that keeps the set of solutions until none applies any more. */
function reduce(start: readonly Unknown[]): Unknown[] {
  let unknowns = [...start];
  for (;;) {
    const next = dropUnreachable(divideOut(mergeContiguous(unknowns)));
    const unchanged = next.length === unknowns.length && next.every((u, i) => u.stride === unknowns[i]!.stride);
    unknowns = next;
    if (unchanged) return unknowns;
  }
}

/** Drops unknowns whose stride exceeds the reach of all others together: they must be zero. */
function dropUnreachable(unknowns: readonly Unknown[]): Unknown[] {
  const total = reach(unknowns);
  return unknowns.filter(({ stride, max }) => stride <= total - stride * max);
}

/** Merges two dimensions into one longer dimension if the second starts where the first ends. */
function mergeContiguous(unknowns: readonly Unknown[]): Unknown[] {
  const sorted = [...unknowns].sort((a, b) => a.stride - b.stride);
  for (let i = 0; i < sorted.length; i++) {
    const low = sorted[i]!;
    const radix = low.max + 1;
    const j = sorted.findIndex((high, at) => at > i && high.stride === low.stride * radix);
    if (j < 0) continue;
    const high = sorted[j]!;
    sorted.splice(j, 1);
    sorted[i] = {
      stride: low.stride,
      max: low.max + radix * high.max,
      assign: (difference, differences) => {
        const quotient = Math.trunc(difference / radix);
        low.assign(difference - quotient * radix, differences);
        high.assign(quotient, differences);
      },
    };
    i--; // the merged dimension may go on
  }
  return sorted;
}

/** Divides out common divisors: each unknown must be a multiple of g / gcd(g, stride), where g is the divisor common to all other strides. */
function divideOut(unknowns: readonly Unknown[]): Unknown[] {
  const list = [...unknowns];
  for (let i = 0; i < list.length; i++) {
    const { stride, max, assign } = list[i]!;
    const others = list.reduce((g, other, at) => (at === i ? g : gcd(g, other.stride)), 0);
    const step = others === 0 ? Number.POSITIVE_INFINITY : others / gcd(others, stride);
    if (step > max) {
      list.splice(i, 1);
      i--;
    } else if (step > 1) {
      list[i] = {
        stride: stride * step,
        max: Math.floor(max / step),
        assign: (difference, differences) => assign(difference * step, differences),
      };
    }
  }
  return list;
}

/** ⌊p / q⌋ without the rounding of the division. */
function floorDivide(p: number, q: number): number {
  const rest = ((p % q) + q) % q;
  return (p - rest) / q;
}

function ceilDivide(p: number, q: number): number {
  return -floorDivide(-p, q);
}

/** Depth-first search over all but the two longest dimensions, largest stride first, with pruning by reach. */
class OverlapSearch {
  private readonly order: Unknown[];
  private readonly reachAfter: number[];
  private readonly divisorAfter: number[];
  private readonly values: number[];
  private steps = 0;

  constructor(unknowns: readonly Unknown[]) {
    const byLength = [...unknowns].sort((a, b) => b.max - a.max);
    const [longest, rest] = [byLength.slice(0, 2), byLength.slice(2)];
    this.order = [...rest.sort((a, b) => b.stride - a.stride), ...longest];
    this.reachAfter = this.order.map((_, i) => reach(this.order.slice(i + 1)));
    this.divisorAfter = this.order.map((_, i) => this.order.slice(i + 1).reduce((g, u) => gcd(g, u.stride), 0));
    this.values = this.order.map(() => 0);
  }

  run(differences: number[]): 'found' | 'none' | 'undecided' {
    if (this.order.length < 2) return 'none';
    const found = this.descend(0, 0, true);
    if (!found) return this.steps > STEP_LIMIT ? 'undecided' : 'none';
    for (let i = 0; i < this.order.length; i++) this.order[i]!.assign(this.values[i]!, differences);
    return 'found';
  }

  /** Tries all values from unknown `i` on, given the sum of the earlier terms and whether they are all zero. */
  private descend(i: number, sum: number, zeroSoFar: boolean): boolean {
    if (i === this.order.length - 2) return this.solvePair(i, sum, zeroSoFar);
    const { stride, max } = this.order[i]!;
    const rest = this.reachAfter[i]!;
    // The negative of a solution is a solution, so the first value other than zero may be taken as positive.
    const low = zeroSoFar ? 0 : Math.max(-max, ceilDivide(-rest - sum, stride));
    const high = Math.min(max, floorDivide(rest - sum, stride));
    for (let value = low; value <= high; value++) {
      if (++this.steps > STEP_LIMIT) return false;
      const next = sum + value * stride;
      if (next % this.divisorAfter[i]! !== 0) continue;
      this.values[i] = value;
      if (this.descend(i + 1, next, zeroSoFar && value === 0)) return true;
    }
    return false;
  }

  /** Solves sum + a·x + b·y = 0 for the last two unknowns within their bounds. */
  private solvePair(i: number, sum: number, zeroSoFar: boolean): boolean {
    const [first, second] = [this.order[i]!, this.order[i + 1]!];
    const common = gcd(first.stride, second.stride);
    const a = first.stride / common;
    const b = second.stride / common;
    let x: number;
    if (zeroSoFar) {
      x = b; // the smallest solution other than zero; y = −a
    } else {
      const target = -sum / common;
      const bound = b * second.max;
      const low = Math.max(-first.max, ceilDivide(target - bound, a));
      const residue = multiplyModulo(((target % b) + b) % b, inverseModulo(a % b, b), b);
      x = residue + b * ceilDivide(low - residue, b);
    }
    const y = ((zeroSoFar ? 0 : -sum / common) - a * x) / b;
    if (Math.abs(x) > first.max || Math.abs(y) > second.max) return false;
    this.values[i] = x;
    this.values[i + 1] = y;
    return true;
  }
}
