/**
 * IR → WebAssembly: one function `run(first, last, shared, …globals, …tables)` that runs groups first … last − 1.
 *
 * The lanes of a vector are the threads in lockstep; all other threads of a group become iterations of loops, which end
 * where the exchange begins.
 */
import {
  type ArrayRef,
  type BinaryOp,
  bytesOf,
  dependsOn,
  type Guard,
  guardAt,
  type Index,
  index,
  joined,
  type Kernel,
  operandsOf,
  type Phase,
  type Real,
  reachable,
  Substitution,
  type Var,
  variable,
} from '../../ir/index.ts';
import type { Exact } from '../../numeric/exact.ts';
import * as exact from '../../numeric/exact.ts';
import { type Group, type LoadNode, pointerKey } from './accesses.ts';
import { Addresses, type Pointers } from './addresses.ts';
import { type BodyCode, loadKey, prepareBody } from './bodies.ts';
import { encodeModule, FunctionAssembler } from './encoder.ts';
import type { VectorArithmetic } from './multiply-adds.ts';
import { type Body, type Node, schedule } from './schedule.ts';
import { withoutSums } from './sums.ts';
import { type Address, VectorUnit } from './vector.ts';

/** Bytes of a vector register. */
const VECTOR_BYTES = 16;

export interface WasmKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of shared memory that a run needs at its `shared` argument, 64-byte aligned. */
  readonly sharedBytes: number;
  /** Names of the pointer parameters after (first, last, shared), in order. */
  readonly parameters: readonly string[];
}

export interface MemoryLimits {
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

export function emitWasm(kernel: Kernel, memory: MemoryLimits, vectors: VectorArithmetic = {}): WasmKernel {
  const lowering = new Lowering(withoutSums(kernel), vectors);
  const body = lowering.run();
  const parameters = parametersOf(kernel);
  return {
    bytes: encodeModule(body, FIXED_PARAMETERS + parameters.length, memory),
    sharedBytes: lowering.sharedBytes,
    parameters,
  };
}

/** What the caller passes after (first, last, shared). */
function parametersOf({ globals, tables, reverse }: Kernel): string[] {
  return [...(reverse ? ['reverse'] : []), ...[...globals, ...tables].map((array) => array.name)];
}

const FIRST = 0;
const LAST = 1;
const SHARED = 2;
const FIXED_PARAMETERS = 3;
/** Where a kernel runs both ways, which one. */
const REVERSE = FIXED_PARAMETERS;

/** A loop that phases stand in: the kernel's over its groups, or the one over the slices of a group. */
interface Around {
  readonly level: number;
  readonly counter: number;
  readonly slice?: Var;
}

/** What is known at one place in the loop tree. */
interface Scope {
  readonly level: number;
  /** The innermost loop's counter. */
  readonly counter: number;
  readonly pointers: Pointers;
  /** Loaded or computed values that do not change within the scope. */
  readonly values: ReadonlyMap<string, number>;
}

const COMPARISONS = { less: 'lt', lessEqual: 'le', equal: 'eq' } as const;
const EXACT = { exactAdd: 'add', exactSub: 'sub', exactMul: 'mul' } as const;

class Lowering {
  private readonly kernel: Kernel;
  private readonly vectors: VectorArithmetic;
  private readonly asm: FunctionAssembler;
  private readonly lanes: number;
  private readonly elementBytes: number;
  private readonly addresses: Addresses;
  private readonly group: number;
  /** What the bodies of the current phase do. */
  private readonly code = new Map<Body, BodyCode>();
  private current: Phase;
  private readonly constants = new Map<string, number>();
  /** The last bound that a counter was compared with in vain. */
  private never = 0;
  readonly sharedBytes: number;

  constructor(kernel: Kernel, vectors: VectorArithmetic) {
    this.kernel = kernel;
    this.vectors = vectors;
    this.elementBytes = kernel.precision === 'f32' ? 4 : 8;
    this.lanes = VECTOR_BYTES / this.elementBytes;
    const pointers = [...kernel.globals, ...kernel.tables];
    const parameters = FIXED_PARAMETERS + parametersOf(kernel).length;
    this.asm = new FunctionAssembler(parameters);
    const first = parameters - pointers.length;
    const bases = new Map(pointers.map((array, n) => [array as ArrayRef, { local: first + n, offset: 0 }]));
    let offset = 0;
    for (const array of kernel.shared) {
      bases.set(array, { local: SHARED, offset });
      offset += Math.ceil((array.length! * bytesOf(array.type)) / 64) * 64;
    }
    this.sharedBytes = offset;
    this.addresses = new Addresses(this.asm, bases);
    this.group = this.asm.local('i32');
    this.addresses.enter(kernel.group, 0, this.group);
    this.current = kernel.phases[0]!;
  }

  run(): Uint8Array {
    const { asm, group, kernel } = this;
    asm.block();
    asm.get(FIRST);
    asm.get(LAST);
    asm.op('i32.ge_s');
    asm.branchIf(0);
    asm.get(FIRST);
    asm.set(group);
    asm.loop();
    const around = { level: 0, counter: group };
    const reverse = joined(kernel.reverse ?? kernel.phases);
    joined(kernel.phases).forEach((phases, n) => {
      if (phases.length === 1) this.either(phases[0]!, reverse[n]![0]!, around);
      else this.slices(phases, reverse[n]!);
    });
    this.next(group, { local: LAST });
    asm.end();
    return asm.finish();
  }

  /** Slices one after another, each through all the phases. */
  private slices(phases: readonly Phase[], reverse: readonly Phase[]): void {
    const { asm } = this;
    const { variable: like, limit } = phases[0]!.loops[0]!;
    const mark = asm.mark();
    const around = { level: 1, counter: asm.local('i32'), slice: variable(like.name, like.count) };
    this.addresses.enter(around.slice, around.level, around.counter);
    const end = limit ? { local: this.least(limit, like.count) } : like.count;
    asm.i32(0);
    asm.set(around.counter);
    asm.loop();
    phases.forEach((phase, n) => this.either(phase, reverse[n]!, around));
    this.next(around.counter, end);
    asm.release(mark);
  }

  /** A phase, or what takes its place where the kernel runs the other way. */
  private either(phase: Phase, reverse: Phase, around: Around): void {
    if (phase === reverse) return this.phase(phase, around);
    const { asm } = this;
    asm.get(REVERSE);
    asm.if();
    this.phase(reverse, around);
    asm.else();
    this.phase(phase, around);
    asm.end();
  }

  private phase(phase: Phase, { level, counter, slice }: Around): void {
    this.current = phase;
    this.code.clear();
    const nodes = schedule(phase, this.lanes, slice);
    const mark = this.asm.mark();
    const pointers = new Map<string, number>();
    for (let outer = 0; outer <= level; outer++) {
      for (const { array, index } of this.prefixes(nodes, outer)) {
        if (this.addresses.levelOf(index) === outer) this.addresses.computed(pointers, array, index, outer);
      }
    }
    this.nodes(nodes, { level, counter, pointers, values: new Map() }, phase.repeatable);
    this.asm.release(mark);
  }

  private nodes(nodes: readonly Node[], scope: Scope, repeatable: boolean): void {
    for (const node of nodes) {
      const mark = this.asm.mark();
      if (node.kind === 'body') this.body(node, scope, repeatable);
      else this.inner(node, scope, repeatable);
      this.asm.release(mark);
    }
  }

  /** A loop, or a clip: both bring a new variable into scope. */
  private inner(node: Exclude<Node, Body>, outer: Scope, repeatable: boolean): void {
    const { asm } = this;
    const level = outer.level + 1;
    const counter = asm.local('i32');
    this.addresses.enter(node.variable, level, counter);
    const pointers = new Map(outer.pointers);
    const needed = this.prefixes(node.children, level).filter(({ index }) => this.addresses.levelOf(index) === level);
    if (node.kind === 'clip') {
      this.least(node.value, node.most, counter);
      for (const { array, index } of needed) this.addresses.computed(pointers, array, index, level);
      this.nodes(node.children, { level, counter, pointers, values: outer.values }, repeatable);
      return;
    }
    const walking: { local: number; bytes: number }[] = [];
    const jumping: typeof needed = [];
    for (const { array, index } of needed) {
      const own = index.terms.filter(({ atom }) => this.addresses.levelOfAtom(atom) === level);
      if (own.every(({ atom }) => atom === node.variable)) {
        const local = asm.local('i32');
        this.addresses.pointer(pointers, array, {
          constant: 0,
          terms: index.terms.filter((term) => !own.includes(term)),
        });
        asm.set(local);
        walking.push({ local, bytes: own[0]!.factor * bytesOf(array.type) });
        pointers.set(pointerKey(array, index), local);
      } else jumping.push({ array, index });
    }
    const dynamic = typeof node.trips !== 'number';
    const end = dynamic ? asm.local('i32') : undefined;
    asm.i32(0);
    asm.set(counter);
    if (dynamic) {
      this.addresses.index(node.trips as Index);
      asm.set(end!);
      asm.block();
      asm.get(end!);
      asm.op('i32.eqz');
      asm.branchIf(0);
    }
    asm.loop();
    for (const { array, index } of jumping) this.addresses.computed(pointers, array, index, level);
    const values = new Map(outer.values);
    this.hoist(node.children, { level, counter, pointers, values }, values);
    this.nodes(node.children, { level, counter, pointers, values }, repeatable);
    for (const { local, bytes } of walking) {
      asm.get(local);
      asm.i32(bytes);
      asm.op('i32.add');
      asm.set(local);
    }
    this.next(counter, end === undefined ? (node.trips as number) : { local: end });
    if (dynamic) asm.end();
  }

  /** The end of a loop: on to the next value of its counter, as long as that is below `end`. */
  private next(counter: number, end: number | { readonly local: number }): void {
    const { asm } = this;
    asm.get(counter);
    asm.i32(1);
    asm.op('i32.add');
    asm.tee(counter);
    if (typeof end === 'number') asm.i32(end);
    else asm.get(end.local);
    asm.op('i32.lt_s');
    asm.branchIf(0);
    asm.end();
  }

  /** A local that becomes the smaller one of an index and a number. */
  private least(value: Index, most: number, local = this.asm.local('i32')): number {
    const { asm } = this;
    this.addresses.index(value);
    asm.tee(local);
    asm.i32(most);
    asm.get(local);
    asm.i32(most);
    asm.op('i32.lt_s');
    asm.op('select');
    asm.set(local);
    return local;
  }

  /** Loads of loops further in that do not depend on them: done once here. */
  private hoist(children: readonly Node[], scope: Scope, values: Map<string, number>): void {
    if (children.every((child) => child.kind === 'body')) return;
    const visit = (node: Node): void => {
      if (node.kind !== 'body') return node.children.forEach(visit);
      const unit = this.unit(node);
      for (const group of new Set(this.codeOf(node).accesses.loads.values())) {
        const { access } = group;
        if (access.bases || access.guard || access.repeat !== 0 || this.addresses.levelOf(access.base) > scope.level)
          continue;
        const keys = group.members.map((member) => loadKey(member, node, access.stride));
        if (keys.every((key) => values.has(key))) continue;
        const locals = unit.load(group, this.addresses.of(group, scope.pointers, 0, unit.lanes));
        keys.forEach((key, n) => values.set(key, locals[n]!));
      }
    };
    // Only what stays put for at least one loop below: bodies right here load for themselves.
    for (const child of children) if (child.kind !== 'body') visit(child);
  }

  private body(body: Body, scope: Scope, repeatable: boolean): void {
    const { accesses, uses, repetitions, steady, steps, products } = this.codeOf(body);
    const { loads, stores } = accesses;
    const unit = this.unit(body);
    const kept = new Map<Real, number>();
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const mark = this.asm.mark();
      const known = new Map<Real, number>(kept);
      const keep = (node: Real, local: number): void => {
        known.set(node, local);
        if (steady.has(node)) kept.set(node, local);
      };
      const load = (node: LoadNode): number => {
        const group = loads.get(node)!;
        const hoisted = this.hoisted(node, body, group, scope);
        if (hoisted !== undefined) return hoisted;
        const locals = this.load(group, body, unit, this.addresses.of(group, scope.pointers, repetition, unit.lanes));
        group.members.forEach((member, n) => keep(member, locals[n]!));
        return known.get(node)!;
      };
      const value = (node: Real): void => {
        const local = known.get(node);
        if (local !== undefined) return this.asm.get(local);
        if (node.op === 'const' || node.op === 'conj') return this.constant(node, unit);
        const once = uses.get(node) === 1 && !steady.has(node);
        if (node.op === 'load') {
          // A plain vector used once needs no local of its own.
          const group = loads.get(node)!;
          const plain = !group.access.guard && unit.loadsDirectly(group);
          if (once && plain && this.hoisted(node, body, group, scope) === undefined) {
            const [address] = this.addresses.of(group, scope.pointers, repetition, unit.lanes);
            return unit.loadDirect(group, address!);
          }
          return this.asm.get(load(node));
        }
        const product = products.get(node);
        if (product && (node.op === 'add' || node.op === 'sub')) this.multiplyAdd(node, product, unit, value);
        else this.operation(node, body, unit, value);
        if (!once) {
          const result = unit.local();
          this.asm.tee(result);
          keep(node, result);
        }
      };
      // What may be written is read before anything is: by itself, or, in place, with the operands of the first values that
      // are stored, all of which are computed before.
      if (!repeatable) {
        const soon = new Set<Real>(this.current.inPlace ? reachable(stores[0]!.members) : []);
        for (const node of loads.keys()) if (!known.has(node) && !soon.has(node)) known.set(node, load(node));
      }
      if (body.lane) for (const step of steps.slice(0, -1)) this.step(step, unit, known, value, scope);
      for (const group of stores) {
        this.store(group, body, unit, this.addresses.of(group, scope.pointers, repetition, unit.lanes), value);
      }
      this.asm.release(mark, new Set(kept.values()));
    }
  }

  /** A sum or difference that takes in a product. */
  private multiplyAdd(
    { op, a, b }: Extract<Real, { op: BinaryOp }>,
    product: Extract<Real, { op: BinaryOp }>,
    unit: VectorUnit,
    value: (node: Real) => void,
  ): void {
    value(product.a);
    value(product.b);
    value(a === product ? b : a);
    const minuend = op === 'sub' && a === product;
    if (minuend) unit.negative(() => this.signs(unit));
    unit.fused(minuend || op === 'add' ? 'add' : 'sub');
  }

  /** Computes a value from its operands. */
  private operation(node: Real, body: Body, unit: VectorUnit, value: (node: Real) => void): void {
    if (node.op === 'select') {
      value(node.a);
      value(node.b);
      value(node.left);
      value(node.right);
      unit.operation(COMPARISONS[node.comparison]);
      return unit.chosen();
    }
    for (const operand of operandsOf(node)) value(operand);
    switch (node.op) {
      case 'swap':
        return unit.swap();
      case 'neg':
        return unit.negative(() => this.signs(unit));
      case 'where': {
        const each = this.guards(node.guard, body);
        unit.conditions((lane) => this.addresses.guard(each[lane % each.length]!));
        return unit.chosen();
      }
      case 'exactAdd':
      case 'exactSub':
      case 'exactMul':
        // Nothing else is made of them: only sums and products of the other kind are taken together.
        return unit.operation(EXACT[node.op]);
      case 'exactFma':
      case 'sum':
      case 'const':
      case 'conj':
      case 'load':
        throw new RangeError(`WebAssembly has no instruction for '${node.op}'`);
      default:
        return unit.operation(node.op);
    }
  }

  /** A guard in each lane; one where it is the same in all of them. */
  private guards(guard: Guard, { lane }: Body): readonly Guard[] {
    if (!lane || !guard.some(({ index }) => dependsOn(index, lane))) return [guard];
    return Array.from({ length: lane.count }, (_, l) => guardAt(guard, new Substitution(new Map([[lane, index(l)]]))));
  }

  /** Loads a group, where its guard holds: all lanes at once if it does in all of them. */
  private load(group: Group<LoadNode>, body: Body, unit: VectorUnit, addresses: readonly Address[]): number[] {
    const { guard } = group.access;
    if (!guard) return unit.load(group, addresses);
    const { asm } = this;
    const each = this.guards(guard, body);
    this.addresses.guard(each.flat());
    asm.if();
    const locals = unit.load(group, addresses);
    asm.else();
    const others = each.length > 1 ? unit.gather(group, addresses, (lane) => this.addresses.guard(each[lane]!)) : [];
    locals.forEach((local, n) => {
      if (others.length > 0) asm.get(others[n]!);
      else unit.zero();
      asm.set(local);
    });
    asm.end();
    return locals;
  }

  /** Stores a group, likewise. */
  private store(
    group: Group<Real>,
    body: Body,
    unit: VectorUnit,
    addresses: readonly Address[],
    value: (node: Real) => void,
  ): void {
    const { guard } = group.access;
    if (!guard) return unit.store(group, addresses, value);
    const { asm } = this;
    // Computed in any case: others may want the values, too.
    const made = new Map<Real, number>();
    for (const member of group.members) {
      const local = unit.local();
      value(member);
      asm.set(local);
      made.set(member, local);
    }
    const get = (member: Real) => asm.get(made.get(member)!);
    const each = this.guards(guard, body);
    this.addresses.guard(each.flat());
    asm.if();
    unit.store(group, addresses, get);
    if (each.length > 1) {
      asm.else();
      unit.scatter(group, addresses, get, (lane) => this.addresses.guard(each[lane]!));
    }
    asm.end();
  }

  /**
   * Computes some values now. The engine's compiler would sink each to its first use, load everything first and spill
   * what does not fit; values that flow into a merge have to be there before it. So a branch that is never taken
   * changes them: it costs a compare and a jump, and a spill is a store and a load.
   */
  private step(
    step: readonly Real[],
    unit: VectorUnit,
    known: ReadonlyMap<Real, number>,
    value: (node: Real) => void,
    scope: Scope,
  ): void {
    const { asm } = this;
    const locals: number[] = [];
    for (const node of step) {
      if (node.op === 'const' || node.op === 'load' || known.has(node)) continue;
      value(node);
      asm.op('drop');
      const local = known.get(node);
      if (local !== undefined) locals.push(local);
    }
    if (locals.length === 0) return;
    // Counters are never negative, which the compiler does not know; a new bound each time keeps it from remembering.
    asm.get(scope.counter);
    asm.i32(--this.never);
    asm.op('i32.lt_s');
    asm.if();
    // Changed from themselves, each in its own register: a constant for all would have them moved on the way that is taken.
    for (const local of locals) {
      asm.get(local);
      asm.get(local);
      unit.operation('add');
      asm.set(local);
    }
    asm.end();
  }

  /** The local that an outer loop has loaded a value into. */
  private hoisted(node: LoadNode, body: Body, { access }: Group<LoadNode>, scope: Scope): number | undefined {
    return scope.values.size === 0 ? undefined : scope.values.get(loadKey(node, body, access.stride));
  }

  private constant({ op, value }: Extract<Real, { value: Exact }>, unit: VectorUnit): void {
    this.everywhere(`${unit.type}:${op}${exact.key(value)}`, unit, () => {
      const number = this.elementBytes === 4 ? exact.toSingle(value) : exact.toNumber(value);
      unit.constant(number, op === 'conj');
    });
  }

  private signs(unit: VectorUnit): void {
    this.everywhere('signs', unit, () => unit.signs());
  }

  /** Pushes what the beginning of the function has put into a local. */
  private everywhere(key: string, unit: VectorUnit, push: () => void): void {
    let local = this.constants.get(key);
    if (local === undefined) {
      local = this.asm.lasting(unit.type);
      this.constants.set(key, local);
      this.asm.first(() => {
        push();
        this.asm.set(local!);
      });
    }
    this.asm.get(local);
  }

  private unit(body: Body): VectorUnit {
    return new VectorUnit(this.asm, this.kernel.precision, body.lane ? this.lanes : 1);
  }

  private codeOf(body: Body): BodyCode {
    let known = this.code.get(body);
    if (!known) this.code.set(body, (known = prepareBody(body, this.current, this.lanes, this.vectors)));
    return known;
  }

  /** Every (array, terms up to a level) that the bodies under some nodes start from, outer levels first. */
  private prefixes(nodes: readonly Node[], level: number): { array: ArrayRef; index: Index }[] {
    const found = new Map<string, { array: ArrayRef; index: Index }>();
    const visit = (node: Node): void => {
      if (node.kind !== 'body') return node.children.forEach(visit);
      for (const { array, terms } of this.codeOf(node).bases) {
        const index = { constant: 0, terms: terms.filter(({ atom }) => this.addresses.levelOfAtom(atom) <= level) };
        found.set(pointerKey(array, index), { array, index });
      }
    };
    nodes.forEach(visit);
    return [...found.values()];
  }
}
