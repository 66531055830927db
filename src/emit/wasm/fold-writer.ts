/** Writes the loops of folds inside a body: carried values are in locals, and copies of a fold in one body share a loop. */
import {
  type FoldLoop,
  type FoldNode,
  type LoadNode,
  operandsOf,
  type Real,
  reachable,
  type Var,
} from '../../ir/index.ts';
import type { Addresses } from './addresses.ts';
import type { BodyCode } from './bodies.ts';
import type { FunctionAssembler } from './encoder.ts';
import { advance, beginWalking, endLoop, type LoopScope, prefixesOf } from './loops.ts';
import type { VectorUnit } from './vector.ts';

/** The state of a body's writer at the current place. */
export interface BodyPlace {
  readonly asm: FunctionAssembler;
  readonly addresses: Addresses;
  readonly unit: VectorUnit;
  readonly code: BodyCode;
  /** The locals of computed values. */
  readonly known: Map<Real, number>;
  /** Pushes a value. */
  readonly value: (node: Real) => void;
  /** Loads a value. @returns its local */
  readonly load: (node: LoadNode) => number;
  /** The innermost loop. */
  scope: LoopScope;
}

export class FoldWriter {
  private readonly place: BodyPlace;
  /** The variables of the enclosing loops, outermost first. */
  private readonly around: Var[] = [];

  constructor(place: BodyPlace) {
    this.place = place;
  }

  /** Loads a value once, into a local. */
  load(node: LoadNode): void {
    const { known, load } = this.place;
    if (!known.has(node)) known.set(node, load(node));
  }

  /** Computes a value once, into a local. */
  keep(node: Real): void {
    const { asm, unit, known, value } = this.place;
    if (node.op === 'const' || node.op === 'conj' || known.has(node)) return;
    value(node);
    if (known.has(node)) return asm.op('drop');
    const local = unit.local();
    asm.set(local);
    known.set(node, local);
  }

  /** Pushes the result of a fold after its loop. */
  push(node: FoldNode): void {
    this.write(node);
    this.place.asm.get(this.place.known.get(node)!);
  }

  /** Writes the loop of a fold and sets the locals of all its results. */
  private write(node: FoldNode): void {
    const { place, around } = this;
    const { over } = node.loop;
    const { asm, addresses, known, code } = place;
    const loops = this.sharing(node);
    const totals = loops.map((loop) => this.begin(loop));
    this.hoist(loops, over);
    const before = new Map(known);
    const mark = asm.mark();
    const outer = place.scope;
    const level = outer.level + 1;
    const counter = asm.local('i32');
    addresses.enter(over, level, counter);
    const pointers = new Map(outer.pointers);
    const needed = prefixesOf(code.bases, addresses, level).filter(({ index }) => addresses.levelOf(index) === level);
    const { walking, jumping } = beginWalking(asm, addresses, pointers, needed, { variable: over, level });
    asm.i32(0);
    asm.set(counter);
    asm.loop();
    for (const { array, index } of jumping) addresses.computed(pointers, array, index, level);
    place.scope = { ...outer, level, counter, pointers };
    around.push(over);
    loops.forEach((loop, n) => {
      this.round(loop, totals[n]!);
    });
    around.pop();
    advance(asm, walking);
    endLoop(asm, counter, over.count);
    addresses.leave(over);
    place.scope = outer;
    known.clear();
    for (const [value, local] of before) known.set(value, local);
    asm.release(mark);
  }

  /** The folds that share the loop of a fold: all folds over its variable that do not need the result of another one. */
  private sharing({ loop }: FoldNode): FoldLoop[] {
    const { known, code } = this.place;
    const found = new Set([loop]);
    for (const other of code.folds) {
      if (other.loop.over !== loop.over || known.has(other) || !this.isInScope(other)) continue;
      const needs = reachable(operandsOf(other)).some((inner) => inner.op === 'fold' && inner.loop.over === loop.over);
      if (!needs) found.add(other.loop);
    }
    return [...found];
  }

  /** Initialises the locals of a fold's carried values. */
  private begin(loop: FoldLoop): number[] {
    const { asm, unit, known, value, code } = this.place;
    const totals = loop.first.map((first) => {
      value(first);
      const local = unit.local();
      asm.set(local);
      return local;
    });
    for (const result of code.folds) if (result.loop === loop) known.set(result, totals[result.slot]!);
    return totals;
  }

  /** Computes values that loops need and that are the same in all rounds. */
  private hoist(loops: readonly FoldLoop[], over: Var): void {
    const { dependences, products } = this.place.code;
    const changes = (node: Real) => dependences.get(node)?.rounds.has(over) === true;
    const ensure = (node: Real) => {
      if (!changes(node) && this.isInScope(node)) this.keep(node);
    };
    for (const { next } of loops) {
      next.forEach(ensure);
      for (const node of reachable(next)) {
        if (!changes(node)) continue;
        for (const operand of operandsOf(node)) {
          const product = products.get(node);
          if (product === operand) operandsOf(product).forEach(ensure);
          else ensure(operand);
        }
      }
    }
  }

  /** Whether a value can be computed inside the current loops. */
  private isInScope(node: Real): boolean {
    const rounds = this.place.code.dependences.get(node)?.rounds ?? [];
    return [...rounds].every((v) => this.around.includes(v));
  }

  private round({ over, next }: FoldLoop, totals: readonly number[]): void {
    const { asm, known, value, code } = this.place;
    for (const node of code.carried) if (node.over === over) known.set(node, totals[node.slot] ?? 0);
    for (const each of next) value(each);
    for (const total of [...totals].reverse()) asm.set(total);
    // Other folds in this loop carry other values.
    for (const node of [...known.keys()]) if (code.dependences.get(node)?.carried.has(over)) known.delete(node);
  }
}
