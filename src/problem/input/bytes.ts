/** Memory that host arrays look into, and the contents of files as helpers that read them take it. */
import { FftError, typeName } from '../errors.ts';

/** The built-in getters of typed arrays. They are called directly because an array may have its own `length`, or inherit another one. */
const prototype: Uint8Array = Object.getPrototypeOf(Uint8Array.prototype);
const getter = (name: string | symbol) => Object.getOwnPropertyDescriptor(prototype, name)!.get!;
const [classGetter, lengthGetter, bufferGetter, offsetGetter] = [
  getter(Symbol.toStringTag),
  getter('length'),
  getter('buffer'),
  getter('byteOffset'),
];
const { set, subarray } = prototype;

/** The class name of a typed array, even of one from another window; undefined for anything else, including proxies. */
export function arrayClass(value: unknown): string | undefined {
  return classGetter.call(value) as string | undefined;
}

// The functions below are separate so that the engine inlines each to the read of one field.
export function arrayLength(array: unknown): number {
  return lengthGetter.call(array) as number;
}

export function bufferOf(array: unknown): ArrayBuffer {
  return bufferGetter.call(array) as ArrayBuffer;
}

function byteOffsetOf(array: unknown): number {
  return offsetGetter.call(array) as number;
}

/** A subarray by the built-in method, whatever methods the array itself has. @param end not included */
export function subarrayOf<T>(array: T, start: number, end: number): T {
  return subarray.call(array as unknown as Uint8Array, start, end) as unknown as T;
}

/** Copies an array into another by the built-in method. */
export function copyInto(target: unknown, source: unknown): void {
  set.call(target as Uint8Array, source as Uint8Array);
}

/** Names of properties by which an array could hide its real contents from code that reads or calls them. */
const NAMES = ['length', 'buffer', 'byteOffset', 'byteLength', 'BYTES_PER_ELEMENT', 'constructor'] as const;
const METHODS = ['set', 'subarray', 'slice'] as const;

const usual = { Float32Array, Float64Array, Uint8Array, Uint16Array, Uint32Array };

/** A class of host arrays that `plainView` knows. */
export type UsualClass = keyof typeof usual;

/**
 * A view of an array that answers as its class does: the array itself, or, if it has fields of its own, a class of the caller's, or comes from
 * another window, a plain view of the same memory.
 * @param array not detached
 * @param name its `arrayClass`
 */
export function plainView<T extends ArrayBufferView>(array: T, name: UsualClass): T {
  const Class = usual[name];
  const own = (field: string) => Object.hasOwn(array, field);
  if (Object.getPrototypeOf(array) === Class.prototype && !NAMES.some(own) && !METHODS.some(own)) return array;
  return new Class(bufferOf(array), byteOffsetOf(array), arrayLength(array)) as unknown as T;
}

/** @throws FftError `detached-array` where the memory of a host array was transferred away. */
export function refuseDetached(array: ArrayBufferView & { readonly length: number }, what: string): void {
  if (arrayLength(array) > 0) return;
  try {
    // Only a detached buffer refuses a new view.
    new Uint8Array(bufferOf(array));
  } catch (cause) {
    throw new FftError('detached-array', `${what} is detached: its memory was transferred away. Pass a live array.`, {
      cause,
    });
  }
}

/**
 * The contents of a file.
 * @throws FftError `invalid-argument`, `detached-array`
 */
export function requireBytes(bytes: unknown, what: string): Uint8Array {
  if (arrayClass(bytes) === 'Uint8Array') {
    refuseDetached(bytes as Uint8Array, `What ${what} was given`);
    return plainView(bytes as Uint8Array, 'Uint8Array');
  }
  const given = typeName(bytes);
  const hint = given === 'ArrayBuffer' ? ': new Uint8Array(buffer) makes one of it' : '';
  throw new FftError('invalid-argument', `${what} was given ${given}; it takes the whole file as a Uint8Array${hint}.`);
}
