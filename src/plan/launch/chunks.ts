/**
 * Chunks of batches: several launches over many batches run chunk by chunk, so that a chunk stays in a cache from one launch to the next.
 * Only where the device's profile says that this pays.
 */
import { strideAlong } from '../../layout/index.ts';
import { divisors } from '../../numeric/primes.ts';
import type { BufferName } from '../buffers/index.ts';
import { capacityOf } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';
import { residentByRegisters } from '../group/threads.ts';
import { type Leaf, radicesOf } from '../tree/leaf.ts';

/** A launch, and the distance between batches on each of its sides. */
export interface BatchedLaunch {
  readonly leaf: Leaf;
  readonly from: BufferName;
  readonly to: BufferName;
  readonly batchStrides: { readonly input: number; readonly output: number };
}

/** Two launches combined into one with interleaved groups. */
export interface Interleaving {
  /** The number of chunks that the first launch runs ahead of the second. */
  readonly ahead: number;
  /** The number of groups that should run side by side on a multiprocessor. */
  readonly beside: number;
}

/** The order in which the groups of several launches run. */
export interface Chunking {
  /** The number of chunks that the groups of every launch are divided into. One chunk goes through all launches before the next. */
  readonly chunks: number;
  /** Missing if the launches stay separate. */
  readonly interleaved?: Interleaving;
}

/**
 * The number of equal chunks for the groups of every launch, so that a chunk holds the same batches in all of them.
 * @param bytes in one batch
 */
export function chunksOf(launches: readonly BatchedLaunch[], batches: number, bytes: number, target: Target): Chunking {
  const { chunks, multiprocessors } = target;
  if (!chunks || launches.length < 2) return { chunks: 1 };
  const wanted = multiprocessors * chunks.bytes;
  if (bytes > Math.max(wanted, chunks.most)) return { chunks: 1 };
  const most = Math.max(1, wanted / bytes);
  // One chunk is neither cut nor interleaved.
  if (batches === 1 || (chunks.ahead === undefined && batches <= most)) return { chunks: 1 };
  if (!launches.every((launch) => followsBatches(launch, batches))) return { chunks: 1 };
  const counts = divisors(batches).filter(
    (count) => batches / count <= most && launches.every(({ leaf }) => hasWholeTiles(leaf, count)),
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

/** The least number of groups side by side on a multiprocessor, so that one computes while another waits for memory. */
const SIDE_BY_SIDE = 2;

/**
 * The number of groups that run side by side if two launches are combined; 0 if they cannot be. The second launch has to work in place, so
 * that a cache holds one copy of the data between them. The threads of one have to be a multiple of the threads of the other, so that
 * several groups of the latter share a block.
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
    // The last tile along the first dimension may be partial.
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

/** Whether the groups of a leaf are in the order of its batches. */
function followsBatches(
  { leaf, batchStrides }: Pick<BatchedLaunch, 'leaf' | 'batchStrides'>,
  batches: number,
): boolean {
  const last = leaf.batch.length - 1;
  const count = leaf.batch[last]!;
  // Dimensions whose strides continue those of the batch have been merged with it.
  const others = count / batches;
  const isSlowest = (side: 'input' | 'output') => {
    const { layout, format } = leaf[side];
    const stride = strideAlong(layout, leaf.lengths.length + last);
    return stride !== undefined && stride * others === batchStrides[side] * (format === 'interleaved' ? 2 : 1);
  };
  return Number.isInteger(others) && isSlowest('input') && isSlowest('output');
}

/** Whether no group of a leaf has parts in two chunks. */
function hasWholeTiles({ batch, tile }: Leaf, chunks: number): boolean {
  return batch.length > 1 || (batch[0]! / chunks) % tile === 0;
}
