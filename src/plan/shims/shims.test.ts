import { describe, expect, it } from 'vitest';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { planDirection } from '../planner.ts';
import { shimsOf } from './index.ts';

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
    expect(plan(input).assignment.fused).toBe(saved);
  });

  it('says what may not work in place', () => {
    for (const input of [{ size: [2 ** 20], placement: 'in-place' }, { size: [4096, 4096] }] as const) {
      for (const { node, from, to } of plan(input).launches) {
        if (shimsOf(node).some(({ inPlace }) => !inPlace)) expect(from).not.toBe(to);
      }
    }
  });
});
