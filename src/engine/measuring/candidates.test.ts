/** `strategy: 'measure'`, and what plans say about their candidates. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { lengthsOf } from '../../../test/support/schemes.ts';
import { complaints } from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { FftError, type ProblemInput } from '../../problem/index.ts';
import { type Device, openDevice, openProfile, type Plan } from '../index.ts';

const random = randomFor('engine/measuring/candidates');

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

const chosenOf = (plan: Plan) => plan.toJSON().candidates.list.filter(({ chosen }) => chosen);
const splitsOf = (plan: Plan) => JSON.stringify(chosenOf(plan)[0]!.splits);

describe('plans say', () => {
  it('which candidates there were, what they cost, and which of them they are', async () => {
    const plan = await device.plan({ size: [2 ** 17] });
    const { unit, list } = plan.toJSON().candidates;
    expect(unit).toBe('passes of radix 4');
    expect(list.length).toBe(8);
    expect(list.map(({ chosen }) => chosen)).toEqual([true, ...Array(7).fill(false)]);
    const parts = lengthsOf(list[0]!.splits.axes[0]).join('·');
    expect(plan.explain()).toContain(`passes of radix 4: ${parts} at ${list[0]!.price.toFixed(2)} (chosen); `);
    expect((await (await openProfile('h200')).plan({ size: [64] })).explain()).toContain('trips to memory: 64 at ');
  });

  it('what prices are made of, and how far the next one is', async () => {
    const h200 = await openProfile('h200');
    for (const [one, size] of [
      [device, 2 ** 20],
      [h200, 2 ** 20],
      [h200, 100003],
    ] as const) {
      const plan = await one.plan({ size: [size] });
      const { list } = plan.toJSON().candidates;
      for (const { price, parts, launches } of list) {
        const { start, trips, passes, rest } = parts;
        expect(start + trips + passes + rest).toBeCloseTo(price, 9);
        expect(Math.min(start, trips / launches, passes)).toBeGreaterThanOrEqual(0);
        // Of several launches of vectors nothing is left but balance.
        if (one === device && launches === 2) expect(Math.abs(rest)).toBeLessThan(price / 20);
      }
      expect(list[0]!.launches).toBe(plan.toJSON().directions[0]!.launches.length);
      const text = plan.explain();
      expect(text).toContain(
        `price of ${list[0]!.launches} launches: trips ${list[0]!.parts.trips.toFixed(2)} + passes `,
      );
      if (list.length > 1) expect(text).toMatch(/; the next is \d+\.\d % dearer\n/);
    }
  });

  it('by which criterion an assignment of buffers has won', async () => {
    const by = async (problem: ProblemInput) => {
      const plan = await device.plan({ ...problem, directions: 'forward' });
      const { assignment } = plan.toJSON().directions[0]!;
      expect(plan.explain()).toContain(`best of ${assignment.candidates}${assignment.decidedBy ? ' by ' : ':'}`);
      return assignment.decidedBy;
    };
    expect(await by({ size: [64] })).toBeUndefined();
    expect(await by({ size: [2 ** 20], placement: 'in-place' })).toBe('typeChanges');
    expect(await by({ size: [64, 64], preserveInput: false })).toBe('order');
  });
});

/**
 * A device with a clock of its own: what a program takes is `milliseconds` of the number of its launches, of a number
 * that stands for the kernels that they run, and of the threads of their largest group.
 */
function withClock(
  milliseconds: (launches: number, kernels: number, threads: number) => number,
  failing = 0,
  sharedBytes = 8192,
): Device {
  const inner = openInterpreted({ ...namedProfiles.h200.profile, sharedBytes, residentBytes: sharedBytes });
  const backend = (
    inner as unknown as { backend: { bind: (...all: unknown[]) => object; compile: (k: object) => object } }
  ).backend;
  const { bind, compile } = backend;
  let compiled = 0;
  backend.bind = (...all) => {
    const steps = all[0] as { kernel: { kernel: { name: string; threads: number } } }[];
    const threads = Math.max(...steps.map(({ kernel }) => kernel.kernel.threads));
    const text = steps.map(({ kernel }) => kernel.kernel.name).join();
    const hash = [...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 997, 7);
    return Object.assign(bind.apply(backend, all), { time: async () => milliseconds(steps.length, hash, threads) });
  };
  backend.compile = (kernel) => {
    if (compiled++ < failing) throw new FftError('compile-failed', 'no such kernel today');
    return compile.call(backend, kernel);
  };
  return inner;
}

describe("strategy 'measure'", () => {
  const problem: ProblemInput = { size: [720], strategy: 'measure' };

  it('keeps the fastest candidate, whatever the planner reckons', async () => {
    for (const better of [1, -1]) {
      const clocked = withClock((launches, kernels) => 2 + kernels / 1000 + better * launches * 0.5);
      const plan = await clocked.plan(problem);
      const { list } = plan.toJSON().candidates;
      const times = list.map(({ milliseconds }) => milliseconds!);
      expect(times.every((time) => time > 0)).toBe(true);
      expect(chosenOf(plan)).toEqual([list[times.indexOf(Math.min(...times))]]);
      expect(plan.toJSON().directions[0]!.launches.length > 1).toBe(better < 0);
      expect(plan.explain()).toMatch(/at \d+\.\d\d, \S+ ms \(chosen\)/);
      clocked.close();
    }
  });

  it('remembers it, and saved plans carry it', async () => {
    const clocked = withClock((launches, kernels) => 9 - 2 * launches + kernels / 1000);
    const plan = await clocked.plan(problem);
    const winner = splitsOf(plan);
    expect(winner).not.toBe(splitsOf(await clocked.plan({ size: [720] })));
    expect(splitsOf(await clocked.plan(problem))).toBe(winner);
    expect(splitsOf(clocked.planSync(problem))).toBe(winner);
    const other = withClock(() => 1);
    expect(splitsOf(await other.plan(problem, { from: plan.serialize() }))).toBe(winner);
    for (const used of [clocked, other]) used.close();
  });

  it('times groups of fewer threads, remembers them, and computes what it should', async () => {
    const clocked = withClock((launches, _, threads) => 10 * launches + threads / 64, 0, 65536);
    const requested: ProblemInput = { size: [176], batches: 100, strategy: 'measure', directions: 'forward' };
    const threads = (plan: Plan) => plan.toJSON().directions[0]!.launches.map((launch) => launch.threads);
    const plan = await clocked.plan(requested);
    expect(Math.max(...threads(await clocked.plan({ ...requested, strategy: 'fast' })))).toBeGreaterThan(64);
    expect(Math.max(...threads(plan))).toBeLessThanOrEqual(64);
    expect(plan.explain()).toMatch(/ by \d+ threads at \S+, \S+ ms \(chosen\)/);
    expect(threads(await clocked.plan(requested, { from: plan.serialize() }))).toEqual(threads(plan));
    expect(await complaints(clocked, requested, random, ['host'])).toEqual([]);
    // Somebody who asks for threads has decided.
    const own = await clocked.plan({ ...requested, tuning: { threads: 128 } });
    expect(own.explain()).not.toMatch(/ by \d+ threads/);
    clocked.close();
  });

  it('leaves out candidates that do not compile, and says why where none does', async () => {
    const clocked = withClock(() => 1, 1);
    const plan = await clocked.plan(problem);
    expect(plan.toJSON().candidates.list[0]!.milliseconds).toBeUndefined();
    expect(chosenOf(plan)[0]!.milliseconds).toBe(2);
    const broken = withClock(() => 1, Number.POSITIVE_INFINITY);
    expect(await codeOf(() => broken.plan(problem))).toBe('compile-failed');
    for (const used of [clocked, broken]) used.close();
  });

  it('times both directions as planned, on the CPU too, and computes what it should', async () => {
    for (const input of [
      { size: [4096] },
      { size: [48, 30], placement: 'in-place' },
      { size: [360], layout: 'planar', batches: 3, directions: 'inverse' },
      { size: [17] },
    ] as const) {
      expect(await complaints(device, { ...input, strategy: 'measure' }, random, ['host'])).toEqual([]);
    }
    const { candidates } = (await device.plan({ size: [4096], strategy: 'measure' })).toJSON();
    const times = candidates.list.flatMap(({ milliseconds }) => milliseconds ?? []);
    expect(times.length).toBeGreaterThan(1);
    expect(candidates.list.find(({ chosen }) => chosen)!.milliseconds).toBe(Math.min(...times));
  });

  it('is refused where nothing can be timed, and where nobody waits for it', async () => {
    const offline = await openProfile('h200');
    expect(await codeOf(() => offline.plan({ size: [64], strategy: 'measure' }))).toBe('unsupported-feature');
    expect(await codeOf(() => device.planSync({ size: [100], strategy: 'measure' }))).toBe('unsupported-feature');
    expect(await codeOf(() => device.plan({ size: [64], strategy: 'slow' } as object as ProblemInput))).toBe(
      'invalid-field',
    );
  });

  it('gives back all memory', async () => {
    const clocked = withClock(() => 1);
    const { backend } = clocked as unknown as { backend: { allocate: (bytes: number) => { readonly freed: boolean } } };
    const { allocate } = backend;
    const buffers: { readonly freed: boolean }[] = [];
    backend.allocate = (bytes) => {
      buffers.push(allocate.call(backend, bytes));
      return buffers.at(-1)!;
    };
    for (const placement of ['in-place', 'out-of-place'] as const) await clocked.plan({ ...problem, placement });
    expect(buffers.length).toBeGreaterThan(2);
    clocked.close();
    expect(buffers.filter(({ freed }) => !freed)).toEqual([]);
  });

  it('says what became of the device meanwhile', async () => {
    const brief = await openDevice('cpu', { threads: 1 });
    const measured = codeOf(() => brief.plan({ size: [1024], strategy: 'measure' }));
    brief.close();
    expect(await measured).toMatch(/^(device-closed|destroyed)$/);
  });
});
