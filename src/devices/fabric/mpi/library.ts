/** The functions of an MPI library, and its handles. */
import { FftError } from '../../../problem/errors.ts';
import type { DeviceKind } from '../../device.ts';
import { functionsOf, type NativeFunction, type NativeLibrary, openLibrary } from '../../native/library.ts';
import { environmentVariable } from '../../permissions.ts';
import { type Abi, abiOf } from './abi.ts';

/** A placeholder for the library's C type of handles. */
const H = 'handle';
const P = 'void *';

const FUNCTIONS = {
  Initialized: [P],
  Finalized: [P],
  Init_thread: [P, P, 'int', P],
  Finalize: [],
  Abort: [H, 'int'],
  Comm_rank: [H, P],
  Comm_size: [H, P],
  Comm_dup: [H, P],
  Comm_free: [P],
  Comm_set_errhandler: [H, H],
  Get_library_version: [P, P],
  Error_string: ['int', P, P],
  Iallgather: [P, 'int', H, P, 'int', H, H, P],
  Ialltoallv: [P, P, P, H, P, P, P, H, H, P],
  Ialltoallw: [P, P, P, P, P, P, P, P, H, P],
  Isend: [P, 'int', H, 'int', 'int', H, P],
  Irecv: [P, 'int', H, 'int', 'int', H, P],
  Testall: ['int', P, P, P],
  Type_contiguous: ['int', H, P],
  Type_create_hvector: ['int', 'int', 'intptr_t', H, P],
  Type_create_hindexed: ['int', P, P, H, P],
  Type_commit: [P],
  Type_free: [P],
} as const;

/**
 * Functions that tell whether a library sends from and receives into memory of GPUs: for AMD's GPUs Open MPI uses the name `rocm`, MPICH uses `hip`.
 */
const GPU_QUERIES = { cuda: ['cuda'], hip: ['rocm', 'hip'], 'level-zero': ['ze'] } as const;

export interface Mpi {
  readonly abi: Abi;
  /** The library's name and version, such as `Open MPI 4.1.4`. */
  readonly version: string;
  readonly call: Readonly<Record<keyof typeof FUNCTIONS, NativeFunction>>;
  /** Kinds of devices whose memory the library reads and writes itself. It must be called after `MPI_Init`. */
  reached(): DeviceKind[];
  /** @throws FftError `rank-lost` where a function has not returned success. */
  check(result: number, what: string): void;
}

/** Names of the library's file in the order in which they are tried: the launcher's own library comes first. */
function libraryNames(): string[] {
  const openMpi = ['libmpi.so.40', 'libmpi.so.80', 'libmpi.dylib'];
  const mpich = ['libmpich.so.12', 'libmpi.so.12', 'libmpich.dylib'];
  const standard = ['libmpi_abi.so.0', 'libmpi_abi.so.1'];
  const byOpenMpi = environmentVariable('OMPI_COMM_WORLD_SIZE') !== undefined;
  const byMpich = environmentVariable('PMI_SIZE') !== undefined;
  const [first, second] = byMpich && !byOpenMpi ? [mpich, openMpi] : [openMpi, mpich];
  return [...first, ...standard, ...second, 'libmpi.so'];
}

/** The loaded library. @param named a file that the caller has asked for. @throws FftError `world-unavailable` */
export async function openMpi(named: string | undefined): Promise<Mpi> {
  let library: NativeLibrary;
  try {
    const install = 'Install Open MPI (openmpi-bin) or MPICH, or name the library in the option `library`.';
    library = await openLibrary({
      names: named === undefined ? libraryNames() : [named],
      what: 'An MPI library',
      install,
    });
  } catch (cause) {
    throw new FftError('world-unavailable', cause instanceof Error ? cause.message : String(cause), { cause });
  }
  const abi = await abiOf(library);
  const typed = Object.fromEntries(
    Object.entries<readonly string[]>(FUNCTIONS).map(([name, types]) => [
      name,
      types.map((type) => (type === H ? abi.handle : type)),
    ]),
  ) as Record<keyof typeof FUNCTIONS, string[]>;
  const call = functionsOf(library, typed, 'int', (name) => `MPI_${name}`);
  return {
    ...{ abi, call, version: versionOf(call), reached: () => reachedBy(library) },
    check: (result, what) => checkResult(call, result, what),
  };
}

function reachedBy(library: NativeLibrary): DeviceKind[] {
  const says = (name: string) => library.optional(`MPIX_Query_${name}_support`, 'int', [])?.() === 1;
  return Object.entries(GPU_QUERIES).flatMap(([kind, names]) => (names.some(says) ? [kind as DeviceKind] : []));
}

function decodedText(bytes: Uint8Array, length: number): string {
  return new TextDecoder().decode(bytes.subarray(0, length)).split('\0')[0]!.trim();
}

function versionOf(call: Mpi['call']): string {
  const [text, length] = [new Uint8Array(8192), new Int32Array(1)];
  call.Get_library_version(text, length);
  const line = decodedText(text, length[0]!);
  const known = /^(Open MPI) v?([\d.]+)|^(MPICH) Version:\s*([\d.]+)/i.exec(line);
  if (known) return `${known[1] ?? known[3]} ${known[2] ?? known[4]}`;
  return line.split('\n')[0]!.slice(0, 80);
}

function checkResult(call: Mpi['call'], result: number, what: string): void {
  if (result === 0) return;
  const [text, length] = [new Uint8Array(8192), new Int32Array(1)];
  call.Error_string(result, text, length);
  throw new FftError(
    'rank-lost',
    `${what} failed: ${decodedText(text, length[0]!)}. A rank has ended, or the network has.`,
  );
}

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
