/**
 * Addresses: pointers that advance with the loops, one for each array and each variable part of an index, so that an access is a pointer
 * plus a constant offset.
 *
 * The terms of an index are split by the loop in which they change. The pointer of a loop starts from the pointer of the loop outside.
 * Terms that are linear in the loop's variable are added by an increment per iteration; other terms are computed anew.
 */
import {
  type ArrayRef,
  type Atom,
  type Guard,
  type Index,
  indexKey,
  type Lookup,
  type Quotient,
  range,
  storageBytes,
  type Var,
  variablesOf,
} from '../../ir/index.ts';
import { type AccessGroup, pointerKey } from './accesses.ts';
import type { FunctionAssembler } from './encoder.ts';
import type { Address } from './vector.ts';

/** Locals by the array and the terms they have walked so far. */
export type PointerLocals = ReadonlyMap<string, number>;

export class Addresses {
  private readonly asm: FunctionAssembler;
  private readonly bases: ReadonlyMap<ArrayRef, { readonly local: number; readonly offset: number }>;
  private readonly levels = new Map<Var, number>();
  private readonly locals = new Map<Var, number>();
  private readonly variables = new Map<Atom, ReadonlySet<Var>>();

  /** @param bases the local with each array's address, and bytes to add to it */
  constructor(
    asm: FunctionAssembler,
    bases: ReadonlyMap<ArrayRef, { readonly local: number; readonly offset: number }>,
  ) {
    this.asm = asm;
    this.bases = bases;
  }

  /** Gives a variable its value, which is in a local, at this level of the loop tree. */
  enter(variable: Var, level: number, local: number): void {
    this.levels.set(variable, level);
    this.locals.set(variable, local);
  }

  /** Ends the scope of a variable. */
  leave(variable: Var): void {
    this.levels.delete(variable);
    this.locals.delete(variable);
  }

  /**
   * The addresses of a group: one for all lanes, or one for each lane if the lanes are scattered or walk backwards. Offsets of
   * WebAssembly are never negative, so a negative offset is added to the pointer instead.
   */
  of<T>({ access }: AccessGroup<T>, pointers: PointerLocals, repetition: number, lanes: number): Address[] {
    const array = this.bases.get(access.array)!;
    const bytes = storageBytes(access.array.type);
    const { stride = 0 } = access;
    return (access.bases ?? [access.base]).flatMap((base): Address[] => {
      const push = () => this.pointer(pointers, access.array, base);
      const offset = array.offset + (base.constant + repetition * access.repeat) * bytes;
      const whole = (by: number) => () => {
        push();
        this.asm.i32(by);
        this.asm.op('i32.add');
      };
      if (stride < 0)
        return Array.from({ length: lanes }, (_, n) => ({ push: whole(offset + n * stride * bytes), offset: 0 }));
      const backwards = offset < 0 || range({ constant: 0, terms: base.terms })[0] < 0;
      return [backwards ? { push: whole(offset), offset: 0 } : { push, offset }];
    });
  }

  /** Pushes the pointer that has walked the terms of an index. */
  pointer(pointers: PointerLocals, array: ArrayRef, index: Index): void {
    const local = index.terms.length === 0 ? this.bases.get(array)!.local : pointers.get(pointerKey(array, index));
    if (local === undefined) throw new Error(`no pointer for ${array.name} at ${indexKey(index)}`);
    this.asm.get(local);
  }

  /** Defines a pointer from the pointer of the loop outside and the terms of this loop. */
  computed(pointers: Map<string, number>, array: ArrayRef, index: Index, level: number): void {
    const { asm } = this;
    const inner = index.terms.filter(({ atom }) => this.levelOfAtom(atom) === level);
    this.pointer(pointers, array, { constant: 0, terms: index.terms.filter((term) => !inner.includes(term)) });
    for (const term of inner) {
      this.index({ constant: 0, terms: [{ atom: term.atom, factor: term.factor * storageBytes(array.type) }] });
      asm.op('i32.add');
    }
    const local = asm.local('i32');
    asm.set(local);
    pointers.set(pointerKey(array, index), local);
  }

  /** The innermost loop that an index changes in. */
  levelOf(index: Index): number {
    let level = -1;
    for (const { atom } of index.terms) level = Math.max(level, this.levelOfAtom(atom));
    return level;
  }

  /** The loop in which an atom gets its value; infinite for a loop not yet entered. */
  levelOfAtom(atom: Atom): number {
    if (atom.kind === 'var') return this.levels.get(atom) ?? Number.POSITIVE_INFINITY;
    let variables = this.variables.get(atom);
    if (!variables) this.variables.set(atom, (variables = variablesOf(atom.argument)));
    // An entry of a table at a known place is read in the loop over groups.
    let level = variables.size === 0 ? 0 : -1;
    for (const v of variables) level = Math.max(level, this.levels.get(v) ?? Number.POSITIVE_INFINITY);
    return level;
  }

  private lookup({ argument, table }: Lookup): void {
    const { asm } = this;
    const { local, offset } = this.bases.get(table)!;
    this.index({ constant: 0, terms: argument.terms.map((term) => ({ ...term, factor: 4 * term.factor })) });
    asm.get(local);
    asm.op('i32.add');
    asm.memory('i32.load', offset + 4 * argument.constant);
  }

  /** Pushes 1 where a guard holds, otherwise 0. */
  guard(guard: Guard): void {
    const { asm } = this;
    guard.forEach(({ index, from, to, outside }, n) => {
      // Compared as unsigned numbers, so that indices below `from` are large: one comparison tests both ends.
      this.index({ ...index, constant: index.constant - from });
      asm.i32(to - from);
      asm.op(outside ? 'i32.ge_u' : 'i32.lt_u');
      if (n > 0) asm.op('i32.and');
    });
  }

  private quotient({ kind, argument, by }: Quotient): void {
    const { asm } = this;
    this.index(argument);
    const shift = Math.log2(by);
    if (Number.isInteger(shift)) {
      asm.i32(kind === 'div' ? shift : by - 1);
      asm.op(kind === 'div' ? 'i32.shr_u' : 'i32.and');
    } else if (kind === 'mod' && range(argument)[1] < 2 * by) {
      // The quotient is 0 or 1: a comparison replaces the division.
      const value = asm.local('i32');
      asm.tee(value);
      asm.get(value);
      asm.i32(by);
      asm.op('i32.sub');
      asm.get(value);
      asm.i32(by);
      asm.op('i32.lt_s');
      asm.op('select');
    } else {
      asm.i32(by);
      asm.op(kind === 'div' ? 'i32.div_u' : 'i32.rem_u');
    }
  }

  /** Pushes the value of an index. */
  index(index: Index): void {
    const { asm } = this;
    let first = true;
    const sum = () => {
      if (!first) asm.op('i32.add');
      first = false;
    };
    for (const { atom, factor } of index.terms) {
      if (atom.kind === 'var') asm.get(this.locals.get(atom)!);
      else if (atom.kind === 'lookup') this.lookup(atom);
      else this.quotient(atom);
      if (factor !== 1) {
        asm.i32(factor);
        asm.op('i32.mul');
      }
      sum();
    }
    if (index.constant !== 0 || first) {
      asm.i32(index.constant);
      sum();
    }
  }
}
