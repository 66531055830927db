import { describe, expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { strideAlong } from '../../layout/index.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import type { DeviceProfile } from '../device/profile.ts';
import type { Leaf } from './leaf.ts';
import { type Dimension, type LeafNode, leafNode, leavesOf, type PlanNode } from './node.ts';
import { paddedElements, paddedStep, paddedTree } from './padding.ts';

const at = (step: number) => ({ dimension: 0, stride: step });
const loop = (count: number, input: number, output: number): Dimension => ({
  count,
  input: at(input),
  output: at(output),
});
const POINTS = 4096 * 262144;
const step = (title: string, axis: Dimension, ...batch: Dimension[]): LeafNode =>
  leafNode({ title, axis, batch, tensor: [POINTS] });
const tree = (...children: PlanNode[]) =>
  ({ scheme: 'axes', title: 'tree', length: [POINTS], outputLength: [POINTS], children }) as const;

/** Steps of 512 KiB and more, 64 single-precision complex numbers longer. */
const padding = { multiple: 2 ** 19, count: 64, by: 512 };

describe('padding', () => {
  it('follows rocFFT’s example: 4096 × 262144 that are transposed, then cut into 512 × 512', () => {
    const example = tree(
      step('transposed', loop(4096, 1, 262144), loop(262144, 4096, 1)),
      step('512 in place', loop(512, 512, 512), loop(512, 1, 1), loop(4096, 262144, 262144)),
      step('512 to the user', loop(512, 1, 1), loop(512, 512, 512), loop(4096, 262144, 262144)),
    );
    const { tree: same, pads } = paddedTree(example, [1], 8, padding);
    expect(same).toEqual(example);
    const strides = leavesOf(same).map(({ axis, batch }) =>
      (['input', 'output'] as const).map((side) => [axis, ...batch].map((d) => paddedStep(d[side].stride, pads))),
    );
    expect(strides[0]![1]).toEqual([262208, 1]);
    expect(strides[1]).toEqual([
      [512, 1, 262208],
      [512, 1, 262208],
    ]);
    expect(strides[2]![0]).toEqual([1, 512, 262208]);
    expect(paddedElements(POINTS, pads)).toBe(262208 * 4095 + 262144);
  });

  it('cuts a batch that would step over it, and leaves alone what would cut an axis', () => {
    const first = step('first', loop(4096, 262144, 262144), loop(262144, 1, 1));
    const across = step('across', loop(64, 2 ** 24, 2 ** 24), loop(2 ** 24, 1, 1));
    const cut = paddedTree(tree(first, across), [1], 8, padding);
    expect(cut.pads).toEqual([{ every: 262144, by: 64 }]);
    expect(leavesOf(cut.tree)[1]!.batch).toEqual([loop(262144, 1, 1), loop(64, 262144, 262144)]);
    const twiddled: LeafNode = { ...across, twiddle: { order: POINTS, on: 'output' } };
    expect(paddedTree(tree(first, twiddled), [1], 8, padding).pads).toEqual([]);
    const along = step('along', loop(2 ** 24, 1, 1), loop(64, 2 ** 24, 2 ** 24));
    expect(paddedTree(tree(first, along), [1], 8, padding).pads).toEqual([]);
  });

  it('lengthens what stays slow once more', () => {
    const both = [loop(4096, 262144, 262144), loop(64, 2 ** 22, 2 ** 22)] as const;
    const slow = tree(step('a', both[0], loop(262144, 1, 1)), step('b', both[0], loop(262144, 1, 1)));
    expect(paddedTree(slow, [1], 8, { ...padding, by: 2 ** 15 }).pads).toEqual([{ every: 262144, by: 4096 }]);
    const image = tree(
      step('a', loop(64, 1, 1), loop(64, 2 ** 16, 2 ** 16), loop(64, 2 ** 22, 2 ** 22)),
      step('b', loop(64, 2 ** 22, 2 ** 22), loop(64, 1, 1), loop(64, 2 ** 16, 2 ** 16)),
    );
    const { pads } = paddedTree(image, [1], 8, { ...padding, by: 2 ** 13 });
    expect(pads).toEqual([
      { every: 2 ** 16, by: 1024 },
      { every: 2 ** 22, by: 1024 },
    ]);
    expect(paddedStep(2 ** 22, pads) * 8).toBe(2 ** 25 + 2 ** 19 + 2 ** 13);
  });
});

describe('padded temps', () => {
  const gpu = { ...namedProfiles.h200.profile, padding: { multiple: 4096, count: 16, by: 64 } };
  /** From one element of the axis to the next in what a leaf writes, in complex numbers. */
  const rowsOf = ({ output }: Leaf) => strideAlong(output.layout, 0)! / 2;
  const plan = (input: ProblemInput, profile: DeviceProfile = gpu) =>
    planDirection(normalizeProblem(input), 'forward', profile, false);

  it('take the memory that they need, and count as rocFFT’s third criterion', () => {
    const { assignment, launches, tempElements } = plan({ size: [2 ** 20], batches: 16 });
    expect(plan({ size: [2 ** 20], batches: 16 }, namedProfiles.h200.profile).tempElements).toBe(16 * 2 ** 20);
    expect(assignment.padded).toBe(2);
    expect(launches[0]!.to).toBe('temp');
    expect(rowsOf(launches[0]!.leaf)).toBe(1024 + 8);
    // Steps from one batch to the next are slow, too.
    expect(tempElements).toBe((16 * 1024 - 1) * 1032 + 15 * 8 + 1024);
  });

  it('have whole numbers in between, however wide these are', () => {
    const narrow = { ...gpu, padding: { ...gpu.padding, by: 16 } };
    const { launches } = plan({ size: [2 ** 20], precision: 'double-double' }, narrow);
    expect(rowsOf(launches[0]!.leaf)).toBe(1024 + 1);
  });

  it('do not touch buffers of the user', () => {
    for (const { launches } of [plan({ size: [4096, 4096] }), plan({ size: [2 ** 20], placement: 'in-place' })]) {
      for (const { leaf, from, to } of launches) {
        for (const [name, side] of [[from, leaf.input] as const, [to, leaf.output] as const]) {
          if (name === 'temp') continue;
          for (const d of side.layout.shape.keys()) {
            const stride = strideAlong(side.layout, d)!;
            if (stride > 0) expect(Math.log2(stride) % 1).toBe(0);
          }
        }
      }
    }
  });
});
