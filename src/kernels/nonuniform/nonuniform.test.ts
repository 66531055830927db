import { describe, expect, it } from 'vitest';
import { type Kernel, verify } from '../../ir/index.ts';
import { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import {
  clearKernel,
  fineGridOf,
  interpolationKernel,
  marginKernel,
  modesKernel,
  type NonuniformShape,
  packedModes,
  spreadKernel,
  weightsKernel,
} from './index.ts';

const spreading = new SemicircleKernel(1e-5, 2);

/** All kernels of a transform. */
function kernelsOf(shape: NonuniformShape): Kernel[] {
  const { grid } = shape;
  const modes = packedModes(
    grid.points.map((points) => points / 2 - 1),
    'centred',
  );
  const passes = (['from grid', 'into grid'] as const).flatMap((way) =>
    (['positive', 'negative'] as const).map((sign) => modesKernel(shape, modes, spreading, way, sign)!),
  );
  const margins = grid.points.flatMap((_, axis) => [
    marginKernel(shape, axis, 'add'),
    marginKernel(shape, axis, 'copy'),
  ]);
  return [
    clearKernel(shape),
    weightsKernel(shape, spreading),
    spreadKernel(shape, 3),
    interpolationKernel(shape),
    ...margins,
    ...passes,
  ];
}

describe('kernels of non-uniform transforms', () => {
  it.each([
    ['vectors of singles', true, 'f32', 4],
    ['vectors of doubles', true, 'f64', 2],
    ['threads', false, 'f32', 2],
  ] as const)('for %s keep the rules of kernels', (_, vectors, type, lanes) => {
    for (const points of [[5000], [24, 40], [20, 16, 30]]) {
      for (const [transforms, hasFactors] of [
        [1, false],
        [3, true],
      ] as const) {
        const shape: NonuniformShape = {
          target: { vectors, lanes, maxThreads: 256 },
          type,
          grid: fineGridOf(points, spreading.width, lanes),
          width: spreading.width,
          transforms,
          capacity: 512,
          hasFactors,
        };
        for (const kernel of kernelsOf(shape)) {
          // The rules do not see that the margin of an axis and its beginning lie apart.
          const seen = verify(kernel).filter((text) => !/margin.*(may touch the same|may write what)/.test(text));
          expect(seen).toEqual([]);
        }
      }
    }
  });
});
