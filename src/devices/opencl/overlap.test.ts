/** Overlapping calls, and calls that fail late, on a device whose memory the host cannot access. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noOpenCl, openOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { Device } from '../../engine/device.ts';
import { FftError } from '../../problem/index.ts';
import type { Backend } from '../device.ts';
import { INFO, MEMORY, type OpenCl } from './api.ts';
import { create as createOpenClBackend } from './index.ts';
import { ClAllocator } from './memory.ts';

const random = randomFor('opencl overlap');
const noise = (count: number) => Float32Array.from(uniform(random, count, 'single'));

describe.skipIf(noOpenCl)('overlapping calls on OpenCL', () => {
  let device: Device;
  beforeAll(async () => {
    device = await openOpenCl();
  });
  afterAll(() => device?.close());

  it('see what the calls before them wrote into the same host array', async () => {
    const plan = await device.plan({ size: [64], placement: 'in-place' });
    const data = noise(128);
    const before = data.slice();
    await Promise.all([plan.forward(data), plan.inverse(data)]);
    for (const [n, value] of data.entries()) expect(value).toBeCloseTo(64 * before[n]!, 3);
    plan.destroy();
  });

  it('leave alone what others write between their elements', async () => {
    const strides = { output: [1, 2, 128] };
    const even = await device.plan({ size: [64], strides });
    const odd = await device.plan({ size: [64], strides, offsets: { output: 1 } });
    const [x, y] = [noise(128), noise(128)];
    const apartX = (await even.forward(x)) as Float32Array;
    const apartY = (await odd.forward(y)) as Float32Array;
    const both = new Float32Array(256);
    await Promise.all([even.forward(x, both.subarray(0, even.output.length * 2)), odd.forward(y, both)]);
    for (let n = 0; n < 64; n++) {
      expect([both[4 * n], both[4 * n + 2]]).toEqual([apartX[4 * n], apartY[4 * n + 2]]);
    }
    even.destroy();
    odd.destroy();
  });

  it('read and write one allocation apart by offsets of the problem', async () => {
    const [plain, behind, back] = await Promise.all(
      [{}, { output: 64 }, { input: 64 }].map((offsets) => device.plan({ size: [64], offsets })),
    );
    const x = noise(128);
    const memory = device.alloc(behind!.output.bytes);
    await behind!.forward(x, memory);
    await back!.forward(memory, memory);
    const three = await plain!.forward(memory, new Float32Array(128));
    expect(three).toEqual(await plain!.forward(await plain!.forward(await plain!.forward(x))));
    expect(await back!.forward(memory, new Float32Array(128))).toEqual(await plain!.forward(await plain!.forward(x)));
    memory.free();
    for (const plan of [plain, behind, back]) plan!.destroy();
  });

  it('write nothing when they fail', async () => {
    const plan = await device.plan({ size: [64] });
    const output = new Float32Array(128).fill(7);
    await plan.forward(noise(128));
    const data = noise(128);
    const call = plan.forward(data, output);
    device.close();
    await expect(call).rejects.toThrow(FftError);
    expect(new Set(output)).toEqual(new Set([7]));
    device = await openOpenCl();
  });

  it('are refused where a table never reached the device, until it is made anew', async () => {
    const backend: Backend = await createOpenClBackend({});
    const upload = backend.upload.bind(backend);
    backend.upload = () => Promise.reject(new FftError('out-of-memory', 'no memory for a copy'));
    const other = new Device(backend);
    await expect(other.plan({ size: [4096] })).rejects.toMatchObject({ code: 'out-of-memory' });
    backend.upload = upload;
    const plan = await other.plan({ size: [4096] });
    const impulse = new Float32Array(8192);
    impulse[0] = 1;
    expect(((await plan.forward(impulse)) as Float32Array)[8190]).toBe(1);
    other.close();
  });
});

describe("a caller's cl_mem", () => {
  it('is asked anew where it lies: a handle that was released may come back for another one', () => {
    const context = 7n;
    const facts = { parent: 0n, offset: 0 };
    const numbers = new Map<number, () => number>([
      [INFO.memType, () => MEMORY.buffer],
      [INFO.memSize, () => 4096],
      [INFO.memOffset, () => facts.offset],
    ]);
    const cl = {
      number: (_: string, __: bigint, what: number) => numbers.get(what)?.() ?? 0,
      handle: (_: string, __: bigint, what: number) => (what === INFO.memContext ? context : facts.parent),
    };
    const memory = new ClAllocator(
      { cl: cl as unknown as OpenCl, context, device: 8n },
      { whenUnused: (action) => action(), drain: () => {} },
    );
    const adopt = () => memory.adopt({ clMem: 0x10000n }, 'input')!;
    const whole = adopt();
    expect(whole.stretches(0, 64)).toEqual([{ of: 0x10000n, start: 0, end: 64 }]);
    expect(adopt()).toBe(whole);
    Object.assign(facts, { parent: 0x20000n, offset: 128 });
    const part = adopt();
    expect(part.stretches(0, 64)).toEqual([{ of: 0x20000n, start: 128, end: 192 }]);
    expect(adopt()).toBe(part);
  });
});
