/**
 * Passes over reals: bin N − k of reals is the conjugate of bin k, so that half of all butterflies need not be computed (Sorensen et
 * al., "Real-valued fast Fourier transform algorithms", 1987; FFTPACK's `radfg` and `radbg` are the same passes).
 *
 * The order of the data is that of Stockham's autosort passes (leaf.ts). Let s be the product of the radices so far. The data then
 * consists of N/s blocks of s elements, and each block holds the spectrum of s reals. Only its bins 0 … h, h = (s − 1)/2, are stored,
 * each at the place that it would have in the whole spectrum. The next pass, of radix r, combines r blocks into one of s·r elements.
 * It computes h + 1 butterflies for the new block number q, which begins at element q·s·r:
 *
 * - Butterfly 0 takes bin 0 of each of the r blocks. These are real, so its outputs 0 … (r − 1)/2 are enough.
 * - Butterfly i = 1 … h takes bin i of each of the r blocks, times its twiddle. Output k is bin i + k·s of the new block. From
 *   k = (r + 1)/2 on, that bin is beyond the half; its conjugate, which is bin s·(r − k) − i, is stored instead.
 *
 * That is `real-input`. `real-output` runs the same passes backwards, from the last one to the first: each gathers the bins that its
 * counterpart stored, transforms them, and multiplies by the twiddles after the butterfly. Its exponents should have the other sign;
 * instead the first pass conjugates all bins that it reads, so that forward butterflies and twiddles serve. The results are real and
 * need no conjugation.
 *
 * Every radix is odd, unless there is one pass only.
 */

import {
  add,
  type Complex,
  type Expressions,
  type Guard,
  type Index,
  type IndexLike,
  index,
  type Store,
  scale,
  simplified,
} from '../../ir/index.ts';
import type { PassesStep } from '../../plan/tree/leaf.ts';
import { conjugated } from '../views/views.ts';
import { dft } from './butterfly.ts';

/** One pass of a transform of reals. */
export interface SymmetricPass {
  readonly length: number;
  readonly radix: number;
  readonly stride: number;
  readonly passes: PassesStep;
  /** Whether it is the first pass that runs. In `real-output` it reads the caller's bins. */
  readonly opens: boolean;
  /** Multiplies input m of butterfly i by its twiddle. */
  readonly twiddle: (x: Expressions, value: Complex, i: IndexLike, m: number) => Complex;
  readonly load: (x: Expressions, element: IndexLike, guard?: Guard) => Complex;
  readonly store: (x: Expressions, element: IndexLike, value: Complex, guard?: Guard) => Store[];
}

/** h = ⌊(s − 1)/2⌋, the bins after bin 0 that are stored of a block of s elements; also the butterflies of a block after butterfly 0. */
export function binsAfterFirst(stride: number): number {
  return Math.floor((stride - 1) / 2);
}

/**
 * The stores of butterfly i of block q.
 * @param i number of the butterfly: the constant 0; a variable from 1 to h; or one from 0 to h, where a guard tells the first bins apart.
 */
export function symmetricStores(x: Expressions, pass: SymmetricPass, q: IndexLike, i: IndexLike): Store[] {
  const places = butterflyPlaces(pass, q, index(i));
  return pass.passes.symmetry === 'real-input' ? toBins(x, pass, places) : toReals(x, pass, places);
}

interface BinPlaces {
  readonly i: Index;
  /** The element that is bin i of block m of the r blocks that the pass combines. */
  readonly part: (m: number) => Index;
  /** The element that is bin i + k·s of the combined block; for a bin beyond the half, the element that holds its conjugate. */
  readonly bin: (k: number) => Index;
  /** The first output that lies beyond the half. */
  readonly over: number;
  /** The condition i ≥ 1: the butterfly is not butterfly 0, whose bins are real. */
  readonly others: Guard;
}

function butterflyPlaces({ length, radix, stride }: SymmetricPass, q: IndexLike, i: Index): BinPlaces {
  const over = Math.floor(radix / 2) + 1;
  const block = scale(q, stride * radix);
  return {
    i,
    over,
    part: (m) => add(scale(q, stride), i, (m * length) / radix),
    bin: (k) => (k < over ? add(block, i, k * stride) : add(block, (radix - k) * stride, scale(i, -1))),
    others: [{ index: i, from: 1, to: stride }],
  };
}

/** `real-input`: r blocks of bins → one block of r times as many elements. The first pass takes reals. */
function toBins(x: Expressions, pass: SymmetricPass, { i, part, bin, over, others }: BinPlaces): Store[] {
  const { radix, twiddle, load, store, passes } = pass;
  const values = Array.from({ length: radix }, (_, m) => {
    const { re, im } = load(x, part(m));
    return twiddle(x, { re, im: x.where(others, im, x.constant(0)) }, i, m);
  });
  const isOther = simplified(others);
  return dft(x, values, passes.convolved).flatMap((value, k) => {
    if (k < over) return store(x, bin(k), value);
    return isOther ? store(x, bin(k), conjugated(x, value), isOther) : [];
  });
}

/** `real-output`: one block of bins → r blocks. The last pass gives reals. */
function toReals(x: Expressions, pass: SymmetricPass, { i, part, bin, over, others }: BinPlaces): Store[] {
  const { radix, twiddle, load, store, passes, opens } = pass;
  const values = Array.from({ length: radix }, (_, k): Complex => {
    const { re, im } = load(x, bin(k));
    // Bin 0 of a spectrum is real and, for an even length, the middle bin.
    const isReal = k === 0 || 2 * k === radix;
    const value: Complex = { re, im: isReal ? x.where(others, im, x.constant(0)) : im };
    return k < over === opens ? conjugated(x, value) : value;
  });
  return dft(x, values, passes.convolved).flatMap((value, m) => {
    const { re, im } = twiddle(x, value, i, m);
    return store(x, part(m), { re, im: x.where(others, im, x.constant(0)) });
  });
}
