/**
 * The fabric of ranks that are processes, started by `mpirun`. Each process holds one rank, and messages are sent from the rank's memory in place.
 */
import { FftError } from '../../../problem/errors.ts';
import type { DeviceKind } from '../../device.ts';
import { environmentVariable } from '../../permissions.ts';
import {
  count,
  type Exchange,
  elementsOfPart,
  type Fabric,
  type FabricMemory,
  type Part,
  type RankExchange,
} from '../fabric.ts';
import type { Handle } from './abi.ts';
import { type Mpi, openMpi, savedSignals } from './library.ts';
import { Requests } from './polling.ts';
import { Types } from './types.ts';

export interface MpiOptions {
  /** File name of the MPI library. Default: the library that the launcher belongs to. */
  readonly library?: string | undefined;
  /** Whether a rank that ends without `close()` ends all other ranks, too. */
  readonly abort: boolean;
}

const MPI_THREAD_FUNNELED = 1;
const EXIT_CODE = 1;
const TAG = 47;

/** The number of ranks that the launcher says it has started; undefined without such a launcher. */
function launchedRanks(): number | undefined {
  const told = environmentVariable('OMPI_COMM_WORLD_SIZE') ?? environmentVariable('PMI_SIZE');
  return told === undefined ? undefined : Number(told);
}

/** The MPI library of this process. It stays loaded and cannot be started again once it has been finalized, so it is opened once. */
let opened: Promise<{ mpi: Mpi; own: boolean }> | undefined;
/** The number of open worlds of this process. */
let users = 0;

/**
 * Switches off two habits of UCX, the transport under MPICH and others. It patches the functions that map memory, while threads of the engine may run
 * through them, and it takes the signals of WebAssembly's traps. Both can be switched off before it is loaded; environment variables that are set
 * already are left alone.
 */
function tameUcx(): void {
  for (const [name, value] of [
    ['UCX_MEM_EVENTS', 'no'],
    ['UCX_HANDLE_ERRORS', 'none'],
  ] as const) {
    if (environmentVariable(name) === undefined) process.env[name] = value;
  }
}

async function startMpi(library: string | undefined): Promise<{ mpi: Mpi; own: boolean }> {
  tameUcx();
  const restore = await savedSignals();
  const mpi = await openMpi(library);
  const flag = new Int32Array(1);
  mpi.call.Finalized(flag);
  if (flag[0] !== 0)
    throw new FftError('world-unavailable', 'MPI was finalized in this process, which cannot start it again.');
  mpi.call.Initialized(flag);
  const own = flag[0] === 0;
  if (own) mpi.check(mpi.call.Init_thread(null, null, MPI_THREAD_FUNNELED, new Int32Array(1)), 'MPI_Init_thread');
  restore();
  return { mpi, own };
}

/** The fabric of this process's rank. @throws FftError (as a rejection) `world-unavailable`, `launcher-mismatch` */
export async function mpiFabric({ library, abort }: MpiOptions): Promise<Fabric> {
  opened ??= startMpi(library).catch((error) => {
    opened = undefined;
    throw error;
  });
  const { mpi, own } = await opened;
  const { call, abi } = mpi;
  const value = new Int32Array(1);
  call.Comm_size(abi.world, value);
  const size = value[0]!;
  call.Comm_rank(abi.world, value);
  const rank = value[0]!;
  const expected = launchedRanks();
  if (expected !== undefined && expected !== size) {
    const message = `The launcher has started ${expected} ranks, but ${mpi.version} finds ${size}: it belongs to another launcher. Start the program with its own mpirun, or name the launcher's library in the option \`library\`.`;
    throw new FftError('launcher-mismatch', message);
  }
  const duplicate = abi.handles(1);
  mpi.check(call.Comm_dup(abi.world, duplicate), 'MPI_Comm_dup');
  call.Comm_set_errhandler(duplicate[0]!, abi.errorsReturn);
  users++;
  return new MpiFabric(mpi, { size, rank, own, abort, duplicate });
}

interface World {
  readonly size: number;
  readonly rank: number;
  /** Whether this library has started MPI, and so has to finalize it. */
  readonly own: boolean;
  readonly abort: boolean;
  readonly duplicate: BigUint64Array | Int32Array;
}

class MpiFabric implements Fabric {
  readonly kind = 'mpi';
  readonly library: string;
  readonly size: number;
  readonly ranks: readonly number[];
  readonly counters = { bytes: 0, messages: 0 };
  readonly beside = false;
  /** MPI counts in a C int. */
  readonly mostElements = 2 ** 31 - 1;
  readonly reaches: readonly DeviceKind[];
  private readonly mpi: Mpi;
  private readonly world: World;
  private readonly communicator: Handle;
  private readonly exit = () => this.abort();

  constructor(mpi: Mpi, world: World) {
    this.mpi = mpi;
    this.world = world;
    this.library = mpi.version;
    this.reaches = mpi.reached();
    this.size = world.size;
    this.ranks = [world.rank];
    this.communicator = world.duplicate[0]!;
    // A launcher takes a rank that ends early with exit code 0 for finished, and the other ranks would wait for ever.
    if (world.abort) process.on('exit', this.exit);
  }

  async exchange({ elementBytes, way, ranks }: Exchange): Promise<void> {
    const [own] = ranks;
    count(this.counters, own!.rank, own!.sentParts, elementBytes);
    const types = new Types(this.mpi, elementBytes);
    try {
      const isBlocks =
        way !== 'types' && [...own!.sentParts, ...own!.receivedParts].every(({ contiguous }) => contiguous);
      if (way === 'pairs' && isBlocks) await this.pairs(own!, types);
      else if (isBlocks) await this.blocks(own!, types);
      else await this.typed(own!, types);
    } finally {
      types.free();
    }
  }

  /** An exchange of packed parts: all parts for one rank follow one another. */
  private async blocks({ sent, sentParts, received, receivedParts }: RankExchange, types: Types): Promise<void> {
    const { call } = this.mpi;
    const requests = new Requests(this.mpi, 1);
    const [out, into] = [countsAndOffsets(sentParts, this.size), countsAndOffsets(receivedParts, this.size)];
    const memory = [withFixedAddress(sent), withFixedAddress(received)];
    requests.kept.push(out, into, memory);
    requests.start('An exchange', (request) =>
      call.Ialltoallv(
        ...[memory[0], out.counts, out.offsets, types.element],
        ...[memory[1], into.counts, into.offsets, types.element],
        ...[this.communicator, request],
      ),
    );
    await requests.done('An exchange');
  }

  private async pairs({ rank, sent, sentParts, received, receivedParts }: RankExchange, types: Types): Promise<void> {
    const { call } = this.mpi;
    const [out, into] = [countsAndOffsets(sentParts, this.size), countsAndOffsets(receivedParts, this.size)];
    const requests = new Requests(this.mpi, 2 * this.size);
    const from = (memory: FabricMemory, { offsets }: Counts, peer: number) =>
      behind(memory, offsets[peer]! * types.bytes);
    for (let n = 0; n < this.size; n++) {
      // Each rank begins with a different rank, so that they do not all send to the same one.
      const [sender, receiver] = [(rank - n + this.size) % this.size, (rank + n) % this.size];
      if (into.counts[sender]! > 0) {
        const place = from(received, into, sender);
        requests.kept.push(place);
        requests.start('A message', (request) =>
          call.Irecv(place, into.counts[sender], types.element, sender, TAG, this.communicator, request),
        );
      }
      if (out.counts[receiver]! > 0) {
        const place = from(sent, out, receiver);
        requests.kept.push(place);
        requests.start('A message', (request) =>
          call.Isend(place, out.counts[receiver], types.element, receiver, TAG, this.communicator, request),
        );
      }
    }
    await requests.done('A message');
  }

  /** An exchange with one part for each rank, at any position of its memory. */
  private async typed(own: RankExchange, types: Types): Promise<void> {
    const { abi, call } = this.mpi;
    const requests = new Requests(this.mpi, 1);
    const side = (parts: readonly Part[]) => {
      const handles = abi.handles(this.size).fill(types.element as never);
      const counts = new Int32Array(this.size);
      for (const part of onePartPerRank(parts)) {
        handles[part.peer] = types.box(part);
        counts[part.peer] = 1;
      }
      return { handles, counts, offsets: new Int32Array(this.size) };
    };
    const [out, into] = [side(own.sentParts), side(own.receivedParts)];
    const memory = [withFixedAddress(own.sent), withFixedAddress(own.received)];
    requests.kept.push(out, into, memory);
    requests.start('An exchange', (request) =>
      call.Ialltoallw(
        ...[memory[0], out.counts, out.offsets, out.handles],
        ...[memory[1], into.counts, into.offsets, into.handles],
        ...[this.communicator, request],
      ),
    );
    await requests.done('An exchange');
  }

  async gather([own]: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const { abi, call } = this.mpi;
    const bytes = own!.length;
    const [sent, all] = [withFixedAddress(own!.slice()), new Uint8Array(bytes * this.size)];
    const requests = new Requests(this.mpi, 1);
    requests.kept.push(sent, all);
    requests.start('An agreement', (request) =>
      call.Iallgather(sent, bytes, abi.byte, withFixedAddress(all), bytes, abi.byte, this.communicator, request),
    );
    await requests.done('An agreement');
    return Array.from({ length: this.size }, (_, n) => all.slice(n * bytes, (n + 1) * bytes));
  }

  abort(): void {
    const flag = new Int32Array(1);
    this.mpi.call.Finalized(flag);
    if (flag[0] === 0) this.mpi.call.Abort(this.mpi.abi.world, EXIT_CODE);
  }

  async close(): Promise<void> {
    process.off('exit', this.exit);
    this.mpi.call.Comm_free(this.world.duplicate);
    users--;
    // MPI cannot be started again: it is finalized when the process ends, so that another world may be opened before.
    if (this.world.own && users === 0) process.once('exit', finalize(this.mpi));
  }
}

let finalizing = false;

function finalize(mpi: Mpi): () => void {
  return () => {
    if (finalizing || users > 0) return;
    finalizing = true;
    mpi.call.Finalize();
  };
}

interface Counts {
  readonly counts: Int32Array;
  readonly offsets: Int32Array;
}

/** One part for each rank: several parts for one rank are packed one behind another. */
function onePartPerRank(parts: readonly Part[]): Part[] {
  const ofPeer = new Map<number, Part>();
  for (const part of parts) {
    const { peer } = part;
    const before = ofPeer.get(peer);
    const length = before ? elementsOfPart(before) + elementsOfPart(part) : 0;
    ofPeer.set(peer, before ? { ...before, lengths: [length], strides: [1] } : part);
  }
  return [...ofPeer.values()];
}

/** The number of elements to or from each rank, and the offset of the first one. */
function countsAndOffsets(parts: readonly Part[], size: number): Counts {
  const [counts, offsets] = [new Int32Array(size), new Int32Array(size)];
  for (const part of parts) {
    if (counts[part.peer] === 0) offsets[part.peer] = part.offset;
    counts[part.peer]! += elementsOfPart(part);
  }
  return { counts, offsets };
}

/** Memory with a fixed address. A short typed array has none until its buffer is asked for; device memory always has one. */
function withFixedAddress<T extends FabricMemory>(memory: T): T {
  if (typeof memory !== 'bigint') void memory.buffer;
  return memory;
}

/** The memory that begins `bytes` behind the start of another memory. */
function behind(memory: FabricMemory, bytes: number): FabricMemory {
  if (typeof memory === 'bigint') return memory + BigInt(bytes);
  return new Uint8Array(memory.buffer as ArrayBuffer, memory.byteOffset + bytes, memory.byteLength - bytes);
}
