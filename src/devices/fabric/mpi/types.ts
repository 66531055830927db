/** Derived types of MPI: boxes in memory, which the library packs and unpacks itself. */
import type { Part } from '../fabric.ts';
import type { Handle } from './abi.ts';
import type { Mpi } from './library.ts';

/**
 * MPI datatypes of one exchange, committed here and released by `free`. MPI counts with a C int, so messages are counted in whole
 * elements, not in bytes: one message can carry up to 2^31 − 1 elements.
 */
export class Types {
  private readonly mpi: Mpi;
  private readonly made: (BigUint64Array | Int32Array)[] = [];
  /** The datatype of one element. */
  readonly element: Handle;
  readonly bytes: number;

  constructor(mpi: Mpi, elementBytes: number) {
    this.mpi = mpi;
    this.bytes = elementBytes;
    this.element = this.make((type) => mpi.call.Type_contiguous(elementBytes, mpi.abi.byte, type));
    this.commit();
  }

  private make(create: (type: BigUint64Array | Int32Array) => number): Handle {
    const type = this.mpi.abi.handles(1);
    this.mpi.check(create(type), 'Making a type of MPI');
    this.made.push(type);
    return type[0]!;
  }

  private commit(): void {
    this.mpi.check(this.mpi.call.Type_commit(this.made.at(-1)!), 'Making a type of MPI');
  }

  /** The datatype of a box at its offset from the beginning of the memory. */
  box({ offset, lengths, strides }: Part): Handle {
    const { call } = this.mpi;
    let inner = this.element;
    lengths.forEach((length, d) => {
      if (length === 1) return;
      const bytes = strides[d]! * this.bytes;
      const old = inner;
      inner = this.make((type) => call.Type_create_hvector(length, 1, bytes, old, type));
    });
    const [one, where] = [new Int32Array([1]), new BigInt64Array([BigInt(offset * this.bytes)])];
    const whole = this.make((type) => call.Type_create_hindexed(1, one, where, inner, type));
    this.commit();
    return whole;
  }

  free(): void {
    for (const type of this.made.reverse()) this.mpi.call.Type_free(type);
    this.made.length = 0;
  }
}
