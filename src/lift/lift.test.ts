import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as ffts from '../../test/support/lift-ffts.ts';
import * as programs from '../../test/support/lift-programs.ts';
import { RandomPrograms } from '../../test/support/lift-random.ts';
import { noOpenCl, openOpenCl } from '../../test/support/opencl.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { Shelf } from '../../test/support/shelf.ts';
import { noWebGpu, openWebGpu } from '../../test/support/webgpu.ts';
import { create as createCpu } from '../devices/cpu/index.ts';
import { Device as EngineDevice } from '../engine/device.ts';
import { type Device, FftError, openDevice, openProfile } from '../index.ts';
import {
  type Arr,
  add,
  array,
  type Complex,
  complex,
  conj,
  exp,
  fft,
  ifft,
  interpret,
  iterate,
  less,
  log,
  map,
  max,
  mul,
  type Program,
  pad,
  print,
  program,
  type Real,
  real,
  reduce,
  rewrite,
  rules,
  select,
  size,
  slide,
  split,
  toGlobal,
  transpose,
  tuple,
  zip,
} from './index.ts';

const random = randomFor('compiled programs');
const n = size('n');
const plusOne = program({ x: real(n) }, ({ x }) => map((a) => add(a, 1), x));

const window = array(20, (i) => 1 / (1 + i));
const tapered = (xs: Arr<Complex>) => map(mul, zip(xs, window));
/** Columns between two windows, correlated: one plan, which reads a table and a spectrum beside numbers in steps. */
const correlated = program({ x: complex(20, 3), h: complex(20) }, ({ x, h }) =>
  transpose(map((column) => tapered(ifft(map((a, b) => mul(a, conj(b)), zip(fft(tapered(column)), h)))), transpose(x))),
);

type Precision = 'single' | 'double';
type Inputs = Readonly<Record<string, Float64Array>>;

function arrayOf(precision: Precision, numbers: ArrayLike<number>): Float32Array | Float64Array {
  return precision === 'single' ? Float32Array.from(numbers) : Float64Array.from(numbers);
}

const numbers = (count: number) => uniform(random, count, 'single');

/** Holds a program on a device against the interpreter. */
async function hold(
  device: Device,
  given: Program,
  inputs: Inputs,
  precision: Precision,
  sizes = {},
  scale = 1,
): Promise<void> {
  const expected = interpret(given, inputs, sizes);
  const compiled = await device.compile(given, { sizes, precision });
  try {
    expect(compiled.output).toEqual({ length: expected.length });
    const own = Object.entries(inputs).map(([name, data]) => [name, arrayOf(precision, data)] as const);
    const result = arrayOf(precision, new Float64Array(expected.length).fill(Number.NaN));
    expect(await compiled.run(Object.fromEntries(own), result)).toBe(result);
    const most = expected.reduce((all, each) => Math.max(all, Math.abs(each)), scale);
    const worst = expected.reduce((all, each, i) => {
      const difference = Math.abs(each - result[i]!);
      return Math.max(all, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    }, 0);
    expect(worst / most, print(given)).toBeLessThan(precision === 'single' ? 1e-5 : 1e-12);
    for (const { source, language } of compiled.kernels) {
      expect(source.length).toBeGreaterThan(0);
      expect(language).not.toBe('');
    }
  } finally {
    compiled.destroy();
  }
}

/** A few programs that together have all patterns which can be compiled. */
async function holdAll(device: Device, precision: Precision): Promise<void> {
  const [A, B] = [numbers(64 * 5), numbers(5 * 7)];
  await hold(device, programs.tiled, { A, B }, precision, { m: 64, n: 7, k: 5 });
  const [v, w] = [numbers(3000), numbers(3000)];
  // A sum may come to next to nothing: its error is one of the partial sums, which are about so large.
  const partial = Math.hypot(...v.map((each, n) => each * w[n]!));
  await hold(device, programs.dotProduct, { v, w }, precision, { n: 3000 }, partial);
  await hold(device, programs.blur, { x: numbers(100) }, precision, { n: 100 });
  await hold(device, programs.stencil(12, 44, 5, 'wrap'), { x: numbers(12 * 44), h: numbers(25) }, precision);
  await hold(device, programs.hierarchical([4, 2], [3]), { v: numbers(48) }, precision);
  const inGroups = ffts.hierarchical({ columns: [4, 4], rows: [3, 4], tile: 4 });
  await hold(device, ffts.fftProgram(192, inGroups) as never, { v: numbers(384) }, precision);
  const made = new RandomPrograms(random);
  const count = random.integer(2, 48);
  const grouped = made.program(count, 1, (xs) => made.array(made.grouped(xs), 1));
  await hold(device, grouped as never, { x: made.numbers(grouped, count) }, precision);
  const logs = program({ x: real(40) }, ({ x }) => map((a) => [log(add(3, a)), exp(mul(4, a))], x));
  await hold(device, logs, { x: numbers(40) }, precision);
  const [signal, window, bank] = [numbers(64), numbers(16), numbers(27).map(Math.abs)];
  await hold(device, programs.logMel(16, 8, 64, 3), { signal, window, bank }, precision);
  const [psi, V, K] = [numbers(48), numbers(48), numbers(48)];
  await hold(device, programs.schroedinger(24, 3), { psi, V, K }, precision);
  const largest = program({ x: real(300) }, ({ x }) => {
    const [most, place] = reduce(
      (best, a, i) => tuple(max(best[0], a), select(less(best[0], a), i, best[1])),
      tuple(-2, -1),
      zip(
        x,
        array(300, (i) => i),
      ),
    );
    return [most, place, reduce((s, a) => add(mul(0.5, s), a), 0, x)] as const;
  });
  await hold(device, largest as never, { x: numbers(300) }, precision);
  await hold(device, correlated, { x: numbers(120), h: numbers(40) }, precision);
  const steps = program({ x: real(32) }, ({ x }) => iterate(3, (y) => map((a) => mul(a, 0.5), y), x));
  await hold(device, steps, { x: numbers(32) }, precision);
}

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('programs on the CPU', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
  });
  afterAll(() => device.close());

  it('give what they mean, in both precisions', async () => {
    for (const precision of ['single', 'double'] as const) {
      await holdAll(device, precision);
      await hold(device, programs.fft4096, { v: numbers(8192) }, precision);
    }
    // A large prime is convolved with a longer period, whose spectrum is longer than the program's.
    for (const n of [30, 262]) {
      await hold(device, programs.correlate, { x: numbers(2 * n), h: numbers(2 * n) }, 'double', { n });
    }
    const made = new RandomPrograms(random);
    for (let round = 0; round < 12; round++) {
      const count = random.integer(1, 60);
      const given =
        round % 3 === 0
          ? made.program(count, 2, (xs) => made.grouped(xs))
          : made.program(count, 0, (xs) => made.array(made.transformed(made.array(xs, 1)), 1));
      await hold(device, given as never, { x: made.numbers(given, count) }, 'double');
    }
  });

  it('run on arrays, memory of the device and numbers, into given or new arrays', async () => {
    const scaled = program({ x: real(8), by: real() }, ({ x, by }) => map((a) => mul(a, by), x));
    const compiled = await device.compile(scaled);
    const x = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const twice = [...x].map((each) => 2 * each);
    expect([...((await compiled.run({ x, by: 2 })) as Float32Array)]).toEqual(twice);
    const memory = device.alloc(32, 'single');
    memory.array.set(x);
    const out = device.alloc(32, 'single');
    expect(await compiled.run({ x: memory, by: Float32Array.of(2) }, out)).toBe(out);
    expect([...out.array.subarray(0, 8)]).toEqual(twice);
    const by = device.alloc(4, 'single');
    by.array[0] = 3;
    await compiled.enqueue({ inputs: { x: out, by }, output: memory });
    expect([...memory.array.subarray(0, 8)]).toEqual(twice.map((each) => 3 * each));
    // The same array for two inputs is fine: they are only read.
    const dot = await device.compile(programs.dotProduct, { sizes: { n: 8 } });
    expect([...((await dot.run({ v: x, w: x })) as Float32Array)]).toEqual([204]);
    for (const each of [compiled, dot]) each.destroy();
    for (const each of [memory, out, by]) each.free();
  });

  it('run in the order of their calls, on arrays that change hands', async () => {
    const compiled = await device.compile(plusOne, { sizes: { n: 4 } });
    const [a, b, c] = [new Float32Array(4), new Float32Array(4), new Float32Array(4)];
    const calls = [compiled.run({ x: a }, b), compiled.run({ x: b }, c), compiled.run({ x: c }, a)];
    await Promise.all(calls);
    expect([a[0], b[0], c[0]]).toEqual([3, 1, 2]);
    compiled.destroy();
  });

  it('share kernels that are equal, and those that rewriting makes run too', async () => {
    const given = program({ x: real(24) }, ({ x }) => map((row) => reduce(add, 0, row), split(4, x)));
    const { program: rewritten } = rewrite(given, rules.mapGlobal, rules.reduceSeq);
    const [one, other] = await Promise.all([device.compile(given), device.compile(rewritten)]);
    expect(other.kernels[0]!.source).toBe(one.kernels[0]!.source);
    const x = Float32Array.from({ length: 24 }, (_, i) => i);
    expect(await other.run({ x })).toEqual(await one.run({ x }));
    one.destroy();
    other.destroy();
  });

  it('refuse what does not fit, and write nothing', async () => {
    const compiled = await device.compile(plusOne, { sizes: { n: 4 } });
    const x = new Float32Array(4);
    const y = new Float32Array(4).fill(7);
    const other = await openDevice('cpu', { threads: 1 });
    const foreign = other.alloc(16, 'single');
    const small = device.alloc(8, 'single');
    const cases: readonly (readonly [string, () => unknown])[] = [
      ['missing-buffer', () => compiled.run({} as never, y)],
      ['unknown-field', () => compiled.run({ x, z: x } as never, y)],
      ['wrong-length', () => compiled.run({ x: new Float32Array(5) }, y)],
      ['wrong-array-type', () => compiled.run({ x: new Float64Array(4) }, y)],
      ['wrong-array-type', () => compiled.run({ x: 3 }, y)],
      ['invalid-argument', () => compiled.run(undefined as never, y)],
      ['wrong-length', () => compiled.run({ x }, new Float32Array(3))],
      ['aliased-buffers', () => compiled.run({ x: y }, y)],
      ['foreign-buffer', () => compiled.run({ x: foreign }, y)],
      ['buffer-too-small', () => compiled.run({ x: small }, y)],
      ['foreign-buffer', () => compiled.enqueue({ inputs: { x }, output: y })],
      ['missing-buffer', () => compiled.enqueue({ inputs: { x: small } } as never)],
      ['unsupported-feature', () => compiled.enqueue({ inputs: { x: small }, output: y, stream: 1 })],
    ];
    for (const [expected, act] of cases) expect(act, expected).toThrow(code(expected));
    expect([...y]).toEqual([7, 7, 7, 7]);
    compiled.destroy();
    compiled.destroy();
    expect(() => compiled.run({ x }, y)).toThrow(code('destroyed'));
    small.free();
    other.close();
  });

  it('refuse sizes and options that are wrong', async () => {
    const quarters = program({ x: real(n) }, ({ x }) => split(4, x));
    const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['invalid-size', () => device.compile(plusOne)],
      ['invalid-size', () => device.compile(quarters, { sizes: { n: 10 } })],
      ['invalid-size', () => device.compile(plusOne, { sizes: { n: 0 } })],
      ['invalid-size', () => device.compile(plusOne, { sizes: { n: 2 ** 40 } })],
      ['unknown-field', () => device.compile(plusOne, { sizes: { n: 4, m: 3 } })],
      ['unknown-field', () => device.compile(plusOne, { size: { n: 4 } } as never)],
      ['invalid-argument', () => device.compile(plusOne, { sizes: { n: 4 }, precision: 'half' as never })],
      ['invalid-argument', () => device.compile(plusOne, { sizes: { n: 4 }, strategy: 'slow' as never })],
      ['invalid-argument', () => device.compile({} as never)],
      ['invalid-argument', () => device.compile(undefined as never)],
    ];
    for (const [expected, act] of cases) await expect(act(), expected).rejects.toThrow(code(expected));
    await expect(device.compile(quarters, { sizes: { n: 10 } })).rejects.toThrow(
      'split: 4 does not divide the length of [real]_n, of length 10.',
    );
  });

  it('may have more windows than memory could hold, unless they are stored', async () => {
    const windows = (x: Arr<Real>) => slide(513, 1, pad(256, 256, 'clamp', x));
    const sums = program({ x: real(n) }, ({ x }) => map((window) => reduce(add, 0, window), windows(x)));
    const stored = program({ x: real(n) }, ({ x }) => map((window) => reduce(add, 0, window), toGlobal(windows, x)));
    const profile = await openProfile('h200');
    const options = { sizes: { n: 2 ** 23 } };
    const compiled = await profile.compile(sums, options);
    expect(compiled.kernels.length).toBe(1);
    await expect(profile.compile(stored, options)).rejects.toThrow(code('unsupported-feature'));
    await expect(
      device.compile(
        program({ x: real(n) }, ({ x }) => windows(x)),
        options,
      ),
    ).rejects.toThrow(code('invalid-size'));
    profile.close();
  });

  it('that are timed give the same, and are timed once', async () => {
    const [x, h] = [numbers(60), numbers(60)];
    const inputs = { x: Float32Array.from(x), h: Float32Array.from(h) };
    const options = { sizes: { n: 30 }, strategy: 'measure' } as const;
    const usual = await device.compile(programs.correlate, { sizes: { n: 30 } });
    const expected = (await usual.run(inputs)) as Float32Array;
    const timed = await device.compile(programs.correlate, options);
    const result = (await timed.run(inputs)) as Float32Array;
    for (const [i, value] of expected.entries()) expect(Math.abs(result[i]! - value)).toBeLessThan(1e-4);
    const again = await device.compile(programs.correlate, options);
    expect(again.kernels).toEqual(timed.kernels);
    for (const compiled of [usual, timed, again]) compiled.destroy();
    const profile = await openProfile('wasm-cpu');
    await expect(profile.compile(programs.correlate, options)).rejects.toThrow(code('unsupported-feature'));
    profile.close();
  });

  it('have periodic stencils timed as Fourier transforms, and what has won is kept for later processes', async () => {
    const [n, k] = [2048, 513];
    const ring = program({ x: real(n), h: real(k) }, ({ x, h }) =>
      map((window) => reduce(add, 0, map(mul, zip(window, h))), slide(k, 1, pad(k >> 1, k >> 1, 'wrap', x))),
    );
    const inputs = { x: Float32Array.from(numbers(n)), h: Float32Array.from(numbers(k)) };
    const store = new Shelf();
    const measured = async () => {
      const own = new EngineDevice(await createCpu({ store, threads: 1 }));
      const compiled = await own.compile(ring, { strategy: 'measure' });
      const result = (await compiled.run(inputs)) as Float32Array;
      const names = compiled.kernels.map(({ name }) => name);
      own.close();
      return { result, names };
    };
    const first = await measured();
    const expected = interpret(ring, inputs);
    const most = expected.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    for (const [i, value] of expected.entries()) expect(Math.abs(first.result[i]! - value)).toBeLessThan(1e-5 * most);
    // A stencil of a million products takes many times as long as three transforms, which the price knows, too.
    const usual = await device.compile(ring);
    expect(usual.kernels.map(({ name }) => name)).toEqual(first.names);
    usual.destroy();
    const [key, ...others] = store.keys('measured');
    expect(others).toEqual([]);
    expect(new TextDecoder().decode(store.get(key!))).toContain('"stencils":"transforms"');
    const put = vi.spyOn(store, 'put');
    expect((await measured()).names).toEqual(first.names);
    expect(put.mock.calls.filter(([one]) => one === key)).toEqual([]);
    // What is damaged counts as not kept.
    store.put(key!, new TextEncoder().encode('{"beside":"nonsense"}'));
    expect((await measured()).result.length).toBe(n);
    expect(new TextDecoder().decode(store.get(key!))).not.toContain('nonsense');
  });

  it('end with their device', async () => {
    const own = await openDevice('cpu', { threads: 1 });
    const compiled = await own.compile(plusOne, { sizes: { n: 4 } });
    own.close();
    expect(() => compiled.run({ x: new Float32Array(4) })).toThrow(FftError);
    await expect(own.compile(plusOne, { sizes: { n: 4 } })).rejects.toThrow(code('device-closed'));
  });
});

describe.skipIf(noWebGpu)('programs on WebGPU', () => {
  it('give what they mean, in both precisions', async () => {
    const device = await openWebGpu();
    for (const precision of ['single', 'double'] as const) await holdAll(device, precision);
    device.close();
  });
});

describe.skipIf(noOpenCl)('programs on OpenCL', () => {
  it('give what they mean', async () => {
    const device = await openOpenCl();
    await holdAll(device, random.pick(['single', 'double'] as const));
    device.close();
  });
});

describe('programs for devices that are not there', () => {
  const languages = [
    ['h200', 'cuda', /__global__/],
    ['h200', 'hip', /__global__/],
    ['h200', 'opencl', /__kernel/],
    ['webgpu-default', 'wgsl', /@compute/],
    ['wasm-cpu', 'wasm', undefined],
  ] as const;

  for (const [profile, language, text] of languages) {
    it(`have their kernels in ${language}`, async () => {
      const device = await openProfile(profile, { language });
      for (const given of [programs.tiled, programs.dotProduct, programs.correlate]) {
        const compiled = await device.compile(given as Program, { sizes: sizesOf(given) });
        for (const kernel of compiled.kernels) {
          expect(kernel.language).toBe(language);
          if (text) expect(kernel.source).toMatch(text);
          else expect(kernel.source).toBeInstanceOf(Uint8Array);
        }
        compiled.destroy();
      }
      device.close();
    });
  }
});

/** 64 for each name in a program's type. */
function sizesOf({ type }: Pick<Program, 'type'>): Record<string, number> {
  return Object.fromEntries([...type.matchAll(/_([a-z])/g)].map(([, name]) => [name!, 64]));
}
