/** What is asked of layouts, against all of their elements. */
import { expect, it } from 'vitest';
import { coordinatesOf, randomLayout } from '../../test/support/layouts.ts';
import { randomFor } from '../../test/support/random.ts';
import type { Element, Layout } from './index.ts';
import * as l from './index.ts';

const random = randomFor('layout/queries');
const ROUNDS = 1200;

/** A layout, one of its dimensions, and the lines along that. */
interface Sample {
  readonly layout: Layout;
  readonly d: number;
  readonly lines: readonly (readonly (Element | undefined)[])[];
  readonly text: string;
}

function linesOf(layout: Layout, d: number): (Element | undefined)[][] {
  const starts = layout.shape.map((count, k) => (k === d ? 1 : count));
  return [...coordinatesOf(starts)].map((start) =>
    Array.from({ length: layout.shape[d]! }, (_, i) =>
      l.elementOfLayout(
        layout,
        start.map((own, k) => (k === d ? i : own)),
      ),
    ),
  );
}

const samples: Sample[] = Array.from({ length: ROUNDS }, () => {
  const { layout, text } = randomLayout(random, 7);
  const d = random.integer(0, layout.shape.length - 1);
  return { layout, d, lines: linesOf(layout, d), text: `${text} along ${d}, ${l.printLayout(layout)}` };
});

function inMemory(element: Element | undefined): element is Element & { place: number; array: string } {
  return element?.place !== undefined;
}

/** Distances for each step between elements of a line that are in memory; `undefined` between arrays. */
function stepsIn(line: readonly (Element | undefined)[], neighbours = false): Set<number | undefined> {
  const found = new Set<number | undefined>();
  line.forEach((one, i) => {
    for (let j = i + 1; j < (neighbours ? Math.min(i + 2, line.length) : line.length); j++) {
      const other = line[j];
      if (!inMemory(one) || !inMemory(other)) continue;
      found.add(one.array === other.array ? (other.place - one.place) / (j - i) : undefined);
    }
  });
  return found;
}

function placesOf(layout: Layout): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const index of coordinatesOf(layout.shape)) {
    const element = l.elementOfLayout(layout, index);
    if (!inMemory(element)) continue;
    found.set(element.array, (found.get(element.array) ?? new Set()).add(element.place));
  }
  return found;
}

/** How often a question was answered, of how often there was an answer. */
function expectMostly(answered: number, all: number, share: number, what: string): void {
  expect(answered, `${what}: ${answered} of ${all} known`).toBeGreaterThan(share * all);
}

it('runs cover a dimension: zeros are zeros, steps are steps, and what is whole is there or not at all', () => {
  for (const { layout, d, lines, text } of samples) {
    const runs = l.runs(layout, d);
    expect(
      runs.flatMap(({ from, to }) => [from, to]),
      text,
    ).toEqual(runs.length === 0 ? [] : [0, ...runs.slice(1).flatMap(({ from }) => [from, from]), layout.shape[d]]);
    for (const { from, to, zero, step, whole } of runs)
      for (const line of lines) {
        const run = line.slice(from, to);
        if (zero)
          expect(
            run.every((element) => element === undefined),
            text,
          ).toBe(true);
        if (step !== undefined)
          expect(
            [...stepsIn(run), step].every((own) => own === step),
            text,
          ).toBe(true);
        if (whole) expect(new Set(run.map(inMemory)).size, text).toBe(1);
      }
  }
});

it('the stride of a dimension is that between all elements in memory', () => {
  let [answered, all] = [0, 0];
  for (const { layout, d, lines, text } of samples) {
    const wanted = new Set(lines.flatMap((line) => [...stepsIn(line)]));
    const stride = l.strideAlong(layout, d);
    if (stride !== undefined)
      expect(
        [...wanted].every((step) => step === stride),
        text,
      ).toBe(true);
    if (wanted.size !== 1 || wanted.has(undefined)) continue;
    all++;
    answered += Number(stride !== undefined);
  }
  expectMostly(answered, all, 0.9, 'strides');
});

it('the step to a neighbour is that of all neighbours in one run', () => {
  let [answered, all] = [0, 0];
  for (const { layout, d, lines, text } of samples) {
    const step = l.neighbourStep(layout, d);
    const wanted = new Set(lines.flatMap((line) => [...stepsIn(line, true)]));
    if (step !== undefined)
      for (const run of l.runs(layout, d))
        if (run.step !== undefined && run.to - run.from > 1) expect(run.step, text).toBe(step);
    if (wanted.size !== 1 || wanted.has(undefined)) continue;
    all++;
    answered += Number(step !== undefined);
  }
  expectMostly(answered, all, 0.85, 'steps to neighbours');
});

it('aligned blocks of a contiguous run lie side by side, or are zero', () => {
  for (const { layout, d, lines, text } of samples) {
    const run = l.contiguousRun(layout, d);
    expect(run, text).toBeGreaterThan(0);
    for (const line of lines)
      for (let from = 0; from < line.length && run > 1; from += run) {
        const block = line.slice(from, from + run);
        const there = block.filter(inMemory);
        expect([0, block.length], text).toContain(there.length);
        if (there.length > 1) expect([...stepsIn(block)], text).toEqual([1]);
      }
  }
  const tiles = l.join(l.memory('a', [8, 4], [100, 1]), 0);
  expect(l.contiguousRun(tiles, 0)).toBe(4);
  expect(l.contiguousRun(l.memory('a', [8], [1]), 0)).toBe(8);
  expect(l.contiguousRun(l.pad(l.memory('a', [12], [1]), 0, 4, 0), 0)).toBe(4);
});

it('known zeros are zeros', () => {
  let [answered, all] = [0, 0];
  for (const { layout, d, lines, text } of samples) {
    const zeros = l.knownZeros(layout, d);
    for (const { from, to } of zeros)
      for (const line of lines)
        expect(
          line.slice(from, to).every((element) => !element),
          text,
        ).toBe(true);
    const wanted = Array.from({ length: layout.shape[d]! }, (_, i) => lines.every((line) => !line[i]));
    all += wanted.filter(Boolean).length;
    answered += zeros.reduce((sum, { from, to }) => sum + to - from, 0);
  }
  expectMostly(answered, all, 0.6, 'zeros');
});

it('boxes and extents hold all places', () => {
  for (const { layout, text } of samples) {
    const extents = new Map(l.extent(layout).map((own) => [own.array, own]));
    for (const [array, places] of placesOf(layout)) {
      const { least, most } = extents.get(array)!;
      expect(least, text).toBeLessThanOrEqual(Math.min(...places));
      expect(most, text).toBeGreaterThanOrEqual(Math.max(...places));
      const held = l
        .boxes(layout)
        .filter((box) => box.array === array)
        .flatMap(placesIn);
      const all = new Set(held);
      expect(
        [...places].every((place) => all.has(place)),
        text,
      ).toBe(true);
    }
  }
});

function placesIn({ offset, terms }: l.Box): number[] {
  return terms.reduce(
    (places, { stride, count }) =>
      places.flatMap((place) => Array.from({ length: count }, (_, i) => place + stride * i)),
    [offset],
  );
}

it('layouts that have a place in common may meet', () => {
  let [answered, all] = [0, 0];
  samples.forEach(({ layout, text }, n) => {
    const other = samples[(n + 1) % samples.length]!;
    const own = placesOf(layout);
    const meet = [...placesOf(other.layout)].some(([array, places]) =>
      [...places].some((place) => own.get(array)?.has(place)),
    );
    const may = l.mayMeet(layout, other.layout);
    if (meet) expect(may, `${text} and ${other.text}`).toBe(true);
    else {
      all++;
      answered += Number(!may);
    }
  });
  expectMostly(answered, all, 0.8, 'layouts apart');
});

it('an injective layout has no place twice, and one that is known not to be has', () => {
  let [answered, all] = [0, 0];
  for (const { layout, text } of samples) {
    let elements = 0;
    const places = new Set<string>();
    for (const index of coordinatesOf(layout.shape)) {
      const element = l.elementOfLayout(layout, index);
      if (!inMemory(element)) continue;
      elements++;
      places.add(`${element.array} ${element.place}`);
    }
    const wanted = places.size === elements;
    const found = l.injective(layout);
    if (found !== undefined) expect(found, text).toBe(wanted);
    if (!wanted) continue;
    all++;
    answered += Number(found === true);
  }
  expectMostly(answered, all, 0.85, 'injective layouts');
});

it('places of an aligned layout are multiples', () => {
  for (const { layout, text } of samples) {
    const by = random.integer(2, 3);
    if (!l.aligned(layout, by)) continue;
    for (const places of placesOf(layout).values())
      expect(
        [...places].every((place) => place % by === 0),
        text,
      ).toBe(true);
  }
  expect(l.aligned(l.memory('a', [3, 4], [8, 2], 6), 2)).toBe(true);
});

it('dimensions that may join are one without a further node', () => {
  expect(l.mayJoin(l.memory('a', [3, 4], [4, 1]), 0, 1)).toBe(true);
  expect(l.mayJoin(l.memory('a', [3, 4], [1, 3]), 1, 0)).toBe(true);
  expect(l.mayJoin(l.memory('a', [3, 4], [5, 1]), 0, 1)).toBe(false);
  const of = l.memory('a', [3, 4, 8], [32, 8, 1]);
  expect(l.mayJoin(l.pad(of, 2, 1, 1), 0, 1)).toBe(true);
  expect(l.mayJoin(l.pad(of, 1, 1, 1), 0, 1)).toBe(false);
  expect(l.mayJoin(l.without(of, 1, 1, 2), 0, 1)).toBe(false);
  expect(l.mayJoin(l.map(of, 'f', [1]), 0, 1)).toBe(false);
  expect(l.mayJoin(l.map(of, 'f', [2]), 0, 1)).toBe(true);
});

it('separate transforms do not write where others read', () => {
  let [answered, all] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const { layout: input, text } = randomLayout(random, 4);
    const batch = [random.integer(0, input.shape.length - 1)];
    const output = random.integer(0, 1) ? input : l.reverse(input, random.integer(0, input.shape.length - 1));
    const [read, written] = [transformsOf(input, batch[0]!), transformsOf(output, batch[0]!)];
    const meets = read.some((own, n) =>
      written.some((other, m) => n !== m && [...own].some((place) => other.has(place))),
    );
    const found = l.separate(input, output, batch);
    if (found) expect(meets, `${text}, ${l.printLayout(output)}, ${batch}`).toBe(false);
    if (meets) continue;
    all++;
    answered += Number(found);
  }
  expectMostly(answered, all, 0.75, 'separate transforms');
});

function transformsOf(layout: Layout, d: number): Set<string>[] {
  return Array.from({ length: layout.shape[d]! }, (_, n) => {
    const places = new Set<string>();
    for (const [array, own] of placesOf(l.slice(layout, d, n, 1)))
      for (const place of own) places.add(`${array} ${place}`);
    return places;
  });
}

it('transforms of columns in place are separate, whatever the order of their points', () => {
  const columns = l.memory('a', [64, 16, 2], [32, 2, 1]);
  const digits = l.join(l.transpose(l.split(columns, 0, 8), 0, 1), 0);
  expect(l.separate(columns, digits, [1])).toBe(true);
  expect(l.separate(columns, l.memory('a', [64, 16, 2], [2, 128, 1]), [1])).toBe(false);
});

it('plain memory is memory, and nothing else', () => {
  const of = l.memory('a', [4, 6], [6, 1]);
  expect(l.isMemory(l.reverse(l.stride(l.join(of, 0), 0, 3), 0))).toBe(true);
  expect(l.isMemory(l.pad(of, 0, 1, 0))).toBe(false);
});
