import { describe, expect, it } from 'vitest';
import * as ffts from '../../../../test/support/lift-ffts.ts';
import { graphics, processor, runLowered } from '../../../../test/support/lift-interpreted.ts';
import * as programs from '../../../../test/support/lift-programs.ts';
import { RandomPrograms } from '../../../../test/support/lift-random.ts';
import { randomFor, uniform } from '../../../../test/support/random.ts';
import type { Kernel } from '../../../ir/index.ts';
import {
  type Arr,
  add,
  type Complex,
  fft,
  id,
  interpret,
  iterate,
  join,
  map,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  mul,
  type Program,
  pad,
  print,
  program,
  type Real,
  real,
  reduce,
  slide,
  split,
  toLocal,
  toPrivate,
  transpose,
  zip,
} from '../../../lift/index.ts';
import type { ProgramTarget } from '../index.ts';

const random = randomFor('work-groups of programs');
const numbers = (count: number) => uniform(random, count);

/** Holds a program against the interpreter, or what else is expected. @returns its kernels on a device of threads, and on one of vectors */
function hold(
  given: Program,
  inputs: { readonly [name: string]: Float64Array },
  expected = interpret(given, inputs),
): readonly [Kernel[], Kernel[]] {
  const scale = expected.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  return [graphics, processor].map((target: ProgramTarget) => {
    const { result, pieces, problems } = runLowered(given, inputs, target);
    expect(problems, print(given)).toEqual([]);
    expect(result).toHaveLength(expected.length);
    const worst = result.reduce((most, each, i) => Math.max(most, Math.abs(each - expected[i]!) / scale), 0);
    expect(worst, print(given)).toBeLessThan(1e-11);
    return pieces.launches.map((launch) => (launch as { kernel: Kernel }).kernel);
  }) as [Kernel[], Kernel[]];
}

/** Holds a program against the sums of the transform. @returns phases of each of its kernels, on both devices */
function holdFft(n: number, f: ffts.OfVector): number[][] {
  const v = numbers(2 * n);
  const expected = interpret(ffts.fftProgram(n, fft), { v });
  return hold(ffts.fftProgram(n, f), { v }, expected).map((kernels) => kernels.map(({ phases }) => phases.length));
}

describe('work-groups of programs', () => {
  it('give what random programs mean', () => {
    const made = new RandomPrograms(random);
    for (let round = 0; round < 40; round++) {
      const n = random.integer(1, 48);
      const depth = random.integer(0, 2);
      const given = made.program(n, depth, (xs) => made.array(made.grouped(xs), random.integer(0, 2)));
      hold(given as never, { x: made.numbers(given, n) });
    }
  });

  it('are groups of a kernel, one for each element, and arrays in their memory are phases', () => {
    const [rows, length] = [random.integer(2, 9), random.integer(5, 40)];
    const reversed = program({ x: real(rows, length) }, ({ x }) =>
      mapWorkgroup((row) => {
        const squares = toLocal((own: Arr<Real>) => mapLocal((a) => mul(a, a), own), row);
        const total = toLocal((own: Arr<Real>) => [reduce(add, 0, own)], squares);
        return mapLocal((a) => add(a, total[0]!), squares);
      }, x),
    );
    for (const kernels of hold(reversed, { x: numbers(rows * length) })) {
      expect(kernels).toHaveLength(1);
      const [{ group, phases, shared }] = kernels as [Kernel];
      expect(group.count).toBe(rows);
      expect(phases.map(({ stores }) => stores[0]!.array.space)).toEqual(['shared', 'shared', 'global']);
      expect(shared.map((array) => array.length)).toEqual([length, 1]);
    }
  });

  it('repeat steps in their own memory', () => {
    const [rows, length] = [random.integer(2, 9), random.integer(5, 40)];
    for (const isTold of [true, false]) {
      const steps = program({ x: real(rows, length) }, ({ x }) =>
        mapWorkgroup(
          (row) =>
            iterate(
              3,
              (own: Arr<Real>) => {
                const next = mapLocal(
                  (w: Arr<Real>) => add(mul(0.5, w[0]!), w[2]!),
                  slide(3, 1, pad(1, 1, 'wrap', own)),
                );
                return isTold ? toLocal(id, next) : next;
              },
              row,
            ),
          x,
        ),
      );
      for (const kernels of hold(steps, { x: numbers(rows * length) })) {
        expect(kernels).toHaveLength(1);
        if (isTold) expect(kernels[0]!.phases).toHaveLength(4);
      }
    }
  });

  it('take turns in the same memory, which threads read before they store', () => {
    const passes = ffts.inOneGroup([4, 4, 4]);
    const given = ffts.fftProgram(64, passes);
    const [[threads], [vectors]] = hold(given, { v: numbers(128) }) as unknown as [[Kernel], [Kernel]];
    expect(threads.shared).toHaveLength(1);
    expect(threads.phases.map(({ readsFirst }) => readsFirst === true)).toEqual([false, true, false]);
    expect(vectors.shared).toHaveLength(2);
  });

  it('hierarchical transforms are two kernels, or the five of the paper where that is said', () => {
    const [columns, rows] = [
      [4, 2],
      [3, 4],
    ] as const;
    for (const tile of [1, 4]) {
      const two = holdFft(96, ffts.hierarchical({ columns, rows, tile }));
      expect(two).toEqual([
        [2, 2],
        [2, 2],
      ]);
    }
    const five = holdFft(96, ffts.hierarchical({ columns, rows, isStored: true, twiddles: 'powers' }));
    expect(five).toEqual([
      [1, 2, 1, 2, 1],
      [1, 2, 1, 2, 1],
    ]);
    // A copy to the group's memory, and what the passes hand over where nothing is said.
    const kernels = hold(programs.hierarchical([4, 2], [3, 2]), { v: numbers(96) });
    expect(kernels.map((all) => all.map(({ phases }) => phases.length))).toEqual([
      [3, 3],
      [3, 3],
    ]);
  });

  it('flat transforms are a kernel for each pass, in any variant', () => {
    for (const twiddles of ['dense', 'table', 'powers'] as const) {
      expect(holdFft(60, ffts.stockham([3, 4, 5], twiddles, ffts.global))).toEqual([
        [1, 1, 1],
        [1, 1, 1],
      ]);
      expect(holdFft(60, ffts.cooleyTukey([3, 4, 5], twiddles, ffts.global))).toEqual([
        [1, 1, 1],
        [1, 1, 1],
      ]);
    }
  });

  it('lay out what they keep so that neighbouring threads meet other banks', () => {
    const turned = program({ x: real(32, 32) }, ({ x }) =>
      mapWorkgroup((tile) => transpose(toLocal((own: typeof tile) => own, tile)), split(32, x)),
    );
    const [[{ shared }]] = hold(turned, { x: numbers(1024) }) as unknown as [[Kernel]];
    expect(shared[0]!.length).toBeGreaterThan(1024);
    expect(shared[0]!.length).toBeLessThan(1.25 * 1024);
  });

  it('store a transposed tile with no kernel more', () => {
    const tiled = program({ x: real(24, 20) }, ({ x }) => {
      const tiles = join(map((rows) => transpose(map(split(5), rows)), split(6, x)));
      const turned = mapWorkgroup((tile) => transpose(toLocal((own: typeof tile) => own, tile)), tiles);
      return join(map((column) => map(join, transpose(column)), transpose(split(4, turned))));
    });
    const x = numbers(480);
    const expected = Float64Array.from(x, (_, i) => x[(i % 24) * 20 + Math.floor(i / 24)]!);
    for (const kernels of hold(tiled as never, { x }, expected))
      expect(kernels.map(({ phases }) => phases.length)).toEqual([2]);
  });

  it('work through a mapSeq in one item, and hold a toPrivate in registers', () => {
    const sums = program({ x: real(16, 8) }, ({ x }) =>
      mapWorkgroup((row) => {
        const own = toPrivate((all: Arr<Real>) => mapSeq((a) => mul(a, 0.5), all), row);
        return mapSeq((a) => add(a, own[7]!), own);
      }, x),
    );
    for (const [{ phases }] of hold(sums, { x: numbers(128) }) as unknown as [[Kernel], [Kernel]]) {
      expect(phases[0]!.stores).toHaveLength(8);
    }
    const long = program({ x: real(2, 600) }, ({ x }) =>
      mapWorkgroup(
        (row) =>
          mapSeq(
            (a) => mul(a, 0.5),
            toLocal((own: Arr<Real>) => own, row),
          ),
        x,
      ),
    );
    const [[{ threads }]] = hold(long, { x: numbers(1200) }) as unknown as [[Kernel]];
    expect(threads).toBeLessThan(600);
  });

  it('refuse what has no room, and store elsewhere what nobody asked them to keep', () => {
    const copied = program({ x: real(2, 5000) }, ({ x }) =>
      mapWorkgroup(
        (row) =>
          map(
            (a, b) => mul(a, b),
            zip(
              toLocal((own: Arr<Real>) => own, row),
              row,
            ),
          ),
        x,
      ),
    );
    expect(() => runLowered(copied, { x: numbers(10000) }, graphics)).toThrow(
      /^toLocal: a work-group of the program needs 40000 bytes of shared memory, and the device has 32768; /,
    );
    const many = program({ x: real(2, 65) }, ({ x }) => map((row) => toPrivate((own: Arr<Real>) => own, row), x));
    expect(() => runLowered(many, { x: numbers(130) }, graphics)).toThrow(
      /^toPrivate: registers of a thread hold up to 64/,
    );
    const unasked = (v: Arr<Complex>) => join(mapWorkgroup((row) => ffts.stockham([16, 16, 16])(row), split(4096, v)));
    const [large] = runLowered(ffts.fftProgram(4096, unasked), { v: numbers(8192) }, graphics).pieces.launches;
    expect(large).toBeDefined();
    const { pieces } = runLowered(ffts.fftProgram(4096, unasked), { v: numbers(8192) }, graphics);
    expect(pieces.launches.length).toBeGreaterThan(1);
  });
});
