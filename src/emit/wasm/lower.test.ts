/** Random kernels, run as WebAssembly and by an interpreter: every number agrees exactly. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interpret } from '../../../test/support/interpret.ts';
import { poison } from '../../../test/support/poison.ts';
import { seedFor } from '../../../test/support/random.ts';
import { hasMultiplyAdds, roundsOnce } from '../../../test/support/relaxed.ts';
import { expectSame, numbers, runWasm } from '../../../test/support/wasm.ts';
import {
  type ArrayRef,
  add,
  div,
  type ElementType,
  Expressions,
  type Index,
  type Kernel,
  type Loop,
  mod,
  type Phase,
  type Real,
  range,
  reachable,
  scale,
  sub,
  type Var,
  variable,
  verify,
} from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';

/** A kernel with one phase that combines `members` neighbouring numbers, whose lanes are `stride` numbers apart. */
function gather(
  type: ElementType,
  count: number,
  stride: number,
  members: number,
  change: { step?: number; repeatable?: boolean } = {},
) {
  const { step = 1, repeatable = true } = change;
  const group = variable('group', 2);
  const input: ArrayRef = { name: 'input', space: 'global', type };
  const output: ArrayRef = { name: 'output', space: 'global', type };
  const i = variable('i', count);
  const x = new Expressions();
  /** Where lanes walk backwards, from the last one. */
  const walk = (by: number) => add(scale(i, by), by < 0 ? -by * (count - 1) : 0);
  const at = (m: number) => add(walk(stride), m * step, scale(group, 3));
  const values = Array.from({ length: members }, (_, m) => x.load(input, at(m)));
  // Every member goes out once more beside a sum, so that stores form groups of the same shapes.
  const apart = Math.max(Math.abs(stride), members * step);
  const outStride = stride < 0 ? -apart : apart;
  const place = (m: number) => add(walk(outStride), m * step, scale(group, apart * count + members));
  const stores = values.map((value, m) => ({
    array: output,
    index: place(m),
    value: x.add(value, x.mul(x.constant(0.1), values[(m + 1) % members] as Real)),
  }));
  const phase: Phase = { loops: [{ variable: i }], lanes: i, stores, repeatable, exchange: 'group' };
  const kernel: Kernel = {
    name: 'gather',
    precision: type,
    group,
    threads: 1,
    globals: [input, output],
    tables: [],
    shared: [],
    phases: [phase],
  };
  const lengthOf = (index: Index) => range(index)[1] + 8;
  return { kernel, lengths: { input: lengthOf(at(members - 1)), output: lengthOf(place(members - 1)) } };
}

describe.each(['f32', 'f64'] as const)('%s', (type) => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 16, -1, -2, -3, -4])(
    'lanes that are %i numbers apart, in groups of every size',
    (stride) => {
      for (let members = 1; members <= 9; members++) {
        for (const step of [1, 2]) {
          const { kernel, lengths } = gather(type, 12, stride, members, { step });
          expectSame(kernel, lengths);
        }
      }
    },
  );

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 31])('%i items: whole vectors and the tail', (count) => {
    for (const repeatable of [true, false]) {
      for (const [stride, members] of [
        [1, 1],
        [2, 2],
        [3, 1],
        [4, 4],
        [8, 2],
      ] as const) {
        const { kernel, lengths } = gather(type, count, stride, members, { repeatable });
        expectSame(kernel, lengths);
      }
    }
  });

  it('runs only the groups it is asked for', () => {
    const { kernel, lengths } = gather(type, 8, 1, 1);
    const memory = { input: numbers(type, lengths.input), output: poison(numbers(type, lengths.output)) };
    const none = runWasm(kernel, memory, { first: 1, last: 1 });
    expect(none.output?.every(Number.isNaN)).toBe(true);
    const second = runWasm(kernel, memory, { first: 1, last: 2 });
    expect(second.output?.subarray(0, 8).every(Number.isNaN)).toBe(true);
    expect(second.output?.subarray(9, 17).every(Number.isFinite)).toBe(true);
  });
});

/** What a random kernel is made from. */
interface Recipe {
  readonly type: ElementType;
  readonly groups: number;
  readonly counts: readonly number[];
  readonly order: readonly number[];
  readonly lane: number;
  readonly unroll: number | undefined;
  /** The last group has this many items of the outermost loop. */
  readonly remaining: number | undefined;
  readonly loads: readonly {
    readonly factors: readonly number[];
    readonly constant: number;
    readonly split: number | undefined;
    readonly by: number;
  }[];
  readonly members: number;
  readonly spread: number;
  readonly throughShared: boolean;
  readonly inPlace: boolean;
  readonly bothWays: boolean;
  readonly operations: readonly (readonly ['add' | 'sub' | 'mul', number, number])[];
}

const recipe: fc.Arbitrary<Recipe> = fc.record({
  type: fc.constantFrom('f32' as const, 'f64' as const),
  groups: fc.integer({ min: 1, max: 3 }),
  counts: fc.array(fc.integer({ min: 1, max: 13 }), { minLength: 1, maxLength: 3 }),
  order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  lane: fc.nat({ max: 2 }),
  unroll: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 3 }),
  remaining: fc.option(fc.integer({ min: 1, max: 13 }), { nil: undefined, freq: 2 }),
  loads: fc.array(
    fc.record({
      factors: fc.array(fc.constantFrom(0, 1, 1, 2, 3, 4, 8, 10), { minLength: 4, maxLength: 4 }),
      constant: fc.nat({ max: 5 }),
      split: fc.option(fc.constantFrom(2, 3, 4, 5, 8), { nil: undefined, freq: 3 }),
      by: fc.constantFrom(1, 2, 7),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  members: fc.integer({ min: 1, max: 5 }),
  spread: fc.nat({ max: 3 }),
  throughShared: fc.boolean(),
  inPlace: fc.boolean(),
  bothWays: fc.boolean(),
  operations: fc.array(
    fc.tuple(fc.constantFrom('add' as const, 'sub' as const, 'mul' as const), fc.nat({ max: 20 }), fc.nat({ max: 20 })),
    { maxLength: 12 },
  ),
});

function cook(of: Recipe): { kernel: Kernel; lengths: Record<string, number> } {
  const { type, counts, members } = of;
  const group = variable('group', of.groups);
  const [input, output] = ['input', 'output'].map((name): ArrayRef => ({ name, space: 'global', type })) as [
    ArrayRef,
    ArrayRef,
  ];
  const items = counts.reduce((a, b) => a * b, 1);
  // Every item owns `width` numbers of its own, in an order of the loops that is not the order of walking.
  const width = members + of.spread;
  const globals = new Map<ArrayRef, number>();
  const touch = (array: ArrayRef, at: Index): Index => {
    globals.set(array, Math.max(globals.get(array) ?? 0, range(at)[1] + 1));
    return at;
  };
  const loopsOf = (): { variables: Var[]; loops: Loop[]; lanes: Var; place: Index } => {
    const variables = counts.map((count, d) => variable(`i${d}`, count));
    const loops = variables.map((v, d): Loop => {
      const unroll = of.unroll !== undefined && d === counts.length - 1 ? { unroll: of.unroll } : {};
      // Groups before the last are whole.
      const left = Math.min(of.remaining ?? v.count, v.count);
      const limit =
        d === 0 && of.remaining !== undefined
          ? { limit: sub((of.groups - 1) * v.count + left, scale(group, v.count)) }
          : {};
      return { variable: v, ...unroll, ...limit };
    });
    let place: Index = add(0);
    let stride = 1;
    for (const d of of.order) {
      if (d >= counts.length) continue;
      place = add(place, scale(variables[d] as Var, stride));
      stride *= counts[d] as number;
    }
    return { variables, loops, lanes: variables[of.lane % counts.length] as Var, place };
  };
  const phases: Phase[] = [];
  const shared: ArrayRef[] = [];
  const source = of.inPlace ? output : input;

  /** Numbers that an item reads: anywhere in `from`, or only its own where it also writes there. */
  const read = (
    x: Expressions,
    from: ArrayRef,
    variables: readonly Var[],
    own: Index | undefined,
    length?: number,
  ): Real[] =>
    of.loads.map(({ factors, constant, split, by }, n) => {
      if (own) return x.load(from, touch(from, add(own, n % members)));
      let at = add(
        constant,
        scale(group, length === undefined ? (factors[3] as number) : 0),
        ...variables.map((v, d) => scale(v, factors[d] as number)),
      );
      if (split !== undefined) at = add(scale(div(at, split), by), mod(at, split));
      if (length !== undefined) at = mod(at, length);
      return x.load(from, length === undefined ? touch(from, at) : at);
    });
  const combine = (x: Expressions, values: readonly Real[]): Real[] => {
    const all = [...values, x.constant(0.7), x.constant(-3)];
    for (const [op, a, b] of of.operations) all.push(x[op](all[a % all.length] as Real, all[b % all.length] as Real));
    return all.reverse();
  };
  const store = (x: Expressions, to: ArrayRef, own: Index, values: readonly Real[]) =>
    Array.from({ length: members }, (_, m) => {
      const index = add(own, m);
      if (to.space === 'global') touch(to, index);
      // Something of the item itself is in every store.
      return { array: to, index, value: x.add(values[m % values.length] as Real, x.constant(m)) };
    });
  const ownPlace = (place: Index) => add(scale(place, width), scale(group, width * items));

  if (of.throughShared) {
    const ping: ArrayRef = { name: 'ping', space: 'shared', type, length: items * width };
    shared.push(ping);
    const filling = loopsOf();
    const x = new Expressions();
    const own = scale(filling.place, width);
    const values = combine(x, read(x, source, filling.variables, undefined));
    // Shared memory is written whole: a limit or gaps would leave what nobody may read.
    const stores = Array.from({ length: width }, (_, m) => ({
      array: ping,
      index: add(own, m),
      value: values[m % values.length] as Real,
    }));
    phases.push({
      loops: filling.loops.map(({ limit: _, ...loop }) => loop),
      lanes: filling.lanes,
      stores,
      repeatable: true,
      exchange: 'group',
    });
    const emptying = loopsOf();
    const y = new Expressions();
    const loaded = combine(y, read(y, ping, emptying.variables, undefined, items * width));
    const out = store(y, output, ownPlace(emptying.place), loaded);
    phases.push({ loops: emptying.loops, lanes: emptying.lanes, stores: out, repeatable: true, exchange: 'group' });
  } else {
    const { variables, loops, lanes, place } = loopsOf();
    const x = new Expressions();
    const own = ownPlace(place);
    const values = combine(x, read(x, source, variables, of.inPlace ? own : undefined));
    phases.push({ loops, lanes, stores: store(x, output, own, values), repeatable: !of.inPlace, exchange: 'group' });
  }
  const kernel: Kernel = {
    name: 'random',
    precision: type,
    group,
    threads: 1,
    globals: [input, output],
    tables: [],
    shared,
    phases,
  };
  return { kernel, lengths: { input: (globals.get(input) ?? 0) + 1, output: (globals.get(output) ?? 0) + 1 } };
}

/** The first phase of a kernel, doing something else; those after it stay as they are. */
function otherwise(phase: Phase, n: number): Phase {
  if (n > 0) return phase;
  const x = new Expressions();
  const change = (value: Real) =>
    x.sub(x.mul(x.constant(exact.rational(3, 4)), value), x.constant(exact.rational(1, 8)));
  return { ...phase, stores: phase.stores.map((store) => ({ ...store, value: change(store.value) })) };
}

describe('any kernel', () => {
  it('does what the interpreter does', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(recipe, (of) => {
        // One group only where shared memory would carry what another group has written to the input.
        const sound = of.throughShared && of.inPlace ? { ...of, groups: 1 } : of;
        const { kernel, lengths } = cook(sound);
        expectSame(of.bothWays ? { ...kernel, reverse: kernel.phases.map(otherwise) } : kernel, lengths);
      }),
      { seed: seedFor('emit/wasm/kernels') | 0, numRuns: process.env.OMNIFFT_EXHAUSTIVE === '1' ? 20_000 : 200 },
    );
  });
});

/** The same kernel without a sign anywhere: over the absolute values of the data, its results bound those of the other. */
function unsigned(kernel: Kernel): Kernel {
  const phases = kernel.phases.map((phase) => {
    const x = new Expressions();
    const made = new Map<Real, Real>();
    for (const node of reachable(phase.stores.map((store) => store.value))) {
      const of = (operand: Real) => made.get(operand)!;
      if (node.op === 'const') {
        made.set(node, x.constant(exact.toNumber(node.value) < 0 ? exact.neg(node.value) : node.value));
      } else if (node.op === 'load') made.set(node, x.load(node.array, node.index));
      else if (node.op === 'neg') made.set(node, of(node.a));
      else if (node.op === 'mul') made.set(node, x.mul(of(node.a), of(node.b)));
      else if (node.op === 'add' || node.op === 'sub') made.set(node, x.add(of(node.a), of(node.b)));
      else throw new RangeError(`'${node.op}' has signs of its own`);
    }
    return { ...phase, stores: phase.stores.map((store) => ({ ...store, value: made.get(store.value)! })) };
  });
  return { ...kernel, phases };
}

describe.runIf(hasMultiplyAdds)('multiply-adds', () => {
  /** More than the operations on the way to any number in a random kernel. */
  const ROUNDINGS = 64;

  it('of any kernel are the sums and products that the interpreter finds, but for rounding', {
    timeout: 120_000,
  }, () => {
    let fused = 0;
    fc.assert(
      fc.property(recipe, fc.boolean(), (of, separateAdders) => {
        const { kernel, lengths } = cook(of.throughShared && of.inPlace ? { ...of, groups: 1 } : of);
        const memory = Object.fromEntries(
          Object.entries(lengths).map(([name, length]) => [name, numbers(kernel.precision, length)]),
        );
        const got = runWasm(kernel, memory, {}, { relaxedSimd: true, separateAdders });
        const bounds = Object.fromEntries(Object.entries(memory).map(([name, values]) => [name, values.map(Math.abs)]));
        interpret(unsigned(kernel), bounds);
        interpret(kernel, memory);
        const unit = kernel.precision === 'f32' ? 2 ** -24 : 2 ** -53;
        for (const [name, want] of Object.entries(memory)) {
          want.forEach((value, n) => {
            const difference = Math.abs(got[name]![n]! - value);
            expect(difference).toBeLessThanOrEqual(ROUNDINGS * unit * bounds[name]![n]!);
            if (difference > 0) fused++;
          });
        }
      }),
      { seed: seedFor('emit/wasm/multiply-adds') | 0, numRuns: process.env.OMNIFFT_EXHAUSTIVE === '1' ? 20_000 : 125 },
    );
    expect(fused > 0).toBe(roundsOnce());
  });

  it.each(['f32', 'f64'] as const)('take in a product that nobody else wants: %s', (type) => {
    const input: ArrayRef = { name: 'input', space: 'global', type };
    const output: ArrayRef = { name: 'output', space: 'global', type };
    const i = variable('i', 4);
    const x = new Expressions();
    const [a, b, c] = [0, 4, 8].map((n) => x.load(input, add(i, n))) as [Real, Real, Real];
    const shared = x.mul(a, c);
    const values = [
      x.add(x.mul(a, b), c),
      x.sub(c, x.mul(a, a)),
      x.sub(x.mul(b, b), c),
      x.add(shared, b),
      x.sub(b, shared),
    ];
    const kernel: Kernel = {
      name: 'products',
      precision: type,
      group: variable('group', 1),
      threads: 1,
      globals: [input, output],
      tables: [],
      shared: [],
      phases: [
        {
          loops: [{ variable: i }],
          lanes: i,
          stores: values.map((value, n) => ({ array: output, index: add(i, 4 * n), value })),
          repeatable: true,
          exchange: 'group',
        },
      ],
    };
    expect(verify(kernel)).toEqual([]);
    // (1 + u)² = 1 + 2u + u², whose last term is lost where the product is rounded by itself.
    const u = type === 'f32' ? 2 ** -13 : 2 ** -28;
    const data = numbers(type, 12);
    data.fill(1 + u, 0, 8).fill(1, 8);
    const { output: got } = runWasm(kernel, { input: data, output: numbers(type, 20) }, {}, { relaxedSimd: true });
    const [twice, square] = [2 * u, roundsOnce() ? u * u : 0];
    expect(Array.from(got!.subarray(4, 8))).toEqual(Array(4).fill(-(twice + square)));
    expect(Array.from(got!.subarray(0, 4))).toEqual(Array(4).fill(2 + twice));
    expect(Array.from(got!.subarray(8, 12))).toEqual(Array(4).fill(twice + square));
    expect(Array.from(got!.subarray(12, 16))).toEqual(Array(4).fill(2 + twice));
    expect(Array.from(got!.subarray(16, 20))).toEqual(Array(4).fill(0));
  });
});
