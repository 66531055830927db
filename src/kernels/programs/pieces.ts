/**
 * A program as launches: one where all can be computed where it is wanted, more where arrays are better stored than computed again.
 *
 * Whether they are is seen while a kernel is built: each time the function of a map is called for an element, the iterations of all loops around are
 * counted. Where that is far more often than there are elements, everything begins anew, with the array stored.
 */
import type { ElementType, Index } from '../../ir/index.ts';
import type { Program } from '../../patterns/program.ts';
import { numbersOf, realsOf, type Sizes } from '../../patterns/sizing.ts';
import { scalarOf } from '../../patterns/types.ts';
import { freeOf, type Value } from '../../patterns/values.ts';
import { KernelBuilder } from './builder.ts';
import type { Environment } from './environment.ts';
import { kernelsOf, type LaunchDraft, type LoopProfile } from './loops.ts';
import type { Leaves, Planning } from './planning.ts';
import type { Leaf, Pulled } from './pulled.ts';
import type { Shorter } from './reductions.ts';
import { KnownNumbers } from './tables.ts';
import { Work } from './work.ts';

/** What is known of the device. */
export interface ProgramTarget extends LoopProfile {
  /** Whether its kernels may have loops in expressions. */
  readonly hasLoops: boolean;
}

/** A kernel and the buffers that it takes, in the order of its globals. */
export type Launch = LaunchDraft;

/** What a program is for a device: launches in order, and buffers between them. */
export interface ProgramPieces {
  readonly launches: readonly Launch[];
  /** Reals in each. */
  readonly buffers: ReadonlyMap<string, number>;
  readonly outputLength: number;
}

/** Buffers are named by what they hold: `input v`, `output`, `stored 1` … */
export const OUTPUT = 'output';

/** Operations of one kernel at most. */
const MOST_OPERATIONS = 4096;

/** Operations that storing a number and reading it again is worth, and those below which nothing is stored. */
const WORTH_STORING = 32;
const LEAST_STORED = 3;

/** Thrown where an array is found to be better stored. */
class StoreFirst extends Error {}

/**
 * @throws FftError `unsupported-feature` for what cannot be compiled yet, and for kernels of too many operations
 */
export function piecesOf(program: Program, sizes: Sizes, precision: ElementType, target: ProgramTarget): ProgramPieces {
  const decided = new Decisions();
  for (;;) {
    try {
      const plan = new ProgramPlan(program, sizes, precision, target, decided);
      return plan.pieces();
    } catch (error) {
      if (!(error instanceof StoreFirst)) throw error;
    }
  }
}

/** What has been decided, and does not change when everything begins anew. */
class Decisions {
  readonly stored = new Set<string>();
  readonly numbers = new Map<Value, KnownNumbers>();
  readonly shorter = new Map<Value, Shorter>();
  private readonly ids = new Map<Value, number>();

  /** A name for a value in loops over certain arrays. */
  keyOf(value: Value, around: readonly Environment[]): string {
    const nodes = around.flatMap(({ binding }) => (binding && 'of' in binding ? [binding.of] : []));
    return [value, ...nodes].map((node) => this.id(node)).join(' ');
  }

  private id(value: Value): number {
    let id = this.ids.get(value);
    if (id === undefined) this.ids.set(value, (id = this.ids.size));
    return id;
  }
}

interface Reads {
  count: number;
  readonly elements: number;
  readonly key: string;
}

class ProgramPlan implements Planning {
  readonly program: Program;
  readonly sizes: Sizes;
  readonly precision: ElementType;
  readonly mostOperations = MOST_OPERATIONS;
  /** The buffer that the kernel which is being built writes. */
  target = OUTPUT;
  private readonly profile: ProgramTarget;
  private readonly decided: Decisions;
  private readonly work: Work;
  private launches: Launch[] = [];
  private readonly buffers = new Map<string, number>();
  /** Buffers of stored values, by the values' keys. */
  private readonly places = new Map<string, string>();
  private readonly reads = new Map<string, Map<string, Reads>>();
  private readonly rearranging = new Map<Value, boolean>();
  private numbers = 0;
  /** Counts kernels: reads are those of one. */
  private kernel = 0;

  constructor(program: Program, sizes: Sizes, precision: ElementType, profile: ProgramTarget, decided: Decisions) {
    this.program = program;
    this.sizes = sizes;
    this.precision = precision;
    this.profile = profile;
    this.decided = decided;
    this.work = new Work(sizes);
  }

  get shorter(): Map<Value, Shorter> {
    return this.decided.shorter;
  }

  get hasLoops(): boolean {
    return this.profile.hasLoops;
  }

  pieces(): ProgramPieces {
    const { body } = this.program;
    this.build(OUTPUT, (builder) => builder.push(body, builder.root, builder.leafOf(OUTPUT, body.type)));
    return { launches: this.launches, buffers: this.buffers, outputLength: realsOf(body.type, this.sizes) };
  }

  nextNumber(): number {
    return this.numbers++;
  }

  workOf(value: Value): number {
    return this.work.of(value);
  }

  numbersOf(value: Value): KnownNumbers {
    let numbers = this.decided.numbers.get(value);
    if (!numbers) this.decided.numbers.set(value, (numbers = new KnownNumbers(value, this.sizes)));
    return numbers;
  }

  /** Builds the kernels that store something in a buffer, behind those that have to come before. */
  private build(buffer: string, fill: (builder: KernelBuilder) => void): void {
    const [before, kernel] = [this.target, this.kernel];
    this.target = buffer;
    this.kernel = this.nextNumber();
    const builder = new KernelBuilder(this);
    fill(builder);
    this.launches.push(...kernelsOf(builder, this.profile, this.precision));
    this.target = before;
    this.kernel = kernel;
  }

  /** Whether a value is nothing but a rearrangement of arrays. */
  onlyRearranges(value: Value): boolean {
    let known = this.rearranging.get(value);
    if (known === undefined) {
      const { op, of, f, type } = value;
      const isLayout = ['zip', 'tuple', 'at', 'split', 'join', 'transpose', 'slide', 'pad'].includes(op);
      const isArray = type.kind !== 'condition';
      if (op === 'symbol' || op === 'input') known = isArray;
      else if (op === 'map') known = this.onlyRearranges(f!.body) && this.onlyRearranges(of[0]!);
      else known = isLayout && of.every((operand) => this.onlyRearranges(operand));
      this.rearranging.set(value, known);
    }
    return known;
  }

  // Stored arrays.

  private needed(value: Value, env: Environment): Environment[] {
    return env.neededFor(freeOf(value));
  }

  /** Whether an array may have a place in memory: not where it depends on what a reduction has come to. */
  canStore(value: Value, env: Environment): boolean {
    if (scalarOf(value.type).kind === 'tuple' || value.type.kind !== 'array') return false;
    return this.needed(value, env).every(({ binding }) => binding!.kind !== 'sum');
  }

  isStored(value: Value, env: Environment): boolean {
    if (value.type.kind !== 'array' || !value.f || this.decided.stored.size === 0) return false;
    return this.decided.stored.has(this.decided.keyOf(value, this.needed(value, env)));
  }

  /**
   * Notes that a map's function is called for an element, in so many iterations of loops.
   * @throws StoreFirst where the array is better stored
   */
  noteRead(value: Value, env: Environment, iterations: number): void {
    const work = this.work.of(value);
    if (work <= LEAST_STORED || !this.canStore(value, env)) return;
    const key = this.decided.keyOf(value, this.needed(value, env));
    let reads = this.reads.get(`${this.kernel}`);
    if (!reads) this.reads.set(`${this.kernel}`, (reads = new Map()));
    let own = reads.get(key);
    if (!own) {
      const outer = this.outerCounts(this.needed(value, env));
      const [count] = numbersOf(value.type, this.sizes);
      reads.set(key, (own = { count: 0, elements: outer.reduce((all, each) => all * each, count!), key }));
    }
    own.count += iterations;
    if ((own.count / own.elements - 1) * work <= WORTH_STORING) return;
    this.decided.stored.add(key);
    throw new StoreFirst();
  }

  private outerCounts(needed: readonly Environment[]): number[] {
    return needed.flatMap(({ binding }) => (binding?.kind === 'element' ? [binding.count] : []));
  }

  /** An array in memory, which is computed before. */
  stored(leaves: Leaves, value: Value, env: Environment): Pulled {
    const needed = this.needed(value, env);
    const key = this.decided.keyOf(value, needed);
    let buffer = this.places.get(key);
    if (!buffer) {
      this.places.set(key, (buffer = this.newBuffer(value, needed)));
      const outer = this.outerCounts(needed);
      const place = buffer;
      this.build(buffer, (own) => {
        own.again(needed, (inside, indices) => {
          const to = own.leafOf(place, value.type, outer, indices);
          // What is to be stored is not read from where it will be.
          this.withoutStoring(key, () => own.push(value, inside, to));
        });
      });
    }
    return leaves.leafOf(buffer, value.type, this.outerCounts(needed), indicesOf(needed));
  }

  private withoutStoring(key: string, act: () => void): void {
    const was = this.decided.stored.delete(key);
    try {
      act();
    } finally {
      if (was) this.decided.stored.add(key);
    }
  }

  private newBuffer(value: Value, needed: readonly Environment[]): string {
    const name = `stored ${this.buffers.size}`;
    const outer = this.outerCounts(needed).reduce((all, each) => all * each, 1);
    this.buffers.set(name, outer * realsOf(value.type, this.sizes));
    return name;
  }

  // Repetition: two buffers take turns.

  /** What the symbol of an `iterate` is in one of its steps. */
  stateLeaf(leaves: Leaves, value: Value, buffer: string, env: Environment): Leaf {
    const needed = this.needed(value, env);
    return leaves.leafOf(buffer, value.type, this.outerCounts(needed), indicesOf(needed));
  }

  iterated(leaves: Leaves, value: Value, env: Environment): Pulled {
    const needed = this.needed(value, env);
    const outer = this.outerCounts(needed);
    const key = this.decided.keyOf(value, needed);
    let result = this.places.get(key);
    if (!result) {
      const [one, other] = [this.newBuffer(value, needed), this.newBuffer(value, needed)];
      const [start] = value.of;
      this.build(one, (own) =>
        own.again(needed, (inside, indices) => own.push(start!, inside, own.leafOf(one, value.type, outer, indices))),
      );
      const before = this.launches;
      this.launches = [];
      this.build(other, (own) =>
        own.again(needed, (inside, indices) =>
          own.push(value.f!.body, own.inState(value, one, inside), own.leafOf(other, value.type, outer, indices)),
        ),
      );
      const { times } = value.details;
      this.launches = [...before, ...repeated(this.launches, one, other, times!)];
      this.places.set(key, (result = times! % 2 === 0 ? one : other));
    }
    return leaves.leafOf(result, value.type, outer, indicesOf(needed));
  }
}

/** The indices of elements that environments are about. */
function indicesOf(needed: readonly Environment[]): Index[] {
  return needed.flatMap(({ binding }) => (binding?.kind === 'element' ? [binding.index] : []));
}

/** The launches of one step as many times as wanted; what does not depend on the state comes first, once. */
function repeated(step: readonly Launch[], one: string, other: string, times: number): Launch[] {
  if (times === 0) return [];
  const changing = new Set([one, other]);
  const [once, always]: [Launch[], Launch[]] = [[], []];
  for (const launch of step) {
    const changes = launch.reads.some((buffer) => changing.has(buffer)) || changing.has(launch.writes);
    (changes ? always : once).push(launch);
    if (changes) changing.add(launch.writes);
  }
  const turned = (name: string) => (name === one ? other : name === other ? one : name);
  const back = always.map(
    (launch): Launch => ({ ...launch, reads: launch.reads.map(turned), writes: turned(launch.writes) }),
  );
  return [...once, ...Array.from({ length: times }, (_, n) => (n % 2 === 0 ? always : back)).flat()];
}
