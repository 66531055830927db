/**
 * Structures of Vulkan and of Level Zero in memory: fields of 32 and 64 bits, naturally aligned, and the memory that they point to. Libraries
 * read the structures in place, in memory that the JavaScript engine does not move.
 */
import type { FftError } from '../../problem/errors.ts';
import type { Koffi, NativeFunction } from './library.ts';

/** A field: a number has 32 bits; a BigInt, or a pointer given by the memory that it points to, has 64. */
export type Field = number | bigint | Struct | ArrayBufferView | undefined;

export class Struct {
  readonly bytes: ArrayBuffer;
  /** The memory that fields point to, which stays alive with the structure. */
  protected readonly held: readonly Field[];

  private constructor(bytes: ArrayBuffer, held: readonly Field[]) {
    this.bytes = bytes;
    this.held = held;
  }

  /**
   * @param addressOf gives the address of memory.
   * @param fields numbers have 32 bits, all others 64; `undefined` is the null pointer.
   */
  static of(addressOf: (memory: ArrayBuffer) => bigint, ...fields: Field[]): Struct {
    const places: number[] = [];
    let end = 0;
    for (const field of fields) {
      const size = typeof field === 'number' ? 4 : 8;
      const at = Math.ceil(end / size) * size;
      places.push(at);
      end = at + size;
    }
    const bytes = new ArrayBuffer(8 * Math.ceil(end / 8));
    const view = new DataView(bytes);
    fields.forEach((field, n) => {
      if (typeof field === 'number') view.setUint32(places[n]!, field, true);
      else view.setBigUint64(places[n]!, address(field, addressOf), true);
    });
    return new Struct(bytes, fields);
  }

  /** A structure of `bytes` bytes, which the library fills in. */
  static empty(addressOf: (memory: ArrayBuffer) => bigint, type: number, bytes: number, next?: Struct): Struct {
    const memory = new ArrayBuffer(bytes);
    const view = new DataView(memory);
    view.setUint32(0, type, true);
    view.setBigUint64(8, address(next, addressOf), true);
    return new Struct(memory, [next]);
  }

  get view(): DataView {
    return new DataView(this.bytes);
  }

  number(at: number): number {
    return this.view.getUint32(at, true);
  }

  wide(at: number): number {
    return Number(this.view.getBigUint64(at, true));
  }

  /** The zero-terminated text at a position. */
  text(at: number, most: number): string {
    const bytes = new Uint8Array(this.bytes, at, most);
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(bytes.subarray(0, end < 0 ? most : end));
  }
}

function address(field: Exclude<Field, number>, addressOf: (memory: ArrayBuffer) => bigint): bigint {
  if (field === undefined) return 0n;
  if (typeof field === 'bigint') return field;
  if (field instanceof Struct) return addressOf(field.bytes);
  return addressOf(field.buffer as ArrayBuffer) + BigInt(field.byteOffset);
}

/** A library whose functions take such structures and return an error code. */
export abstract class StructApi<Name extends string, Purpose> {
  readonly raw: Readonly<Record<Name, NativeFunction>>;
  readonly koffi: Koffi;
  private readonly made = new BigUint64Array(new ArrayBuffer(8));
  /** The arguments of the last call, which stay alive until the next one. */
  protected last: readonly unknown[] = [];

  constructor(koffi: Koffi, raw: Readonly<Record<Name, NativeFunction>>) {
    this.koffi = koffi;
    this.raw = raw;
  }

  /** The error for a function's result; undefined for success. */
  protected abstract errorOf(name: Name, result: number, purpose: Purpose | undefined): FftError | undefined;

  readonly addressOf = (memory: ArrayBuffer): bigint => this.koffi.address(memory);

  struct(type: number, next: Struct | undefined, ...fields: Field[]): Struct {
    return Struct.of(this.addressOf, type, next, ...fields);
  }

  plain(...fields: Field[]): Struct {
    return Struct.of(this.addressOf, ...fields);
  }

  empty(type: number, bytes: number, next?: Struct): Struct {
    return Struct.empty(this.addressOf, type, bytes, next);
  }

  /** Calls a function, and throws if it fails. @param purpose the purpose of the call, for the error, if the caller knows it */
  call(name: Name, purpose: Purpose | undefined, ...values: unknown[]): void {
    this.last = values;
    const given = values.map((value) => (value instanceof Struct ? value.bytes : value));
    const result = (this.raw[name](...given) as number | undefined) ?? 0;
    const error = result === 0 ? undefined : this.errorOf(name, result, purpose);
    if (error) throw error;
  }

  /** Calls a function that makes an object. @returns the object's handle, which the function writes to its last argument */
  make(name: Name, purpose: Purpose | undefined, ...values: unknown[]): bigint {
    this.made[0] = 0n;
    this.call(name, purpose, ...values, this.made);
    return this.made[0];
  }
}

/** Zero-terminated text, in memory that the JavaScript engine does not move. */
export function textBytes(text: string): Uint8Array {
  const encoded = new TextEncoder().encode(`${text}\0`);
  return immovableBytes(encoded);
}

/** A copy of bytes at the beginning of an own `ArrayBuffer`, which the JavaScript engine does not move. */
export function immovableBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const memory = new Uint8Array(new ArrayBuffer(bytes.length));
  memory.set(bytes);
  return memory;
}
