/**
 * Differences between MPI libraries: how to tell which library is loaded, and the values of its predefined handles (`MPI_COMM_WORLD` and the like).
 * Open MPI represents a handle by the address of an object inside the library; MPICH and the standard ABI of MPI 5 represent it by a number.
 */
import { loadKoffi, type NativeLibrary } from '../../native/library.ts';

/** A handle as C functions take it. */
export type Handle = bigint | number;

export interface Abi {
  readonly name: 'Open MPI' | 'MPICH' | 'MPI 5';
  /** The C type of handles. */
  readonly handle: 'uintptr_t' | 'int';
  readonly world: Handle;
  readonly byte: Handle;
  readonly errorsReturn: Handle;
  /** Memory for `count` handles. */
  handles(count: number): BigUint64Array | Int32Array;
}

const numbered = (count: number) => new BigUint64Array(count);

/**
 * The ABI of a loaded library, found by the functions that it exports, because file names do not tell. MPI allows every call made here before
 * `MPI_Init`.
 */
export async function abiOf(library: NativeLibrary): Promise<Abi> {
  const version = library.optional('MPI_Abi_get_version', 'int', ['void *', 'void *']);
  if (version) {
    const [major, minor] = [new Int32Array(1), new Int32Array(1)];
    if (version(major, minor) === 0 && major[0]! >= 1) return standard;
  }
  const koffi = await loadKoffi();
  const handle = koffi.load(library.name) as unknown as { symbol(name: string, type: string): unknown };
  const address = (name: string) => handle.symbol(name, 'void *') as bigint;
  try {
    return {
      ...{ name: 'Open MPI', handle: 'uintptr_t', handles: numbered },
      ...{ world: address('ompi_mpi_comm_world'), byte: address('ompi_mpi_byte') },
      errorsReturn: address('ompi_mpi_errors_return'),
    };
  } catch {
    return mpich;
  }
}

const mpich: Abi = {
  ...{ name: 'MPICH', handle: 'int', handles: (count) => new Int32Array(count) },
  ...{ world: 0x44000000, byte: 0x4c00010d, errorsReturn: 0x54000001 },
};

const standard: Abi = {
  ...{ name: 'MPI 5', handle: 'uintptr_t', handles: numbered },
  ...{ world: 0x101n, byte: 0x247n, errorsReturn: 0x143n },
};
