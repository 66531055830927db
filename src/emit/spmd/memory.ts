/**
 * The arrays of a kernel as they stand in the text: what is bound, what is shared by a group, and how an element is
 * named. Globals may share a binding or span several (`Arrangement`).
 */
import {
  type ArrayRef,
  add,
  type ElementType,
  type Index,
  type Kernel,
  sub,
  type Var,
  variable,
} from '../../ir/index.ts';
import { pairedArrays, readBy, turnOf, writtenBy } from './accesses.ts';
import { ComputedTable } from './computed.ts';
import type { Dialect, ValueType } from './dialect.ts';
import type { Integers } from './integers.ts';

import type { Arrangement, Piece, SpmdOptions } from './program.ts';
import type { Scope } from './scope.ts';

export interface BoundArray extends ValueType {
  readonly name: string;
  readonly written: boolean;
  /** Other bindings, or other globals in this one, may be the same memory. */
  readonly aliased: boolean;
}

export interface SharedArray extends ValueType {
  readonly name: string;
  /** In values of the type. */
  readonly length: number;
  /** Where it begins if all shared arrays lie in one. */
  readonly byteOffset: number;
  readonly read: boolean;
}

/** A global whose pieces are reached through functions. */
export interface PiecedArray extends ValueType {
  readonly name: string;
  readonly read: boolean;
  readonly written: boolean;
  /** Bindings, and how many values lie before each one. */
  readonly pieces: readonly { readonly binding: BoundArray; readonly first: number }[];
}

/** A global that begins somewhere inside a binding. */
export interface OffsetArray extends ValueType {
  readonly name: string;
  /** The binding that the name points into, where one is enough. */
  readonly binding: BoundArray;
  /** Number among the globals. */
  readonly number: number;
  readonly pieced: boolean;
  /** Where it begins, in values: in the text `<name>_start`. */
  readonly start: Var;
}

type Place =
  | { readonly kind: 'plain'; readonly name: string; readonly value: ValueType }
  | { readonly kind: 'computed'; readonly table: ComputedTable; readonly value: ValueType }
  | { readonly kind: 'shifted'; readonly name: string; readonly value: ValueType; readonly by: Var }
  | { readonly kind: 'pieces'; readonly array: PiecedArray; readonly value: ValueType; readonly by?: Var };

/** An array, or another block's copy of it. */
export interface StoreTarget {
  readonly array: ArrayRef;
  readonly block?: Index | undefined;
}

/** What of the options for a kernel is about memory. */
export type MemoryOptions = Pick<SpmdOptions, 'arrangement' | 'computedRoots' | 'streamed'>;

export class Memory {
  readonly bindings: readonly BoundArray[];
  readonly shared: readonly SharedArray[];
  readonly pieced: readonly PiecedArray[];
  /** One for each global where offsets are given at launch. */
  readonly offsets: readonly OffsetArray[];
  readonly sharedBytes: number;
  /** Reals in a value of each global. */
  readonly alignments: readonly (1 | 2)[];
  private readonly places = new Map<ArrayRef, Place>();
  private readonly dialect: Dialect;
  private readonly streamed: SpmdOptions['streamed'];
  private readonly taken: Set<string>;

  /** @throws RangeError for an arrangement that is not one of this kernel's globals. */
  constructor(kernel: Kernel, dialect: Dialect, { arrangement, computedRoots = false, streamed }: MemoryOptions) {
    this.dialect = dialect;
    this.streamed = streamed;
    this.taken = new Set(dialect.reserved);
    const { globals, tables } = kernel;
    const pieces = piecesOf(kernel, arrangement);
    const count = arrangement?.bindings ?? globals.length;
    const users = Array.from({ length: count }, (_, b) =>
      globals.filter((_, n) => pieces[n]!.some(({ binding }) => binding === b)),
    );
    const paired = pairedArrays(kernel);
    keepUniform(paired, kernel, users, pieces);
    const read = readBy(kernel.phases);
    const written = writtenBy(kernel.phases);
    const offset = arrangement?.offsets ?? false;
    const named = (n: number) => pieces[n]!.length === 1 && users[pieces[n]![0]!.binding]!.length === 1;
    const bound: BoundArray[] = users.map((arrays, b) => {
      const [first] = arrays;
      const own = first && named(globals.indexOf(first)) && !(offset && dialect.pointers);
      return {
        name: this.name(own ? first.name : `memory${b}`),
        type: first ? elementOf(first) : kernel.precision,
        pair: first !== undefined && paired.has(first),
        written: arrays.some((array) => written.has(array)),
        aliased: kernel.aliased === true || arrays.length > 1,
      };
    });
    const pieced: PiecedArray[] = [];
    const offsets: OffsetArray[] = [];
    globals.forEach((array, n) => {
      const value: ValueType = { type: elementOf(array), pair: paired.has(array) };
      const own = pieces[n]!;
      const binding = bound[own[0]!.binding]!;
      const name = own.length === 1 && binding.name === array.name ? array.name : this.name(array.name);
      // Whatever an offset is, only its width matters here.
      const by = variable(`${name}_start`, dialect.wideIntegers ? 2 ** 40 : 2);
      if (offset)
        offsets.push({
          ...value,
          name,
          binding,
          number: n,
          pieced: own.length > 1,
          start: by,
        });
      if (own.length > 1) {
        let first = 0;
        const starts = own.map((piece) => {
          const start = { binding: bound[piece.binding]!, first };
          first += (piece.elements ?? 0) / (value.pair ? 2 : 1);
          return start;
        });
        const whole: PiecedArray = {
          ...value,
          name,
          read: read.has(array),
          written: written.has(array),
          pieces: starts,
        };
        pieced.push(whole);
        this.places.set(array, { kind: 'pieces', array: whole, value, ...(offset ? { by } : {}) });
      } else if (offset && !dialect.pointers) {
        this.places.set(array, { kind: 'shifted', name: binding.name, value, by });
      } else this.places.set(array, { kind: 'plain', name: offset ? name : binding.name, value });
    });
    const constants = tables.flatMap((table) => {
      const value: ValueType = { type: elementOf(table), pair: paired.has(table) };
      if (computedRoots) {
        this.places.set(table, { kind: 'computed', table: new ComputedTable(table), value });
        return [];
      }
      const array: BoundArray = { ...value, name: this.name(table.name), written: false, aliased: false };
      this.places.set(table, { kind: 'plain', name: array.name, value });
      return array;
    });
    let bytes = 0;
    this.shared = kernel.shared.map((array) => {
      const pair = paired.has(array);
      const name = this.name(array.name);
      const value: ValueType = { type: elementOf(array), pair };
      this.places.set(array, { kind: 'plain', name, value });
      const byteOffset = bytes;
      const elements = array.half ?? array.length!;
      bytes += Math.ceil((elements * bytesOf(elementOf(array))) / 16) * 16;
      return { ...value, name, length: pair ? elements / 2 : elements, byteOffset, read: read.has(array) };
    });
    this.alignments = globals.map((array) => (paired.has(array) ? 2 : 1));
    this.bindings = [...bound, ...constants];
    this.pieced = pieced;
    this.offsets = offsets;
    this.sharedBytes = bytes;
  }

  valueType(array: ArrayRef): ValueType {
    return this.place(array).value;
  }

  /** The text that reads a value. @param at in values. */
  load(array: ArrayRef, at: Index, integers: Integers, scope: Scope): string {
    const place = this.place(array);
    if (place.kind === 'computed') return this.root(place, at, integers, scope);
    if (place.kind === 'plain') {
      const where = integers.address(inTurn(array, at), scope);
      const text = `${place.name}[${where}]`;
      if (array.space === 'shared') return this.dialect.sharedLoad?.(place.name, where, place.value) ?? text;
      if (array.space === 'table') return text;
      return this.dialect.global?.load(text, this.streamed === 'loads') ?? text;
    }
    const where = integers.address(place.by ? add(at, place.by) : at, scope);
    if (place.kind === 'shifted') return `${place.name}[${where}]`;
    return `load_${place.array.name}(${this.passed(place.array)}${where})`;
  }

  /** The statement that writes a value. @param at in values. */
  store({ array, block }: StoreTarget, at: Index, value: string, integers: Integers, scope: Scope): string {
    const place = this.place(array);
    if (block && place.kind === 'plain') {
      const copy = this.dialect.blockCopy!(place.name, integers.address(block, scope));
      return `${copy}[${integers.address(inTurn(array, at), scope)}] = ${value};`;
    }
    if (place.kind === 'plain') {
      const text = `${place.name}[${integers.address(inTurn(array, at), scope)}]`;
      const store = array.space === 'global' && this.dialect.global?.store(text, value, this.streamed === 'stores');
      return store || `${text} = ${value};`;
    }
    if (place.kind !== 'pieces') return `${this.load(array, at, integers, scope)} = ${value};`;
    const where = integers.address(place.by ? add(at, place.by) : at, scope);
    return `store_${place.array.name}(${this.passed(place.array)}${where}, ${value});`;
  }

  private root(
    { table, value }: Extract<Place, { kind: 'computed' }>,
    at: Index,
    integers: Integers,
    scope: Scope,
  ): string {
    if (!this.dialect.root) throw new RangeError('this language has no sines that are exact enough');
    if (!value.pair) throw new RangeError('roots are computed in pairs only');
    const { first, factor, by, q, most } = table.at(at);
    const wide = 4 * most + q >= 2 ** 32;
    const operand = (index: Index) => {
      const text = `(${integers.address(index, scope)})`;
      return wide ? this.dialect.widen(text) : text;
    };
    const product = isZero(factor) || isZero(by) ? [] : [`${operand(factor)} * ${operand(by)}`];
    const terms = isZero(first) && product.length > 0 ? product : [operand(first), ...product];
    return this.dialect.root(terms.join(' + '), wide, q, value.type);
  }

  /** Where bindings are parameters of the entry point, other functions have to be given them. */
  private passed({ pieces }: PiecedArray): string {
    return this.dialect.pointers ? pieces.map(({ binding }) => `${binding.name}, `).join('') : '';
  }

  private place(array: ArrayRef): Place {
    const place = this.places.get(array);
    if (!place) throw new RangeError(`the array ${array.name} is not one of the kernel's`);
    return place;
  }

  /** A name for something that stands outside all functions, or is a parameter. */
  name(wanted: string): string {
    let name = wanted.replace(/\W/g, '_').replace(/^(?![a-z])/i, 'k_');
    // Names of values and integers end in a number.
    while (this.taken.has(name) || /^([a-z]{1,2}|round)\d+$/.test(name)) name += '_';
    this.taken.add(name);
    return name;
  }
}

function isZero({ constant, terms }: Index): boolean {
  return constant === 0 && terms.length === 0;
}

/** Where an element lies while its half of the array is in memory. */
function inTurn(array: ArrayRef, at: Index): Index {
  return turnOf(array, at) === 1 ? sub(at, array.half!) : at;
}

/** @throws RangeError for what the languages have not learnt yet. */
export function elementOf({ name, type }: ArrayRef): ElementType {
  if (type !== 'f32' && type !== 'f64') throw new RangeError(`${name} holds ${type}, which kernels for threads cannot`);
  return type;
}

function bytesOf(type: ElementType): number {
  return type === 'f32' ? 4 : 8;
}

/** The pieces of each global, checked. */
function piecesOf({ globals }: Kernel, arrangement: Arrangement | undefined): readonly (readonly Piece[])[] {
  if (!arrangement) return globals.map((_, binding) => [{ binding }]);
  const { bindings } = arrangement;
  if (arrangement.globals.length !== globals.length) {
    throw new RangeError(`${arrangement.globals.length} globals are arranged, but the kernel has ${globals.length}`);
  }
  return arrangement.globals.map(({ pieces }, n) => {
    const { name } = globals[n]!;
    if (pieces.length === 0) throw new RangeError(`the global ${name} is given no memory`);
    pieces.forEach(({ binding, elements }, p) => {
      if (!(binding >= 0 && binding < bindings)) throw new RangeError(`${name}: no binding ${binding} of ${bindings}`);
      if (elements === undefined && p < pieces.length - 1) throw new RangeError(`${name}: piece ${p} has no end`);
    });
    return pieces;
  });
}

/** What shares a binding has one type of element, and so has what may be one memory. */
function keepUniform(
  paired: Set<ArrayRef>,
  kernel: Kernel,
  users: readonly (readonly ArrayRef[])[],
  pieces: readonly (readonly Piece[])[],
): void {
  kernel.globals.forEach((array, n) => {
    if (pieces[n]!.some(({ elements }) => elements !== undefined && elements % 2 !== 0)) paired.delete(array);
  });
  const together = kernel.aliased ? [...users, kernel.globals] : users;
  for (let before = -1; before !== paired.size; ) {
    before = paired.size;
    for (const arrays of together) {
      if (arrays.some((array) => !paired.has(array))) for (const array of arrays) paired.delete(array);
    }
  }
}
