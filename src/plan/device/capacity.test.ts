import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { cpuProfile } from '../../devices/profiles/cpu.ts';
import { gpuProfile } from '../../devices/profiles/gpu.ts';
import { type Callback, type Callbacks, normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from './profile.ts';

/** A large GPU as OpenCL shows it. */
const gpu: DeviceProfile = {
  ...gpuProfile,
  name: 'test',
  sharedBytes: 48 * 1024,
  residentBytes: 4 * 48 * 1024,
  maxThreads: 1024,
  multiprocessors: 132,
};
const formats = (
  size: number[],
  profile: DeviceProfile,
  precision: 'single' | 'double' = 'single',
  omit = size.map(() => false),
) =>
  planDirection(normalizeProblem({ size, precision, omit }), 'forward', profile, false).launches.map(
    ({ leaf }) => leaf.shared.format,
  );

describe('columns of batches that come from memory', () => {
  const { distant: _, ...near } = cpuProfile;
  const cpu: DeviceProfile = { ...near, name: 'test', multiprocessors: 1, coalescedBytes: 64 };
  const device: DeviceProfile = { ...cpu, distant: { above: 64 * 64 * 8, axes: 256, uploads: 512 } };
  const tiles = (input: ProblemInput, profile: DeviceProfile) =>
    planDirection(normalizeProblem(input), 'forward', profile, false).launches.map(({ leaf }) => leaf.tile);

  it('are read in longer runs', () => {
    expect(tiles({ size: [64, 64] }, device)).toEqual([1, 16]);
    expect(tiles({ size: [64, 64], batches: 9 }, device)).toEqual([1, 16]);
    expect(tiles({ size: [64, 128] }, device)).toEqual([1, 32]);
    expect(tiles({ size: [64, 128] }, cpu)).toEqual([1, 8]);
  });

  it('are those of last uploads in place, and of no others, which were chosen for the usual ones', () => {
    const long = { size: [2 ** 20] };
    const [first, second] = tiles(long, cpu);
    expect(tiles(long, device)).toEqual([first, 64]);
    expect(second).toBeLessThan(64);
    // Reals are half as long as the complex numbers that they are moved with: of an array, or as what is written.
    const called = (callbacks: Callbacks) => tiles({ ...long, callbacks, directions: 'forward' }, device);
    const windowed: Callback = (x, value, at) => {
      const w = x.load('w', at.axis[0]!);
      return { re: x.mul(w, value.re), im: x.mul(w, value.im) };
    };
    const arrays = { w: { type: 'f32' as const, length: 2 ** 20 } };
    expect(called({ forward: { store: windowed }, arrays })).toEqual([first, 128]);
    expect(called({ forward: { store: (_, value) => value.re } })).toEqual([first, 128]);
    const unordered = { ...long, unordered: true };
    expect(tiles(unordered, { ...device, reorderFirst: false })).toEqual(
      tiles(unordered, { ...cpu, reorderFirst: false }),
    );
  });
});

describe('whole numbers in shared memory where halves are usual', () => {
  it('are for one upload along memory, where many groups have room for them', () => {
    expect(formats([125], gpu)).toEqual(['pairs']);
    expect(formats([1080], gpu)).toEqual(['pairs']);
    expect(formats([4096], gpu)).toEqual(['halves']);
    expect(formats([1080], gpu, 'double')).toEqual(['halves']);
    // Not for columns, of which a group takes several.
    expect(formats([125, 125], gpu, 'single', [true, false])).toEqual(['halves']);
    const { residentBytes: _, ...small } = gpu;
    expect(formats([125], small)).toEqual(['halves']);
  });

  it('are not where a group holds less than that, or somebody asked for what is reckoned with halves', () => {
    const tuned = { ...gpu, tuning: { groupedBatch: [64] } };
    const { launches } = planDirection(normalizeProblem({ size: [125], batches: 64 }), 'forward', tuned, false);
    expect(launches.map(({ leaf }) => [leaf.tile, leaf.shared.format])).toEqual([[64, 'halves']]);
    expect(formats([1000], { ...gpu, tuning: { threads: 128 } })).toEqual(['halves']);
    expect(formats([2048], { ...gpu, sharedBytes: 8192 })).toEqual(['halves']);
  });

  it('are not where somebody asked for halves', () => {
    expect(formats([125], { ...gpu, tuning: { registerBoost: 2 } })).toEqual(['halves']);
    expect(formats([125], { ...gpu, tuning: { registerBoost: 1 } })).toEqual(['pairs']);
  });
});

describe('precisions', () => {
  it('are known to what says what numbers are, and to no algorithm', async () => {
    const knowing = [
      'plan/device/capacity.ts',
      'plan/device/calibration.ts',
      'plan/device/profile.ts',
      'plan/tree/leaf.ts',
      'kernels/views/number-types.ts',
      // Logarithm and exponential are series with as many terms as a type has digits.
      'kernels/views/logarithms.ts',
    ];
    const root = new URL('../..', import.meta.url);
    const files = (await readdir(root, { recursive: true })).map((file) => file.replaceAll('\\', '/'));
    const algorithms = files.filter(
      (file) => /^(plan|kernels)\/.*(?<!\.test)\.ts$/.test(file) && !knowing.includes(file),
    );
    expect(algorithms.length).toBeGreaterThan(50);
    for (const file of algorithms) {
      const text = await readFile(new URL(file, root), 'utf8');
      expect(text.match(/'(half|single|double|double-double|f16|f32|f64|dd)'/g) ?? [], file).toEqual([]);
    }
  });
});
