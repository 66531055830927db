/** What plans and devices keep alive, and for how long. */
import { afterEach, describe, expect, it } from 'vitest';
import { collect } from '../../test/support/collect.ts';
import { type Device, type DeviceMemory, openDevice, type Plan, type PlanarData } from '../index.ts';
import { openCpuSync } from './open-sync.ts';

const N = 1024;
let device: Device;
afterEach(() => device.close());

const single = (length = 2 * N) => new Float32Array(length).fill(1);
const planar = (): PlanarData<Float32Array> => ({ re: single(N), im: single(N) });

/** Whether the arrays of a call are collected while the plan lives on. The call is in `make`: nothing of it stays here. */
async function areLetGo(make: () => Promise<WeakRef<object>[]>): Promise<boolean> {
  const arrays = await make();
  await collect();
  return arrays.every((array) => array.deref() === undefined);
}

const weakly = (...arrays: object[]) => arrays.map((array) => new WeakRef(array));

describe('a plan lets go of the arrays of its last call', () => {
  it.each([1, 2])('that waits, on %i threads', async (threads) => {
    device = await openDevice('cpu', { threads });
    const plan = await device.plan({ size: [N], batches: 64 });
    const given = async () => {
      const [input, output] = [single(128 * N), single(128 * N)];
      await plan.forward(input, output);
      return weakly(input, output);
    };
    expect(await areLetGo(given)).toBe(true);
    expect(await areLetGo(async () => weakly(await plan.inverse(single(128 * N))))).toBe(true);
    plan.destroy();
  });

  it('that does not, in place and apart, planar and with gaps', async () => {
    device = await openDevice('cpu', { threads: 1 });
    const problems = [
      { size: [N] },
      { size: [N], placement: 'in-place' },
      { size: [N], strides: { input: [1, 2, 2 * N], output: [1, 2, 2 * N] } },
    ] as const;
    for (const problem of problems) {
      const plan = await device.plan(problem);
      const length = 2 * plan.input.length;
      const call = async () => {
        const input = single(length);
        return weakly(input, plan.forwardSync(input));
      };
      expect(await areLetGo(call)).toBe(true);
      // What it remembers without them serves the next call.
      const input = single(length).map((_, n) => n % 7);
      const again = plan.forwardSync<Float32Array>(input.slice());
      expect(again).toEqual(await plan.forward(input));
    }
    const plan = await device.plan({ size: [N], layout: 'planar' });
    const call = async () => {
      const [input, output] = [planar(), planar()];
      plan.forwardSync(input, output);
      plan.forwardSync(input, output);
      return weakly(input.re, input.im, output.re, output.im);
    };
    expect(await areLetGo(call)).toBe(true);
  });

  it('and takes nothing for them that is no array', async () => {
    device = await openDevice('cpu', { threads: 1 });
    const plan = await device.plan({ size: [N] });
    plan.forwardSync(single(), single());
    await collect();
    for (const wrong of [undefined, single(0)]) {
      expect(() => plan.forwardSync(wrong as never, wrong)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/wrong-length|wrong-array-type|invalid-argument/) }),
      );
    }
  });
});

describe('a closed CPU device gives its memory back while it, its plans and its memory are held', () => {
  /** Calls of every kind, so that everything that could hold the memory has had it. */
  async function use(): Promise<{ held: [Plan, DeviceMemory]; memory: WeakRef<object> }> {
    const plan = await device.plan({ size: [N], batches: 256 });
    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    input.array.fill(1);
    await plan.forward(input, output);
    await plan.forward(input.float32, output.float32);
    await plan.enqueue('inverse', { input, output });
    await plan.inverse(single(512 * N));
    plan.forwardSync(single(512 * N));
    await plan.measure('forward');
    return { held: [plan, input], memory: new WeakRef(input.array.buffer) };
  }

  it.each([1, 2, undefined])('threads: %s (undefined: opened without waiting)', async (threads) => {
    device = threads === undefined ? openCpuSync() : await openDevice('cpu', { threads });
    const { held, memory } = await use();
    const late = threads === 2 ? held[0].forward(single(512 * N)) : undefined;
    device.close();
    await late?.catch(() => undefined);
    const isGone = async () => {
      await collect();
      return memory.deref() === undefined;
    };
    await expect.poll(isGone, { timeout: 5000 }).toBe(true);
    expect(held.every((one) => one !== undefined)).toBe(true);
  });
});
