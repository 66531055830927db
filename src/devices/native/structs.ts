/**
 * Structures of Vulkan and of Level Zero in memory: fields of 32 and of 64 bits at their natural places, and what they point to. Libraries
 * read them where they lie, in memory that the engine does not move.
 */
import type { FftError } from '../../problem/errors.ts';
import type { Koffi, NativeFunction } from './library.ts';

/** A field of 32 bits: a number; one of 64: a BigInt, or what it points to. */
export type Field = number | bigint | Struct | ArrayBufferView | undefined;

export class Struct {
  readonly bytes: ArrayBuffer;
  /** Pointed to: alive as long as this is. */
  protected readonly held: readonly Field[];

  private constructor(bytes: ArrayBuffer, held: readonly Field[]) {
    this.bytes = bytes;
    this.held = held;
  }

  /**
   * @param addressOf where memory lies.
   * @param fields numbers are 32 bits; all else is 64, `undefined` the pointer to nothing.
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

  /** A structure for the library to fill in, of so many bytes in all. */
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

  /** Text that ends with a zero. */
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

/** A library whose functions take such structures and give the number of what went wrong. */
export abstract class StructApi<Name extends string, Purpose> {
  readonly raw: Readonly<Record<Name, NativeFunction>>;
  readonly koffi: Koffi;
  private readonly made = new BigUint64Array(new ArrayBuffer(8));
  /** What the last call was given is alive until the next one. */
  protected last: readonly unknown[] = [];

  constructor(koffi: Koffi, raw: Readonly<Record<Name, NativeFunction>>) {
    this.koffi = koffi;
    this.raw = raw;
  }

  /** The error for a result; undefined where nothing went wrong. */
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

  /** Calls a function and throws where it fails. `purpose` says what for, where the caller can say. */
  call(name: Name, purpose: Purpose | undefined, ...values: unknown[]): void {
    this.last = values;
    const given = values.map((value) => (value instanceof Struct ? value.bytes : value));
    const result = (this.raw[name](...given) as number | undefined) ?? 0;
    const error = result === 0 ? undefined : this.errorOf(name, result, purpose);
    if (error) throw error;
  }

  /** Calls a function that makes something, which is its last argument. */
  make(name: Name, purpose: Purpose | undefined, ...values: unknown[]): bigint {
    this.made[0] = 0n;
    this.call(name, purpose, ...values, this.made);
    return this.made[0];
  }
}

/** Text that ends with a zero, in memory that the engine does not move. */
export function textBytes(text: string): Uint8Array {
  const encoded = new TextEncoder().encode(`${text}\0`);
  return stayingBytes(encoded);
}

/** A copy in memory of its own, which begins with it and which the engine does not move. */
export function stayingBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const memory = new Uint8Array(new ArrayBuffer(bytes.length));
  memory.set(bytes);
  return memory;
}
