/**
 * Several launches over many batches: in chunks that stay in a cache from one launch to the next, where a device's profile
 * says that this pays.
 */
import { strideOf } from '../../layout/index.ts';
import { divisors } from '../../numeric/primes.ts';
import type { BufferName } from '../buffers/index.ts';
import { capacityOf } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';
import { residentByRegisters } from '../group/threads.ts';
import { type Leaf, radicesOf } from '../tree/leaf.ts';

/** A launch, and how far apart batches lie on either side of it. */
export interface BatchedLaunch {
  readonly leaf: Leaf;
  readonly from: BufferName;
  readonly to: BufferName;
  readonly apart: { readonly input: number; readonly output: number };
}

/** Two launches as one, whose groups are interleaved. */
export interface Interleaving {
  /** By how many chunks the first one is ahead of the second. */
  readonly ahead: number;
  /** Groups that are to run side by side on a multiprocessor. */
  readonly beside: number;
}

/** In which order the groups of several launches run. */
export interface Chunking {
  /** Into how many chunks the groups of every launch are divided: one chunk goes through all launches after another. */
  readonly chunks: number;
  /** Missing where the launches stay apart. */
  readonly interleaved?: Interleaving;
}

/**
 * Into how many equal chunks the groups of every launch are divided, so that a chunk holds the same batches in all of them.
 * @param bytes of one batch.
 */
export function chunksOf(launches: readonly BatchedLaunch[], batches: number, bytes: number, target: Target): Chunking {
  const { chunks, multiprocessors } = target;
  if (!chunks || launches.length < 2) return { chunks: 1 };
  const wanted = multiprocessors * chunks.bytes;
  if (bytes > Math.max(wanted, chunks.most)) return { chunks: 1 };
  const most = Math.max(1, wanted / bytes);
  const counts = divisors(batches).filter(
    (count) => batches / count <= most && launches.every((launch) => divides(launch, batches, count)),
  );
  if (chunks.ahead === undefined) return { chunks: counts[0] ?? 1 };
  for (const count of counts) {
    const beside = count > 1 ? residentOfBoth(launches, count, target) : 0;
    if (beside < SIDE_BY_SIDE) continue;
    const ahead = Math.round((chunks.ahead * count) / (bytes * batches));
    return { chunks: count, interleaved: { ahead: Math.min(Math.max(1, ahead), count), beside } };
  }
  return { chunks: 1 };
}

/** Groups that have to fit side by side on a multiprocessor, so that one computes while another one waits for memory. */
const SIDE_BY_SIDE = 2;

/**
 * How many groups run side by side where two launches are one; 0 where they cannot be. The second one has to work in place,
 * so that a cache holds one copy of what goes between them, and the threads of one have to be a whole number of times those
 * of the other, for several groups of it then share a block.
 */
function residentOfBoth(launches: readonly BatchedLaunch[], chunks: number, target: Target): number {
  const [first, second, more] = launches as [BatchedLaunch, BatchedLaunch, BatchedLaunch?];
  if (more || second.from !== second.to || first.to !== second.from) return 0;
  const leaves = [first.leaf, second.leaf];
  const threads = Math.max(...leaves.map((leaf) => leaf.threads));
  const fits = leaves.map((leaf) => {
    const { precision, lengths, tile, batch, shared } = leaf;
    const points = lengths.reduce((a, b) => a * b, tile);
    const together = threads / leaf.threads;
    // The last tile along the first dimension need not be full.
    const groups = batch.slice(1).reduce((a, b) => a * b, Math.ceil(batch[0]! / tile)) / chunks;
    if (!Number.isInteger(together) || !Number.isInteger(groups / together)) return 0;
    if (leaf.blocks > 1) return 0;
    const { sharedBytes } = capacityOf(precision, { ...target, sharedFormat: shared.format }, shared.quarters ? 4 : 2);
    const byMemory = (target.residentBytes ?? target.sharedBytes) / (points * together * sharedBytes);
    const each = residentByRegisters(points, radicesOf(leaf).flat(), leaf.threads, target, 0);
    return Math.floor(Math.min(byMemory, each / together));
  });
  return Math.min(...fits);
}

/** Whether the groups of a leaf come in the order of its batches, and none has a part in two chunks. */
function divides({ leaf, apart }: Pick<BatchedLaunch, 'leaf' | 'apart'>, batches: number, chunks: number): boolean {
  const last = leaf.batch.length - 1;
  const count = leaf.batch[last]!;
  // Other dimensions that step through memory with the batches have become one with them.
  const others = count / batches;
  const isSlowest = (side: 'input' | 'output') => {
    const { layout, format } = leaf[side];
    const stride = strideOf(layout, leaf.lengths.length + last);
    return stride !== undefined && stride * others === apart[side] * (format === 'interleaved' ? 2 : 1);
  };
  if (!Number.isInteger(others) || !isSlowest('input') || !isSlowest('output')) return false;
  return last > 0 || (count / chunks) % leaf.tile === 0;
}
