/**
 * Small kernels that together say everything which the kernel language can say beside transforms: guards, choices, look-ups,
 * tables of values, conversions, reducing loops, arithmetic that nobody may touch, what neighbouring lanes do together, slices. What every emitter is held against.
 */
import {
  type ArrayRef,
  add,
  type Bound,
  type Comparison,
  type ElementType,
  Expressions,
  type Guard,
  type IndexLike,
  integerTable,
  type Kernel,
  type Loop,
  lookup,
  mod,
  type Phase,
  type StorageType,
  type Store,
  scale,
  sub,
  type Table,
  TableBuilder,
  type Var,
  variable,
} from '../../src/ir/index.ts';
import { toHalf } from './halves.ts';
import type { Random } from './random.ts';

export type Memory = Record<string, Float32Array | Float64Array | Uint16Array | Uint32Array>;

export interface LanguageSample {
  readonly name: string;
  readonly kernel: Kernel;
  /** What its globals and tables hold. */
  readonly memory: Memory;
}

/** What a sample is made with. */
class Sketch {
  readonly x = new Expressions();
  readonly group: Var;
  readonly i: Var;
  readonly globals: ArrayRef[] = [];
  readonly tables: Table[] = [];
  readonly memory: Memory = {};
  readonly stores: Store[] = [];
  private readonly random: Random;
  private readonly precision: ElementType;

  constructor(random: Random, precision: ElementType, items = random.integer(1, 21)) {
    this.random = random;
    this.precision = precision;
    this.group = variable('group', random.integer(1, 3));
    this.i = variable('i', items);
  }

  /** A global of random numbers in [−1, 1], of other sizes where they are halves. */
  global(name: string, length: number, type: StorageType = this.precision, more: Partial<ArrayRef> = {}): ArrayRef {
    const array: ArrayRef = { name, space: 'global', type, ...more };
    this.globals.push(array);
    this.memory[name] = randomNumbers(this.random, type, length);
    return array;
  }

  get items(): number {
    return this.i.count;
  }

  /** Items and groups, one after another. */
  get all(): number {
    return this.items * this.group.count;
  }

  get place() {
    return add(this.i, scale(this.group, this.items));
  }

  sample(
    name: string,
    more: Partial<Phase> = {},
    loops: readonly Loop[] = [{ variable: this.i }],
    kind: Pick<Kernel, 'aliased'> = {},
  ): LanguageSample {
    const { stores, globals, tables, group, i, memory } = this;
    const phase: Phase = { loops, lanes: i, stores, repeatable: true, exchange: 'group', ...more };
    for (const table of tables) {
      const values =
        table.type === 'u32' ? new Uint32Array(table.length) : randomNumbers(this.random, table.type, table.length);
      for (const run of table.values?.() ?? []) values.set(run.values as ArrayLike<number>, run.start);
      memory[table.name] = values;
    }
    const kernel: Kernel = {
      name: 'language',
      precision: this.precision,
      group,
      threads: 4,
      globals,
      tables,
      shared: [],
      phases: [phase],
      ...kind,
    };
    return { name, kernel, memory };
  }
}

function randomNumbers(random: Random, type: StorageType, length: number) {
  const unit = () => 2 * random.unit() - 1;
  if (type === 'f16') return Uint16Array.from({ length }, () => toHalf(unit() * 2 ** random.integer(-16, 12)));
  const values = Float64Array.from({ length }, unit);
  return type === 'f32' ? Float32Array.from(values) : values;
}

function bounds(random: Random, sketch: Sketch): Guard {
  const { i, group, items } = sketch;
  const one = (): Bound => {
    const from = random.integer(-1, items);
    const index = random.pick([add(i), add(i, scale(group, 2)), mod(add(scale(i, 3), 1), 5), add(group)]);
    return {
      index,
      from,
      to: from + random.integer(0, items),
      ...(random.integer(0, 1) ? { outside: true as const } : {}),
    };
  };
  return Array.from({ length: random.integer(1, 2) }, one);
}

function guards(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const input = sketch.global('input', 2 * all);
  const output = sketch.global('output', 2 * all);
  const guard = bounds(random, sketch);
  const [re, im] = [0, 1].map((part) => x.load(input, add(scale(place, 2), part), guard));
  const where = random.integer(0, 1) ? bounds(random, sketch) : undefined;
  const put = (part: number, value: typeof re) =>
    sketch.stores.push({
      array: output,
      index: add(scale(place, 2), part),
      value: value!,
      ...(where ? { guard: where } : {}),
    });
  put(0, x.add(re!, x.constant(1)));
  put(1, x.where(bounds(random, sketch), x.mul(re!, im!), im!));
  return sketch.sample('guards', { repeatable: random.integer(0, 1) === 1 });
}

function choices(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const [a, b] = ['a', 'b'].map((name) => x.load(sketch.global(name, all), place)) as [never, never];
  const output = sketch.global('output', 10 * all);
  const positive = x.add(x.abs(x.mul(a, b)), x.constant(2 ** -90));
  const compared = (comparison: Comparison) => x.select(comparison, a, b, x.mul(a, b), x.sub(b, a));
  const values = [
    compared('less'),
    compared('lessEqual'),
    x.select('equal', x.abs(a), x.max(a, x.neg(a)), a, b),
    x.min(a, b),
    x.max(a, x.constant(0.25)),
    x.abs(x.sub(a, b)),
    x.sqrt(x.abs(a)),
    x.div(a, x.add(x.abs(b), x.constant(0.5))),
    x.exponent(positive),
    x.inversePower(positive),
  ];
  values.forEach((value, n) => sketch.stores.push({ array: output, index: add(place, n * all), value }));
  return sketch.sample('choices');
}

function lookups(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const shuffled = Array.from({ length: all }, (_, n) => n);
  for (let n = all - 1; n > 0; n--) {
    const other = random.integer(0, n);
    [shuffled[n], shuffled[other]] = [shuffled[other]!, shuffled[n]!];
  }
  const table = integerTable('order', shuffled.join(), Uint32Array.from(shuffled));
  const input = sketch.global('input', 2 * all + 1);
  const output = sketch.global('output', all);
  const builder = new TableBuilder(precision);
  const values = Float64Array.from({ length: all }, () => Math.fround(2 * random.unit() - 1));
  const start = builder.appendValues('values', all, () => values);
  const factor = x.load(builder.ref, add(place, start));
  sketch.stores.push({
    array: output,
    index: lookup(table, place),
    value: x.mul(factor, x.load(input, add(scale(lookup(table, mod(add(place, 3), all)), 2), 1))),
  });
  sketch.tables.push(table, builder.build()!);
  return sketch.sample('lookups');
}

function conversions(random: Random, precision: ElementType, from: StorageType, to: StorageType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const planes = random.integer(0, 1) === 1;
  const step = random.pick([1, 2, 3]);
  const side = (name: string, type: StorageType) =>
    planes
      ? [sketch.global(`${name}.re`, step * all + 1, type), sketch.global(`${name}.im`, step * all + 1, type)]
      : [sketch.global(name, 2 * step * all, type)];
  const at = (arrays: readonly ArrayRef[], part: number) =>
    [arrays[planes ? part : 0]!, planes ? scale(place, step) : add(scale(place, 2 * step), part)] as const;
  const input = side('input', from);
  const output = side('output', to);
  const [re, im] = [0, 1].map((part) => x.load(...at(input, part)));
  const parts = [x.mul(x.constant(random.pick([1, 3, 1e-3])), re!), x.sub(im!, x.mul(x.constant(0.1), re!))];
  parts.forEach((value, part) => {
    const [array, index] = at(output, part);
    sketch.stores.push({ array, index, value });
  });
  return sketch.sample(`conversions ${from} to ${to}`);
}

function sums(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const m = variable('m', random.integer(1, 7));
  const n = variable('n', random.integer(1, 3));
  const input = sketch.global('input', all + 7 + 3);
  const weights = sketch.global('weights', 7);
  const output = sketch.global('output', 2 * all);
  const term = x.mul(x.load(input, add(place, m)), x.load(weights, m));
  const one = x.sum(m, term);
  const nested = x.sum(
    n,
    x.mul(x.load(weights, n), x.sum(m, x.mul(x.load(weights, m), x.load(input, add(place, m, n))))),
  );
  sketch.stores.push({ array: output, index: place, value: x.add(one, x.load(weights, 0)) });
  sketch.stores.push({ array: output, index: add(place, all), value: nested });
  return sketch.sample('sums');
}

/**
 * Loops that carry several values, which begin with what is loaded and change one another; two of them over one variable, one that begins with
 * what another one came to, and one inside of another.
 */
function folds(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const m = variable('m', random.pick([1, 5, 65, 83]));
  const n = variable('n', random.pick([2, 66]));
  const input = sketch.global('input', all + 83 + 66);
  const weights = sketch.global('weights', 83);
  const output = sketch.global('output', 6 * all);
  const [half, scaled] = [x.constant(0.5), x.mul(x.constant(0.25), x.load(weights, 2))];
  const at = x.load(input, add(place, m));
  const guarded = x.load(weights, m, [{ index: add(m, place), from: 3, to: 60 }]);
  // The largest number so far, and what belongs to it.
  const largest = x.fold(m, [x.load(weights, 1), scaled], ([most, its]) => [
    x.max(most!, at),
    x.select('less', most!, at, x.mul(guarded, x.load(weights, m)), its!),
  ]);
  const recurrence = x.fold(m, [x.load(input, place)], ([s]) => [x.add(x.mul(half, s!), x.sub(at, scaled))]);
  // Two values change places in each round.
  const turns = x.fold(n, [recurrence[0]!, half], ([a, b]) => [b!, x.sub(x.mul(half, a!), x.load(weights, mod(n, 7)))]);
  const nested = x.fold(n, [x.constant(0)], ([s]) => [
    x.add(x.mul(half, s!), x.fold(m, [s!], ([t]) => [x.mul(half, x.add(t!, x.load(input, add(place, m, n))))])[0]!),
  ]);
  [...largest, ...recurrence, ...turns, ...nested].forEach((value, k) => {
    sketch.stores.push({ array: output, index: add(place, k * all), value });
  });
  return sketch.sample('folds');
}

/** Two-sum (Knuth) and two-product (Dekker, Veltkamp): what is left over after rounding, which careless compilers call zero. */
function errorFree(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, all, place } = sketch;
  const [a, b] = ['a', 'b'].map((name) => x.load(sketch.global(name, all), place)) as [never, never];
  const output = sketch.global('output', 4 * all);
  const plus = (p: typeof sum, q: typeof sum) => x.exactly('add', p, q);
  const minus = (p: typeof sum, q: typeof sum) => x.exactly('sub', p, q);
  const times = (p: typeof sum, q: typeof sum) => x.exactly('mul', p, q);
  const sum = x.exactly('add', a, b);
  const virtual = minus(sum, a);
  const rest = plus(minus(a, minus(sum, virtual)), minus(b, virtual));
  const splitter = x.constant(precision === 'f32' ? 2 ** 12 + 1 : 2 ** 27 + 1);
  const halves = (value: typeof sum) => {
    const scaled = times(splitter, value);
    const high = minus(scaled, minus(scaled, value));
    return [high, minus(value, high)] as const;
  };
  const product = times(a, b);
  const [[a1, a2], [b1, b2]] = [halves(a), halves(b)];
  const error = plus(plus(plus(minus(times(a1, b1), product), times(a1, b2)), times(a2, b1)), times(a2, b2));
  [sum, rest, product, error].forEach((value, n) => {
    sketch.stores.push({ array: output, index: add(place, n * all), value });
  });
  return sketch.sample('error-free transforms');
}

/** A kernel in place that also reads an operand, whose name is no word of a language: forwards, and the same few all over. */
function operands(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision);
  const { x, i, items, all, place } = sketch;
  const [input, output] = ['input', 'output'].map((name) => sketch.global(name, 2 * all)) as [ArrayRef, ArrayRef];
  const few = random.integer(1, items);
  const type = precision === 'f64' ? random.pick(['f32', 'f64'] as const) : 'f32';
  const kind = { operand: true, plane: true } as const;
  const each = sketch.global('arrays.each', items, type, kind);
  const other = sketch.global('arrays.float', few, precision, kind);
  const factor = x.mul(x.load(each, i), x.load(other, mod(scale(i, 3), few)));
  for (const part of [0, 1]) {
    const index = add(scale(place, 2), part);
    sketch.stores.push({ array: output, index, value: x.mul(factor, x.load(input, index)) });
  }
  return sketch.sample('operands', { repeatable: false }, undefined, { aliased: true });
}

/** Neighbouring lanes as the parts of a number; of one number, in place. */
function neighbours(random: Random, precision: ElementType, numbers = random.integer(1, 10)): LanguageSample {
  const sketch = new Sketch(random, precision, 2 * numbers);
  const { x, all, place } = sketch;
  const inPlace = numbers === 1;
  const input = sketch.global('input', all);
  const output = inPlace ? input : sketch.global('output', all);
  const value = x.load(input, place);
  const rotated = x.conj(x.mul(x.constant(0.75), x.swap(value)));
  const exchanged = x.swap(x.conj(x.mul(value, rotated)));
  sketch.stores.push({ array: output, index: place, value: x.add(x.sub(exchanged, value), rotated) });
  return sketch.sample('neighbouring lanes', inPlace ? { repeatable: false, inPlace: 2 } : {});
}

/** Some neighbours that load before any of them stores. */
function together(random: Random, precision: ElementType): LanguageSample {
  const count = random.pick([2, 4]);
  const sketch = new Sketch(random, precision, count * random.integer(1, 6));
  const { x, i, items } = sketch;
  const array = sketch.global('input', items);
  const own = mod(i, count);
  const mirrored = x.load(array, add(sub(i, own), sub(count - 1, own)));
  sketch.stores.push({ array, index: add(i), value: x.add(x.mul(x.constant(2), x.load(array, i)), mirrored) });
  const { kernel, ...sample } = sketch.sample('in place, some together', { repeatable: false, inPlace: count });
  return { ...sample, kernel: { ...kernel, group: variable('group', 1) } };
}

/** Rows that go one after another through an array with room for one, each number with its mirror image in its row; not all rows are full. */
function slices(random: Random, precision: ElementType): LanguageSample {
  const sketch = new Sketch(random, precision, random.integer(1, 9));
  const { group, all, items } = sketch;
  const rows = random.integer(2, 4);
  const missing = random.integer(0, rows - 1);
  const [input, output] = [sketch.global('input', rows * all), sketch.global('output', rows * all)];
  const row: ArrayRef = { name: 'row', space: 'shared', type: precision, length: items };
  const limit = sub(rows * group.count - missing, scale(group, rows));
  const phase = (from: ArrayRef, to: ArrayRef, exchange: Phase['exchange']): Phase => {
    const [r, i] = [variable('row', rows), variable('i', items)];
    const x = new Expressions();
    const at = (array: ArrayRef, place: IndexLike) =>
      array === row ? add(place) : add(place, scale(r, items), scale(group, rows * items));
    const value = x.sub(x.load(from, at(from, sub(items - 1, i))), x.mul(x.constant(0.5), x.load(from, at(from, i))));
    const loops = [{ variable: r, ...(missing > 0 ? { limit } : {}) }, { variable: i }];
    return { loops, lanes: i, stores: [{ array: to, index: at(to, i), value }], repeatable: true, exchange };
  };
  const { kernel, ...sample } = sketch.sample('slices');
  const phases = [phase(input, row, 'slice'), phase(row, output, 'group')];
  return { ...sample, kernel: { ...kernel, shared: [row], phases } };
}

/** One sample of each kind. */
export function languageSamples(random: Random, precision: ElementType): LanguageSample[] {
  const types: StorageType[] = precision === 'f32' ? ['f16', 'f32'] : ['f16', 'f32', 'f64'];
  return [
    guards(random, precision),
    choices(random, precision),
    lookups(random, precision),
    ...types.flatMap((from) => types.map((to) => conversions(random, precision, from, to))),
    sums(random, precision),
    folds(random, precision),
    errorFree(random, precision),
    operands(random, precision),
    neighbours(random, precision),
    neighbours(random, precision, 1),
    together(random, precision),
    slices(random, precision),
  ];
}
