import { describe, expect, it } from 'vitest';
import { hold, targets } from '../../../test/support/lift-hold.ts';
import { graphics, processor, runLowered } from '../../../test/support/lift-interpreted.ts';
import * as programs from '../../../test/support/lift-programs.ts';
import { RandomPrograms } from '../../../test/support/lift-random.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { reachable } from '../../ir/index.ts';
import {
  type Arr,
  add,
  array,
  array2,
  type Complex,
  complex,
  exp,
  fft,
  ifft,
  irfft,
  iterate,
  join,
  less,
  log,
  map,
  max,
  min,
  mul,
  omega,
  type Program,
  pad,
  print,
  program,
  type Real,
  real,
  reduce,
  reduceSeq,
  rfft,
  select,
  slide,
  split,
  sub,
  type Tuple,
  toGlobal,
  transpose,
  tuple,
  zip,
} from '../../lift/index.ts';
import { type ProgramTarget, programPieces, WAYS } from './index.ts';
import type { LaunchDraft } from './loops/loops.ts';

const random = randomFor('lowered programs');
const numbers = (count: number) => uniform(random, count);

describe('programs become kernels that do the same', () => {
  it('those of the contract that have no planned transforms', () => {
    const [n, m, k] = [random.integer(1, 30), random.integer(1, 20), random.integer(1, 20)];
    hold(programs.dotProduct, { v: numbers(n), w: numbers(n) }, { n });
    hold(programs.matVec, { M: numbers(m * n), v: numbers(n) }, { m, n });
    hold(programs.matMul, { A: numbers(m * k), B: numbers(k * n) }, { m, n, k });
    hold(programs.tiled, { A: numbers(64 * k), B: numbers(k * n) }, { m: 64, n, k });
    hold(programs.blur, { x: numbers(n) }, { n });
    hold(programs.haar, { x: numbers(2 * n) }, { n: 2 * n });
    hold(programs.naive(n), { v: numbers(2 * n) });
    hold(programs.butterflies(8), { v: numbers(16 * n) }, { n: 8 * n });
    hold(programs.ct([2, 3, 5]), { v: numbers(60) });
    hold(programs.hierarchical([4, 2], [3, 2]), { v: numbers(96) });
  });

  it('products of matrices, several outputs of which one item computes', () => {
    for (const [m, n, k] of [
      [64, 64, 65],
      [12, 131, 66],
      [15, 33, 66],
      // The last items compute some outputs again.
      [random.integer(65, 80), 129, 66],
    ] as const) {
      hold(programs.matMul, { A: numbers(m * k), B: numbers(k * n) }, { m, n, k });
    }
    // A matrix of long rows is packed first.
    const left = program({ A: real(128, 65), B: real(65, 400) }, ({ A, B }) => {
      const columns = transpose(map((row) => slide(8, 392, row)[0]!, B));
      return map((row) => map((column) => reduce(add, 0, map(mul, zip(row, column))), columns), A);
    });
    expect(hold(left, { A: numbers(128 * 65), B: numbers(400 * 65) })).toEqual([2, 1]);
    const [m, n] = [24, random.integer(65, 300)];
    const turned = program({ M: complex(n, m), v: complex(n) }, ({ M, v }) =>
      map((column) => reduce((s, a, b) => add(s, mul(a, b)), 0, zip(column, v)), transpose(M)),
    );
    hold(turned, { M: numbers(2 * m * n), v: numbers(2 * n) });
  });

  it('stencils over images, several outputs of which one item computes from rows that it loads once', () => {
    const [height, width] = [random.integer(90, 99), random.integer(46, 60)];
    for (const boundary of [undefined, 'wrap', 'clamp', 'mirror', 0.5] as const) {
      const k = random.integer(2, 4);
      const more = boundary === undefined ? k - 1 : 0;
      const given = programs.stencil(height, width, k, boundary);
      hold(given, { x: numbers((height + more) * (width + more)), h: numbers(k * k) });
      for (const target of [processor, graphics]) {
        const [launch] = programPieces(given, new Map(), 'f64', target).launches as [LaunchDraft];
        const { stores } = launch.kernel.phases[0]!;
        const loads = reachable(stores.map(({ value }) => value)).filter(({ op }) => op === 'load').length;
        expect(stores.length).toBeGreaterThan(1);
        // Threads load once whatever lies beyond the borders, where items divide the rows; numbers that fill the border are none of the image's.
        if (boundary === undefined || (target === graphics && boundary !== 0.5 && height % 2 === 0))
          expect(loads - k * k).toBeLessThan(stores.length * k * k);
      }
    }
  });

  it('windows of long steps reach over both borders', () => {
    for (const border of ['wrap', 'clamp', 'mirror'] as const) {
      const stepped = program({ x: real(13) }, ({ x }) => join(slide(4, 11, pad(2, 0, border, x))));
      hold(stepped, { x: numbers(13) });
      hold(
        program({ x: real(13) }, ({ x }) => join(transpose(split(3, pad(0, 2, border, x))))),
        { x: numbers(13) },
      );
    }
    const around = program({ x: real(8) }, ({ x }) => join(slide(2, 9, pad(1, 2, 'wrap', x))));
    hold(around, { x: numbers(8) });
  });

  it('random ones', () => {
    const made = new RandomPrograms(random);
    for (let round = 0; round < 40; round++) {
      const n = random.integer(1, 48);
      const given = made.program(n, random.integer(1, 5));
      hold(given as never, { x: made.numbers(given, n) });
    }
  });

  it('a pass of an FFT is one launch, what only rearranges none', () => {
    expect(hold(programs.fft4096, { v: numbers(8192) })).toEqual([3, 3]);
    const turned = program({ x: real(68) }, ({ x }) =>
      map((row) => join(transpose(split(2, row))), slide(12, 4, join(transpose(split(6, pad(2, 2, 'mirror', x)))))),
    );
    expect(hold(turned, { x: numbers(68) })).toEqual([1, 1]);
    const fused = program({ x: real(64) }, ({ x }) =>
      map(
        (w) => reduce(add, 0, w),
        slide(
          3,
          1,
          map((a) => mul(a, 2), pad(1, 1, 0.5, x)),
        ),
      ),
    );
    expect(hold(fused, { x: numbers(64) })).toEqual([1, 1]);
  });

  it('an array is stored where computing it again costs more', () => {
    const norms = program({ A: real(40, 30), B: real(50, 30) }, ({ A, B }) => {
      const sums = map((row) => reduce((s, a) => add(s, exp(a)), 0, row), A);
      return map((row) => map((sum) => mul(sum, row[0]), sums), B);
    });
    expect(Math.min(...hold(norms, { A: numbers(1200), B: numbers(1500) }))).toBeGreaterThan(1);
    const wanted = program({ x: real(40) }, ({ x }) =>
      map(
        (a) => add(a, 1),
        toGlobal((y: Arr<Real>) => map((a) => mul(a, 2), y), x),
      ),
    );
    expect(hold(wanted, { x: numbers(40) })).toEqual([2, 2]);
  });

  it('arrays inside of functions are stored for all that the functions are called for', () => {
    const nested = program({ x: real(6, 32) }, ({ x }) =>
      map((row) => {
        const logs = map((a) => log(add(2, a)), row);
        return map((b) => reduce((s, a) => add(s, mul(a, b)), 0, logs), logs);
      }, x),
    );
    expect(hold(nested, { x: numbers(192) })).toEqual([2, 2]);
  });

  it('long reductions, whatever associative function they have', () => {
    for (const [n, m] of [
      [2011, 1],
      [1024, 2],
      [130, 40],
      [65, 2],
    ] as const) {
      const rows = { x: numbers(n * m) };
      const functions: ((s: Real, a: Real) => Real)[] = [
        (s, a) => add(s, mul(a, a)),
        (s, a) => max(s, a),
        (s, a) => min(sub(a, 0.5), s),
        (s, a) => mul(s, add(1, mul(a, 1e-3))),
      ];
      for (const f of functions) {
        hold(
          program({ x: real(m, n) }, ({ x }) => map((row) => reduce(f, 0.25, row), x)),
          rows,
          {},
          1e-10,
        );
      }
    }
    const complexSum = program({ x: complex(300) }, ({ x }) =>
      reduce(
        (s, a, i) => add(s, mul(a, i)),
        0,
        zip(
          x,
          array(300, (j, n) => omega(j, n)),
        ),
      ),
    );
    hold(complexSum, { x: numbers(600) });
  });

  it('long reductions in an order that matters, of numbers, tuples and arrays', () => {
    for (const n of [1, 2, 65, random.integer(66, 3000)]) {
      const x = numbers(2 * n);
      const rows = numbers(n * 5);
      const positions = () => array(n, (i) => i);
      // The largest number and its place.
      const largest = program({ x: real(n) }, ({ x }) => {
        const [most, place] = reduce(
          (best, a, i) => {
            const isMore = less(best[0], a);
            return tuple(select(isMore, a, best[0]), select(isMore, i, best[1]));
          },
          tuple(-2, -1),
          zip(x, positions()),
        );
        return [most, place];
      });
      hold(largest as never, { x: x.subarray(0, n) });
      // Horner's scheme, for a few points at once.
      const horner = program({ x: real(n), at: real(3) }, ({ x, at }) =>
        map((t) => reduce((s, a) => add(mul(s, mul(0.5, t)), a), 0, x), at),
      );
      hold(horner, { x: x.subarray(0, n), at: numbers(3) });
      const turning = program({ z: complex(n) }, ({ z }) =>
        reduceSeq((s, a) => add(mul(s, { re: 0.6, im: 0.7 }), a), 0, z),
      );
      hold(turning, { z: x });
      // A product of two-by-two matrices, and sums of columns.
      const matrices = program({ x: real(n, 4) }, ({ x }) =>
        reduce(
          ([a, b], row) => [sub(mul(row[0]!, a), mul(row[1]!, b)), add(mul(row[2]!, b), mul(row[3]!, 0.5))],
          [1, 0.5],
          x,
        ),
      );
      hold(matrices as never, { x: rows.subarray(0, 4 * n) });
      const columns = program({ x: real(n, 5), y: real(5) }, ({ x, y }) =>
        reduce((s, row) => map((a, b) => add(mul(0.9, a), b), zip(s, row)), y, x),
      );
      hold(columns, { x: rows, y: numbers(5) });
    }
    const wide = program({ x: real(80, 100), y: real(100) }, ({ x, y }) =>
      reduce((s, row) => map((a, b) => sub(mul(0.9, b), mul(0.1, a)), zip(row, s)), y, x),
    );
    hold(wide, { x: numbers(8000), y: numbers(100) });
  });

  it('iterate takes turns between two buffers, and computes once what does not change', () => {
    for (const times of [0, 1, 2, 5]) {
      const heat = program({ x: real(64), k: real(64) }, ({ x, k }) => {
        const weights = map((a) => exp(mul(a, 0.01)), k);
        const step = (y: Arr<Real>) =>
          map((w, a) => mul(a, reduce(add, 0, w)), zip(slide(3, 1, pad(1, 1, 'wrap', y)), weights));
        return iterate(times, (y) => map((a) => mul(0.3, a), step(y)), x);
      });
      hold(heat, { x: numbers(64), k: numbers(64) });
    }
    const rows = program({ x: real(5, 16) }, ({ x }) =>
      map(
        (row) =>
          iterate(4, (y: Arr<Real>) => map((a, b) => sub(a, mul(0.5, b)), zip(y, join(transpose(split(4, y))))), row),
        x,
      ),
    );
    hold(rows, { x: numbers(80) });
    hold(
      program({ x: real(20) }, ({ x }) => map((a) => iterate(7, (b: Real) => mul(b, sub(1, b)), a), x)),
      { x: numbers(20) },
    );
  });

  it('iterate takes states of several arrays, numbers and tuples', () => {
    const wave = (zipped: boolean) =>
      program({ u: real(24), v: complex(24) }, ({ u, v }) => {
        const next = (a: Arr<Real>, b: Arr<Complex>) =>
          [
            map((w) => add(w[0]!, w[2]!), slide(3, 1, pad(1, 1, 'wrap', a))),
            map((x, y) => sub(y, mul(0.1, x)), zip(a, b)),
          ] as const;
        if (!zipped) return iterate(5, ([a, b]) => tuple(...next(a, b)), tuple(u, v))[1];
        const both = iterate(
          4,
          (own: Arr<Tuple<[Real, Complex]>>) => {
            const [a, b] = next(
              map((first, _) => first, own),
              map((_, second) => second, own),
            );
            return zip(a, b);
          },
          zip(u, v),
        );
        return map((a, b) => add(a, b), both);
      });
    const inputs = { u: numbers(24), v: numbers(48) };
    hold(wave(false), inputs);
    hold(wave(true), inputs);
    const list = program({ x: real(2, 9) }, ({ x }) =>
      iterate(
        3,
        (own) => {
          const [a, b] = own;
          return [b!, map((p, q) => add(p, mul(0.5, q)), zip(a!, b!))] as unknown as typeof own;
        },
        x,
      ),
    );
    hold(list, { x: numbers(18) });
    // A state of numbers is a loop of its item's, also where it is short and holds arrays in a reduction.
    const fibonacci = (times: number) =>
      program({ x: real(5) }, ({ x }) =>
        map(
          (a) => iterate(times, ([p, q]) => tuple(mul(0.5, q), add(mul(0.5, p), mul(0.1, q))), tuple(a, mul(a, a)))[0],
          x,
        ),
      );
    expect([...hold(fibonacci(4), { x: numbers(5) }), ...hold(fibonacci(20_000), { x: numbers(5) })]).toEqual([
      1, 1, 1, 1,
    ]);
    const inner = program({ x: real(10), y: real(2) }, ({ x, y }) =>
      reduce((s: Arr<Real>, a) => iterate(2, (own: Arr<Real>) => map((b) => add(mul(0.5, b), a), own), s), y, x),
    );
    hold(inner, { x: numbers(10), y: numbers(2) });
  });

  it('reductions of short arrays may mix their elements', () => {
    const mixed = program({ x: real(20, 8) }, ({ x }) =>
      reduce(
        (s, row) => map((w, a) => add(mul(mul(0.25, w[0]!), w[2]!), a), zip(slide(3, 1, pad(1, 1, 'wrap', s)), row)),
        x[0]!,
        x,
      ),
    );
    hold(mixed as never, { x: numbers(160) });
    hold(
      program({ x: real(9), y: real(9) }, ({ x, y }) => map((_, b) => b, zip(x, y))),
      { x: numbers(9), y: numbers(9) },
    );
    hold(
      program({ x: real(9), y: real(9) }, ({ x, y }) => map((a, _) => a, zip(x, y))),
      { x: numbers(9), y: numbers(9) },
    );
  });

  it('arrays may be padded to many times their length', () => {
    for (const how of ['wrap', 'mirror', 'clamp', 0.5] as const) {
      const [left, right] = [random.integer(0, 40), random.integer(0, 40)];
      hold(
        program({ x: real(3, 4) }, ({ x }) =>
          pad(
            left,
            right,
            how,
            map((row) => pad(right, left, how, row), x),
          ),
        ),
        {
          x: numbers(12),
        },
      );
    }
  });

  it('random ones around planned transforms', () => {
    const made = new RandomPrograms(random);
    for (let round = 0; round < 40; round++) {
      const n = random.integer(1, 16) * random.pick([1, 2, 4]);
      const given = made.program(n, 0, (xs) => made.array(made.transformed(made.array(xs, 1)), 1));
      hold(given as never, { x: made.numbers(given, n) }, {}, 1e-11, random.pick(WAYS));
    }
  });

  it('planned transforms are plans of as many rows as they are called for, and take up the kernels beside them', () => {
    const n = 2 * random.integer(2, 24);
    const launches = [
      hold(programs.correlate, { x: numbers(2 * n), h: numbers(2 * n) }, { n }),
      hold(programs.schroedinger(n, 3), { psi: numbers(2 * n), V: numbers(2 * n), K: numbers(2 * n) }),
      hold(programs.logMel(n, 3, n + 21, 4), {
        signal: numbers(n + 21),
        window: numbers(n),
        bank: numbers(4 * (n / 2 + 1)).map(Math.abs),
      }),
      hold(
        program({ x: real(3, n) }, ({ x }) => map((row) => irfft(map((a) => mul(a, 2), rfft(row))), x)),
        { x: numbers(3 * n) },
      ),
      hold(
        program({ x: complex(3, 5) }, ({ x }) =>
          map((row) => iterate(2, (y) => ifft(map((a) => mul(a, a), fft(y))), row), x),
        ),
        { x: numbers(30) },
      ),
      hold(
        program({ x: real(12) }, ({ x }) => transpose(split(3, fft(x)))),
        { x: numbers(12) },
      ),
    ];
    // A product between transforms there and back is one of them; what no plan can do is a kernel.
    expect(launches).toEqual([2, 3, 2, 2, 4, 2].map((count) => [count, count]));
  });

  it('tables of complex numbers, and of whatever positions tell', () => {
    const given = program({ x: complex(12) }, ({ x }) =>
      map(
        (row, weights) => map((a, w) => mul(a, w), zip(row, weights)),
        zip(
          split(4, x),
          array2(3, 4, (i, j, m, n) => ({ re: i / m, im: j / n })),
        ),
      ),
    );
    hold(given, { x: numbers(24) });
    hold(
      program({ x: real(9) }, ({ x }) =>
        map(
          mul,
          zip(
            x,
            array(9, (i) => 1 / (1 + i)),
          ),
        ),
      ),
      { x: numbers(9) },
    );
  });
});

describe('what cannot be compiled yet is refused by name', () => {
  const refusal = (given: Program, target: ProgramTarget, path: string, sizes = {}) => {
    expect(() => runLowered(given, {}, target, sizes), print(given)).toThrow(
      expect.objectContaining({ code: 'unsupported-feature', problems: [expect.objectContaining({ path })] }),
    );
  };

  it('planned transforms of what a reduction has come to', () => {
    const turned = program({ x: complex(5, 8) }, ({ x }) =>
      reduce((s, row) => fft(map((a, b) => add(a, b), zip(s, row))), x[0], x),
    );
    for (const target of Object.values(targets)) refusal(turned, target, 'fft');
  });

  it('tables and repetitions without end', () => {
    const table = program({ x: real(2 ** 25) }, ({ x }) => {
      const positions = array(2 ** 25, (i) => i);
      return map(mul, zip(x, positions));
    });
    refusal(table, processor, 'array');
    const steps = program({ x: real(4) }, ({ x }) => iterate(1e9, (y: Arr<Real>) => map((a) => mul(a, 0.5), y), x));
    refusal(steps, processor, 'iterate');
  });

  it('reductions to large arrays that mix elements, and kernels of too many operations', () => {
    const turned = program({ x: real(100, 90), y: real(90) }, ({ x, y }) =>
      reduce((s, row) => map((a, b) => add(mul(0.5, a), b), zip(join(transpose(split(9, s))), row)), y, x),
    );
    for (const target of Object.values(targets)) refusal(turned, target, 'reduce');
    const big = program({ x: real(64) }, ({ x }) => Array.from({ length: 64 }, (_, i) => exp(exp(x[i]!))));
    refusal(big, processor, 'program');
  });
});
