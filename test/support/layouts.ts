/**
 * Layouts by their meaning: each constructor as a function of coordinates, written without knowledge of normal forms; and random layouts
 * that are built both ways.
 */
import * as built from '../../src/layout/index.ts';
import { type Element, type Layout, type Order, orderIndices, printLayout } from '../../src/layout/index.ts';
import type { Random } from './random.ts';

/** A layout by its meaning. */
export interface Meaning {
  readonly shape: readonly number[];
  readonly at: (index: readonly number[]) => Element | undefined;
}

/** The constructors by name. */
const constructors: { readonly [name in Name]: unknown } = { ...built };

const replaced = (list: readonly number[], d: number, ...by: number[]) => [
  ...list.slice(0, d),
  ...by,
  ...list.slice(d + 1),
];

function pulled(shape: readonly number[], of: Meaning, pull: (index: readonly number[]) => readonly number[]): Meaning {
  return { shape, at: (index) => of.at(pull(index)) };
}

function withOtherSign(element: Element | undefined): Element | undefined {
  const [call, ...others] = element?.calls ?? [];
  if (!element || !call) return element && { ...element, negated: !element.negated };
  return { ...element, calls: [{ ...call, negated: !call.negated }, ...others] };
}

/** The constructors of layouts, by what they mean. */
export const meaning = {
  memory: (array: string, shape: readonly number[], strides: readonly number[], offset = 0): Meaning => ({
    shape,
    at: (index) => ({
      array,
      place: index.reduce((sum, i, d) => sum + i * strides[d]!, offset),
      negated: false,
      calls: [],
    }),
  }),
  zeros: (shape: readonly number[]): Meaning => ({ shape, at: () => undefined }),
  split: (of: Meaning, d: number, by: number) =>
    pulled(replaced(of.shape, d, of.shape[d]! / by, by), of, (index) => [
      ...index.slice(0, d),
      index[d]! * by + index[d + 1]!,
      ...index.slice(d + 2),
    ]),
  join: (of: Meaning, d: number) => {
    const by = of.shape[d + 1]!;
    const shape = [...of.shape.slice(0, d), of.shape[d]! * by, ...of.shape.slice(d + 2)];
    return pulled(shape, of, (index) => replaced(index, d, Math.floor(index[d]! / by), index[d]! % by));
  },
  permute: (of: Meaning, order: readonly number[]) =>
    pulled(
      order.map((d) => of.shape[d]!),
      of,
      (index) => of.shape.map((_, k) => index[order.indexOf(k)]!),
    ),
  slice: (of: Meaning, d: number, from: number, count: number) =>
    pulled(replaced(of.shape, d, count), of, (index) => replaced(index, d, from + index[d]!)),
  stride: (of: Meaning, d: number, by: number, from = 0) =>
    pulled(replaced(of.shape, d, Math.ceil((of.shape[d]! - from) / by)), of, (index) =>
      replaced(index, d, from + by * index[d]!),
    ),
  reverse: (of: Meaning, d: number) =>
    pulled(of.shape, of, (index) => replaced(index, d, of.shape[d]! - 1 - index[d]!)),
  slide: (of: Meaning, d: number, size: number, step: number) =>
    pulled(replaced(of.shape, d, Math.floor((of.shape[d]! - size) / step) + 1, size), of, (index) => [
      ...index.slice(0, d),
      index[d]! * step + index[d + 1]!,
      ...index.slice(d + 2),
    ]),
  repeat: (of: Meaning, at: number, count: number) =>
    pulled([...of.shape.slice(0, at), count, ...of.shape.slice(at)], of, (index) => [
      ...index.slice(0, at),
      ...index.slice(at + 1),
    ]),
  concat: (d: number, ...parts: readonly Meaning[]): Meaning => ({
    shape: replaced(
      parts[0]!.shape,
      d,
      parts.reduce((sum, { shape }) => sum + shape[d]!, 0),
    ),
    at: (index) => {
      let rest = index[d]!;
      for (const part of parts) {
        if (rest < part.shape[d]!) return part.at(replaced(index, d, rest));
        rest -= part.shape[d]!;
      }
      throw new RangeError('outside of a concat');
    },
  }),
  pad: (of: Meaning, d: number, before: number, after: number): Meaning =>
    meaning.concat(d, meaning.zeros(replaced(of.shape, d, before)), of, meaning.zeros(replaced(of.shape, d, after))),
  within: (of: Meaning, d: number, from: number, to: number): Meaning => ({
    shape: of.shape,
    at: (index) => (index[d]! >= from && index[d]! < to ? of.at(index) : undefined),
  }),
  without: (of: Meaning, d: number, from: number, to: number): Meaning => ({
    shape: of.shape,
    at: (index) => (index[d]! >= from && index[d]! < to ? undefined : of.at(index)),
  }),
  gap: (of: Meaning, d: number, from: number, to: number) =>
    pulled(replaced(of.shape, d, of.shape[d]! - (to - from)), of, (index) =>
      replaced(index, d, index[d]! < from ? index[d]! : index[d]! + to - from),
    ),
  negate: (of: Meaning): Meaning => ({ shape: of.shape, at: (index) => withOtherSign(of.at(index)) }),
  gather: (of: Meaning, d: number, order: Order) => {
    const entries = orderIndices(order);
    return pulled(replaced(of.shape, d, entries.length), of, (index) => replaced(index, d, entries[index[d]!]!));
  },
  map: (of: Meaning, by: string, asks: readonly number[]): Meaning => ({
    shape: of.shape,
    at: (index) => {
      const { calls, ...inner } = of.at(index) ?? { negated: false, calls: [] };
      return { ...inner, calls: [{ by, at: asks.map((d) => index[d]!), negated: false }, ...calls] };
    },
  }),
  digits: (of: Meaning, d: number, loops: readonly { readonly step: number; readonly count: number }[]): Meaning => ({
    shape: replaced(of.shape, d, ...loops.map(({ count }) => count)),
    at: (index) => {
      const place = loops.reduce((sum, { step }, n) => sum + step * index[d + n]!, 0);
      return place < of.shape[d]! ? of.at([...index.slice(0, d), place, ...index.slice(d + loops.length)]) : undefined;
    },
  }),
  mask: (of: Meaning, d: number, by: number, from: number, to: number): Meaning => ({
    shape: of.shape,
    at: (index) => (index[d]! % by >= from && index[d]! % by < to ? of.at(index) : undefined),
  }),
  alternate: (of: Meaning, d: number): Meaning => ({
    shape: of.shape,
    at: (index) => (index[d]! % 2 === 1 ? withOtherSign(of.at(index)) : of.at(index)),
  }),
};

/** A layout, and what it means. */
export interface Both {
  readonly layout: Layout;
  readonly meaning: Meaning;
  /** How it was built. */
  readonly text: string;
  readonly mapped: boolean;
}

/** Elements of a random layout, at most. */
const MOST_ELEMENTS = 400;

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

/** Memory of 1 to 4 dimensions: packed, with gaps, backwards or repeated. @param array one of few, so that layouts may meet */
function randomMemory(random: Random, shape: readonly number[] | undefined): Both {
  const own = shape ?? Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 6));
  let span = 1;
  const strides = own.map(() => 0);
  for (const d of shuffled(random, own.keys())) {
    strides[d] = random.pick([span, span, span, span + 1, 2 * span, 0]);
    span = Math.max(span, strides[d]! * own[d]!);
  }
  const signed = strides.map((stride) => (random.integer(0, 7) === 0 ? -stride : stride));
  const args = [random.pick(['a', 'a', 'b']), own, signed, random.integer(0, 9)] as const;
  return {
    layout: built.memory(...args),
    meaning: meaning.memory(...args),
    text: `memory(${JSON.stringify(args)})`,
    mapped: false,
  };
}

function shuffled(random: Random, items: Iterable<number>): number[] {
  const list = [...items];
  for (let n = list.length - 1; n > 0; n--) {
    const other = random.integer(0, n);
    [list[n], list[other]] = [list[other]!, list[n]!];
  }
  return list;
}

type Name = Exclude<keyof typeof meaning, 'memory' | 'zeros' | 'concat'>;

function divisorOf(random: Random, n: number): number {
  const all = Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
  return all.length > 0 ? random.pick(all) : 1;
}

/** Arguments that fit, after the layout; undefined where there are none. */
function argumentsOf(random: Random, name: Name, { layout, mapped }: Both): readonly unknown[] | undefined {
  const { shape } = layout;
  const d = random.integer(0, shape.length - 1);
  const n = shape[d]!;
  const block = () => {
    const from = random.integer(0, n);
    return [d, from, random.integer(from, n)];
  };
  switch (name) {
    case 'split':
      return shape.length < 4 ? [d, divisorOf(random, n)] : undefined;
    case 'join':
      return d + 1 < shape.length ? [d] : undefined;
    case 'permute':
      return [shuffled(random, shape.keys())];
    case 'slice': {
      const from = random.integer(0, Math.max(0, n - 1));
      return [d, from, random.integer(Math.min(1, n - from), n - from)];
    }
    case 'stride':
      return [d, random.integer(1, 3), random.integer(0, Math.max(0, Math.min(n - 1, 2)))];
    case 'reverse':
    case 'alternate':
      return [d];
    case 'digits': {
      const second = shape.length < 4 && random.integer(0, 1) === 1 ? [{ step: 1, count: random.integer(1, 3) }] : [];
      return n > 0 ? [d, [{ step: random.integer(0, 3), count: random.integer(1, 4) }, ...second]] : undefined;
    }
    case 'slide': {
      const size = random.integer(1, n);
      return n > 0 && shape.length < 4 ? [d, size, random.integer(1, 3)] : undefined;
    }
    case 'repeat':
      return shape.length < 4 ? [random.integer(0, shape.length), random.integer(1, 3)] : undefined;
    case 'pad':
      return [d, random.integer(0, 3), random.integer(0, 3)];
    case 'within':
    case 'without':
      return block();
    case 'gap': {
      const [, from, to] = block();
      return to! - from! < n ? [d, from, to] : undefined;
    }
    case 'negate':
      return [];
    case 'gather': {
      if (n === 0) return undefined;
      const prime = [3, 5, 7].find((p) => p === n);
      if (prime && random.integer(0, 1) === 0)
        return [d, { powersOf: prime, ...(random.integer(0, 1) ? { inverse: true } : {}) }];
      return [d, { entries: shuffled(random, Array(n).keys()) }];
    }
    case 'map':
      return mapped ? undefined : ['f', shuffled(random, shape.keys()).slice(0, random.integer(1, shape.length))];
    case 'mask': {
      const by = random.integer(1, 4);
      const from = random.integer(0, by - 1);
      return [d, by, from, random.integer(from + 1, by)];
    }
  }
}

const NAMES: readonly Name[] = [
  ...(['split', 'join', 'join', 'permute', 'slice', 'stride', 'reverse', 'slide', 'repeat', 'pad'] as const),
  ...(['within', 'without', 'gap', 'negate', 'gather', 'map', 'mask', 'alternate', 'digits'] as const),
];

/** A part that goes behind a layout, often the same one in another guise, as continuations of signals are. */
function randomConcat(random: Random, own: Both): Both {
  const { shape } = own.layout;
  const d = random.integer(0, shape.length - 1);
  const other = () => {
    if (random.integer(0, 2) === 0) return builtOf(random, 1, NAMES, shape, own.mapped);
    return random.integer(0, 1) === 0 ? own : applied(own, 'reverse', [d]);
  };
  const parts = random.integer(0, 1) === 0 ? [own, other()] : [other(), own];
  if (parts.some(({ layout }) => layout.shape.some((n, k) => k !== d && n !== shape[k]))) return own;
  return {
    layout: built.concat(d, ...parts.map(({ layout }) => layout)),
    meaning: meaning.concat(d, ...parts.map((part) => part.meaning)),
    text: `concat(${d}, ${parts.map(({ text }) => text).join(', ')})`,
    mapped: parts.some(({ mapped }) => mapped),
  };
}

/** One constructor more. */
export function applied(of: Both, name: Name, args: readonly unknown[]): Both {
  const make = constructors[name] as (of: Layout, ...args: readonly unknown[]) => Layout;
  const means = meaning[name] as (of: Meaning, ...args: readonly unknown[]) => Meaning;
  return {
    layout: make(of.layout, ...args),
    meaning: means(of.meaning, ...args),
    text: `${name}(${[of.text, ...args.map((arg) => JSON.stringify(arg))].join(', ')})`,
    mapped: of.mapped || name === 'map',
  };
}

/** Constructors that pull affine coordinates, or put zeros around a layout. */
export const AFFINE: readonly Name[] = [
  'split',
  'permute',
  'slice',
  'stride',
  'reverse',
  'repeat',
  'pad',
  'negate',
  'map',
];

/** A random layout of these constructors. @param depth constructors, at most */
export function randomLayout(random: Random, depth: number, names: readonly Name[] = NAMES): Both {
  return builtOf(random, depth, names);
}

/** A random layout of a line: constructors of its first dimension, which may become two and one again. */
export function randomLine(random: Random, line: Layout, depth: number): { layout: Layout; text: string } {
  const rank = line.shape.length;
  let layout = line;
  let text = 'line';
  for (let n = random.integer(0, depth); n > 0; n--) {
    const count = layout.shape[0]!;
    const from = random.integer(0, count);
    const to = random.integer(from, count);
    const by = divisorOf(random, count);
    const d = random.integer(0, 1) === 0 ? 0 : Math.min(1, layout.shape.length - rank);
    const steps: Readonly<Record<string, () => Layout>> = {
      slice: () => built.slice(layout, 0, Math.min(from, count - 1), Math.max(1, to - from)),
      stride: () => built.stride(layout, 0, random.integer(1, 3)),
      reverse: () => built.reverse(layout, d),
      pad: () => built.pad(layout, 0, random.integer(0, 2), random.integer(0, 2)),
      within: () => built.within(layout, 0, from, to),
      without: () => built.without(layout, 0, from, to),
      negate: () => built.negate(layout),
      mask: () => built.mask(layout, 0, 3, 1, 3),
      alternate: () => built.alternate(layout, 0),
      twice: () => built.concat(0, layout, built.negate(built.reverse(layout, 0))),
      gather: () => built.gather(layout, 0, { entries: shuffled(random, Array(count).keys()) }),
      split: () => (layout.shape.length > rank ? layout : built.split(layout, 0, by)),
      join: () => (layout.shape.length > rank ? built.join(layout, 0) : layout),
    };
    const name = random.pick(Object.keys(steps));
    if (name === 'slice' && from >= count) continue;
    const next = steps[name]!();
    if (elementsOf(next.shape) > MOST_ELEMENTS) continue;
    layout = next;
    text = `${name}(${text})`;
  }
  return { layout, text: `${text}: ${printLayout(layout)}` };
}

/** @param shape of the memory that it begins with, which it keeps */
function builtOf(
  random: Random,
  depth: number,
  names: readonly Name[],
  shape?: readonly number[],
  mapped = false,
): Both {
  let own = { ...randomMemory(random, shape), mapped };
  for (let n = random.integer(0, depth); n > 0; n--) {
    const name = names === NAMES && random.integer(0, 5) === 0 ? 'concat' : random.pick(names);
    const args = name === 'concat' ? [] : argumentsOf(random, name, own);
    if (!args || (shape && name !== 'negate' && name !== 'alternate' && name !== 'within')) continue;
    const next = name === 'concat' ? randomConcat(random, own) : applied(own, name, args);
    if (elementsOf(next.layout.shape) <= MOST_ELEMENTS) own = next;
  }
  return own;
}

/** Every coordinate of a shape. */
export function* coordinatesOf(shape: readonly number[]): Generator<number[]> {
  const count = elementsOf(shape);
  for (let flat = 0; flat < count; flat++) {
    let rest = flat;
    const index = new Array<number>(shape.length);
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d] = rest % shape[d]!;
      rest = Math.floor(rest / shape[d]!);
    }
    yield index;
  }
}
