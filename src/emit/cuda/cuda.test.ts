/**
 * Kernels as CUDA: compiled for the processor, with threads for threads, they leave what an interpreter leaves; and the
 * compiler for GPUs takes them and HIP's.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiler, OnProcessor } from '../../../test/support/cuda.ts';
import { dataFor, expectAsInterpreted } from '../../../test/support/emitted.ts';
import { findNvcc } from '../../../test/support/nvcc.ts';
import { planDirection } from '../../../test/support/planned.ts';
import { randomFor } from '../../../test/support/random.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { add, Expressions, type Kernel, type Phase, scale, variable, verify } from '../../ir/index.ts';
import { buildKernel } from '../../kernels/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { lay, placeGlobals, sampleKernel } from '../spmd/fixture.ts';
import type { SpmdProgram } from '../spmd/tree/program.ts';
import { emitCuda } from './index.ts';
import { emitPipelined } from './pipelined.ts';

const random = randomFor('emit/cuda');
const nvcc = findNvcc();
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnifft-cuda-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!compiler)('random kernels on the processor', () => {
  const kinds = ['own', 'one', 'pieces'] as const;
  const cases = kinds.flatMap((kind) => (['f16', 'f32', 'f64'] as const).map((type) => made(kind, type)));
  let processor: OnProcessor;
  beforeAll(() => {
    processor = new OnProcessor(cases);
  });
  afterAll(() => processor?.remove());

  it.each(cases.map((one, n) => [one.title, n] as const))('globals laid out as %s', (_, n) => {
    const { kind, kernel, memory, bindings, collect } = cases[n]!;
    expect(verify(kernel)).toEqual([]);
    processor.run(n, bindings);
    expectAsInterpreted({ name: kind, kernel, memory }, collect(), false);
  });
});

/** A random kernel, its text, and random memory for it. */
function made(kind: 'own' | 'one' | 'pieces', type: 'f16' | 'f32' | 'f64') {
  const offsets = random.integer(0, 1) === 0;
  const sample = sampleKernel(random.integer, type);
  const { kernel, lengths } = sample;
  const where = lay(random.integer, sample, kind, offsets);
  const program = emitCuda(kernel, {
    maxGroups: random.integer(3, 9),
    ...(where.arrangement ? { arrangement: where.arrangement } : {}),
  });
  const memory = dataFor(random, kernel, lengths);
  const { bindings, collect } = placeGlobals(kernel, where, memory);
  return {
    ...{ title: `${kind}, offsets ${offsets}, ${type}`, kind, kernel, program, memory, bindings, collect },
    sizes: bindings.map(({ byteLength }) => byteLength),
    starts: where.arrangement?.offsets ? where.starts : [],
  };
}

/** What the compiler for GPUs says against a source. */
function complaints({ source }: SpmdProgram): string {
  const file = join(folder, 'kernel.cu');
  writeFileSync(file, source);
  const flags = ['-arch=sm_90', '-cubin', '-o', join(folder, 'kernel.cubin'), file];
  const { status, stderr, stdout } = spawnSync(nvcc!, flags, { encoding: 'utf8' });
  return status === 0 ? stderr : `${stderr}${stdout} ended with ${status}`;
}

const PROFILE: DeviceProfile = {
  name: 'test',
  lockstep: 'threads',
  lockstepBytes: 128,
  sharedBytes: 65536,
  coalescedBytes: 64,
  registers: 128,
  maxThreads: 1024,
  multiprocessors: 132,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  banks: 32,
  groupPoints: 1024,
  passCost: 6,
};

/** A kernel over a cluster whose first phase already stores into other blocks. */
function clusterKernel(sharedFormat: 'pairs' | 'halves'): Kernel {
  const profile = { ...namedProfiles.h200.profile, sharedFormat };
  const { launches } = planDirection(normalizeProblem('dcfo256x256*9'), 'forward', profile, false);
  return launches.map(({ leaf }) => buildKernel(leaf)).find(({ cluster }) => cluster)!;
}

const PIPELINED = ['scfo512x512*20', 'dcfo64x64x64*20', 'scfi720x720*20'];

/** Two kernels whose groups are interleaved, each and in one. */
function pipelined(descriptor: string) {
  const { launches, chunks, interleaved } = planDirection(
    normalizeProblem(descriptor),
    'forward',
    namedProfiles.h200.profile,
    false,
  );
  const [first, second] = launches.map(({ leaf }) => buildKernel(leaf)) as [Kernel, Kernel];
  return {
    first,
    second,
    chunks,
    turns: interleaved!,
    program: emitPipelined(first, second, { chunks, ...interleaved! })!,
  };
}

describe.skipIf(!nvcc)('compiled for a GPU', () => {
  it.each(['pairs', 'halves'] as const)('a cluster, in %s', (sharedFormat) => {
    expect(complaints(emitCuda(clusterKernel(sharedFormat)))).toBe('');
  });

  it.each(PIPELINED)('two kernels in one: %s', (descriptor) => {
    expect(complaints(pipelined(descriptor).program)).toBe('');
  });

  it.each(['scfo4096*5', 'dcfi1000*7', 'scfo65536'])('%s', (descriptor) => {
    for (const { leaf } of planDirection(normalizeProblem(descriptor), 'inverse', PROFILE, false).launches) {
      expect(complaints(emitCuda(buildKernel(leaf)))).toBe('');
    }
  });

  it('halves that share one memory', () => {
    const profile: DeviceProfile = { ...PROFILE, sharedFormat: 'halves' };
    for (const { leaf } of planDirection(normalizeProblem('dcfi1000*7'), 'forward', profile, false).launches) {
      expect(complaints(emitCuda(buildKernel(leaf)))).toBe('');
    }
  });

  it('globals in pieces, and an exchange over a cluster', () => {
    const sample = sampleKernel(random.integer, 'f64');
    const { arrangement } = lay(random.integer, sample, 'pieces', true);
    const phases = sample.kernel.phases.map((phase) => ({ ...phase, exchange: 'cluster' as const }));
    expect(complaints(emitCuda({ ...sample.kernel, phases }, { arrangement: arrangement! }))).toBe('');
  });
});

describe('the text', () => {
  it('stores into other blocks only when they have begun, also in halves', () => {
    const { profile } = namedProfiles.h200;
    const problem = normalizeProblem('scfo8192x16*4');
    for (const sharedFormat of ['pairs', 'halves'] as const) {
      const { launches } = planDirection(problem, 'forward', { ...profile, sharedFormat }, false);
      const sources = launches.map(({ leaf }) => emitCuda(buildKernel(leaf)).source.split('__launch_bounds__')[1]!);
      const clusters = sources.filter((source) => source.includes('block_copy('));
      expect(clusters.length).toBeGreaterThan(0);
      for (const source of clusters) {
        expect(source.indexOf('barrier.cluster')).toBeGreaterThan(0);
        expect(source.indexOf('barrier.cluster')).toBeLessThan(source.indexOf('block_copy('));
      }
    }
  });

  it('lets blocks read and compute while others begin, where the first phase already stores into them', () => {
    for (const sharedFormat of ['pairs', 'halves'] as const) {
      const kernel = clusterKernel(sharedFormat);
      expect(kernel.phases[0]!.exchange).toBe('cluster');
      const { source } = emitCuda(kernel);
      const [first] = source.split('// Phase 2 of');
      const places = ['arrive.relaxed.aligned;"', 'input[', 'cluster.wait.aligned;"', 'block_copy(ping'].map((text) =>
        first!.indexOf(text),
      );
      expect(places.every((place, n) => place > (places[n - 1] ?? 0))).toBe(true);
    }
  });

  it('interleaves the groups of two kernels', () => {
    for (const descriptor of PIPELINED) {
      const { first, second, chunks, turns, program } = pipelined(descriptor);
      expect(program.counters).toBe(20);
      // What is read for the first time or written for the last one passes the caches by.
      expect(program.source.match(/__ldcs\(&input/g)!.length).toBeGreaterThan(7);
      expect(program.source).not.toMatch(/__ldcs\(&output|__stcs\(&input/);
      // Groups that do not come in whole chunks, and clusters, stay apart.
      expect(emitPipelined(first, second, { chunks: 7, ahead: 1, beside: 2 })).toBeUndefined();
      const cluster = { blocks: 2, rank: variable('rank', 2) };
      expect(emitPipelined({ ...first, cluster }, second, { chunks, ...turns })).toBeUndefined();
    }
  });

  const group = variable('group', 8);
  const item = variable('item', 64);
  const [input, output] = ['input', 'output'].map((name) => ({ name, space: 'global', type: 'f32' }) as const);
  const x = new Expressions();
  /** Copies a run of numbers for each group. */
  const copy = (distance: number, aliased = false): Kernel => ({
    name: 'copy',
    precision: 'f32',
    group,
    threads: 32,
    globals: [input!, output!],
    aliased,
    tables: [],
    shared: [],
    phases: [
      {
        loops: [{ variable: item }],
        lanes: item,
        stores: [0, 1].map((part) => {
          const index = add(scale(group, distance), scale(item, 2), part);
          return { array: output!, index, value: x.load(input!, index) };
        }),
        repeatable: true,
        exchange: 'group',
      } satisfies Phase,
    ],
  });

  it('moves complex numbers whole', () => {
    const { source } = emitCuda(copy(128));
    expect(source).toContain('const float2 *__restrict__ input');
    expect(source).toContain('__stwb(&output[at1 + 32], z2);');
    expect(emitCuda(copy(128), { dialect: 'hip' }).source).toContain('output[at1 + 32] = z2;');
  });

  it('lets planes begin at any real, whichever of their elements a thread happens to have', () => {
    for (const size of [[16, 16], [4, 64], [1024], [64]]) {
      for (const precision of ['single', 'double'] as const) {
        const problem = normalizeProblem({
          size,
          batches: 1000,
          precision,
          layout: { input: 'interleaved', output: 'planar' },
        });
        const { launches } = planDirection(problem, 'forward', namedProfiles.h200.profile, false);
        expect(launches).toHaveLength(1);
        // input, output.re, output.im
        expect(emitCuda(buildKernel(launches[0]!.leaf)).alignments).toEqual([2, 1, 1]);
      }
    }
  });

  it('reads shared memory past the optimiser, but not in HIP', () => {
    const [launch] = planDirection(normalizeProblem('scfo4096*5'), 'forward', PROFILE, false).launches;
    const kernel = buildKernel(launch!.leaf);
    const { source } = emitCuda(kernel);
    expect(source).toContain('= shared_float2(ping_address, ');
    expect(source).not.toMatch(/= ping\[/);
    expect(emitCuda(kernel, { dialect: 'hip' }).source).toMatch(/= ping\[/);
  });

  it('addresses with 32 bits where they are enough, and with 64 where they are not', () => {
    expect(emitCuda(copy(2 ** 27)).source).not.toContain('long long');
    expect(emitCuda(copy(2 ** 30)).source).toContain('const long long at1 = (long long)group * 536870912LL');
  });

  it('promises nothing about memory that may be shared', () => {
    expect(emitCuda(copy(128, true)).source).not.toContain('__restrict__');
    const globals = [{ pieces: [{ binding: 0 }] }, { pieces: [{ binding: 0 }] }];
    const merged = emitCuda(copy(128), { arrangement: { globals, bindings: 1, offsets: true } });
    expect(merged.source).not.toContain('__restrict__');
    expect(merged.bindings).toEqual([{ written: true }]);
  });

  it('says which exchange HIP does not have', () => {
    const { kernel } = sampleKernel(random.integer, 'f32');
    const phases = kernel.phases.map((phase) => ({ ...phase, exchange: 'cluster' as const }));
    expect(() => emitCuda({ ...kernel, threads: 2, phases }, { dialect: 'hip' })).toThrow(/cluster/);
    expect(emitCuda(kernel, { dialect: 'hip' }).language).toBe('hip');
  });
});
