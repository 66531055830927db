/** The text of kernels in OpenCL C. Whether it computes what it should is tested where a device runs it. */
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { verify } from '../../ir/index.ts';
import { lay, type Sample, sampleKernel } from '../spmd/fixture.ts';
import { emitOpencl } from './index.ts';

const random = randomFor('emit/opencl');

/** The first random kernel that has what is asked for. */
function sampleWith(type: 'f32' | 'f64', globals: number): Sample {
  for (;;) {
    const sample = sampleKernel(random.integer, type);
    if (sample.kernel.globals.length === globals && sample.kernel.threads > 1) return sample;
  }
}

describe('OpenCL C', () => {
  it('states the size of the group, its memory and who waits', () => {
    const { kernel } = sampleWith('f32', 2);
    expect(verify(kernel)).toEqual([]);
    const { source, threads, sharedBytes } = emitOpencl(kernel, { threads: 24 });
    expect(threads).toBe(24);
    expect(sharedBytes).toBeGreaterThanOrEqual(4 * kernel.shared[0]!.length!);
    expect(source).toContain('__kernel __attribute__((reqd_work_group_size(24, 1, 1))) void sample(');
    expect(source).toMatch(/__local float2? shared_?\[\d+\];/);
    expect(source).toContain('const __global float2 *restrict input');
    expect(source).toContain('barrier(CLK_LOCAL_MEM_FENCE);');
    // After the phase whose output a later one reads, inside the one that changes it in place, and after that.
    expect(source.split('CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE')).toHaveLength(4);
    expect(source).not.toContain('fp64');
  });

  it('asks for double precision, and takes offsets of 64 bits', () => {
    const sample = sampleWith('f64', 4);
    const { arrangement } = lay(random.integer, sample, 'own', true);
    const { source, bindings } = emitOpencl(sample.kernel, { arrangement: arrangement! });
    expect(source).toMatch(/^#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n/);
    expect(source).toContain('const long input_re_offset');
    expect(source).toContain('const __global double *const input_re = memory0 + input_re_offset;');
    expect(bindings.map(({ written }) => written)).toEqual([false, false, true, true]);
  });

  it('has no exchange over a cluster', () => {
    const { kernel } = sampleWith('f32', 2);
    const phases = kernel.phases.map((phase) => ({ ...phase, exchange: 'cluster' as const }));
    expect(() => emitOpencl({ ...kernel, phases })).toThrow(/cluster/);
  });
});
