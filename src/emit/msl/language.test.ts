/**
 * Everything that the kernel language can say without doubles, in Metal's language. Compilers of Metal run on Apple's systems only, so a
 * header defines Metal's words in C++: the text is compiled as C++, run, and its results are compared with the interpreter's.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiler, OnProcessor, type ProcessorDialect } from '../../../test/support/cuda.ts';
import { copied, expectAsInterpreted, halfSamples, isExact } from '../../../test/support/emitted.ts';
import { languageSamples } from '../../../test/support/language.ts';
import { randomFor } from '../../../test/support/random.ts';
import type { Kernel } from '../../ir/index.ts';
import type { SpmdOptions } from '../spmd/tree/program.ts';
import { emitMsl } from './index.ts';

const random = randomFor('emit/msl/language');
const hasDoubles = ({ globals, tables, shared }: Kernel) =>
  [...globals, ...tables, ...shared].some(({ type }) => type === 'f64');
const all = [...languageSamples(random, 'f32'), ...halfSamples(random, 'f32')];
const samples = all.filter(({ kernel }) => !hasDoubles(kernel));

/** As much of Metal as kernels use. */
const METAL: ProcessorDialect = {
  prelude: `
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define __METAL_VERSION__ 320
#define kernel
#define device
#define constant const
#define threadgroup static
typedef unsigned short ushort;
typedef unsigned int uint;
typedef _Float16 half;
struct float2 { float x, y; float2() = default; float2(float a, float b) : x(a), y(b) {} };
struct uint3 { uint x, y, z; };
template <class To, class From> static To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
struct Place { uint x, y, z; };
static thread_local Place threadIdx;
static Place blockIdx;
static pthread_barrier_t all;
#define __syncthreads() pthread_barrier_wait(&all)
namespace metal {
  enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
  static mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((int)a | (int)b); }
  static void threadgroup_barrier(mem_flags) { __syncthreads(); }
}
`,
  translated: (source) => source.replace('#include <metal_stdlib>', ''),
  more: ['uint3{blockIdx.x, blockIdx.y, blockIdx.z}', 'threadIdx.x'],
};

/** Every other kernel is given where its arrays begin: at their beginnings. */
function optionsOf(kernel: Kernel, n: number): SpmdOptions {
  if (n % 2 === 0) return {};
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  return { arrangement: { globals, bindings: globals.length, offsets: true } };
}

describe.skipIf(!compiler)("the kernel language as Metal's", () => {
  const memories = samples.map(({ kernel, memory }) => {
    const own = copied(memory);
    return { own, bindings: [...kernel.globals, ...kernel.tables].map(({ name }) => own[name]!) };
  });
  let processor: OnProcessor;
  beforeAll(() => {
    const kernels = samples.map(({ kernel }, n) => ({
      program: emitMsl(kernel, optionsOf(kernel, n)),
      sizes: memories[n]!.bindings.map(({ byteLength }) => byteLength),
      starts: n % 2 === 0 ? [] : kernel.globals.map(() => 0),
    }));
    processor = new OnProcessor(kernels, METAL);
  });
  afterAll(() => processor?.remove());

  it.each(samples.map((sample, n) => [sample.name, n] as const))('%s', (_, n) => {
    const sample = samples[n]!;
    const { own, bindings } = memories[n]!;
    processor.run(n, bindings);
    expectAsInterpreted(sample, own, isExact(sample));
  });
});

describe("the text in Metal's language", () => {
  it('says of every pointer and argument in which memory it lies and which buffer it is, and of the threads where they are', () => {
    for (const [n, { kernel }] of samples.entries()) {
      const { source, bindings, threads } = emitMsl(kernel, { ...optionsOf(kernel, n), launches: 2 });
      const head = source.slice(source.indexOf(`[[max_total_threads_per_threadgroup(${threads})]] kernel void`));
      const parameters = head.slice(head.indexOf('(\n'), head.indexOf(') {')).match(/ {4}.*/g)!;
      expect(parameters.slice(-2)).toEqual([
        '    uint3 metal_group [[threadgroup_position_in_grid]],',
        '    uint metal_thread [[thread_index_in_threadgroup]]',
      ]);
      for (const [place, parameter] of parameters.slice(0, -2).entries()) {
        const form = place < bindings.length ? /^ {4}(const )?device [\w ]+ \*\w+ / : /^ {4}constant long &\w+ /;
        expect(parameter).toMatch(form);
        expect(parameter).toContain(`[[buffer(${place})]]`);
      }
      // A pointer without a word for its memory is none in Metal.
      expect(
        source.match(/^.*\w \*(const )?\w+[ ,;].*$/gm)?.filter((line) => !/device|threadgroup/.test(line)) ?? [],
      ).toEqual([]);
      expect(source).not.toContain('double');
    }
  });

  it('has no doubles', () => {
    for (const { kernel } of [
      ...languageSamples(random, 'f64').slice(0, 1),
      ...all.filter(({ kernel }) => hasDoubles(kernel)),
    ])
      expect(() => emitMsl(kernel)).toThrow(/doubles/);
  });
});
