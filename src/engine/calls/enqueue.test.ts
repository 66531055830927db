/** `enqueue` remembers the memory of its last call: what it takes for the same must be the same. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { expectedOf } from '../../../test/support/transforms.ts';
import { type Device, type DeviceMemory, openDevice, type Plan } from '../index.ts';
import type { MemoryOptions } from './enqueue.ts';

const random = randomFor('engine/calls/enqueue');
const N = 20;
const BYTES = 8 * N;

let device: Device;
beforeEach(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterEach(() => device.close());

const signal = () => new Float32Array(uniform(random, 2 * N, 'single'));

function expectForward(plan: Plan, x: Float32Array, y: Float32Array): void {
  const { hi, lo } = expectedOf(plan.problem, 'forward', Float64Array.from(x));
  expect(relativeError(y, hi, lo)).toBeLessThanOrEqual(tolerance('single', N));
}

/** Memory as `enqueue` takes it, and what of the whole it shows. */
interface Place {
  readonly memory: DeviceMemory | Float32Array;
  readonly offset: number;
  readonly shown: Float32Array;
}

it('goes to the memory that each call names: the whole, views of it and offsets in it', async () => {
  const plan = await device.plan({ size: [N], directions: 'forward' });
  const [from, to] = [device.alloc(4 * BYTES), device.alloc(4 * BYTES)];
  const places = (memory: DeviceMemory): Place[] => {
    const part = (at: number) => memory.float32.subarray(2 * N * at, 2 * N * (at + 1));
    return [
      { memory, offset: 0, shown: part(0) },
      { memory, offset: N, shown: part(1) },
      { memory: part(2), offset: 0, shown: part(2) },
      { memory: part(3), offset: 0, shown: part(3) },
    ];
  };
  for (let round = 0; round < 100; round++) {
    const [source, target] = [random.pick(places(from)), random.pick(places(to))];
    const x = signal();
    source.shown.set(x);
    to.float32.fill(0);
    const offsets = { input: source.offset, output: target.offset };
    await plan.enqueue('forward', { input: source.memory, output: target.memory, offsets });
    expectForward(plan, x, target.shown);
    expect(to.float32.filter((value) => value !== 0).length).toBeLessThanOrEqual(2 * N);
  }
});

it('takes a temp of the size that the plan names, with `work` too', async () => {
  for (const problem of [
    { size: [2 ** 18, 2], preserveInput: false },
    { size: [1024, 16], preserveInput: false, tuning: { uploadSwitch: { two: 64 } } },
  ]) {
    const plan = await device.plan(problem);
    const { temp: bytes, work: workBytes } = plan.bytes;
    const [input, output] = [device.alloc(plan.output.bytes), device.alloc(plan.input.bytes)];
    const [work, temp] = [device.alloc(workBytes), device.alloc(Math.max(4, bytes))];
    input.float32.fill(0)[0] = 1;
    await plan.enqueue('inverse', { input, output, work, temp });
    expect(output.float32.every((value, i) => value === (i % 2 === 0 ? 1 : 0))).toBe(true);
    expect(plan.bytes.temp).toBe(bytes);
    plan.destroy();
    for (const memory of [input, output, work, temp]) memory.free();
  }
});

it('sees other planes in the same object', async () => {
  const plan = await device.plan({ size: [N], layout: 'planar', directions: 'forward' });
  const make = () => device.alloc(BYTES / 2);
  const [a, b] = [make(), make()];
  a.float32.set(uniform(random, N, 'single'));
  b.float32.set(uniform(random, N, 'single'));
  const packed = (re: DeviceMemory, im: DeviceMemory) =>
    Float32Array.from({ length: 2 * N }, (_, i) => (i % 2 ? im : re).float32[i >> 1]!);
  const planes = { re: a, im: b };
  const output = { re: make(), im: make() };
  for (const [re, im] of [
    [a, b],
    [b, a],
    [b, a],
  ] as const) {
    Object.assign(planes, { re, im });
    await plan.enqueue('forward', { input: planes, output });
    expectForward(plan, packed(re, im), packed(output.re, output.im));
  }
  planes.im = planes.re;
  expect(await codeOf(() => plan.enqueue('forward', { input: planes, output: { re: b, im: b } }))).toBe(
    'aliased-buffers',
  );
});

it('takes either side of an in-place plan for both, and not two', async () => {
  const plan = await device.plan({ size: [N], placement: 'in-place', directions: 'forward' });
  const [a, b] = [device.alloc(BYTES), device.alloc(BYTES)];
  for (const options of [{ input: a }, { output: a }, { input: a, output: a }, { output: b }, { input: a }]) {
    const memory = 'input' in options ? options.input : options.output;
    const x = signal();
    memory.float32.set(x);
    await plan.enqueue('forward', options);
    expectForward(plan, x, memory.float32.subarray(0, 2 * N));
  }
  expect(await codeOf(() => plan.enqueue('forward', { input: a, output: b }))).toBe('aliased-buffers');
});

it('refuses what it would have refused at first', async () => {
  const plan = await device.plan({ size: [N], directions: 'forward' });
  const [input, output, other] = [device.alloc(BYTES), device.alloc(BYTES), device.alloc(BYTES)];
  const work = device.alloc(plan.bytes.work);
  const temp = device.alloc(Math.max(plan.bytes.temp, 256));
  const good: MemoryOptions<DeviceMemory, DeviceMemory>[] = [
    { input, output },
    { input, output, work },
    { input, output, temp },
  ];
  const cases: [object, string][] = [
    [{ input, output: input }, 'aliased-buffers'],
    [{ input }, 'missing-buffer'],
    [{ input, output, work: input }, 'aliased-buffers'],
    [{ input, output, work: new Float32Array(2 * N) }, 'foreign-buffer'],
    [{ input, output, work: null }, 'foreign-buffer'],
    [{ input, output: new Float32Array(2 * N) }, 'foreign-buffer'],
    [{ input, output: { re: output, im: other } }, 'wrong-array-type'],
    [{ input, output, offsets: { input: 1 } }, 'buffer-too-small'],
    [{ input, output, offsets: { input: -1 } }, 'invalid-argument'],
    [{ input, output, offset: 1 }, 'unknown-field'],
    [{ input, output, encoder: {} }, 'unsupported-feature'],
  ];
  for (const options of good) {
    for (const [wrong, code] of cases) {
      await plan.enqueue('forward', options);
      expect([code, await codeOf(() => plan.enqueue('forward', wrong as never))]).toEqual([code, code]);
    }
  }
  for (const wrong of [null, 3]) {
    expect(await codeOf(() => plan.enqueue('forward', wrong as never))).toBe('invalid-argument');
  }
  await plan.enqueue('forward', { input, output: other });
  other.free();
  expect(() => plan.enqueue('forward', { input, output: other })).toThrow('output has been freed');
  await plan.enqueue('forward', { input, output });
  plan.destroy();
  expect(await codeOf(() => plan.enqueue('forward', { input, output }))).toBe('destroyed');
});
