import { describe, expect, it } from 'vitest';
import type { Callback, Callbacks } from './callbacks.ts';
import { FftError } from './errors.ts';
import { normalizeProblem } from './normalize/normalize.ts';
import type { ProblemInput } from './problem.ts';

const arrays = { w: { type: 'f32', length: 8 } } as const;

function refused(callbacks: unknown, more: Partial<ProblemInput> = {}): FftError {
  try {
    normalizeProblem({ size: [8, 4], batches: 3, ...more, callbacks: callbacks as Callbacks });
  } catch (error) {
    return error as FftError;
  }
  throw new Error('it was accepted');
}

// What people write without types, or against them.
// biome-ignore lint/suspicious/noExplicitAny: wrong programs
type Wrong = (x: any, value: any, at: any) => unknown;

describe('callbacks that are wrong', () => {
  const loads: readonly [string, Wrong, RegExp][] = [
    ['a plain number as a value', (x, v) => ({ re: x.mul(2, v.re), im: v.im }), /mul the number 2, .*x\.constant/],
    [
      'what arithmetic makes of symbols',
      (x, v) => ({ re: x.neg(v.re * 2), im: v.im }),
      /takes a symbol for a number; x\.mul/,
    ],
    ['a number as the result', () => 1, /has returned the number 1, but must return a complex number/],
    ['a number as a part', (_, v) => ({ re: 1, im: v.im }), /has returned the number 1 as re/],
    ['a real', (_, v) => v.re, /has returned a real, but must return a complex number/],
    ['an index', (_, __, at) => at.axis[0], /has returned an index/],
    ['a condition', (x, v) => x.less(v.re, v.im), /has returned a condition/],
    ['nothing', () => undefined, /has returned undefined/],
    ['a promise', async (_, v) => v, /has returned a promise/],
    [
      'an exception',
      () => {
        throw new TypeError('not today');
      },
      /has thrown an exception: not today/,
    ],
    [
      'what throws no error',
      () => {
        throw null;
      },
      /has thrown an exception/,
    ],
    ['a complex number as a real', (x, v) => ({ re: x.abs(v), im: v.im }), /abs a complex number/],
    [
      'an index as a value',
      (x, v, at) => ({ re: x.add(at.batch, v.re), im: v.im }),
      /add an index, but it takes a value/,
    ],
    ['a value as an index', (x, v) => ({ re: x.load('w', v.re), im: v.im }), /load a value, but it takes an index/],
    [
      'a value as a condition',
      (x, v) => ({ re: x.select(v.re, v.re, v.im), im: v.im }),
      /select a value, but it takes a condition/,
    ],
    ['NaN', (x, v) => ({ re: x.constant(Number.NaN), im: v.im }), /constant of the number NaN/],
    ['infinity', (x, v) => ({ re: x.constant(1 / 0), im: v.im }), /constant of the number Infinity/],
    [
      'a number beyond the precision',
      (x, v) => ({ re: x.constant(1e39), im: v.im }),
      /constant of 1e\+39, but in single/,
    ],
    ['a number below it', (x, v) => ({ re: x.constant(1e-40), im: v.im }), /constant of 1e-40/],
    [
      'an unknown array',
      (x, v, at) => ({ re: x.load('u', at.axis[0]), im: v.im }),
      /loads from 'u', but callbacks.arrays has w/,
    ],
    ['no name', (x, v, at) => ({ re: x.load(at.axis[0]), im: v.im }), /loads from an object/],
    [
      'an index beyond the array',
      (x, v, at) => ({ re: x.load('w', x.index.add(at.axis[0], 1)), im: v.im }),
      /loads w\[1 to 8\], but the array has elements 0 to 7/,
    ],
    ['one below it', (x, v, at) => ({ re: x.load('w', x.index.add(at.axis[0], -1)), im: v.im }), /loads w\[-1 to 6\]/],
    [
      'a product of places',
      (x, v, at) => ({ re: x.load('w', x.index.mul(at.axis[0], at.batch)), im: v.im }),
      /index\.mul an index to multiply by/,
    ],
    [
      'a quotient by nothing',
      (x, v, at) => ({ re: x.load('w', x.index.div(at.axis[0], 0)), im: v.im }),
      /index\.div the number 0 to divide by/,
    ],
    ['a fraction', (x, v) => ({ re: x.load('w', 0.5), im: v.im }), /load 0\.5, but indices are integers/],
    ['an axis that is not there', (x, v, at) => ({ re: x.load('w', at.axis[2]), im: v.im }), /load undefined/],
    [
      'an endless index',
      (x, v, at) => {
        let i = at.axis[0];
        for (let n = 0; n < 40; n++) i = x.index.add(i, i);
        return { re: x.load('w', x.index.mod(i, 8)), im: v.im };
      },
      /has an index from 0 to/,
    ],
    [
      'endless steps',
      (x, v) => {
        let sum = v.re;
        for (;;) sum = x.add(sum, v.im);
      },
      /takes more than 4096 steps/,
    ],
  ];

  it.each(loads)('%s', (_, load, message) => {
    const error = refused({ forward: { load: load as Callback }, arrays });
    expect(error).toBeInstanceOf(FftError);
    expect(error.code).toBe('invalid-field');
    expect(error.problems).toHaveLength(1);
    expect(error.problems[0]!.path).toBe('callbacks.forward.load');
    expect(error.message).toMatch(/^callbacks\.forward\.load /);
    expect(error.message).toMatch(message);
  });

  it('are wrong even where they catch what they are told', () => {
    const load: Wrong = (x, v) => {
      try {
        x.mul(2, v.re);
      } catch {
        return v;
      }
      return v;
    };
    expect(refused({ inverse: { load } }).message).toMatch(/^callbacks\.inverse\.load .*the number 2/);
  });

  it('build nothing any more once they have returned', () => {
    let builder: unknown;
    let kept: unknown;
    const load: Wrong = (x, v) => {
      builder = x;
      kept = v.re;
      return v;
    };
    normalizeProblem({ size: [8], callbacks: { forward: { load: load as Callback } } });
    const x = builder as Record<string, (...of: unknown[]) => unknown> & { index: Record<string, () => unknown> };
    const late: readonly (() => unknown)[] = [
      () => x.neg!(kept),
      () => x.constant!(1),
      () => x.constant!(Number.NaN),
      () => x.load!('w', 0),
      () => x.select!(kept, 1, 2),
      () => x.index.div!(),
      () => (kept as number) * 2,
    ];
    for (const use of late) expect(use).toThrow(expect.objectContaining({ name: 'FftError', code: 'destroyed' }));
    // Nor do symbols of one callback mean anything to another.
    const other = { forward: { load: () => ({ re: kept, im: kept }) } };
    expect(refused(other).message).toMatch(/has returned what belongs to another callback as re/);
    const mixed: Wrong = (own, v) => ({ re: own.add(v.re, kept), im: v.im });
    expect(refused({ forward: { load: mixed } }).message).toMatch(/add what belongs to another callback/);
    const borrowed: Wrong = (_, v) => ({ re: x.neg!(v.re), im: v.im });
    expect(refused({ forward: { load: borrowed } }).message).toMatch(/this one has returned/);
  });

  it('are refused where they go on after a promise, which fails for nobody else', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const load: Wrong = async (x, v) => {
      await undefined;
      return x.neg(v.re);
    };
    expect(refused({ forward: { load } }).message).toMatch(/has returned a promise/);
    await new Promise((done) => setTimeout(done, 5));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('all at once, each by its name', () => {
    const wrong = () => 1;
    const { problems } = refused({
      forward: { load: wrong, store: wrong },
      inverse: { load: 7 },
      arrays: { 'a b': 3 },
    });
    expect(problems.map(({ path }) => path)).toEqual([
      'callbacks.arrays.a b',
      'callbacks.forward.store',
      'callbacks.forward.load',
      'callbacks.inverse.load',
    ]);
  });

  it.each<[unknown, string, string]>([
    [3, 'invalid-field', 'callbacks'],
    [{ backward: {} }, 'unknown-field', 'callbacks.backward'],
    [{ forward: { read: (_: unknown, v: unknown) => v } }, 'unknown-field', 'callbacks.forward.read'],
    [{ arrays: [1] }, 'invalid-field', 'callbacks.arrays'],
    [{ arrays: { w: { type: 'f16', length: 3 } } }, 'invalid-field', 'callbacks.arrays.w.type'],
    [{ arrays: { w: { length: 3 } } }, 'invalid-field', 'callbacks.arrays.w.type'],
    [{ arrays: { w: { type: 'f32', length: 0 } } }, 'invalid-field', 'callbacks.arrays.w.length'],
    [{ arrays: { w: { type: 'f64', length: 3 } } }, 'unsupported-feature', 'callbacks.arrays.w.type'],
  ])('field %j', (callbacks, code, path) => {
    const { problems } = refused(callbacks);
    expect(problems.map((problem) => [problem.code, problem.path])).toContainEqual([code, path]);
  });

  it('of reals must leave reals', () => {
    const pair: Wrong = (x, v) => ({ re: v, im: x.constant(0) });
    const real = { transform: 'r2c' } as const;
    expect(refused({ forward: { load: pair } }, real).message).toMatch(/complex number, .*must return a real/);
    expect(refused({ forward: { store: pair } }, { transform: 'dct2' }).message).toMatch(/must return a real/);
  });
});

describe('the normal form', () => {
  const store: Callback = (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im));

  it('is what callbacks have built, called once each', () => {
    let calls = 0;
    const load: Callback = (x, v, at) => {
      calls++;
      x.neg(v.re);
      return { re: x.mul(x.load('w', at.axis[0]!), v.re), im: v.im };
    };
    const { callbacks } = normalizeProblem({ size: [8, 4], callbacks: { forward: { load, store }, arrays } });
    expect(calls).toBe(1);
    // What nothing rests on is not there.
    expect(callbacks!.forward.load).toEqual({
      takes: 'complex',
      gives: 'complex',
      nodes: [
        { op: 're' },
        { op: 'im' },
        { op: 'place', dimension: 1 },
        { op: 'load', array: 'w', index: 2 },
        { op: 'mul', a: 3, b: 0 },
      ],
      result: [4, 1],
    });
    expect(callbacks!.forward.store).toMatchObject({ takes: 'complex', gives: 'real' });
    expect(callbacks!.inverse).toEqual({ load: null, store: null });
    expect(Object.isFrozen(callbacks!.forward.load!.nodes)).toBe(true);
  });

  it('is the same for callbacks that do the same, and for what it was made of again', () => {
    const problem = { size: [8, 4], callbacks: { forward: { store }, arrays } } as const;
    const again: Callback = (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im));
    const one = normalizeProblem(problem);
    expect(normalizeProblem({ ...problem, callbacks: { forward: { store: again }, arrays } })).toEqual(one);
    expect(normalizeProblem({ ...one })).toEqual(one);
    expect(normalizeProblem(JSON.parse(JSON.stringify(one)))).toEqual(one);
    expect(normalizeProblem({ size: [8], callbacks: null }).callbacks).toBe(null);
  });

  it('does not take for built what is not', () => {
    const built = (nodes: unknown, result: unknown) => ({ forward: { load: { nodes, result } }, arrays });
    for (const [nodes, result] of [
      [[], [0, 1]],
      [[{ op: 're' }], [0]],
      [
        [{ op: 'add', a: 1, b: 1 }, { op: 're' }],
        [0, 0],
      ],
      [[{ op: 'toString' }], [0, 0]],
      [
        [
          { op: 'integer', value: 8 },
          { op: 'load', array: 'w', index: 0 },
        ],
        [1, 1],
      ],
      [[7], [0, 0]],
      ['nodes', [0, 0]],
    ]) {
      expect(refused(built(nodes, result)).code).toBe('invalid-field');
    }
  });

  it('leaves out directions that are not planned', () => {
    let calls = 0;
    const load: Callback = (_, v) => {
      calls++;
      return v;
    };
    const problem = { size: [8], directions: 'inverse', callbacks: { forward: { load } } } as const;
    expect(normalizeProblem(problem).callbacks).toBe(null);
    expect(calls).toBe(0);
  });

  it('gives one direction what the other one has left', () => {
    const seen: boolean[] = [];
    const load: Callback = (x, v) => {
      seen.push('re' in v);
      return 're' in v ? v : { re: v as never, im: x.constant(0) };
    };
    normalizeProblem({ size: [8], callbacks: { forward: { store }, inverse: { load } } });
    normalizeProblem({ size: [8], directions: 'inverse', callbacks: { forward: { store }, inverse: { load } } });
    expect(seen).toEqual([false, true]);
  });
});
