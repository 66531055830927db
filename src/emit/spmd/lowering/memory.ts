/**
 * The arrays of a kernel in the generated text: bindings, shared arrays, and the expressions for their elements. Globals may share a
 * binding or span several (`Arrangement`).
 */
import {
  type ArrayRef,
  add,
  type ElementType,
  elementTypeOf,
  type Index,
  type IntegerTable,
  isIntegers,
  type Kernel,
  storageBytes,
  sub,
  type Table,
  type Var,
  variable,
} from '../../../ir/index.ts';
import type { Arrangement, CallerRegisters, Piece, SpmdOptions } from '../tree/program.ts';
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
  unary,
  type ValueType,
} from '../tree/tree.ts';
import { pairedArrays, readBy, sharedPart, writtenBy } from './accesses.ts';

export interface KernelBinding extends ValueType {
  readonly name: string;
  readonly written: boolean;
  /** Other bindings, or other globals in this one, may be the same memory. */
  readonly aliased: boolean;
  /** The arrays in it differ in type, so it is declared as 32-bit words; loads and stores convert words to the type of their array. */
  readonly mixed?: boolean;
}

export interface SharedArray extends ValueType {
  readonly name: string;
  /** Length in values of the type. */
  readonly length: number;
  /** Its first value, if all shared arrays are in one memory. */
  readonly byteOffset: number;
  readonly read: boolean;
}

/** A global whose pieces are reached through functions. */
export interface PiecedArray extends ValueType {
  readonly name: string;
  readonly read: boolean;
  readonly written: boolean;
  /** Bindings, and how many values lie before each one. */
  readonly pieces: readonly { readonly binding: KernelBinding; readonly first: number }[];
}

/** A global that begins somewhere inside a binding. */
export interface OffsetArray extends ValueType {
  readonly name: string;
  /** The binding that the name points into; the first one of a pieced array. */
  readonly binding: KernelBinding;
  /** Its position among the globals. */
  readonly number: number;
  readonly pieced: boolean;
  /** Its first value; its name in the text is `<name>_start`. */
  readonly start: Var;
}

/** A conversion from one type of value to another. */
export interface Conversion {
  readonly from: ValueType;
  readonly to: ValueType;
}

interface BoundPiece {
  readonly binding: KernelBinding;
  readonly elements: number | undefined;
}

/** The name under which an array is accessed, and the offset added to each index. */
type NamedArray =
  | { readonly kind: 'plain'; readonly name: string; readonly by?: Var }
  | { readonly kind: 'pieces'; readonly array: PiecedArray; readonly by?: Var }
  | { readonly kind: 'registers'; readonly name: string; readonly by?: undefined };

/** The options of a kernel that concern memory. */
export type ArrayOptions = Pick<SpmdOptions, 'arrangement' | 'computedRoots' | 'streamed' | 'registers'>;

/** The properties of a target language that decide how a kernel is lowered to it. */
export interface Dialect {
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

export class KernelArrays {
  readonly bindings: readonly KernelBinding[];
  readonly shared: readonly SharedArray[];
  readonly pieced: PiecedArray[] = [];
  /** One for each global, if offsets are given at launch. */
  readonly offsets: OffsetArray[] = [];
  readonly sharedBytes: number;
  /** Reals in a value of each global. */
  readonly alignments: readonly (1 | 2)[];
  /** Conversions between storage and arithmetic types that the kernel uses. */
  readonly conversions: readonly Conversion[];
  private readonly precision: ElementType;
  private readonly places = new Map<ArrayRef, NamedArray>();
  private readonly values = new Map<ArrayRef, ValueType>();
  private readonly read: ReadonlySet<ArrayRef>;
  private readonly written: ReadonlySet<ArrayRef>;
  private readonly target: Dialect;
  private readonly streamed: SpmdOptions['streamed'];
  private readonly registers: CallerRegisters | undefined;
  /** The first value of the caller's part of each shared array. */
  readonly sharedStart: Var | undefined;
  private readonly taken: Set<string>;

  /** @throws RangeError for an arrangement that does not fit this kernel's globals. */
  constructor(kernel: Kernel, target: Dialect, options: ArrayOptions) {
    const { arrangement, computedRoots = false, streamed, registers } = options;
    this.precision = elementTypeOf(kernel.precision);
    this.target = target;
    this.streamed = streamed;
    this.registers = registers;
    this.sharedStart = registers?.sharedStart === undefined ? undefined : variable(registers.sharedStart, 2);
    this.taken = new Set(target.reserved);
    this.read = readBy(kernel.phases);
    this.written = writtenBy(kernel.phases);
    const { globals, tables, shared } = kernel;
    const pieces = globalPieces(kernel, arrangement);
    const count = arrangement?.bindings ?? globals.length;
    const users = Array.from({ length: count }, (_, b) =>
      globals.filter((_, n) => pieces[n]!.some(({ binding }) => binding === b)),
    );
    const paired = pairedArrays(kernel);
    if (registers) for (const array of globals) paired[registers.isReal(array) ? 'delete' : 'add'](array);
    keepUniform(paired, kernel, { users, pieces, mixing: !target.pointers });
    const arrays = [...globals, ...tables, ...shared];
    for (const array of arrays) this.values.set(array, { type: array.type, pair: paired.has(array) });
    this.conversions = this.conversionsOf(arrays);
    const offset = arrangement?.offsets ?? false;
    const named = (n: number) => pieces[n]!.length === 1 && users[pieces[n]![0]!.binding]!.length === 1;
    const bound: KernelBinding[] = (registers ? [] : users).map((arrays, b) => {
      const [first] = arrays;
      const own = first && named(globals.indexOf(first)) && !(offset && target.pointers);
      const mixed = elementTypes(arrays).size > 1;
      const value = mixed ? ({ type: 'u32', pair: false } as const) : first && this.valueType(first);
      return {
        ...(value ?? { type: kernel.precision, pair: false }),
        ...(mixed ? { mixed } : {}),
        name: this.name(own ? first.name : `memory${b}`),
        written: arrays.some((array) => this.written.has(array)),
        aliased: (kernel.aliased === true && !arrays.every(({ operand }) => operand)) || arrays.length > 1,
      };
    });
    globals.forEach((array, n) => {
      if (registers) return void this.places.set(array, { kind: 'registers', name: registers.nameOf(array) });
      const own = pieces[n]!.map(({ binding, elements }) => ({ binding: bound[binding]!, elements }));
      this.placeGlobal(array, n, own, offset);
    });
    this.bindings = [...bound, ...tables.flatMap((table) => this.placeTable(table, computedRoots === true))];
    let bytes = 0;
    this.shared = shared.map((array) => {
      const placed = this.placeShared(array, bytes);
      bytes += Math.ceil(((array.partLength ?? array.length!) * storageBytes(array.type)) / 16) * 16;
      return placed;
    });
    this.sharedBytes = bytes;
    this.alignments = globals.map((array) => (paired.has(array) ? 2 : 1));
  }

  private conversionsOf(arrays: readonly ArrayRef[]): Conversion[] {
    const found = new Map<string, Conversion>();
    for (const array of arrays) {
      const [stored, computed] = [this.valueType(array), this.computedType(array)];
      if (isIntegers(array) || array.type === this.precision) continue;
      if (this.read.has(array)) found.set(conversionName(stored, computed), { from: stored, to: computed });
      if (this.written.has(array)) found.set(conversionName(computed, stored), { from: computed, to: stored });
    }
    return [...found.values()];
  }

  private placeGlobal(array: ArrayRef, number: number, pieces: readonly BoundPiece[], offset: boolean): void {
    const value = this.valueType(array);
    const { binding } = pieces[0]!;
    const pieced = pieces.length > 1;
    const name = !pieced && binding.name === array.name ? array.name : this.name(array.name);
    // The offset is known at run time only; its range here just makes index arithmetic wide where possible.
    const start = variable(`${name}_start`, this.target.wideIntegers ? 2 ** 40 : 2);
    if (offset) this.offsets.push({ ...value, name, binding, number, pieced, start });
    const by = offset ? { by: start } : {};
    if (!pieced) {
      const shifted = offset && !this.target.pointers;
      this.places.set(array, { kind: 'plain', name: offset && !shifted ? name : binding.name, ...(shifted ? by : {}) });
      return;
    }
    let first = 0;
    const starts = pieces.map(({ binding, elements = 0 }) => {
      const start = { binding, first };
      first += elements / (value.pair ? 2 : 1);
      return start;
    });
    const whole = { ...value, name, read: this.read.has(array), written: this.written.has(array), pieces: starts };
    this.pieced.push(whole);
    this.places.set(array, { kind: 'pieces', array: whole, ...by });
  }

  /** @param computed whether roots of unity are computed, so that tables with nothing else need no memory */
  private placeTable(table: Table, computed: boolean): KernelBinding[] {
    const value = this.valueType(table);
    if (computed && holdsRoots(table)) {
      if (!value.pair) throw new RangeError('roots are computed in pairs only');
      return [];
    }
    const name = this.ownName(table);
    this.places.set(table, { kind: 'plain', name });
    return [{ ...value, name, written: false, aliased: false }];
  }

  private placeShared(array: ArrayRef, byteOffset: number): SharedArray {
    const value = this.valueType(array);
    const name = this.ownName(array);
    const elements = array.partLength ?? array.length!;
    this.places.set(array, { kind: 'plain', name, ...(this.sharedStart ? { by: this.sharedStart } : {}) });
    return { ...value, name, length: value.pair ? elements / 2 : elements, byteOffset, read: this.read.has(array) };
  }

  valueType(array: ArrayRef): ValueType {
    const value = this.values.get(array);
    if (!value) throw new RangeError(`the array ${array.name} is not one of the kernel's`);
    return value;
  }

  /** The arithmetic type of an array's values. */
  computedType(array: ArrayRef): ValueType {
    return { type: this.precision, pair: this.valueType(array).pair };
  }

  /** The expression that reads a value. @param at index in values. @param address lowers an index to an integer expression. */
  load(array: ArrayRef, at: Index, address: (at: Index) => Expression): Expression {
    const place = this.places.get(array)!;
    if (place.kind === 'registers') return this.register(array, place.name, at);
    const where = this.where(array, at, address);
    const read =
      place.kind === 'plain'
        ? this.element(array, name(place.name), where)
        : call(`load_${place.array.name}`, ...this.passed(place.array), where);
    return convertedTo(read, this.valueType(array), this.computedType(array));
  }

  /** The entry of a table of integers. */
  entry(table: IntegerTable, at: Expression): Expression {
    return this.element(table, name((this.places.get(table) as { name: string }).name), at);
  }

  /** The statement that writes a value, possibly into another block's copy of an array. */
  store(
    { array, block }: { readonly array: ArrayRef; readonly block: Expression | undefined },
    at: Index,
    computed: Expression,
    address: (at: Index) => Expression,
  ): Statement {
    const place = this.places.get(array)!;
    if (place.kind === 'registers') return { op: 'assign', to: this.register(array, place.name, at), value: computed };
    const value = convertedTo(computed, this.computedType(array), this.valueType(array));
    const where = this.where(array, at, address);
    if (place.kind === 'pieces') {
      return { op: 'call', value: call(`store_${place.array.name}`, ...this.passed(place.array), where, value) };
    }
    const memory = name(place.name);
    return { op: 'assign', to: this.element(array, block ? call(BLOCK_COPY, memory, block) : memory, where), value };
  }

  private register(array: ArrayRef, own: string, at: Index): Expression {
    const registers = this.target.pointers ? name(own) : unary('*', name(own));
    return element(registers, integer(this.registers!.numberOf(array, at)), this.valueType(array));
  }

  private element(array: ArrayRef, memory: Expression, at: Expression): Expression {
    // Other groups read operands again, so these are not streamed.
    const streamed = array.space === 'global' && !array.operand && this.streamed ? { streamed: this.streamed } : {};
    const { written = array.space === 'shared', mixed } = this.bindingOf(array) ?? {};
    return {
      ...element(memory, at, this.valueType(array)),
      space: array.space,
      written,
      ...(mixed ? { mixed } : {}),
      ...streamed,
    };
  }

  /** The binding of a global that is not in pieces. */
  private bindingOf(array: ArrayRef): KernelBinding | undefined {
    const place = this.places.get(array)!;
    if (array.space !== 'global' || place.kind !== 'plain') return undefined;
    const pointed = this.offsets.find(({ name }) => name === place.name)?.binding.name ?? place.name;
    return this.bindings.find(({ name }) => name === pointed);
  }

  private where(array: ArrayRef, at: Index, address: (at: Index) => Expression): Expression {
    const { by } = this.places.get(array)!;
    const { partLength } = array;
    const within = partLength === undefined ? at : sub(at, sharedPart(array, at)! * partLength);
    return address(by ? add(within, by) : within);
  }

  /** The arguments by which functions get bindings, if these are parameters of the entry point. */
  private passed({ pieces }: PiecedArray): Expression[] {
    return this.target.pointers ? pieces.map(({ binding }) => name(binding.name)) : [];
  }

  private ownName(array: ArrayRef): string {
    return this.name(this.registers?.nameOf(array) ?? array.name);
  }

  /** A unique name for a parameter or a declaration outside of functions. */
  name(wanted: string): string {
    let name = wanted.replace(/\W/g, '_').replace(/^(?![a-z])/i, 'k_');
    // Letters followed by a number are names of values and integers inside functions.
    while (this.taken.has(name) || /^([a-z]{1,2}|round)\d+$/.test(name)) name += '_';
    this.taken.add(name);
    return name;
  }
}

/** The name of a conversion function. */
export function conversionName(from: ValueType, to: ValueType): string {
  return `${valueName(to)}_of_${valueName(from)}`;
}

function valueName({ type, pair }: ValueType): string {
  return `${{ f16: 'half', f32: 'float', f64: 'double', u32: 'uint', dd: 'dd' }[type]}${pair ? '2' : ''}`;
}

function convertedTo(value: Expression, from: ValueType, to: ValueType): Expression {
  return from.type === to.type ? value : call(conversionName(from, to), value);
}

/** The pieces of each global, checked. */
function globalPieces({ globals }: Kernel, arrangement: Arrangement | undefined): readonly (readonly Piece[])[] {
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

/**
 * Removes arrays from `paired` so that globals with a common binding, and globals that may be the same memory, have one type of element.
 * Bindings of several types are declared as words, and only halves can be accessed in pairs there.
 * @param users the globals of each binding
 * @param mixing whether a binding may hold several types
 * @throws RangeError for types that differ where they must not
 */
function keepUniform(
  paired: Set<ArrayRef>,
  kernel: Kernel,
  {
    users,
    pieces,
    mixing,
  }: {
    readonly users: readonly (readonly ArrayRef[])[];
    readonly pieces: readonly (readonly Piece[])[];
    readonly mixing: boolean;
  },
): void {
  kernel.globals.forEach((array, n) => {
    if (pieces[n]!.some(({ elements }) => elements !== undefined && elements % 2 !== 0)) paired.delete(array);
  });
  const sides = kernel.aliased ? [kernel.globals.filter(({ operand }) => !operand)] : [];
  for (const arrays of mixing ? sides : [...users, ...sides]) {
    const types = elementTypes(arrays);
    if (types.size > 1) throw new RangeError(`one memory cannot hold ${[...types].join(' and ')}`);
  }
  const mixed = users.filter((arrays) => elementTypes(arrays).size > 1);
  for (const array of mixed.flat()) if (array.type !== 'f16') paired.delete(array);
  const together = [...users, ...sides].filter((arrays) => elementTypes(arrays).size === 1);
  for (let before = -1; before !== paired.size; ) {
    before = paired.size;
    for (const arrays of together) {
      if (arrays.some((array) => !paired.has(array))) for (const array of arrays) paired.delete(array);
    }
  }
}

function elementTypes(arrays: readonly ArrayRef[]): Set<ArrayRef['type']> {
  return new Set(arrays.map(({ type }) => type));
}

/** Whether a table holds nothing but roots of unity. */
export function holdsRoots({ values }: Table): boolean {
  return values === undefined;
}

/** The tables that a kernel still reads if roots of unity are computed. */
export function tablesBeside(kernel: Kernel): Table[] {
  return kernel.tables.filter((table) => !holdsRoots(table));
}

/** Functions that load and store a value of an array in pieces. @param integerType the type of an index */
export function pieceFunctions(array: PiecedArray, { pointers }: Dialect, integerType: IntegerType): FunctionTree[] {
  const at = name('at');
  const bindings = pointers
    ? array.pieces.map(({ binding }): Parameter => ({ name: binding.name, type: pointerTo(binding, false) }))
    : [];
  const parameters = [...bindings, { name: 'at', type: integerType }];
  const chosen = (access: (place: Expression) => Statement): Statement[] =>
    array.pieces.reduceRight<Statement[]>((otherwise, { binding, first }, n) => {
      const within = first > 0 ? binary('-', at, integer(first, integerType)) : at;
      const body = [
        access({
          ...element(name(binding.name), within, array),
          space: 'global',
          written: binding.written,
          ...(binding.mixed ? { mixed: true } : {}),
        }),
      ];
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

export function pointerTo(array: KernelBinding, unique: boolean): Pointer {
  return { to: array, space: 'global', written: array.written, unique };
}
