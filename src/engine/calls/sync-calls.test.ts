/** Calls on the calling thread where host code does not see the device's memory: OpenCL, and CUDA on a simulated GPU. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { relativeError, tolerance } from '../../../test/support/accuracy.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { noOpenCl, openOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { complaints, expectedOf } from '../../../test/support/transforms.ts';
import { noWebGpu, openWebGpu } from '../../../test/support/webgpu.ts';
import { Device } from '../device.ts';
import type { Plan } from '../plan.ts';

const random = randomFor('engine/sync-calls');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());
const ILLEGAL_ADDRESS = 700;

const signal = (points: number) => new Float32Array(uniform(random, 2 * points, 'single'));

function expectTransform(plan: Plan, input: Float32Array, output: Float32Array): void {
  const { hi, lo } = expectedOf(plan.problem, 'forward', Float64Array.from(input));
  expect(relativeError(output, hi, lo)).toBeLessThanOrEqual(tolerance('single', plan.problem.size[0] as number));
}

const devices: [string, boolean, () => Promise<Device>][] = [
  ['a simulated GPU', simulator !== undefined, async () => new Device(await (simulator as Simulator).open())],
  ['OpenCL', noOpenCl === undefined, () => openOpenCl()],
];

describe.each(devices.filter(([, there]) => there))('on %s', (_name, _there, open) => {
  let device: Device;
  beforeEach(async () => {
    device = await open();
  });
  afterEach(() => device.close());

  it.each([
    { size: [60], batches: 3 },
    { size: [16, 12], layout: { input: 'planar', output: 'planar' } },
    { size: [64], placement: 'in-place', strides: { input: [1, 3, 200], output: [1, 3, 200] }, batches: 2 },
    { size: [48], strides: { output: [1, 2, 100] }, offsets: { output: 5 }, batches: 2, normalize: true },
    { size: [8192], precision: 'double' },
  ] as const)('%j, on host arrays and on device memory', async (problem) => {
    expect(await complaints(device, problem, random, ['host-sync', 'alloc-sync', 'host', 'host-sync'])).toEqual([]);
  });

  it('are over when they return', async () => {
    const plan = await device.plan({ size: [256] });
    for (let round = 0; round < 3; round++) {
      const [x, y] = [signal(256), new Float32Array(512)];
      expect(plan.forwardSync(x, y)).toBe(y);
      expectTransform(plan, x, y);
      const back = plan.inverseSync(y);
      expect(
        relativeError(
          back,
          x.map((value) => 256 * value),
        ),
      ).toBeLessThan(1e-5);
    }
  });

  it('come after calls that are still running', async () => {
    const plan = await device.plan({ size: [1024], normalize: true });
    const x = signal(1024);
    const [a, b, c] = [0, 1, 2].map(() => device.alloc(plan.input.bytes)) as [Memory, Memory, Memory];
    const waiting = [plan.forward(x, a), plan.forward(x), plan.inverse(a, b), plan.forward(b, c)];
    const host = plan.inverseSync(c, new Float32Array(2048));
    expect(relativeError(host, x)).toBeLessThan(1e-5);
    const other = signal(1024);
    expectTransform(plan, other, plan.forwardSync(other));
    expectTransform(plan, x, (await Promise.all(waiting))[1] as Float32Array);
  });

  it('are refused for arrays that an earlier call has yet to write', async () => {
    const plan = await device.plan({ size: [32] });
    const [x, y, z] = [signal(32), new Float32Array(64), new Float32Array(64).fill(7)];
    const waiting = plan.forward(x, y);
    expect(await codeOf(() => plan.inverseSync(y, z))).toBe('aliased-buffers');
    await waiting;
    // `codeOf` waits: what comes next is another call in flight.
    const again = plan.forward(x, y);
    expect(() => plan.forwardSync(z, y)).toThrow(/await that call first/);
    expect(new Set(z)).toEqual(new Set([7]));
    await again;
    expect(
      relativeError(
        plan.inverseSync(y, z),
        x.map((value) => 32 * value),
      ),
    ).toBeLessThan(1e-5);
  });

  it('a call that waits for an earlier one is waited for as well', async () => {
    const plan = await device.plan({ size: [32] });
    const [x, y, z] = [signal(32), new Float32Array(64), new Float32Array(64)];
    const chain = [plan.forward(x, y), plan.inverse(y, z), plan.forward(z)] as const;
    expect(() => plan.forwardSync(z)).toThrow(/await that call first/);
    const last = (await Promise.all(chain))[2];
    expectTransform(plan, x, y);
    expectTransform(plan, z, last);
  });

  it('are refused for what calls that wait are refused for', async () => {
    const plan = await device.plan({ size: [32] });
    const x = signal(32);
    const y = new Float32Array(64).fill(7);
    expect(await codeOf(() => plan.forwardSync(x, new Float32Array(63)))).toBe('wrong-length');
    expect(await codeOf(() => plan.forwardSync(x, x))).toBe('aliased-buffers');
    const memory = device.alloc(plan.input.bytes);
    memory.free();
    expect(await codeOf(() => plan.forwardSync(memory, y))).toBe('destroyed');
    plan.destroy();
    expect(await codeOf(() => plan.forwardSync(x, y))).toBe('destroyed');
    expect(new Set(y)).toEqual(new Set([7]));
  });
});

it.skipIf(noWebGpu)('WebGPU, which cannot be waited for, refuses them by name', async () => {
  const device = await openWebGpu();
  const plan = await device.plan({ size: [16] });
  const y = new Float32Array(32).fill(7);
  expect(await codeOf(() => plan.forwardSync(signal(16), y))).toBe('unsupported-feature');
  expect(new Set(y)).toEqual(new Set([7]));
  device.close();
});

describe.runIf(simulator)('failures of a simulated GPU', () => {
  const sim = simulator as Simulator;
  let device: Device;
  beforeEach(async () => {
    device = new Device(await sim.open());
  });
  afterEach(() => {
    sim.lose(0);
    device.close();
    const { memory, host, streams, events, graphs, faults } = sim.counts();
    expect([memory, host, streams, events, graphs, faults]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it.each(['cuMemcpyHtoDAsync_v2', 'cuLaunchKernel', 'cuMemcpyDtoHAsync_v2'])(
    '%s: nothing is written',
    async (name) => {
      const plan = await device.plan({ size: [64], layout: { output: 'planar' } });
      const x = signal(64);
      const planes = { re: new Float32Array(64).fill(7), im: new Float32Array(64).fill(7) };
      sim.failNext(name, 1);
      expect(() => plan.forwardSync(x, planes)).toThrow(`CUDA_ERROR_INVALID_VALUE (1) from ${name}`);
      expect(new Set([...planes.re, ...planes.im])).toEqual(new Set([7]));
      plan.forwardSync(x, planes);
      const packed = Float32Array.from({ length: 128 }, (_, i) => (i % 2 ? planes.im : planes.re)[i >> 1] as number);
      expectTransform(plan, x, packed);
    },
  );

  it('a device that is lost is said to be', async () => {
    const plan = await device.plan({ size: [64] });
    const [x, y] = [signal(64), new Float32Array(128).fill(7)];
    plan.forwardSync(x, new Float32Array(128));
    sim.lose(ILLEGAL_ADDRESS);
    for (let n = 0; n < 2; n++) expect(await codeOf(() => plan.forwardSync(x, y))).toBe('device-lost');
    expect(new Set(y)).toEqual(new Set([7]));
  });

  it('arrays that are larger than all staging memory go through in pieces', async () => {
    const batches = 11 * 2 ** 18;
    const plan = await device.plan({ size: [2], batches, directions: 'forward' });
    const x = new Float32Array(4 * batches).map((_, i) => i % 4099);
    const y = plan.forwardSync(x);
    const wrong: number[] = [];
    for (let i = 0; i < x.length; i += 4) {
      if (y[i] !== x[i]! + x[i + 2]! || y[i + 3] !== x[i + 1]! - x[i + 3]!) wrong.push(i);
    }
    expect(wrong).toEqual([]);
  });
});

type Memory = ReturnType<Device['alloc']>;
