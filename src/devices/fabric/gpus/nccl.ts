/** NCCL, or RCCL by the same names: a group of sends and receives moves messages between the GPUs of one process, each in its own stream. */
import { FftError } from '../../../problem/errors.ts';
import { toolkitNames } from '../../cuda/toolkit.ts';
import { functionsOf, type LibraryRequest, openLibrary } from '../../native/library.ts';
import type { Gpu } from './driver.ts';

const P = 'void *';
const FUNCTIONS = {
  CommInitAll: [P, 'int', P],
  CommDestroy: [P],
  GroupStart: [],
  GroupEnd: [],
  Send: [P, 'size_t', 'int', 'int', P, P],
  Recv: [P, 'size_t', 'int', 'int', P, P],
  GetVersion: [P],
} as const satisfies Record<string, readonly string[]>;
/** `ncclInt8`, because messages are counted in bytes. */
const BYTES = 0;

/** A message from the memory of one GPU into that of another one. */
export interface Message {
  readonly from: number;
  readonly source: bigint;
  readonly to: number;
  readonly target: bigint;
  readonly bytes: number;
}

export interface Nccl {
  /** The library's version, such as `NCCL 2.28.3`. */
  readonly version: string;
  /** Submits messages to the sending streams of both ends. */
  move(messages: readonly Message[]): void;
  close(): void;
}

/** The library file to load; tests put another library in its place. */
export function ncclLibrary(kind: 'cuda' | 'hip'): LibraryRequest {
  const [title, files] =
    kind === 'cuda' ? ['NCCL', ['libnccl.so.2', 'libnccl.so']] : ['RCCL', ['librccl.so.1', 'librccl.so']];
  const names = kind === 'cuda' ? toolkitNames(files, 'nccl') : files;
  return { names, what: title, install: `Install ${title}, or open the world with exchange: 'peer' or 'copy'.` };
}

/** NCCL with a communicator of all GPUs. @throws FftError `device-unavailable` without the library, `launch-failed` where it does not start */
export async function openNccl(request: LibraryRequest, gpus: readonly Gpu[]): Promise<Nccl> {
  // Multicast over NVLink needs rights that containers do not have.
  process.env.NCCL_NVLS_ENABLE ??= '0';
  const library = await openLibrary(request);
  const raw = functionsOf(library, FUNCTIONS, 'int', (name) => `nccl${name}`);
  const errorText = library.func('ncclGetErrorString', 'str', ['int']);
  const call = (name: keyof typeof FUNCTIONS, ...values: unknown[]) => {
    const status = raw[name](...values) as number;
    if (status === 0) return;
    throw new FftError('launch-failed', `${request.what} reported '${errorText(status)}' from nccl${name}.`);
  };
  const version = new Int32Array(1);
  call('GetVersion', version);
  const communicators = new BigUint64Array(gpus.length);
  call('CommInitAll', communicators, gpus.length, Int32Array.from(gpus.map(({ ordinal }) => ordinal)));
  const [major, minor, patch] = [version[0]! / 1e4, (version[0]! / 100) % 100, version[0]! % 100].map(Math.floor);
  return {
    version: `${request.what} ${major}.${minor}.${patch}`,
    move(messages) {
      call('GroupStart');
      try {
        for (const { from, source, to, target, bytes } of messages) {
          call('Send', source, bytes, BYTES, to, communicators[from], gpus[from]!.sending);
          call('Recv', target, bytes, BYTES, from, communicators[to], gpus[to]!.sending);
        }
      } finally {
        call('GroupEnd');
      }
    },
    close() {
      for (const communicator of communicators) raw.CommDestroy(communicator);
    },
  };
}
