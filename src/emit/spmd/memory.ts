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
import type { Arrangement, Piece, SpmdOptions } from './program.ts';
import {
  binary,
  call,
  type Expression,
  element,
  type FunctionTree,
  type IntegerType,
  integer,
  name,
  type Parameter,
  type Pointer,
  type Statement,
  type ValueType,
} from './tree.ts';

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

/** Under which name an array is accessed, and what is added to where. */
type Place =
  | { readonly kind: 'plain'; readonly name: string; readonly by?: Var }
  | { readonly kind: 'pieces'; readonly array: PiecedArray; readonly by?: Var };

/** What of the options for a kernel is about memory. */
export type MemoryOptions = Pick<SpmdOptions, 'arrangement' | 'computedRoots' | 'streamed'>;

/** What has to be known of a language before anything is said in it. */
export interface Target {
  /** Whether there are integers of 64 bits. Without them, indices are unsigned and end at 2³² − 1. */
  readonly wideIntegers: boolean;
  /** Whether a name may point into the middle of a binding. */
  readonly pointers: boolean;
  /** Whether the blocks of a cluster reach into one another's shared memory. */
  readonly clusters: boolean;
  /** Whether functions of the language are exact enough for roots of unity. */
  readonly sines: boolean;
  /** Names that arrays cannot have. */
  readonly reserved: ReadonlySet<string>;
}

/** The function that finds another block's copy of a shared array. */
const BLOCK_COPY = 'block_copy';

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
  private readonly values = new Map<ArrayRef, ValueType>();
  private readonly target: Target;
  private readonly streamed: SpmdOptions['streamed'];
  private readonly taken: Set<string>;

  /** @throws RangeError for an arrangement that is not one of this kernel's globals. */
  constructor(kernel: Kernel, target: Target, { arrangement, computedRoots = false, streamed }: MemoryOptions) {
    this.target = target;
    this.streamed = streamed;
    this.taken = new Set(target.reserved);
    const { globals, tables } = kernel;
    const pieces = piecesOf(kernel, arrangement);
    const count = arrangement?.bindings ?? globals.length;
    const users = Array.from({ length: count }, (_, b) =>
      globals.filter((_, n) => pieces[n]!.some(({ binding }) => binding === b)),
    );
    const paired = pairedArrays(kernel);
    keepUniform(paired, kernel, users, pieces);
    for (const array of [...globals, ...tables, ...kernel.shared]) {
      this.values.set(array, { type: array.type, pair: paired.has(array) });
    }
    const read = readBy(kernel.phases);
    const written = writtenBy(kernel.phases);
    const offset = arrangement?.offsets ?? false;
    const named = (n: number) => pieces[n]!.length === 1 && users[pieces[n]![0]!.binding]!.length === 1;
    const bound: BoundArray[] = users.map((arrays, b) => {
      const [first] = arrays;
      const own = first && named(globals.indexOf(first)) && !(offset && target.pointers);
      return {
        name: this.name(own ? first.name : `memory${b}`),
        type: first?.type ?? kernel.precision,
        pair: first !== undefined && paired.has(first),
        written: arrays.some((array) => written.has(array)),
        aliased: kernel.aliased === true || arrays.length > 1,
      };
    });
    const pieced: PiecedArray[] = [];
    const offsets: OffsetArray[] = [];
    globals.forEach((array, n) => {
      const value = this.valueType(array);
      const own = pieces[n]!;
      const binding = bound[own[0]!.binding]!;
      const name = own.length === 1 && binding.name === array.name ? array.name : this.name(array.name);
      // Whatever an offset is, only its width matters here.
      const by = variable(`${name}_start`, target.wideIntegers ? 2 ** 40 : 2);
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
        this.places.set(array, { kind: 'pieces', array: whole, ...(offset ? { by } : {}) });
      } else if (offset && !target.pointers) {
        this.places.set(array, { kind: 'plain', name: binding.name, by });
      } else this.places.set(array, { kind: 'plain', name: offset ? name : binding.name });
    });
    const constants = tables.flatMap((table) => {
      const value = this.valueType(table);
      if (computedRoots) {
        if (!value.pair) throw new RangeError('roots are computed in pairs only');
        return [];
      }
      const array: BoundArray = { ...value, name: this.name(table.name), written: false, aliased: false };
      this.places.set(table, { kind: 'plain', name: array.name });
      return array;
    });
    let bytes = 0;
    this.shared = kernel.shared.map((array) => {
      const value = this.valueType(array);
      const name = this.name(array.name);
      this.places.set(array, { kind: 'plain', name });
      const byteOffset = bytes;
      const elements = array.half ?? array.length!;
      bytes += Math.ceil((elements * bytesOf(array.type)) / 16) * 16;
      return { ...value, name, length: value.pair ? elements / 2 : elements, byteOffset, read: read.has(array) };
    });
    this.alignments = globals.map((array) => (paired.has(array) ? 2 : 1));
    this.bindings = [...bound, ...constants];
    this.pieced = pieced;
    this.offsets = offsets;
    this.sharedBytes = bytes;
  }

  valueType(array: ArrayRef): ValueType {
    const value = this.values.get(array);
    if (!value) throw new RangeError(`the array ${array.name} is not one of the kernel's`);
    return value;
  }

  /** What reads a value. @param at in values. @param address makes integers of indices. */
  load(array: ArrayRef, at: Index, address: (at: Index) => Expression): Expression {
    const place = this.places.get(array)!;
    if (place.kind === 'plain') return this.element(array, name(place.name), this.where(array, at, address));
    return call(`load_${place.array.name}`, ...this.passed(place.array), this.where(array, at, address));
  }

  /** Writes a value, or puts it into another block's copy of an array. */
  store(
    { array, block }: { readonly array: ArrayRef; readonly block: Expression | undefined },
    at: Index,
    value: Expression,
    address: (at: Index) => Expression,
  ): Statement {
    const place = this.places.get(array)!;
    const where = this.where(array, at, address);
    if (place.kind === 'pieces') {
      return { op: 'call', value: call(`store_${place.array.name}`, ...this.passed(place.array), where, value) };
    }
    const own = name(place.name);
    return { op: 'assign', to: this.element(array, block ? call(BLOCK_COPY, own, block) : own, where), value };
  }

  private element(array: ArrayRef, of: Expression, at: Expression): Expression {
    const streamed = array.space === 'global' && this.streamed !== undefined;
    return {
      ...element(of, at, this.valueType(array)),
      space: array.space,
      ...(streamed ? { streamed: this.streamed } : {}),
    };
  }

  private where(array: ArrayRef, at: Index, address: (at: Index) => Expression): Expression {
    const { by } = this.places.get(array)!;
    if (by) return address(add(at, by));
    return address(turnOf(array, at) === 1 ? sub(at, array.half!) : at);
  }

  /** Where bindings are parameters of the entry point, other functions have to be given them. */
  private passed({ pieces }: PiecedArray): Expression[] {
    return this.target.pointers ? pieces.map(({ binding }) => name(binding.name)) : [];
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

/** Functions that find the piece which holds a value. @param integer the type of an index. */
export function pieceFunctions(array: PiecedArray, { pointers }: Target, integerType: IntegerType): FunctionTree[] {
  const at = name('at');
  const bindings = pointers
    ? array.pieces.map(({ binding }): Parameter => ({ name: binding.name, type: pointerTo(binding, false) }))
    : [];
  const parameters = [...bindings, { name: 'at', type: integerType }];
  const chosen = (access: (place: Expression) => Statement): Statement[] =>
    array.pieces.reduceRight<Statement[]>((otherwise, { binding, first }, n) => {
      const within = first > 0 ? binary('-', at, integer(first, integerType)) : at;
      const body = [access({ ...element(name(binding.name), within, array), space: 'global' })];
      const next = array.pieces[n + 1];
      return next
        ? [{ op: 'if', condition: binary('<', at, integer(next.first, integerType)), body, otherwise }]
        : body;
    }, []);
  const functions: FunctionTree[] = [];
  if (array.read) {
    const body = chosen((value) => ({ op: 'return', value }));
    functions.push({ name: `load_${array.name}`, parameters, result: array, body });
  }
  if (array.written) {
    const body = chosen((to) => ({ op: 'assign', to, value: name('value') }));
    functions.push({ name: `store_${array.name}`, parameters: [...parameters, { name: 'value', type: array }], body });
  }
  return functions;
}

export function pointerTo(array: BoundArray, unique: boolean): Pointer {
  return { to: array, space: 'global', written: array.written, unique };
}
