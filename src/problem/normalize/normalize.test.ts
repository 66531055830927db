import { describe, expect, it } from 'vitest';
import { FftError, type FftErrorCode } from '../errors.ts';
import type { Problem, ProblemInput } from '../problem.ts';
import { normalizeProblem, resolveProblem } from './normalize.ts';

/** What normalising says is wrong; anything may be passed, as from JavaScript. */
function refusal(input: unknown): FftError {
  try {
    normalizeProblem(input as ProblemInput);
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const codes = (input: unknown): FftErrorCode[] => refusal(input).problems.map(({ code }) => code);

describe('the normal form', () => {
  it('has every field', () => {
    const expected: Problem = {
      size: [1024],
      transform: ['c2c'],
      omit: [false],
      precision: 'single',
      storage: 'single',
      edgeStorage: 'single',
      layout: { input: 'interleaved', output: 'interleaved' },
      batches: 16,
      leftBatches: 1,
      coordinates: 1,
      placement: 'out-of-place',
      preserveInput: true,
      strides: { input: [1, 1, 1024, 1024], output: [1, 1, 1024, 1024] },
      offsets: { input: 0, output: 0 },
      normalize: false,
      scale: { forward: 1, inverse: 1 },
      directions: 'both',
      unordered: false,
      strategy: 'fast',
      tuning: {},
      zeroPadding: { space: [null], frequency: [null] },
      callbacks: null,
      bands: null,
      convolution: null,
      debug: false,
    };
    expect(normalizeProblem({ size: [1024], batches: 16, precision: 'single' })).toEqual(expected);
    expect(normalizeProblem('scfo1024*16')).toEqual({ ...expected, directions: 'forward' });
  });

  it('is frozen through and through, and leaves the user’s objects alone', () => {
    const input = { size: [8], strides: { input: [1, 1, 8] }, tuning: { coalescedBytes: 64 } };
    const problem = normalizeProblem(input);
    const { size, transform, omit, layout, strides, offsets, scale, tuning } = problem;
    for (const part of [problem, size, transform, omit, layout, strides, strides.input, strides.output]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    for (const part of [offsets, scale, tuning]) expect(Object.isFrozen(part)).toBe(true);
    for (const part of [input, input.size, input.strides.input, input.tuning]) {
      expect(Object.isFrozen(part)).toBe(false);
    }
  });

  it('is its own normal form, also after a journey through JSON', () => {
    const problem = normalizeProblem({
      size: [4, 3, 5],
      omit: [false, true, false],
      coordinates: 2,
      batches: 3,
      layout: { input: 'planar' },
      scale: { inverse: 0.5 },
    });
    expect(normalizeProblem(problem)).toBe(problem);
    expect(normalizeProblem(JSON.parse(JSON.stringify(problem)))).toEqual(problem);
  });

  it('has no block where one is empty', () => {
    const zeroPadding = { space: [{ from: 4, to: 4 }, null], frequency: [{ from: 8, to: 8 }, null] };
    expect(normalizeProblem({ size: [8, 2], zeroPadding })).toEqual(normalizeProblem({ size: [8, 2] }));
  });

  it('treats undefined as left out', () => {
    const all = Object.fromEntries(Object.keys(normalizeProblem({ size: [4] })).map((name) => [name, undefined]));
    expect(normalizeProblem({ ...all, convolution: undefined, size: [4] } as ProblemInput)).toEqual(
      normalizeProblem({ size: [4] }),
    );
  });

  it('gives strides a coordinate entry, whichever way they were written', () => {
    const short = normalizeProblem({ size: [4, 3], batches: 2, strides: { input: [1, 2, 9, 40] } });
    const long = normalizeProblem({ size: [4, 3], batches: 2, strides: { input: [1, 2, 9, 77, 40] } });
    expect(short.strides.input).toEqual([1, 2, 9, 27, 40]);
    expect(long).toEqual(short);
    const vector = normalizeProblem({ size: [4], coordinates: 3, batches: 2, strides: { output: [1, 3, 1, 12] } });
    expect(vector.strides).toEqual({ input: [1, 1, 4, 12], output: [1, 3, 1, 12] });
  });

  it('lets one side speak for both in place, where there is no input to preserve', () => {
    const problem = normalizeProblem({
      size: [4],
      placement: 'in-place',
      strides: { output: [1, 2, 8] },
      offsets: { input: 3 },
    });
    expect(problem.strides.input).toEqual([1, 2, 8, 8]);
    expect(problem.offsets).toEqual({ input: 3, output: 3 });
    expect(problem.preserveInput).toBe(false);
  });

  it('takes more axes than anybody names letters for', () => {
    const problem = normalizeProblem({ size: [2, 3, 2, 5, 2, 7, 2, 2] });
    expect(problem.strides.output).toEqual([1, 1, 2, 6, 12, 60, 120, 840, 1680, 3360, 3360]);
  });

  it('takes the words for real data and for precisions', () => {
    expect(resolveProblem({ size: [4, 5], transform: 'r2c' }).transform).toEqual(['r2c', 'c2c']);
    expect(resolveProblem({ size: [4, 5], transform: ['dct2', 'dst3'] }).transform).toEqual(['dct2', 'dst3']);
    const half = resolveProblem({ size: [4], precision: 'half' });
    expect([half.precision, half.storage, half.edgeStorage]).toEqual(['single', 'half', 'half']);
    expect(resolveProblem({ size: [4], precision: 'double', storage: 'single' }).edgeStorage).toBe('single');
  });
});

describe('sizes and batches', () => {
  it.each([0, -4, 2.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '8', null, 8n, [8]])('refuse %s', (bad) => {
    expect(codes({ size: [bad] })).toEqual(['invalid-size']);
    expect(refusal({ size: [4, bad] }).problems[0]!.path).toBe('size[1]');
    for (const name of ['batches', 'leftBatches', 'coordinates']) {
      expect(codes({ size: [4], [name]: bad })).toEqual(['invalid-batches']);
    }
  });

  it.each([undefined, [], 1024, 'x', {}, null, new Float32Array(2)])('refuse %s in place of the list', (bad) => {
    expect(codes({ size: bad })).toEqual(['invalid-size']);
  });

  it('refuse holes in the list', () => {
    expect(codes({ size: new Array(2) })).toEqual(['invalid-size', 'invalid-size']);
  });

  it('refuse tensors beyond exact addresses', () => {
    expect(codes({ size: [2 ** 27, 2 ** 27] })).toEqual(['invalid-size']);
    expect(codes({ size: [2 ** 25, 2 ** 25] })).toEqual(['invalid-size']);
    expect(codes({ size: [2 ** 25], batches: 2 ** 25 })).toEqual(['invalid-batches']);
    expect(normalizeProblem({ size: [2 ** 24], batches: 2 ** 25 }).batches).toBe(2 ** 25);
  });
});

describe('strides and offsets', () => {
  it('refuse lists of the wrong length, and say which is right', () => {
    expect(refusal({ size: [4], strides: { input: [1, 4] } }).message).toContain('3 strides [left, axes …, batch]');
    expect(codes({ size: [4], coordinates: 2, strides: { output: [1, 1, 8] } })).toEqual(['invalid-strides']);
    expect(codes({ size: [4], strides: { input: 'packed' } })).toEqual(['invalid-strides']);
  });

  it.each([2 ** 53, 1.5, Number.NaN, '4'])('refuse the entry %s', (bad) => {
    const error = refusal({ size: [4], directions: 'forward', strides: { input: [1, bad, 4] } });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['invalid-strides', 'strides.input[1]']]);
  });

  it('walk backwards from an offset that leaves room for it', () => {
    const strides = { input: [1, -1, 4] };
    expect(normalizeProblem({ size: [4], strides, offsets: { input: 3 } }).strides.input[1]).toBe(-1);
    const error = refusal({ size: [4], strides, offsets: { input: 2 } });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['invalid-offset', 'offsets.input']]);
    expect(error.message).toContain('reach 3 elements in front of the first');
    expect(error.message).toContain('it has to be 3 or more');
  });

  it('repeat elements by a stride of 0 where they are only read', () => {
    const strides = [1, 1, 0];
    expect(codes({ size: [4], batches: 3, strides: { input: strides } })).toEqual(['overlapping-strides']);
    expect(codes({ size: [4], batches: 3, directions: 'forward', strides: { output: strides } })).toEqual([
      'overlapping-strides',
    ]);
    const problem = normalizeProblem({ size: [4], batches: 3, directions: 'forward', strides: { input: strides } });
    expect(problem.strides.input.at(-1)).toBe(0);
    expect(normalizeProblem({ size: [4], strides: { output: strides } }).strides.output.at(-1)).toBe(0);
  });

  it.each([-1, 0.5, Number.POSITIVE_INFINITY, '1', null])('refuse the offset %s', (bad) => {
    expect(codes({ size: [4], offsets: { output: bad } })).toEqual(['invalid-offset']);
  });

  it('refuse addresses that are not exact', () => {
    expect(codes({ size: [4], strides: { input: [1, 2 ** 50, 2 ** 52] } })).toEqual(['invalid-strides']);
    expect(codes({ size: [4], offsets: { input: 2 ** 50 } })).toEqual(['invalid-offset']);
  });

  it('name the axes that overlap and two elements that meet', () => {
    const error = refusal({ size: [4, 3], strides: { output: [1, 2, 3, 12] } });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['overlapping-strides', 'strides.output']]);
    expect(error.message).toContain('axis 0 (length 4, stride 2) and axis 1 (length 3, stride 3) overlap');
    expect(error.message).toMatch(/\(3, 0\) and \(0, 2\) are both at 6|\(0, 2\) and \(3, 0\) are both at 6/);
    expect(normalizeProblem({ size: [2, 2], strides: { output: [1, 2, 3, 12] } }).strides.output[2]).toBe(3);
    expect(refusal({ size: [4], batches: 2, strides: { output: [1, 1, 3] } }).message).toContain('the batch (');
    expect(refusal({ size: [4], leftBatches: 2, strides: { output: [1, 1, 8] } }).message).toContain(
      'the left batch (',
    );
  });

  it('may overlap only where they are never written', () => {
    const input = [1, 1, 2];
    const output = [1, 1, 2];
    const size = [4];
    const batches = 3;
    expect(normalizeProblem({ size, batches, directions: 'forward', strides: { input } }).strides.input[3]).toBe(2);
    expect(normalizeProblem({ size, batches, directions: 'inverse', strides: { output } }).strides.output[3]).toBe(2);
    for (const refused of [
      { strides: { input } },
      { strides: { input }, directions: 'inverse' },
      { strides: { output }, directions: 'forward' },
      { strides: { input }, directions: 'forward', preserveInput: false },
      { strides: { input }, directions: 'forward', placement: 'in-place' },
    ]) {
      expect(codes({ size, batches, ...refused })).toEqual(['overlapping-strides']);
    }
  });

  it('keep the results of all kernels of a convolution apart', () => {
    const packed = { size: [4], convolution: { kernels: 2 } };
    const error = refusal({ ...packed, strides: { output: [1, 1, 1] } });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['overlapping-strides', 'strides.output']]);
    expect(error.message).toContain('axis 0 (length 4, stride 1) and the batches of all kernels (length 2, stride 1)');
    for (const wrong of [
      { ...packed, batches: 2, strides: { output: [1, 2, 4] } },
      { ...packed, leftBatches: 2, strides: { output: [3, 1, 4] } },
      { ...packed, coordinates: 2, convolution: { kernels: 2, matrix: 2 }, strides: { output: [1, 1, 4, 6] } },
      { ...packed, coordinates: 2, strides: { output: [1, 1, 8, 8] } },
      // Of reals, results lie as the signal does, which may overlap where it is only read.
      { ...packed, transform: 'r2c', strides: { input: [1, 1, 3] } },
      {
        size: [4],
        batches: 3,
        convolution: {},
        transform: 'r2c',
        directions: 'forward',
        strides: { input: [1, 1, 2] },
      },
    ]) {
      expect(codes(wrong)).toEqual(['overlapping-strides']);
    }
    for (const right of [
      { ...packed, strides: { output: [1, 1, 4] } },
      { ...packed, strides: { output: [1, 2, 1] } },
      { ...packed, directions: 'forward', batches: 3, strides: { input: [1, 1, 1] } },
      { ...packed, transform: 'r2c', strides: { output: [1, 1, 1] } },
    ]) {
      expect(() => normalizeProblem(right as ProblemInput)).not.toThrow();
    }
    expect(codes({ ...packed, convolution: { kernels: 2 ** 52 } })[0]).toBe('invalid-field');
    expect(codes({ ...packed, strides: { output: [1, 1, 2 ** 49] }, convolution: { kernels: 9 } })).toEqual([
      'invalid-strides',
    ]);
  });

  it('must agree in place', () => {
    const base = { size: [4], placement: 'in-place' };
    expect(codes({ ...base, strides: { input: [1, 1, 4], output: [1, 2, 8] } })).toEqual(['invalid-strides']);
    expect(codes({ ...base, offsets: { input: 0, output: 4 } })).toEqual(['invalid-offset']);
    expect(codes({ ...base, layout: { input: 'planar' } })).toEqual(['invalid-field']);
  });
});

describe('offsets of a real transform in place', () => {
  it('follow each other to the same byte', () => {
    const base = { size: [4], transform: 'r2c', placement: 'in-place' } as const;
    const offsetsOf = (offsets: ProblemInput['offsets']) => normalizeProblem({ ...base, offsets }).offsets;
    expect(offsetsOf({ input: 6 })).toEqual({ input: 6, output: 3 });
    expect(offsetsOf({ output: 3 })).toEqual({ input: 6, output: 3 });
    expect(offsetsOf({ input: 7, output: 1 })).toEqual({ input: 7, output: 1 });
    expect(offsetsOf(undefined)).toEqual({ input: 0, output: 0 });
    expect(codes({ ...base, offsets: { input: 7 } })).toEqual(['invalid-offset']);
  });
});

describe('fields', () => {
  it.each([
    ['sizes', 'size'],
    ['batch', 'batches'],
    ['presision', 'precision'],
    ['stride', 'strides'],
    ['shape', 'size'],
    ['inPlace', 'placement'],
    ['doublePrecision', 'precision'],
    ['disableReorderFourStep', 'unordered'],
    ['makeForwardPlanOnly', 'directions'],
    ['FFTdim', 'size'],
    ['performDCT', 'transform'],
    ['in_place', 'placement'],
    ['threads', 'tuning.threads'],
    ['registerBoost', 'tuning.registerBoost'],
    ['considerAllAxesStrided', 'tuning.considerAllAxesStrided'],
    ['coalescedMemory', 'tuning.coalescedBytes'],
    ['useLUT', 'tuning.twiddles'],
    ['warpSzie', 'tuning.warpSize'],
    // Not there yet, but the one thing that this can mean.
    ['performZeropadding', 'zeroPadding'],
  ])('%s is unknown and %s proposed', (name, proposed) => {
    const error = refusal({ size: [4], [name]: 1 });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['unknown-field', name]]);
    expect(error.message).toContain(`did you mean ${proposed}?`);
  });

  // Where nothing is near, or what is near cannot be used yet.
  it.each(['constructor', '', 'quadrature', 'colour', 'x'.repeat(1000)])(
    '%s is unknown and nothing proposed',
    (name) => {
      const error = refusal({ size: [4], [name]: 1 });
      const quoted = name.length > 200 ? `${name.slice(0, 199)}…` : name;
      expect(error.problems.map(({ code, path }) => [code, path])).toEqual([['unknown-field', quoted]]);
      expect(error.message).toMatch(/ is no known field; known are size, transform, .*, debug\.$/);
    },
  );

  it('inside fields are known too', () => {
    const error = refusal({ size: [4], strides: { inputs: [1, 1, 4] }, offsets: { out: 1 }, scale: { backward: 2 } });
    expect(error.problems.map(({ code, path }) => [code, path])).toEqual([
      ['unknown-field', 'scale.backward'],
      ['unknown-field', 'strides.inputs'],
      ['unknown-field', 'offsets.out'],
    ]);
  });

  it.each([
    ['transform', 'fft'],
    ['transform', 2],
    ['transform', ['c2c', 'c2c']],
    ['precision', 'float'],
    ['storage', 32],
    ['edgeStorage', 'Double'],
    ['layout', 'split'],
    ['layout', { input: 'soa' }],
    ['placement', true],
    ['preserveInput', 1],
    ['normalize', 'yes'],
    ['scale', 2],
    ['scale', { forward: Number.NaN }],
    ['directions', 'backward'],
    ['omit', true],
    ['omit', [0]],
    ['omit', [true, false]],
    ['unordered', 'no'],
    ['strategy', 'slow'],
    ['strides', [1, 1, 4]],
    ['offsets', 3],
    ['tuning', 'fast'],
    ['tuning', [1]],
    ['debug', 1],
    ['strategy', 'slow'],
  ])('%s does not take %j', (name, bad) => {
    const error = refusal({ size: [4], [name]: bad });
    expect(error.problems.map(({ code }) => code)).toEqual(['invalid-field']);
    expect(error.problems[0]!.path.startsWith(name)).toBe(true);
  });

  it('transform lists do not mix kinds', () => {
    expect(codes({ size: [4, 4], transform: ['c2c', 'dct2'] })[0]).toBe('invalid-field');
    expect(codes({ size: [4, 4], transform: ['c2c', 'r2c'] })[0]).toBe('invalid-field');
  });

  it.each([
    [{ transform: 'r2c', omit: [true] }, 'omit[0]'],
    [{ precision: 'single', storage: 'double' }, 'storage'],
    [{ edgeStorage: 'double' }, 'edgeStorage'],
  ] as const)('%j is valid but not to be had yet', (fields, path) => {
    const error = refusal({ size: [4], ...fields });
    expect(error.problems.map((problem) => [problem.code, problem.path])).toEqual([['unsupported-feature', path]]);
  });

  it.each([undefined, null, 16, [16], new Map(), Promise.resolve({ size: [4] }), () => 1])(
    'are read from no %s',
    (bad) => {
      expect(codes(bad)).toEqual(['invalid-field']);
    },
  );
});

describe('one error', () => {
  it('lists everything that is wrong', () => {
    const error = refusal({
      size: [0, 17],
      batches: -1,
      precison: 'single',
      placement: 'inplace',
      offsets: { input: -2 },
      strides: { output: [1, 2] },
      convolution: { matrix: 4 },
    });
    expect(error.problems.map(({ path }) => path)).toEqual([
      'precison',
      'size[0]',
      'convolution.matrix',
      'batches',
      'placement',
      'strides.output',
      'offsets.input',
    ]);
    expect(error.code).toBe('unknown-field');
    for (const { message } of error.problems) expect(error.message).toContain(message);
    expect(error.message).not.toContain('\n');
  });
});

it('in place, strides may differ where there is one element', () => {
  const strides = { input: [1, 1, 4], output: [1, 1, 8] };
  expect(normalizeProblem({ size: [4], placement: 'in-place', strides }).strides.output).toEqual([1, 1, 4, 8]);
  const wrong = () => normalizeProblem({ size: [4], batches: 2, placement: 'in-place', strides });
  expect(wrong).toThrow(/strides.input \[1, 1, 4\] and strides.output \[1, 1, 8\] must be equal/);
});
