/** Normal forms mean what their constructors say, and laws of the algebra hold as equal forms. */
import { expect, it } from 'vitest';
import { AFFINE, coordinatesOf, randomLayout } from '../../../test/support/layouts.ts';
import { randomFor } from '../../../test/support/random.ts';
import type { Element, Layout } from '../index.ts';
import * as l from '../index.ts';

const random = randomFor('layout/normal-form');

function same(a: Element | undefined, b: Element | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.array === b.array &&
    a.place === b.place &&
    a.negated === b.negated &&
    (a.calls.length + b.calls.length === 0 || JSON.stringify(a.calls) === JSON.stringify(b.calls))
  );
}

it('the normal form of a random layout means what its constructors say', () => {
  for (let round = 0; round < 2000; round++) {
    const { layout, meaning, text } = randomLayout(random, 7);
    expect(layout.shape, text).toEqual(meaning.shape);
    for (const index of coordinatesOf(layout.shape)) {
      const [found, wanted] = [l.elementOfLayout(layout, index), meaning.at(index)];
      if (!same(found, wanted)) expect(found, `${text} at ${index}, ${l.printLayout(layout)}`).toEqual(wanted);
    }
  }
});

it('a layout is frozen and survives JSON', () => {
  for (let round = 0; round < 300; round++) {
    const { layout, text } = randomLayout(random, 7);
    const copy = JSON.parse(JSON.stringify(layout)) as Layout;
    expect(copy, text).toEqual(layout);
    expect(l.printLayout(copy), text).toBe(l.printLayout(layout));
    expect(isFrozen(layout), text).toBe(true);
  }
});

function isFrozen(value: unknown): boolean {
  return (
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  );
}

/** One side of a law and the other, of a layout, one of its dimensions and a divisor of that. */
type Law = (of: Layout, d: number, by: number) => readonly [Layout, Layout];

/** Laws of any layout. */
const always: Readonly<Record<string, Law>> = {
  'negated twice': (of) => [l.negate(l.negate(of)), of],
  'windows side by side are a split': (of, d, by) => [l.slide(of, d, by, by), l.split(of, d, by)],
  'two pads are one': (of, d, by) => [l.pad(l.pad(of, d, 1, by), d, by, 2), l.pad(of, d, by + 1, by + 2)],
  'the order in which parts are put together': (of, d) => {
    const back = l.reverse(of, d);
    return [l.concat(d, l.concat(d, of, back), of), l.concat(d, of, l.concat(d, back, of))];
  },
  'a part of a concat': (of, d) => [l.slice(l.concat(d, l.zeros(of.shape), of), d, of.shape[d]!, of.shape[d]!), of],
};

/** Laws of layouts without masks, orders and joins of other layouts. */
const affine: Readonly<Record<string, Law>> = {
  'split and joined': (of, d, by) => [l.join(l.split(of, d, by), d), of],
  'reversed twice': (of, d) => [l.reverse(l.reverse(of, d), d), of],
  'a slice of a slice': (of, d) => {
    const count = of.shape[d]! - 1;
    return [l.slice(l.slice(of, d, 1, count), d, 0, Math.max(0, count - 1)), l.slice(of, d, 1, Math.max(0, count - 1))];
  },
  'a stride of a stride': (of, d) => [l.stride(l.stride(of, d, 2), d, 3), l.stride(of, d, 6)],
  'a stride is a slice of a split': (of, d, by) => [
    l.stride(of, d, by, by - 1),
    l.join(l.slice(l.split(of, d, by), d + 1, by - 1, 1), d),
  ],
};

/** Laws of two layouts behind one another. */
const concats: Readonly<Record<string, (x: Layout, y: Layout, d: number, by: number) => readonly [Layout, Layout]>> = {
  reversed: (x, y, d) => [l.reverse(l.concat(d, x, y), d), l.concat(d, l.reverse(y, d), l.reverse(x, d))],
  'stepped over': (x, y, d, by) => [
    l.stride(l.concat(d, x, y), d, by),
    l.concat(d, l.stride(x, d, by), l.stride(y, d, by)),
  ],
  split: (x, y, d, by) => [l.split(l.concat(d, x, y), d, by), l.concat(d, l.split(x, d, by), l.split(y, d, by))],
  'with the other sign': (x, y, d) => [l.negate(l.concat(d, x, y)), l.concat(d, l.negate(x), l.negate(y))],
};

function divisorOf(n: number): number {
  return random.pick(Array.from({ length: n }, (_, i) => i + 1).filter((by) => n % by === 0));
}

it.each(Object.entries({ ...always, ...affine }))('%s: both sides of the law have one form', (name, law) => {
  for (let round = 0; round < 200; round++) {
    const { layout, text } = randomLayout(random, 5, name in always ? undefined : AFFINE);
    const d = random.integer(0, layout.shape.length - 1);
    if (layout.shape[d] === 0) continue;
    const [left, right] = law(layout, d, divisorOf(layout.shape[d]!));
    expect(l.printLayout(left), text).toBe(l.printLayout(right));
  }
});

it.each(Object.entries(concats))('a concat %s is one of parts that are so', (_, law) => {
  for (let round = 0; round < 200; round++) {
    const shape = Array.from({ length: random.integer(1, 3) }, () => random.integer(2, 6));
    const memory = (array: string) =>
      l.memory(
        array,
        shape,
        shape.map(() => random.integer(1, 20)),
      );
    const d = random.integer(0, shape.length - 1);
    const [left, right] = law(memory('a'), memory('b'), d, divisorOf(shape[d]!));
    expect(l.printLayout(left)).toBe(l.printLayout(right));
  }
});

it('a split undoes a join', () => {
  for (let round = 0; round < 200; round++) {
    const shape = Array.from({ length: random.integer(2, 4) }, () => random.integer(1, 6));
    const of = l.memory(
      'a',
      shape,
      shape.map(() => random.integer(1, 20)),
    );
    const d = random.integer(0, shape.length - 2);
    expect(l.printLayout(l.split(l.join(of, d), d, shape[d + 1]!))).toBe(l.printLayout(of));
  }
});

it('a map lets through joins of dimensions that it does not ask for', () => {
  const of = l.memory('a', [3, 4, 5], [50, 10, 1]);
  expect(l.printLayout(l.join(l.map(of, 'f', [2]), 0))).toBe(l.printLayout(l.map(l.join(of, 0), 'f', [1])));
});

it('a hole between two pieces of one memory is a mask, also inside other pieces', () => {
  const of = l.memory('a', [6, 8], [8, 1]);
  expect(l.printLayout(l.without(of, 1, 3, 5))).toBe('a[6, 8]:[8, 1] |> mask(i1 not in 3..4)');
  expect(l.printLayout(l.without(l.without(of, 1, 3, 5), 0, 1, 2))).toBe(
    'a[6, 8]:[8, 1] |> mask(i1 not in 3..4 and i0 not in 1..1)',
  );
  expect(l.printLayout(l.without(l.pad(of, 1, 1, 1), 0, 1, 2))).toBe(
    'concat(1)(zeros[6, 1], a[6, 8]:[8, 1], zeros[6, 1]) |> mask(i0 not in 1..1)',
  );
});

it('functions are not called for zeros outside of them, and are for zeros inside', () => {
  const of = l.memory('a', [4], [1]);
  expect(l.elementOfLayout(l.pad(l.map(of, 'f', [0]), 0, 1, 0), [0])).toBeUndefined();
  expect(l.elementOfLayout(l.map(l.pad(of, 0, 1, 0), 'f', [0]), [0])).toEqual({
    negated: false,
    calls: [{ by: 'f', at: [0], negated: false }],
  });
});
