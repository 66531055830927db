/** Kernels in pairs against exact arithmetic, in every form that a device may want. */
import { describe, expect, it } from 'vitest';
import { interpret } from '../../../test/support/interpret.ts';
import { randomFor } from '../../../test/support/random.ts';
import { runWasm } from '../../../test/support/wasm.ts';
import { roundsOnce } from '../../devices/cpu/relaxed.ts';
import { type ArrayRef, add, Expressions, type Kernel, type Real, scale, variable, verify } from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import { type DoubleWordForm, doubleWordPart, inDoubleWords } from './index.ts';

type Exact = exact.Exact;
const random = randomFor('emit/pairs');
const ITEMS = 40;

interface Operation {
  readonly of: (x: Expressions, a: Real, b: Real, c: Real) => Real;
  readonly is: (a: Exact, b: Exact, c: Exact) => Exact;
  /** What the error is measured by. */
  readonly by: (a: number, b: number, c: number) => number;
}

const less = (a: Exact, b: Exact) => exact.sign(exact.sub(a, b)) < 0;
const third = exact.rational(1, 3);
const none = () => 0;

/** By name; the error may be 8 u² of `by`. */
const operations: Readonly<Record<string, Operation>> = {
  sum: { of: (x, a, b) => x.add(a, b), is: (a, b) => exact.add(a, b), by: (a, b) => Math.abs(a) + Math.abs(b) },
  difference: { of: (x, a, b) => x.sub(a, b), is: exact.sub, by: (a, b) => Math.abs(a) + Math.abs(b) },
  product: { of: (x, a, b) => x.mul(a, b), is: exact.mul, by: (a, b) => a * b },
  square: { of: (x, a) => x.neg(x.mul(a, a)), is: (a) => exact.neg(exact.mul(a, a)), by: (a) => a * a },
  'product with a constant': {
    of: (x, a) => x.mul(a, x.constant(third)),
    is: (a) => exact.mul(a, third),
    by: (a) => a / 3,
  },
  'product with a power of two': {
    of: (x, a) => x.mul(a, x.constant(-0.25)),
    is: (a) => exact.mul(a, exact.exact(-0.25)),
    by: none,
  },
  'sum of products': {
    of: (x, a, b, c) => x.mul(x.sub(x.mul(a, b), x.mul(b, c)), x.add(a, c)),
    is: (a, b, c) => exact.mul(exact.sub(exact.mul(a, b), exact.mul(b, c)), exact.add(a, c)),
    by: (a, b, c) => 4 * Math.abs(b) * (Math.abs(a) + Math.abs(c)) ** 2,
  },
  quotient: { of: (x, a, b) => x.div(a, b), is: (a, b) => exact.div(a, b), by: (a, b) => (2 * a) / b },
  least: { of: (x, a, b) => x.min(a, b), is: (a, b) => (less(b, a) ? b : a), by: none },
  largest: { of: (x, a, b) => x.max(a, b), is: (a, b) => (less(a, b) ? b : a), by: none },
  size: { of: (x, a) => x.abs(a), is: exact.abs, by: none },
  choice: {
    of: (x, a, b, c) => x.select('lessEqual', a, b, c, x.neg(a)),
    is: (a, b, c) => (less(b, a) ? exact.neg(a) : c),
    by: none,
  },
};

/** Loads three numbers and stores what every operation makes of them. */
function kernelOf(precision: 'dd' | 'f64'): Kernel {
  const array = (name: string): ArrayRef => ({ name, space: 'global', type: precision });
  const [input, output] = [array('input'), array('output')];
  const item = variable('item', ITEMS);
  const x = new Expressions();
  const [a, b, c] = [0, 1, 2].map((n) => x.load(input, add(scale(item, 3), n))) as [Real, Real, Real];
  const root = x.sqrt(x.abs(a));
  const all = [...Object.values(operations).map(({ of }) => of(x, a, b, c)), x.mul(root, root)];
  const stores = all.map((value, n) => ({ array: output, index: add(scale(item, all.length), n), value }));
  return {
    ...{ name: 'pairs', precision, group: variable('group', 1), threads: 1 },
    ...{ globals: [input, output], tables: [], shared: [] },
    phases: [{ loops: [{ variable: item }], lanes: item, stores, repeatable: true, exchange: 'group' }],
  };
}

const round = { f64: (value: number) => value, f32: Math.fround };

/** Pairs that are near one another now and then, so that sums cancel. */
function pairsFor(part: 'f64' | 'f32', count: number): Float64Array | Float32Array {
  const pairs = part === 'f64' ? new Float64Array(2 * count) : new Float32Array(2 * count);
  const unit = part === 'f64' ? 2 ** -54 : 2 ** -25;
  for (let n = 0; n < count; n++) {
    const near = n % 3 > 0 && random.integer(0, 3) === 0;
    pairs[2 * n] = near ? pairs[2 * n - 2]! * (1 + random.integer(-2, 2) * 4 * unit) : 4 * random.unit() - 2;
    pairs[2 * n + 1] = round[part](pairs[2 * n]! * unit * (2 * random.unit() - 1));
  }
  return pairs;
}

function check(part: 'f64' | 'f32', input: ArrayLike<number>, output: ArrayLike<number>): void {
  const at = (array: ArrayLike<number>, n: number) =>
    exact.add(exact.exact(array[2 * n]!), exact.exact(array[2 * n + 1]!));
  const unit = part === 'f64' ? 2 ** -106 : 2 ** -48;
  const named = Object.entries(operations);
  for (let item = 0; item < ITEMS; item++) {
    const values = [0, 1, 2].map((n) => at(input, 3 * item + n)) as [Exact, Exact, Exact];
    const numbers = values.map(exact.toNumber) as [number, number, number];
    const result = (n: number) => at(output, (named.length + 1) * item + n);
    named.forEach(([name, { is, by }], n) => {
      const error = Math.abs(exact.toNumber(exact.sub(result(n), is(...values))));
      expect(error, `${name} of ${numbers}`).toBeLessThanOrEqual(8 * unit * Math.abs(by(...numbers)));
    });
    const squared = exact.toNumber(exact.sub(result(named.length), exact.abs(values[0])));
    expect(Math.abs(squared), `root of ${numbers[0]}`).toBeLessThanOrEqual(16 * unit * Math.abs(numbers[0]));
    // Stored pairs are in shape.
    for (let n = 0; n <= named.length; n++) {
      const place = 2 * ((named.length + 1) * item + n);
      expect(round[part](output[place]! + output[place + 1]!)).toBe(output[place]);
    }
  }
}

const forms: readonly DoubleWordForm[] = [{}, { ordered: true }, { fused: true }, { fused: true, ordered: true }];

describe.each([
  ['dd', 'f64'],
  ['f64', 'f32'],
] as const)('%s as two %s', (wide, part) => {
  const length = 2 * ITEMS * (Object.keys(operations).length + 1);
  const results = () => (part === 'f64' ? new Float64Array(length) : new Float32Array(length));

  it.each(forms)('%j', (form) => {
    const kernel = inDoubleWords(kernelOf(wide), part, form);
    expect(verify(kernel)).toEqual([]);
    expect(kernel.precision).toBe(part);
    const memory = { input: pairsFor(part, 3 * ITEMS), output: results() };
    interpret(kernel, memory);
    check(part, memory.input, memory.output);
  });

  it('as WebAssembly, also where products are rounded with sums', () => {
    const once = roundsOnce() ? [{ fused: true, ordered: true }] : [];
    for (const form of [{ ordered: true }, ...once]) {
      const input = pairsFor(part, 3 * ITEMS);
      const kernel = inDoubleWords(kernelOf(wide), part, form);
      for (const relaxedSimd of once.length > 0 && !('fused' in form) ? [false, true] : [once.length > 0]) {
        const { output } = runWasm(kernel, { input, output: results() }, {}, { relaxedSimd });
        check(part, input, output as Float64Array);
      }
    }
  });
});

it('parts are what devices compute in', () => {
  expect([
    doubleWordPart('dd', true),
    doubleWordPart('f64', true),
    doubleWordPart('f64', false),
    doubleWordPart('f32', false),
  ]).toEqual(['f64', undefined, 'f32', undefined]);
  expect(() => inDoubleWords(kernelOf('dd'), 'f32', {})).toThrow(RangeError);
});

it.each([5, 70])('sums of a loop of %i rounds, guards and narrow arrays', (rounds) => {
  const x = new Expressions();
  const array = (name: string, type: ArrayRef['type']): ArrayRef => ({ name, space: 'global', type });
  const [input, narrow, output] = [array('input', 'dd'), array('narrow', 'f64'), array('output', 'dd')];
  const [item, term] = [variable('item', 4), variable('term', rounds)];
  const total = x.sum(
    term,
    x.load(input, add(scale(item, rounds), { constant: 0, terms: [{ atom: term, factor: 1 }] })),
  );
  const guard = [{ index: { constant: 0, terms: [{ atom: item, factor: 1 }] }, from: 1, to: 4 }];
  const values = [total, x.where(guard, total, x.load(narrow, item))];
  const stores = values.map((value, n) => ({ array: output, index: add(scale(item, 2), n), value }));
  const kernel: Kernel = {
    ...{ name: 'sums', precision: 'dd', group: variable('group', 1), threads: 1 },
    ...{ globals: [input, narrow, output], tables: [], shared: [] },
    phases: [{ loops: [{ variable: item }], lanes: item, stores, repeatable: true, exchange: 'group' }],
  };
  const memory = {
    input: pairsFor('f64', 4 * rounds),
    narrow: Float64Array.of(7, 7, 7, 7),
    output: new Float64Array(16),
  };
  interpret(inDoubleWords(kernel, 'f64', {}), memory);
  const at = (from: ArrayLike<number>, n: number) =>
    exact.add(exact.exact(from[2 * n]!), exact.exact(from[2 * n + 1]!));
  for (let n = 0; n < 4; n++) {
    let want = exact.ZERO;
    for (let k = 0; k < rounds; k++) want = exact.add(want, at(memory.input, rounds * n + k));
    const off = (of: Exact, from: Exact) => Math.abs(exact.toNumber(exact.sub(of, from)));
    expect(off(at(memory.output, 2 * n), want)).toBeLessThan(2 ** -98);
    expect(off(at(memory.output, 2 * n + 1), n === 0 ? exact.exact(7) : want)).toBeLessThan(2 ** -98);
  }
});
