/** The arithmetic of one work item: loads, then named values in the order of the phase's steps, then stores. */
import {
  add,
  dependencesOf,
  type ElementType,
  EVERYWHERE,
  type FoldLoop,
  type FoldNode,
  type Guard,
  guardAt,
  type LoadNode,
  type LoopDependence,
  operandsOf,
  type Phase,
  type Real,
  range,
  reachable,
  type Store,
  Substitution,
  simplified,
  sub,
  type Var,
} from '../../../ir/index.ts';
import * as exact from '../../../numeric/exact.ts';
import { width } from '../tree/print.ts';
import { NameScope, type Names } from '../tree/scope.ts';
import {
  binary,
  cast,
  chain,
  declareConstant,
  type Expression,
  integer,
  name,
  type Statement,
  unary,
  zeroValue,
} from '../tree/tree.ts';
import { accessKey, isSecond, otherHalf, pairIndex } from './accesses.ts';
import type { Slot } from './items.ts';
import type { KernelArrays } from './memory.ts';

/** Expressions longer than this are given a name. */
const LONGEST_UNNAMED = 56;

/** The values of a phase, prepared once for all its items. */
export class PhaseValues {
  readonly stores: readonly Store[];
  /** Loads, and below operations, that are executed once for each item. */
  readonly loads: readonly LoadNode[];
  readonly operations: readonly Real[];
  readonly uses: ReadonlyMap<Real, number>;
  /** The fold loops that each value belongs to. */
  readonly dependences: ReadonlyMap<Real, LoopDependence>;
  /** Folds over one variable share a loop, so that values they have in common are loaded once per round. */
  readonly together: ReadonlyMap<Var, ReadonlySet<FoldLoop>>;
  /** The values of each fold that are needed. */
  readonly results: ReadonlyMap<FoldLoop, readonly FoldNode[]>;

  constructor(phase: Phase) {
    this.stores = phase.stores;
    const stored = phase.stores.map((store) => store.value);
    const needed = new Set(reachable(stored));
    const nodes = reachable([...(phase.steps ?? []).flat().filter((value) => needed.has(value)), ...stored]);
    this.dependences = dependencesOf(nodes);
    const once = nodes.filter((node) => !this.dependences.has(node));
    this.loads = once.filter((node) => node.op === 'load') as LoadNode[];
    this.operations = once.filter((node) => node.op !== 'load' && node.op !== 'const');
    this.together = foldsByVariable(this.operations);
    const results = new Map<FoldLoop, FoldNode[]>();
    for (const node of nodes) {
      if (node.op === 'fold') results.set(node.loop, [...(results.get(node.loop) ?? []), node]);
    }
    this.results = results;
    const uses = new Map<Real, number>();
    const use = (node: Real) => uses.set(node, (uses.get(node) ?? 0) + 1);
    stored.forEach(use);
    for (const node of nodes) operandsOf(node).forEach(use);
    this.uses = uses;
  }
}

/**
 * Folds that may share a loop, by their variable. A fold that reads shared memory has a loop of its own: shared memory may hold real and
 * imaginary parts in turn, so two such folds may need different contents. A fold that needs the result of another one has its own loop,
 * too.
 */
function foldsByVariable(operations: readonly Real[]): Map<Var, Set<FoldLoop>> {
  const found = new Map<Var, Set<FoldLoop>>();
  for (const node of operations) {
    if (node.op !== 'fold') continue;
    const { over } = node.loop;
    const others = found.get(over) ?? new Set();
    found.set(over, others);
    const keepsItsOwn = reachable(operandsOf(node)).some((inner) => {
      const isShared = inner.op === 'load' && inner.array.space === 'shared';
      return isShared || (inner.op === 'fold' && others.has(inner.loop));
    });
    if (!keepsItsOwn) others.add(node.loop);
  }
  return found;
}

/** A frame of values that are known at one place: in an item, in one round of a loop, or in one of the folds that share the loop. */
interface Frame {
  /** The loop; undefined for an item. */
  readonly over?: Var;
  /** The fold whose carried values the values depend on, if any: folds in one loop each have their own. */
  readonly totals?: readonly Expression[];
  readonly scope: NameScope;
  readonly known: Map<Real, Expression>;
  /** Names of loaded values. */
  readonly read: Map<string, string>;
}

/** Writes the statements of one item. */
export class Item {
  private readonly phase: PhaseValues;
  private readonly at: Substitution;
  /** The stores whose guards can hold in this slot, and the values that these need; undefined if all values are needed. */
  private readonly stores: readonly Store[];
  private readonly needed: ReadonlySet<Real> | undefined;
  /** Outermost first. */
  private frames: readonly Frame[];
  private readonly type: ElementType;
  private readonly memory: KernelArrays;
  private readonly names: Names;

  constructor(
    phase: PhaseValues,
    slot: Slot,
    scope: NameScope,
    type: ElementType,
    tools: { readonly memory: KernelArrays; readonly names: Names },
  ) {
    this.phase = phase;
    this.at = new Substitution(slot.at);
    this.stores = phase.stores.filter((store) => this.guardOf(store) !== undefined);
    const all = this.stores.length === phase.stores.length;
    this.needed = all ? undefined : new Set(reachable(this.stores.map(({ value }) => value)));
    this.frames = [{ scope, known: new Map(), read: new Map() }];
    this.type = type;
    this.memory = tools.memory;
    this.names = tools.names;
  }

  /** Loads data. Tables are read later, where their values are needed. */
  loads(): void {
    for (const node of this.phase.loads) {
      if (node.array.space !== 'table' && this.needed?.has(node) !== false) this.expression(node);
    }
  }

  compute(): void {
    for (const node of this.phase.operations) if (this.needed?.has(node) !== false) this.expression(node);
  }

  /** Gives each result a name, for stores that will be moved away. */
  keep(): void {
    const [frame] = this.frames as [Frame];
    for (const node of new Set(this.stores.map(({ value }) => value))) {
      if (node.op !== 'const') frame.known.set(node, this.named('s', this.expression(node), frame));
    }
  }

  write(): void {
    const { memory } = this;
    const [{ scope }] = this.frames as [Frame];
    const pending = new Map<string, Store>();
    for (const store of this.stores) {
      const { array } = store;
      const guard = this.guardOf(store);
      if (!guard) continue;
      const index = this.at.apply(store.index);
      const target = { op: 'store', array, block: store.block && this.at.apply(store.block) } as const;
      if (!memory.valueType(array).pair) {
        appendGuarded(guard, { ...target, at: index, value: this.expression(store.value) }, scope);
        continue;
      }
      // The parts of a pair may be anywhere among the stores: the pair is written when both have come.
      const mate = pending.get(accessKey({ ...store, index: otherHalf(store.index) }));
      if (!mate) {
        pending.set(accessKey(store), store);
        continue;
      }
      const parts = isSecond(index) ? [mate.value, store.value] : [store.value, mate.value];
      const of = parts.map((part) => this.expression(part));
      const value = unchangedPair(of[0]!, of[1]!) ?? ({ op: 'pair', type: this.type, of } as const);
      appendGuarded(guard, { ...target, at: pairIndex(index), value }, scope);
    }
  }

  /** The guard of a store in this slot; undefined if it never holds. */
  private guardOf({ guard }: Store): Guard | undefined {
    return simplified(guardAt(guard ?? EVERYWHERE, this.at));
  }

  /** The frame in which a value is computed: the outermost that has what it depends on. */
  private frameOf(node: Real): Frame {
    const dependence = this.phase.dependences.get(node);
    if (!dependence) return this.frames[0]!;
    const { rounds, carried } = dependence;
    return this.frames.findLast(({ over, totals }) => over && (totals ? carried : rounds).has(over)) ?? this.frames[0]!;
  }

  private expression(node: Real): Expression {
    const frame = this.frameOf(node);
    const known = node.op === 'carried' ? frame.totals![node.slot] : frame.known.get(node);
    if (known) return known;
    if (node.op === 'const') {
      const value = this.type === 'f32' ? exact.toSingle(node.value) : exact.toNumber(node.value);
      return { op: 'real', value, type: this.type };
    }
    const result = node.op === 'load' ? this.load(node, frame) : this.operation(node, frame);
    frame.known.set(node, result);
    return result;
  }

  private load(node: LoadNode, frame: Frame): Expression {
    const { scope, read } = frame;
    const { array } = node;
    const guard = simplified(guardAt(node.guard ?? EVERYWHERE, this.at));
    // The zero gets a name, because WGSL rejects constant expressions that overflow.
    if (!guard) return this.named('x', zeroValue({ type: this.type, pair: false }), frame);
    const type = this.memory.computedType(array);
    const index = this.at.apply(node.index);
    const where = type.pair ? pairIndex(index) : index;
    const table = array.space === 'table';
    const key = accessKey({ array, index: where, guard });
    let found = table ? scope.find(key)?.name : read.get(key);
    if (found === undefined) {
      found = this.names.fresh(type.pair ? 'z' : 'x');
      const value: Expression = { op: 'load', array, at: where };
      const condition = conditionOf(guard);
      const guarded: Expression = condition ? { op: 'select', of: [condition, value, zeroValue(type)] } : value;
      scope.statements.push(declareConstant(found, type, guarded));
      // Tables do not change, so later items can use the loaded value.
      if (table) scope.remember(key, { name: found, wide: false });
      else read.set(key, found);
    }
    return type.pair ? { op: 'member', member: isSecond(index) ? 'y' : 'x', of: [name(found)] } : name(found);
  }

  private operation(node: Real, frame: Frame): Expression {
    if (node.op === 'fold') return this.fold(node, frame);
    const whole = this.combine(node);
    return this.phase.uses.get(node) === 1 && width(whole) <= LONGEST_UNNAMED ? whole : this.named('v', whole, frame);
  }

  private named(prefix: string, value: Expression, { scope }: Frame): Expression {
    const fresh = this.names.fresh(prefix);
    scope.statements.push(declareConstant(fresh, { type: this.type, pair: false }, value));
    return name(fresh);
  }

  /** Writes the loop of a fold and of all folds that share it. */
  private fold(node: FoldNode, frame: Frame): Expression {
    const { together, results } = this.phase;
    const { over } = node.loop;
    const isNeeded = (loop: FoldLoop) => results.get(loop)!.some((result) => this.needed?.has(result) !== false);
    const shared = together.get(over);
    const loops = frame === this.frames[0] && shared?.has(node.loop) ? [...shared].filter(isNeeded) : [node.loop];
    const totals = loops.map((loop) => this.totals(loop, frame));
    const scope = new NameScope(frame.scope);
    const { frames } = this;
    const round = { over, scope, known: new Map(), read: new Map() };
    const outer = [...frames.slice(0, frames.indexOf(frame) + 1), round];
    loops.forEach((loop, n) => {
      this.frames = [...outer, { over, totals: totals[n]!, scope, known: new Map(), read: new Map() }];
      this.round(loop, this.frames.at(-1)!);
    });
    this.frames = frames;
    const counter = this.names.fresh('round');
    const { statements: body } = scope;
    frame.scope.statements.push({ op: 'loop', counter, variable: over, rounds: over.count, body });
    return frame.known.get(node)!;
  }

  /** Declares the results of a fold with their initial values. */
  private totals(loop: FoldLoop, frame: Frame): Expression[] {
    const type = { type: this.type, pair: false };
    const totals = loop.first.map((first) => {
      const value = this.expression(first);
      const total = this.names.fresh('v');
      frame.scope.statements.push({ op: 'declare', name: total, type, constant: false, value });
      return name(total);
    });
    for (const result of this.phase.results.get(loop)!) frame.known.set(result, totals[result.slot]!);
    return totals;
  }

  /** Writes one round of a fold. All carried values change at once. */
  private round({ next }: FoldLoop, frame: Frame): void {
    const { statements } = frame.scope;
    const assign = (value: Expression, slot: number) =>
      statements.push({ op: 'assign', to: frame.totals![slot]!, value });
    const [only] = next as [Real];
    const isMadeHere = operandsOf(only).length > 0 && only.op !== 'fold' && this.frameOf(only) === frame;
    if (next.length === 1) return void assign(isMadeHere ? this.combine(only) : this.expression(only), 0);
    const values = next.map((value) => {
      const made = this.expression(value);
      return made.op === 'name' && value.op !== 'carried' ? made : this.named('v', made, frame);
    });
    values.forEach(assign);
  }

  private combine(node: Real): Expression {
    const of = operandsOf(node).map((operand) => this.expression(operand)) as [Expression, Expression];
    switch (node.op) {
      case 'neg':
        return unary('-', of[0]);
      case 'add':
      case 'sub':
      case 'mul':
      case 'div':
        return binary(OPERATORS[node.op], ...of);
      case 'select': {
        const [left, right, a, b] = of as unknown as [Expression, Expression, Expression, Expression];
        return { op: 'select', of: [binary(COMPARISONS[node.comparison], left, right), a, b] };
      }
      case 'where': {
        const guard = simplified(guardAt(node.guard, this.at));
        const condition = guard && conditionOf(guard);
        return condition ? { op: 'select', of: [condition, ...of] } : of[guard ? 0 : 1];
      }
      case 'swap':
      case 'conj':
      case 'const':
      case 'load':
      case 'carried':
      case 'fold':
        throw new RangeError(`${node.op} is no operation on values of one item.`);
      case 'exponent':
      case 'inversePower':
        return exponentBits(node.op, of[0], this.type);
      default:
        return { op: 'math', name: node.op === 'exactFma' ? 'fma' : node.op, type: this.type, of };
    }
  }
}

/** The exponent of a real, or two to the power of the negative exponent, by its bits. */
function exponentBits(op: 'exponent' | 'inversePower', value: Expression, type: ElementType): Expression {
  const [digits, bias] = type === 'f32' ? [23, 127] : [20, 1023];
  const bits: Expression = { op: 'math', name: 'highBits', type, of: [value] };
  const biased = binary('>>', bits, integer(digits, 'unsigned'));
  if (op === 'exponent') return binary('-', cast({ type, pair: false }, biased), { op: 'real', value: bias, type });
  const high = binary('<<', binary('-', integer(2 * bias, 'unsigned'), biased), integer(digits, 'unsigned'));
  return { op: 'math', name: 'ofHighBits', type, of: type === 'f32' ? [high] : [high, integer(0, 'unsigned')] };
}

const OPERATORS = { add: '+', sub: '-', mul: '*', div: '/' } as const;
const COMPARISONS = { less: '<', lessEqual: '<=', equal: '==' } as const;

/** The condition of a guard; undefined if it always holds. */
function conditionOf(guard: Guard): Expression | undefined {
  const bounds = guard.map(({ index, from, to, outside }) => {
    const [low, high] = range(index);
    const sides: Expression[] = [];
    if (low < from) sides.push({ op: 'positive', value: outside ? sub(from, index) : add(index, 1 - from) });
    if (high >= to) sides.push({ op: 'positive', value: outside ? add(index, 1 - to) : sub(to, index) });
    return chain(outside ? '||' : '&&', sides);
  });
  return bounds.length > 0 ? chain('&&', bounds) : undefined;
}

/** Appends a statement, under the condition of a guard if it has one. */
function appendGuarded(guard: Guard, statement: Statement, { statements }: NameScope): void {
  const condition = conditionOf(guard);
  statements.push(condition ? { op: 'if', condition, body: [statement] } : statement);
}

/** The loaded pair itself, if both parts are stored unchanged. */
function unchangedPair(re: Expression, im: Expression): Expression | undefined {
  if (re.op !== 'member' || im.op !== 'member' || re.member !== 'x' || im.member !== 'y') return undefined;
  const [a, b] = [re.of[0]!, im.of[0]!];
  return a.op === 'name' && b.op === 'name' && a.name === b.name ? a : undefined;
}
