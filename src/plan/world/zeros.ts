/** Blocks of zeros of a side (`zeroPadding`) on one rank. */
import type { Block as ZeroBlock } from '../../problem/index.ts';
import { type Box, isEmptyBox, withRange } from '../../problem/world/index.ts';

/** The blocks of zeros, one entry for each axis. */
export type ZeroBlocks = readonly (ZeroBlock | null)[];

/** The parts of a box outside all blocks of zeros. */
export function outsideBlocks(box: Box, zeros: ZeroBlocks | undefined): Box[] {
  let parts: Box[] = [box];
  zeros?.forEach((zero, axis) => {
    if (!zero) return;
    parts = parts.flatMap((part) => [
      withRange(part, axis, part.from[axis]!, Math.min(part.to[axis]!, zero.from)),
      withRange(part, axis, Math.max(part.from[axis]!, zero.to), part.to[axis]!),
    ]);
    parts = parts.filter((part) => !isEmptyBox(part));
  });
  return parts;
}

/** The blocks of zeros inside a box, counted from its first point; `all` where they cover the box. */
export function zerosWithin(box: Box, zeros: ZeroBlocks): ZeroBlocks | 'all' {
  const within = zeros.map((zero, axis): ZeroBlock | null => {
    if (!zero) return null;
    const [first, last] = [box.from[axis]!, box.to[axis]!];
    const [from, to] = [Math.max(zero.from, first), Math.min(zero.to, last)];
    return from < to ? { from: from - first, to: to - first } : null;
  });
  const isAll = within.some((zero, axis) => zero && zero.from === 0 && zero.to === box.to[axis]! - box.from[axis]!);
  return isAll ? 'all' : within;
}
