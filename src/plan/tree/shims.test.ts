import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { launchesSaved, shimsOf } from './shims.ts';

const plan = (input: ProblemInput) =>
  planDirection(normalizeProblem(input), 'forward', namedProfiles.h200.profile, false);
const names = (input: ProblemInput) => plan(input).launches.map(({ node }) => shimsOf(node).map(({ name }) => name));

describe('what is fused', () => {
  it.each<[string, ProblemInput, string[][], number]>([
    ['nothing along one short axis', { size: [1024] }, [[]], 0],
    ['twiddles and the transposition of two uploads', { size: [2 ** 20] }, [['twiddles'], ['reordering']], 2],
    ['two axes, and the third one by itself', { size: [64, 64, 64], batches: 1000 }, [['axes'], []], 1],
    ['a whole convolution', { size: [1009], batches: 1000 }, [['convolution']], 4],
    [
      'axes in two launches, the first of which reorders',
      { size: [4096, 4096] },
      [['axes', 'twiddles', 'reordering'], []],
      3,
    ],
  ])('is %s', (_, input, expected, saved) => {
    expect(names(input)).toEqual(expected);
    expect(plan(input).launches.reduce((sum, { node }) => sum + launchesSaved(node), 0)).toBe(saved);
  });

  it('makes a launch of its own what may not be one in place', () => {
    const titles = (input: ProblemInput) =>
      plan({ ...input, placement: 'in-place' }).launches.map(({ node }) => node.title);
    const real = { size: [64], transform: 'r2c', batches: 8 } as const;
    expect(titles(real)).toEqual(['axis 0']);
    // Bins that lie closer than the reals do not have the memory of these.
    expect(titles({ ...real, strides: { input: [1, 1, 66], output: [1, 1, 34] } })).toEqual(['axis 0', 'copy']);
    // Of several launches, what lies between them has memory of its own.
    expect(titles({ ...real, size: [2 ** 20] })).toHaveLength(2);
  });

  it('says what may not work in place', () => {
    for (const input of [{ size: [2 ** 20], placement: 'in-place' }, { size: [4096, 4096] }] as const) {
      for (const { node, from, to } of plan(input).launches) {
        if (shimsOf(node).some(({ fits }) => !fits({ oneMemory: true, alike: true }))) expect(from).not.toBe(to);
      }
    }
  });
});
