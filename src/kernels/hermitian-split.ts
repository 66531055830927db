/**
 * The step that pairs bins k and N − k of a complex transform of N points, to make the spectra of reals of it or the other way
 * around (VkFFT guide 2.5.3; Press et al., Numerical Recipes, section 12.3). Forwards it yields twice the bins.
 *
 * Of several axes, k and N − k stand for bins that mirror one another along all of them.
 *
 * `halves`, of 2N reals: with e = Z(k) + Z*(N−k), o = −i·w·(Z(k) − Z*(N−k)), w = e^{−2πi·k/2N}:
 *   2·X(k) = e + o, 2·X(N−k) = (e − o)*, for k = 0 … N.
 * `lines`, of N reals each: 2·A(k) = Z(k) + Z*(N−k), 2·B(k) = −i·(Z(k) − Z*(N−k)), for k = 0 … ⌊N/2⌋.
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
} from '../ir/index.ts';
import * as exact from '../numeric/exact.ts';
import type { HermitianSplit } from '../plan/tree/leaf.ts';

/** Root number k of the pairs: e^{−2πi·k/2N}. */
export type PairRoot = (x: Expressions, k: IndexLike) => Complex;

/** Where the numbers are: those of the complex transform, the bins of the first line and of the second one. */
export interface PairSides {
  readonly numbers: ComplexView;
  readonly bins: ComplexView;
  /** Missing where there is no second line. */
  readonly secondLine: ComplexView | undefined;
}

/** Pairs that are done in the same way. */
export interface PairItems {
  readonly count: number;
  /** Pair number b, of transform c of the tile. */
  readonly stores: (x: Expressions, b: IndexLike, c: IndexLike) => Store[];
}

export interface PairQuestion extends Omit<HermitianSplit, 'do'> {
  /** The column whose numbers mirror those of another one; missing where that is the same. */
  readonly opposite?: (c: IndexLike) => IndexLike;
  readonly sides: PairSides;
  readonly root: PairRoot;
  /** There and back: a bin times its number of the kernel. */
  readonly multiplied?: ((x: Expressions, bin: Complex, k: IndexLike, c: IndexLike) => Complex) | undefined;
}

/** All pairs as items of one kind: those that are not like the others are told apart by guards. */
export function guardedPairs(question: PairQuestion): PairItems[] {
  const { length } = question;
  const stores = (x: Expressions, b: IndexLike, c: IndexLike): Store[] => {
    const mirror = sub(length, b);
    // The number in the middle has no other one; what is stored for it is stored once.
    const within: Guard = [{ index: index(b), from: 0, to: Math.ceil(length / 2) }];
    const pair = { k: index(b), mirror, wrapped: mod(mirror, length), c, within };
    return pairAt(question, x, question.opposite ? { ...pair, opposite: question.opposite(c) } : pair);
  };
  return [{ count: Math.floor(length / 2) + 1, stores }];
}

/** The pairs of two numbers, whose neighbours are neighbours, and the numbers at both ends by themselves. */
export function plainPairs(question: PairQuestion): PairItems[] {
  const { length } = question;
  const items: PairItems[] = [];
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
      const middle = length % 2 === 0 && length > 0 ? [length / 2] : [];
      return [0, ...middle].flatMap((k) =>
        pairAt(question, x, {
          k: index(k),
          mirror: index(length - k),
          wrapped: index((length - k) % length),
          c,
          within: alone(k),
        }),
      );
    },
  });
  return items;
}

/** Of a number in the middle, the other one of the pair is itself. */
function alone(k: number): Guard {
  return [{ index: index(k), from: 0, to: 1 }];
}

interface BinPair {
  readonly k: ReturnType<typeof index>;
  /** N − k, of bins. */
  readonly mirror: ReturnType<typeof index>;
  /** The same of numbers, which go round. */
  readonly wrapped: ReturnType<typeof index>;
  readonly c: IndexLike;
  /** The column of those in the mirror, where it is another one. */
  readonly opposite?: IndexLike;
  /** Where both of the pair are stored. */
  readonly within?: Guard;
}

function pairAt(question: PairQuestion, x: Expressions, pair: BinPair): Store[] {
  const { by, back } = question;
  if (by === 'halves' && question.multiplied) return halvesRound(question, x, pair);
  if (by === 'halves') return back ? halvesBack(question, x, pair) : halves(question, x, pair);
  return back ? linesBack(question, x, pair) : lines(question, x, pair);
}

function conjugate(x: Expressions, { re, im }: Complex): Complex {
  return { re, im: x.neg(im) };
}

/** i·z. */
function quarter({ re, im }: Complex, x: Expressions): Complex {
  return { re: x.neg(im), im: re };
}

/** Z(k) + Z*(N−k), Z(k) − Z*(N−k). */
function sums(x: Expressions, a: Complex, b: Complex): readonly [Complex, Complex] {
  return [
    { re: x.add(a.re, b.re), im: x.sub(a.im, b.im) },
    { re: x.sub(a.re, b.re), im: x.add(a.im, b.im) },
  ];
}

function halves({ sides: { numbers, bins }, root }: PairQuestion, x: Expressions, pair: BinPair): Store[] {
  const { k, mirror, wrapped, c, opposite = c, within } = pair;
  const [e, d] = sums(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, opposite]));
  const rotated = x.cmul(d, root(x, k));
  const o = { re: rotated.im, im: x.neg(rotated.re) };
  return [
    ...bins.store(x, [k, c], x.cadd(e, o)),
    ...bins.store(x, [mirror, opposite], conjugate(x, x.csub(e, o)), within),
  ];
}

function halvesBack({ sides: { numbers, bins }, root, length }: PairQuestion, x: Expressions, pair: BinPair): Store[] {
  const { k, c, opposite = c, wrapped, within } = pair;
  const [own, other] = properBins(bins, length, x, pair);
  const [e, d] = sums(x, own, other);
  const o = quarter(x.cmul(d, conjugate(x, root(x, k))), x);
  const last = within && [...within, ...inside(k, length)];
  return [
    ...numbers.store(x, [k, c], x.cadd(e, o)),
    ...numbers.store(x, [wrapped, opposite], conjugate(x, x.csub(e, o)), last),
  ];
}

/**
 * A bin and the one in its mirror. Of one axis the first and the last bin are real, whatever memory holds; of several, those along the
 * others mirror one another, which is the part of what memory holds that a transform along these would leave real.
 */
function properBins(
  bins: ComplexView,
  length: number,
  x: Expressions,
  { k, mirror, c, opposite }: BinPair,
): readonly [Complex, Complex] {
  if (opposite === undefined) {
    const im = (value: Complex) => x.where(inside(k, length), value.im, x.constant(0));
    const real = (value: Complex): Complex => ({ re: value.re, im: im(value) });
    return [real(bins.load(x, [k, c])), real(bins.load(x, [mirror, c]))];
  }
  const first: Guard = [{ index: k, from: 0, to: 1 }];
  const half = x.where(first, x.constant(exact.div(exact.ONE, exact.exact(2))), x.constant(1));
  // What is not read is 0.
  const proper = (at: IndexLike, own: IndexLike, mirrored: IndexLike): Complex => {
    const value = bins.load(x, [at, own]);
    const other = bins.load(x, [at, mirrored], first);
    return { re: x.mul(x.add(value.re, other.re), half), im: x.mul(x.sub(value.im, other.im), half) };
  };
  return [proper(k, c, opposite), proper(mirror, opposite, c)];
}

/** There, the products with a kernel, and back: `bins` is where numbers go. */
function halvesRound({ sides, root, length, multiplied }: PairQuestion, x: Expressions, pair: BinPair): Store[] {
  const { numbers, bins: target } = sides;
  const { k, mirror, wrapped, c, opposite = c, within } = pair;
  const w = root(x, k);
  const [even, odd] = sums(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, opposite]));
  const rotated = x.cmul(odd, w);
  const o = { re: rotated.im, im: x.neg(rotated.re) };
  // Both are twice the bins.
  const half = x.constant(exact.div(exact.ONE, exact.exact(2)));
  const own = multiplied!(x, x.cscale(x.cadd(even, o), half), k, c);
  const other = multiplied!(x, x.cscale(conjugate(x, x.csub(even, o)), half), mirror, opposite);
  const [e, d] = sums(x, own, other);
  const back = quarter(x.cmul(d, conjugate(x, w)), x);
  const last = within && [...within, ...inside(k, length)];
  return [
    ...target.store(x, [k, c], x.cadd(e, back)),
    ...target.store(x, [wrapped, opposite], conjugate(x, x.csub(e, back)), last),
  ];
}

/** Where a bin is none of the ends. */
function inside(k: ReturnType<typeof index>, length: number): Guard {
  return [{ index: k, from: 1, to: length }];
}

function lines({ sides: { numbers, bins, secondLine } }: PairQuestion, x: Expressions, pair: BinPair): Store[] {
  const { k, wrapped, c } = pair;
  const [a, b] = sums(x, numbers.load(x, [k, c]), numbers.load(x, [wrapped, c]));
  const second = { re: b.im, im: x.neg(b.re) };
  return [...bins.store(x, [k, c], a), ...(secondLine ? secondLine.store(x, [k, c], second) : [])];
}

function linesBack(
  { sides: { numbers, bins, secondLine }, length }: PairQuestion,
  x: Expressions,
  pair: BinPair,
): Store[] {
  const { k, wrapped, c, within } = pair;
  const zero = x.constant(0);
  // Bins that are their own conjugates are real, whatever memory holds: the first one and, of an even length, the last one.
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
