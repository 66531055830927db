/** What a plan refuses, by code; whatever is refused leaves every buffer as it was. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openUnseen } from '../../test/support/gate.ts';
import { changedOutside, poison, snapshot } from '../../test/support/poison.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { uploads } from '../../test/support/schemes.ts';
import { FftError, type FftErrorCode } from '../problem/index.ts';
import { Device, type DeviceMemory, openDevice } from './index.ts';
import { openCpuSync } from './open-sync.ts';

const random = randomFor('engine/refusals');
const N = 48;

/** The code of the error that a call throws or rejects with; it has to be an `FftError` that explains itself. */
async function codeOf(call: () => unknown): Promise<FftErrorCode | undefined> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    const { code, message, problems } = error as FftError;
    expect(message).toMatch(/^\S.{15,}/);
    expect(problems[0]).toMatchObject({ code, message: expect.stringMatching(/./) });
    return code;
  }
  return undefined;
}

const signal = (): Float32Array => new Float32Array(uniform(random, 2 * N, 'single'));
const blank = (length = 2 * N): Float32Array => poison(new Float32Array(length));

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) => Buffer.from(buffer, byteOffset, byteLength);

let device: Device;
beforeEach(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterEach(() => device.close());

/** Expects a call to be refused in all three ways of making it, with the watched arrays untouched. */
async function refused(
  code: FftErrorCode,
  plan: Awaited<ReturnType<Device['plan']>>,
  input: unknown,
  output: unknown,
  watched: readonly (Float32Array | Float64Array | Uint16Array | Uint32Array)[],
  direction: 'forward' | 'inverse' = 'forward',
): Promise<void> {
  const before = watched.map(snapshot);
  const [from, to] = [input as Float32Array, output as Float32Array | undefined];
  expect(await codeOf(() => plan[direction](from, to))).toBe(code);
  expect(await codeOf(() => plan[`${direction}Sync`](from, to))).toBe(code);
  watched.forEach((array, n) => expect(changedOutside(array, before[n] as Uint8Array)).toEqual([]));
}

describe('arrays that do not fit', () => {
  it('wrong types', async () => {
    const plan = await device.plan({ size: [N] });
    const [x, y] = [signal(), blank()];
    for (const wrong of [
      new Float64Array(2 * N),
      new Int32Array(2 * N),
      Array.from(x),
      x.buffer,
      new DataView(x.buffer),
      null,
      undefined,
      7,
      'signal',
      {},
      { re: x, im: x },
    ]) {
      await refused('wrong-array-type', plan, wrong, y, [x, y]);
      // No output at all means a new array.
      if (wrong !== undefined && wrong !== null) await refused('wrong-array-type', plan, x, wrong, [x, y]);
    }
    const double = await device.plan({ size: [N], precision: 'double' });
    await refused('wrong-array-type', double, x, undefined, [x]);
    const planar = await device.plan({ size: [N], layout: { output: 'planar' } });
    const half = blank(N);
    await refused('wrong-array-type', planar, x, y, [x, y]);
    await refused('wrong-array-type', planar, x, { re: half, im: new Float64Array(N) }, [x, half]);
    await refused('wrong-array-type', planar, x, { re: half, im: undefined }, [x, half]);
  });

  it('wrong lengths', async () => {
    const plan = await device.plan({ size: [N] });
    const [x, y] = [signal(), blank()];
    for (const length of [0, 1, N, 2 * N - 1, 2 * N + 1, 2 * N + 2]) {
      await refused('wrong-length', plan, new Float32Array(length), y, [y]);
      await refused('wrong-length', plan, x, new Float32Array(length), [x]);
    }
    const planar = await device.plan({ size: [N], layout: 'planar' });
    const good = { re: blank(N), im: blank(N) };
    await refused('wrong-length', planar, { re: good.re, im: blank(N + 1) }, good, [good.re, good.im]);
    const gaps = await device.plan({ size: [N], strides: { input: [1, 2, 2 * N] }, offsets: { input: 3 } });
    expect(gaps.input.length).toBe(3 + 2 * (N - 1) + 1);
    await refused('wrong-length', gaps, x, y, [x, y]);
  });

  it('numbers that were meant as something else, saying what takes them', async () => {
    const [complex, real] = [await device.plan({ size: [N] }), await device.plan({ size: [N], transform: 'r2c' })];
    const says = (plan: typeof complex | typeof real, x: unknown) =>
      plan.forward(x as Float32Array).then(String, ({ message }: FftError) => message);
    expect(await says(complex, new Float32Array(N))).toMatch(
      `${2 * N}, re and im of ${N} complex numbers; ${N} reals are for`,
    );
    expect(await says(complex, new Float32Array(N + 1))).toMatch(/complex numbers\.$/);
    expect(await says(complex, new Float64Array(2 * N))).toMatch("precision 'double' for a Float64Array");
    expect(await says(real, new Float32Array(2 * N))).toMatch(`exactly ${N}.`);
  });

  it('detached arrays, as input or output', async () => {
    const plan = await device.plan({ size: [N] });
    const [x, y] = [signal(), blank()];
    const gone = signal();
    structuredClone(gone.buffer, { transfer: [gone.buffer as ArrayBuffer] });
    await refused('detached-array', plan, gone, y, [y]);
    await refused('detached-array', plan, x, gone, [x]);
  });

  it('an array that is detached while its call waits, but not where the call is over before it is awaited', async () => {
    const unseen = new Device(openUnseen());
    for (const [on, expected] of [
      [unseen, [undefined, 'detached-array', undefined, undefined]],
      [device, [undefined, undefined, undefined, undefined]],
    ] as const) {
      const plan = await on.plan({ size: [N] });
      const [x, y, read, written] = [signal(), blank(), signal(), blank()];
      const calls = [plan.forward(x, y), plan.forward(x, written), plan.forward(read, blank())];
      calls.push(plan.forward(x, blank()));
      const [moved] = [written, read].map((array) =>
        structuredClone(array, { transfer: [array.buffer as ArrayBuffer] }),
      );
      // What has been read already is not missed.
      expect(await Promise.all(calls.map((call) => codeOf(() => call)))).toEqual(expected);
      if (on === device) expect(Array.from(moved!)).toEqual(Array.from(y));
    }
    unseen.close();
  });

  it('takes arrays over shared memory like any other', async () => {
    const plan = await device.plan({ size: [N] });
    const x = signal();
    const shared = () => new Float32Array(new SharedArrayBuffer(8 * N));
    const [input, output] = [shared(), shared()];
    input.set(x);
    const want = await plan.forward(x, blank());
    await plan.forward(input, output);
    expect(Array.from(output)).toEqual(Array.from(want));
    output.fill(0);
    plan.forwardSync(input, output);
    expect(Array.from(output)).toEqual(Array.from(want));
  });
});

describe('memory that overlaps', () => {
  it('out of place, in whole or in part', async () => {
    const plan = await device.plan({ size: [N] });
    const pool = blank(6 * N);
    const at = (start: number) => pool.subarray(start, start + 2 * N);
    await refused('aliased-buffers', plan, at(0), at(0), [pool]);
    await refused('aliased-buffers', plan, at(0), at(2 * N - 1), [pool]);
    await refused('aliased-buffers', plan, at(7), at(0), [pool]);
    await refused('aliased-buffers', plan, at(0), at(2 * N - 1), [pool], 'inverse');
    const memory = device.alloc(plan.input.bytes + 64);
    await refused('aliased-buffers', plan, memory, memory, []);
    const view = memory.float32;
    await refused('aliased-buffers', plan, view.subarray(0, 2 * N), view.subarray(2, 2 * N + 2), [view]);
    expect(await codeOf(() => plan.enqueue('forward', { input: memory, output: memory }))).toBe('aliased-buffers');
  });

  it('neighbours that only touch are fine', async () => {
    const plan = await device.plan({ size: [N] });
    const pool = new Float32Array(4 * N);
    pool.set(signal());
    const want = await plan.forward(pool.slice(0, 2 * N), blank());
    await plan.forward(pool.subarray(0, 2 * N), pool.subarray(2 * N));
    expect(Array.from(pool.subarray(2 * N))).toEqual(Array.from(want));
  });

  it.each([N, 2 ** 17])('both sides of %i points in one allocation, apart by their offsets, are fine', async (size) => {
    const offsets = { input: size, output: 0 };
    const plan = await device.plan({ size: [size], offsets, preserveInput: true });
    const x = new Float32Array(uniform(random, 2 * size, 'single'));
    const want = await (await device.plan({ size: [size] })).forward(x, new Float32Array(2 * size));
    const pool = poison(new Float32Array(4 * size));
    const shared = pool.subarray(0, 2 * size);
    const memory = device.alloc(pool.byteLength);
    for (const [input, output, all] of [
      [pool, shared, pool],
      [memory, memory, memory.float32],
    ] as const) {
      for (const call of [
        () => plan.forward(input, output),
        () => plan.forwardSync(input, output),
        ...(input === memory ? [() => plan.enqueue('forward', { input: memory, output: memory })] : []),
      ]) {
        all.set(x, 2 * size);
        poison(all.subarray(0, 2 * size));
        await call();
        await device.finish();
        expect(Buffer.compare(bytesOf(all.subarray(0, 2 * size)), bytesOf(want))).toBe(0);
        expect(Buffer.compare(bytesOf(all.subarray(2 * size)), bytesOf(x))).toBe(0);
      }
    }
    const close = await device.plan({ size: [size], offsets: { input: size - 1, output: 0 } });
    await refused('aliased-buffers', close, pool.subarray(0, 4 * size - 2), shared, [pool]);
    await refused('aliased-buffers', close, memory, memory, [memory.float32]);
  });

  it('planes of one side', async () => {
    const plan = await device.plan({ size: [N], layout: { output: 'planar' } });
    const [x, plane] = [signal(), blank(2 * N)];
    const parts = { re: plane.subarray(0, N), im: plane.subarray(N - 1, 2 * N - 1) };
    await refused('aliased-buffers', plan, x, parts, [x, plane]);
    await refused('aliased-buffers', plan, x, { re: parts.re, im: x.subarray(4, 4 + N) }, [x, plane]);
    const inPlace = await device.plan({ size: [N], layout: 'planar', placement: 'in-place' });
    await refused('aliased-buffers', inPlace, parts, undefined, [plane]);
    // Another placement would not help.
    expect(() => inPlace.forwardSync(parts)).toThrow(/share memory; give them memory of their own\.$/);
  });

  it('the same planes in place are one place, whatever holds them', async () => {
    const plan = await device.plan({ size: [N], layout: 'planar', placement: 'in-place' });
    const [re, im] = [blank(N).fill(1), blank(N).fill(0)];
    await plan.forward({ re, im }, { re, im });
    plan.forwardSync({ re, im }, { re, im });
    expect(re[0]).toBe(N);
    await refused('aliased-buffers', plan, { re, im }, { re: im, im: re }, [re, im]);
    await refused('aliased-buffers', plan, { re, im }, { re, im: blank(N) }, [re, im]);
  });

  it('two arrays in place', async () => {
    const plan = await device.plan({ size: [N], placement: 'in-place' });
    const [x, y] = [signal(), blank()];
    await refused('aliased-buffers', plan, x, y, [x, y]);
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.input.bytes)];
    expect(await codeOf(() => plan.enqueue('forward', { input: a, output: b }))).toBe('aliased-buffers');
  });
});

describe('what is gone or belongs to somebody else', () => {
  it('a destroyed plan', async () => {
    const plan = await device.plan({ size: [N] });
    const [x, y] = [signal(), blank()];
    await plan.forward(x, y);
    plan.destroy();
    plan.destroy();
    y.fill(5);
    await refused('destroyed', plan, x, y, [x, y]);
    for (const call of [
      () => plan.explain(),
      () => plan.toJSON(),
      () => plan.serialize(),
      () => plan.enqueue('forward', {}),
    ]) {
      expect(await codeOf(call)).toBe('destroyed');
    }
  });

  it('a plan that is destroyed while calls wait', async () => {
    const plan = await device.plan({ size: [N] });
    const [x, y] = [signal(), blank()];
    const [alone, untouched] = [plan.forwardSync(x), y.slice()];
    const calls = [1, 2, 3].map(() => plan.forward(x, y));
    plan.destroy();
    const codes = await Promise.all(calls.map((call) => codeOf(() => call)));
    // What was submitted before may have run; nothing else may have happened.
    expect(codes.every((code) => code === undefined || code === 'destroyed')).toBe(true);
    expect(y).toEqual(codes.includes(undefined) ? alone : untouched);
    await refused('destroyed', plan, signal(), y, [y]);
    expect(await codeOf(() => plan.kernels)).toBe('destroyed');
  });

  it('values that have no name in a message', async () => {
    const plan = await device.plan({ size: [N] });
    for (const odd of [Object.create(null), Symbol('x'), { toString: null }]) {
      expect(await codeOf(() => device.alloc(odd as never))).toBe('invalid-argument');
      expect(await codeOf(() => plan.enqueue(odd as never, {}))).toBe('invalid-argument');
      expect(await codeOf(() => openDevice(odd as never))).toBe('unknown-device');
      expect(await codeOf(() => plan.measure('forward', { repeats: odd as never }))).toBe('invalid-argument');
    }
  });

  it('a closed device', async () => {
    const plan = await device.plan({ size: [N] });
    const memory = device.alloc(64);
    const [x, y] = [signal(), blank()];
    device.close();
    device.close();
    await refused('destroyed', plan, x, y, [x, y]);
    expect(await codeOf(() => memory.array)).toBe('destroyed');
    expect(await codeOf(() => device.plan({ size: [N] }))).toBe('device-closed');
    expect(await codeOf(() => device.alloc(64))).toBe('device-closed');
    expect(await codeOf(() => device.finish())).toBe('device-closed');
  });

  it('memory that was freed', async () => {
    const plan = await device.plan({ size: [N] });
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    await plan.forward(a, b);
    plan.forwardSync(a, b);
    b.free();
    b.free();
    const array = a.array as Float32Array;
    await refused('destroyed', plan, a, b, [array]);
    await refused('destroyed', plan, b, a, [array]);
    expect(await codeOf(() => plan.enqueue('forward', { input: a, output: b }))).toBe('destroyed');
    for (const view of ['array', 'float32', 'float64'] as const) expect(await codeOf(() => b[view])).toBe('destroyed');
  });

  it('memory that is freed while its call waits', async () => {
    const plan = await device.plan({ size: [N] });
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    const calls = [plan.forward(a, b), plan.forward(a, b)];
    b.free();
    const codes = await Promise.all(calls.map((call) => codeOf(() => call)));
    expect(codes.every((code) => code === undefined || code === 'destroyed')).toBe(true);
    expect(await codeOf(() => plan.forward(a, b))).toBe('destroyed');
  });

  it('memory of another device', async () => {
    const other = await openDevice('cpu', { threads: 1 });
    try {
      const plan = await device.plan({ size: [N] });
      const [mine, foreign] = [device.alloc(plan.input.bytes), other.alloc(plan.input.bytes)];
      const watched = [mine.array, foreign.array];
      await refused('foreign-buffer', plan, foreign, mine, watched);
      await refused('foreign-buffer', plan, mine, foreign, watched);
      // A view of it is a host array like any other.
      (mine.array as Float32Array).set(signal());
      await plan.forward(mine, foreign.array as Float32Array);
      expect((foreign.array as Float32Array).subarray(0, 2 * N).every(Number.isFinite)).toBe(true);
      const enqueue = (options: object) => codeOf(() => plan.enqueue('forward', options));
      expect(await enqueue({ input: foreign, output: mine })).toBe('foreign-buffer');
      expect(await enqueue({ input: signal(), output: mine })).toBe('foreign-buffer');
      expect(await enqueue({ input: mine, output: device.alloc(8 * N), temp: foreign })).toBe('foreign-buffer');
      expect(await enqueue({ input: mine, output: device.alloc(8 * N), work: blank() })).toBe('foreign-buffer');
      expect(await enqueue({ input: mine, output: device.alloc(8 * N), work: 'work' })).toBe('foreign-buffer');
    } finally {
      other.close();
    }
  });

  it('a direction that was not planned', async () => {
    const [x, y] = [signal(), blank()];
    await refused(
      'direction-not-planned',
      await device.plan({ size: [N], directions: 'forward' }),
      x,
      y,
      [x, y],
      'inverse',
    );
    const inverse = await device.plan({ size: [N], directions: 'inverse' });
    await refused('direction-not-planned', inverse, x, y, [x, y]);
    expect(await codeOf(() => inverse.enqueue('forward' as never, {}))).toBe('direction-not-planned');
  });
});

describe('memory that is too small, missing or not to be had', () => {
  it('device memory with too few bytes', async () => {
    const plan = await device.plan({ size: [N] });
    const [small, good] = [device.alloc(plan.input.bytes - 1), device.alloc(plan.input.bytes)];
    await refused('buffer-too-small', plan, small, good, [good.array]);
    await refused('buffer-too-small', plan, good, small, [good.array]);
  });

  it('work and temp that are too small, overlap or are gone', async () => {
    const plan = await device.plan({ size: [2 ** 17], tuning: { uploadSwitch: { three: 2 ** 17 } } });
    expect(plan.bytes.temp).toBeGreaterThan(0);
    const { bytes } = plan.input;
    const pool = device.alloc(6 * bytes);
    const at = (start: number, length = bytes / 4) => pool.float32.subarray(start / 4, start / 4 + length);
    const [input, output] = [at(0), at(bytes)];
    const before = snapshot(pool.float32);
    const enqueue = (options: object) => codeOf(() => plan.enqueue('forward', { input, output, ...options }));
    expect(await enqueue({ temp: at(2 * bytes, plan.bytes.temp / 4 - 1) })).toBe('buffer-too-small');
    expect(await enqueue({ work: at(2 * bytes, bytes / 4 - 1) })).toBe('buffer-too-small');
    expect(await enqueue({ temp: at(bytes / 2, plan.bytes.temp / 4) })).toBe('aliased-buffers');
    expect(await enqueue({ temp: at(2 * bytes - 4, plan.bytes.temp / 4) })).toBe('aliased-buffers');
    expect(await enqueue({ work: at(bytes - 4) })).toBe('aliased-buffers');
    expect(await enqueue({ work: at(4), temp: at(2 * bytes, plan.bytes.temp / 4) })).toBe('aliased-buffers');
    const gone = device.alloc(bytes);
    gone.free();
    expect(await enqueue({ temp: gone })).toBe('destroyed');
    expect(await enqueue({ work: gone })).toBe('destroyed');
    expect(changedOutside(pool.float32, before)).toEqual([]);
    expect(await enqueue({ work: at(2 * bytes), temp: at(3 * bytes, plan.bytes.temp / 4) })).toBe(undefined);
  });

  it('enqueue without buffers', async () => {
    const plan = await device.plan({ size: [N] });
    const memory = device.alloc(plan.input.bytes);
    expect(await codeOf(() => plan.enqueue('forward', {}))).toBe('missing-buffer');
    expect(await codeOf(() => plan.enqueue('forward', { input: memory }))).toBe('missing-buffer');
    expect(await codeOf(() => plan.enqueue('forward', { output: memory }))).toBe('missing-buffer');
  });

  it.each([0, -8, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, '8', undefined])('alloc(%s)', async (bytes) => {
    expect(await codeOf(() => device.alloc(bytes as number))).toBe('invalid-argument');
  });

  it('alloc for an unknown precision', async () => {
    expect(await codeOf(() => device.alloc(64, 'quad' as 'single'))).toBe('invalid-argument');
  });

  it('options that cannot be read by their names', async () => {
    for (const none of [new Map([['threads', 1]]), [], Promise.resolve({ threads: 1 }), new Date(0)]) {
      expect(await codeOf(() => openDevice('cpu', none as object))).toBe('invalid-argument');
      expect(await codeOf(() => device.plan('scfo16', none as object))).toBe('invalid-argument');
    }
  });

  it('more memory than there is', async () => {
    expect(await codeOf(() => device.alloc(2 ** 40))).toBe('out-of-memory');
    const hoard: DeviceMemory[] = [];
    for (let bytes = 2 ** 31; bytes >= 4096; bytes = Math.floor(bytes / 2)) {
      while ((await codeOf(() => hoard.push(device.alloc(bytes)))) === undefined);
    }
    const plan = await device.plan({ size: [N], batches: 64 }).catch((error: unknown) => error);
    const failed =
      plan instanceof FftError
        ? plan.code
        : await codeOf(() => (plan as { forward(x: unknown): unknown }).forward(new Float32Array(128 * N)));
    expect(failed).toBe('out-of-memory');
    for (const memory of hoard) memory.free();
    const again = await device.plan({ size: [N] });
    expect((await again.forward(signal())).every(Number.isFinite)).toBe(true);
  });
});

describe('opening devices', () => {
  it.each([0, -1, 1.5, Number.NaN, 100_000, '2', null])('refuses %s threads', async (threads) => {
    expect(await codeOf(() => openDevice('cpu', { threads: threads as number }))).toBe('invalid-argument');
  });

  it('refuses kinds that do not exist or are not there', async () => {
    expect(await codeOf(() => openDevice('abacus' as 'cpu'))).toBe('unknown-device');
    expect(await codeOf(() => openDevice('cpu', { thread: 1 } as object))).toBe('unknown-field');
    expect(await codeOf(() => openDevice('auto', [] as object))).toBe('invalid-argument');
    expect(await codeOf(() => openCpuSync({ threads: 4 } as never))).toBe('unknown-field');
    expect(await codeOf(() => openDevice('hip'))).toBe('device-unavailable');
  });
});

describe('saved plans', () => {
  const problem = { size: [360, 8], normalize: true, directions: 'both' } as const;

  it('plan again without planning, with the same results', async () => {
    const plan = await device.plan(problem);
    const text = plan.serialize();
    const x = new Float32Array(uniform(random, 2 * 360 * 8, 'single'));
    const want = await plan.forward(x);
    const other = await openDevice('cpu', { threads: 1 });
    try {
      const restored = await other.plan(problem, { from: text });
      expect(restored.serialize()).toBe(text);
      expect(await restored.forward(x)).toEqual(want);
    } finally {
      other.close();
    }
  });

  it('are refused when they are something else', async () => {
    const plan = await device.plan(problem);
    const text = plan.serialize();
    const saved = JSON.parse(text) as Record<string, unknown>;
    const changed = (fields: object) => JSON.stringify({ ...saved, ...fields });
    const texts = [
      ...['', 'null', '7', '[]', '{}'],
      text.slice(0, -5),
      changed({ format: 'omnifft-plan-0' }),
      changed({ splits: undefined }),
      changed({ splits: [] }),
      changed({ splits: { axes: [null, null] } }),
      changed({ splits: { axes: [7] } }),
      changed({ splits: { axes: [{ by: 'rader' }] } }),
      changed({ splits: { axes: [{ by: 'uploads' }] } }),
      changed({ splits: { axes: [uploads(8), uploads(360)] } }),
      changed({ profile: { ...(saved.profile as object), sharedBytes: 7 } }),
      changed({ problem: null }),
    ];
    for (const from of texts)
      expect([from.slice(0, 60), await codeOf(() => device.plan(problem, { from }))]).toEqual([
        from.slice(0, 60),
        'invalid-saved-plan',
      ]);
    expect(await codeOf(() => device.plan(problem, { from: 7 as unknown as string }))).toBe('invalid-saved-plan');
    expect(await codeOf(() => device.plan({ size: [360] }, { from: text }))).toBe('invalid-saved-plan');
    const other = await openDevice('cpu', { threads: 2 });
    expect(await codeOf(() => other.plan(problem, { from: text }))).toBe('invalid-saved-plan');
    other.close();
    // A refusal leaves nothing behind.
    const x = new Float32Array(uniform(random, 2 * 360 * 8, 'single'));
    expect(await (await device.plan(problem)).forward(x)).toEqual(await plan.forward(x));
  });
});
