/**
 * Kernels beside planned transforms become callbacks of their plans: a kernel that prepares a transform's input runs while the input is read, a
 * kernel that changes its output runs while the output is written. A product between a transform and its inverse makes a convolution of the three
 * (convolutions.ts).
 */
import { type ArrayRef, type Kernel, type LoadNode, type Real, reachable } from '../../../ir/index.ts';
import type { LoopNest } from '../loops/builder.ts';
import {
  type BuiltCallback,
  type Decided,
  type Launch,
  nameOfRead,
  OUTPUT,
  type PlannedTransform,
  type Rows,
  rowShape,
  type TransformLaunch,
} from '../loops/launches.ts';
import { inUnits, type LaunchDraft } from '../loops/loops.ts';
import { type CallbackMeaning, callbackOf } from './callback-nodes.ts';
import { convolutionOf, withPrepared } from './convolutions.ts';
import { areRowsPacked, type LaunchFacts, numberStored, type RowStores, rowStores, rowsAt, sameIndex } from './rows.ts';

/** The most arrays that the launches of a plan may have to bind beside their input and output. */
const MOST_ARRAYS = 4;

/** The launches of a program, fewer wherever a kernel has become a part of a transform. */
export function besideTransforms(launches: readonly Launch[], facts: LaunchFacts, beside: Decided['beside']): Launch[] {
  let now = [...launches];
  if (beside === 'nothing') return now;
  const fusing = new Fusing(facts);
  for (const step of ['products', 'neighbours'] as const) {
    if (step === 'products' && beside !== 'products') continue;
    for (let before = -1; before !== now.length; ) {
      before = now.length;
      now = fusing.pass(now, step);
    }
  }
  return withPrepared(now, facts);
}

class Fusing {
  private readonly facts: LaunchFacts;
  /** Fused launches by the launches that they replace: launches that repeat are fused once. */
  private readonly known = new Map<string, Launch | undefined>();
  private readonly ids = new Map<Launch, number>();

  constructor(facts: LaunchFacts) {
    this.facts = facts;
  }

  pass(launches: readonly Launch[], step: 'products' | 'neighbours'): Launch[] {
    const order = new Order(launches, this.facts.wanted);
    const made = new Map<number, Launch | undefined>();
    launches.forEach((_, first) => {
      const run = step === 'products' ? order.productFrom(first) : order.pairFrom(first);
      if (!run || run.some((n) => made.has(n))) return;
      const fused = this.fused(run.map((n) => launches[n]!));
      if (!fused || fused.reads.includes(fused.writes)) return;
      for (const n of run) made.set(n, undefined);
      made.set(run.at(-1)!, fused);
    });
    return launches.flatMap((launch, n) => (made.has(n) ? (made.get(n) ?? []) : launch));
  }

  private fused(run: readonly Launch[]): Launch | undefined {
    const key = run.map((launch) => this.id(launch)).join(' ');
    if (!this.known.has(key)) this.known.set(key, this.made(run));
    return this.known.get(key);
  }

  private made(run: readonly Launch[]): Launch | undefined {
    const [first, second, third] = run as [Launch, Launch, Launch?];
    if (third) {
      return convolutionOf(first as TransformLaunch, second as LaunchDraft, third as TransformLaunch, this.facts);
    }
    if ('transform' in first) return 'transform' in second ? undefined : this.withStore(first, second);
    return 'transform' in second ? this.withLoad(first, second) : undefined;
  }

  private id(launch: Launch): number {
    let id = this.ids.get(launch);
    if (id === undefined) this.ids.set(launch, (id = this.ids.size));
    return id;
  }

  /** A transform that computes its input on loading, as the kernel before it has done. */
  private withLoad(draft: LaunchDraft, launch: TransformLaunch): TransformLaunch | undefined {
    const { transform } = launch;
    const nest = this.facts.nests.get(draft.kernel);
    const stored = nest && numberStored(nest.stores);
    const { count, isComplex } = rowShape(transform, 'input');
    if (!stored || transform.load || transform.input || (stored.words === 2) !== isComplex) return undefined;
    if (launch.reads.lastIndexOf(draft.writes) !== 0) return undefined;
    const rows = rowStores(nest, stored.place, count, transform.batches);
    if (!rows) return undefined;
    const values = rows.stores.map(({ value }) => value);
    const arrays = new Arrays(draft, launch, this.facts);
    const value = arrays.valueAmong(values, rows, stored.words, count);
    const parts = value && ([value.re, value.im] as const);
    const isPlain = values.every((each, n) => each === parts?.[n]);
    const load = isPlain
      ? undefined
      : arrays.callback(isComplex ? 'complex' : 'real', values, rows, (node) =>
          node === parts?.[0] ? 're' : node === parts?.[1] ? 'im' : undefined,
        );
    const [, ...others] = launch.reads;
    // A callback that uses no element of the input may be given any input.
    const input = value?.buffer ?? draft.reads[0];
    if ((!isPlain && !load) || input === undefined) return undefined;
    const place = value && !areRowsPacked(value.rows, count) ? { input: value.rows } : {};
    return arrays.launch({ ...transform, ...place, ...(load ? { load } : {}) }, [input, ...others], launch.writes);
  }

  /** A transform that changes its result on storing, as the kernel behind it has done. */
  private withStore(launch: TransformLaunch, draft: LaunchDraft): TransformLaunch | undefined {
    const { transform } = launch;
    const nest = this.facts.nests.get(draft.kernel);
    const { count, isComplex } = rowShape(transform, 'output');
    if (!nest || transform.store || transform.output) return undefined;
    const given = draft.kernel.globals[draft.reads.indexOf(launch.writes)]!;
    const words = isComplex ? 2 : 1;
    const partOf = (node: LoadNode) => (node.array === given ? Math.abs(node.index.constant % words) : -1);
    const loads = loadsOfNest(nest).filter(({ array }) => array === given);
    const places = loads.map((load) => inUnits(load.index, words, partOf(load)));
    const [place] = places;
    if (!place || !places.every((each) => each && sameIndex(each, place)) || loads.some(isGuarded)) return undefined;
    const rows = rowStores(nest, place, count, transform.batches);
    const stored = rows && numberStored(rows.stores);
    if (!rows || !stored || stored.words > words || (transform.times && stored.words < words)) return undefined;
    const output = rowsAt(stored.place, rows, false);
    // A convolution of reals writes its result in the layout of its input.
    if (!output || (transform.times && !isComplex && !areRowsPacked(output, count))) return undefined;
    const arrays = new Arrays(draft, launch, this.facts);
    const takes = isComplex ? 'complex' : 'real';
    const store = arrays.callback(takes, stored.parts, rows, (node) => (['re', 'im'] as const)[partOf(node)]);
    if (!store) return undefined;
    const own = areRowsPacked(output, count) ? {} : { output };
    return arrays.launch({ ...transform, ...own, store }, launch.reads, draft.writes);
  }
}

/** The order of launches: which launch reads the buffer that another has written. */
class Order {
  private readonly launches: readonly Launch[];
  private readonly wanted: ReadonlySet<string>;
  private readonly uses = new Map<string, { readonly at: number; readonly writes: boolean }[]>();

  constructor(launches: readonly Launch[], wanted: ReadonlySet<string>) {
    this.launches = launches;
    this.wanted = wanted;
    launches.forEach(({ reads, writes }, at) => {
      for (const buffer of new Set(reads)) this.note(buffer, at, false);
      this.note(writes, at, true);
    });
  }

  private note(buffer: string, at: number, writes: boolean): void {
    const known = this.uses.get(buffer);
    if (known) known.push({ at, writes });
    else this.uses.set(buffer, [{ at, writes }]);
  }

  /** A launch and its only reader. */
  pairFrom(first: number): readonly number[] | undefined {
    const { writes, reads } = this.launches[first]!;
    if (writes === OUTPUT || this.wanted.has(writes)) return undefined;
    const uses = this.uses.get(writes)!;
    const n = uses.findIndex(({ at }) => at === first);
    const [before, next, after] = [uses[n - 1], uses[n + 1], uses[n + 2]];
    // Two launches that write the same buffer one after another each write a part of it.
    if (before?.writes || !next || next.writes || (after && !after.writes)) return undefined;
    return reads.some((buffer) => this.isWritten(buffer, first, next.at)) ? undefined : [first, next.at];
  }

  /** A transform, a kernel and another transform, where each is the only reader of the buffer that the one before has written. */
  productFrom(first: number): readonly number[] | undefined {
    const own = this.isPlanned(first) ? this.pairFrom(first) : undefined;
    const next = own && !this.isPlanned(own[1]!) ? this.pairFrom(own[1]!) : undefined;
    if (!next || !this.isPlanned(next[1]!)) return undefined;
    const isKept = !this.launches[first]!.reads.some((buffer) => this.isWritten(buffer, first, next[1]!));
    return isKept ? [first, ...next] : undefined;
  }

  private isPlanned(at: number): boolean {
    return 'transform' in this.launches[at]!;
  }

  private isWritten(buffer: string, from: number, to: number): boolean {
    return this.uses.get(buffer)!.some(({ at, writes }) => writes && at > from && at <= to);
  }
}

function loadsOfNest({ stores }: Pick<LoopNest, 'stores'>): LoadNode[] {
  return reachable(stores.map(({ value }) => value)).filter((node): node is LoadNode => node.op === 'load');
}

function isGuarded({ guard }: LoadNode): boolean {
  return guard !== undefined && guard.length > 0;
}

/** The input of a plan whose elements a callback is given: numbers of a buffer at regular steps. */
interface CallbackInput {
  readonly buffer: string;
  readonly rows: Rows;
  readonly re: Real | undefined;
  readonly im: Real | undefined;
}

/** The arrays that a launch reads. Fusing a kernel into the launch adds the kernel's arrays. */
class Arrays {
  private readonly draft: LaunchDraft;
  private readonly facts: LaunchFacts;
  private readonly spectrum: readonly string[];
  /** Names of the input and of the callbacks' arrays. */
  private readonly reads: string[];
  private readonly lengths: Record<string, number>;
  private readonly tables: Record<string, Kernel>;

  constructor(draft: LaunchDraft, { transform, reads, tables }: TransformLaunch, facts: LaunchFacts) {
    this.draft = draft;
    this.facts = facts;
    this.spectrum = transform.times ? reads.slice(-1) : [];
    this.reads = reads.slice(0, reads.length - this.spectrum.length);
    this.lengths = { ...transform.arrays };
    this.tables = { ...tables };
  }

  bufferOf(array: ArrayRef): string | undefined {
    return this.draft.reads[this.draft.kernel.globals.indexOf(array)];
  }

  /** @param partOf the part of the callback's own value (real or imaginary) that a load of the kernel stands for */
  callback(
    takes: BuiltCallback['takes'],
    results: readonly Real[],
    { along, row }: RowStores,
    partOf: CallbackMeaning['valueOf'],
  ): BuiltCallback | undefined {
    const own = callbackOf(takes, results, {
      precision: this.facts.precision,
      dimensionOf: (variable) => (variable === along ? 1 : variable === row ? 3 : undefined),
      valueOf: partOf,
      arrayOf: ({ array }) => this.named(array),
    });
    return Object.keys(this.lengths).length > MOST_ARRAYS ? undefined : own;
  }

  private named(array: ArrayRef) {
    const buffer = this.bufferOf(array);
    const name = buffer === undefined ? this.tableName(array) : this.nameOf(buffer);
    return name === undefined ? undefined : { name, length: this.lengths[name]! };
  }

  private nameOf(buffer: string): string {
    let place = this.reads.indexOf(buffer, 1);
    if (place < 0) place = this.reads.push(buffer) - 1;
    const name = nameOfRead(place);
    this.lengths[name] = this.facts.lengthOf(buffer);
    return name;
  }

  /** The array's name. A plan can only be given the table of reals, and no other table. */
  private tableName(array: ArrayRef): string | undefined {
    const { kernel } = this.draft;
    const [table] = kernel.tables;
    if (array.space !== 'table' || array.type === 'u32' || table?.name !== array.name) return undefined;
    const known = Object.keys(this.tables).find((name) => this.tables[name] === kernel);
    const name = known ?? `t${Object.keys(this.tables).length}`;
    this.tables[name] = kernel;
    this.lengths[name] = table.length;
    return name;
  }

  /** The loaded numbers of an expression that the plan may read as its input; undefined where none may be. */
  valueAmong(values: readonly Real[], rows: RowStores, words: number, count: number): CallbackInput | undefined {
    let best: CallbackInput | undefined;
    for (const load of reachable(values)) {
      if (load.op !== 'load' || isGuarded(load)) continue;
      const buffer = this.bufferOf(load.array);
      const part = Math.abs(load.index.constant % words);
      const place = inUnits(load.index, words, part);
      const at = place && rowsAt(place, rows, true);
      if (buffer === undefined || !place || !at) continue;
      const last = at.offset + at.step * (count - 1) + at.apart * (rows.row.count - 1);
      if (words * (last + 1) > this.facts.lengthOf(buffer)) continue;
      const isBetter = !best || (at.step === 1 && best.rows.step > 1);
      // A convolution of reals reads in the layout that it writes.
      if (!isBetter || (this.spectrum.length > 0 && words === 1 && !areRowsPacked(at, count))) continue;
      const scaled = {
        constant: words * place.constant,
        terms: place.terms.map((term) => ({ ...term, factor: words * term.factor })),
      };
      const loaded = (own: number) => rows.x.load(load.array, { ...scaled, constant: scaled.constant + own });
      best = { buffer, rows: at, re: loaded(0), im: words === 2 ? loaded(1) : undefined };
    }
    return best;
  }

  /** @param reads buffers that the launch has read so far, without the arrays added here */
  launch(transform: PlannedTransform, reads: readonly string[], writes: string): TransformLaunch {
    const arrays = Object.keys(this.lengths).length > 0 ? { arrays: { ...this.lengths } } : {};
    const tables = Object.keys(this.tables).length > 0 ? { tables: this.tables } : {};
    const own = [reads[0]!, ...this.reads.slice(1), ...this.spectrum];
    return { transform: { ...transform, ...arrays }, reads: own, writes, ...tables };
  }
}
