import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { FftError } from '../errors.ts';
import { defaultStrides } from '../layout/layout.ts';
import type { ProblemInput } from '../problem.ts';
import { lengthsAlone, parseDescriptor } from './descriptor.ts';
import { formatDescriptor } from './descriptor-format.ts';
import { normalizeProblem, resolveProblem } from './normalize.ts';

function thrown(action: () => unknown): FftError {
  try {
    action();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const plain = { leftBatches: 1, batches: 1, directions: 'forward', placement: 'out-of-place' } as const;

describe('lengthsAlone', () => {
  it.each([
    ['1024', { size: [1024], batches: 1 }],
    [' 64 x 48×3 * 10 ', { size: [64, 48, 3], batches: 10 }],
    ['64x', undefined],
    ['scfo64', undefined],
    ['', undefined],
  ])('reads %j', (text, problem) => expect(lengthsAlone(text)).toEqual(problem));

  it('are what a descriptor of nothing else is said to be', () => {
    expect(thrown(() => parseDescriptor('256x16')).message).toMatch(/position 0.*\{ size: \[256, 16\] \}/);
    expect(thrown(() => parseDescriptor('x16')).message).not.toContain('size');
  });
});

describe('parseDescriptor', () => {
  it.each([
    ['srfi5', { precision: 'single', transform: 'r2c', placement: 'in-place', size: [5] }],
    [
      'dcbi4*5',
      { precision: 'double', transform: 'c2c', directions: 'inverse', placement: 'in-place', size: [4], batches: 5 },
    ],
    [
      'dcbi4.5',
      {
        precision: 'double',
        transform: 'c2c',
        directions: 'inverse',
        placement: 'in-place',
        leftBatches: 4,
        size: [5],
      },
    ],
    ['drfo5x6x7', { precision: 'double', transform: 'r2c', size: [5, 6, 7] }],
    [
      'srbo4.5x6*7',
      { precision: 'single', transform: 'r2c', directions: 'inverse', leftBatches: 4, size: [5, 6], batches: 7 },
    ],
    [
      'scfo16*32i1,1,20',
      { precision: 'single', transform: 'c2c', size: [16], batches: 32, strides: { input: [1, 1, 20] } },
    ],
  ] as const)('reads the document’s example %s', (text, fields) => {
    expect(parseDescriptor(text)).toEqual({ ...plain, ...fields });
  });

  it('maps the strides of a backward transform: it reads what a problem calls output', () => {
    expect(parseDescriptor('scbo16*32i1,1,20o1,1,17').strides).toEqual({ output: [1, 1, 20], input: [1, 1, 17] });
    expect(parseDescriptor('scfo16*32i1,1,20o1,1,17').strides).toEqual({ input: [1, 1, 20], output: [1, 1, 17] });
    expect(parseDescriptor('scbo16*32o1,1,17').strides).toEqual({ input: [1, 1, 17] });
  });

  it('reads upper case, as ABNF does', () => {
    expect(parseDescriptor('SCFO2.8X4*3I1,2,20,80')).toEqual(parseDescriptor('scfo2.8x4*3i1,2,20,80'));
  });

  it.each([
    ['', 0, "'s' (single)"],
    ['xcfo16', 0, "'s' (single)"],
    ['sqfo16', 1, "'c' (complex)"],
    ['scio16', 2, "'f' (forward)"],
    ['scf16', 3, "'i' (in place)"],
    ['scfo', 4, 'a digit'],
    ['scfo*4', 4, 'a digit'],
    ['scfo-16', 4, 'a digit'],
    ['scfo4.', 6, 'a digit'],
    ['scfo4.5.6', 7, "'x'"],
    ['scfo4x', 6, 'a digit'],
    ['scfo4xx5', 6, 'a digit'],
    ['scfo4x5.6', 7, "'x'"],
    ['scfo1x2x3x4', 9, 'at most 3 axes'],
    ['scfo16*', 7, 'a digit'],
    ['scfo16*4*4', 8, "'i'"],
    ['scfo16 ', 6, "'x'"],
    ['scfo16.5e3', 8, "'x'"],
    ['scfo16i', 7, 'a digit (the first of 3 strides'],
    ['scfo16i1,1', 10, "',' and stride 3 of 3"],
    ['scfo16i1,1,', 11, 'a digit (stride 3 of 3'],
    ['scfo16i1,1,16,16', 13, "'o' or the end"],
    ['scfo4x5i1,1,4', 13, "',' and stride 4 of 4"],
    ['scfo16o1,1,16i1,1,16', 13, 'the end'],
    ['scfi16i1,1,16', 13, "'o' strides"],
    ['scfi16o1,1,16', 6, "'i' strides"],
  ])('answers %j with position %i and %s', (text, position, expected) => {
    const error = thrown(() => parseDescriptor(text));
    expect(error.code).toBe('invalid-descriptor');
    expect(error.message).toContain(`at position ${position}:`);
    expect(error.message).toContain(expected);
  });

  it('refuses what is no text', () => {
    expect(thrown(() => parseDescriptor(16 as unknown as string)).code).toBe('invalid-descriptor');
  });

  it('leaves the judgement of numbers to the normal form', () => {
    expect(thrown(() => normalizeProblem('scfo0')).code).toBe('invalid-size');
    expect(thrown(() => normalizeProblem('scfo16*0')).code).toBe('invalid-batches');
    expect(thrown(() => normalizeProblem('scfo9007199254740993')).code).toBe('invalid-size');
    expect(thrown(() => normalizeProblem(`scfo1${'0'.repeat(400)}`)).code).toBe('invalid-size');
    expect(thrown(() => normalizeProblem('scfi16i1,1,16o1,2,32')).code).toBe('invalid-strides');
  });
});

describe('formatDescriptor', () => {
  it.each(['srfi5', 'dcbi4*5', 'dcbi4.5', 'drfo5x6x7', 'srbo4.5x6*7', 'scfo16*32i1,1,20', 'scfi3i1,2,6o1,2,6'])(
    'gives %s back',
    (text) => {
      expect(formatDescriptor(parseDescriptor(text))).toBe(text);
    },
  );

  it('leaves out what is default and writes a problem for both directions as its forward transform', () => {
    expect(formatDescriptor({ size: [1024], batches: 16, precision: 'single' })).toBe('scfo1024*16');
    expect(formatDescriptor({ size: [4, 5], strides: { input: [1, 1, 4, 20], output: [1, 1, 6, 30] } })).toBe(
      'scfo4x5o1,1,6,30',
    );
  });

  it('repeats strides in place', () => {
    expect(formatDescriptor({ size: [4], placement: 'in-place', strides: { input: [1, 3, 12] } })).toBe(
      'scfi4i1,3,12o1,3,12',
    );
  });

  it('says everything that it cannot say', () => {
    const error = thrown(() =>
      formatDescriptor({
        size: [2, 3, 4, 5],
        omit: [false, true, false, false],
        layout: 'planar',
        coordinates: 2,
        preserveInput: false,
        offsets: { input: 1 },
        normalize: true,
        scale: { forward: 2 },
        unordered: true,
        strategy: 'measure',
        tuning: { coalescedBytes: 64 },
        debug: true,
      }),
    );
    expect(error.code).toBe('unsupported-feature');
    expect(error.problems.map(({ path }) => path)).toEqual([
      'size',
      'omit',
      'layout',
      'coordinates',
      'preserveInput',
      'offsets',
      'normalize',
      'scale',
      'unordered',
      'strategy',
      'tuning',
      'debug',
    ]);
    for (const input of [
      { size: [4], transform: 'dct2' },
      { size: [4], precision: 'half' },
      { size: [4], precision: 'double-double' },
      { size: [4], convolution: { kernels: 2 } },
    ] as const) {
      expect(thrown(() => formatDescriptor(input)).code).toBe('unsupported-feature');
    }
  });

  it('refuses callbacks without calling them', () => {
    const load = vi.fn();
    const input = { size: [4], directions: 'forward', callbacks: { forward: { load } } } as const;
    expect(thrown(() => formatDescriptor(input)).problems).toMatchObject([{ path: 'callbacks' }]);
    expect(load).not.toHaveBeenCalled();
    // Those of a direction that is not planned say nothing.
    const other = { ...input, callbacks: { forward: {}, inverse: { load } } };
    expect(formatDescriptor(other)).toBe('scfo4');
  });
});

/** Random problems that a descriptor can express, with strides that are padded and permuted. */
const sayable: fc.Arbitrary<ProblemInput> = fc
  .record({
    size: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 3 }),
    transform: fc.constantFrom('c2c', 'r2c'),
    precision: fc.constantFrom('single', 'double'),
    directions: fc.constantFrom('forward', 'inverse'),
    placement: fc.constantFrom('in-place', 'out-of-place'),
    batches: fc.integer({ min: 1, max: 9 }),
    leftBatches: fc.integer({ min: 1, max: 9 }),
    pads: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 12, maxLength: 12 }),
    custom: fc.record({ input: fc.boolean(), output: fc.boolean() }),
  })
  .map(({ pads, custom, ...problem }) => {
    const base = resolveProblem(problem);
    const bothOrNone = problem.placement === 'in-place';
    const padded = (side: 'input' | 'output') => {
      const shift = bothOrNone || side === 'input' ? 0 : 6;
      // In place the real rows keep their natural relation to the complex ones only when both are padded alike.
      const factor = bothOrNone && problem.transform === 'r2c' ? 1 : 1 + pads[shift]!;
      const strides = defaultStrides(base, side).map((stride) => stride * factor);
      return strides.filter((_, i) => i !== problem.size.length + 1);
    };
    const strides = {
      ...((bothOrNone ? custom.input : custom.input) && { input: padded('input') }),
      ...((bothOrNone ? custom.input : custom.output) && { output: padded('output') }),
    };
    return { ...problem, strides } as ProblemInput;
  });

describe('round trips', () => {
  it('from a problem to its descriptor and back keep the normal form', () => {
    fc.assert(
      fc.property(sayable, (input) => {
        expect(resolveProblem(formatDescriptor(input))).toEqual(resolveProblem(input));
      }),
      { seed: seedFor('problem/descriptor/1') | 0, numRuns: 500 },
    );
  });

  it('from a descriptor to its problem and back keep the text', () => {
    fc.assert(
      fc.property(sayable, (input) => {
        const text = formatDescriptor(input);
        expect(formatDescriptor(parseDescriptor(text))).toBe(text);
      }),
      { seed: seedFor('problem/descriptor/2') | 0, numRuns: 500 },
    );
  });
});
