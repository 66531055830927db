/**
 * Rader passes: passes whose radix is a prime p, in several steps through shared memory, that is, Rader's algorithm inside a Stockham
 * transform (Rader 1968; VkFFT guide 2.5.1 and 4.3.6). A pass of radix p after passes of product s has N/p butterflies; butterfly i of
 * block q is called column c = q·s + i here. With a primitive root g, all its points but point 0 are taken in the order of powers: row n is
 * point g^n.
 *
 * - **Convolution**: a transform of p − 1 points along the rows of every column, by passes of small radices; the product with the
 *   spectrum of the roots of unity; and another transform. (A forward transform replaces the inverse one: its row n is row −n of the
 *   inverse, so outputs are in the order of powers, too.) Bin 0 of the first transform is the sum of all points but point 0. Added to point
 *   0, it is output 0; and point 0, added to bin 0 after the product, is thereby added to every other output.
 * - **Multiplication**: sums and differences of the points g^a and −g^a, of which there are h = (p − 1)/2 pairs; then every pair of
 *   outputs is a sum of h products with cosines and a sum of h products with sines.
 *
 * Between two steps, element n·N/p + c of memory is row n of column c. Row p − 1 holds the value outside the rows: point 0, later output 0.
 */
import {
  add,
  type Complex,
  div,
  type Expressions,
  type Guard,
  type Index,
  type IndexLike,
  index,
  interleaved,
  lookup,
  mod,
  type Store,
  scale,
  type TableBuilder,
  variable,
} from '../../ir/index.ts';
import { rootPowersModulo } from '../../numeric/large-primes/powers.ts';
import { modPow, primitiveRoot } from '../../numeric/primes.ts';
import type { PassesStep, RaderRadix } from '../../plan/tree/leaf.ts';
import { factorAt } from '../views/pointwise.ts';
import { dft } from './butterfly.ts';
import { RootMatrix } from './root-matrix.ts';

/** One step of a Rader pass. */
export interface RaderStep {
  readonly kind: 'rader';
  /** The radix of the pass, and the product of the radices before it. */
  readonly prime: number;
  readonly stride: number;
  readonly passes: PassesStep;
  readonly part: RaderPart;
  /** Whether it is the first or the last step of its pass. */
  readonly opens: boolean;
  readonly closes: boolean;
}

/**
 * The part of a Rader pass that a step is: a pass of one of the two transforms of a convolution, or one of the two steps of a
 * multiplication.
 */
export type RaderPart =
  | { readonly do: 'pass'; readonly radix: number; readonly stride: number; readonly backward: boolean }
  | { readonly do: 'fold' }
  | { readonly do: 'sum' };

/** The steps of a pass, in order. */
export function raderSteps(rader: RaderRadix, stride: number, passes: PassesStep): RaderStep[] {
  const { prime } = rader;
  const steps = (parts: readonly RaderPart[]) =>
    parts.map((part, n): RaderStep => {
      const ends = { opens: n === 0, closes: n === parts.length - 1 };
      return { kind: 'rader', prime, stride, passes, part, ...ends };
    });
  if (rader.by === 'multiplication') return steps([{ do: 'fold' }, { do: 'sum' }]);
  const way = (backward: boolean) => {
    let before = 1;
    return rader.radices.map((radix): RaderPart => {
      const part = { do: 'pass', radix, stride: before, backward } as const;
      before *= radix;
      return part;
    });
  };
  return steps([...way(false), ...way(true)]);
}

/** The number of rows that the items of a step count. An item is a row of a column. */
export function raderRows({ prime, part }: RaderStep): number {
  return part.do === 'pass' ? (prime - 1) / part.radix : (prime - 1) / 2;
}

/** The number of points that an item of a step reads and writes. */
export function raderRadixOf({ part }: RaderStep): number {
  return part.do === 'pass' ? part.radix : 2;
}

/**
 * The number of the element that an item reads or writes, which the layout of shared memory is chosen for.
 * @param m number of the point in the item, whose row is b
 */
export function raderElement(
  step: RaderStep,
  length: number,
  side: 'load' | 'store',
  { b, c, m }: { readonly b: number; readonly c: number; readonly m: number },
): number {
  const { prime, stride, part, opens, closes } = step;
  const columns = length / prime;
  const row = (n: number) => modPow(primitiveRoot(prime), n, prime);
  if (part.do !== 'pass') {
    const n = b + (m * (prime - 1)) / 2;
    if (side === 'load') return (opens ? row(n) : n) * columns + c;
    return closes ? outputOf(row(n), c, prime, stride) : n * columns + c;
  }
  const { radix, stride: before } = part;
  if (side === 'load') {
    const n = b + (m * (prime - 1)) / radix;
    return (opens ? row(n) : n) * columns + c;
  }
  const n = Math.floor(b / before) * before * radix + (b % before) + m * before;
  return closes ? outputOf(row(n), c, prime, stride) : n * columns + c;
}

function outputOf(k: number, c: number, prime: number, stride: number): number {
  return Math.floor(c / stride) * stride * prime + (c % stride) + k * stride;
}

/** The context of a Rader pass in its kernel. */
export interface RaderSurroundings {
  readonly tables: TableBuilder;
  /** The number of points of the transform. */
  readonly length: number;
  readonly load: (element: IndexLike, guard?: Guard) => Complex;
  readonly store: (element: IndexLike, value: Complex, guard?: Guard) => Store[];
  /** Multiplies row n of butterfly i by its twiddle. */
  readonly twiddle: (value: Complex, i: IndexLike, n: IndexLike) => Complex;
  /** Multiplies point m of butterfly i of an inner pass by its twiddle; the lanes share it. */
  readonly innerTwiddle: (value: Complex, radix: number, stride: number, i: IndexLike, m: number) => Complex;
}

/** The stores of an item: row b of column q·s + i. */
export function raderStores(
  x: Expressions,
  step: RaderStep,
  { b, q, i }: { readonly b: IndexLike; readonly q: IndexLike; readonly i: IndexLike },
  around: RaderSurroundings,
): Store[] {
  const places = columnPlaces(step, q, i, around);
  if (step.part.do === 'fold') return pairSums(x, step, b, places, around);
  if (step.part.do === 'sum') return rootSums(x, step, b, places, around);
  return innerPass(x, step, step.part, b, places, around);
}

/** The elements of a column in memory. */
interface ColumnPlaces {
  /** The element that the step reads as row n. */
  readonly from: (n: IndexLike) => Index;
  /** The element that the step writes as row n. */
  readonly to: (n: IndexLike) => Index;
  /** The element of point 0 where it is read, and of output 0 where it is written. */
  readonly origin: { readonly from: Index; readonly to: Index };
  /** Loads row n, multiplied by its twiddle. */
  readonly point: (n: IndexLike) => Complex;
  /** Copies the element outside the rows; done by the item of row 0. */
  readonly moveOrigin: (b: IndexLike) => Store[];
}

function columnPlaces(
  { prime, stride, opens, closes }: RaderStep,
  q: IndexLike,
  i: IndexLike,
  { tables, length, load, store, twiddle }: RaderSurroundings,
): ColumnPlaces {
  const columns = length / prime;
  const column = add(scale(q, stride), i);
  const point = (n: IndexLike) =>
    lookup(
      tables.integers(`powers${prime}`, () => [...rootPowersModulo(prime), 0]),
      n,
    );
  const block = add(scale(q, stride * prime), i);
  const row = (n: IndexLike) => add(scale(n, columns), column);
  const from = opens ? (n: IndexLike) => row(point(n)) : row;
  const to = closes ? (n: IndexLike) => add(block, scale(point(n), stride)) : row;
  const origin = { from: opens ? column : row(prime - 1), to: closes ? block : row(prime - 1) };
  return {
    from,
    to,
    origin,
    point: (n) => (opens ? twiddle(load(from(n)), i, n) : load(from(n))),
    moveOrigin: (b) => {
      const guard: Guard = [{ index: index(b), from: 0, to: 1 }];
      return store(origin.to, load(origin.from, guard), guard);
    },
  };
}

/** A pass of one of the two transforms. */
function innerPass(
  x: Expressions,
  { prime, passes }: RaderStep,
  { radix, stride, backward }: Extract<RaderPart, { do: 'pass' }>,
  b: IndexLike,
  places: ColumnPlaces,
  { tables, load, store, innerTwiddle }: RaderSurroundings,
): Store[] {
  const rows = prime - 1;
  const i = mod(b, stride);
  const values = Array.from({ length: radix }, (_, m) => {
    const value = places.point(add(b, (m * rows) / radix));
    return m > 0 && stride > 1 ? innerTwiddle(value, radix, stride, i, m) : value;
  });
  const outputs = dft(x, values, passes.convolved);
  const row = (k: number) => add(scale(div(b, stride), stride * radix), i, k * stride);
  const closesThere = !backward && stride * radix === rows;
  if (!closesThere) {
    return [...places.moveOrigin(b), ...outputs.flatMap((value, k) => store(places.to(row(k)), value))];
  }
  const spectrum = factorAt(
    { kind: 'root-spectrum', modulus: prime },
    rows,
    tables,
    { kind: 'pairs', lanes: 1 },
    ([n]) => [n!],
  );
  const guard: Guard = [{ index: index(b), from: 0, to: 1 }];
  const zero = load(places.origin.from, guard);
  return outputs.flatMap((value, k) => {
    const product = spectrum(x, value, [row(k)]);
    if (k > 0) return store(places.to(row(k)), product);
    return [...store(places.origin.to, x.cadd(value, zero), guard), ...store(places.to(row(0)), x.cadd(product, zero))];
  });
}

/** Sums and differences of points g^a and −g^a: rows a and a + h. */
function pairSums(
  x: Expressions,
  { prime }: RaderStep,
  b: IndexLike,
  places: ColumnPlaces,
  { store }: RaderSurroundings,
): Store[] {
  const h = (prime - 1) / 2;
  const [first, second] = [places.point(b), places.point(add(b, h))];
  return [
    ...places.moveOrigin(b),
    ...store(places.to(b), x.cadd(first, second)),
    ...store(places.to(add(b, h)), x.csub(first, second)),
  ];
}

/** Outputs g^b and −g^b: sums over a of the products of row a with a cosine and of row a + h with a sine, both of g^(a + b)/p turns. */
function rootSums(
  x: Expressions,
  { prime }: RaderStep,
  b: IndexLike,
  places: ColumnPlaces,
  { tables, load, store }: RaderSurroundings,
): Store[] {
  const h = (prime - 1) / 2;
  const root = rootsOfPowers(prime, tables);
  const a = variable('a', h);
  const { re: cos, im: sin } = root(x, add(a, b));
  const [sums, differences] = [load(places.from(a)), load(places.from(add(a, h)))];
  const total = (value: Complex): Complex => ({ re: x.sum(a, value.re), im: x.sum(a, value.im) });
  const zero = load(places.origin.from);
  const even = x.cadd(zero, total(x.cscale(sums, cos)));
  const odd = x.quarter(total(x.cscale(differences, sin)));
  const guard: Guard = [{ index: index(b), from: 0, to: 1 }];
  return [
    ...store(places.origin.to, x.cadd(zero, total(sums)), guard),
    ...store(places.to(b), x.cadd(even, odd)),
    ...store(places.to(add(b, h)), x.csub(even, odd)),
  ];
}

/** A table of cosines and sines of g^n/p turns, for n up to p − 2. */
function rootsOfPowers(prime: number, tables: TableBuilder): (x: Expressions, n: Index) => Complex {
  const start = tables.append(`roots of powers${prime}`, 2 * (prime - 1), (at, runs) => {
    rootPowersModulo(prime).forEach((power, n) => {
      const place = at + 2 * n;
      // The imaginary part of e^{−2πi·p/q} is −sin, which is the sine at the opposite point.
      runs.push({
        q: prime,
        p: prime - power,
        step: 0,
        count: 1,
        re: place,
        im: place + 1,
        stride: 2,
        block: 1,
        skip: 0,
      });
    });
  });
  const format = interleaved(tables.ref);
  return (x, n) => {
    const [re, atRe] = format.re(n);
    const [im, atIm] = format.im(n);
    return { re: x.load(re, add(atRe, start)), im: x.load(im, add(atIm, start)) };
  };
}

/**
 * The twiddles of a pass of radix p on its rows: e^{−2πi·i·g^n/(p·s)} for row n of butterfly i < s.
 * @param kind `pairs` for threads, and for vectors whose lanes share a twiddle; `planes` for vectors along the butterflies
 */
export function raderTwiddles(
  tables: TableBuilder,
  prime: number,
  stride: number,
  kind: 'pairs' | 'planes',
): (x: Expressions, value: Complex, i: IndexLike, n: IndexLike) => Complex {
  if (stride === 1) return (_, value) => value;
  const order = rootPowersModulo(prime);
  const shape = { rows: prime - 1, columns: stride };
  const matrix = new RootMatrix(tables, `rader${prime}x${stride}`, shape, kind, prime * stride, (n) => order[n]!, 1);
  return (x, value, i, n) => x.cmul(value, matrix.load(x, n, i));
}
