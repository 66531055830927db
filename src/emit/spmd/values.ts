/** The arithmetic of one work item: loads, then named values in the order of the phase's steps, then stores. */
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
import { isSecond, type LoadNode, otherHalf, pairOf } from './accesses.ts';
import type { Slot } from './items.ts';
import type { Memory } from './memory.ts';
import { width } from './print.ts';
import type { Names, Scope } from './scope.ts';
import { binary, constant, type Expression, name, unary } from './tree.ts';

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

/** Writes the statements of one item. */
export class Item {
  private readonly phase: PhaseValues;
  private readonly slot: Slot;
  private readonly scope: Scope;
  private readonly type: ElementType;
  private readonly memory: Memory;
  private readonly names: Names;
  private readonly known = new Map<Real, Expression>();
  private readonly read = new Map<string, string>();

  constructor(
    phase: PhaseValues,
    slot: Slot,
    scope: Scope,
    type: ElementType,
    tools: { readonly memory: Memory; readonly names: Names },
  ) {
    this.phase = phase;
    this.slot = slot;
    this.scope = scope;
    this.type = type;
    this.memory = tools.memory;
    this.names = tools.names;
  }

  /** Reads data; tables are read where they are needed. */
  loads(): void {
    for (const node of this.phase.loads) if (node.array.space !== 'table') this.load(node);
  }

  compute(): void {
    for (const node of this.phase.operations) this.operation(node);
  }

  /** Gives each result a name, for stores that stand elsewhere. */
  keep(): void {
    for (const node of new Set(this.phase.stores.map(({ value }) => value))) {
      if (node.op !== 'const') this.known.set(node, this.named('s', this.expression(node)));
    }
  }

  write(): void {
    const { memory, slot, scope } = this;
    const pending = new Map<string, Store>();
    for (const store of this.phase.stores) {
      const { array } = store;
      const at = substitute(store.index, slot.at);
      const target = { op: 'store', array, block: store.block && substitute(store.block, slot.at) } as const;
      if (!memory.valueType(array).pair) {
        scope.statements.push({ ...target, at, value: this.expression(store.value) });
        continue;
      }
      // The halves of a pair stand anywhere among the stores: written when both are there.
      const mate = pending.get(place(array.name, otherHalf(store.index)));
      if (!mate) {
        pending.set(place(array.name, store.index), store);
        continue;
      }
      const parts = isSecond(at) ? [mate.value, store.value] : [store.value, mate.value];
      const of = parts.map((part) => this.expression(part));
      const value = wholeOf(of[0]!, of[1]!) ?? ({ op: 'pair', type: array.type, of } as const);
      scope.statements.push({ ...target, at: pairOf(at), value });
    }
  }

  private load(node: LoadNode): Expression {
    const known = this.known.get(node);
    if (known) return known;
    const { scope } = this;
    const { array } = node;
    const type = this.memory.valueType(array);
    const at = substitute(node.index, this.slot.at);
    const where = type.pair ? pairOf(at) : at;
    const table = array.space === 'table';
    const key = place(`${array.name}${type.pair ? '.pair' : ''}`, where);
    let found = table ? scope.find(key)?.name : this.read.get(key);
    if (found === undefined) {
      found = this.names.fresh(type.pair ? 'z' : 'x');
      scope.statements.push(constant(found, type, { op: 'load', array, at: where }));
      // Tables do not change: what one item has read serves the next.
      if (table) scope.remember(key, { name: found, wide: false });
      else this.read.set(key, found);
    }
    const result: Expression = type.pair
      ? { op: 'member', member: isSecond(at) ? 'y' : 'x', of: [name(found)] }
      : name(found);
    this.known.set(node, result);
    return result;
  }

  private expression(node: Real): Expression {
    const known = this.known.get(node);
    if (known) return known;
    if (node.op === 'load') return this.load(node);
    if (node.op !== 'const') return this.operation(node);
    return {
      op: 'real',
      value: this.type === 'f32' ? exact.toSingle(node.value) : exact.toNumber(node.value),
      type: this.type,
    };
  }

  private operation(node: Real): Expression {
    const known = this.known.get(node);
    if (known) return known;
    const whole = this.combine(node);
    const result = this.phase.uses.get(node) === 1 && width(whole) <= LINE ? whole : this.named('v', whole);
    this.known.set(node, result);
    return result;
  }

  private named(prefix: string, value: Expression): Expression {
    const fresh = this.names.fresh(prefix);
    this.scope.statements.push(constant(fresh, { type: this.type, pair: false }, value));
    return name(fresh);
  }

  private combine(node: Real): Expression {
    switch (node.op) {
      case 'neg':
        return unary('-', this.expression(node.a));
      case 'add':
        return binary('+', this.expression(node.a), this.expression(node.b));
      case 'sub':
        return binary('-', this.expression(node.a), this.expression(node.b));
      case 'mul':
        return binary('*', this.expression(node.a), this.expression(node.b));
      default:
        throw new RangeError(`${node.op} is for the lanes of a vector.`);
    }
  }
}

/** A pair that goes out as it was read. */
function wholeOf(re: Expression, im: Expression): Expression | undefined {
  if (re.op !== 'member' || im.op !== 'member' || re.member !== 'x' || im.member !== 'y') return undefined;
  const [a, b] = [re.of[0]!, im.of[0]!];
  return a.op === 'name' && b.op === 'name' && a.name === b.name ? a : undefined;
}

function place(array: string, at: Index): string {
  return `${array}|${indexKey(at)}`;
}
