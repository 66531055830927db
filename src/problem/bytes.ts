/** Memory that host arrays look into, and the contents of files as helpers that read them take it. */
import { FftError, typeName } from './errors.ts';

/** @throws FftError `detached-array` where the memory of a host array was transferred away. */
export function refuseDetached(array: ArrayBufferView & { readonly length: number }, what: string): void {
  if (array.length > 0) return;
  try {
    // Only a detached buffer refuses a new view.
    new Uint8Array(array.buffer);
  } catch (cause) {
    throw new FftError('detached-array', `${what} is detached: its memory was transferred away. Pass a live array.`, {
      cause,
    });
  }
}

/** @throws FftError `invalid-argument`, `detached-array` */
export function requireBytes(bytes: unknown, what: string): asserts bytes is Uint8Array {
  if (ArrayBuffer.isView(bytes) && Object.prototype.toString.call(bytes) === '[object Uint8Array]') {
    return refuseDetached(bytes as Uint8Array, `What ${what} was given`);
  }
  const given = typeName(bytes);
  const hint = given === 'ArrayBuffer' ? ': new Uint8Array(buffer) makes one of it' : '';
  throw new FftError('invalid-argument', `${what} was given ${given}; it takes the whole file as a Uint8Array${hint}.`);
}
