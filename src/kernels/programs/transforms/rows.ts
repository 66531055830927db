/** Loop nests seen as operations on rows of a transform: on each number of each row. */
import {
  add,
  div,
  type ElementType,
  Expressions,
  type Index,
  index,
  type Kernel,
  mod,
  type Real,
  type Store,
  scale,
  type Var,
  variable,
} from '../../../ir/index.ts';
import type { LoopNest } from '../loops/builder.ts';
import type { Rows } from '../loops/launches.ts';
import { inUnits, substituted } from '../loops/loops.ts';

/** Facts about the launches of a program. */
export interface LaunchFacts {
  readonly precision: ElementType;
  /** The loop nest of each kernel that was made of one nest alone. */
  readonly nests: ReadonlyMap<Kernel, LoopNest>;
  /** Buffers that have to be written because the program itself asks for them. */
  readonly wanted: ReadonlySet<string>;
  /** The length of a buffer in reals. */
  lengthOf(buffer: string): number;
}

/** The stores of a nest, in terms of the position in a row and of the row. */
export interface RowStores {
  readonly x: Expressions;
  readonly along: Var;
  readonly row: Var;
  readonly stores: readonly Store[];
  /** An expression of the nest in terms of the position and the row. */
  at(node: Real): Real;
  place(of: Index): Index;
}

/**
 * The stores of a nest whose loops count the numbers of consecutive rows.
 * @param place the position of the number, in terms of the loops
 * @param count numbers of a row
 * @returns undefined for a nest that does not touch each number exactly once
 */
export function rowStores(nest: LoopNest, place: Index, count: number, rows: number): RowStores | undefined {
  const steps = new Map<Var, number>();
  for (const { atom, factor } of place.terms) {
    if (atom.kind !== 'var') return undefined;
    steps.set(atom, factor);
  }
  const loops = [...nest.loops].sort((a, b) => (steps.get(a) ?? 0) - (steps.get(b) ?? 0));
  let reached = 1;
  for (const loop of loops) {
    if (steps.get(loop) !== reached) return undefined;
    reached *= loop.count;
  }
  if (place.constant !== 0 || steps.size !== loops.length || reached !== count * rows) return undefined;
  const [along, row] = [variable('along', count), variable('row', rows)];
  const whole = add(along, scale(row, count));
  const by = new Map(loops.map((loop): [Var, Index] => [loop, mod(div(whole, steps.get(loop)!), loop.count)]));
  const x = new Expressions();
  return { along, row, x, ...substituted(x, nest.stores, by) };
}

/** The position of rows of numbers with constant forward steps; undefined where the steps vary or go backwards. */
export function rowsAt(
  place: Index,
  { along, row }: Pick<RowStores, 'along' | 'row'>,
  isRead: boolean,
): Rows | undefined {
  let [step, apart] = [0, 0];
  for (const { atom, factor } of place.terms) {
    if (atom === along) step = factor;
    else if (atom === row) apart = factor;
    else return undefined;
  }
  // Numbers that are read repeatedly are read as arrays of callbacks.
  const isFit = (by: number, { count }: Var) => (count === 1 ? by === 0 : by > 0);
  if (!isFit(step, along) || !isFit(apart, row) || place.constant < 0) return undefined;
  const steps = { step: step || 1, apart: apart || along.count * (step || 1) };
  return isRead || row.count === 1 || along.count === 1 || areApart(steps, along.count, row.count)
    ? { offset: place.constant, ...steps }
    : undefined;
}

/** Whether no two numbers of rows share a place, as far as plans can tell. */
function areApart({ step, apart }: Pick<Rows, 'step' | 'apart'>, count: number, rows: number): boolean {
  return apart >= step * count || step >= apart * rows;
}

export function areRowsPacked({ offset, step, apart }: Rows, count: number): boolean {
  return offset === 0 && step === 1 && apart === count;
}

/** Stores of one number into one array: its place there and its parts. Undefined for other stores. */
export function numberStored(stores: readonly Store[]) {
  const [re, im] = stores;
  if (!re || stores.length > 2 || stores.some(({ guard }) => guard && guard.length > 0)) return undefined;
  if (!im) return { place: re.index, parts: [re.value], words: 1 };
  const place = inUnits(re.index, 2, 0);
  const isPair = place && im.array === re.array && sameIndex(im.index, add(re.index, 1));
  return isPair ? { place, parts: [re.value, im.value], words: 2 } : undefined;
}

export function sameIndex(a: Index, b: Index): boolean {
  const { constant, terms } = add(a, scale(b, -1));
  return constant === 0 && terms.length === 0;
}

/** Whether an index is just the position among all numbers of all rows. */
export function isPositionOfRow(place: Index, { along, row }: Pick<RowStores, 'along' | 'row'>): boolean {
  return sameIndex(place, add(index(along), scale(index(row), along.count)));
}
