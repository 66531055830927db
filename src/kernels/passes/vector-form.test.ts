/** Single transforms of vectors, which work in their output: every layout, both directions, wherever the data begins. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor, seedFor } from '../../../test/support/random.ts';
import { complaints, exhaustive, openWith } from '../../../test/support/transforms.ts';
import { cpuProfile } from '../../devices/profiles/cpu.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { ProblemInput } from '../../problem/index.ts';

const random = randomFor('kernels/vector-form/data');
const profile: DeviceProfile = { name: 'cpu', multiprocessors: 1, ...cpuProfile };

const smooth = Array.from({ length: 5000 }, (_, n) => n + 1).filter((n) => {
  for (const p of [2, 3, 5, 7, 11, 13]) while (n % p === 0) n /= p;
  return n === 1;
});
const layout = fc.constantFrom('interleaved' as const, 'planar' as const);
const offset = fc.oneof(fc.constant(0), fc.nat({ max: 9 }));

const problems: fc.Arbitrary<ProblemInput> = fc.record({
  // The last pass of these has two points, so that little of what it writes comes from what it has read before.
  size: fc
    .oneof(fc.constantFrom(4, 8, 12, 88, 104, 968, 1144), fc.constantFrom(...smooth))
    .map((length) => [length] as number[]),
  precision: fc.constantFrom('single' as const, 'double' as const),
  layout: fc.record({ input: layout, output: layout }),
  directions: fc.constantFrom('forward' as const, 'inverse' as const, 'both' as const),
  offsets: fc.record({ input: offset, output: offset }),
  scale: fc.constantFrom({}, { forward: -2 }, { inverse: 0.5 }, { forward: 0, inverse: 0 }),
  debug: fc.constant(true),
});

describe('single transforms in their output', () => {
  it.each(['as WebAssembly', 'interpreted'])('agree with the reference, %s', { timeout: 240_000 }, async (how) => {
    const device = how === 'interpreted' ? openInterpreted(profile) : await openWith({});
    await fc.assert(
      fc.asyncProperty(problems, async (problem) => {
        expect(await complaints(device, problem, random, ['host'])).toEqual([]);
      }),
      { seed: seedFor(`kernels/vector-form/${how}`) | 0, numRuns: exhaustive ? 5000 : 120 },
    );
    await device.close();
  });

  it('agree with it in slices, out of place and in place', { timeout: 120_000 }, async () => {
    const device = await openWith({});
    for (const problem of [
      { size: [2 ** 16], precision: 'double' },
      { size: [2 ** 17] },
      { size: [50_000], precision: 'double' },
      { size: [3 ** 10], precision: 'double' },
    ] as const) {
      for (const placement of ['out-of-place', 'in-place'] as const) {
        const input = { ...problem, placement, debug: true, offsets: { output: 3 } };
        const same = placement === 'in-place' ? { ...input, offsets: {} } : input;
        expect(await complaints(device, same, random, ['alloc'])).toEqual([]);
      }
    }
    await device.close();
  });
});
