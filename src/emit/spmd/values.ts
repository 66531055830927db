/** The arithmetic of one work item as text: loads, then named values in the order of the phase's steps, then stores. */
import {
  type ElementType,
  type Index,
  indexKey,
  type Phase,
  type Real,
  reachable,
  type Store,
  substitute,
} from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import { isSecond, type LoadNode, otherHalf, pairOf, type Turn, turnOf } from './accesses.ts';
import type { Dialect } from './dialect.ts';
import type { Integers } from './integers.ts';
import type { Slot } from './items.ts';
import { elementOf, type Memory } from './memory.ts';
import type { Names, Scope } from './scope.ts';

/** An expression in the text and how tightly it binds: names and literals, products, sums. */
interface Expression {
  readonly text: string;
  readonly binds: 3 | 2 | 1;
}

/** Expressions longer than this are given a name. */
const LINE = 56;

/** The values of a phase, prepared once for all its items. */
export class PhaseValues {
  readonly stores: readonly Store[];
  readonly loads: readonly LoadNode[];
  readonly operations: readonly Real[];
  readonly uses: ReadonlyMap<Real, number>;

  constructor(phase: Phase) {
    this.stores = phase.stores;
    const results = phase.stores.map((store) => store.value);
    const needed = new Set(reachable(results));
    const nodes = reachable([...(phase.steps ?? []).flat().filter((value) => needed.has(value)), ...results]);
    this.loads = nodes.filter((node) => node.op === 'load') as LoadNode[];
    this.operations = nodes.filter((node) => node.op !== 'load' && node.op !== 'const');
    const uses = new Map<Real, number>();
    const use = (node: Real) => uses.set(node, (uses.get(node) ?? 0) + 1);
    results.forEach(use);
    for (const node of nodes) {
      if ('a' in node) use(node.a);
      if ('b' in node) use(node.b);
    }
    this.uses = uses;
  }
}

/** Prints one item. */
export class ItemPrinter {
  private readonly phase: PhaseValues;
  private readonly slot: Slot;
  private readonly scope: Scope;
  private readonly type: ElementType;
  private readonly dialect: Dialect;
  private readonly integers: Integers;
  private readonly memory: Memory;
  private readonly names: Names;
  private readonly known = new Map<Real, Expression>();
  private readonly read = new Map<string, string>();

  constructor(
    phase: PhaseValues,
    slot: Slot,
    scope: Scope,
    type: ElementType,
    tools: { dialect: Dialect; integers: Integers; memory: Memory; names: Names },
    /** Names of what has been read already. */
    fetched: ReadonlyMap<Real, string> = new Map(),
  ) {
    this.phase = phase;
    this.slot = slot;
    this.scope = scope;
    this.type = type;
    this.dialect = tools.dialect;
    this.integers = tools.integers;
    this.memory = tools.memory;
    this.names = tools.names;
    for (const [node, text] of fetched) this.known.set(node, { text, binds: 3 });
  }

  /** Reads data; tables are read where they are needed. */
  loads(): void {
    for (const node of this.phase.loads) if (node.array.space !== 'table') this.load(node);
  }

  compute(): void {
    for (const node of this.phase.operations) this.operation(node);
  }

  /** The text of a result. */
  value(node: Real): string {
    return this.expression(node).text;
  }

  /** Assigns the results to variables, and returns their names. */
  keep(variables: ReadonlyMap<Real, string>): void {
    for (const [node, name] of variables) this.scope.lines.push(`${name} = ${this.value(node)};`);
  }

  /** Writes the results, or those of a turn. @param value the text of each. */
  write(scope: Scope, value: (node: Real) => string, turn?: Turn): void {
    const { dialect, integers, memory, slot } = this;
    const pending = new Map<string, Store>();
    for (const store of this.phase.stores) {
      const { array } = store;
      if (turnOf(array, store.index) !== turn) continue;
      const at = substitute(store.index, slot.at);
      const target = { array, block: store.block && substitute(store.block, slot.at) };
      if (!memory.valueType(array).pair) {
        scope.lines.push(memory.store(target, at, value(store.value), integers, scope));
        continue;
      }
      // The halves of a pair stand anywhere among the stores: written when both are there.
      const mate = pending.get(place(array.name, otherHalf(store.index)));
      if (!mate) {
        pending.set(place(array.name, store.index), store);
        continue;
      }
      const [re, im] = isSecond(at) ? [mate.value, store.value] : [store.value, mate.value];
      const parts = [value(re), value(im)] as const;
      const pair = wholeOf(...parts) ?? dialect.pair(...parts, elementOf(array));
      scope.lines.push(memory.store(target, pairOf(at), pair, integers, scope));
    }
  }

  private load(node: LoadNode): Expression {
    const known = this.known.get(node);
    if (known) return known;
    const { scope } = this;
    const type = this.memory.valueType(node.array);
    const at = substitute(node.index, this.slot.at);
    const where = type.pair ? pairOf(at) : at;
    const table = node.array.space === 'table';
    const key = place(`${node.array.name}${type.pair ? '.pair' : ''}`, where);
    let name = table ? scope.find(key)?.text : this.read.get(key);
    if (name === undefined) {
      const text = this.memory.load(node.array, where, this.integers, scope);
      name = this.names.fresh(type.pair ? 'z' : 'x');
      scope.lines.push(this.dialect.declareValue(name, text, type));
      // Tables do not change: what one item has read serves the next.
      if (table) scope.remember(key, { text: name, wide: false });
      else this.read.set(key, name);
    }
    const result: Expression = { text: type.pair ? `${name}.${isSecond(at) ? 'y' : 'x'}` : name, binds: 3 };
    this.known.set(node, result);
    return result;
  }

  private expression(node: Real): Expression {
    if (node.op === 'load') return this.load(node);
    if (node.op === 'const') {
      const number = this.type === 'f32' ? exact.toSingle(node.value) : exact.toNumber(node.value);
      return { text: this.dialect.literal(number, this.type), binds: number < 0 ? 2 : 3 };
    }
    return this.known.get(node) ?? this.operation(node);
  }

  private operation(node: Real): Expression {
    const known = this.known.get(node);
    if (known) return known;
    let result = this.combine(node);
    const single = this.phase.uses.get(node) === 1;
    if (!single || result.text.length > LINE) {
      const name = this.names.fresh('v');
      this.scope.lines.push(this.dialect.declareValue(name, result.text, { type: this.type, pair: false }));
      result = { text: name, binds: 3 };
    }
    this.known.set(node, result);
    return result;
  }

  private combine(node: Real): Expression {
    if (node.op === 'const' || node.op === 'load') return this.expression(node);
    const operand = (of: Real, least: number): string => {
      const { text, binds } = this.expression(of);
      return binds < least ? `(${text})` : text;
    };
    if (node.op === 'neg') return { text: `-${operand(node.a, 3)}`, binds: 2 };
    if (!('b' in node)) throw new RangeError(`${node.op} is for the lanes of a vector.`);
    // The order of operations is part of the result: the right operand keeps its parentheses.
    if (node.op === 'mul') return { text: `${operand(node.a, 2)} * ${operand(node.b, 3)}`, binds: 2 };
    return { text: `${operand(node.a, 1)} ${node.op === 'add' ? '+' : '-'} ${operand(node.b, 2)}`, binds: 1 };
  }
}

/** The name of a pair that goes out as it was read. */
function wholeOf(re: string, im: string): string | undefined {
  const name = /^(\w+)\.x$/.exec(re)?.[1];
  return name !== undefined && im === `${name}.y` ? name : undefined;
}

function place(array: string, at: Index): string {
  return `${array}|${indexKey(at)}`;
}
