/**
 * The Hermitian split: the step that combines bins k and N − k of a complex transform of N points into bins of real data, or the other
 * way around (VkFFT guide 2.5.3; Press et al., Numerical Recipes, section 12.3). Forward results are twice the bins.
 *
 * With several axes, k and N − k stand for bins that mirror one another along all axes.
 *
 * `halves`, of 2N reals: with e = Z(k) + Z*(N−k), o = −i·w·(Z(k) − Z*(N−k)), w = e^{−2πi·k/2N}:
 *   2·X(k) = e + o, 2·X(N−k) = (e − o)*, for k = 0 … N.
 * `lines`, of N reals each: 2·A(k) = Z(k) + Z*(N−k), 2·B(k) = −i·(Z(k) − Z*(N−k)), for k = 0 … ⌊N/2⌋. Where bins 0 and N/2 are merged, Z(0) ± Z(N/2)
 * stand for 2·A(0) and 2·B(0).
 */

import {
  add,
  type Complex,
  type ComplexView,
  type Expressions,
  type Guard,
  type IndexLike,
  index,
  mod,
  type Store,
  sub,
} from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import type { HermitianSplit } from '../../plan/tree/leaf.ts';
import { conjugated } from '../views/views.ts';

/** The twiddle of bin k: e^{−2πi·k/2N}. */
export type SplitRoot = (x: Expressions, k: IndexLike) => Complex;

/** The views of a split: the numbers of the complex transform, and the bins of the first and the second line. */
export interface SplitViews {
  readonly numbers: ComplexView;
  readonly bins: ComplexView;
  /** Missing where there is no second line. */
  readonly secondLine: ComplexView | undefined;
}

/** A loop over pairs that all execute the same statements. */
export interface SplitItems {
  readonly count: number;
  /** The statements for pair b of transform c of the tile. */
  readonly stores: (x: Expressions, b: IndexLike, c: IndexLike) => Store[];
}

export interface SplitQuestion extends Omit<HermitianSplit, 'do'> {
  /** The column of the mirrored numbers of column c; missing if that is c itself. */
  readonly opposite?: (c: IndexLike) => IndexLike;
  readonly sides: SplitViews;
  readonly root: SplitRoot;
  /** Multiplies a bin by its number of the convolution kernel. Only for a convolution, whose split also goes back to complex numbers. */
  readonly multiplied?: ((x: Expressions, bin: Complex, k: IndexLike, c: IndexLike) => Complex) | undefined;
}

/** A split as one loop over all pairs: guards handle the pairs whose numbers are the same. */
export function guardedSplit(question: SplitQuestion): SplitItems[] {
  const { length, merged } = question;
  const stores = (x: Expressions, b: IndexLike, c: IndexLike): Store[] => {
    const mirror = sub(length, b);
    // Number N/2 is its own partner, and is stored once.
    const within: Guard = [{ index: index(b), from: 0, to: Math.ceil(length / 2) }];
    const pair = { k: index(b), mirror, wrapped: mod(mirror, length), c, within };
    return pairAt(question, x, question.opposite ? { ...pair, opposite: question.opposite(c) } : pair);
  };
  return [{ count: merged ? length / 2 : Math.floor(length / 2) + 1, stores }];
}

/** A split as two loops without guards: pairs of two different numbers, and numbers 0 and N/2, each of which is its own mirror image. */
export function unguardedSplit(question: SplitQuestion): SplitItems[] {
  const { length } = question;
  const items: SplitItems[] = [];
  const count = Math.floor((length - 1) / 2);
  if (count > 0) {
    items.push({
      count,
      stores: (x, b, c) => {
        const k = add(b, 1);
        return pairAt(question, x, { k, mirror: sub(length, k), wrapped: sub(length, k), c });
      },
    });
  }
  items.push({
    count: 1,
    stores: (x, _, c) => {
      const middle = length % 2 === 0 && length > 0 && !question.merged ? [length / 2] : [];
      return [0, ...middle].flatMap((k) =>
        pairAt(question, x, {
          k: index(k),
          mirror: index(length - k),
          wrapped: index((length - k) % length),
          c,
          within: onlyFirst(k),
        }),
      );
    },
  });
  return items;
}

/** The guard of the second store: number N/2 is its own mirror image and is stored once; number 0 has bin N as its second. */
function onlyFirst(k: number): Guard {
  return [{ index: index(k), from: 0, to: 1 }];
}

interface BinPair {
  readonly k: ReturnType<typeof index>;
  /** The bin N − k. */
  readonly mirror: ReturnType<typeof index>;
  /** The number (N − k) mod N. */
  readonly wrapped: ReturnType<typeof index>;
  readonly c: IndexLike;
  /** The column of `mirror` and `wrapped`; missing if it is c itself. */
  readonly opposite?: IndexLike;
  /** Condition under which the second store of the pair takes place. */
  readonly within?: Guard;
}

function pairAt(question: SplitQuestion, x: Expressions, pair: BinPair): Store[] {
  const { by, toReals, merged } = question;
  if (merged) return toReals ? binsToMergedLines(question, x, pair) : mergedLinesToBins(question, x, pair);
  if (by === 'halves' && question.multiplied) return convolvedHalves(question, x, pair);
  if (by === 'halves') return toReals ? binsToHalves(question, x, pair) : halvesToBins(question, x, pair);
  return toReals ? binsToLines(question, x, pair) : linesToBins(question, x, pair);
}

/** i·z. */
function timesI({ re, im }: Complex, x: Expressions): Complex {
  return { re: x.neg(im), im: re };
}

/** a + b* and a − b*. */
function evenAndOdd(x: Expressions, a: Complex, b: Complex): readonly [Complex, Complex] {
  return [
    { re: x.add(a.re, b.re), im: x.sub(a.im, b.im) },
    { re: x.sub(a.re, b.re), im: x.add(a.im, b.im) },
  ];
}

function halvesToBins({ sides: { numbers, bins }, root }: SplitQuestion, x: Expressions, pair: BinPair): Store[] {
  const { k, mirror, wrapped, c, opposite = c, within } = pair;
  const [e, d] = evenAndOdd(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, opposite]));
  const rotated = x.cmul(d, root(x, k));
  const o = { re: rotated.im, im: x.neg(rotated.re) };
  return [
    ...bins.store(x, [k, c], x.cadd(e, o)),
    ...bins.store(x, [mirror, opposite], conjugated(x, x.csub(e, o)), within),
  ];
}

function binsToHalves(
  { sides: { numbers, bins }, root, length }: SplitQuestion,
  x: Expressions,
  pair: BinPair,
): Store[] {
  const { k, c, opposite = c, wrapped, within } = pair;
  const [bin, mirrored] = properBins(bins, length, x, pair);
  const [e, d] = evenAndOdd(x, bin, mirrored);
  const o = timesI(x.cmul(d, conjugated(x, root(x, k))), x);
  const last = within && [...within, ...isInner(k, length)];
  return [
    ...numbers.store(x, [k, c], x.cadd(e, o)),
    ...numbers.store(x, [wrapped, opposite], conjugated(x, x.csub(e, o)), last),
  ];
}

/**
 * Bins k and N − k, with the Hermitian symmetry enforced. With one axis, bins 0 and N are real: their imaginary parts in memory are
 * ignored. With several axes, the bins at k = 0 of columns c and −c should be conjugates: each becomes the mean of itself and the conjugate
 * of the other.
 */
function properBins(
  bins: ComplexView,
  length: number,
  x: Expressions,
  { k, mirror, c, opposite }: BinPair,
): readonly [Complex, Complex] {
  if (opposite === undefined) {
    const im = (value: Complex) => x.where(isInner(k, length), value.im, x.constant(0));
    const real = (value: Complex): Complex => ({ re: value.re, im: im(value) });
    return [real(bins.load(x, [k, c])), real(bins.load(x, [mirror, c]))];
  }
  const first: Guard = [{ index: k, from: 0, to: 1 }];
  const half = x.where(first, x.constant(exact.div(exact.ONE, exact.exact(2))), x.constant(1));
  const proper = (at: IndexLike, column: IndexLike, mirrored: IndexLike): Complex => {
    const value = bins.load(x, [at, column]);
    // Zero unless it is the first bin.
    const other = bins.load(x, [at, mirrored], first);
    return { re: x.mul(x.add(value.re, other.re), half), im: x.mul(x.sub(value.im, other.im), half) };
  };
  return [proper(k, c, opposite), proper(mirror, opposite, c)];
}

/** The split of a convolution: numbers → bins, products with the kernel, bins → numbers, which are stored through the view `bins`. */
function convolvedHalves({ sides, root, length, multiplied }: SplitQuestion, x: Expressions, pair: BinPair): Store[] {
  const { numbers, bins: target } = sides;
  const { k, mirror, wrapped, c, opposite = c, within } = pair;
  const w = root(x, k);
  const [even, odd] = evenAndOdd(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, opposite]));
  const rotated = x.cmul(odd, w);
  const o = { re: rotated.im, im: x.neg(rotated.re) };
  // even + o and (even − o)* are twice the bins.
  const half = x.constant(exact.div(exact.ONE, exact.exact(2)));
  const bin = multiplied!(x, x.cscale(x.cadd(even, o), half), k, c);
  const mirrored = multiplied!(x, x.cscale(conjugated(x, x.csub(even, o)), half), mirror, opposite);
  const [e, d] = evenAndOdd(x, bin, mirrored);
  const back = timesI(x.cmul(d, conjugated(x, w)), x);
  const last = within && [...within, ...isInner(k, length)];
  return [
    ...target.store(x, [k, c], x.cadd(e, back)),
    ...target.store(x, [wrapped, opposite], conjugated(x, x.csub(e, back)), last),
  ];
}

/** Holds for bins that are neither 0 nor N. */
function isInner(k: ReturnType<typeof index>, length: number): Guard {
  return [{ index: k, from: 1, to: length }];
}

function linesToBins({ sides: { numbers, bins, secondLine } }: SplitQuestion, x: Expressions, pair: BinPair): Store[] {
  const { k, wrapped, c } = pair;
  const [a, b] = evenAndOdd(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, c]));
  const second = { re: b.im, im: x.neg(b.re) };
  return [...bins.store(x, [k, c], a), ...(secondLine ? secondLine.store(x, [k, c], second) : [])];
}

function binsToLines(
  { sides: { numbers, bins, secondLine }, length }: SplitQuestion,
  x: Expressions,
  pair: BinPair,
): Store[] {
  const { k, wrapped, c, within } = pair;
  const zero = x.constant(0);
  // Bin 0 and, for an even length, the last bin are real: their imaginary parts in memory are ignored.
  const proper: Guard = [{ index: k, from: 1, to: Math.ceil(length / 2) }];
  const real = (value: Complex): Complex => ({ re: value.re, im: x.where(proper, value.im, zero) });
  const a = real(bins.load(x, [k, c]));
  const b = secondLine ? real(secondLine.load(x, [k, c])) : { re: zero, im: zero };
  const last = within && [...within, ...proper];
  return [
    ...numbers.store(x, [k, c], { re: x.sub(a.re, b.im), im: x.add(a.im, b.re) }),
    ...numbers.store(x, [wrapped, c], { re: x.add(a.re, b.im), im: x.sub(b.re, a.im) }, last),
  ];
}

/** The mirror image of number k if bins 0 and N/2 are merged: number 0 goes with number N/2. */
function partner({ length }: SplitQuestion, k: BinPair['k'], wrapped: BinPair['wrapped']) {
  const first: Guard = [{ index: k, from: 0, to: 1 }];
  const others: Guard = [{ index: k, from: 1, to: length }];
  return { first, others, at: { first: index(length / 2), others: wrapped } };
}

function mergedLinesToBins(question: SplitQuestion, x: Expressions, { k, wrapped, c }: BinPair): Store[] {
  const { numbers, bins, secondLine } = question.sides;
  const { first, others, at } = partner(question, k, wrapped);
  const one = numbers.load(x, [k, c]);
  const other = x.cadd(numbers.load(x, [at.first, c], first), numbers.load(x, [at.others, c], others));
  const [a, b] = evenAndOdd(x, one, other);
  const even = { re: a.re, im: x.where(others, a.im, x.add(one.im, other.im)) };
  const odd = { re: x.where(others, b.im, b.re), im: x.where(others, x.neg(b.re), x.sub(one.im, other.im)) };
  return [...bins.store(x, [k, c], even), ...secondLine!.store(x, [k, c], odd)];
}

function binsToMergedLines(question: SplitQuestion, x: Expressions, { k, wrapped, c }: BinPair): Store[] {
  const { numbers, bins, secondLine } = question.sides;
  const { first, others, at } = partner(question, k, wrapped);
  const [a, b] = [bins.load(x, [k, c]), secondLine!.load(x, [k, c])];
  const half = x.constant(exact.div(exact.ONE, exact.exact(2)));
  const mean = (sum: Complex) => x.cscale(sum, half);
  const [sum, difference] = [mean(x.cadd(a, b)), mean(x.csub(a, b))];
  const [even, odd] = [
    { re: x.sub(a.re, b.im), im: x.add(a.im, b.re) },
    { re: x.add(a.re, b.im), im: x.sub(b.re, a.im) },
  ];
  const either = (merged: Complex, usual: Complex): Complex => ({
    re: x.where(others, usual.re, merged.re),
    im: x.where(others, usual.im, merged.im),
  });
  return [
    ...numbers.store(x, [k, c], either(sum, even)),
    ...numbers.store(x, [at.first, c], difference, first),
    ...numbers.store(x, [at.others, c], odd, others),
  ];
}
