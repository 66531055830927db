/**
 * Writes the instructions of a body: its loads, its arithmetic and its stores, and chooses the locals that hold values.
 */
import {
  type BinaryOp,
  dependsOn,
  type ElementType,
  type Guard,
  guardAt,
  index,
  type LoadNode,
  operandsOf,
  type Phase,
  type Real,
  reachable,
  Substitution,
} from '../../ir/index.ts';
import type { AccessGroup } from './accesses.ts';
import type { Addresses } from './addresses.ts';
import { type BodyCode, loadKey } from './bodies.ts';
import { Constants } from './constants.ts';
import type { FunctionAssembler } from './encoder.ts';
import { type BodyPlace, FoldWriter } from './fold-writer.ts';
import type { LoopScope } from './loops.ts';
import type { Body } from './schedule.ts';
import { type Address, VectorUnit } from './vector.ts';

const COMPARISONS = { less: 'lt', lessEqual: 'le', equal: 'eq' } as const;
const EXACT = { exactAdd: 'add', exactSub: 'sub', exactMul: 'mul' } as const;

export class BodyWriter {
  private readonly asm: FunctionAssembler;
  private readonly addresses: Addresses;
  private readonly precision: ElementType;
  private readonly lanes: number;
  private readonly constants: Constants;
  /** The latest bound of a comparison that never holds. */
  private never = 0;

  constructor(asm: FunctionAssembler, addresses: Addresses, precision: ElementType, lanes: number) {
    this.asm = asm;
    this.addresses = addresses;
    this.precision = precision;
    this.lanes = lanes;
    this.constants = new Constants(asm, precision);
  }

  /** The unit that computes a body: vectors, or scalars for one item at a time. */
  unit(body: Body): VectorUnit {
    return new VectorUnit(this.asm, this.precision, body.lane ? this.lanes : 1);
  }

  /** @param phase the phase that the body belongs to. */
  write(body: Body, code: BodyCode, { repeatable, inPlace }: Phase, scope: LoopScope): void {
    const { accesses, uses, repetitions, steady, steps, products } = code;
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
      const addressesOf = (group: AccessGroup<unknown>) =>
        this.addresses.of(group, place.scope.pointers, repetition, unit.lanes);
      const load = (node: LoadNode): number => {
        const group = loads.get(node)!;
        const hoisted = this.hoisted(node, body, group, scope);
        if (hoisted !== undefined) return hoisted;
        const locals = this.load(group, body, unit, addressesOf(group));
        group.members.forEach((member, n) => keep(member, locals[n]!));
        return known.get(node)!;
      };
      const value = (node: Real): void => {
        const local = known.get(node);
        if (local !== undefined) return this.asm.get(local);
        if (node.op === 'const' || node.op === 'conj') return this.constants.number(node, unit);
        if (node.op === 'fold') return folds.push(node);
        const once = uses.get(node) === 1 && !steady.has(node);
        if (node.op === 'load') {
          // A plain vector used once needs no local of its own.
          const group = loads.get(node)!;
          const plain = !group.access.guard && unit.loadsDirectly(group);
          if (once && plain && this.hoisted(node, body, group, scope) === undefined) {
            return unit.loadDirect(group, addressesOf(group)[0]!);
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
      const place: BodyPlace = { asm: this.asm, addresses: this.addresses, unit, code, known, value, load, scope };
      const folds = new FoldWriter(place);
      if (!repeatable) this.before(code, inPlace !== undefined, folds);
      if (body.lane) for (const step of steps.slice(0, -1)) this.step(step, unit, known, value, scope);
      for (const group of stores) {
        this.store(group, body, unit, addressesOf(group), value);
      }
      this.asm.release(mark, new Set(kept.values()));
    }
  }

  /**
   * Computes values that depend on memory the body writes, before its first store. In place, the operands of the first stored values are
   * loaded while these are computed, which is also before the first store.
   */
  private before({ accesses: { loads, stores }, dependences, folds }: BodyCode, inPlace: boolean, writer: FoldWriter) {
    const soon = new Set<Real>(inPlace ? reachable(stores[0]!.members) : []);
    for (const node of loads.keys()) if (!soon.has(node) && !dependences.has(node)) writer.load(node);
    for (const node of folds) if (!dependences.has(node)) writer.keep(node);
  }

  /** Computes a sum or difference fused with a product. */
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
    if (minuend) unit.negative(() => this.constants.signs(unit));
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
    if (node.op === 'exactFma') {
      // c − a·b is one instruction, so the sign of a is free.
      const negative = node.a.op === 'neg' ? node.a.a : undefined;
      return unit.fusedOnce(
        negative ? 'sub' : 'add',
        [negative ?? node.a, node.b, node.c].map((operand) => () => value(operand)),
      );
    }
    for (const operand of operandsOf(node)) value(operand);
    switch (node.op) {
      case 'swap':
        return unit.swap();
      case 'neg':
        return unit.negative(() => this.constants.signs(unit));
      case 'exponent':
      case 'inversePower':
        return unit.power(node.op);
      case 'where': {
        const each = this.guards(node.guard, body);
        unit.conditions((lane) => this.addresses.guard(each[lane % each.length]!));
        return unit.chosen();
      }
      case 'exactAdd':
      case 'exactSub':
      case 'exactMul':
        // Exact operations are never fused: only ordinary sums and products are.
        return unit.operation(EXACT[node.op]);
      case 'carried':
      case 'fold':
      case 'const':
      case 'conj':
      case 'load':
        throw new RangeError(`WebAssembly has no instruction for '${node.op}'`);
      default:
        return unit.operation(node.op);
    }
  }

  /** The guard of each lane, or a single guard if it is the same in all lanes. */
  private guards(guard: Guard, { lane }: Body): readonly Guard[] {
    if (!lane || !guard.some(({ index }) => dependsOn(index, lane))) return [guard];
    return Array.from({ length: lane.count }, (_, l) => guardAt(guard, new Substitution(new Map([[lane, index(l)]]))));
  }

  /** Loads a group under its guard: all lanes at once if the guard holds in all of them, otherwise lane by lane. */
  private load(group: AccessGroup<LoadNode>, body: Body, unit: VectorUnit, addresses: readonly Address[]): number[] {
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

  /** Stores a group under its guard: all lanes at once if the guard holds in all of them, otherwise lane by lane. */
  private store(
    group: AccessGroup<Real>,
    body: Body,
    unit: VectorUnit,
    addresses: readonly Address[],
    value: (node: Real) => void,
  ): void {
    const { guard } = group.access;
    if (!guard) return unit.store(group, addresses, value);
    const { asm } = this;
    // The values are computed outside of the guard, because other stores may use them, too.
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
   * Forces the engine's compiler to compute some values now. It would otherwise sink each value to its first use, load everything first and
   * spill what does not fit. Values that are changed in a branch have to be computed before it, so a branch that is never taken changes
   * them. It costs a compare and a jump; a spill costs a store and a load.
   */
  private step(
    step: readonly Real[],
    unit: VectorUnit,
    known: ReadonlyMap<Real, number>,
    value: (node: Real) => void,
    scope: LoopScope,
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
    // Counters are never negative, which the compiler does not know. A new bound each time keeps it from merging the comparisons.
    asm.get(scope.counter);
    asm.i32(--this.never);
    asm.op('i32.lt_s');
    asm.if();
    // Each value is changed in its own register; with a common constant, the compiler would move registers on the path that is taken.
    for (const local of locals) {
      asm.get(local);
      asm.get(local);
      unit.operation('add');
      asm.set(local);
    }
    asm.end();
  }

  /** The local of a value that an outer loop has loaded without a guard. */
  private hoisted(node: LoadNode, body: Body, { access }: AccessGroup<LoadNode>, scope: LoopScope): number | undefined {
    return scope.values.size === 0 || access.guard ? undefined : scope.values.get(loadKey(node, body, access.stride));
  }
}
