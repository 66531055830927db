/** Kernels run as WGSL on Dawn with SwiftShader and by an interpreter: the same numbers, but for contracted products. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataFor, expectAsInterpreted } from '../../../test/support/emitted.ts';
import { interpret } from '../../../test/support/interpret.ts';
import type { Memory } from '../../../test/support/language.ts';
import { planDirection } from '../../../test/support/planned.ts';
import { randomFor } from '../../../test/support/random.ts';
import { rootsIn } from '../../../test/support/tables.ts';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { openGpu, runProgram } from '../../../test/support/wgsl.ts';
import { Expressions, type Kernel, type Phase, scale, variable } from '../../ir/index.ts';
import { buildKernel } from '../../kernels/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { type Lay, lay, placeGlobals, type Sample, sampleKernel } from '../spmd/fixture.ts';
import type { Arrangement, SpmdOptions } from '../spmd/tree/program.ts';
import { emitWgsl } from './index.ts';

const random = randomFor('emit/wgsl');

const PROFILE: DeviceProfile = {
  name: 'test',
  lockstep: 'threads',
  lockstepBytes: 128,
  sharedBytes: 32768,
  coalescedBytes: 64,
  registers: 32,
  maxThreads: 256,
  multiprocessors: 16,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  banks: 32,
  groupPoints: 1024,
  passCost: 6,
};

let gpu: GPUDevice;

beforeAll(async () => {
  if (!noWebGpu) gpu = await openGpu();
});
afterAll(() => gpu?.destroy());

/** Runs a kernel over the memory of its bindings, which changes. */
async function runWgsl(
  kernel: Kernel,
  { arrangement, starts }: Lay,
  bindings: Memory[string][],
  memory: Memory,
  spread: SpmdOptions,
): Promise<void> {
  const options = { ...spread, ...(arrangement ? { arrangement } : {}) };
  const program = emitWgsl(kernel, options);
  expect(emitWgsl(kernel, options).source).toBe(program.source);
  const data = [...bindings, ...kernel.tables.map(({ name }) => memory[name]!)];
  await runProgram(gpu, program, data, arrangement?.offsets ? starts : undefined);
}

function memoryFor({ kernel, lengths }: Sample): Memory {
  const memory = dataFor(random, kernel, lengths);
  for (const table of kernel.tables) {
    const values = new Float32Array(table.length);
    for (const { p, q, re, im } of rootsIn(table)) {
      values[re] = Math.cos((2 * Math.PI * p) / q);
      values[im] = -Math.sin((2 * Math.PI * p) / q);
    }
    memory[table.name] = values;
  }
  return memory;
}

/** Expects both ways of running a kernel to leave the same numbers everywhere. */
async function expectSame(sample: Sample, spread: SpmdOptions = {}, laid?: Lay): Promise<void> {
  const { kernel } = sample;
  const where = laid ?? lay(random.integer, sample, 'own', false);
  const memory = memoryFor(sample);
  const { bindings, collect } = placeGlobals(kernel, where, memory);
  await runWgsl(kernel, where, bindings, memory, spread);
  expectAsInterpreted({ name: kernel.name, kernel, memory }, collect(), false);
}

function samplesOf(descriptor: string, changes: Partial<DeviceProfile> = {}): Sample[] {
  const problem = normalizeProblem(descriptor);
  const { launches } = planDirection(problem, 'forward', { ...PROFILE, ...changes }, false);
  const elements = 2 * problem.size.reduce((a, b) => a * b, problem.batches * problem.coordinates);
  return launches.map(({ leaf }) => {
    const kernel = buildKernel(leaf);
    const lengths = kernel.globals.map(({ name }) => [name, name.includes('.') ? elements / 2 : elements] as const);
    return { kernel, lengths: Object.fromEntries(lengths) };
  });
}

describe.skipIf(noWebGpu)('kernels of plans', () => {
  const cases: [string, Partial<DeviceProfile>, SpmdOptions][] = [
    ['scfo16*3', {}, {}],
    ['scfo12*3', {}, { threads: 1 }],
    ['scfo60*7', {}, { threads: 7 }],
    ['scfo256*5', {}, {}],
    ['scfo64*5', { doubleBuffered: true, sharedFormat: 'planes' }, { threads: 128 }],
    ['scfo48*4', { doubleBuffered: true, sharedFormat: 'blocked', lockstepBytes: 16 }, { threads: 48 }],
    ['scfo13*130', {}, { threads: 100 }],
    ['scfo12x8*3', {}, {}],
    ['scfo1024', { sharedBytes: 2048 }, {}],
    ['scfo512*2', { sharedBytes: 1024, doubleBuffered: true, sharedFormat: 'planes' }, { threads: 64 }],
    ['scfi32*40', {}, { maxGroups: 3 }],
    ['scfo256*5', { sharedFormat: 'halves' }, {}],
    ['scfo60*7', { sharedFormat: 'halves' }, { threads: 7 }],
    ['scfo6x4*3', { sharedFormat: 'halves' }, { threads: 1 }],
    ['scfi1000*5', { sharedFormat: 'halves' }, { maxGroups: 3 }],
    ['scfo4096*2', { sharedFormat: 'halves' }, {}],
  ];
  it.each(cases)('%s, profile %o, options %o', async (descriptor, changes, options) => {
    for (const sample of samplesOf(descriptor, changes)) await expectSame(sample, options);
  });

  it('in place: both globals are one binding', async () => {
    for (const sample of samplesOf('scfi60*7')) {
      const { kernel, lengths } = sample;
      expect(kernel.aliased).toBe(true);
      const globals = kernel.globals.map(() => ({ pieces: [{ binding: 0 }] }));
      const arrangement: Arrangement = { globals, bindings: 1, offsets: false };
      const memory = memoryFor({ kernel, lengths });
      const [, output] = kernel.globals;
      const both = memory[kernel.globals[0]!.name]!;
      memory[output!.name] = both;
      const binding = both.slice();
      await runWgsl(kernel, { arrangement, starts: [0, 0], sizes: [both.length] }, [binding], memory, {});
      interpret(kernel, memory);
      for (const [n, value] of binding.entries()) expect(value).toBeCloseTo(both[n]!, 4);
    }
  });
});

describe.skipIf(noWebGpu)('random kernels', () => {
  it.each(['own', 'one', 'pieces'] as const)('globals laid out as %s', async (kind) => {
    for (let n = 0; n < 2; n++) {
      const sample = sampleKernel(random.integer, n < 1 ? 'f32' : 'f16');
      const options = { ...(n % 2 === 0 ? { maxGroups: random.integer(3, 6) } : {}) };
      await expectSame(sample, options, lay(random.integer, sample, kind, n % 2 === 1));
    }
  });

  it.each([1, 2, 3, 64, 256])('%d threads', async (threads) => {
    for (let n = 0; n < 2; n++) await expectSame(sampleKernel(random.integer, 'f32'), { threads });
  });
});

describe('what WGSL cannot say', () => {
  it('is named', () => {
    const { kernel } = sampleKernel(random.integer, 'f64');
    expect(() => emitWgsl(kernel)).toThrow(/double precision/);
    const single = sampleKernel(random.integer, 'f32').kernel;
    const phases = single.phases.map((phase) => ({ ...phase, exchange: 'cluster' as const }));
    expect(() => emitWgsl({ ...single, phases })).toThrow(/cluster/);
    const group = variable('group', 2 ** 31);
    const far = { array: single.globals[0]!, index: scale(group, 4), value: new Expressions().constant(1) };
    const item = variable('item', 1);
    const phase: Phase = {
      loops: [{ variable: item }],
      lanes: item,
      stores: [far],
      repeatable: true,
      exchange: 'group',
    };
    expect(() => emitWgsl({ ...single, group, phases: [phase] })).toThrow(/32 bits/);
    expect(() => emitWgsl(single, { threads: 0 })).toThrow(/at least one thread/);
    expect(() => emitWgsl({ ...single, group: variable('group', 2 ** 20) }, { maxGroups: 2 })).toThrow(/three dim/);
  });
});
