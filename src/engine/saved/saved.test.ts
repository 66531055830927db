/** Saved plans that were tampered with, checksum and all: refused, or right. */

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { randomProfile, randomThreads } from '../../../test/support/devices.ts';
import { openInterpreted } from '../../../test/support/interpreted.ts';
import { configurations } from '../../../test/support/problems.ts';
import { type Random, randomFor, seedFor } from '../../../test/support/random.ts';
import { uploads } from '../../../test/support/schemes.ts';
import {
  type CallMode,
  callModes,
  complaints,
  exhaustive,
  modesOf,
  openWith,
  someOf,
} from '../../../test/support/transforms.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { largestPrimeFactor, primeFactors } from '../../numeric/primes.ts';
import type { AxisScheme } from '../../plan/schemes/axis-scheme.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { FftError, normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { type Device, openDevice, type ProfiledDevice } from '../index.ts';
import { openProfile } from '../open-profile.ts';

const random = randomFor('engine/saved/saved');
const opened: ProfiledDevice[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});
function held<D extends ProfiledDevice>(device: D): D {
  opened.push(device);
  return device;
}

type Saved = Record<string, unknown> & { splits: Splits };

/** The checksum as it is saved: FNV-1a, 32 bits. */
function sealed(saved: Record<string, unknown>): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(saved.splits) ?? '')
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
  if (random.unit() < 0.05) record[random.pick(['shared', 'axes', 'more'])] = random.pick([2, [], {}]);
  const names = Object.keys(record);
  if (names.length === 0) return { [random.pick(['shared', 'axes', 'more'])]: 2 };
  const name = random.pick(names);
  if (random.unit() < 0.05) delete record[name];
  else record[name] = tamper(record[name], random);
  return record;
}

/** A length as a product of a few numbers, none of them 1. */
function factored(length: number, random: Random): number[] {
  const parts = Array.from({ length: random.integer(1, 4) }, () => 1);
  for (const prime of primeFactors(length)) parts[random.integer(0, parts.length - 1)]! *= prime;
  return parts.filter((part) => part > 1);
}

/** A scheme as somebody would write it: mostly uploads. */
function forgedScheme(length: number, random: Random): AxisScheme {
  if (random.unit() < 0.8) return uploads(...factored(length, random));
  return random.pick<AxisScheme>([
    { by: 'rader' },
    { by: 'bluestein', length: 2 * length - 1 },
    { by: 'halves', points: uploads(length / 2) },
    { by: 'symmetric', points: uploads(length) },
  ]);
}

/** Splits as somebody would write them who knows the problem. */
function forged(size: readonly number[], splits: Splits, random: Random): Splits {
  const { shared, axes } = splits;
  const whole = { axes: size.map((length) => (length > 1 ? forgedScheme(length, random) : null)) };
  const from = (first: number) => whole.axes.map((scheme, axis) => (axis < first ? null : scheme));
  if (random.unit() < 0.3) return whole;
  if (random.unit() < 0.5) {
    const together = random.pick([1, 2, 3, size.length]);
    return { shared: { launches: 1, axes: together }, axes: from(together) };
  }
  if (size.length > 1 && random.unit() < 0.5) {
    return { shared: { launches: 2, parts: factored(size[1]!, random) as never }, axes: from(3) };
  }
  const axis = random.integer(0, size.length - 1);
  return {
    ...(shared === undefined ? {} : { shared }),
    axes: axes.map((scheme, d) => (d === axis ? whole.axes[d]! : scheme)),
  };
}

async function outcome(device: ProfiledDevice, problem: ProblemInput, from: string): Promise<string> {
  try {
    (await device.plan(problem, { from })).destroy();
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    expect((error as FftError).message.length).toBeLessThan(600);
    return (error as FftError).code;
  }
}

/** Refusals, and how many other plans than the planner's own were accepted: all of them are right. */
async function attack(
  device: Device,
  problem: ProblemInput,
  rounds: number,
  modes: readonly CallMode[] = ['host'],
): Promise<{ refused: number; other: number }> {
  const text = (await device.plan(problem)).serialize();
  const saved = JSON.parse(text) as Saved;
  expect(sealed(saved)).toBe(text);
  expect(await outcome(device, problem, text)).toBe('accepted');
  const { size } = normalizeProblem(problem);
  let refused = 0;
  let other = 0;
  const tried = new Set([text]);
  for (let round = 0; round < rounds; round++) {
    const splits = (random.unit() < 0.5 ? forged(size, saved.splits, random) : tamper(saved.splits, random)) as Splits;
    const from = sealed({ ...saved, splits });
    const started = performance.now();
    const found = await outcome(device, problem, from);
    expect(performance.now() - started).toBeLessThan(3000);
    expect(['accepted', 'invalid-saved-plan'], from).toContain(found);
    if (found !== 'accepted') refused++;
    else if (!tried.has(from)) {
      expect(await complaints(device, problem, random, [random.pick(modes)], from), from).toEqual([]);
      other++;
    }
    tried.add(from);
  }
  // Whatever was accepted concerns nobody else.
  expect((await device.plan(problem)).serialize()).toBe(text);
  return { refused, other };
}

describe('saved plans that were edited', () => {
  it.each<ProblemInput>([
    { size: [60] },
    { size: [34, 12], batches: 2 },
    { size: [12, 5], batches: 3, placement: 'in-place' },
    { size: [2 ** 17], directions: 'forward' },
    { size: [2 ** 12, 6], unordered: true, tuning: { uploadSwitch: { two: 2 ** 12 } } },
    { size: [30], layout: { output: 'planar' }, strides: { input: [1, 2, 60] }, precision: 'double' },
  ])('are refused, or right: %j', async (problem) => {
    const { refused } = await attack(held(await openDevice('cpu', { threads: 1 })), problem, 40, callModes);
    expect(refused).toBeGreaterThan(8);
  });

  it('are refused, or right, whatever the vectors and the problem', async () => {
    const runs = exhaustive ? 300 : 12;
    let others = 0;
    for (const { input } of fc.sample(configurations(3000), {
      seed: seedFor('engine/saved/vectors') | 0,
      numRuns: runs,
    })) {
      const device = held(await openWith(randomProfile(random), 1));
      const { other } = await attack(device, input, 12, modesOf(device));
      others += other;
    }
    expect(others).toBeGreaterThan(0);
  });

  it('are refused, or right, whatever the threads and their clusters', async () => {
    const runs = exhaustive ? 300 : 10;
    const { profile } = namedProfiles.h200;
    let others = 0;
    for (const { input } of fc.sample(configurations(1200), {
      seed: seedFor('engine/saved/threads') | 0,
      numRuns: runs,
    })) {
      const device = held(openInterpreted({ ...profile, ...randomThreads(random) }));
      const { other } = await attack(device, input, 12);
      others += other;
    }
    expect(others).toBeGreaterThan(0);
  });

  it.each([
    { size: [32, 64] },
    { size: [16, 24, 8] },
    { size: [3, 5], batches: 40 },
    { size: [2 ** 15], precision: 'double' as const },
  ])('are refused, or right, on an H200: %j', async (problem) => {
    const there = held(await openProfile('h200'));
    const text = (await there.plan(problem)).serialize();
    const here = held(openInterpreted(there.profile));
    expect(await outcome(here, problem, text)).toBe('accepted');
    const { refused } = await attack(here, problem, 20);
    expect(refused).toBeGreaterThan(0);
  });

  it('never take long to refuse', async () => {
    const problem: ProblemInput = { size: [2 ** 20, 2 ** 3], directions: 'forward' };
    for (const device of [held(await openDevice('cpu', { threads: 1 })), held(await openProfile('h200'))]) {
      const saved = JSON.parse((await device.plan(problem)).serialize()) as Saved;
      const twos = (count: number) => Array.from({ length: count }, () => 2);
      const lengths: unknown[] = [
        [twos(20), [8]],
        [twos(5e4), [8]],
        [[2 ** 20], twos(3)],
        [[2 ** 53, 2 ** -33], [8]],
        [[-(2 ** 10), -(2 ** 10)], [8]],
        [[2 ** 10, 2 ** 10, 1], [8]],
        [[2 ** 10, '1024'], [8]],
        Array.from({ length: 5e4 }, () => [8]),
      ];
      for (const one of lengths) {
        const axes = (one as number[][]).map((own) => uploads(...own));
        const from = sealed({ ...saved, splits: { axes } });
        const started = performance.now();
        expect(await outcome(device, problem, from), JSON.stringify(one).slice(0, 80)).toBe('invalid-saved-plan');
        expect(performance.now() - started).toBeLessThan(1000);
      }
      const padded = `${sealed(saved).slice(0, -1)},"more":"${'x'.repeat(2 ** 21)}"}`;
      expect(await outcome(device, problem, padded)).toBe('invalid-saved-plan');
    }
  });
});

describe('saved plans', () => {
  it('make the same plan again, whatever it is for', async () => {
    const smooth = Array.from({ length: 5000 }, (_, n) => n + 2).filter((n) => largestPrimeFactor(n) <= 13);
    const profiles = ['h200', 'mi250x', 'arc', 'wasm-cpu'] as const;
    for (const name of profiles) {
      const device = held(await openProfile(name));
      const problems: ProblemInput[] = [
        { size: [random.pick(smooth), random.pick(smooth)] },
        { size: [random.pick(smooth)], batches: random.integer(1, 40), placement: 'in-place' },
        { size: [random.pick(smooth) * random.pick(smooth)], unordered: random.unit() < 0.5 },
        { size: [random.pick([17, 64, 78]), random.pick([101, 64]), 12] },
        { size: [64, 64, random.pick([1, 12, 64])], omit: [random.unit() < 0.3, false, false] },
        { size: [random.pick([17, 31, 61]) * random.pick([1, 16, 4096]), 257] },
        { size: [17 * 64], tuning: { rader: { multiply: [2, 13], convolve: [17, 400] }, bluestein: { maxRadix: 2 } } },
        { size: [131 * 8, 3], tuning: { bluestein: { pattern: [{ from: 1000, length: 4096 }] } } },
      ];
      // Of four profiles each makes half of them, every time others.
      for (const problem of someOf(random, problems, 4)) {
        const plan = await device.plan(problem);
        const fresh = held(await openProfile(name));
        const loaded = await fresh.plan(problem, { from: plan.serialize() });
        expect(loaded.toJSON()).toEqual(plan.toJSON());
        expect(loaded.serialize()).toBe(plan.serialize());
      }
    }
  });

  it.each([
    { size: [19], transform: 'dst4' },
    { size: [19, 3], transform: 'dct2' },
    { size: [2003], transform: 'r2c', directions: 'inverse' },
  ] as const)('of reals whose points are convolved in several launches are taken, and chosen: %j', async (problem) => {
    const device = held(await openWith({}, 1));
    const several = { ...problem, tuning: { uploadSwitch: { two: 24 } } };
    const plan = await device.plan(several);
    expect(plan.toJSON().candidates.list.filter(({ chosen }) => chosen)).toHaveLength(1);
    const again = await device.plan(several, { from: plan.serialize() });
    expect(again.serialize()).toBe(plan.serialize());
  });

  it('that come to nothing leave the device as it was', async () => {
    const device = held(await openDevice('cpu', { threads: 1 }));
    const problem: ProblemInput = { size: [1024], tuning: { uploadSwitch: { two: 64 } } };
    const text = (await device.plan(problem)).serialize();
    const other = held(await openDevice('cpu', { threads: 1 }));
    const saved = JSON.parse(text) as Saved;
    const whole = { axes: [uploads(1024)] };
    const refused = other.plan(problem, { from: sealed({ ...saved, splits: whole }) });
    await expect(refused).rejects.toMatchObject({ name: 'FftError', code: 'invalid-saved-plan' });
    expect((await other.plan(problem)).serialize()).toBe(text);
  });

  it('are refused when they came from another version', async () => {
    const device = held(await openDevice('cpu', { threads: 1 }));
    const saved = JSON.parse((await device.plan({ size: [60] })).serialize()) as Saved;
    expect(await outcome(device, { size: [60] }, sealed({ ...saved, version: '0.0.1' }))).toBe('invalid-saved-plan');
  });

  it('are refused when what says their version is no text', async () => {
    const device = held(await openDevice('cpu', { threads: 1 }));
    const saved = JSON.parse((await device.plan({ size: [60] })).serialize()) as Saved;
    for (const name of ['format', 'version']) {
      const from = sealed({ ...saved, [name]: { toString: 1 } });
      expect(await outcome(device, { size: [60] }, from)).toBe('invalid-saved-plan');
    }
  });

  it('are refused where a stack does not hold them', async () => {
    const device = held(await openDevice('cpu', { threads: 1 }));
    const text = (await device.plan('scfo16')).serialize();
    const deep = '['.repeat(2e5) + ']'.repeat(2e5);
    for (const name of ['problem', 'profile', 'splits']) {
      const from = JSON.stringify({ ...JSON.parse(text), [name]: 0 }).replace(`"${name}":0`, `"${name}":${deep}`);
      await expect(device.plan('scfo16', { from })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
    }
  });
});
