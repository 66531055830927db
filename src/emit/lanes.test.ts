/** Kernels that were made for vectors, on threads. */

import { describe, expect, it } from 'vitest';
import { vectorProfile } from '../../test/support/devices.ts';
import { interpret } from '../../test/support/interpret.ts';
import { planDirection } from '../../test/support/planned.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { cpuProfile } from '../devices/profiles/cpu.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { type Kernel, verify } from '../ir/index.ts';
import { buildKernel } from '../kernels/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { emitCuda } from './cuda/index.ts';
import { forThreads } from './lanes.ts';
import { emitOpencl } from './opencl/index.ts';
import { emitWgsl } from './wgsl/index.ts';

const random = randomFor('emit/lanes');
const kernelsOf = (input: ProblemInput, profile: DeviceProfile): Kernel[] =>
  planDirection(normalizeProblem(input), 'forward', profile, false).launches.map(({ leaf }) => buildKernel(leaf));

/** What a kernel leaves of the same random numbers. */
function results(kernel: Kernel, numbers: Readonly<Record<string, Float64Array>>): Record<string, Float64Array> {
  const memory = Object.fromEntries(Object.entries(numbers).map(([name, values]) => [name, values.slice()]));
  interpret(kernel, memory);
  return memory;
}

describe('kernels for vectors', () => {
  it('leave the same on threads, bit by bit', () => {
    const inputs: ProblemInput[] = [
      { size: [64] },
      { size: [243], placement: 'in-place' },
      { size: [60, 16] },
      { size: [1024], layout: { input: 'interleaved', output: 'planar' } },
    ];
    let rewritten = 0;
    for (const input of inputs) {
      for (const kernel of kernelsOf({ ...input, precision: 'double' }, vectorProfile)) {
        const threads = forThreads(kernel);
        expect(verify(threads)).toEqual([]);
        const lengths = [...kernel.globals.map(({ name }) => [name, 4096] as const)];
        const tables = kernel.tables.map(({ name, length }) => [name, length] as const);
        const numbers = Object.fromEntries([...lengths, ...tables].map(([name, n]) => [name, uniform(random, n)]));
        expect(results(threads, numbers)).toEqual(results(kernel, numbers));
        if (threads !== kernel) rewritten++;
      }
    }
    expect(rewritten).toBeGreaterThan(2);
  });

  it('are said in every language, slices and all', () => {
    const device: DeviceProfile = { name: 'cpu', multiprocessors: 1, ...cpuProfile };
    const inputs: ProblemInput[] = [{ size: [2 ** 18] }, { size: [2 ** 17], placement: 'in-place' }, { size: [1000] }];
    const kernels = inputs.flatMap((input) => kernelsOf(input, device));
    const exchanges = kernels.flatMap(({ phases }) => phases.map(({ exchange }) => exchange));
    expect(exchanges).toContain('slice');
    for (const kernel of kernels) {
      for (const emit of [emitOpencl, emitCuda, emitWgsl])
        expect(emit(kernel, { threads: 64 }).groups[0]).toBeGreaterThan(0);
    }
  });

  it('are left alone where they are for threads already', () => {
    for (const kernel of kernelsOf({ size: [1000] }, namedProfiles.h200.profile))
      expect(forThreads(kernel)).toBe(kernel);
  });
});
