/**
 * Several launches over many batches: in chunks that stay in a cache from one launch to the next, where a device's profile
 * says that this pays.
 */
import { divisors } from '../numeric/primes.ts';
import type { Leaf } from './leaf.ts';
import type { DeviceProfile } from './profile.ts';

/** A leaf, and how far apart batches lie on either side of it. */
export interface BatchedLeaf {
  readonly leaf: Leaf;
  readonly apart: { readonly input: number; readonly output: number };
}

/**
 * Into how many equal chunks the groups of every launch are divided, so that a chunk holds the same batches in all of them.
 * @param bytes of one batch.
 */
export function chunksOf(
  launches: readonly BatchedLeaf[],
  batches: number,
  bytes: number,
  { chunks, multiprocessors }: DeviceProfile,
): number {
  if (!chunks || launches.length < 2) return 1;
  const wanted = multiprocessors * chunks.bytes;
  if (bytes > Math.max(wanted, chunks.most)) return 1;
  const most = Math.max(1, wanted / bytes);
  const counts = divisors(batches).filter((count) => batches / count <= most);
  return counts.find((count) => launches.every((launch) => divides(launch, batches, count))) ?? 1;
}

/** Whether the groups of a leaf come in the order of its batches, and none has a part in two chunks. */
function divides({ leaf, apart }: BatchedLeaf, batches: number, chunks: number): boolean {
  const last = leaf.batch.length - 1;
  const count = leaf.batch[last]!;
  // Other dimensions that step through memory with the batches have become one with them.
  const others = count / batches;
  const isSlowest = (side: 'input' | 'output') => {
    const stride = leaf[side].batch[last];
    return typeof stride === 'number' && stride * others === apart[side];
  };
  if (!Number.isInteger(others) || !isSlowest('input') || !isSlowest('output')) return false;
  return last > 0 || (count / chunks) % leaf.tile === 0;
}
