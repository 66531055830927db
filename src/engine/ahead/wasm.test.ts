/** Transforms built ahead of time: each agrees with the reference, in memory of its own and in the caller's, and needs nothing else. */
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { realProblem, triedReal, withBlocks } from '../../../test/support/real.ts';
import { sumsProblem, triedSums } from '../../../test/support/sums.ts';
import { exhaustive, expectedOf } from '../../../test/support/transforms.ts';
import { stridesOf, tensorFrom, tried, withReversed } from '../../../test/support/trial.ts';
import type { Device, Plan, ProblemInput } from '../../index.ts';
import { openProfile } from '../../index.ts';
import { type BuiltTransform, RUNTIME, type TransformOptions } from './runtime.ts';
import { type PlannedTransform, textOfBytes } from './transform-data.ts';
import { buildWasm, type WasmBuildOptions } from './wasm.ts';

const random = randomFor('engine/ahead/wasm');
const profiled = await openProfile('wasm-cpu');

type Maker = ((options?: TransformOptions) => BuiltTransform) & { readonly byteLength: number };

async function planned(problem: ProblemInput): Promise<Plan> {
  return (await profiled.plan(problem)) as unknown as Plan;
}

function built(transforms: Record<string, Plan>, options: Partial<WasmBuildOptions> = {}) {
  const plans = new Map<string, PlannedTransform>(Object.entries(transforms) as never);
  return buildWasm(plans, { profile: profiled.profile, relaxed: false, separate: false, ...options });
}

async function imported(script: string): Promise<Record<string, Maker>> {
  const encoded = Buffer.from(script).toString('base64');
  return await import(/* @vite-ignore */ `data:text/javascript;base64,${encoded}`);
}

/** What a transform gives before it is scaled. */
const unscaled: Parameters<typeof tried>[4] = (problem, direction, packed) =>
  expectedOf({ ...problem, normalize: false, scale: { forward: 1, inverse: 1 } }, direction, packed);

/** A device whose plans run as modules that were built for them, some of them in memory that begins somewhere else. */
const aheadOfTime = {
  async plan(problem: ProblemInput) {
    const plan = await planned(problem);
    const { t } = await imported(built({ t: plan }, { relaxed: random.unit() < 0.5 }).script);
    const memory = new WebAssembly.Memory({ initial: 0 });
    const transform = t!(random.unit() < 0.5 ? { memory, byteOffset: 64 * random.integer(0, 50) } : {});
    const { problem: own, input, output, toJSON, destroy } = plan;
    const call = (direction: 'forward' | 'inverse') => async (from: never, to: never) =>
      transform[direction]!(from, to);
    return {
      ...{ problem: own, input, output, toJSON: toJSON.bind(plan), destroy: destroy.bind(plan) },
      ...{ forward: call('forward'), inverse: call('inverse') },
    };
  },
} as unknown as Device;

function complexProblem(): ProblemInput {
  const { size, batches, leftBatches, coordinates } = tensorFrom(random, 4000);
  const counts = [leftBatches, ...size, coordinates, batches];
  return withReversed(random, {
    ...{ size, batches, leftBatches, coordinates },
    precision: random.pick(['single', 'double'] as const),
    placement: random.pick(['in-place', 'out-of-place'] as const),
    layout: random.pick(['interleaved', 'planar'] as const),
    normalize: random.unit() < 0.5,
    ...(random.unit() < 0.5 ? { strides: { input: stridesOf(random, counts) } } : {}),
    ...(random.unit() < 0.3 ? { edgeStorage: 'half' } : {}),
  } as ProblemInput);
}

describe('a module built ahead of time', () => {
  it.each(['forward', 'inverse'] as const)('transforms as the reference does, %s', async (direction) => {
    for (let round = 0; round < (exhaustive ? 200 : 6); round++) {
      const trials = [
        tried(aheadOfTime, complexProblem(), direction, random, unscaled),
        triedReal(aheadOfTime, withBlocks(random, realProblem(random, 2000, ['single', 'double'])), direction, random),
        triedSums(aheadOfTime, sumsProblem(random, 1000, ['single', 'double']), direction, random),
      ];
      for (const { error, allowed, damage, what } of await Promise.all(trials)) {
        expect(error, what).toBeLessThanOrEqual(allowed);
        expect(damage, what).toEqual([]);
      }
    }
  });

  it.each([{ size: [2 ** 16] }, { size: [1009], batches: 3 }, { size: [262] }, { size: [300, 200] }])(
    'transforms %j as the reference does',
    async (problem: ProblemInput) => {
      for (const precision of ['single', 'double'] as const) {
        const { error, allowed, what } = await tried(
          aheadOfTime,
          { ...problem, precision },
          'forward',
          random,
          expectedOf,
        );
        expect(error, what).toBeLessThanOrEqual(allowed);
      }
    },
  );

  it('holds each kernel and each table once, and what it runs for', async () => {
    const one = built({ a: await planned({ size: [1024] }) });
    const two = built({
      a: await planned({ size: [1024] }),
      b: await planned({ size: [1024], directions: 'forward' }),
    });
    expect(two.script.length).toBeLessThan(1.9 * one.script.length);
    const { a, b } = await imported(two.script);
    const memory = new WebAssembly.Memory({ initial: 1 });
    const [first, second] = [a!({ memory }), b!({ memory, byteOffset: a!.byteLength })];
    const data = Float32Array.from({ length: 2048 }, () => random.unit());
    const [x, y] = [first.forward!(data) as Float32Array, second.forward!(data) as Float32Array];
    expect(Array.from(y)).toEqual(Array.from(x));
    expect(second.inverse).toBeUndefined();
    expect(first.memory).toBe(memory);
  });

  it('holds what both directions of reals have in common once: a table, and passes between the first and the last', async () => {
    const problem = { size: [random.pick([512, 1024, 2048])], transform: 'r2c' } as const;
    const [both, ...alone] = await Promise.all(
      (['both', 'forward', 'inverse'] as const).map(async (directions) => {
        const plan = await planned({ ...problem, directions });
        return { code: built({ plan }).code.plain, memory: plan.bytes.tables };
      }),
    );
    const [forward, inverse] = alone.map(({ code }) => code.length) as [number, number];
    expect(both!.code.length, `${problem.size}`).toBeLessThan(0.9 * (forward + inverse));
    expect(alone.map(({ memory }) => memory)).toEqual([both!.memory, both!.memory]);
  });

  it('has bytes as text that stands in a script as it is, and reads them again', () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, n) => (n < 256 ? n : random.integer(0, 255)));
    const text = textOfBytes(bytes);
    expect(text).toMatch(/^[ !#-;=-[\]-~]*$/);
    const decoded = RUNTIME.find(({ name }) => name === 'decoded') as (text: string) => Uint8Array;
    expect(decoded(text)).toEqual(bytes);
  });

  it('survives that its memory grows', async () => {
    const { t } = await imported(built({ t: await planned({ size: [8] }) }).script);
    const transform = t!();
    (transform.input as Float32Array).fill(1);
    transform.memory.grow(1);
    expect(Array.from(transform.forward!() as Float32Array)).toEqual([8, 8, ...Array(14).fill(0)]);
  });

  it('leaves its code out where it is to be compiled elsewhere', async () => {
    const { script, code } = built({ t: await planned({ size: [4] }) }, { separate: true });
    const { t } = await imported(script);
    expect(() => t!()).toThrow(/give \{ module \}/);
    const transform = t!({ module: new WebAssembly.Module(code.plain as Uint8Array<ArrayBuffer>) });
    expect(Array.from(transform.forward!(new Float32Array(8).fill(1)) as Float32Array)).toEqual([
      4, 4, 0, 0, 0, 0, 0, 0,
    ]);
  });

  it('refuses arrays of another length and memory that begins anywhere', async () => {
    const { t } = await imported(built({ t: await planned({ size: [4] }) }).script);
    expect(() => t!().forward!(new Float32Array(7))).toThrow('The input has 8 numbers.');
    expect(() => t!().forward!(new Float32Array(8), new Float32Array(9))).toThrow('The result has 8 numbers.');
    expect(() => t!({ byteOffset: 4 })).toThrow(/multiple of 64/);
  });

  it('is not made of what needs arrays at run time', async () => {
    const plan = await planned({ size: [16], convolution: {} });
    expect(() => built({ plan })).toThrow(/prepared where it runs/);
  });
});
