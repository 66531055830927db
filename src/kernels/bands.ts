/**
 * The kernel of a launch that computes weighted sums over bins. Bands are summed in classes of similar width, a phase each, so that an item adds
 * up few weights of zero. Where the launch transforms the lines first, it keeps their bins in shared memory.
 */
import {
  type ArrayRef,
  add,
  div,
  Expressions,
  type Index,
  type IndexLike,
  type IntegerTable,
  type Kernel,
  type Loop,
  lookup,
  mod,
  type Phase,
  type Real,
  scale,
  TableBuilder,
  variable,
} from '../ir/index.ts';
import type { BandsStep, Leaf } from '../plan/tree/leaf.ts';
import { leafPhases } from './leaf.ts';
import { numberTypeOf, wordsOfNumber } from './views/number-types.ts';
import { leafMemory, leafTiles, operandArrays } from './views/sides.ts';

export function bandsKernel(leaf: Leaf, { bands, bins, there }: BandsStep): Kernel {
  const type = numberTypeOf(leaf.precision);
  const tables = new TableBuilder(type);
  const tiles = leafTiles(leaf);
  const operands = operandArrays(leaf);
  const plane = there && planeOf(bins, there);
  const sides = leafMemory(leaf, tiles, tables, {
    operands,
    shared: there ? { input: new Map([['input', plane!]]) } : {},
  });
  const { input, output } = sides.views({ inverse: false, scale: { input: 1, output: 1 } });
  const bin: BinAt = plane
    ? (x, n, line) => x.load(plane, add(scale(n, leaf.tile), line))
    : (x, n, line) => input.load(x, [n, line]).re;
  // The weights come first in the table, so that modules hold them as text without the roots of unity behind them.
  const sums = sumPhases(bands, { leaf, tables, bin, output, limit: tiles.limit });
  const first =
    there &&
    leafPhases(there, {
      ...{ tiles, tables, rank: variable('rank', 1) },
      common: { operands, shared: { output: new Map([['output', plane!]]) } },
    });
  const ownGlobals = sides.globals.filter((array) => !array.operand);
  const before = first?.globals.filter((array) => !array.operand) ?? [];
  return {
    ...{ name: `bands${bands.length}of${bins}`, precision: type, group: tiles.group },
    ...{ threads: leaf.threads, globals: [...before, ...ownGlobals, ...operands.values()] },
    ...{ aliased: leaf.aliased, tables: tables.all() },
    shared: [...(plane ? [plane] : []), ...(first?.shared ?? [])],
    phases: [...(first?.phases ?? []), ...sums],
  };
}

/** The plane of bins: what the transform calls its output. */
function planeOf(bins: number, { precision, tile }: Leaf): ArrayRef {
  return {
    ...{ name: 'bins', space: 'shared', type: numberTypeOf(precision), length: bins * tile },
    // Where a tile is not full, the limits of loops keep accesses inside.
    guarded: true,
  };
}

type Band = BandsStep['bands'][number];

/** Loads what is weighed of a bin of a line of the tile. */
type BinAt = (x: Expressions, bin: Index, line: IndexLike) => Real;

/** Bands that are summed by loops of equal length. */
interface BandClass {
  readonly width: number;
  /** The numbers of the bands, each with its band. */
  readonly members: readonly (readonly [number: number, band: Band])[];
}

/** The most classes. Each is a phase with a copy of the callback's code, and few items add up most of the weights of zero that another class would save. */
const MOST_CLASSES = 3;

/** The bands in classes of similar width, so that they have as few weights of zero as that many classes can have. */
function classesOf(bands: readonly Band[]): BandClass[] {
  const widths = [...new Set(bands.map(({ weights }) => weights.length))].sort((a, b) => a - b);
  const widest = cuts(
    widths.map((width) => ({ width, count: bands.filter(({ weights }) => weights.length === width).length })),
  );
  return widest.map((width, n) => {
    const above = widest[n - 1] ?? 0;
    const members = [...bands.entries()].filter(([, { weights }]) => weights.length > above && weights.length <= width);
    return { width, members };
  });
}

/** The largest width of each class. @param widths in ascending order, with the number of bands of each */
function cuts(widths: readonly { readonly width: number; readonly count: number }[]): readonly number[] {
  // The cheapest classes of the first n widths, for each number of classes.
  let best = widths.map((_, n) => ({ terms: bandTerms(widths.slice(0, n + 1)), ends: [widths[n]!.width] }));
  for (let more = 1; more < MOST_CLASSES; more++) {
    best = best.map((one, n) => {
      const others = best.slice(0, n).map(({ terms, ends }, cut) => ({
        terms: terms + bandTerms(widths.slice(cut + 1, n + 1)),
        ends: [...ends, widths[n]!.width],
      }));
      return [one, ...others].reduce((least, other) => (other.terms < least.terms ? other : least));
    });
  }
  return best.at(-1)!.ends;
}

/** The number of products that a class of bands computes: each band is padded to the width of the widest. `widths`: in ascending order. */
function bandTerms(widths: readonly { readonly width: number; readonly count: number }[]): number {
  return widths.at(-1)!.width * widths.reduce((sum, { count }) => sum + count, 0);
}

interface SumContext {
  readonly leaf: Leaf;
  readonly tables: TableBuilder;
  readonly bin: BinAt;
  readonly output: ReturnType<ReturnType<typeof leafMemory>['views']>['output'];
  readonly limit: Index | undefined;
}

/** A class with what its tables hold. */
interface PlacedClass extends BandClass {
  /** The first bin that each band's loop reads: shorter bands begin earlier where bins would end before their class does. */
  readonly first: readonly number[];
  /** An upper bound of `first`: all its entries are less. */
  readonly below: number;
  /** Where the entries of the class begin in the table of integers. */
  readonly start: number;
}

/** The phases that sum all bands. */
function sumPhases(bands: readonly Band[], context: SumContext): Phase[] {
  const { tables } = context;
  let start = 0;
  const classes = classesOf(bands).map((own): PlacedClass => {
    const { width, members } = own;
    const end = Math.max(...members.map(([, { from, weights }]) => from + weights.length));
    const first = members.map(([, { from }]) => Math.min(from, end - width));
    const placed = { ...own, first, below: Math.max(...first) + 1, start };
    start += members.length;
    return placed;
  });
  // The number of a band and its first bin share an entry, so that devices with few bindings need one table.
  const entries = classes.flatMap(({ members, first, below }) =>
    members.map(([number], n) => number * below + first[n]!),
  );
  const places = tables.integers(`bands ${entries}`, () => entries);
  return classes.map((own) => bandSums(own, places, context));
}

/** The phase that sums the bands of a class. */
function bandSums(
  { width, members, first, below, start }: PlacedClass,
  places: IntegerTable,
  { leaf, tables, bin, output, limit }: SumContext,
): Phase {
  const rows = members.flatMap(([, { from, weights }], n) => {
    const row = new Array<number>(width).fill(0);
    row.splice(from - first[n]!, weights.length, ...weights);
    return row;
  });
  const weightsAt = tables.appendValues(`bands ${rows}`, rows.length, () => wordsOfNumber(rows, tables.ref.type));
  const x = new Expressions();
  const [own, line, term] = [variable('band', members.length), variable('line', leaf.tile), variable('bin', width)];
  const place = lookup(places, add(start, own));
  const weight = x.load(tables.ref, add(weightsAt, add(scale(own, width), term)));
  const sum = x.sum(term, x.mul(weight, bin(x, add(mod(place, below), term), line)));
  const lines: Loop = limit ? { variable: line, limit } : { variable: line };
  return {
    loops: [{ variable: own }, lines],
    lanes: leaf.tile > 1 ? line : own,
    stores: output.store(x, [div(place, below), line], { re: sum, im: x.constant(0) }),
    repeatable: true,
    exchange: 'group',
  };
}
