/**
 * A program as launches. One launch suffices if every array is computed where its elements are read; an array that would be computed many times over
 * is stored by a launch of its own.
 *
 * The decision is made while a kernel is built: each time the function of a map is called for an element, the iterations of all surrounding loops are
 * counted. Where they far outnumber the array's elements, lowering begins anew, with the array stored.
 */
import { type ElementType, indexKey, type Kernel } from '../../ir/index.ts';
import type { Program } from '../../patterns/language/program.ts';
import { MOST_STORED, numbersOf, realsOfType, type Sizes } from '../../patterns/language/sizing.ts';
import { type ArrayType, arrayOf, COMPLEX, isSameType, scalarOf, type Type } from '../../patterns/language/types.ts';
import { freeOf, reachableValues, refusePattern, type Value } from '../../patterns/language/values.ts';
import { type Binding, Environment, nestedIndices, nestedLengths } from './expressions/environment.ts';
import { withPlainMemories } from './expressions/memories.ts';
import type { Leaves, Planning } from './expressions/planning.ts';
import { type KnownNumbers, type Pulled, packedLayout } from './expressions/pulled.ts';
import type { Shorter } from './expressions/reductions.ts';
import { knownNumbersOf } from './expressions/tables.ts';
import { Work } from './expressions/work.ts';
import { KernelBuilder, type LoopNest } from './loops/builder.ts';
import {
  type Decided,
  type Launch,
  OUTPUT,
  type PlannedOp,
  type ProgramPieces,
  type ProgramTarget,
  USUALLY,
} from './loops/launches.ts';
import { kernelsOfNests } from './loops/nests.ts';
import { fieldsOf, fieldTypesOf, fromFields, repeatedLaunches, type Turns } from './repetitions.ts';
import { besideTransforms } from './transforms/beside-transforms.ts';
import type { LaunchFacts } from './transforms/rows.ts';

/** The most operations of one kernel. */
const MOST_OPERATIONS = 4096;

/** The most launches of one program. */
const MOST_LAUNCHES = 2 ** 16;

/** An array whose elements cost at most this many operations each is not stored. */
const LEAST_STORED = 3;
/** The least number of repeated reads per number at which an array is stored that a transform writes anyway. */
const LEAST_AGAIN = 0.5;

/** Thrown where an array turns out to be better stored. */
class StoreFirst extends Error {}

/** @throws FftError `unsupported-feature` for programs that cannot be compiled yet, and for kernels of too many operations */
export function programPieces(
  program: Program,
  sizes: Sizes,
  precision: ElementType,
  target: ProgramTarget,
  way: Decided = USUALLY,
): ProgramPieces {
  const lowered = (decided: Decisions): ProgramPieces => {
    for (;;) {
      try {
        return new ProgramPlan(program, sizes, precision, target, decided).pieces();
      } catch (error) {
        if (!(error instanceof StoreFirst)) throw error;
      }
    }
  };
  const body = withPlainMemories(program.body, new Work(sizes));
  const decided = new Decisions(body, way, way.beside !== 'nothing');
  const pieces = lowered(decided);
  if (!decided.hasStoredBeside) return pieces;
  // A kernel that was expected to become a part of a transform and has not may be better computed again.
  const others = lowered(new Decisions(body, way, false));
  return others.launches.length < pieces.launches.length ? others : pieces;
}

/** The decisions made so far, which stay when lowering begins anew. */
class Decisions {
  /** The program's result, with functions that only name a memory removed. */
  readonly body: Value;
  readonly way: Decided;
  /** Whether arrays beside transforms are stored if they are read more than once: the transform writes them anyway. */
  readonly storesBeside: boolean;
  hasStoredBeside = false;
  readonly stored = new Set<string>();
  /** Names of stored arrays that are too large for the shared memory of a work-group. */
  readonly outside = new Set<string>();
  readonly numbers = new Map<Value, KnownNumbers>();
  readonly shorter = new Map<Value, Shorter>();
  private readonly ids = new Map<Value, number>();

  constructor(body: Value, way: Decided, storesBeside: boolean) {
    this.body = body;
    this.way = way;
    this.storesBeside = storesBeside;
  }

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
  private readonly body: Value;
  readonly mostOperations = MOST_OPERATIONS;
  readonly hasKnownArrays: boolean;
  /** The buffer that the present kernel writes. */
  target = OUTPUT;
  private readonly profile: ProgramTarget;
  private readonly decided: Decisions;
  private readonly work: Work;
  private launches: Launch[] = [];
  /** Buffers that the program itself asks for. */
  private readonly wanted = new Set<string>();
  /** The loop nest of each kernel. */
  private readonly nests = new Map<Kernel, LoopNest>();
  private readonly buffers = new Map<string, number>();
  /** Buffers of stored values, by the values' keys. */
  private readonly places = new Map<string, string>();
  /** Buffers of the results of repetitions, by their keys. */
  private readonly states = new Map<string, readonly string[]>();
  private readonly reads = new Map<string, Map<string, Reads>>();
  private readonly rearranging = new Map<Value, boolean>();
  private numbers = 0;
  /** The number of the present kernel: reads are counted per kernel. */
  private kernel = 0;

  constructor(program: Program, sizes: Sizes, precision: ElementType, profile: ProgramTarget, decided: Decisions) {
    this.program = program;
    this.body = decided.body;
    this.sizes = sizes;
    this.precision = precision;
    this.profile = profile;
    this.decided = decided;
    this.work = new Work(sizes);
    this.hasKnownArrays = reachableValues(this.body).some(({ op }) => op === 'array');
  }

  get shorter(): Map<Value, Shorter> {
    return this.decided.shorter;
  }

  get device(): ProgramTarget {
    return this.profile;
  }

  pieces(): ProgramPieces {
    const { body } = this;
    const made = this.bufferOf(body, []);
    if (made !== undefined && !made.startsWith('input ')) this.redirect(made, OUTPUT);
    else this.build(OUTPUT, (builder) => builder.pushWhole(body, builder.root, builder.leafOf(OUTPUT, body.type)));
    const outputLength = realsOfType(body.type, this.sizes);
    const lengths = new Map(
      this.program.parameters.map(({ details, type }) => [`input ${details.name}`, realsOfType(type, this.sizes)]),
    );
    const facts: LaunchFacts = {
      precision: this.precision,
      nests: this.nests,
      wanted: this.wanted,
      lengthOf: (buffer) => lengths.get(buffer) ?? this.buffers.get(buffer) ?? outputLength,
    };
    const { beside } = this.decided.way;
    const hasPlans = this.launches.some((launch) => 'transform' in launch);
    const launches = hasPlans ? besideTransforms(this.launches, facts, beside) : this.launches;
    const used = new Set(launches.flatMap(({ reads, writes }) => [...reads, writes]));
    const buffers = new Map([...this.buffers].filter(([name]) => used.has(name)));
    return { launches, buffers, outputLength };
  }

  nextNumber(): number {
    return this.numbers++;
  }

  workOf(value: Value): number {
    return this.work.of(value);
  }

  numbersOf(value: Value): KnownNumbers {
    let numbers = this.decided.numbers.get(value);
    if (!numbers) this.decided.numbers.set(value, (numbers = knownNumbersOf(value, this.sizes)));
    return numbers;
  }

  /** Builds the kernel that stores a value in a buffer, after the kernels that store its operands. */
  private build(buffer: string, fill: (builder: KernelBuilder) => void): void {
    const [before, kernel] = [this.target, this.kernel];
    this.target = buffer;
    this.kernel = this.nextNumber();
    const builder = new KernelBuilder(this);
    fill(builder);
    const { profile, precision } = this;
    const drafts = kernelsOfNests(builder, {
      profile,
      precision,
      newBuffer: (reals) => this.reserve(reals),
      note: (made, nest) => this.nests.set(made, nest),
      storeOutside: (key) => {
        this.decided.outside.add(key);
        throw new StoreFirst();
      },
    });
    this.launches.push(...drafts);
    this.target = before;
    this.kernel = kernel;
  }

  /** Whether a value only rearranges arrays, without computing. */
  onlyRearranges(value: Value): boolean {
    let known = this.rearranging.get(value);
    if (known === undefined) {
      const { op, of, f, type } = value;
      const isMade = isPlanned(value) || (op === 'iterate' && type.kind === 'array');
      const isLayout = ['zip', 'tuple', 'at', 'split', 'join', 'transpose', 'slide', 'pad'].includes(op);
      const isArray = type.kind !== 'condition';
      if (op === 'symbol' || op === 'input') known = isArray;
      else if (isMade) known = true;
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

  /** Whether an array may be stored in memory: not where it depends on the partial result of a reduction. */
  canStore(value: Value, env: Environment): boolean {
    if (scalarOf(value.type).kind === 'tuple' || value.type.kind !== 'array') return false;
    return !env.dependsOnSum(value);
  }

  isStored(value: Value, env: Environment): boolean {
    if (value.type.kind !== 'array' || !value.f || this.decided.stored.size === 0) return false;
    return this.decided.stored.has(this.decided.keyOf(value, this.needed(value, env)));
  }

  isShared(value: Value, env: Environment): boolean {
    const { group } = env;
    if (!group || scalarOf(value.type).kind === 'tuple') return false;
    if (env.dependsOnSum(value)) return false;
    if (value.op === 'toLocal') return true;
    const needed = this.needed(value, env);
    return this.isStored(value, env) && needed.includes(group) && !this.decided.outside.has(this.keyOf(value, needed));
  }

  keyOf(value: Value, needed: readonly Environment[]): string {
    return this.decided.keyOf(value, needed);
  }

  /**
   * Notes that a map's function is called for an element, inside loops with this number of iterations.
   * @throws StoreFirst where the array is better stored
   */
  noteRead(value: Value, env: Environment, iterations: number): void {
    const work = this.work.of(value);
    const isBeside = this.decided.storesBeside && isBesideTransform(value);
    if ((work <= LEAST_STORED && !isBeside) || !this.canStore(value, env)) return;
    const key = this.decided.keyOf(value, this.needed(value, env));
    let reads = this.reads.get(`${this.kernel}`);
    if (!reads) this.reads.set(`${this.kernel}`, (reads = new Map()));
    let own = reads.get(key);
    if (!own) {
      const outer = nestedLengths(this.needed(value, env));
      const [count] = numbersOf(value.type, this.sizes);
      reads.set(key, (own = { count: 0, elements: outer.reduce((all, each) => all * each, count!), key }));
    }
    own.count += iterations;
    const again = own.count / own.elements - 1;
    if (again * work <= this.decided.way.storing && !(isBeside && again > LEAST_AGAIN)) return;
    this.decided.hasStoredBeside ||= isBeside;
    this.decided.stored.add(key);
    throw new StoreFirst();
  }

  /** An array in memory, stored by an earlier launch. */
  stored(leaves: Leaves, value: Value, env: Environment): Pulled {
    const needed = this.needed(value, env);
    const key = this.decided.keyOf(value, needed);
    let buffer = this.places.get(key);
    if (!buffer) {
      this.places.set(key, (buffer = this.newBuffer(value.type, needed)));
      if (value.op === 'toGlobal') this.wanted.add(buffer);
      const outer = nestedLengths(needed);
      const place = buffer;
      this.build(buffer, (own) => {
        own.again(needed, (inside, indices) => {
          own.pushItself(value, inside, own.leafOf(place, value.type, outer, indices));
        });
      });
    }
    return leaves.leafOf(buffer, value.type, nestedLengths(needed), nestedIndices(needed));
  }

  /**
   * Builds the kernel that fills a buffer with a value, for all iterations of the surrounding maps.
   * @param type the type of the buffer; a complex buffer may be filled with real numbers
   */
  private fill(
    buffer: string,
    value: Value,
    type: Type,
    needed: readonly Environment[],
    within = (_: KernelBuilder, env: Environment) => env,
  ): void {
    this.build(buffer, (own) => {
      own.again(needed, (inside, indices) => {
        own.pushWhole(value, within(own, inside), own.leafOf(buffer, type, nestedLengths(needed), indices));
      });
    });
  }

  /** The buffer that holds exactly an array, packed, for all iterations of the surrounding maps; undefined where there is none. */
  private bufferOf(value: Value, needed: readonly Environment[]): string | undefined {
    if (value.type.kind !== 'array' || !this.onlyRearranges(value)) return undefined;
    const words = scalarOf(value.type).kind === 'complex' ? 2 : 1;
    const shape = [...nestedLengths(needed), ...numbersOf(value.type, this.sizes)];
    let found: string | undefined;
    const builder = new KernelBuilder(this);
    builder.again(needed, (inside, indices) => {
      const pulled = builder.pull(value, inside);
      if (pulled.kind !== 'leaf' || pulled.layout.kind !== 'memory') return;
      const { layout, at } = pulled;
      const own = at.length === indices.length && at.every((index, n) => indexKey(index) === indexKey(indices[n]!));
      if (!own || JSON.stringify(layout) !== JSON.stringify(packedLayout(layout.array, shape))) return;
      found = [...builder.memory.keys()].find((buffer) => layout.array === `${buffer} by ${words}`);
    });
    return found;
  }

  /** Makes the launches that write what a buffer ends with write another one. */
  private redirect(from: string, to: string): void {
    const read = this.launches.findLastIndex(({ reads }) => reads.includes(from));
    this.launches = this.launches.map((launch, n) =>
      n > read && launch.writes === from ? { ...launch, writes: to } : launch,
    );
  }

  // Planned transforms.

  transformed(leaves: Leaves, value: Value, env: Environment): Pulled {
    const needed = this.needed(value, env);
    if (env.dependsOnSum(value)) {
      refusePattern(
        value.op,
        'a planned transform cannot depend on what a reduction has come to; dft takes up to 64 points there.',
      );
    }
    const key = this.decided.keyOf(value, needed);
    let buffer = this.places.get(key);
    if (!buffer) {
      this.places.set(key, (buffer = this.newBuffer(value.type, needed)));
      this.transformInto(buffer, value, env);
    }
    return leaves.leafOf(buffer, value.type, nestedLengths(needed), nestedIndices(needed));
  }

  /** Transforms all rows that a transform inside functions is called for, as one batch. */
  private transformInto(buffer: string, value: Value, env: Environment): void {
    const [source] = value.of as [Value];
    const needed = this.needed(value, env);
    const outer = nestedLengths(needed);
    const op = value.op as PlannedOp;
    const type = op === 'rfft' ? source.type : arrayOf(COMPLEX, (source.type as ArrayType).length);
    let from = isSameType(source.type, type) ? this.bufferOf(source, needed) : undefined;
    if (from === undefined) {
      from = this.newBuffer(type, needed);
      this.fill(from, source, type, needed);
    }
    const [size] = numbersOf(op === 'irfft' ? value.type : source.type, this.sizes);
    const batches = outer.reduce((all, each) => all * each, 1);
    this.launches.push({ transform: { op, size: size!, batches }, reads: [from], writes: buffer });
  }

  private newBuffer(type: Type, needed: readonly Environment[]): string {
    const outer = nestedLengths(needed).reduce((all, each) => all * each, 1);
    return this.reserve(outer * realsOfType(type, this.sizes));
  }

  /** @throws FftError `unsupported-feature` for more reals than indices can tell apart */
  private reserve(reals: number): string {
    if (reals > MOST_STORED) {
      refusePattern(
        'program',
        `an array that it stores between launches has ${reals} reals; ${MOST_STORED} are the most.`,
      );
    }
    const name = `stored ${this.buffers.size}`;
    this.buffers.set(name, reals);
    return name;
  }

  // Repetition: two buffers take turns, for each field of the state.

  /** The state of an `iterate` in one of its steps. */
  stateOf(leaves: Leaves, value: Value, buffers: readonly string[], env: Environment): Pulled {
    const { type } = value;
    const needed = this.needed(value, env);
    return fromFields(
      type,
      fieldTypesOf(type).map((field, n) =>
        leaves.leafOf(buffers[n]!, field, nestedLengths(needed), nestedIndices(needed)),
      ),
    );
  }

  iterated(leaves: Leaves, value: Value, env: Environment): Pulled {
    const needed = this.needed(value, env);
    const key = this.decided.keyOf(value, needed);
    let result = this.states.get(key);
    if (!result) this.states.set(key, (result = this.repeatedSteps(leaves, value, env, needed)));
    return this.stateOf(leaves, value, result, env);
  }

  /** The buffers in which a repetition ends. */
  private repeatedSteps(
    leaves: Leaves,
    value: Value,
    env: Environment,
    needed: readonly Environment[],
  ): readonly string[] {
    const { body, parameters } = value.f!;
    const outer = nestedLengths(needed);
    const turns = fieldsOf(value.of[0]!).map((start): Turns => {
      const [one, other] = [this.newBuffer(start.type, needed), this.newBuffer(start.type, needed)];
      const begin = this.bufferOf(start, needed);
      if (begin === undefined) this.fill(one, start, start.type, needed);
      return { begin: begin ?? one, one, other };
    });
    const before = this.launches;
    this.launches = [];
    const buffers = turns.map(({ one }) => one);
    const binding: Binding = { kind: 'state', of: value, buffers };
    const state = new Environment(env, binding, [[parameters[0]!, this.stateOf(leaves, value, buffers, env)]]);
    fieldsOf(body).forEach((next, n) => {
      const { other } = turns[n]!;
      if (isPlanned(next) && nestedLengths(this.needed(next, state)).length === outer.length) {
        this.transformInto(other, next, state);
      } else this.fill(other, next, next.type, needed, (own, inside) => own.inState(value, buffers, inside));
    });
    const { times } = value.details;
    if (this.launches.length * times! > MOST_LAUNCHES) {
      refusePattern(
        'iterate',
        `${times} steps are more than ${MOST_LAUNCHES} launches; run a program of fewer steps several times.`,
      );
    }
    this.launches = [...before, ...repeatedLaunches(this.launches, turns, times!)];
    return turns.map(({ one, other }) => (times! % 2 === 0 ? one : other));
  }
}

function isPlanned({ op }: Value): boolean {
  return op === 'fft' || op === 'ifft' || op === 'rfft' || op === 'irfft';
}

/** Whether an array is a map over the numbers that a planned transform gives. */
function isBesideTransform({ op, of, f }: Value): boolean {
  if (op !== 'map' || !f || f.body.type.kind === 'array') return false;
  const isNear = (source: Value): boolean =>
    isPlanned(source) || (source.op === 'zip' && source.of.some(isNear)) || isBesideTransform(source);
  return of.some(isNear);
}
