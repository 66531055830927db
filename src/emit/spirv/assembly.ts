/** A SPIR-V module under construction: ids, sections in the order of the specification, and types and constants, each declared once. */
import { CAPABILITY, type Capability, DECORATION, OP, type Opcode, STORAGE, type StorageClass } from './opcodes.ts';

/** The kinds of values. Integers have no sign in their type; instructions interpret it. */
export type ValueKind =
  | 'bool'
  | 'int'
  | 'unsigned'
  | 'long'
  | 'unsigned long'
  | 'short'
  | 'f32'
  | 'f64'
  | 'f32x2'
  | 'f64x2';

export const KIND_BYTES: Readonly<Record<Exclude<ValueKind, 'bool'>, number>> = {
  ...{ short: 2, int: 4, unsigned: 4, long: 8, 'unsigned long': 8, f32: 4, f64: 8, f32x2: 8, f64x2: 16 },
};

/** The result of an instruction. */
export interface SpirvValue {
  readonly id: number;
  readonly kind: ValueKind;
}

/** Instructions as words. */
export type Code = number[];

export function instruction(code: Code, op: Opcode, ...operands: readonly number[]): void {
  code.push((((operands.length + 1) << 16) | OP[op]) >>> 0, ...operands);
}

/** A string as words: UTF-8 with a terminating zero. */
export function textWords(value: string): number[] {
  const bytes = new TextEncoder().encode(value);
  const padded = new Uint8Array(4 * (Math.floor(bytes.length / 4) + 1));
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  return Array.from({ length: padded.length / 4 }, (_, n) => view.getUint32(4 * n, true));
}

const MAGIC = 0x07230203;

export class SpirvModule {
  /** The sections before the functions: modes, decorations, and types with constants and variables. */
  readonly entryPoints: Code = [];
  readonly modes: Code = [];
  readonly decorations: Code = [];
  readonly globals: Code = [];
  readonly functions: Code = [];
  private readonly capabilities = new Set<Capability>();
  private readonly head: Code = [];
  private readonly known = new Map<string, number>();
  private last = 0;

  fresh(): number {
    return ++this.last;
  }

  require(capability: Capability): void {
    this.capabilities.add(capability);
  }

  extension(name: string): void {
    instruction(this.head, 'Extension', ...textWords(name));
  }

  /** Imports an extended instruction set; to be called after the extensions. @returns its id */
  importSet(name: string): number {
    const id = this.fresh();
    instruction(this.head, 'ExtInstImport', id, ...textWords(name));
    return id;
  }

  memoryModel(addressing: number, memory: number): void {
    instruction(this.head, 'MemoryModel', addressing, memory);
  }

  decorate(id: number, decoration: keyof typeof DECORATION, ...operands: number[]): void {
    instruction(this.decorations, 'Decorate', id, DECORATION[decoration], ...operands);
  }

  decorateMember(id: number, member: number, decoration: keyof typeof DECORATION, ...operands: number[]): void {
    instruction(this.decorations, 'MemberDecorate', id, member, DECORATION[decoration], ...operands);
  }

  /** The type of a kind. */
  type(kind: ValueKind | 'void'): number {
    switch (kind) {
      case 'void':
        return this.declared('TypeVoid');
      case 'bool':
        return this.declared('TypeBool');
      case 'short':
        return this.declared('TypeInt', 16, 0);
      case 'int':
      case 'unsigned':
        return this.declared('TypeInt', 32, 0);
      case 'long':
      case 'unsigned long':
        this.require('Int64');
        return this.declared('TypeInt', 64, 0);
      case 'f64':
        this.require('Float64');
        return this.declared('TypeFloat', 64);
      case 'f32':
        return this.declared('TypeFloat', 32);
      default:
        return this.vector(kind === 'f32x2' ? 'f32' : 'f64', 2);
    }
  }

  vector(kind: ValueKind, length: number): number {
    return this.declared('TypeVector', this.type(kind), length);
  }

  pointer(storage: StorageClass, to: number): number {
    return this.declared('TypePointer', STORAGE[storage], to);
  }

  functionType(result: number, parameters: readonly number[]): number {
    return this.declared('TypeFunction', result, ...parameters);
  }

  /** A type that is declared once for equal operands. @param once writes its decorations */
  declared(op: Opcode, ...operands: number[]): number {
    return this.once(`${op} ${operands}`, (id) => instruction(this.globals, op, id, ...operands));
  }

  /** A struct that consists of a runtime array. */
  endless(element: Exclude<ValueKind, 'bool'>, readOnly: boolean): number {
    const type = this.type(element);
    return this.once(`endless ${type} ${readOnly}`, (id) => {
      const array = this.once(`array ${type}`, (own) => {
        instruction(this.globals, 'TypeRuntimeArray', own, type);
        this.decorate(own, 'ArrayStride', KIND_BYTES[element]);
      });
      instruction(this.globals, 'TypeStruct', id, array);
      this.decorate(id, 'Block');
      this.decorateMember(id, 0, 'Offset', 0);
      if (readOnly) this.decorateMember(id, 0, 'NonWritable');
    });
  }

  integer(value: number, kind: 'int' | 'unsigned' | 'long' | 'unsigned long' = 'int'): number {
    const words = KIND_BYTES[kind] === 4 ? [value >>> 0] : wordsOfView(new BigInt64Array([BigInt(value)]));
    return this.constant(kind, words);
  }

  /** An integer that whoever makes a pipeline may set, by the number `specId`; `value` by default. */
  specialization(specId: number, value: number): number {
    const id = this.fresh();
    instruction(this.globals, 'SpecConstant', this.type('unsigned'), id, value);
    this.decorate(id, 'SpecId', specId);
    return id;
  }

  real(value: number, kind: 'f32' | 'f64'): number {
    return this.constant(kind, wordsOfView(kind === 'f32' ? new Float32Array([value]) : new Float64Array([value])));
  }

  /** An undefined value. */
  undefined(type: number): number {
    return this.once(`undefined ${type}`, (id) => instruction(this.globals, 'Undef', type, id));
  }

  variable(storage: StorageClass, type: number): number {
    const [id, pointer] = [this.fresh(), this.pointer(storage, type)];
    instruction(this.globals, 'Variable', pointer, id, STORAGE[storage]);
    return id;
  }

  /** @param version of SPIR-V, as [major, minor]. */
  bytes([major, minor]: readonly [number, number]): Uint8Array {
    const capabilities: Code = [];
    for (const each of this.capabilities) instruction(capabilities, 'Capability', CAPABILITY[each]);
    const { head, entryPoints, modes, decorations, globals, functions } = this;
    const words = [MAGIC, (major << 16) | (minor << 8), 0, this.last + 1, 0, ...capabilities];
    const all = words.concat(head, entryPoints, modes, decorations, globals, functions);
    const bytes = new Uint8Array(4 * all.length);
    const view = new DataView(bytes.buffer);
    all.forEach((word, n) => view.setUint32(4 * n, word, true));
    return bytes;
  }

  private constant(kind: ValueKind, words: readonly number[]): number {
    const type = this.type(kind);
    return this.once(`constant ${type} ${words}`, (id) => instruction(this.globals, 'Constant', type, id, ...words));
  }

  private once(key: string, make: (id: number) => void): number {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const id = this.fresh();
    this.known.set(key, id);
    make(id);
    return id;
  }
}

/** The words of a value, low word first. */
function wordsOfView(value: ArrayBufferView): number[] {
  return [...new Uint32Array(value.buffer)];
}
