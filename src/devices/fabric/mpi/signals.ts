/**
 * Signal handlers that an MPI library would replace. A trap of WebAssembly is a signal that the engine turns into an exception: with another handler
 * in its place the process would die of it.
 */
import { openLibrary } from '../../native/library.ts';

/** Signal numbers of illegal instruction, bus error, arithmetic error and segmentation fault. */
const SIGNALS = [4, 7, 8, 11];
/** Bytes for a `struct sigaction`, more than any system takes. */
const ACTION_BYTES = 256;

/** Saves the present signal handlers. @returns a function that restores them */
export async function savedSignals(): Promise<() => void> {
  if (process.platform !== 'linux' && process.platform !== 'darwin') return () => undefined;
  const names = process.platform === 'linux' ? ['libc.so.6', 'libc.so'] : ['libSystem.B.dylib'];
  const libc = await openLibrary({ names, what: 'The C library', install: 'It belongs to the system.' });
  const sigaction = libc.func('sigaction', 'int', ['int', 'void *', 'void *']);
  const saved = SIGNALS.map((signal) => {
    const action = new Uint8Array(ACTION_BYTES);
    sigaction(signal, null, action);
    return { signal, action };
  });
  return () => {
    for (const { signal, action } of saved) sigaction(signal, action, null);
  };
}
