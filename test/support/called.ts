/** Callbacks on trial: random ones, and what they do to numbers. */
import type { ProblemInput } from '../../src/index.ts';
import type { Callback, Callbacks } from '../../src/problem/index.ts';
import { type Random, uniform } from './random.ts';

/** A number of memory: one part, or two. */
export type Value = readonly number[];
/** A callback as a function of numbers, at a place in the packed tensor [left, axis 0 …, coordinate, batch]. */
export type Numeric = (value: Value, at: readonly number[]) => Value;
type Direction = 'forward' | 'inverse';

/** The callbacks of a problem, what they do to numbers, and the arrays that a call needs. */
export interface Called {
  readonly callbacks: Callbacks;
  readonly arrays: Readonly<Record<string, Float32Array | Float64Array>>;
  readonly numeric: { readonly [D in Direction]: { readonly load?: Numeric; readonly store?: Numeric } };
  /** Sides where a store leaves reals of complex numbers. */
  readonly kept: { readonly input: boolean; readonly output: boolean };
  /** By how much errors may grow at a store. */
  readonly growth: { readonly [D in Direction]: number };
}

/** What a callback is called with to do its work on numbers. */
const NUMBERS = {
  constant: (value: number) => value,
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  neg: (a: number) => -a,
  sqrt: (a: number) => Math.sqrt(a),
  abs: (a: number) => Math.abs(a),
  min: (a: number, b: number) => Math.min(a, b),
  max: (a: number, b: number) => Math.max(a, b),
  less: (a: number, b: number) => a < b,
  select: (condition: boolean, a: number, b: number) => (condition ? a : b),
  index: {
    add: (a: number, b: number) => a + b,
    mul: (a: number, by: number) => a * by,
    div: (a: number, by: number) => Math.floor(a / by),
    mod: (a: number, by: number) => ((a % by) + by) % by,
  },
};

/** The very function that the planner calls, called with numbers. */
export function onNumbers(callback: Callback, arrays: Called['arrays']): Numeric {
  const load = (name: string, index: number) => {
    const value = arrays[name]![index];
    if (value === undefined) throw new RangeError(`${name}[${index}]`);
    return value;
  };
  const run = callback as unknown as (x: unknown, value: unknown, at: unknown) => number | { re: number; im: number };
  return (value, at) => {
    const [re, im] = value;
    const place = { left: at[0], axis: at.slice(1, -2), coordinate: at.at(-2), batch: at.at(-1) };
    const result = run({ ...NUMBERS, load }, im === undefined ? re : { re, im }, place);
    return typeof result === 'number' ? [result] : [result.re, result.im];
  };
}

/** What random callbacks are made for. */
export interface CalledProblem {
  readonly problem: ProblemInput;
  /** Counts of both sides. */
  readonly shapes: { readonly input: readonly number[]; readonly output: readonly number[] };
  /** Whether the transform has complex numbers there. */
  readonly complex: { readonly input: boolean; readonly output: boolean };
}

// The types of symbols do not matter here: they are numbers just as well.
// biome-ignore lint/suspicious/noExplicitAny: the same function is called with symbols and with numbers
type Loose = (x: any, value: any, at: any) => any;

class Maker {
  readonly arrays: Record<string, Float32Array | Float64Array> = {};
  private readonly random: Random;
  private readonly double: boolean;
  private readonly half: boolean;

  constructor(random: Random, double: boolean, half: boolean) {
    this.random = random;
    this.double = double;
    this.half = half;
  }

  /** Positive numbers near 1, one for each place along some dimensions: what loads it. */
  weights(shape: readonly number[]): Loose {
    const { random } = this;
    const chosen = [...shape.keys()].filter((d) => shape[d]! > 1 && random.integer(0, 2) > 0).slice(0, 3);
    const name = `w${Object.keys(this.arrays).length}`;
    const shift = random.integer(0, 7);
    const by = random.integer(1, 3);
    const steps: number[] = [];
    let length = 1;
    for (const d of chosen) {
      steps.push(length);
      length *= shape[d]!;
    }
    const wide = this.double && random.integer(0, 1) === 1;
    const numbers = uniform(random, length, 'single').map((value) => Math.fround(1.5 + value / 2));
    this.arrays[name] = wide ? Float64Array.from(numbers) : Float32Array.from(numbers);
    const divided = random.integer(0, 3) === 0;
    const turned = random.integer(0, 3) === 0;
    return (x, _, at) => {
      const all = [at.left, ...at.axis, at.coordinate, at.batch];
      let index = x.index.mul(at.left, 0);
      for (const [n, d] of chosen.entries()) index = x.index.add(index, x.index.mul(all[d], steps[n]!));
      if (turned) index = x.index.mod(x.index.add(index, shift), length);
      return x.load(name, divided ? x.index.div(index, by) : index);
    };
  }

  /** @param store results keep their size: errors are measured by it. */
  real(shape: readonly number[], store: boolean): Loose {
    const w = this.weights(shape);
    return this.random.pick<Loose>([
      ...(store ? [] : [((x, v, at) => x.div(x.max(v, x.constant(-0.5)), w(x, v, at))) as Loose]),
      (x, v, at) => x.mul(w(x, v, at), v),
      // Of thousands of numbers that are all positive, sums are over the largest half.
      ...(this.half && !store ? [] : [((x, v, at) => x.add(v, w(x, v, at))) as Loose]),
      (x, v) => x.abs(v),
      (x, v) => x.select(x.less(v, x.constant(0)), x.mul(v, x.constant(0.75)), v),
      (x, v, at) => x.div(v, w(x, v, at)),
      (_, v) => v,
    ]);
  }

  complex(shape: readonly number[], store: boolean): Loose {
    const w = this.weights(shape);
    const u = this.weights(shape);
    return this.random.pick<Loose>([
      (x, v, at) => ({ re: x.mul(w(x, v, at), v.re), im: x.mul(w(x, v, at), v.im) }),
      (x, v, at) => ({
        re: x.sub(x.mul(w(x, v, at), v.re), x.mul(u(x, v, at), v.im)),
        im: x.add(x.mul(w(x, v, at), v.im), x.mul(u(x, v, at), v.re)),
      }),
      (x, v) => ({ re: v.im, im: x.neg(v.re) }),
      (x, v, at) => ({ re: x.add(v.re, w(x, v, at)), im: x.sub(v.im, x.constant(0.5)) }),
      (x, v) => ({ re: x.abs(v.re), im: store ? v.im : x.min(v.im, x.constant(0.5)) }),
      (_, v) => v,
    ]);
  }

  /** What of a complex number is kept in a real. Large numbers do not fit halves. */
  kept(shape: readonly number[]): { callback: Loose; growth: number } {
    const w = this.weights(shape);
    const squared: Loose = (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im));
    return this.random.pick([
      ...(this.half ? [] : [{ callback: squared, growth: 8 }]),
      { callback: ((x, v, at) => x.sqrt(squared(x, v, at))) as Loose, growth: 2 },
      { callback: ((x, v, at) => x.mul(w(x, v, at), x.add(v.re, v.im))) as Loose, growth: 3 },
    ]);
  }
}

/** Random callbacks for a problem: some or all of the four. */
export function randomCalled(random: Random, { problem, shapes, complex }: CalledProblem): Called {
  const half = problem.edgeStorage === 'half' || problem.storage === 'half' || problem.precision === 'half';
  const maker = new Maker(random, problem.precision === 'double', half);
  const planar = (side: 'input' | 'output') =>
    problem.layout === 'planar' || (typeof problem.layout === 'object' && problem.layout[side] === 'planar');
  const given = (direction: Direction) => {
    const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    const mayKeep = complex[written] && !(problem.placement === 'in-place' && planar(written));
    const keep = mayKeep && random.integer(0, 1) === 1 ? maker.kept(shapes[written]) : undefined;
    const plain = complex[written] ? maker.complex(shapes[written], true) : maker.real(shapes[written], true);
    const store = random.integer(0, 3) === 0 ? undefined : (keep?.callback ?? plain);
    return { read, keeps: store !== undefined && keep !== undefined, store, growth: keep?.growth ?? 3 };
  };
  const all = { forward: given('forward'), inverse: given('inverse') };
  const both = problem.directions === undefined || problem.directions === 'both';
  const loadOf = (direction: Direction): Loose | undefined => {
    const { read } = all[direction];
    if (random.integer(0, 3) === 0) return undefined;
    if (!complex[read]) return maker.real(shapes[read], false);
    const found = all[direction === 'forward' ? 'inverse' : 'forward'];
    const whole = maker.complex(shapes[read], false);
    // Reals that the other direction has left become complex numbers again.
    return both && found.keeps ? (x, v, at) => whole(x, { re: v, im: x.constant(0.25) }, at) : whole;
  };
  const loads = { forward: loadOf('forward'), inverse: loadOf('inverse') };
  const { arrays } = maker;
  const pair = (direction: Direction) => ({
    ...(loads[direction] ? { load: loads[direction] as Callback } : {}),
    ...(all[direction].store ? { store: all[direction].store as Callback } : {}),
  });
  const numbers = (direction: Direction) => ({
    ...(loads[direction] ? { load: onNumbers(loads[direction] as Callback, arrays) } : {}),
    ...(all[direction].store ? { store: onNumbers(all[direction].store as Callback, arrays) } : {}),
  });
  return {
    callbacks: {
      forward: pair('forward'),
      inverse: pair('inverse'),
      arrays: Object.fromEntries(
        Object.entries(arrays).map(([name, numbers]) => [
          name,
          { type: numbers instanceof Float64Array ? ('f64' as const) : ('f32' as const), length: numbers.length },
        ]),
      ),
    },
    arrays,
    kept: { input: all.inverse.keeps, output: all.forward.keeps },
    numeric: { forward: numbers('forward'), inverse: numbers('inverse') },
    growth: { forward: all.forward.growth, inverse: all.inverse.growth },
  };
}

/** The problem with callbacks: in place, reals lie where the real parts of complex numbers would. */
export function withCalled(problem: ProblemInput, { callbacks, kept }: Called): ProblemInput {
  if (problem.placement !== 'in-place') return { ...problem, callbacks };
  const planned = (side: 'input' | 'output') =>
    problem.directions === undefined ||
    problem.directions === 'both' ||
    problem.directions === (side === 'output' ? 'forward' : 'inverse');
  const times = (side: 'input' | 'output') => (kept[side] && planned(side) ? 2 : 1);
  const { strides, offsets } = problem;
  const doubled = (side: 'input' | 'output') => strides![side]!.map((stride) => stride * times(side));
  return {
    ...problem,
    callbacks,
    ...(strides ? { strides: { input: doubled('input'), output: doubled('output') } } : {}),
    ...(offsets
      ? {
          offsets: {
            input: (offsets.input ?? 0) * times('input'),
            output: (offsets.output ?? 0) * times('output'),
          },
        }
      : {}),
  };
}

/** Counts of a problem's sides. */
export function shapesOf({ size, transform, leftBatches = 1, coordinates = 1, batches = 1 }: ProblemInput) {
  const around = (axes: readonly number[]) => [leftBatches, ...axes, coordinates, batches];
  const bins = [Math.floor(size[0]! / 2) + 1, ...size.slice(1)];
  return { input: around(size), output: around(transform === 'r2c' ? bins : size) };
}
