/** Layouts say of the sides of random plans what their views say: the same places, zeros and signs, at every element. */
import { expect, it } from 'vitest';
import { complexProblem } from '../../test/support/complex.ts';
import { convolutionProblem } from '../../test/support/convolution.ts';
import { randomProfile, randomThreads } from '../../test/support/devices.ts';
import { planConvolution, planDirection } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import * as real from '../../test/support/real.ts';
import { sideLayout, type Use } from '../../test/support/side-layouts.ts';
import * as sums from '../../test/support/sums.ts';
import { namedProfiles } from '../devices/profiles/index.ts';
import {
  add,
  type Complex,
  Expressions,
  evaluate,
  holds,
  type Index,
  type IndexLike,
  index,
  indexKey,
  type Real,
  TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import { toNumber } from '../numeric/exact.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { type Leaf, type LeafSide, passesOf } from '../plan/tree/leaf.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { type Access, accessesOf } from './layouts.ts';
import { sidesOf, tilesOf } from './sides.ts';

const random = randomFor('kernels/side-layouts');
const PRECISIONS = ['single', 'double'] as const;

/** Numbers that say which array and place they are of. */
function numberAt(array: string, place: number): number {
  return (place + 1) * (array.endsWith('im') ? 1.5 : 1);
}

function numberOf(node: Real, value: (of: Index) => number): number {
  const own = (of: Real) => numberOf(of, value);
  switch (node.op) {
    case 'const':
      return toNumber(node.value);
    case 'load':
      return node.guard && !holds(node.guard, value) ? 0 : numberAt(node.array.name, value(node.index));
    case 'neg':
      return -own(node.a);
    case 'add':
      return own(node.a) + own(node.b);
    case 'sub':
      return own(node.a) - own(node.b);
    case 'mul':
      return own(node.a) * own(node.b);
    case 'where':
      return holds(node.guard, value) ? own(node.a) : own(node.b);
    default:
      throw new Error(`no ${node.op} in a view`);
  }
}

function isOdd({ negated, parity }: Access, value: (of: Index) => number): boolean {
  return (negated ?? false) !== (parity ? value(parity) % 2 === 1 : false);
}

interface Compared {
  sides: number;
  untranslated: number;
  plain: number;
  elements: number;
}

const noTables = () => {
  throw new Error('orders are compared elsewhere');
};

/** Dimensions of a tile, as far as a side goes. */
function lengthsOf(leaf: Leaf, use: Use): number[] {
  return leaf.lengths.map((length, d) => {
    const own = passesOf(leaf).filter(({ of }) => of === d);
    const step = use === 'load' ? own[0]?.read : own.at(-1)?.write;
    return Math.min(length, step?.count ?? length);
  });
}

function compare(given: Leaf, name: 'input' | 'output', counts: Compared): void {
  const use: Use = name === 'input' ? 'load' : 'store';
  const { factors: _, callback: __, order, ...own } = given[name];
  if (order) return;
  const leaf: Leaf = { ...given, [name]: own as LeafSide };
  const what = JSON.stringify({ lengths: leaf.lengths, batch: leaf.batch, tile: leaf.tile, name, own });
  const lengths = lengthsOf(leaf, use);
  const layout = sideLayout(name, leaf, lengths, use);
  counts.sides++;
  if (!layout) {
    counts.untranslated++;
    return;
  }
  expect(layout.shape, what).toEqual([...lengths, ...leaf.batch, 2]);
  const tiles = tilesOf(leaf);
  const loops = lengths.map((count, d) => variable(`n${d}`, count));
  const c = variable('c', leaf.tile);
  const at: IndexLike[] = [...loops, c];
  const place = [...loops, add(tiles.first, c), ...tiles.outer];
  const parts = [0, 1].map((part) => accessesOf(layout, [...place, part], lengths.length, noTables));
  const x = new Expressions();
  const views = sidesOf(
    { ...leaf, input: plain(leaf.input), output: plain(leaf.output), [name]: own as LeafSide },
    tiles,
    new TableBuilder('f64'),
  ).views({
    inverse: false,
    scale: { input: 1, output: 1 },
  });
  const value: Complex | undefined = use === 'load' ? views.input.load(x, at) : undefined;
  const stores = value ? [] : views.output.store(x, at, { re: x.constant(1), im: x.constant(2) });
  if (isPlain(own as LeafSide)) {
    counts.plain++;
    const keys = value
      ? [value.re, value.im].map((node) => (node.op === 'load' ? indexKey(node.index) : node.op))
      : stores.map((store) => indexKey(store.index));
    expect(
      parts.flat().map((access) => indexKey(access.index!)),
      what,
    ).toEqual(keys);
  }
  for (let round = 0; round < 40; round++) {
    const values = new Map<Var, number>(loops.map((loop) => [loop, random.integer(0, loop.count - 1)]));
    values.set(c, random.integer(0, leaf.tile - 1));
    values.set(tiles.group, random.integer(0, tiles.group.count - 1));
    const known = (of: Index) => evaluate(of, values);
    if (known(index(place[lengths.length]!)) >= leaf.batch[0]!) continue;
    counts.elements++;
    const there = parts.map((all) => all.filter(({ guard }) => holds(guard, known)));
    if (value) {
      const found = there.map((all) =>
        all.reduce(
          (sum, access) => sum + numberAt(access.array!, known(access.index!)) * (isOdd(access, known) ? -1 : 1),
          0,
        ),
      );
      const wanted = [value.re, value.im].map((node) => numberOf(node, known));
      expect(
        found.map((own) => own + 0),
        what,
      ).toEqual(wanted.map((own) => own + 0));
    } else {
      const found = there.flatMap((all, part) =>
        all.map((access) => `${access.array} ${known(access.index!)} ${(part + 1) * (isOdd(access, known) ? -1 : 1)}`),
      );
      const wanted = stores
        .filter(({ guard }) => !guard || holds(guard, known))
        .map((store) => `${store.array.name} ${known(store.index)} ${numberOf(store.value, known)}`);
      expect(found.sort(), what).toEqual(wanted.sort());
    }
  }
}

function plain({ factors: _, callback: __, order: ___, ...side }: LeafSide): LeafSide {
  return side;
}

function isPlain(side: LeafSide): boolean {
  const { absent, beside, mirrored, extended, facing, cropped, wrapped, alone, axes, batch } = side;
  const simple = [...axes, ...batch].every((stride) => typeof stride === 'number' || 'run' in stride);
  return (
    simple &&
    !(absent ?? beside ?? mirrored ?? extended ?? facing ?? cropped ?? wrapped ?? alone) &&
    side.layout !== 'real'
  );
}

function profileFrom(): DeviceProfile {
  return random.integer(0, 1) === 0
    ? { ...namedProfiles['wasm-cpu'].profile, ...randomProfile(random) }
    : { ...namedProfiles.h200.profile, ...randomThreads(random) };
}

const kinds: Readonly<Record<string, () => ProblemInput>> = {
  'complex numbers': () => complexProblem(random, 200, PRECISIONS),
  reals: () => {
    const problem = { ...real.realProblem(random, 200, PRECISIONS), transform: 'r2c' } as ProblemInput;
    return random.integer(0, 2) === 0 ? real.withBlocks(random, problem) : problem;
  },
  'cosines and sines': () => {
    const problem = sums.sumsProblem(random, 200, PRECISIONS);
    return random.integer(0, 2) === 0 ? sums.withBlocks(random, problem) : problem;
  },
  convolutions: () => convolutionProblem(random, PRECISIONS, 60),
};

it.each(Object.entries(kinds))('sides of %s', (kind, make) => {
  const counts: Compared = { sides: 0, untranslated: 0, plain: 0, elements: 0 };
  for (let round = 0; round < 40; round++) {
    const input = make();
    const problem = normalizeProblem({
      ...input,
      tuning: { ...input.tuning, ...(random.integer(0, 1) ? { uploadSwitch: { two: random.pick([4, 12]) } } : {}) },
    });
    for (const leaf of leavesFor(kind, problem))
      for (const name of ['input', 'output'] as const) compare(leaf, name, counts);
  }
  expect(counts.elements).toBeGreaterThan(1000);
  expect(counts.untranslated, JSON.stringify(counts)).toBeLessThan(counts.sides / 20);
});

function leavesFor(kind: string, problem: ReturnType<typeof normalizeProblem>): Leaf[] {
  try {
    const profile = profileFrom();
    if (kind === 'convolutions') {
      const { convolve, prepare } = planConvolution(problem, profile, false);
      return [...convolve.launches, ...prepare.launches].map(({ leaf }) => leaf);
    }
    return (['forward', 'inverse'] as const).flatMap((direction) =>
      planDirection(problem, direction, profile, false).launches.map(({ leaf }) => leaf),
    );
  } catch (error) {
    if (error instanceof RangeError && /fit one upload/.test(error.message)) return [];
    throw error;
  }
}
