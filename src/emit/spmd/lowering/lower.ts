/**
 * Lowers a kernel to the tree of one entry point.
 *
 * Each phase becomes the items of one thread, and each exchange a barrier. All threads of the group reach every barrier: statements that
 * only some threads execute are conditional, and no thread returns early.
 */
import {
  elementTypeOf,
  type Index,
  type Kernel,
  type Loop,
  type Phase,
  range,
  slicedPhases,
  sub,
  type Var,
  variable,
} from '../../../ir/index.ts';
import { forThreads } from '../../lanes.ts';
import type { ComputedRoots, EntryPoint, SpmdOptions } from '../tree/program.ts';
import { NameScope, Names } from '../tree/scope.ts';
import { type Barrier, chain, type Statement, splitStatements } from '../tree/tree.ts';
import { readBy, writtenBy } from './accesses.ts';
import { type Grid, grid, groupsOf } from './grid.ts';
import { type Share, type Slot, share } from './items.ts';
import { type Dialect, holdsRoots, KernelArrays } from './memory.ts';
import { exchangeByParts } from './parts.ts';
import { placeStatements } from './place.ts';
import { computedRoots } from './root.ts';
import { Item, PhaseValues } from './values.ts';

export interface Lowered extends Pick<EntryPoint, 'entry' | 'threads'> {
  readonly grid: Grid;
  /** Blocks of a group. */
  readonly blocks: number;
  readonly memory: KernelArrays;
  /** The body, which uses the names `group`, `rank`, `t` and the names of arrays in `memory`. */
  readonly statements: readonly Statement[];
}

/**
 * @throws RangeError if the language cannot express the kernel: too many groups, too large indices, or an exchange that the language
 * does not have.
 */
export function lower(kernel: Kernel, options: SpmdOptions, target: Dialect): Lowered {
  return new SpmdLowering(forThreads(kernel), options, target).result();
}

/** The launch parameters, independent of the language. */
export function launchOf({ entry, threads, grid, blocks, memory }: Lowered): EntryPoint {
  const [x, y, z] = grid.dimensions;
  return {
    entry,
    threads,
    groups: [x * blocks, y, z],
    launches: grid.launches,
    launchSize: groupsOf(grid),
    cluster: blocks,
    sharedBytes: memory.sharedBytes,
    bindings: memory.bindings.map(({ written }) => ({ written })),
    alignments: memory.alignments,
  };
}

/** The most reals that a thread loads for several short items before it stores their results. */
const LOADS_AHEAD = 16;

const NO_STATEMENTS: readonly Statement[] = [];

class SpmdLowering {
  private readonly kernel: Kernel;
  private readonly target: Dialect;
  private readonly threads: number;
  private readonly grid: Grid;
  private readonly blocks: number;
  private readonly names = new Names();
  private readonly memory: KernelArrays;
  private readonly computedRoots: ComputedRoots;
  private readonly thread: Var;
  /** The variables and names that all statements can use. */
  private readonly inScope: (readonly [Var, string])[];
  /** Conditions that are all positive if the group has work: a launch may have surplus groups. */
  private readonly surplus: readonly Index[];
  /** Whether items that access globals have to be written out, because the registers of a caller have no address. */
  private readonly written: boolean;
  /** The first phase whose writes to globals no barrier has ordered yet. */
  private ordered = 0;

  constructor(kernel: Kernel, options: SpmdOptions, target: Dialect) {
    this.kernel = kernel;
    this.target = target;
    this.threads = options.threads ?? kernel.threads;
    if (!(Number.isInteger(this.threads) && this.threads > 0)) {
      throw new RangeError(`a group needs at least one thread, but ${this.threads} were given`);
    }
    this.blocks = kernel.cluster?.blocks ?? 1;
    const { maxGroups = 2 ** 31 - 1, launches } = options;
    this.grid = grid(kernel.group.count, Math.floor(maxGroups / this.blocks), launches);
    this.memory = new KernelArrays(kernel, target, options);
    this.written = options.registers !== undefined;
    this.computedRoots = options.computedRoots ?? false;
    if (this.computedRoots && kernel.tables.some(holdsRoots) && !target.sines) {
      throw new RangeError('this language has no sines that are exact enough');
    }
    this.thread = variable('t', this.threads);
    this.inScope = [[kernel.group, 'group'] as const, [this.thread, 't'] as const];
    if (kernel.cluster) {
      if (!target.clusters) throw new RangeError('this language has no clusters of blocks');
      this.inScope.push([kernel.cluster.rank, 'rank']);
    }
    for (const { name, start } of this.memory.offsets) this.inScope.push([start, `${name}_start`]);
    const { sharedStart } = this.memory;
    if (sharedStart) this.inScope.push([sharedStart, sharedStart.name]);
    const launched = this.grid.launches * groupsOf(this.grid);
    if (launched > kernel.group.count) {
      const number = variable('group', launched);
      this.inScope.push([number, 'group']);
      this.surplus = [sub(kernel.group.count, number)];
    } else this.surplus = [];
  }

  result(): Lowered {
    const { kernel, memory, names, threads, grid, blocks } = this;
    const parted = kernel.shared.find(({ partLength }) => partLength !== undefined);
    const begun = this.startsOutside
      ? [this.barrier({ scope: 'cluster', globals: false, begun: 'say' })]
      : NO_STATEMENTS;
    const whole = [...begun, ...(parted ? this.inParts(parted.length! / parted.partLength!) : this.phases())];
    const tree = this.computedRoots ? computedRoots(whole, kernel.tables, this.computedRoots) : whole;
    const { wideIntegers } = this.target;
    const statements = placeStatements(tree, this.inScope, { memory, names, wideIntegers });
    return { memory, statements, entry: memory.name(kernel.name), threads, grid, blocks };
  }

  /**
   * Whether the first phase writes into other blocks and reads none of the memory that it writes. Then it only has to wait until the other
   * blocks have started.
   */
  private get startsOutside(): boolean {
    const [first, ...more] = this.kernel.phases as [Phase, ...Phase[]];
    return more.length > 0 && first.stores.some(({ block }) => block) && !this.rereads(first);
  }

  private barrier(barrier: Barrier): Statement {
    return { op: 'barrier', barrier };
  }

  private headline(n: number): Statement[] {
    return [{ op: 'blank' }, { op: 'comment', text: `Phase ${n + 1} of ${this.kernel.phases.length}` }];
  }

  /** All phases, between which a shared array passes on its parts one after the other. */
  private inParts(count: number): Statement[] {
    const { phases } = this.kernel;
    if (slicedPhases(phases).length < phases.length)
      throw new RangeError('slices go through whole arrays, not their parts');
    const scope = new NameScope();
    const lowered = phases.map((phase, n) => {
      const values = new PhaseValues(phase);
      const { slots, aliases } = share(phase, this.thread, this.threads, values.operations.length, true);
      for (const alias of aliases) this.inScope.push([alias, 't']);
      const from = scope.statements.length;
      for (const slot of slots) this.item(values, slot, scope, n < phases.length - 1);
      const items = scope.statements.slice(from);
      return { headline: this.headline(n), items, exchange: () => this.exchange(n) };
    });
    const reaches = phases[0]!.stores.some(({ block }) => block);
    const first = this.startsOutside ? [this.begun] : reaches ? this.exchange(0) : NO_STATEMENTS;
    return exchangeByParts(lowered, count, first);
  }

  private phases(): Statement[] {
    let number = 0;
    return slicedPhases(this.kernel.phases).flatMap((run) => {
      const first = number;
      number += run.length;
      if (run.length > 1) return this.slices(run, first);
      const after = number < this.kernel.phases.length ? this.exchange(first) : NO_STATEMENTS;
      return [...this.phase(run[0]!, first), ...after];
    });
  }

  /**
   * A loop over slices, each of which goes through all phases of a run; a barrier ends each slice. The limit of the loop is the same for
   * all threads of the group, so all of them reach the same barriers.
   */
  private slices(run: readonly Phase[], first: number): Statement[] {
    const counter = this.names.fresh('slice');
    const body = run.flatMap((phase, n) => {
      const [slice, ...loops] = phase.loops as [Loop, ...Loop[]];
      return [...this.phase({ ...phase, loops }, first + n, { ...slice, counter }), ...this.exchangeOf('group', true)];
    });
    const { variable: like, limit } = run[0]!.loops[0]!;
    this.ordered = first + run.length;
    const end = limit && endsLoop(limit, like) ? { limit: { op: 'index', value: limit } as const } : {};
    return [{ op: 'loop', counter, variable: variable(like.name, like.count), rounds: like.count, ...end, body }];
  }

  private phase(phase: Phase, n: number, slice?: Loop & { readonly counter: string }): Statement[] {
    const values = new PhaseValues(phase);
    const outer = phase === this.kernel.phases[0] || phase === this.kernel.phases.at(-1);
    const unrolled = this.written && outer ? true : undefined;
    const shared = share(phase, this.thread, this.threads, values.operations.length, unrolled);
    const names = shared.aliases.map((alias) => [alias, 't'] as const);
    if (!slice) return [...this.headline(n), { op: 'scope', names, body: this.items(phase, values, shared) }];
    const { variable: number, counter, limit } = slice;
    const within = limit && !endsLoop(limit, number) ? [sub(limit, number)] : [];
    const slots = shared.slots.map(({ at, conditions }) => ({ at, conditions: [...conditions, ...within] }));
    const body = this.items(phase, values, { ...shared, slots });
    return [...this.headline(n), { op: 'scope', names: [...names, [number, counter]], body }];
  }

  private items(phase: Phase, values: PhaseValues, { slots, loop }: Share): readonly Statement[] {
    const scope = new NameScope();
    if (loop) {
      for (const slot of slots) this.item(values, slot, scope);
      const { counter: variable, rounds } = loop;
      return [{ op: 'loop', counter: this.names.fresh('round'), variable, rounds, body: scope.statements }];
    }
    if (!phase.readsFirst) return this.oneByOne(values, slots, phase.repeatable);
    for (const slot of slots) this.item(values, slot, scope, true);
    const [prepared, stores] = splitStatements(scope.statements, (s) => s.op !== 'store');
    return [...prepared, ...this.between(phase), ...stores];
  }

  /** The barrier between the loads and the stores of all threads. */
  private between(phase: Phase): readonly Statement[] {
    const scope = phase.exchange === 'cluster' ? 'cluster' : 'group';
    if (phase === this.kernel.phases[0] && this.startsOutside) return [this.begun];
    if (this.threads === 1 && scope !== 'cluster') return NO_STATEMENTS;
    return [this.barrier({ scope, globals: this.rereads(phase), readsOnly: true })];
  }

  private get begun(): Statement {
    return this.barrier({ scope: 'cluster', globals: false, begun: 'wait' });
  }

  /** The items one after another. If they are repeatable, several short items load before they store. */
  private oneByOne(values: PhaseValues, slots: readonly Slot[], repeatable: boolean): readonly Statement[] {
    const scope = new NameScope();
    const together = repeatable ? Math.max(1, Math.floor(LOADS_AHEAD / Math.max(1, values.loads.length))) : 1;
    for (let at = 0; at < slots.length; ) {
      let next = at + 1;
      const free = (n: number) => n < slots.length && slots[n]!.conditions.length === 0;
      if (free(at) && this.surplus.length === 0) while (next < at + together && free(next)) next++;
      const from = scope.statements.length;
      for (const slot of slots.slice(at, next)) this.item(values, slot, scope);
      if (next > at + 1)
        scope.statements.push(...splitStatements(scope.statements.splice(from), (s) => s.op !== 'store').flat());
      at = next;
    }
    return scope.statements;
  }

  /** Loads, computes and stores one item. @param apart whether the stores will be moved away from the rest */
  private item(values: PhaseValues, slot: Slot, scope: NameScope, apart = false): void {
    const conditions = [...this.surplus, ...slot.conditions].filter((condition) => range(condition)[0] <= 0);
    const inside = conditions.length > 0 ? new NameScope(scope) : scope;
    const item = new Item(values, slot, inside, elementTypeOf(this.kernel.precision), {
      memory: this.memory,
      names: this.names,
    });
    item.loads();
    item.compute();
    if (apart && conditions.length > 0) item.keep();
    item.write();
    if (inside === scope || inside.statements.length === 0) return;
    const condition = chain(
      '&&',
      conditions.map((value) => ({ op: 'positive', value })),
    );
    scope.statements.push({ op: 'if', condition, body: inside.statements });
  }

  /** Whether a phase may read memory of globals that it writes. */
  private rereads(phase: Phase): boolean {
    const { globals } = this.kernel;
    return (
      globals.some((array) => readBy([phase]).has(array)) && globals.some((array) => writtenBy([phase]).has(array))
    );
  }

  /** The barrier after a phase. */
  private exchange(after: number): readonly Statement[] {
    const { kernel, threads } = this;
    const { exchange: scope } = kernel.phases[after]!;
    if (scope === 'lane' || (threads === 1 && scope !== 'cluster')) return NO_STATEMENTS;
    const globals = this.collide(kernel.phases.slice(this.ordered, after + 1), kernel.phases.slice(after + 1));
    if (globals) this.ordered = after + 1;
    return this.exchangeOf(scope === 'slice' ? 'group' : scope, globals);
  }

  private exchangeOf(scope: Barrier['scope'], globals: boolean): readonly Statement[] {
    if (this.threads === 1 && scope !== 'cluster') return NO_STATEMENTS;
    return [{ op: 'blank' }, this.barrier({ scope, globals })];
  }

  /**
   * Whether later phases may read or write memory of globals that earlier phases write. (Loads of earlier phases are complete when
   * they reach a barrier.)
   */
  private collide(earlier: readonly Phase[], later: readonly Phase[]): boolean {
    const { globals } = this.kernel;
    const written = writtenBy(earlier);
    const touched = new Set([...readBy(later), ...writtenBy(later)]);
    if (!this.memory.bindings.some(({ aliased }) => aliased)) {
      return globals.some((array) => written.has(array) && touched.has(array));
    }
    return globals.some((array) => written.has(array)) && globals.some((array) => touched.has(array));
  }
}

/** Whether the loop over slices can end where its limit says: the limit is no more than their count. */
function endsLoop(limit: Index, { count }: Var): boolean {
  return range(limit)[1] <= count;
}
