/**
 * The reference that kernels are judged by: a Fourier transform in double-double (about 100 bits), of any length,
 * independent of everything under `src/` but the arithmetic and the roots of unity in `src/numeric`.
 *
 * A complex double-double is four doubles, `re.hi, re.lo, im.hi, im.lo`; an array of n of them has 4n numbers.
 * The scheme is Stockham's with radices 4, 2 and the odd primes; lengths with a prime over
 * {@link LARGEST_DIRECT_PRIME} are left to Bluestein's algorithm. It is checked in turn against direct sums in
 * 256-bit fixed point (`direct.ts`), which share no table with it.
 */
import { largestPrimeFactor, primeFactors } from '../../src/numeric/primes.ts';
import { complexDdRoots, swapParts } from './complex-dd.ts';
import { type ComplexDd, compiled, type Double2, Straight } from './straight.ts';

/** A butterfly of prime radix p takes about p² operations: beyond this prime a convolution is quicker. */
const LARGEST_DIRECT_PRIME = 61;

/** A transform of one length, ready to be applied: forward, exponent sign −1, unnormalised. */
export interface ReferenceFft {
  readonly n: number;
  /** Transforms the 4n numbers of `data` in place. */
  forward(data: Float64Array): void;
}

/**
 * One Stockham pass over sequences of length r·m, `columns` of them side by side: butterfly, twiddle, and a store
 * that puts the outputs of a butterfly next to each other, which sorts the result without bit reversal.
 * `roots` holds all roots of the whole length r·m·columns, `own` those of the radix.
 */
type Pass = (
  x: Float64Array,
  y: Float64Array,
  m: number,
  columns: number,
  roots: Float64Array,
  own: Float64Array,
) => void;

/**
 * The loops of a pass.
 * @param butterfly statements from x at `from` to y at `to`
 * @param row what comes before those of each row; `step` is 4·columns·row
 * @param first what comes first of all
 */
function loops(radix: number | 'p', butterfly: string, row = '', first = ''): Pass {
  const body = `
    ${first}
    const jump = 4 * columns * m;
    for (let row = 0; row < m; row++) {
      const step = 4 * columns * row;
      ${row}
      for (let column = 0; column < columns; column++) {
        const from = step + 4 * column;
        const to = ${radix} * step + 4 * column;
        ${butterfly}
      }
    }`;
  return compiled('x, y, m, columns, roots, own', body);
}

/** A pass of a small radix, all in line; in the last one (m = 1) every twiddle factor is 1. */
function unrolled(
  radix: number,
  butterfly: (text: Straight, inputs: ComplexDd[]) => ComplexDd[],
): { last: Pass; other: Pass } {
  const made = (twiddled: boolean): Pass => {
    const [outside, inside] = [new Straight('w'), new Straight('v')];
    const factors = Array.from({ length: twiddled ? radix : 1 }, (_, k) =>
      k === 0 ? undefined : outside.load('roots', `${k} * step`),
    );
    const inputs = Array.from({ length: radix }, (_, j) => inside.load('x', `from + ${j} * jump`));
    butterfly(inside, inputs).forEach((sum, k) => {
      const factor = factors[k];
      inside.store('y', `to + ${4 * k} * columns`, factor ? inside.mulComplexDd(sum, factor) : sum);
    });
    return loops(radix, `${inside}`, `${outside}`);
  };
  return { last: made(false), other: made(true) };
}

const radix2 = unrolled(2, (text, [a, b]) => [text.addComplexDd(a!, b!), text.addComplexDd(a!, b!, '-')]);

const radix4 = unrolled(4, (text, [a, b, c, d]) => {
  const [even, evenOff] = [text.addComplexDd(a!, c!), text.addComplexDd(a!, c!, '-')];
  const [odd, oddOff] = [text.addComplexDd(b!, d!), text.addComplexDd(b!, d!, '-')];
  return [
    text.addComplexDd(even, odd),
    text.addTurned(evenOff, oddOff, '-'),
    text.addComplexDd(even, odd, '-'),
    text.addTurned(evenOff, oddOff, '+'),
  ];
});

/** The statements that a function writes. */
function straight(prefix: string, write: (text: Straight) => void): string {
  const text = new Straight(prefix);
  write(text);
  return `${text}`;
}

/** Complex variables that sums are kept in. */
const total: ComplexDd = { re: ['s0', 's1'], im: ['s2', 's3'] };
const cosines: ComplexDd = { re: ['c0', 'c1'], im: ['c2', 'c3'] };
const sines: ComplexDd = { re: ['d0', 'd1'], im: ['d2', 'd3'] };
const names = ({ re, im }: ComplexDd) => [...re, ...im];

/** sum ← sum + factor · values, for a real factor. */
function accumulate(text: Straight, sum: ComplexDd, values: ComplexDd, factor: Double2): void {
  for (const part of ['re', 'im'] as const) text.assign(sum[part], text.add(sum[part], text.mul(values[part], factor)));
}

/**
 * An odd prime p by its definition, with inputs j and p − j taken together: where s_j = x_j + x_(p−j) and
 * d_j = x_j − x_(p−j), outputs k and p − k are x_0 + Σ cos(2πjk/p)·s_j ∓ i·Σ sin(2πjk/p)·d_j.
 */
function oddPass(): Pass {
  const paired = straight('a', (text) => {
    const [one, other] = [text.load('x', 'from + j * jump'), text.load('x', 'from + (p - j) * jump')];
    const sum = text.addComplexDd(one, other);
    text.store('sums', '4 * j', sum);
    text.store('differences', '4 * j', text.addComplexDd(one, other, '-'));
    const next = text.addComplexDd(total, sum);
    text.assign(total.re, next.re);
    text.assign(total.im, next.im);
  });
  const summed = straight('b', (text) => {
    const root = text.load('own', '4 * (j * k % p)');
    accumulate(text, cosines, text.load('sums', '4 * j'), root.re);
    accumulate(text, sines, text.load('differences', '4 * j'), root.im);
  });
  const stored = straight('e', (text) => {
    const output = (k: string, sum: ComplexDd) => {
      text.store('y', `to + 4 * columns * (${k})`, text.mulComplexDd(sum, text.load('roots', `step * (${k})`)));
    };
    // The roots have the forward sign, so the sum of the sines is already negated.
    output('k', text.addTurned(cosines, sines, '+'));
    output('p - k', text.addTurned(cosines, sines, '-'));
  });
  const butterfly = `
    let ${names(total).map((name, part) => `${name} = x[from + ${part}]`)};
    for (let j = 1; j <= half; j++) {
      ${paired}
    }
    ${straight('f', (text) => text.store('y', 'to', total))}
    for (let k = 1; k <= half; k++) {
      let ${names(cosines).map((name, part) => `${name} = x[from + ${part}]`)};
      let ${names(sines).map((name) => `${name} = 0`)};
      for (let j = 1; j <= half; j++) {
        ${summed}
      }
      ${stored}
    }`;
  const first = `
    const p = own.length / 4;
    const half = (p - 1) / 2;
    const sums = new Float64Array(4 * half + 4);
    const differences = new Float64Array(4 * half + 4);`;
  return loops('p', butterfly, '', first);
}

const odd = oddPass();

/** The roots of a radix. */
const ownRoots = new Map<number, Float64Array>();

function rootsOf(radix: number): Float64Array {
  const roots = ownRoots.get(radix) ?? complexDdRoots(radix, radix, (k) => k);
  ownRoots.set(radix, roots);
  return roots;
}

/** y[i] ← x[i]·z[i], for so many complex numbers. */
const multiply = compiled<(y: Float64Array, x: Float64Array, z: Float64Array, count: number) => void>(
  'y, x, z, count',
  `for (let at = 0; at < 4 * count; at += 4) {
    ${straight('v', (text) => text.store('y', 'at', text.mulComplexDd(text.load('x', 'at'), text.load('z', 'at'))))}
  }`,
);

/** The radices of a length, fours first. */
function radicesOf(n: number): number[] {
  const primes = primeFactors(n);
  const twos = primes.filter((p) => p === 2).length;
  return [...Array<number>(twos >> 1).fill(4), ...Array<number>(twos % 2).fill(2), ...primes.slice(twos)];
}

function stockham(n: number): ReferenceFft {
  const roots = complexDdRoots(n, n, (k) => k);
  const passes: ((x: Float64Array, y: Float64Array) => void)[] = [];
  let columns = 1;
  for (const radix of radicesOf(n)) {
    const [m, before] = [n / (columns * radix), columns];
    const inLine = radix === 2 ? radix2 : radix === 4 ? radix4 : undefined;
    const pass = inLine ? inLine[m === 1 ? 'last' : 'other'] : odd;
    const own = rootsOf(radix);
    passes.push((x, y) => pass(x, y, m, before, roots, own));
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
  const chirp = complexDdRoots(2 * n, n, (k) => squares[k] as number);
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
      multiply(work, data, chirp, n);
      inner.forward(work);
      multiply(work, work, filter, size);
      swapParts(work);
      inner.forward(work);
      swapParts(work);
      multiply(data, work, chirp, n);
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
