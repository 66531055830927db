import { describe, expect, it } from 'vitest';
import type { FftError } from '../errors.ts';
import type { AnyProblemInput } from '../problem.ts';
import { normalizeProblem } from './normalize.ts';

const common = { size: [8], transform: 'r2c', directions: 'forward' } as const;

function refusal(more: object): FftError {
  try {
    normalizeProblem({ ...common, ...more } as AnyProblemInput);
  } catch (error) {
    return error as FftError;
  }
  throw new Error('it was accepted');
}

describe('bands', () => {
  it('have one normal form, without zeros at their ends, and their sums are the output', () => {
    const matrix = Float32Array.of(0, 0.5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2);
    const list = [
      { from: 0, weights: [0, 0.5, 1, 0] },
      { from: 3, weights: [] },
      { from: 2, weights: [1, 0, 2] },
    ];
    const expected = [
      { from: 1, weights: [0.5, 1] },
      { from: 0, weights: [0] },
      { from: 2, weights: [1, 0, 2] },
    ];
    const problem = normalizeProblem({ ...common, batches: 4, bands: matrix });
    expect(problem.bands).toEqual(expected);
    expect(normalizeProblem({ ...common, batches: 4, bands: list })).toEqual(problem);
    expect(normalizeProblem({ ...common, batches: 4, bands: expected })).toEqual(problem);
    expect(problem.strides.output).toEqual([1, 1, 3, 3]);
    expect(normalizeProblem({ ...common, bands: null }).bands).toBeNull();
    matrix.fill(7);
    expect(problem.bands).toEqual(expected);
  });

  it.each<[string, object, string, RegExp]>([
    ['rows of another length', { bands: new Float64Array(12) }, 'bands', /has 12 numbers, .* a row of 5 numbers/],
    ['no rows', { bands: new Float64Array(0) }, 'bands', /has 0 numbers/],
    ['weights that are no numbers', { bands: Float64Array.of(0, 1, Number.NaN, 0, 0) }, 'bands[2]', /is NaN/],
    ['no list', { bands: 3 }, 'bands', /is 3, but must be a Float32Array or Float64Array/],
    ['an empty list', { bands: [] }, 'bands', /a list of \{ from, weights \}/],
    ['no weights', { bands: [{ from: 1 }] }, 'bands[0].weights', /must list numbers/],
    ['bins that are not there', { bands: [{ from: 4, weights: [1, 2] }] }, 'bands[0]', /ends at bin 6, .* 5 bins/],
    ['both directions', { bands: new Float64Array(5), directions: 'both' }, 'directions', /directions: 'forward'/],
    ['several axes', { bands: new Float64Array(5), size: [8, 8] }, 'bands', /size has 2; use batches/],
    ['cosines', { bands: new Float64Array(8), transform: 'dct2' }, 'bands', /'r2c' and 'c2c'/],
    ['one memory', { bands: new Float64Array(5), placement: 'in-place' }, 'placement', /'out-of-place' would do/],
    ['an order of its own', { bands: new Float64Array(5), unordered: true }, 'unordered', /leave unordered out/],
    ['a convolution', { bands: new Float64Array(5), convolution: {} }, 'convolution', /a plan for each/],
    ['planes of reals', { bands: new Float64Array(5), layout: { output: 'planar' } }, 'layout', /'planar'/],
  ])('are refused with %s', (_, more, path, message) => {
    const { problems } = refusal(more);
    const found = problems.find((one) => one.path === path);
    expect(found?.message).toMatch(message);
  });

  it('have callbacks for bins and for sums', () => {
    const bands = new Float64Array(5).fill(1);
    const complex = { forward: { bin: (_: unknown, value: unknown) => value } };
    expect(refusal({ bands, callbacks: complex }).message).toMatch(/forward\.bin has returned a complex number/);
    expect(refusal({ callbacks: { forward: { bin: () => 1 } } }).message).toMatch(/bin/);
    const { callbacks } = normalizeProblem({
      ...{ ...common, bands },
      callbacks: { forward: { bin: (x, { re, im }) => x.sqrt(x.mul(re, im)), store: (x, sum) => x.log(sum) } },
    });
    expect(callbacks!.forward.bin).toMatchObject({ takes: 'complex', gives: 'real' });
    expect(callbacks!.forward.store).toMatchObject({ takes: 'real', gives: 'real' });
  });
});
