/** `tuning.twiddles: 'computed'`: kernels without tables, as exact as those with tables. */
import { afterAll, describe, expect, it } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { noOpenCl, openOpenCl } from '../../../test/support/opencl.ts';
import { randomFor } from '../../../test/support/random.ts';
import { complaints, exhaustive } from '../../../test/support/transforms.ts';
import { FftError, type ProblemInput } from '../../problem/index.ts';
import { Device } from '../device.ts';
import { openDevice, openProfile } from '../index.ts';

const random = randomFor('engine/computed-roots');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

const COMPUTED = { twiddles: 'computed' } as const;
const devices: [string, boolean, () => Promise<Device>][] = [
  ['a simulated GPU', simulator !== undefined, async () => new Device(await (simulator as Simulator).open())],
  ['OpenCL', noOpenCl === undefined, () => openOpenCl()],
];

describe.each(devices.filter(([, there]) => there))('on %s', (_name, _there, open) => {
  it.each([
    { size: [64], batches: 3 },
    { size: [1001], batches: 2, layout: { input: 'planar' } },
    { size: [4096], placement: 'in-place' },
    { size: [2 ** 15], tuning: { uploadSwitch: { three: 2 } } },
    { size: [120, 77], offsets: { input: 2 }, normalize: true },
    { size: [1000], tuning: { uploadSwitch: { two: 2 }, twiddles4Step: 'table' } },
  ] as const)('%j is as exact as with tables', async (problem: ProblemInput) => {
    const device = await open();
    const both = ['single', 'double'] as const;
    // In one precision and direction, each time another: their compilers are slow.
    const directions = exhaustive ? 'both' : random.pick(['forward', 'inverse'] as const);
    for (const precision of exhaustive ? both : [random.pick(both)]) {
      const tuning = { ...problem.tuning, ...COMPUTED };
      expect(await complaints(device, { ...problem, precision, tuning, directions }, random)).toEqual([]);
    }
    device.close();
  });

  it('computes twiddles between uploads alone where only these are asked for', async () => {
    const device = await open();
    const problem = { size: [3000], batches: 2, precision: 'single' } as const;
    const tuning = { uploadSwitch: { two: 2 }, twiddles4Step: 'computed' } as const;
    const directions = 'forward';
    expect(await complaints(device, { ...problem, tuning, directions }, random)).toEqual([]);
    const plan = await device.plan({ ...problem, directions, tuning });
    const counts = (word: RegExp) => plan.kernels.map(({ source }) => String(source).match(word)?.length ?? 0);
    // One of the two uploads computes the twiddles of the four-step algorithm; both read the roots of their passes from tables.
    expect(counts(/ root\(\d*[(a-z]/g).filter((count) => count > 0)).toHaveLength(1);
    expect(counts(/\btable\[/g).every((count) => count > 0)).toBe(true);
    plan.destroy();
    device.close();
  });

  it('takes no memory for tables', async () => {
    const device = await open();
    const problem = { size: [4096], directions: 'forward' } as const;
    const usual = await device.plan(problem);
    const plan = await device.plan({ ...problem, tuning: COMPUTED });
    expect(usual.bytes.tables).toBeGreaterThan(0);
    expect(plan.bytes.tables).toBe(0);
    for (const { source } of plan.kernels) expect(source).not.toMatch(/\btable\b/);
    expect(plan.kernels.map(({ source }) => source).join()).toMatch(/\broot\(/);
    device.close();
  });
});

describe('languages', () => {
  const sourceOf = async (profile: 'h200' | 'mi250x' | 'arc', problem: ProblemInput) => {
    const device = await openProfile(profile);
    const plan = await device.plan({ ...problem, tuning: COMPUTED });
    const text = plan.kernels.map(({ source }) => source).join('\n');
    device.close();
    return text;
  };

  it('use their own functions, in the precision of the kernel', async () => {
    expect(await sourceOf('h200', { size: [4096] })).toContain('sincospif(x, &s, &c);');
    expect(await sourceOf('mi250x', { size: [4096], precision: 'double' })).toContain('sincospi(x, &s, &c);');
  });

  it('compare nothing on OpenCL, whose compilers may mix up what was compared before and after a barrier', async () => {
    const source = await sourceOf('arc', { size: [4096] });
    const root = source.slice(source.indexOf('root('), source.indexOf('__kernel'));
    expect(root).toContain('return (float2)(');
    expect(root).not.toMatch(/sinpi|cospi|[?<>]|[=!]=/);
  });

  it('count angles in 64 bits where 32 are too few', async () => {
    expect(await sourceOf('h200', { size: [2 ** 20] })).not.toContain('root_wide');
    expect(await sourceOf('h200', { size: [2 ** 31] })).toContain('root_wide(');
  });

  it('without exact sines refuse by name', async () => {
    const refusing = [await openDevice('cpu', { threads: 1 }), await openProfile('webgpu-default')];
    for (const device of refusing) {
      const refused = device.plan({ size: [64], tuning: COMPUTED });
      await expect(refused).rejects.toBeInstanceOf(FftError);
      await expect(refused).rejects.toMatchObject({
        problems: [{ code: 'unsupported-feature', path: 'tuning.twiddles' }],
      });
      (await device.plan({ size: [64], tuning: { twiddles: 'table' } })).destroy();
      device.close();
    }
  });
});
