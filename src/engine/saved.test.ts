/** Saved plans that were tampered with, checksum and all: refused, or harmless. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { elementsOf } from '../../test/reference/transform.ts';
import { type Random, randomFor, uniform } from '../../test/support/random.ts';
import { expectedOf, type Trial, tryPlan } from '../../test/support/transforms.ts';
import { FftError, type ProblemInput } from '../problem/index.ts';
import { type Device, openDevice, type Plan } from './index.ts';
import { openProfile } from './open-profile.ts';

const random = randomFor('engine/saved');
const problems: ProblemInput[] = [
  { size: [60] },
  { size: [12, 5], batches: 3, placement: 'in-place' },
  { size: [2 ** 17], directions: 'forward' },
  { size: [30], layout: { output: 'planar' }, strides: { input: [1, 2, 60] }, precision: 'double' },
];

let device: Device;
beforeEach(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterEach(() => device.close());

type Saved = Record<string, unknown> & { plans: unknown[] };

/** The checksum as it is saved: FNV-1a, 32 bits. */
function sealed(saved: Saved): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(saved.plans))
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return JSON.stringify({ ...saved, checksum: (hash >>> 0).toString(16) });
}

/** Changes, removes or adds one value somewhere in a tree of JSON. */
function tamper(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.unit() < 0.05) {
    if (typeof value === 'number' && random.unit() < 0.7) return value + random.pick([-1, 1, 0.5, 7, 4096]);
    if (typeof value === 'boolean') return !value;
    return random.pick([null, 0, 1, -1, 2 ** 40, 'input', 'temp', [], {}, true]);
  }
  if (Array.isArray(value)) {
    const copy = [...value];
    const place = Math.floor(random.unit() * copy.length);
    const dice = random.unit();
    if (copy.length === 0 || dice < 0.05) copy.push(1);
    else if (dice < 0.1) copy.splice(place, 1);
    else copy[place] = tamper(copy[place], random);
    return copy;
  }
  const record = { ...(value as Record<string, unknown>) };
  const name = random.pick(Object.keys(record));
  record[name] = tamper(record[name], random);
  return record;
}

/** A signal for each direction of a plan, and its transform. */
function trialsOf({ problem, directions }: Plan): Trial[] {
  return directions.map((direction) => {
    const data = uniform(random, 2 * elementsOf(problem), 'single');
    return { direction, mode: 'alloc', data, expected: expectedOf(problem, direction, data) };
  });
}

/** The code of the error that refuses a saved plan. One that is accepted is run, and writes nothing but its output. */
async function outcome(problem: ProblemInput, from: string, trials?: Trial[]): Promise<string> {
  let plan: Plan;
  try {
    plan = await device.plan(problem, { from });
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    return (error as FftError).code;
  }
  for (const trial of trials ?? trialsOf(plan)) {
    const { damage } = await tryPlan(device, plan, random, trial);
    expect(damage).toEqual([]);
  }
  plan.destroy();
  return 'accepted';
}

describe('saved plans', () => {
  it('that come to nothing late leave the device as it was', async () => {
    const problem: ProblemInput = { size: [1024], tuning: { uploadSwitch: { two: 64 } } };
    const text = (await device.plan(problem)).serialize();
    const other = await openDevice('cpu', { threads: 1 });
    const saved = JSON.parse(text) as Saved;
    const plans = JSON.parse(JSON.stringify(saved.plans).replaceAll('"order":1024', `"order":${2 ** 40}`)) as unknown[];
    expect(plans).not.toEqual(saved.plans);
    const refused = other.plan(problem, { from: sealed({ ...saved, plans }) });
    await expect(refused).rejects.toMatchObject({ name: 'FftError', code: 'invalid-saved-plan' });
    expect((await other.plan(problem)).serialize()).toBe(text);
    other.close();
  });

  it.each(problems)('tampered with: %j', async (problem) => {
    const plan = await device.plan(problem);
    const saved = JSON.parse(plan.serialize()) as Saved;
    expect(sealed(saved)).toBe(plan.serialize());
    expect(await outcome(problem, sealed(saved))).toBe('accepted');
    const trials = trialsOf(plan);
    let refusals = 0;
    for (let round = 0; round < 150; round++) {
      const plans = tamper(saved.plans, random) as unknown[];
      const found = await outcome(problem, sealed({ ...saved, plans }), trials);
      expect(['accepted', 'invalid-saved-plan']).toContain(found);
      if (found !== 'accepted') refusals++;
    }
    expect(refusals).toBeGreaterThan(50);
  });

  it('are refused where a number that goes into the text of a kernel is none', async () => {
    const there = await openProfile('h200');
    for (const size of [[5000], [256, 256]]) {
      const plan = await there.plan({ size, batches: 512, directions: 'forward' });
      const saved = JSON.parse(plan.serialize()) as Saved;
      const [{ leaf }] = (saved.plans[0] as { launches: [{ leaf: { beside?: unknown } }] }).launches;
      for (const beside of ['1) void other(', 0.5, 0]) {
        leaf.beside = beside;
        const refused = there.plan({ size, batches: 512, directions: 'forward' }, { from: sealed(saved) });
        await expect(refused).rejects.toMatchObject({ code: 'invalid-saved-plan' });
      }
    }
    there.close();
  });

  it('are refused where the tree has another number of launches', async () => {
    const there = await openProfile('h200');
    const problem: ProblemInput = { size: [2 ** 20], directions: 'forward' };
    const saved = JSON.parse((await there.plan(problem)).serialize()) as Saved;
    const [{ tree }] = saved.plans as [{ tree: { children: { children: unknown[] }[] } }];
    const parent = tree.children.length > 1 ? tree : tree.children[0]!;
    parent.children.pop();
    await expect(there.plan(problem, { from: sealed(saved) })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
    there.close();
  });

  it('are refused where the stages of a cluster do not follow from one another', async () => {
    const there = await openProfile('h200');
    const problem: ProblemInput = { size: [256, 256], batches: 4, precision: 'double', directions: 'forward' };
    const plan = await there.plan(problem);
    type Stage = { of: number; split: number; columns: number[] };
    type Fused = {
      coupled: boolean;
      blocks: number;
      tile: number;
      threads: number;
      beside: number;
      steps: [Stage, Stage, Stage];
      twiddle: unknown;
    };
    const changes: readonly ((leaf: Fused) => unknown)[] = [
      ({ steps }) => (steps[0].split = 7),
      ({ steps }) => (steps[1].split = 1),
      ({ steps }) => (steps[0].of = 1),
      ({ steps }) => (steps[0].columns = [5, 9]),
      ({ steps }) => steps[0].columns.push(-1),
      ({ steps }) => steps.reverse(),
      ({ steps }) => steps.pop(),
      (leaf) => (leaf.blocks = 7),
      (leaf) => (leaf.beside = -3),
      (leaf) => (leaf.tile = 3),
      (leaf) => (leaf.threads = 2 ** 31),
      (leaf) => (leaf.twiddle = { order: 65536, on: 'output', of: 2 }),
    ];
    for (const change of [() => {}, ...changes]) {
      const saved = JSON.parse(plan.serialize()) as Saved;
      change((saved.plans[0] as { launches: [{ leaf: Fused }] }).launches[0].leaf);
      const found = there.plan(problem, { from: sealed(saved) }).then(
        () => 'accepted',
        (error: FftError) => error.code,
      );
      expect([String(change), await found]).toEqual([
        String(change),
        changes.includes(change) ? 'invalid-saved-plan' : 'accepted',
      ]);
    }
    there.close();
  });

  it('are refused when they came from another version', async () => {
    const plan = await device.plan({ size: [60] });
    const saved = JSON.parse(plan.serialize()) as Saved;
    expect(await outcome({ size: [60] }, sealed({ ...saved, version: '0.0.1' }))).toBe('invalid-saved-plan');
  });

  it('are refused when what says their version is no text', async () => {
    const saved = JSON.parse((await device.plan({ size: [60] })).serialize()) as Saved;
    for (const name of ['format', 'version']) {
      const from = sealed({ ...saved, [name]: { toString: 1 } });
      expect(await outcome({ size: [60] }, from)).toBe('invalid-saved-plan');
    }
  });

  it('are refused where a stack does not hold them', async () => {
    const text = (await device.plan('scfo16')).serialize();
    const deep = '['.repeat(2e5) + ']'.repeat(2e5);
    for (const name of ['problem', 'profile', 'plans']) {
      const from = JSON.stringify({ ...JSON.parse(text), [name]: 0 }).replace(`"${name}":0`, `"${name}":${deep}`);
      await expect(device.plan('scfo16', { from })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
    }
  });

  it('are refused where they reach outside the arrays of a call', async () => {
    const n = 24;
    const problem: ProblemInput = { size: [n], batches: 2, directions: 'forward' };
    const plan = await device.plan(problem);
    const saved = JSON.parse(plan.serialize()) as { plans: [{ launches: [{ leaf: Record<string, unknown> }] }] };
    for (const change of [{ offset: 1 }, { axes: [2] }, { axes: [1 + n] }, { batch: [n + 1] }, { batch: [-n] }]) {
      for (const side of ['input', 'output']) {
        const copy = structuredClone(saved);
        const { leaf } = copy.plans[0].launches[0];
        leaf[side] = { ...(leaf[side] as object), ...change };
        const from = sealed(copy as unknown as Saved);
        expect([side, change, await outcome(problem, from)]).toEqual([side, change, 'invalid-saved-plan']);
      }
    }
    // The device still plans the problem itself.
    const output = (await device.plan(problem)).forwardSync(new Float32Array(4 * n).fill(1)) as Float32Array;
    expect([output[0], output[2]]).toEqual([n, 0]);
  });
});
