import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { normalizeProblem } from '../normalize/normalize.ts';
import { copyElements, elementRuns } from './elements.ts';
import { tensorShape, tensorSpan } from './layout.ts';

const random = randomFor('problem/elements');

describe('the elements of a tensor', () => {
  it('are copied, and nothing else', () => {
    for (let round = 0; round < 200; round++) {
      const size = Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 9));
      const counts = { leftBatches: random.integer(1, 3), coordinates: 1, batches: random.integer(1, 4) };
      const layout = random.pick(['interleaved', 'planar'] as const);
      // Strides in any order of the dimensions, some with gaps.
      const shape = [counts.leftBatches, ...size, counts.batches];
      const order = shape.map((_, d) => d).sort(() => random.integer(0, 1) - 0.5);
      const strides: number[] = [];
      let next = 1;
      for (const d of order) {
        strides[d] = next * random.pick([1, 1, 1, 2, 3]);
        next = strides[d]! * shape[d]!;
      }
      let offset = random.integer(0, 5);
      // Some are walked backwards, and some elements are read several times.
      for (const d of strides.keys()) {
        const way = random.pick([1, 1, 1, -1, 0]);
        if (way < 0) offset += (shape[d]! - 1) * strides[d]!;
        strides[d]! *= way;
      }
      const problem = normalizeProblem({
        ...{ size, ...counts, layout: { input: layout, output: layout }, strides: { input: strides } },
        ...{ offsets: { input: offset }, directions: 'forward' },
      });
      const unit = layout === 'planar' ? 1 : 2;
      const length = unit * tensorSpan(problem, 'input') + 3;
      const wanted = new Float32Array(length);
      const full = tensorShape(problem, 'input');
      const walk = (d: number, at: number): void => {
        if (d === full.length) for (let n = 0; n < unit; n++) wanted[unit * at + n] = 1;
        else for (let k = 0; k < full[d]!; k++) walk(d + 1, at + k * problem.strides.input[d]!);
      };
      walk(0, offset);
      const copied = new Float32Array(length);
      copyElements(copied, new Float32Array(length).fill(1), elementRuns(problem, 'input'));
      expect(copied).toEqual(wanted);
    }
  });
});
