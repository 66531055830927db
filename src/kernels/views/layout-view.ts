/** A view of a layout: loads and stores complex numbers at coordinates of a tile. */
import {
  type ArrayRef,
  type Complex,
  type ComplexView,
  type Expressions,
  type Guard,
  guardKey,
  type Index,
  type IndexLike,
  type IntegerTable,
  indexKey,
  type Real,
  type Store,
  simplified,
} from '../../ir/index.ts';
import type { Layout, Order } from '../../layout/index.ts';
import type { CallbackMap } from './callbacks.ts';
import { type Access, accessesOf, type CallAccess, type MemoryAccess } from './layout-accesses.ts';
import type { Coordinates } from './views.ts';

interface LayoutMemory {
  /** A layout with dimensions [tile …, batch …, part], or [tile …, batch …, line, part] if there are several lines or matrix entries. */
  readonly layout: Layout;
  /** The arrays, by their names in the layout. */
  readonly arrays: ReadonlyMap<string, ArrayRef>;
  readonly coordinates: Coordinates;
  /** The number of the first batch dimension. */
  readonly batch: number;
  readonly table: (order: Order) => IntegerTable;
  /** The user's callback, which the layout's maps call. */
  readonly call?: CallbackMap;
}

/** The accesses of both parts of a number. */
type Parts = readonly [re: readonly Access[], im: readonly Access[]];

export class LayoutView implements ComplexView {
  private readonly memory: LayoutMemory;
  private readonly line: readonly number[];

  constructor(memory: LayoutMemory, line: readonly number[] = []) {
    this.memory = memory;
    this.line = line;
  }

  /** The view of one of several lines. */
  ofLine(number: number): LayoutView {
    return new LayoutView(this.memory, [number]);
  }

  /** The index of the real part of a number in its array, for a layout whose elements are all in memory. */
  beginning(at: readonly IndexLike[]): Index {
    const [access] = this.accesses(at)[0];
    if (!access || !('array' in access)) throw new RangeError('These numbers are not simply in memory.');
    return access.index;
  }

  load(x: Expressions, at: readonly IndexLike[], guard: Guard = []): Complex {
    const [re, im] = this.accesses(at);
    return { re: this.sum(x, re, guard), im: this.sum(x, im, guard) };
  }

  store(x: Expressions, at: readonly IndexLike[], { re, im }: Complex, guard: Guard = []): Store[] {
    const parts = this.accesses(at);
    const inMemory = parts.map((accesses, part) =>
      accesses.flatMap((access) => ('array' in access ? this.put(x, access, part === 0 ? re : im, guard) : [])),
    );
    const pairs = Array.from({ length: Math.max(...inMemory.map(({ length }) => length)) }, (_, n) =>
      inMemory.flatMap((stores) => stores.slice(n, n + 1)),
    );
    return [...pairs.flat(), ...this.called(x, parts, [re, im], guard)];
  }

  private accesses(at: readonly IndexLike[]): Parts {
    const { layout, coordinates, batch, table } = this.memory;
    const place = [...coordinates(at), ...this.line];
    const partAccesses = (part: 0 | 1) => accessesOf(layout, [...place, part], batch, table);
    return [partAccesses(0), partAccesses(1)];
  }

  /** The sum of the values of some accesses. At most one of them takes place; the others give 0. */
  private sum(x: Expressions, accesses: readonly Access[], guard: Guard): Real {
    const [first, ...others] = accesses;
    if (!first) return x.constant(0);
    const begin = this.value(x, first, guard);
    return others.reduce(
      (sum, access) => (access.negated ? x.sub : x.add).call(x, sum, this.value(x, access, guard)),
      first.negated ? x.neg(begin) : begin,
    );
  }

  /** The value that an access loads, before its `negated` is applied. */
  private value(x: Expressions, access: Access, guard: Guard): Real {
    const within = [...guard, ...access.guard];
    const value =
      'array' in access
        ? x.load(this.memory.arrays.get(access.array)!, access.index, within)
        : this.result(
            x,
            access,
            within,
            access.parts.map((part) => this.sum(x, part, guard)),
          );
    return withParity(x, access, value);
  }

  /** The result of the layout's function after its arguments are loaded. */
  private result(x: Expressions, { at, part }: CallAccess, guard: Guard, [re, im]: readonly Real[]): Real {
    const zero = x.constant(0);
    const needed = simplified(guard);
    if (!needed) return zero;
    const result = this.memory.call!(x, { re: re!, im: im ?? zero }, at, needed);
    return x.where(needed, part === 0 ? result.re : result.im, zero);
  }

  private put(x: Expressions, access: MemoryAccess, value: Real, guard: Guard): Store[] {
    const needed = simplified([...guard, ...access.guard]);
    if (!needed) return [];
    const own = signed(x, access, value);
    const within = needed.length > 0 ? { guard: needed } : {};
    return [{ array: this.memory.arrays.get(access.array)!, index: access.index, value: own, ...within }];
  }

  /** Stores the results of the layout's function, which is called once for both parts of a number. */
  private called(x: Expressions, parts: Parts, values: readonly [Real, Real], guard: Guard): Store[] {
    const zero = x.constant(0);
    const calls = new Map<string, { readonly access: CallAccess; readonly given: [Real, Real] }>();
    parts.forEach((accesses, n) => {
      for (const access of accesses) {
        if ('array' in access) continue;
        const isReal = access.parts.length === 1;
        const key = `${isReal ? n : ''} ${access.at.map(indexKey).join()} ${guardKey(access.guard)}`;
        if (!calls.has(key)) calls.set(key, { access, given: [zero, zero] });
        calls.get(key)!.given[access.part === 0 ? 0 : 1] = signed(x, access, values[n]!);
      }
    });
    return [...calls.values()].flatMap(({ access, given }) => {
      const needed = simplified([...guard, ...access.guard]);
      if (!needed) return [];
      const { re, im } = this.memory.call!(x, { re: given[0], im: given[1] }, access.at, needed);
      return access.parts.flatMap((inner, part) =>
        inner.flatMap((own) => ('array' in own ? this.put(x, own, part === 0 ? re : im, guard) : [])),
      );
    });
  }
}

/** A value with the sign of an access (`negated` and `parity`). */
function signed(x: Expressions, access: Access, value: Real): Real {
  return withParity(x, access, access.negated ? x.neg(value) : value);
}

/** A value negated where the parity of an access is odd. */
function withParity(x: Expressions, { parity }: Access, value: Real): Real {
  return parity ? x.where([{ index: parity, from: 0, to: 1 }], value, x.neg(value)) : value;
}
