/**
 * A stage: transforms of one length, side by side in shared memory, pass after pass. Each thread may take any butterfly
 * of any of them, so every pass walks along whatever suits the memory it touches. Between passes the data lies padded
 * against bank conflicts; where there is one shared array, a pass reads all of it into registers before it writes.
 */
import {
  type ArrayRef,
  add,
  bytesOf,
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
  type Store,
  scale,
  stackedPlanes,
  type Var,
  variable,
} from '../ir/index.ts';
import type { KernelFactors, LanesAlong, Leaf, SharedMemory } from '../plan/tree/leaf.ts';
import { chooseLayout, type SharedLayout, spanOf, type Tile, type WaveAccess } from './banks.ts';
import { dft } from './butterfly.ts';
import { guardedPairs, type PairItems, type PairRoot } from './hermitian-split.ts';
import { typeOf } from './number-types.ts';
import type { PassEnds } from './pointwise.ts';
import { binProduct, type KernelView, matrixStores } from './products.ts';
import { type BuiltSteps, closesPasses, type KernelStep, opensPasses } from './steps.ts';
import { binsAfterFirst, type SymmetricPass, symmetricStores } from './symmetric-passes.ts';

/** A step of a stage, and along what its neighbouring threads walk. */
export interface Walk {
  readonly step: KernelStep;
  readonly along: LanesAlong;
}

/** Multiplies a point by its twiddle factor: point m of butterfly number `i` of its block, in column c. */
export type StageTwiddle = (x: Expressions, value: Complex, i: IndexLike, m: number, c: IndexLike) => Complex;

/** Where element n of column c of a stage is in the next one. */
export interface Carried {
  readonly n: Index;
  readonly c: Index;
  /** In which block of the cluster; missing where it is the same one. */
  readonly block?: Index;
}

export interface Stage extends Tile {
  readonly walks: readonly Walk[];
  /**
   * From which output on the last butterflies of a given radix count, so that blocks do not all store into the first of
   * them, then all into the second. It takes nothing but other twiddles: they shift the spectrum of the butterfly.
   */
  readonly firstOutput?: (radix: number) => Index;
  /** The column whose bins mirror those of another one, where all axes of a tile do. */
  readonly opposite: (c: IndexLike) => Index;
  /** Of pairs of bins. */
  readonly pairRoot: (length: number) => PairRoot;
  readonly twiddle: (step: Extract<KernelStep, { kind: 'pass' }>, shifted: boolean) => StageTwiddle;
  /** Of the kernel of a convolution, at coordinates [element, column]. */
  readonly numbers: (factors: KernelFactors) => KernelView;
  /** What is done to single points before its first pass and after its last one, at coordinates [element, column]. */
  readonly ends: PassEnds;
  /** Missing in the last stage. */
  readonly carry?: (n: IndexLike, c: IndexLike) => Carried;
}

export interface StagesToBuild {
  readonly stages: readonly Stage[];
  readonly precision: Leaf['precision'];
  readonly shared: SharedMemory;
  /** All at coordinates [element, column], of the first and the last stage. */
  readonly input: ComplexView;
  readonly output: ComplexView;
  /** Of the second of two lines whose bins are paired. */
  readonly secondLine: ComplexView | undefined;
  /** Columns from this one on are left out where memory is touched. */
  readonly limit: Index | undefined;
  /** Input and output may be the same memory. */
  readonly aliased: boolean;
}

/** One step among all of them. */
interface PlacedStep extends Walk {
  readonly stage: Stage;
  /** The last of its stage. */
  readonly last: boolean;
}

export function stagePhases(asked: StagesToBuild): BuiltSteps {
  const { stages, input, output, secondLine, limit, aliased } = asked;
  const steps: PlacedStep[] = stages.flatMap((stage) =>
    stage.walks.map((walk, n) => ({ ...walk, stage, last: n === stage.walks.length - 1 })),
  );
  const { arrays, between } = memoryBetween(steps, asked);
  const phases = steps.map(({ step, along, stage, last }, n): Phase => {
    const fromShared = n > 0;
    const toShared = n < steps.length - 1;
    const [source, target] = [fromShared ? between(n - 1) : input, toShared ? between(n) : output];
    const from = step.kind === 'pass' && opensPasses(step, stage.length) ? stage.ends.read(source) : source;
    const closes = step.kind === 'pass' && closesPasses(step, stage.length);
    const x = new Expressions();
    const b = variable('b', itemsOf(stage, step));
    const rows = step.kind === 'multiply' ? step.kernel.matrix : 1;
    const c = variable('c', stage.columns / rows);
    const carried = last ? stage.carry : undefined;
    const carrying = carriedView(target, carried);
    const to = closes ? stage.ends.write(carrying, { input, output }) : carrying;
    const origin = closes && step.of.write?.origin !== undefined;
    const put = (element: IndexLike, value: Complex, guard?: Guard) => to.store(x, [element, c], value, guard);
    const first = carried && step.kind === 'pass' && step.stride > 1 ? stage.firstOutput?.(step.radix) : undefined;
    const stores =
      step.kind === 'copy'
        ? put(b, from.load(x, [b, c]))
        : step.kind === 'multiply'
          ? matrixStores(x, step.kernel, { from, to, numbers: stage.numbers(step.kernel) }, (row) => [
              b,
              add(c, (row * stage.columns) / rows),
            ])
          : step.kind === 'pair'
            ? pairsOf(stage, step, source, step.kernel ? to : target, secondLine).stores(x, b, c)
            : step.of.symmetry
              ? symmetricPassStores(x, stage, step, { b, c, from, put })
              : passStores(x, stage, step, { b, c, from, put, first });
    const tail = limit && (origin || !(fromShared && toShared)) ? { limit } : {};
    const [butterflies, columns]: [Loop, Loop] = [{ variable: b }, { variable: c, ...tail }];
    const elsewhere = stores.some(({ block }) => block);
    const readsFirst = elsewhere || (fromShared && toShared && arrays.length === 1);
    return {
      loops: along === 'axis' ? [columns, butterflies] : [butterflies, columns],
      lanes: along === 'axis' ? b : c,
      stores,
      steps: x.steps,
      // Input and output in place are the same memory only where one pass does both.
      repeatable: !readsFirst && ((!origin && (fromShared || toShared)) || !aliased),
      ...(readsFirst ? { readsFirst } : {}),
      exchange: elsewhere ? 'cluster' : 'group',
    };
  });
  return { shared: arrays, phases };
}

/**
 * The shared arrays through which data goes from step to step.
 * @returns `between`, too: data between step n and the next, at the coordinates of the next.
 */
function memoryBetween(
  steps: readonly PlacedStep[],
  asked: StagesToBuild,
): { readonly arrays: readonly ArrayRef[]; readonly between: (n: number) => ComplexView } {
  const { precision, shared } = asked;
  const realBytes = bytesOf(typeOf(precision));
  const wave = Math.max(1, (4 * shared.banks) / (shared.format === 'pairs' ? 2 * realBytes : realBytes));
  const layouts = steps.slice(1).map((reader, n): SharedLayout => {
    const writer = steps[n]!;
    const accesses = wave > 1 ? [...sample(writer, 'store', wave), ...sample(reader, 'load', wave)] : [];
    const stores = writer.step.kind === 'pass' ? writer.step.stride * writer.step.radix : 1;
    const aligned = writer.last && writer.stage.carry?.(0, 0).block !== undefined;
    return chooseLayout({ tile: reader.stage, accesses, stores, wave, room: shared.room, aligned });
  });
  const plane = Math.max(0, ...layouts.map((layout, n) => spanOf(layout, steps[n + 1]!.stage)));
  const arrays = sharedArrays(Math.min(layouts.length, shared.arrays), plane, asked);
  const between = (n: number): ComplexView => {
    const array = arrays[n % arrays.length]!;
    return layoutView(shared.format === 'pairs' ? interleaved(array) : stackedPlanes(array, plane), layouts[n]!);
  };
  return { arrays, between };
}

/** @param plane numbers that each of them holds. */
function sharedArrays(count: number, plane: number, { precision, shared }: StagesToBuild): ArrayRef[] {
  return ['ping', 'pong'].slice(0, count).map((name) => ({
    name,
    space: 'shared',
    type: typeOf(precision),
    length: 2 * plane,
    ...(shared.format === 'halves' ? { halfLength: plane } : {}),
  }));
}

/** Butterflies, points that are copied, or pairs, of one column. */
function itemsOf({ length }: Tile, step: KernelStep): number {
  if (step.kind === 'multiply') return length;
  if (step.kind === 'copy') return step.count ?? length;
  if (step.kind === 'pair') return Math.floor(step.length / 2) + 1;
  const { radix, stride, of } = step;
  return of.symmetry ? (length / (radix * stride)) * (1 + binsAfterFirst(stride)) : length / radix;
}

/** Bins are paired on their way to memory, or from there. */
function pairsOf(
  { pairRoot, numbers: products, opposite }: Stage,
  { kind: _, ...step }: Extract<KernelStep, { kind: 'pair' }>,
  source: ComplexView,
  target: ComplexView,
  secondLine: ComplexView | undefined,
): PairItems {
  const sides = step.back
    ? { numbers: target, bins: source, secondLine }
    : { numbers: source, bins: target, secondLine };
  const numbers = step.kernel && products(step.kernel);
  return guardedPairs({
    ...{ ...step, sides, root: pairRoot(step.length) },
    ...(step.everyAxis ? { opposite } : {}),
    multiplied: numbers && ((x, bin, k, c) => binProduct(x, step.kernel!, bin, numbers(x, [k, c], 0))),
  })[0]!;
}

interface PassPlaces {
  readonly b: Var;
  readonly c: Var;
  readonly from: ComplexView;
  readonly put: (element: IndexLike, value: Complex, guard?: Guard) => Store[];
  /** The output that comes first; missing where it is number 0. */
  readonly first: Index | undefined;
}

/** Butterfly b takes the points b + m·N/r and leaves them in the order that the next pass wants. */
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
  return dft(x, values, step.of.convolved).flatMap((value, k) =>
    put(add(target, scale(mod(add(first, k), radix), stride)), value),
  );
}

/** Butterfly b of a pass over reals. With h as in symmetric-passes.ts, b = q·(h + 1) + i is butterfly i of block q. */
function symmetricPassStores(
  x: Expressions,
  { length, twiddle }: Stage,
  step: Extract<KernelStep, { kind: 'pass' }>,
  { b, c, from, put }: Omit<PassPlaces, 'first'>,
): Store[] {
  const { radix, stride, of } = step;
  const each = 1 + binsAfterFirst(stride);
  const multiply = twiddle(step, false);
  const pass: SymmetricPass = {
    ...{ length, radix, stride, of, opens: opensPasses(step, length) },
    twiddle: (by, value, i, m) => (m === 0 ? value : multiply(by, value, i, m, c)),
    load: (by, element) => from.load(by, [element, c]),
    store: (_, element, value, guard) => put(element, value, guard),
  };
  return symmetricStores(x, pass, div(b, each), mod(b, each));
}

/** What is stored goes where it is in the next stage, if that is another. */
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

function layoutView(
  format: Parameters<typeof formatView>[0],
  { axis, batch, period, pad, swizzle }: SharedLayout,
): ComplexView {
  return formatView(format, ([n, c]) => {
    const at = add(scale(n!, axis), scale(c!, batch));
    if (swizzle) return add(scale(div(at, swizzle), swizzle), mod(add(at, div(at, period)), swizzle));
    return pad === 0 ? at : add(at, scale(div(at, period), pad));
  });
}

/** Accesses of some waves of threads, at the coordinates of the stage that reads. */
function sample({ step, along, stage, last }: PlacedStep, side: 'load' | 'store', wave: number): WaveAccess[] {
  const { columns } = stage;
  const radix = step.kind === 'pass' ? step.radix : step.kind === 'pair' ? 2 : 1;
  const butterflies = itemsOf(stage, step);
  const items = butterflies * columns;
  const starts = new Set([0, wave, 2 * wave, 5 * wave, Math.floor(items / 2 / wave) * wave]);
  const element = (b: number, m: number): number => {
    if (step.kind === 'copy' || step.kind === 'multiply') return b;
    if (step.kind === 'pair') return m === 0 ? b : (step.length - b) % step.length;
    const { stride, of } = step;
    const each = of.symmetry ? 1 + binsAfterFirst(stride) : stride;
    const i = b % each;
    const q = (b - i) / each;
    // Passes from bins to reals read where those from reals to bins write.
    const isPart = (side === 'load') !== (of.symmetry === 'real-output');
    if (isPart) return q * stride + i + (m * stage.length) / radix;
    if (of.symmetry && 2 * m > radix) return (q * radix + radix - m) * stride - i;
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

/** Where an element is in the next stage, as numbers, seen from the first block. */
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
