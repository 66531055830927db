/**
 * A stage: the passes of transforms of one length, side by side in shared memory. A thread may take any butterfly of any transform, so
 * neighbouring threads walk along the dimension that suits the memory of the pass. Between passes, data is padded against bank conflicts;
 * if there is one shared array only, a pass reads all of it into registers before it writes.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  div,
  Expressions,
  evaluate,
  formatView,
  type Guard,
  type Index,
  type IndexLike,
  index,
  interleaved,
  type Loop,
  mod,
  type Phase,
  range,
  type Store,
  scale,
  stackedPlanes,
  storageBytes,
  sub,
  type Var,
  variable,
} from '../../ir/index.ts';
import type { KernelFactors, LanesAlong, Leaf, SharedMemory } from '../../plan/tree/leaf.ts';
import { dft } from '../passes/butterfly.ts';
import { guardedSplit, type SplitItems, type SplitRoot } from '../passes/hermitian-split.ts';
import {
  type RaderStep,
  type RaderSurroundings,
  raderElement,
  raderRadixOf,
  raderRows,
  raderStores,
} from '../passes/rader-pass.ts';
import { type BuiltSteps, closesPasses, type KernelStep, opensPasses, reused } from '../passes/steps.ts';
import { binsAfterFirst, type SymmetricPass, symmetricStores } from '../passes/symmetric-passes.ts';
import { numberTypeOf } from '../views/number-types.ts';
import type { PassEnds } from '../views/pointwise.ts';
import { binProduct, type KernelView, matrixStores } from '../views/products.ts';
import { chooseLayout, type SharedLayout, spanOf, type Tile, type WaveAccess } from './banks.ts';

/** A step of a stage, and the dimension along which its neighbouring threads walk. */
export interface DirectedStep {
  readonly step: KernelStep;
  readonly along: LanesAlong;
}

/** Multiplies point m of butterfly `i` of its block, in column c, by its twiddle factor. */
export type StageTwiddle = (x: Expressions, value: Complex, i: IndexLike, m: number, c: IndexLike) => Complex;

/** The place in the next stage of element n of column c. */
export interface Carried {
  readonly n: Index;
  readonly c: Index;
  /** The number of the block in the cluster; missing if it is the executing block. */
  readonly block?: Index;
}

export interface Stage extends Tile {
  readonly walks: readonly DirectedStep[];
  /**
   * The output that the last butterflies of a given radix store first, different from block to block, so that the blocks do not all store
   * into the same block at the same time. The order is changed by shifted twiddles, which rotate the butterfly's outputs.
   */
  readonly firstOutput?: (radix: number) => Index;
  /** The column with the mirrored bins of column c, along all axes of the tile. */
  readonly opposite: (c: IndexLike) => Index;
  /** The twiddles of the Hermitian split. */
  readonly pairRoot: (length: number) => SplitRoot;
  readonly twiddle: (step: Extract<KernelStep, { kind: 'pass' }>, shifted: boolean) => StageTwiddle;
  /** The tables and twiddles for column c in a step of a Rader pass. */
  readonly raderPass: (
    x: Expressions,
    step: RaderStep,
    c: IndexLike,
  ) => Pick<RaderSurroundings, 'tables' | 'twiddle' | 'innerTwiddle'>;
  /** The numbers of a convolution kernel, at coordinates [element, column]. */
  readonly numbers: (factors: KernelFactors) => KernelView;
  /** The operations on single points before the first pass and after the last one, at coordinates [element, column]. */
  readonly ends: PassEnds;
  /** Maps an element to its place in the next stage; missing in the last stage. */
  readonly carry?: (n: IndexLike, c: IndexLike) => Carried;
}

export interface StagesToBuild {
  readonly stages: readonly Stage[];
  readonly precision: Leaf['precision'];
  readonly shared: SharedMemory;
  /** The views have coordinates [element, column]: `input` in the first stage, `output` in the last. */
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** The bins of the second line, if there are two. */
  readonly secondLine: ComplexView | undefined;
  /** Steps that access global memory leave out columns from this one on. */
  readonly limit: Index | undefined;
  /** Input and output may be the same memory. */
  readonly aliased: boolean;
  /** Shared arrays that the launch has already, and that the stages may use again. */
  readonly arrays?: readonly ArrayRef[];
}

/** A step with its stage. */
interface PlacedStep extends DirectedStep {
  readonly stage: Stage;
  /** Whether it is the last step of its stage. */
  readonly last: boolean;
}

export function stagePhases(requested: StagesToBuild): BuiltSteps {
  const { stages, input, output, secondLine, limit, aliased, shared } = requested;
  const steps: PlacedStep[] = stages.flatMap((stage) =>
    stage.walks.map((walk, n) => ({ ...walk, stage, last: n === stage.walks.length - 1 })),
  );
  const { arrays, between } = memoryBetween(steps, requested);
  const phases = steps.map(({ step, along, stage, last }, n): Phase => {
    const fromShared = n > 0;
    const toShared = n < steps.length - 1;
    const [source, target] = [fromShared ? between(n - 1) : input, toShared ? between(n) : output];
    const from = opensPasses(step, stage.length) ? stage.ends.read(source) : source;
    const closes = closesPasses(step, stage.length);
    const x = new Expressions();
    // An item takes a point, or a butterfly, of each half, so that every access is known to be in one half of the points.
    const items = itemsOf(stage, step);
    const together = shared.quarters && items > 1 ? 2 : 1;
    const b = variable('b', items / together);
    const inHalves = Array.from({ length: together }, (_, h) => add(b, h * b.count));
    const rows = step.kind === 'multiply' ? step.kernel.matrix : 1;
    const c = variable('c', stage.columns / rows);
    const carried = last ? stage.carry : undefined;
    const carrying = carriedView(target, carried);
    const to = closes ? stage.ends.write(carrying, { input, output }) : carrying;
    const origin = closes && 'passes' in step && step.passes.write?.origin !== undefined;
    const put = (element: IndexLike, value: Complex, guard?: Guard) => to.store(x, [element, c], value, guard);
    const first = carried && step.kind === 'pass' && step.stride > 1 ? stage.firstOutput?.(step.radix) : undefined;
    const stores =
      step.kind === 'copy'
        ? inHalves.flatMap((point) => put(point, from.load(x, [point, c])))
        : step.kind === 'multiply'
          ? matrixStores(x, step.kernel, { from, to, numbers: stage.numbers(step.kernel) }, (row) => [
              b,
              add(c, (row * stage.columns) / rows),
            ])
          : step.kind === 'hermitian-split'
            ? pairsOf(stage, step, source, step.kernel ? to : target, secondLine).stores(x, b, c)
            : step.kind === 'rader'
              ? raderStepStores(x, stage, step, { b, c, from, put })
              : step.passes.symmetry
                ? symmetricPassStores(x, stage, step, { b, c, from, put })
                : inHalves.flatMap((own) => passStores(x, stage, step, { b: own, c, from, put, first }));
    const tail = limit && (origin || !(fromShared && toShared)) ? { limit } : {};
    const [butterflies, columns]: [Loop, Loop] = [{ variable: b }, { variable: c, ...tail }];
    const elsewhere = stores.some(({ block }) => block);
    const readsFirst = elsewhere || (fromShared && toShared && arrays.length === 1);
    return {
      loops: along === 'axis' ? [columns, butterflies] : [butterflies, columns],
      lanes: along === 'axis' ? b : c,
      stores,
      steps: x.steps,
      // With aliased input and output, only a pass that accesses both reads memory that it writes.
      repeatable: !readsFirst && ((!origin && (fromShared || toShared)) || !aliased),
      ...(readsFirst ? { readsFirst } : {}),
      exchange: elsewhere ? 'cluster' : 'group',
    };
  });
  return { shared: arrays, phases };
}

/**
 * The shared arrays through which data goes from step to step.
 * @returns `between`: the view of the data between step n and the next step, at the coordinates of the next step
 */
function memoryBetween(
  steps: readonly PlacedStep[],
  requested: StagesToBuild,
): { readonly arrays: readonly ArrayRef[]; readonly between: (n: number) => ComplexView } {
  const { precision, shared } = requested;
  const realBytes = storageBytes(numberTypeOf(precision));
  const wave = Math.max(1, (4 * shared.banks) / (shared.format === 'pairs' ? 2 * realBytes : realBytes));
  const layouts = steps.slice(1).map((reader, n): SharedLayout => {
    const writer = steps[n]!;
    const accesses =
      wave > 1 ? [...sampledAccesses(writer, 'store', wave), ...sampledAccesses(reader, 'load', wave)] : [];
    const stores = writer.step.kind === 'pass' ? writer.step.stride * writer.step.radix : 1;
    const aligned = writer.last && writer.stage.carry?.(0, 0).block !== undefined;
    const tile = exchangedTile(reader.stage, shared);
    const within = accesses.map((access) => access.map(([n, c]) => [n % tile.length, c] as const));
    return chooseLayout({
      tile,
      accesses: within,
      stores,
      wave,
      room: shared.quarters ? shared.room / 2 : shared.room,
      aligned,
    });
  });
  const part = Math.max(0, ...layouts.map((layout, n) => spanOf(layout, exchangedTile(steps[n + 1]!.stage, shared))));
  const plane = (shared.quarters ? 2 : 1) * part;
  const arrays = sharedArrays(Math.min(layouts.length, shared.arrays), plane, requested);
  const between = (n: number): ComplexView => {
    const array = arrays[n % arrays.length]!;
    const halves = shared.quarters && { points: steps[n + 1]!.stage.length / 2, apart: part };
    return layoutView(
      shared.format === 'pairs' ? interleaved(array) : stackedPlanes(array, plane),
      layouts[n]!,
      halves,
    );
  };
  return { arrays, between };
}

/** The points of a stage that are in shared memory at the same time. */
function exchangedTile({ length, columns }: Tile, { quarters }: SharedMemory): Tile {
  return { length: quarters ? length / 2 : length, columns };
}

/** @param plane numbers that each array holds */
function sharedArrays(count: number, plane: number, { precision, shared, arrays = [] }: StagesToBuild): ArrayRef[] {
  return ['ping', 'pong'].slice(0, count).map((name) => {
    const array: ArrayRef = {
      name,
      space: 'shared',
      type: numberTypeOf(precision),
      length: 2 * plane,
      ...(shared.format === 'halves' ? { partLength: shared.quarters ? plane / 2 : plane } : {}),
    };
    return reused(array, arrays);
  });
}

/** Number of items of a step in one column: butterflies, copied points or pairs. */
function itemsOf({ length }: Tile, step: KernelStep): number {
  if (step.kind === 'multiply') return length;
  if (step.kind === 'copy') return step.count ?? length;
  if (step.kind === 'hermitian-split') return Math.floor(step.length / 2) + (step.merged ? 0 : 1);
  if (step.kind === 'rader') return (raderRows(step) * length) / step.prime;
  const { radix, stride, passes } = step;
  return passes.symmetry ? (length / (radix * stride)) * (1 + binsAfterFirst(stride)) : length / radix;
}

/** The items of a Hermitian split. */
function pairsOf(
  { pairRoot, numbers: products, opposite }: Stage,
  { kind: _, ...step }: Extract<KernelStep, { kind: 'hermitian-split' }>,
  source: ComplexView,
  target: ComplexView,
  secondLine: ComplexView | undefined,
): SplitItems {
  const sides = step.toReals
    ? { numbers: target, bins: source, secondLine }
    : { numbers: source, bins: target, secondLine };
  const numbers = step.kernel && products(step.kernel);
  return guardedSplit({
    ...{ ...step, sides, root: pairRoot(step.length) },
    ...(step.everyAxis ? { opposite } : {}),
    multiplied: numbers && ((x, bin, k, c) => binProduct(x, step.kernel!, bin, numbers(x, [k, c], 0))),
  })[0]!;
}

interface PassPlaces {
  readonly b: IndexLike;
  readonly c: Var;
  readonly from: ComplexView;
  readonly put: (element: IndexLike, value: Complex, guard?: Guard) => Store[];
  /** The output that is stored first; missing if it is output 0. */
  readonly first: Index | undefined;
}

/** Butterfly b loads the points b + m·N/r and stores its outputs in autosort order. */
function passStores(
  x: Expressions,
  { length, twiddle }: Stage,
  step: Extract<KernelStep, { kind: 'pass' }>,
  { b, c, from, put, first = index(0) }: PassPlaces,
): Store[] {
  const { radix, stride } = step;
  const i = mod(b, stride);
  const multiply = twiddle(step, first.terms.length > 0);
  const values = Array.from({ length: radix }, (_, m) => {
    const point = from.load(x, [add(b, (m * length) / radix), c]);
    return m === 0 ? point : multiply(x, point, add(i, scale(first, stride)), m, c);
  });
  const target = add(scale(div(b, stride), stride * radix), i);
  return dft(x, values, step.passes.convolved).flatMap((value, k) =>
    put(add(target, scale(mod(add(first, k), radix), stride)), value),
  );
}

/** Item b of a step of a Rader pass: neighbours take neighbouring columns. */
function raderStepStores(
  x: Expressions,
  { length, raderPass }: Stage,
  step: RaderStep,
  { b, c, from, put }: Omit<PassPlaces, 'first'>,
): Store[] {
  const { prime, stride } = step;
  const column = mod(b, length / prime);
  const at = { b: div(b, length / prime), q: div(column, stride), i: mod(column, stride) };
  const load = (element: IndexLike, guard?: Guard) => from.load(x, [element, c], guard);
  return raderStores(x, step, at, { length, load, store: put, ...raderPass(x, step, c) });
}

/** Butterfly b of a pass over reals. With h as in symmetric-passes.ts, b = q·(h + 1) + i is butterfly i of block q. */
function symmetricPassStores(
  x: Expressions,
  { length, twiddle }: Stage,
  step: Extract<KernelStep, { kind: 'pass' }>,
  { b, c, from, put }: Omit<PassPlaces, 'first'>,
): Store[] {
  const { radix, stride, passes } = step;
  const each = 1 + binsAfterFirst(stride);
  const multiply = twiddle(step, false);
  const pass: SymmetricPass = {
    ...{ length, radix, stride, passes, opens: opensPasses(step, length) },
    twiddle: (by, value, i, m) => (m === 0 ? value : multiply(by, value, i, m, c)),
    load: (by, element) => from.load(by, [element, c]),
    store: (_, element, value, guard) => put(element, value, guard),
  };
  return symmetricStores(x, pass, div(b, each), mod(b, each));
}

/** A view that stores elements of a stage at their places in the next stage. */
function carriedView(to: ComplexView, carry: Stage['carry']): ComplexView {
  if (!carry) return to;
  return {
    load: to.load,
    store: (x, [element, c], value, guard) => {
      const { n, c: column, block } = carry(element!, c!);
      const stores = to.store(x, [n, column], value, guard);
      return block ? stores.map((store) => ({ ...store, block })) : stores;
    },
  };
}

/** @param halves distance between the two halves of the points */
function layoutView(
  format: Parameters<typeof formatView>[0],
  layout: SharedLayout,
  halves: { readonly points: number; readonly apart: number } | undefined,
): ComplexView {
  return formatView(format, ([n, c]) => {
    if (!halves || range(index(n!))[0] < halves.points) return sharedIndex(layout, n!, c!);
    return add(sharedIndex(layout, sub(n!, halves.points), c!), halves.apart);
  });
}

function sharedIndex({ axis, batch, period, pad, swizzle }: SharedLayout, n: IndexLike, c: IndexLike): Index {
  const at = add(scale(n, axis), scale(c, batch));
  if (swizzle) return add(scale(div(at, swizzle), swizzle), mod(add(at, div(at, period)), swizzle));
  return pad === 0 ? at : add(at, scale(div(at, period), pad));
}

/** A sample of the accesses of a step by groups of `wave` neighbouring threads, at the coordinates of the stage that reads. */
function sampledAccesses({ step, along, stage, last }: PlacedStep, side: 'load' | 'store', wave: number): WaveAccess[] {
  const { columns } = stage;
  const radix =
    step.kind === 'pass'
      ? step.radix
      : step.kind === 'rader'
        ? raderRadixOf(step)
        : step.kind === 'hermitian-split'
          ? 2
          : 1;
  const butterflies = itemsOf(stage, step);
  const items = butterflies * columns;
  const starts = new Set([0, wave, 2 * wave, 5 * wave, Math.floor(items / 2 / wave) * wave]);
  const element = (b: number, m: number): number => {
    if (step.kind === 'copy' || step.kind === 'multiply') return b;
    if (step.kind === 'hermitian-split') return m === 0 ? b : (step.length - b) % step.length;
    if (step.kind === 'rader') {
      const across = stage.length / step.prime;
      return raderElement(step, stage.length, side, { b: Math.floor(b / across), c: b % across, m });
    }
    const { stride, passes } = step;
    const each = passes.symmetry ? 1 + binsAfterFirst(stride) : stride;
    const i = b % each;
    const q = (b - i) / each;
    // Passes from bins to reals load from the places that the passes from reals to bins store to.
    const isPart = (side === 'load') !== (passes.symmetry === 'real-output');
    if (isPart) return q * stride + i + (m * stage.length) / radix;
    if (passes.symmetry && 2 * m > radix) return (q * radix + radix - m) * stride - i;
    return q * stride * radix + i + m * stride;
  };
  const carried = side === 'store' && last && stage.carry ? numeric(stage, stage.carry) : undefined;
  const found: WaveAccess[] = [];
  for (const start of starts) {
    if (start >= items) continue;
    for (let m = 0; m < radix; m += Math.max(1, radix >> 2)) {
      const access: (readonly [number, number])[] = [];
      for (let item = start; item < Math.min(items, start + wave); item++) {
        const b = along === 'axis' ? item % butterflies : Math.floor(item / columns);
        const c = along === 'axis' ? Math.floor(item / butterflies) : item % columns;
        access.push(carried ? carried(element(b, m), c) : [element(b, m), c]);
      }
      found.push(access);
    }
  }
  return found;
}

/** `carry` as a function of numbers, evaluated in the first block. */
function numeric({ length, columns }: Tile, carry: NonNullable<Stage['carry']>) {
  const n = variable('n', length);
  const c = variable('c', columns);
  const place = carry(n, c);
  return (element: number, column: number): readonly [number, number] => {
    const at = new Map([
      [n, element],
      [c, column],
    ]);
    return [evaluate(place.n, at), evaluate(place.c, at)];
  };
}
