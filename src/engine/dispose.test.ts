/** What `using` and `await using` call, as compilers write it for engines that do not know them. */
import { describe, expect, it } from 'vitest';
import { planCzt } from '../signal/index.ts';
import { StftStream } from '../signal/sync.ts';
import { asyncDispose, dispose } from './arguments/memory.ts';
import { openDevice, openProfile } from './index.ts';

const destroyed = expect.objectContaining({ code: 'destroyed' });
const closed = expect.objectContaining({ code: 'device-closed' });

describe('at the end of a block', () => {
  it('plans, memory, streams and chirps are given back, once', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const plan = await device.plan({ size: [8] });
    const memory = device.alloc(64);
    const stream = new StftStream({ device, nperseg: 8 });
    const chirp = await planCzt({ n: 8, device });
    for (const one of [plan, memory, stream, chirp, plan, memory, stream, chirp])
      expect(one[dispose]()).toBe(undefined);
    await expect(plan.forward(new Float32Array(16))).rejects.toEqual(destroyed);
    expect(() => memory.array).toThrow(destroyed);
    expect(() => stream.push(new Float32Array(8), () => undefined)).toThrow(destroyed);
    await expect(chirp.transform(new Float32Array(8))).rejects.toEqual(destroyed);
    device[dispose]();
    device[dispose]();
    expect(() => device.alloc(64)).toThrow(closed);
    const profile = await openProfile('h200');
    profile[dispose]();
    await expect(profile.plan({ size: [8] })).rejects.toEqual(closed);
  });

  it('a device closes when the calls made before have ended', async () => {
    const device = await openDevice('cpu', { threads: 2 });
    const plan = await device.plan({ size: [2 ** 16], batches: 4 });
    const ended: string[] = [];
    const call = plan.forward(new Float32Array(2 ** 19).fill(1)).then((result) => {
      ended.push('call');
      return result;
    });
    await device[asyncDispose]();
    ended.push('device');
    expect((await call)[0]).toBe(2 ** 16);
    expect(ended).toEqual(['call', 'device']);
    await device[asyncDispose]();
    expect(() => device.alloc(64)).toThrow(closed);
  });

  it('has the names that engines and compilers know', () => {
    expect([dispose, asyncDispose]).toEqual([
      Symbol.dispose ?? Symbol.for('Symbol.dispose'),
      Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'),
    ]);
  });
});
