/** The contents of files, as helpers that read them take it. */
import { FftError } from './errors.ts';

/** @throws FftError `invalid-argument` */
export function requireBytes(bytes: unknown, what: string): asserts bytes is Uint8Array {
  if (ArrayBuffer.isView(bytes) && Object.prototype.toString.call(bytes) === '[object Uint8Array]') return;
  const given = bytes === null || bytes === undefined ? String(bytes) : (bytes.constructor?.name ?? typeof bytes);
  const hint = given === 'ArrayBuffer' ? ': new Uint8Array(buffer) makes one of it' : '';
  throw new FftError('invalid-argument', `${what} was given ${given}; it takes the whole file as a Uint8Array${hint}.`);
}
