/** Sources in CUDA, and in languages of its kind, compiled for the processor, with threads for threads. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SpmdProgram } from '../../src/emit/spmd/tree/program.ts';
import { findProgram, missing } from './optional.ts';

/** Undefined where there is none, and the tests with it are to be skipped. */
export const compiler = findProgram(['c++', 'g++', 'clang++']);
missing('cpp', compiler ? undefined : 'none of c++, g++ and clang++ is on the PATH');

/** As much of CUDA as kernels use: one group after another, its threads as threads. */
export const PROCESSOR = `
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__
#define __align__(n)
struct float2 { float x, y; };
struct double2 { double x, y; };
static float2 make_float2(float x, float y) { return {x, y}; }
static double2 make_double2(double x, double y) { return {x, y}; }
struct Place { unsigned x, y, z; };
static thread_local Place threadIdx;
static Place blockIdx;
static pthread_barrier_t all;
#define __syncthreads() pthread_barrier_wait(&all)
unsigned char shared_bytes[1 << 16];
static size_t __cvta_generic_to_shared(void *at) { return (unsigned char *)at - shared_bytes; }
template <typename T> static void __stwb(T *at, T value) { *at = value; }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fsub_rn(float a, float b) { return a - b; }
static float __fmul_rn(float a, float b) { return a * b; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dsub_rn(double a, double b) { return a - b; }
static double __dmul_rn(double a, double b) { return a * b; }
static unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
static float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
static int __double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
static double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low); }
`;

/** Without the declaration of shared memory, which is the program's; assembly that reads it or converts halves as C. */
export function withoutDialect(source: string): string {
  return source
    .replace(/extern __shared__[^;]*;/g, '')
    .replace(
      /asm volatile\("ld\.shared.*"r"(\(.*\)) : "memory"\);/g,
      'value = *(decltype(value) *)(shared_bytes + $1);',
    )
    .replace(/asm\("cvt\.f\d+\.f16.*/g, 'value = *(const _Float16 *)&bits;')
    .replace(/asm\("cvt\.rn\.f16.*/g, '*(_Float16 *)&bits = (_Float16)value;');
}

/** A language as C++ on the processor. */
export interface ProcessorDialect {
  /** Stands before all kernels: defines `threadIdx`, `blockIdx` and `all`, where the threads of a group meet. */
  readonly prelude: string;
  /** The text of a kernel as C++. */
  translated(source: string): string;
  /** What an entry point is given behind its own arguments. */
  readonly more: readonly string[];
}

const CUDA: ProcessorDialect = { prelude: PROCESSOR, translated: withoutDialect, more: [] };

/** A kernel, and what it is called with: the bytes of each binding, and offsets. */
export interface ProcessorKernel {
  readonly program: SpmdProgram;
  readonly sizes: readonly number[];
  readonly starts?: readonly number[];
}

/** A kernel and a function `run` that reads the memory of every binding, runs it and writes the memory. */
function partOf({ program, sizes, starts = [] }: ProcessorKernel, number: number, dialect: ProcessorDialect): string {
  const { source, entry, threads, groups } = program;
  const memory = sizes.map((_, n) => `Any{m${n}}`);
  return `#define ${entry} ${entry}_${number}
namespace kernel${number} {
#line 1 "kernel ${number}"
${dialect.translated(source)}
${sizes.map((size, n) => `static double m${n}[${size} / 8 + 1];`).join('\n')}
static void *thread(void *number) {
  threadIdx.x = (unsigned)(size_t)number;
  for (unsigned n = 0; n < ${groups[0] * groups[1] * groups[2]}; n++) {
    __syncthreads();
    if (threadIdx.x == 0) blockIdx = {n % ${groups[0]}, n / ${groups[0]} % ${groups[1]}, n / ${groups[0] * groups[1]}};
    __syncthreads();
    ${entry}(${[...memory, ...starts.map((start) => `${start}LL`), ...dialect.more].join(', ')});
  }
  return 0;
}
static int run() {
${sizes.map((size, n) => `  if (fread(m${n}, 1, ${size}, stdin) != ${size}) return 3;`).join('\n')}
  pthread_t threads[${threads}];
  pthread_barrier_init(&all, 0, ${threads});
  for (size_t n = 0; n < ${threads}; n++) if (pthread_create(threads + n, 0, thread, (void *)n)) return 4;
  for (size_t n = 0; n < ${threads}; n++) pthread_join(threads[n], 0);
${sizes.map((size, n) => `  fwrite(m${n}, 1, ${size}, stdout);`).join('\n')}
  return 0;
}
}
#undef ${entry}
`;
}

function textOf(kernels: readonly ProcessorKernel[], dialect: ProcessorDialect): string {
  return `${dialect.prelude}
struct Any { void *at; template <class T> operator T *() const { return (T *)at; } };
${kernels.map((kernel, n) => partOf(kernel, n, dialect)).join('\n')}
int main(int, char **words) {
  switch (atoi(words[1])) {
${kernels.map((_, n) => `    case ${n}: return kernel${n}::run();`).join('\n')}
  }
  return 5;
}
`;
}

/** Kernels in one program for the processor: to start the compiler takes longer than to compile one of them. */
export class OnProcessor {
  private readonly folder = mkdtempSync(join(tmpdir(), 'omnifft-cuda-'));
  private readonly file = join(this.folder, 'kernels');

  constructor(kernels: readonly ProcessorKernel[], dialect: ProcessorDialect = CUDA) {
    writeFileSync(`${this.file}.cpp`, textOf(kernels, dialect));
    // What is rounded once on a GPU is here, too.
    const flags = ['-std=c++14', '-O1', '-ffp-contract=off', '-w', '-pthread', '-o', this.file, `${this.file}.cpp`];
    expect(spawnSync(compiler!, flags, { encoding: 'utf8' }).stderr).toBe('');
  }

  /** Runs a kernel once, by its number. @param bindings memory of its bindings, which changes. */
  run(kernel: number, bindings: readonly ArrayBufferView[]): void {
    const bytes = bindings.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength),
    );
    const settings = { input: Buffer.concat(bytes), timeout: 50_000, maxBuffer: 2 ** 26 };
    const ran = spawnSync(this.file, [`${kernel}`], settings);
    expect(ran.status).toBe(0);
    let at = 0;
    for (const own of bytes) at += ran.stdout.copy(own, 0, at, at + own.length);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
