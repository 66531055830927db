import { expect, it } from 'vitest';
import { lengthsOf, uploads } from '../../test/support/schemes.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import { normalizeProblem } from '../problem/index.ts';
import { kernelProblem } from './convolution.ts';
import { targetOf } from './device/target.ts';
import { preparingTree } from './kernel-spectrum.ts';
import type { Splits } from './schemes/splits.ts';
import { keepsPlaces, leavesOf } from './tree/node.ts';

// How the signal's first axis comes, whose bins have the natural order or are where two uploads leave them.
it.each<[string, Splits]>([
  ['in a launch with the second one', { shared: { launches: 1, axes: 2 }, axes: [null, null] }],
  ['in one launch', { axes: [uploads(64), uploads(3)] }],
  ['in two launches', { axes: [uploads(8, 8), uploads(3)] }],
])('blocks of bins are where they come in the kernel, the axis of the signal %s', (_, splits) => {
  const problem = normalizeProblem({
    ...{ size: [64, 3], convolution: {} },
    zeroPadding: {
      frequency: [
        { from: 3, to: 40 },
        { from: 0, to: 2 },
      ],
    },
  });
  // The kernel's own comes in two, whatever the signal's does.
  const profile = { ...namedProfiles.h200.profile, tuning: { uploadSwitch: { two: 64 } } };
  const split = { axes: [], real: false, after: false, splits };
  const { children } = preparingTree(kernelProblem(problem), split, [1, 64, 3, 1, 1], targetOf(profile, 'single'));
  for (const axis of children) {
    const leaves = leavesOf(axis);
    const bands = leaves.flatMap(({ factors }) => factors?.output ?? []);
    expect(bands.map(({ kind, along }) => [kind, along])).toEqual([['band', axis.axisOf! + 1]]);
    // Launches that reorder nothing leave bins in the order of their lengths; all others leave them in their own.
    const isLeft = leaves.length > 1 && leaves.every(keepsPlaces);
    expect(bands[0]!.order).toEqual(isLeft ? leaves.map((leaf) => leaf.axis.count) : undefined);
  }
  const [first] = children;
  expect(leavesOf(first!)).toHaveLength(splits.axes[0] && lengthsOf(splits.axes[0]).length === 1 ? 1 : 2);
});
