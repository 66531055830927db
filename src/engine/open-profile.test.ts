import { afterEach, describe, expect, it } from 'vitest';
import { FftError, type ProblemInput } from '../problem/index.ts';
import { type Device, type DeviceProfile, openDevice, openProfile, profileNames } from './index.ts';

const opened: Device[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});
/** As a device that could do more, to see what it refuses. */
async function open(...given: Parameters<typeof openProfile>): Promise<Device> {
  const device = (await openProfile(...given)) as Device;
  opened.push(device);
  return device;
}

async function problemsOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(FftError);
  return (error as FftError).problems.map(({ code, path }) => `${code} ${path}`.trim());
}

const own: DeviceProfile = {
  name: 'mine',
  lockstep: 'threads',
  lockstepBytes: 128,
  sharedBytes: 16384,
  coalescedBytes: 64,
  registers: 64,
  maxThreads: 128,
  multiprocessors: 4,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  banks: 32,
  groupPoints: 1024,
  passCost: 20,
};

describe('a profile', () => {
  const problems: ProblemInput[] = [
    { size: [1024], batches: 16 },
    { size: [360], placement: 'in-place' },
    { size: [2 ** 16] },
    { size: [64, 48], layout: 'planar' },
    { size: [1] },
  ];

  it('writes two launches as the one kernel that the device runs', async () => {
    const planned = async (language: 'cuda' | 'hip', tuning: ProblemInput['tuning'] = {}) =>
      (await open('h200', { language })).plan({ size: [512, 512], batches: 9, directions: 'forward', tuning });
    const together = await planned('cuda');
    expect(together.kernels).toMatchObject([{ name: 'pipelined_stockham512_stockham512', title: 'axis 0 and axis 1' }]);
    expect(together.explain()).toContain('2 launches as one, 9 chunks of batches, ');
    const apart = [planned('hip'), planned('cuda', { twiddles: 'computed' }), planned('cuda', { streams: 2 })];
    for (const plan of await Promise.all(apart)) {
      expect(plan.kernels.map(({ name }) => name)).toEqual(['stockham512', 'stockham512']);
      expect(plan.explain()).toContain('forward: 2 launches, ');
    }
  });

  it.each(profileNames)('%s plans, explains and writes kernels', async (name) => {
    const device = await open(name);
    for (const problem of problems) {
      const plan = await device.plan(problem);
      expect(plan.explain()).toContain(`on ${device.name} (${device.kind})`);
      // Roots of unity take memory, but one point has none.
      expect(plan.bytes.tables > 0).toBe(plan.input.length > 1);
      expect(plan.input.bytes).toBe(8 * plan.input.length);
      for (const { source } of plan.kernels) expect(source.length).toBeGreaterThan(0);
      const saved = plan.serialize();
      expect((await device.plan(problem, { from: saved })).serialize()).toBe(saved);
    }
  });

  it.each([
    ['h200', 'cuda', 'cuda', /^extern "C" __global__ void __launch_bounds__\(\d+(, \d+)?\) stockham1024\(/m],
    ['mi250x', 'hip', 'hip', /^extern "C" __global__ void __launch_bounds__\(\d+\) stockham1024\(/m],
    [
      'arc',
      'opencl',
      'opencl',
      /^__kernel __attribute__\(\(reqd_work_group_size\(\d+, 1, 1\)\)\) void stockham1024\(/m,
    ],
    ['webgpu-default', 'webgpu', 'wgsl', /^@compute @workgroup_size\(\d+\)\nfn stockham1024\(/m],
  ] as const)('%s has kernels for %s in %s', async (name, kind, language, head) => {
    const device = await open(name);
    expect(device.kind).toBe(kind);
    const [kernel] = (await device.plan({ size: [1024] })).kernels;
    expect(kernel!.language).toBe(language);
    expect(kernel!.source).toMatch(head);
  });

  it('wasm-cpu has WebAssembly, for the numbers that the device cpu has', async () => {
    const device = await open('wasm-cpu');
    const [kernel] = (await device.plan({ size: [1024] })).kernels;
    expect(WebAssembly.validate(kernel!.source as Uint8Array<ArrayBuffer>)).toBe(true);
    const cpu = await openDevice('cpu', { threads: 1 });
    expect(device.profile).toEqual({ ...cpu.profile, name: device.profile.name });
    // More than addresses reach, and no table is filled to find that out.
    for (const size of [[2 ** 30], [2 ** 40]])
      expect(await problemsOf(device.plan({ size }))).toEqual(['device-limit size']);
    cpu.close();
  });

  it('has the numbers that its maker gives', async () => {
    expect((await open('h200')).profile).toMatchObject({
      name: 'NVIDIA H200',
      sharedBytes: 227 * 1024,
      residentBytes: 228 * 1024,
      cluster: { blocks: 16 },
      lockstepBytes: 128,
      maxThreads: 1024,
      multiprocessors: 132,
      maxBytes: 141e9,
    });
    for (const name of ['a100', 'rtx4090', 'mi250x'] as const) {
      expect((await open(name)).profile.cluster).toBeUndefined();
    }
    expect((await open('mi250x')).profile).toMatchObject({ sharedBytes: 65536, lockstepBytes: 256 });
    expect((await open('webgpu-default')).profile).toMatchObject({ sharedBytes: 16384, maxThreads: 256 });
  });

  it('may be written for in another language', async () => {
    const heads = { cuda: '__global__', hip: '__global__', opencl: '__kernel', wgsl: '@compute', msl: '[[buffer(0)]]' };
    for (const [language, head] of Object.entries(heads)) {
      const device = await open('h200', { language: language as 'cuda' });
      expect((await device.plan({ size: [64] })).kernels[0]!.source).toContain(head);
    }
  });

  it('in place is bound once where WebGPU allows no more', async () => {
    const [kernel] = (await (await open('webgpu-default')).plan({ size: [512], placement: 'in-place' })).kernels;
    expect((kernel!.source as string).match(/var<storage, read_write>/g)).toHaveLength(1);
  });

  it('of a real device plans for that device', async () => {
    const cpu = await openDevice('cpu', { threads: 1 });
    const problem: ProblemInput = { size: [2 ** 15], batches: 2 };
    const saved = (await (await open(cpu.profile)).plan(problem)).serialize();
    const plan = await cpu.plan(problem, { from: saved });
    const input = new Float32Array(plan.input.length * 2);
    input[0] = 1;
    const output = new Float32Array(plan.output.length * 2);
    await plan.forward(input, output);
    expect(output.subarray(0, 4)).toEqual(Float32Array.of(1, 0, 1, 0));
    cpu.close();
  });

  it('of one’s own will do', async () => {
    const device = await open(own);
    expect([device.kind, device.name]).toEqual(['cuda', 'mine (profile)']);
    const [launch] = (await device.plan({ size: [1024] })).toJSON().directions[0]!.launches;
    expect(launch!.threads).toBeLessThanOrEqual(128);
  });
});

describe('what is not there', () => {
  it('cannot allocate or run, and touches nothing', async () => {
    const device = await open('h200');
    const plan = await device.plan({ size: [2 ** 14], batches: 2 });
    const input = new Float32Array(2 * plan.input.length).fill(1);
    const output = new Float32Array(2 * plan.output.length).fill(7);
    const refused = { code: 'device-unavailable', message: expect.stringContaining('profile only') };
    expect(() => device.alloc(64)).toThrow(expect.objectContaining(refused));
    await expect(plan.forward(input, output)).rejects.toMatchObject(refused);
    await expect(plan.inverse(output)).rejects.toMatchObject(refused);
    await expect(plan.measure('forward')).rejects.toMatchObject(refused);
    expect(() => plan.forwardSync(input, output)).toThrow(expect.objectContaining(refused));
    expect(output.every((value) => value === 7)).toBe(true);
    await device.finish();
  });

  it('refuses the memory of devices that are', async () => {
    const cpu = await openDevice('cpu', { threads: 1 });
    const plan = await (await open('h200')).plan({ size: [64] });
    const memory = cpu.alloc(plan.input.bytes);
    expect(() => plan.enqueue('forward', { input: memory, output: memory })).toThrow(
      expect.objectContaining({ code: 'foreign-buffer' }),
    );
    cpu.close();
  });

  it('closes like any device', async () => {
    const device = await open('a100');
    const plan = await device.plan({ size: [64] });
    device.close();
    device.close();
    expect(() => plan.explain()).toThrow(expect.objectContaining({ code: 'destroyed' }));
    await expect(device.plan({ size: [64] })).rejects.toMatchObject({ code: 'device-closed' });
  });
});

describe('bad input', () => {
  it('names the profiles there are', async () => {
    const wrong = openProfile('x200' as 'h200');
    await expect(wrong).rejects.toMatchObject({ code: 'unknown-device', message: expect.stringContaining('h200') });
    await expect(openProfile('toString' as 'h200')).rejects.toMatchObject({ code: 'unknown-device' });
  });

  it('names the languages that a profile can have', async () => {
    for (const [from, language] of [
      ['h200', 'wasm'],
      ['h200', 'metal'],
      ['wasm-cpu', 'cuda'],
    ]) {
      const wrong = openProfile(from as 'h200', { language: language as 'cuda' });
      expect(await problemsOf(wrong)).toEqual(['invalid-argument language']);
    }
    expect(await problemsOf(openProfile('h200', { lang: 'cuda' } as object))).toEqual([
      'unknown-field openProfile.lang',
    ]);
  });

  it('says everything that is wrong with a profile', async () => {
    const wrong = {
      ...own,
      name: '',
      lockstep: 'warps',
      lockstepBytes: 100,
      sharedBytes: 0,
      banks: -1,
      passCost: Number.NaN,
      precisions: ['half'],
      radixCosts: { 2: 0 },
      firstLevel: { bytes: 0, beyond: 1 },
      distant: { above: 1, axes: 1024, uploads: 100 },
      warp: 32,
    };
    expect(await problemsOf(openProfile(wrong as unknown as DeviceProfile))).toEqual([
      'invalid-argument profile.name',
      'invalid-argument profile.lockstep',
      'invalid-argument profile.lockstepBytes',
      'invalid-argument profile.sharedBytes',
      'invalid-argument profile.distant',
      'invalid-argument profile.banks',
      'invalid-argument profile.precisions',
      'invalid-argument profile.passCost',
      'invalid-argument profile.radixCosts',
      'invalid-argument profile.firstLevel',
      'unknown-field profile.warp',
    ]);
    const lists = { ...own, radixCosts: [1, 2, 3], cluster: Object.assign([], { blocks: 2 }) };
    expect(await problemsOf(openProfile(lists as unknown as DeviceProfile))).toEqual([
      'invalid-argument profile.cluster',
      'invalid-argument profile.radixCosts',
    ]);
    for (const none of [null, undefined, 7]) {
      expect(await problemsOf(openProfile(none as unknown as DeviceProfile))).toEqual(['invalid-argument']);
    }
  });

  it('keeps to what a language and a device can do', async () => {
    const double: ProblemInput = { size: [64], precision: 'double' };
    const wide: ProblemInput = { size: [64], precision: 'double-double' };
    for (const device of [await open('h200', { language: 'wgsl' }), await open('m2'), await open('arc')]) {
      expect((await device.plan(double)).kernels).not.toHaveLength(0);
      await expect(device.plan(wide)).rejects.toMatchObject({ code: 'unsupported-precision' });
    }
    await expect((await open('rtx4090')).plan({ size: [2 ** 20], batches: 4096 })).rejects.toMatchObject({
      code: 'device-limit',
    });
    // 32-bit indices are all that WGSL has.
    const large = (await open('mi300x', { language: 'wgsl' })).plan({
      size: [2 ** 20],
      batches: 8192,
      placement: 'in-place',
    });
    await expect(large).rejects.toMatchObject({ code: 'device-limit' });
  });

  it('refuses profiles that leave no plan', async () => {
    const tight = await open({ ...own, sharedBytes: 4096, coalescedBytes: 4096 });
    await expect(tight.plan({ size: [13 ** 5] })).rejects.toMatchObject({ code: 'device-limit' });
  });
});
