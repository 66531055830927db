/**
 * Source with host programs: each is compiled, and runs where its device is. CUDA's runs on the processor, with threads for threads; OpenCL's
 * on PoCL; that in TypeScript in Node. All agree with the reference.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { triedComplex } from '../../../test/support/complex.ts';
import { compiler, PROCESSOR, withoutDialect } from '../../../test/support/cuda.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { findProgram } from '../../../test/support/optional.ts';
import { randomFor } from '../../../test/support/random.ts';
import { triedReal } from '../../../test/support/real.ts';
import type { Device, Plan, ProblemInput, ProfileName } from '../../index.ts';
import { openProfile } from '../../index.ts';
import { buildHost, type HostLanguage } from './host.ts';
import type { PlannedTransform } from './transform-data.ts';
import { buildWasm } from './wasm.ts';
import { buildWgsl } from './wgsl.ts';

const random = randomFor('engine/ahead/host');
const folder = mkdtempSync(join(tmpdir(), 'omnifft-host-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problems: readonly ProblemInput[] = [
  { size: [48], batches: 2 },
  { size: [8, 6], layout: 'planar', placement: 'in-place' },
  // Two launches, with memory in between.
  { size: [128], tuning: { uploadSwitch: { two: 64 } }, precision: 'double' },
  { size: [30], batches: 3, transform: 'r2c' },
];

async function plansOf(name: ProfileName, language?: 'opencl') {
  const device = await openProfile(name, language ? { language } : {});
  const plans = new Map<string, Plan>();
  for (const [n, problem] of problems.entries()) plans.set(`t${n}`, (await device.plan(problem)) as unknown as Plan);
  return { plans, profile: device.profile };
}

type Arrays = Float32Array | Float64Array | { readonly re: Float32Array; readonly im: Float32Array };

/** A compiled host program: `run` calls it with one transform and direction, and puts the results in the place of the data in `arrays`. */
interface Program {
  run(transform: string, direction: 'forward' | 'inverse', arrays: readonly (Float32Array | Float64Array)[]): void;
}

/** A device whose plans run in a program. */
function running(plans: ReadonlyMap<string, Plan>, program: Program): Device {
  return {
    async plan({ debug: _, ...problem }: ProblemInput) {
      const name = `t${problems.findIndex((known) => JSON.stringify(known) === JSON.stringify(problem))}`;
      const plan = plans.get(name)!;
      const call = (direction: 'forward' | 'inverse') => async (from: Arrays, to?: Arrays) => {
        const arrays = [from, ...(to ? [to] : [])].flatMap((side) => ('re' in side ? [side.re, side.im] : [side]));
        program.run(name, direction, arrays);
      };
      const { problem: own, input, output, toJSON } = plan;
      return {
        ...{ problem: own, input, output, toJSON: toJSON.bind(plan), destroy: () => undefined },
        ...{ forward: call('forward'), inverse: call('inverse') },
      };
    },
  } as unknown as Device;
}

/** Reads arrays of some sizes, calls a function of a host program over them, and writes them. */
function mainText(
  plans: ReadonlyMap<string, Plan>,
  header: string,
  words: Record<'begin' | 'array' | 'create' | 'queue' | 'end' | 'type', string>,
): string {
  const cases = [...plans].flatMap(([name, { problem, input, output }]) =>
    (['forward', 'inverse'] as const).map((direction) => {
      const bytes = problem.precision === 'double' ? 8 : 4;
      const planes = problem.layout.input === 'planar' ? 2 : 1;
      const [reads, writes] = direction === 'forward' ? [input, output] : [output, input];
      const sides = problem.placement === 'in-place' ? [reads] : [reads, writes];
      const sizes = sides.flatMap((side) => Array.from({ length: planes }, () => side.bytes / planes));
      const type = words.type || (bytes === 8 ? 'double *' : 'float *');
      const list = sizes.map((_, n) => `(${type})m[${n}]`).join(', ');
      const call = words.queue.startsWith(',') ? `plan, ${list}${words.queue}` : `plan, ${words.queue}, ${list}`;
      return `if (!strcmp(words[1], "${name}") && !strcmp(words[2], "${direction}")) {
    static const size_t sizes[] = {${sizes.join(', ')}};
    ${name}_plan *plan; int n;
    for (n = 0; n < ${sizes.length}; n++) { m[n] = ${words.array}; }
    if (${name}_create(${words.create}&plan)) return 3;
    if (${name}_${direction}(${call})) return 4;
    for (n = 0; n < ${sizes.length}; n++) { ${words.end} }
    ${name}_destroy(plan);
    return 0;
  }`;
    }),
  );
  return `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "${header}"
static char bytes[1 << 20];
int main(int count, char **words) {
  void *m[4];
  ${words.begin}
  (void)count;
  ${cases.join('\n  ')}
  return 5;
}
`;
}

/** Programs that were compiled as \`file\`. */
function programAt(file: string): Program {
  return {
    run(transform, direction, arrays) {
      const bytes = arrays.map(({ buffer, byteOffset, byteLength }) =>
        Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength),
      );
      const ran = spawnSync(file, [transform, direction], { input: Buffer.concat(bytes), timeout: 60_000 });
      expect([ran.status, ran.stderr.toString()]).toEqual([0, '']);
      let at = 0;
      for (const own of bytes) at += ran.stdout.copy(own, 0, at, at + own.length);
    },
  };
}

/** Writes source, header and a main program, and compiles them. */
function compile(name: string, files: Record<string, string>, command: string, options: readonly string[]): string {
  const place = join(folder, name);
  mkdirSync(join(place, 'CL'), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
  const file = join(place, 'program');
  const ran = spawnSync(command, ['-I', place, ...options, '-o', file], { encoding: 'utf8', cwd: place });
  expect(ran.stderr).toBe('');
  return file;
}

async function agrees(device: Device): Promise<void> {
  for (const problem of problems) {
    for (const direction of ['forward', 'inverse'] as const) {
      const { error, allowed, damage, what } = problem.transform
        ? await triedReal(device, problem, direction, random)
        : await triedComplex(device, problem, direction, random);
      expect(error, what).toBeLessThanOrEqual(allowed);
      expect(damage, what).toEqual([]);
    }
  }
}

function built(plans: ReadonlyMap<string, Plan>, profile: Plan['problem'] | object, language: HostLanguage) {
  return buildHost(plans as unknown as Map<string, PlannedTransform>, {
    profile: profile as never,
    language,
    stem: 'fft',
  });
}

/** As much of the run-time library as host programs use, on the processor. */
const RUNTIME = (name: string) => `#pragma once
${PROCESSOR}
typedef int ${name}Error_t;
typedef void *${name}Stream_t;
enum { ${name}Success, ${name === 'cuda' ? 'cudaErrorMemoryAllocation' : 'hipErrorOutOfMemory'} };
enum { ${name}MemcpyHostToDevice, ${name}FuncAttributeMaxDynamicSharedMemorySize, ${name}FuncAttributeNonPortableClusterSizeAllowed };
#include <string.h>
static int ${name}Malloc(void **at, size_t bytes) { *at = malloc(bytes); return 0; }
static int ${name}Free(void *at) { free(at); return 0; }
static int ${name}Memcpy(void *to, const void *from, size_t bytes, int) { memcpy(to, from, bytes); return 0; }
static int ${name}FuncSetAttribute(const void *, int, int) { return 0; }
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
struct Launch { const void *kernel; dim3 grid; void *a[8]; unsigned number; };
static void *thread(void *given) {
  Launch &launch = *(Launch *)given;
  void **a = launch.a;
  threadIdx.x = launch.number;
  for (unsigned n = 0; n < launch.grid.x * launch.grid.y * launch.grid.z; n++) {
    __syncthreads();
    if (threadIdx.x == 0) blockIdx = {n % launch.grid.x, n / launch.grid.x % launch.grid.y, n / (launch.grid.x * launch.grid.y)};
    __syncthreads();
    ((void (*)(void *, void *, void *, void *, void *, void *, void *, void *))launch.kernel)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
  }
  return 0;
}
static int ${name}LaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, ${name}Stream_t) {
  if (shared > sizeof shared_bytes) return 1;
  pthread_t threads[1024];
  static Launch launches[1024] = {};
  Launch launch = {kernel, grid, {}, 0};
  for (int n = 0; arguments[n]; n++) launch.a[n] = *(void **)arguments[n];
  pthread_barrier_init(&all, 0, block.x);
  for (unsigned n = 0; n < block.x; n++) {
    launches[n] = launch;
    launches[n].number = n;
    if (pthread_create(threads + n, 0, thread, launches + n)) return 2;
  }
  for (unsigned n = 0; n < block.x; n++) pthread_join(threads[n], 0);
  return 0;
}
`;

/** As much of OpenCL's header as host programs use: the real one is not on every machine. */
const CL_HEADER = `#ifndef CL_H
#define CL_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int32_t cl_int; typedef uint32_t cl_uint; typedef int64_t cl_long; typedef uint64_t cl_bits;
typedef struct context_ *cl_context; typedef struct device_ *cl_device_id; typedef struct queue_ *cl_command_queue;
typedef struct memory_ *cl_mem; typedef struct kernel_ *cl_kernel; typedef struct program_ *cl_program; typedef struct platform_ *cl_platform_id;
enum { CL_SUCCESS = 0, CL_OUT_OF_HOST_MEMORY = -6, CL_INVALID_KERNEL_ARGS = -52 };
enum { CL_MEM_READ_WRITE = 1, CL_MEM_READ_ONLY = 4, CL_MEM_COPY_HOST_PTR = 32 };
cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetDeviceIDs(cl_platform_id, cl_bits, cl_uint, cl_device_id *, cl_uint *);
cl_context clCreateContext(const void *, cl_uint, const cl_device_id *, void *, void *, cl_int *);
cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_bits, cl_int *);
cl_mem clCreateBuffer(cl_context, cl_bits, size_t, void *, cl_int *);
cl_program clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *, void *, void *);
cl_kernel clCreateKernel(cl_program, const char *, cl_int *);
cl_int clSetKernelArg(cl_kernel, cl_uint, size_t, const void *);
cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const void *, void *);
cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const void *, void *);
cl_int clReleaseProgram(cl_program); cl_int clReleaseKernel(cl_kernel); cl_int clReleaseMemObject(cl_mem);
#ifdef __cplusplus
}
#endif
#endif
`;

const CUDA_WORDS = {
  begin: '',
  array: 'malloc(sizes[n]); if (fread(m[n], 1, sizes[n], stdin) != sizes[n]) return 2',
  create: '',
  queue: ', 0',
  end: 'fwrite(m[n], 1, sizes[n], stdout);',
  type: '',
};

const OPENCL_WORDS = {
  begin: `cl_platform_id platform; cl_device_id device; cl_context context; cl_command_queue queue; cl_int status;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, 0xffffffff, 1, &device, NULL);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  queue = clCreateCommandQueue(context, device, 0, &status);`,
  array: `clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
      fread(bytes, 1, sizes[n], stdin), bytes, &status)`,
  create: 'context, device, ',
  queue: 'queue',
  end: `if (clEnqueueReadBuffer(queue, (cl_mem)m[n], 1, 0, sizes[n], bytes, 0, NULL, NULL)) return 6;
      fwrite(bytes, 1, sizes[n], stdout);`,
  type: 'cl_mem',
};

describe('source with a host program', () => {
  it.skipIf(!compiler).each(['cuda', 'hip'] as const)(
    'in C++ launches kernels of %s as the reference has it',
    async (language) => {
      const { plans, profile } = await plansOf(language === 'cuda' ? 'a100' : 'mi250x');
      const { source, header } = built(plans, profile, language);
      const files = {
        'cuda_runtime.h': RUNTIME(language),
        'fft.h': header.replace('hip/hip_runtime.h', 'cuda_runtime.h'),
        'fft.cu': withoutDialect(source),
        'main.cpp': mainText(plans, 'fft.cu', CUDA_WORDS),
      };
      const options = ['-std=c++14', '-O1', '-ffp-contract=off', '-w', '-pthread', 'main.cpp'];
      await agrees(running(plans, programAt(compile(language, files, compiler!, options))));
    },
  );

  const cc = findProgram(['cc', 'gcc', 'clang']);
  it.skipIf(!cc || noOpenCl)('in C launches kernels of OpenCL as the reference has it', async () => {
    const { plans, profile } = await plansOf('h200', 'opencl');
    const { source, header } = built(plans, profile, 'opencl');
    const files = {
      'CL/cl.h': CL_HEADER,
      'fft.h': header,
      'fft.c': source,
      'main.c': mainText(plans, 'fft.h', OPENCL_WORDS),
    };
    const warnings = ['-Wall', '-Wextra', '-Wno-missing-field-initializers', '-Werror', '-pedantic'];
    const options = ['-std=c99', ...warnings, 'main.c', 'fft.c', '-lm', '-l:libOpenCL.so.1'];
    // It is C++, too.
    if (compiler) compile('opencl-cpp', files, compiler, ['-x', 'c++', '-std=c++11', '-c', 'fft.c']);
    await agrees(running(plans, programAt(compile('opencl', files, cc!, options))));
  });

  it('in TypeScript compiles, and runs', async () => {
    const scripts = await Promise.all(
      (['wasm-cpu', 'webgpu-default'] as const).map(async (name) => {
        const device = await openProfile(name);
        const plan = (await device.plan({ size: [8] })) as unknown as PlannedTransform;
        const plans = new Map([['t', plan]]);
        const { profile } = device;
        return name === 'wasm-cpu'
          ? buildWasm(plans, { profile, relaxed: false, separate: false, typed: true }).script
          : buildWgsl(plans, { profile, typed: true }).script;
      }),
    );
    const use = `import { t } from './wasm.ts';
import { t as gpu } from './wgsl.ts';
export const spectrum: Float32Array = t().forward(new Float32Array(16));
export async function append(device: GPUDevice, from: GPUBuffer, to: GPUBuffer): Promise<void> {
  const encoder = device.createCommandEncoder();
  (await gpu(device)).forward(encoder, from, { buffer: to, offset: 256 });
  // @ts-expect-error what it writes is missing
  (await gpu(device)).inverse(encoder, from);
}
`;
    const place = join(folder, 'ts');
    mkdirSync(place);
    const files = { 'wasm.ts': scripts[0]!, 'wgsl.ts': scripts[1]!, 'use.ts': use };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const types = ['--typeRoots', join(root, 'node_modules/@webgpu'), '--types', 'types'];
    const strict = [
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      '--allowImportingTsExtensions',
      '--target',
      'es2022',
      '--module',
      'nodenext',
    ];
    const ran = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...strict, ...types, join(place, 'use.ts')],
      { cwd: place },
    );
    expect(ran.stdout.toString()).toBe('');
    const { code } = transformSync(scripts[0]!, { loader: 'ts' });
    const { t } = await import(
      /* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
    );
    expect([...t().forward(new Float32Array(16).fill(1))]).toEqual([8, 8, ...Array(14).fill(0)]);
  });
});
