/**
 * The reference that kernels are judged by: a Fourier transform in double-double (about 100 bits), of any length,
 * independent of everything under `src/` but the arithmetic and the roots of unity in `src/numeric`.
 *
 * A complex double-double is four doubles, `re.hi, re.lo, im.hi, im.lo`; an array of n of them has 4n numbers.
 * The scheme is Stockham's with radices 4, 2 and the odd primes; lengths with a prime over
 * {@link LARGEST_DIRECT_PRIME} are left to Bluestein's algorithm. It is checked in turn against direct sums in
 * 256-bit fixed point (`direct.ts`), which share no table with it.
 */
import { ddMulComplex } from '../../src/numeric/doubledouble.ts';
import { largestPrimeFactor, primeFactors } from '../../src/numeric/primes.ts';
import { addQuad, addTurned, mulReal, quadRoots, subQuad, subTurned, swapParts } from './quads.ts';

/** A butterfly of prime radix p takes about p² operations: beyond this prime a convolution is quicker. */
const LARGEST_DIRECT_PRIME = 61;

/** A transform of one length, ready to be applied: forward, exponent sign −1, unnormalised. */
export interface ReferenceFft {
  readonly n: number;
  /** Transforms the 4n numbers of `data` in place. */
  forward(data: Float64Array): void;
}

/** Transforms the r numbers of x at `from`, `from + jump` … (in doubles) into the first r numbers of `sums`. */
type Butterfly = (x: Float64Array, from: number, jump: number, sums: Float64Array) => void;

const radix2: Butterfly = (x, from, jump, sums) => {
  addQuad(sums, 0, x, from, x, from + jump);
  subQuad(sums, 4, x, from, x, from + jump);
};

const halves = new Float64Array(16);
const radix4: Butterfly = (x, from, jump, sums) => {
  addQuad(halves, 0, x, from, x, from + 2 * jump);
  subQuad(halves, 4, x, from, x, from + 2 * jump);
  addQuad(halves, 8, x, from + jump, x, from + 3 * jump);
  subQuad(halves, 12, x, from + jump, x, from + 3 * jump);
  addQuad(sums, 0, halves, 0, halves, 8);
  subTurned(sums, 4, halves, 4, halves, 12);
  subQuad(sums, 8, halves, 0, halves, 8);
  addTurned(sums, 12, halves, 4, halves, 12);
};

/**
 * An odd prime p by its definition, with inputs j and p − j taken together: where s_j = x_j + x_(p−j) and
 * d_j = x_j − x_(p−j), outputs k and p − k are x_0 + Σ cos(2πjk/p)·s_j ∓ i·Σ sin(2πjk/p)·d_j.
 */
function oddRadix(p: number): Butterfly {
  const half = (p - 1) / 2;
  const roots = quadRoots(p, p, (k) => k);
  const pairSums = new Float64Array(4 * (half + 1));
  const differences = new Float64Array(4 * (half + 1));
  const cosines = new Float64Array(4);
  const sines = new Float64Array(4);
  const term = new Float64Array(4);
  return (x, from, jump, sums) => {
    for (let i = 0; i < 4; i++) sums[i] = x[from + i] as number;
    for (let j = 1; j <= half; j++) {
      addQuad(pairSums, 4 * j, x, from + j * jump, x, from + (p - j) * jump);
      subQuad(differences, 4 * j, x, from + j * jump, x, from + (p - j) * jump);
      addQuad(sums, 0, sums, 0, pairSums, 4 * j);
    }
    for (let k = 1; k <= half; k++) {
      for (let i = 0; i < 4; i++) cosines[i] = x[from + i] as number;
      sines.fill(0);
      for (let j = 1; j <= half; j++) {
        const root = 4 * ((j * k) % p);
        mulReal(term, 0, pairSums, 4 * j, roots[root] as number, roots[root + 1] as number);
        addQuad(cosines, 0, cosines, 0, term, 0);
        mulReal(term, 0, differences, 4 * j, roots[root + 2] as number, roots[root + 3] as number);
        addQuad(sines, 0, sines, 0, term, 0);
      }
      // The roots have the forward sign, so `sines` is already minus the sum of the sines.
      addTurned(sums, 4 * k, cosines, 0, sines, 0);
      subTurned(sums, 4 * (p - k), cosines, 0, sines, 0);
    }
  };
}

/** The radices of a length, fours first. */
function radicesOf(n: number): number[] {
  const primes = primeFactors(n);
  const twos = primes.filter((p) => p === 2).length;
  return [...Array<number>(twos >> 1).fill(4), ...Array<number>(twos % 2).fill(2), ...primes.slice(twos)];
}

/**
 * One Stockham pass over sequences of length r·m, `columns` of them side by side: butterfly, twiddle, and a store
 * that puts the outputs of a butterfly next to each other, which sorts the result without bit reversal.
 * `roots` holds all roots of the whole length r·m·columns.
 */
function pass(
  radix: number,
  m: number,
  columns: number,
  roots: Float64Array,
): (x: Float64Array, y: Float64Array) => void {
  const butterfly = radix === 2 ? radix2 : radix === 4 ? radix4 : oddRadix(radix);
  const sums = new Float64Array(4 * radix);
  const jump = 4 * columns * m;
  return (x, y) => {
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < columns; column++) {
        butterfly(x, 4 * (column + columns * row), jump, sums);
        const to = 4 * (column + columns * radix * row);
        for (let i = 0; i < 4; i++) y[to + i] = sums[i] as number;
        for (let k = 1; k < radix; k++) {
          ddMulComplex(y, to + 4 * columns * k, sums, 4 * k, roots, 4 * columns * row * k);
        }
      }
    }
  };
}

function stockham(n: number): ReferenceFft {
  const roots = quadRoots(n, n, (k) => k);
  const passes: ReturnType<typeof pass>[] = [];
  let columns = 1;
  for (const radix of radicesOf(n)) {
    passes.push(pass(radix, n / (columns * radix), columns, roots));
    columns *= radix;
  }
  const work = new Float64Array(4 * n);
  return {
    n,
    forward(data) {
      let from: Float64Array = data;
      let to: Float64Array = work;
      for (const apply of passes) {
        apply(from, to);
        [from, to] = [to, from];
      }
      if (from !== data) data.set(from);
    },
  };
}

/** Bluestein's algorithm: a transform of any length n as a convolution with the chirp e^(iπk²/n). */
function bluestein(n: number): ReferenceFft {
  let size = 1;
  while (size < 2 * n - 1) size *= 2;
  const inner = stockham(size);
  // k² modulo 2n, built from the differences 2k − 1 so that nothing grows beyond 4n.
  const squares = new Float64Array(n);
  for (let k = 1; k < n; k++) squares[k] = ((squares[k - 1] as number) + 2 * k - 1) % (2 * n);
  const chirp = quadRoots(2 * n, n, (k) => squares[k] as number);
  const filter = new Float64Array(4 * size);
  for (let k = 0; k < n; k++) {
    for (const place of [k, (size - k) % size]) {
      // Conjugated, and divided by the size for the inverse transform: exact, as the size is a power of two.
      for (let i = 0; i < 4; i++) filter[4 * place + i] = ((i < 2 ? 1 : -1) * (chirp[4 * k + i] as number)) / size;
    }
  }
  inner.forward(filter);
  const work = new Float64Array(4 * size);
  return {
    n,
    forward(data) {
      work.fill(0, 4 * n);
      for (let k = 0; k < n; k++) ddMulComplex(work, 4 * k, data, 4 * k, chirp, 4 * k);
      inner.forward(work);
      for (let k = 0; k < size; k++) ddMulComplex(work, 4 * k, work, 4 * k, filter, 4 * k);
      swapParts(work);
      inner.forward(work);
      swapParts(work);
      for (let k = 0; k < n; k++) ddMulComplex(data, 4 * k, work, 4 * k, chirp, 4 * k);
    },
  };
}

/** The transforms used last, oldest first. A point costs 64 bytes of tables, so what is kept is bounded in points. */
const recent = new Map<number, ReferenceFft>();
const RECENT_POINTS = 2 ** 21;

/** The reference transform of length `n ≥ 1`. */
export function referenceFft(n: number): ReferenceFft {
  const fft = recent.get(n) ?? (largestPrimeFactor(n) > LARGEST_DIRECT_PRIME ? bluestein(n) : stockham(n));
  recent.delete(n);
  recent.set(n, fft);
  let points = 0;
  for (const length of recent.keys()) points += length;
  for (const length of recent.keys()) {
    if (points <= RECENT_POINTS || length === n) break;
    recent.delete(length);
    points -= length;
  }
  return fft;
}
