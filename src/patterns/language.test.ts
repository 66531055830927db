import { describe, expect, it } from 'vitest';
import * as programs from '../../test/support/lift-programs.ts';
import { randomFor } from '../../test/support/random.ts';
import {
  type Arr,
  add,
  array,
  array3,
  type Complex,
  complex,
  dft,
  fft,
  id,
  interpret,
  irfft,
  iterate,
  join,
  map,
  mapGlobal,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  max,
  mul,
  o,
  omega,
  pad,
  pipe,
  print,
  program,
  type Real,
  re,
  real,
  reduce,
  rfft,
  size,
  slide,
  split,
  sub,
  toLocal,
  transpose,
  zip,
} from '../lift/index.ts';
import { FftError } from '../problem/errors.ts';
import { sizeOfLength } from './language/sizes.ts';

const n = size('n');
const random = randomFor('language of patterns');
const numbers = (count: number) => Float64Array.from({ length: count }, () => 2 * random.unit() - 1);

function close(actual: Float64Array, expected: ArrayLike<number>, within = 1e-12): void {
  expect(actual).toHaveLength(expected.length);
  const worst = Math.max(...Array.from(expected, (value, i) => Math.abs(value - actual[i]!)));
  expect(worst).toBeLessThan(within * Math.max(1, ...Array.from(expected, Math.abs)));
}

/** Bins by the sum itself. */
function bins(x: Float64Array, sign = -1): Float64Array {
  const count = x.length / 2;
  const y = new Float64Array(x.length);
  for (let k = 0; k < count; k++) {
    for (let i = 0; i < count; i++) {
      const angle = (sign * 2 * Math.PI * ((i * k) % count)) / count;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      y[2 * k]! += x[2 * i]! * cos - x[2 * i + 1]! * sin;
      y[2 * k + 1]! += x[2 * i]! * sin + x[2 * i + 1]! * cos;
    }
  }
  return y;
}

function caught(act: () => unknown): FftError {
  try {
    act();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('sizes', () => {
  it('are equal exactly where they are the same polynomial', () => {
    const m = size('m');
    const texts = [
      [n.over(m).times(m), 'n'],
      [n.plus(1).times(n.minus(1)), 'n^2 - 1'],
      [m.times(n).over(4), 'm*n/4'],
      [n.minus(3).over(2).plus(1), 'n/2 - 1/2'],
      [n.over(3).plus(n.over(6)), 'n/2'],
      [n.minus(n), '0'],
      [n.plus(m).over(m.plus(n)), '1'],
      [size('k').over(n), 'k/n'],
    ] as const;
    for (const [given, text] of texts) expect(`${given}`).toBe(text);
    expect(
      n
        .over(3)
        .plus(n.times(2).over(3))
        .at(new Map([['n', 7]])),
    ).toBe(7);
  });

  it('and names that are none are refused', () => {
    for (const given of [0, -1, 1.5, Number.NaN, '8', undefined]) {
      expect(caught(() => sizeOfLength('real', given))).toMatchObject({
        code: 'invalid-size',
        problems: [{ path: 'real' }],
      });
    }
    expect(caught(() => size('2n')).message).toBe("size: it takes a name like 'n'; it was given '2n'.");
    expect(caught(() => n.over(n.plus(1))).code).toBe('invalid-size');
  });
});

describe('programs', () => {
  it('have types with the lengths of arrays', () => {
    const types = [
      [programs.dotProduct, '[real]_n → [real]_n → real'],
      [programs.matMul, '[[real]_k]_m → [[real]_n]_k → [[real]_n]_m'],
      [programs.tiled, '[[real]_k]_m → [[real]_n]_k → [[real]_n]_m'],
      [programs.blur, '[real]_n → [real]_n'],
      [programs.correlate, '[complex]_n → [complex]_n → [complex]_n'],
      [programs.logMel(400, 160, 1200, 80), '[real]_1200 → [real]_400 → [[real]_201]_80 → [[real]_80]_6'],
      [program({ v: real(n) }, ({ v }) => split(4, v)), '[real]_n → [[real]_4]_{n/4}'],
      [program({ v: real(3, n) }, ({ v }) => transpose(v)), '[[real]_n]_3 → [[real]_3]_n'],
      [program({ v: real(n) }, ({ v }) => rfft(v)), '[real]_n → [complex]_{n/2 + 1}'],
      [program({ v: complex(n) }, ({ v }) => irfft(v)), '[complex]_n → [real]_{2*n - 2}'],
      [program({ a: real() }, ({ a }) => array3(2, 3, 4, (i) => i)[0]![1]![2] ?? a), 'real → real'],
    ] as const;
    for (const [given, type] of types) expect(given.type).toBe(type);
  });

  it('have static types of their numbers', () => {
    program({ v: real(n), w: complex(n), s: real() }, ({ v, w, s }) => {
      const sum: Real = add(s, 1);
      const product: Complex = mul(s, omega(1, 8));
      const spectrum: Arr<Complex> = fft(v);
      // @ts-expect-error Reals and complex numbers make complex numbers.
      const real: Real = add(s, product);
      // @ts-expect-error What is compared is real.
      expect(() => max(product, 1)).toThrow('max: it takes real, real; it was given complex and 1.');
      // @ts-expect-error The transform of reals takes no complex numbers.
      expect(() => rfft(w)).toThrow('rfft: it takes [real]_n; it was given [complex]_n.');
      expect([sum, product, spectrum, real]).toHaveLength(4);
      return 0;
    });
  });

  it('print in the notation of the paper', () => {
    const texts = [
      [programs.dotProduct, 'λ((v, w) => reduce(+, 0) <<: map(*) <<: zip(v, w))'],
      [programs.matVec, 'λ((M, v) => map(λ(a => reduce(+, 0) <<: map(*) <<: zip(a, v))) <<: M)'],
      [programs.blur, 'λ(x => map(λ(a => 0.5 * a[1] + 0.25 * (a[0] + a[2]))) <<: slide(3, 1) <<: pad(1, 1, clamp) <<: x)'],
      [program({ a: real(n) }, ({ a }) => map(o(join<Real>, split(2)), split(4, a))), 'λ(a => map(join o split(2)) <<: split(4) <<: a)'],
      [program({ a: real(n) }, ({ a }) => map((x) => ({ re: x, im: mul(sub(x, 1), sub(2, sub(x, 3))) }), a)), 'λ(a => map(λ(b => {b, (b - 1) * (2 - (b - 3))})) <<: a)'],
      [program({ a: complex() }, ({ a }) => map(mul, zip([a, a, a, a], array(4, function roots(i, count) { return omega(i, count); }))))
      , 'λ(a => map(*) <<: zip([a, a, a, a], array(4, roots)))'],
      [program({ a: real(n) }, ({ a }) => iterate(3, mapSeq(id), a)), 'λ(a => iterate(3, mapSeq(id)) <<: a)'],
    ] as const; // biome-ignore format: one program a line
    for (const [given, text] of texts) expect(print(given)).toBe(text);
  });

  it('print and run in no time where values are used again at every step', () => {
    const doubled = program({ x: real(4) }, ({ x }) => {
      let y: Arr<Real> = x;
      for (let k = 0; k < 60; k++) y = map((a, b) => mul(0.5, add(a, b)), zip(y, y));
      return y;
    });
    expect(print(doubled).length).toBeLessThan(20_000);
    close(interpret(doubled, { x: [1, 2, 3, 4] }), [1, 2, 3, 4]);
  });
});

describe('the interpreter', () => {
  it('agrees with sums written by hand', () => {
    const [v, w] = [numbers(12), numbers(12)];
    const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, each, i) => sum + each * b[i]!, 0);
    close(interpret(programs.dotProduct, { v, w }), [dot(v, w)]);
    const rows = [v.subarray(0, 4), v.subarray(4, 8), v.subarray(8)];
    close(
      interpret(programs.matVec, { M: v, v: w.subarray(0, 4) }),
      rows.map((row) => dot(row, w.subarray(0, 4))),
    );
    const columns = [0, 1, 2].map((j) => w.filter((_, i) => i % 3 === j));
    const product = rows.flatMap((row) => columns.map((column) => dot(row, column)));
    close(interpret(programs.matMul, { A: v, B: w }, { k: 4 }), product);
    const at = (i: number) => v[Math.min(11, Math.max(0, i))]!;
    close(
      interpret(programs.blur, { x: v }),
      Array.from(v, (x, i) => 0.5 * x + 0.25 * (at(i - 1) + at(i + 1))),
    );
    close(
      interpret(programs.haar, { x: v }),
      Array.from(v, (_, i) => (i % 2 ? v[i - 1]! - v[i]! : v[i]! + v[i + 1]!)),
    );
    const big = numbers(64 * 2 + 2 * 64 * 3);
    const tiled = { A: big.subarray(0, 128), B: big.subarray(128, 134) };
    close(interpret(programs.tiled, tiled, { k: 2 }), interpret(programs.matMul, tiled, { k: 2 }));
  });

  it('finds the Fourier transform in every program that is one', () => {
    const transforms = [
      [programs.naive(15), 15],
      [programs.ct([2, 3, 2]), 12],
      [programs.ct([5, 3]), 15],
      [programs.hierarchical([2, 2], [3, 2]), 24],
    ] as const;
    for (const [given, count] of transforms) {
      const v = numbers(2 * count);
      close(interpret(given, { v }), bins(v));
    }
    const long = numbers(2 * 4096);
    const y = interpret(programs.fft4096, { v: long });
    for (const k of [0, 1, random.integer(2, 4095)]) {
      const turned = long.map((_, i) => {
        const angle = (-2 * Math.PI * (((i >> 1) * k) % 4096)) / 4096;
        const [re, im] = [long[i & ~1]!, long[i | 1]!];
        return i % 2 ? re * Math.sin(angle) + im * Math.cos(angle) : re * Math.cos(angle) - im * Math.sin(angle);
      });
      const sum = (part: number) => turned.reduce((all, each, i) => (i % 2 === part ? all + each : all), 0);
      close(y.slice(2 * k, 2 * k + 2), [sum(0), sum(1)], 1e-10);
    }
    const v = numbers(24);
    const chunks = [0, 1, 2].flatMap((c) => [...bins(v.subarray(8 * c, 8 * c + 8))]);
    close(interpret(programs.butterflies(4), { v }), chunks);
  });

  it('runs programs with planned transforms inside', () => {
    const [x, h] = [numbers(20), numbers(20)];
    const [X, H] = [bins(x), bins(h)];
    const spectrum = X.map((_, i) => {
      const [a, b, c, d] = [X[i & ~1]!, X[i | 1]!, H[i & ~1]!, H[i | 1]!];
      return i % 2 ? b * c - a * d : a * c + b * d;
    });
    close(
      interpret(programs.correlate, { x, h }),
      bins(spectrum, 1).map((each) => each / 10),
    );
    const [signal, window, bank] = [numbers(20), numbers(8), numbers(15).map(Math.abs)];
    const frames = [0, 4, 8, 12].flatMap((from) => {
      const frame = Float64Array.from({ length: 16 }, (_, i) => (i % 2 ? 0 : signal[from + i / 2]! * window[i / 2]!));
      const F = bins(frame);
      const power = [0, 1, 2, 3, 4].map((k) => F[2 * k]! ** 2 + F[2 * k + 1]! ** 2);
      return [0, 1, 2].map((b) =>
        Math.log(
          Math.max(
            1e-10,
            power.reduce((s, p, k) => s + p * bank[5 * b + k]!, 0),
          ),
        ),
      );
    });
    close(interpret(programs.logMel(8, 4, 20, 3), { signal, window, bank }), frames);
    const step = numbers(16);
    const ones = Float64Array.from({ length: 16 }, (_, i) => 1 - (i % 2));
    close(interpret(programs.schroedinger(8, 5), { psi: step, V: ones, K: ones }), step);
  });

  it('pads in every way, and further than the array is long', () => {
    const padded = (how: 'wrap' | 'clamp' | 'mirror' | number, left: number, right: number) =>
      interpret(
        program({ x: real(3) }, ({ x }) => pad(left, right, how, x)),
        { x: [1, 2, 3] },
      );
    expect([...padded('wrap', 4, 4)]).toEqual([3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    expect([...padded('clamp', 2, 1)]).toEqual([1, 1, 1, 2, 3, 3]);
    expect([...padded('mirror', 4, 7)]).toEqual([3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3]);
    expect([...padded(7, 1, 2)]).toEqual([7, 1, 2, 3, 7, 7]);
  });

  it('refuses inputs that do not fit', () => {
    const { dotProduct, butterflies } = programs;
    const refusals = [
      [() => interpret(dotProduct, { v: [1, 2] } as never), 'missing-buffer'],
      [() => interpret(dotProduct, { v: [1], w: [1], x: [1] } as never), 'unknown-field'],
      [() => interpret(dotProduct, { v: [1, 2], w: [1] }), 'wrong-length'],
      [() => interpret(dotProduct, { v: [1], w: 'w' } as never), 'wrong-array-type'],
      [() => interpret(dotProduct, { v: [1], w: [1] }, { n: 1.5 }), 'invalid-size'],
      [() => interpret(dotProduct, { v: [1], w: [1] }, { m: 1 }), 'unknown-field'],
      [() => interpret({} as never, {}), 'invalid-argument'],
      [() => interpret(butterflies(4), { v: numbers(20) }), 'invalid-size'],
    ] as const;
    for (const [act, code] of refusals) expect(caught(act).code).toBe(code);
    const halves = program({ v: real(n) }, ({ v }) => split(4, v));
    expect(caught(() => interpret(halves, { v: numbers(10) })).message).toBe(
      'split: 4 does not divide the length of [real]_n, of length 10.',
    );
  });
});

describe('what is wrong is refused where it is written', () => {
  const nine = real(9);
  const refused = (f: (x: Arr<Real>, y: Arr<Real>) => unknown) =>
    caught(() => program({ x: nine, y: real(8) }, ({ x, y }) => f(x, y) as never));
  const cases: readonly (readonly [string, string, (x: Arr<Real>, y: Arr<Real>) => unknown])[] = [
    ['zip', 'zip: it takes arrays of one length; it was given [real]_9 and [real]_8.', (x, y) => zip(x, y)],
    ['join', 'join: it takes [[α]_m]_n; it was given [real]_9.', (x) => join(x as never)],
    ['split', 'split: 2 does not divide the length of [real]_9.', (x) => split(2, x)],
    [
      'reduce',
      'reduce: its function has to give real, as it begins with; it gave [real]_2.',
      (x) => reduce((_, a) => [a, a] as never, 0, x),
    ],
    [
      'slide',
      'slide: the last window has to end where the array does; windows of 4 in steps of 2 leave some of [real]_9; pad fills it up.',
      (x) => slide(4, 2, x),
    ],
    ['slide', 'slide: windows of 10 are longer than [real]_9.', (x) => slide(10, 1, x)],
    [
      'mapLocal',
      'mapLocal: it stands in the function of a mapWorkgroup; here is none around it.',
      (x) => mapLocal(id, x),
    ],
    ['toLocal', 'toLocal: it stands in the function of a mapWorkgroup; here is none around it.', (x) => toLocal(id, x)],
    [
      'mapLocal',
      'mapLocal: it stands in no other mapLocal; here is one around it.',
      (x) => mapWorkgroup((row) => mapLocal((a) => mapLocal(id, split(1, [a])), row), split(3, x)),
    ],
    [
      'mapGlobal',
      'mapGlobal: it stands in no other low-level map; here is a mapSeq around it.',
      (x) => mapSeq((row) => mapGlobal(id, row), split(3, x)),
    ],
    [
      'numbers',
      'numbers: a value of a program is no number yet; add, mul, less … compute with them.',
      (x) => map((a) => (a as never as number) * 2, x),
    ],
    [
      'map',
      'map: its function has to give a value, a number, { re, im } or a list of these, all of one type; it gave undefined.',
      (x) => map(() => undefined, x),
    ],
    ['map', 'map: it takes a function and [α]_n; it was given 3.', () => map(id, 3 as never)],
    ['dft', 'dft: it takes up to 64 numbers; it was given [real]_81.', (x) => dft(join(map(() => x, x)))],
    ['rfft', 'rfft: it takes an even number of reals; it was given [real]_9.', (x) => rfft(x)],
    [
      'elements',
      'elements: tuples can be taken apart, and arrays whose length is known and at most 64; it was given [real]_81.',
      (x) => join(map(() => x, x))[3],
    ],
    ['iterate', 'iterate: it takes a whole number of times; it was given 0.5.', (x) => iterate(0.5, id, x)],
    ['omega', 'omega: it takes whole numbers k and n, n above 0; it was given 1 and 0.', () => omega(1, 0)],
    [
      'array',
      'array: its function has to give a number that only positions tell; it gave real.',
      (x) => array(9, () => x[0]),
    ],
    [
      'pad',
      "pad: it takes 'wrap', 'clamp', 'mirror' or a number; it was given 'zero'.",
      (x) => pad(1, 1, 'zero' as never, x),
    ],
    ['pipe', 'pipe: it takes functions; it was given undefined.', (x) => pipe(x, undefined as never)],
    [
      'program',
      'program: its function has to give a number or arrays of numbers; it gave [(real × real)]_9.',
      (x) => zip(x, x),
    ],
  ];

  for (const [path, message, f] of cases) {
    it(message, () => {
      expect(refused(f)).toMatchObject({ code: 'invalid-program', message, problems: [{ path }] });
    });
  }

  it('so are symbols that have left their function, and inputs that are none', () => {
    let leaked: Real | undefined;
    const leak = () =>
      program({ x: nine }, ({ x }) => {
        map((a) => (leaked = a), x);
        return add(leaked!, re(x[0]));
      });
    expect(caught(leak).message).toBe('program: its result holds a value of another function or program: real.');
    const inputs = [undefined, {}, { v: 8 }, { 'a b': nine }, [nine]];
    for (const given of inputs) expect(caught(() => program(given as never, () => 0)).code).toBe('invalid-program');
    expect(caught(() => program({ x: nine }, (() => Promise.resolve(0)) as never)).code).toBe('invalid-program');
  });
});
