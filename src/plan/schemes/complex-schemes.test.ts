import { describe, expect, it } from 'vitest';
import { cpuProfile } from '../../devices/profiles/cpu.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { FftError, normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile, PlannerTuning } from '../device/profile.ts';
import { targetOf } from '../device/target.ts';
import { raderRadix } from '../group/radix.ts';
import { complexSchemes, isConvolved } from './complex-schemes.ts';

const cpu: DeviceProfile = { ...cpuProfile, name: 'a CPU', multiprocessors: 1 };
const gpu = namedProfiles.h200.profile as DeviceProfile;
const single = targetOf(cpu, 'single');
const never = [2, 13] as const;

function scheme(
  size: number[],
  profile: DeviceProfile = cpu,
  tuning: PlannerTuning = {},
  input: Partial<ProblemInput> = {},
) {
  const problem = normalizeProblem({ ...input, size });
  return complexSchemes(problem, 0, targetOf({ ...profile, tuning }, problem.precision), 1)[0]!.value.by;
}

describe('how an axis is transformed', () => {
  it('small primes are passes, whatever was asked for', () => {
    for (const n of [1, 2, 13, 1000, 2 ** 20])
      expect(scheme([n], cpu, { rader: { convolve: [2, 100] } })).toBe('uploads');
  });

  it('large primes are radices of composites, prime lengths convolutions of one point less', () => {
    for (const n of [17 * 64, 31 * 37, 61 * 16, 131 * 8, 1009 * 8]) expect(scheme([n])).toBe('uploads');
    for (const n of [257, 1009, 65537]) expect(scheme([n])).toBe('rader');
    // 46 = 2 · 23, 1018 = 2 · 509.
    for (const n of [47, 1019]) expect(scheme([n])).toBe('bluestein');
  });

  it('butterflies of more points than threads have registers for are no single pass', () => {
    // Of a single one it would hardly matter.
    const many = { batches: 1000 };
    expect(scheme([31 * 16], gpu, {}, many)).toBe('uploads');
    expect(raderRadix(61, targetOf(gpu, 'single'))).toBeDefined();
    expect(raderRadix(41, targetOf(gpu, 'double'))).toBeDefined();
    // What is known about the register file decides whether several groups find room beside so large a butterfly.
    expect(raderRadix(31, targetOf(gpu, 'double'))).toBeUndefined();
    const { registerFile: _, ...unknown } = gpu;
    expect(raderRadix(31, targetOf(unknown, 'double'))).toBeDefined();
    expect(scheme([127 * 16], gpu, { rader: { multiply: [17, 127] } }, many)).toBe('uploads');
  });

  it('ranges of primes go the way that was asked for, and others none of it', () => {
    expect(scheme([1009], cpu, { rader: { convolve: never } })).toBe('bluestein');
    expect(scheme([47], cpu, { rader: { convolve: [47, 47] } })).not.toBe('bluestein');
    expect(scheme([47 * 4], cpu, { rader: { multiply: [40, 50] } })).toBe('uploads');
    expect(scheme([17 * 64], cpu, { rader: { multiply: never, convolve: never } })).toBe('bluestein');
    expect(scheme([61], cpu, { rader: { multiply: [61, 61] } })).toBe('uploads');
  });

  it('what can only be convolved to more points than there are roots of unity for is refused', () => {
    const long = normalizeProblem({ size: [4294967291] });
    expect(() => isConvolved(long, 0, single)).toThrow(FftError);
    // Of radices, it may be longer.
    expect(isConvolved(normalizeProblem({ size: [17 * 2 ** 20] }), 0, single)).toBe(false);
  });

  it('costs no more than what was not chosen', () => {
    for (const n of [17, 31, 61, 127, 257, 1009, 4093]) {
      const problem = normalizeProblem({ size: [n] });
      const others = { ...cpu, tuning: { rader: { multiply: never, convolve: never } } };
      if (isConvolved(problem, 0, single)) {
        const [chosen, other] = [cpu, others].map(
          (profile) => complexSchemes(problem, 0, targetOf(profile, 'single'), 1)[0]!.price,
        );
        expect(chosen).toBeLessThanOrEqual(other!);
      }
    }
  });
});
