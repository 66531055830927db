/**
 * A kernel → the body of one entry point, statement by statement, in the words of a dialect.
 *
 * Each phase becomes the items of one thread; each exchange a barrier that all threads of the group reach: what not
 * every thread does stands under a condition, and nobody leaves early.
 */
import { type Index, type Kernel, type Phase, type Real, sub, substitute, type Var, variable } from '../../ir/index.ts';
import { readBy, type Turn, turnOf, writtenBy } from './accesses.ts';
import type { Dialect } from './dialect.ts';
import { type Grid, grid, groupsOf } from './grid.ts';
import { Integers } from './integers.ts';
import { type Slot, share } from './items.ts';
import { Memory } from './memory.ts';
import type { SpmdOptions, SpmdProgram } from './program.ts';
import { Names, Scope } from './scope.ts';
import { ItemPrinter, PhaseValues } from './values.ts';

export interface Lowered extends Pick<SpmdProgram, 'entry' | 'threads'> {
  readonly grid: Grid;
  /** Blocks of a group. */
  readonly blocks: number;
  readonly memory: Memory;
  /** Statements; they use `group`, `t` and, for each global, the names that `memory` gives. */
  readonly lines: readonly string[];
}

/**
 * @throws RangeError where the kernel cannot be said in the language: too many groups, indices that are too large, an
 * exchange that the language does not have.
 */
export function lower(kernel: Kernel, options: SpmdOptions, dialect: Dialect): Lowered {
  return new Lowering(kernel, options, dialect).result();
}

/** Reals that a thread reads before it writes anything, where its items are short. */
const LOADS_AHEAD = 16;

class Lowering {
  private readonly kernel: Kernel;
  private readonly dialect: Dialect;
  private readonly threads: number;
  private readonly grid: Grid;
  private readonly blocks: number;
  private readonly names = new Names();
  private readonly integers: Integers;
  private readonly memory: Memory;
  private readonly top = new Scope();
  private readonly thread: Var;
  /** Positive where there is work for the group. */
  private readonly surplus: readonly Index[];
  /** Of each item, what it has read before it computes: names by value. */
  private readonly fetched = new Map<Slot, Map<Real, string>>();
  /** The first phase whose writes to globals no barrier has ordered yet. */
  private ordered = 0;

  constructor(kernel: Kernel, options: SpmdOptions, dialect: Dialect) {
    this.kernel = kernel;
    this.dialect = dialect;
    this.threads = options.threads ?? kernel.threads;
    if (!(Number.isInteger(this.threads) && this.threads > 0)) {
      throw new RangeError(`a group needs at least one thread, but ${this.threads} were given`);
    }
    this.blocks = kernel.cluster?.blocks ?? 1;
    const { maxGroups = 2 ** 31 - 1, launches } = options;
    this.grid = grid(kernel.group.count, Math.floor(maxGroups / this.blocks), launches);
    this.integers = new Integers(dialect, this.names);
    this.memory = new Memory(kernel, dialect, options);
    this.thread = variable('t', this.threads);
    this.top.introduce(kernel.group, 'group');
    this.top.introduce(this.thread, 't');
    if (kernel.cluster) {
      if (!dialect.blockCopy) throw new RangeError('this language has no clusters of blocks');
      this.top.introduce(kernel.cluster.rank, 'rank');
    }
    for (const { name, start } of this.memory.offsets) this.top.introduce(start, `${name}_start`);
    const launched = this.grid.launches * groupsOf(this.grid);
    if (launched > kernel.group.count) {
      const number = variable('group', launched);
      this.top.introduce(number, 'group');
      this.surplus = [sub(kernel.group.count, number)];
    } else this.surplus = [];
  }

  result(): Lowered {
    const { phases, name, shared } = this.kernel;
    if (this.startsOutside) this.top.lines.push(this.dialect.begun!.say);
    if (shared.some(({ half }) => half !== undefined)) this.inTurns();
    else {
      phases.forEach((phase, n) => {
        const scope = new Scope(this.top);
        this.headline(n);
        this.phase(phase, scope);
        this.top.lines.push(...scope.lines);
        if (n < phases.length - 1) this.exchange(n);
      });
    }
    const entry = this.memory.name(name);
    return {
      memory: this.memory,
      lines: this.top.lines,
      entry,
      threads: this.threads,
      grid: this.grid,
      blocks: this.blocks,
    };
  }

  /**
   * Whether the first phase already writes into other blocks, and nothing that it may read: nothing of theirs can be in the
   * way, but they must be there.
   */
  private get startsOutside(): boolean {
    const [first, ...more] = this.kernel.phases as [Phase, ...Phase[]];
    return more.length > 0 && first.stores.some(({ block }) => block) && !this.rereads(first);
  }

  private headline(n: number): void {
    this.top.lines.push('', `// Phase ${n + 1} of ${this.kernel.phases.length}`);
  }

  /**
   * Where shared memory holds one half of the data at a time: a phase has computed everything before it writes anything,
   * and the next one has read both halves before it computes.
   */
  private inTurns(): void {
    const { phases } = this.kernel;
    const scope = this.top;
    const everything = phases.map((phase) => {
      const values = new PhaseValues(phase);
      const { slots, aliases } = share(phase, this.thread, this.threads, values.operations.length, true);
      for (const alias of aliases) scope.introduce(alias, 't');
      for (const slot of slots) this.fetched.set(slot, new Map());
      return { values, slots };
    });
    everything.forEach(({ values, slots }, n) => {
      this.headline(n);
      const next = everything[n + 1];
      if (!next) {
        for (const slot of slots) this.item(values, slot, scope);
        return;
      }
      const writes = this.compute(values, slots, scope);
      for (const turn of [0, 1] as const) {
        // The half that was there before has been read by all.
        if (n === 0 && turn === 0 && this.startsOutside) scope.lines.push(this.dialect.begun!.wait);
        else if (n > 0 || turn > 0 || phases[0]!.stores.some(({ block }) => block)) this.exchange(n);
        for (const write of writes) write(turn);
        this.exchange(n);
        for (const slot of next.slots) this.fetch(next.values, slot, turn, scope);
      }
    });
  }

  /** Reads what an item needs of one half. */
  private fetch({ loads }: PhaseValues, slot: Slot, turn: Turn, scope: Scope): void {
    const { dialect, memory, integers } = this;
    const type = { type: this.kernel.precision, pair: false };
    const names = this.fetched.get(slot)!;
    const conditional = slot.conditions.length + this.surplus.length > 0;
    const wanted = loads.filter(({ array, index }) => turnOf(array, index) === turn);
    for (const node of wanted) {
      const name = this.names.fresh('x');
      names.set(node, name);
      if (conditional) scope.lines.push(dialect.declareVariable(name, type));
    }
    this.where(slot, scope, (inside) => {
      for (const node of wanted) {
        const text = memory.load(node.array, substitute(node.index, slot.at), integers, inside);
        const name = names.get(node)!;
        inside.lines.push(conditional ? `${name} = ${text};` : dialect.declareValue(name, text, type));
      }
    });
  }

  private phase(phase: Phase, scope: Scope): void {
    const values = new PhaseValues(phase);
    const { slots, loop, aliases } = share(phase, this.thread, this.threads, values.operations.length);
    for (const alias of aliases) scope.introduce(alias, 't');
    if (loop) {
      const inner = new Scope(scope);
      const counter = this.names.fresh('round');
      inner.introduce(loop.counter, counter);
      for (const slot of slots) this.item(values, slot, inner);
      scope.block(this.dialect.loop(counter, loop.rounds), inner);
    } else if (phase.readsFirst) this.readsFirst(phase, values, slots, scope);
    else this.items(values, slots, scope, phase.repeatable);
  }

  /** One item after another; where it makes no difference, several short ones read before they write. */
  private items(values: PhaseValues, slots: readonly Slot[], scope: Scope, repeatable: boolean): void {
    const together = repeatable ? Math.max(1, Math.floor(LOADS_AHEAD / Math.max(1, values.loads.length))) : 1;
    for (let at = 0; at < slots.length; ) {
      let next = at + 1;
      const free = (n: number) => n < slots.length && slots[n]!.conditions.length === 0;
      if (free(at) && this.surplus.length === 0) while (next < at + together && free(next)) next++;
      const items = slots.slice(at, next);
      if (items.length === 1) this.item(values, items[0]!, scope);
      else for (const write of this.compute(values, items, scope)) write();
      at = next;
    }
  }

  /** Reads, computes and writes. */
  private item(values: PhaseValues, slot: Slot, scope: Scope): void {
    this.where(slot, scope, (inside) => {
      const item = this.printer(values, slot, inside);
      item.loads();
      item.compute();
      item.write(inside, (node) => item.value(node));
    });
  }

  /** Whether a phase may read what it writes in a global. */
  private rereads(phase: Phase): boolean {
    const { globals } = this.kernel;
    return (
      globals.some((array) => readBy([phase]).has(array)) && globals.some((array) => writtenBy([phase]).has(array))
    );
  }

  /** Every item reads before any writes, of all threads: the values wait in registers. */
  private readsFirst(phase: Phase, values: PhaseValues, slots: readonly Slot[], scope: Scope): void {
    const writes = this.compute(values, slots, scope);
    const reach = phase.exchange === 'cluster' ? 'cluster' : 'group';
    if (phase === this.kernel.phases[0] && this.startsOutside) scope.lines.push(this.dialect.begun!.wait);
    else if (this.threads > 1 || reach === 'cluster') {
      scope.lines.push(this.dialect.barrier({ scope: reach, globals: this.rereads(phase), readsOnly: true }));
    }
    for (const write of writes) write();
  }

  /** Prepares all items and returns what writes each one. */
  private compute(values: PhaseValues, slots: readonly Slot[], scope: Scope): ((turn?: Turn) => void)[] {
    return slots.map((slot) => {
      const kept = new Map<Real, string>();
      const conditional = slot.conditions.length + this.surplus.length > 0;
      if (conditional) {
        for (const { value } of values.stores) {
          if (value.op === 'const' || kept.has(value)) continue;
          const name = this.names.fresh('s');
          scope.lines.push(this.dialect.declareVariable(name, { type: this.kernel.precision, pair: false }));
          kept.set(value, name);
        }
      }
      let item!: ItemPrinter;
      this.where(slot, scope, (inside) => {
        item = this.printer(values, slot, inside);
        item.loads();
        item.compute();
        item.keep(kept);
      });
      return (turn) =>
        this.where(slot, scope, (inside) => item.write(inside, (node) => kept.get(node) ?? item.value(node), turn));
    });
  }

  private printer(values: PhaseValues, slot: Slot, scope: Scope): ItemPrinter {
    const { dialect, integers, memory, names } = this;
    const tools = { dialect, integers, memory, names };
    return new ItemPrinter(values, slot, scope, this.kernel.precision, tools, this.fetched.get(slot));
  }

  /** Statements that run where there is an item. */
  private where(slot: Slot, scope: Scope, print: (inside: Scope) => void): void {
    const tests = [...this.surplus, ...slot.conditions]
      .map((condition) => this.integers.positive(condition, scope))
      .filter((test) => test !== undefined);
    if (tests.length === 0) return print(scope);
    const inside = new Scope(scope);
    print(inside);
    scope.block(`if (${tests.join(' && ')})`, inside);
  }

  /** The barrier after a phase. */
  private exchange(after: number): void {
    const { kernel, threads } = this;
    const { exchange: scope } = kernel.phases[after]!;
    if (scope === 'slice') throw new RangeError('threads share out all items of a phase: they have no slices');
    if (scope === 'lane' || (threads === 1 && scope !== 'cluster')) return;
    const globals = this.collide(kernel.phases.slice(this.ordered, after + 1), kernel.phases.slice(after + 1));
    if (globals) this.ordered = after + 1;
    this.top.lines.push('', this.dialect.barrier({ scope, globals }));
  }

  /**
   * Whether what some phases write to globals may be read or written again by others. (What they read has arrived when
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
