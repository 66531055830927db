/**
 * Queries about one dimension of a layout. Every answer is safe: what it says is true, and undefined, an empty list or the smallest
 * value means "unknown". They are about places in memory; signs and callbacks on the numbers there do not matter to them.
 */
import { permute } from './constructors.ts';
import type { Layout } from './layout.ts';
import { joined } from './normal-form.ts';
import { greatestDivisor } from './rows.ts';
import { runs } from './runs.ts';

/** From an element to its neighbour, wherever both are in one run; undefined where runs differ. */
export function neighbourStep(of: Layout, d: number): number | undefined {
  if (of.kind === 'mask' || of.kind === 'alternate' || of.kind === 'map') return neighbourStep(of.of, d);
  if (of.kind === 'join') return neighbourStep(of.of, of.dimension < d ? d + 1 : of.dimension === d ? d + 1 : d);
  if (of.kind === 'affine') {
    const along = of.rows.flatMap(({ steps }, k) => (steps[d] === 0 ? [] : [k]));
    const inner = along.length === 1 ? neighbourStep(of.of, along[0]!) : undefined;
    return inner === undefined ? undefined : inner * of.rows[along[0]!]!.steps[d]!;
  }
  const there = runs(of, d).filter(({ from, to, zero }) => !zero && to - from > 1);
  const step = there[0]?.step;
  return there.every((run) => run.step === step) ? step : undefined;
}

/**
 * The most neighbours r of which every aligned block (r·k … r·k + r − 1, the last one may be shorter) lies side by side in memory,
 * ascending, or is zero, for all other coordinates.
 */
export function contiguousRun(of: Layout, d: number): number {
  let most = of.shape[d]!;
  for (const { from, to, zero, step, whole } of runs(of, d)) {
    most = greatestDivisor(most, from);
    if (!zero && to - from > 1 && !(whole && step === 1)) return 1;
  }
  return Math.max(1, most);
}

/** Blocks of a dimension that are zero for all other coordinates. */
export function knownZeros(of: Layout, d: number): readonly { readonly from: number; readonly to: number }[] {
  return runs(of, d).flatMap(({ from, to, zero }) => (zero ? [{ from, to }] : []));
}

/** Whether two dimensions, of which `fast` runs faster, may be walked as one: their join has no more nodes than the layout has. */
export function mayJoin(of: Layout, slow: number, fast: number): boolean {
  const order = of.shape.flatMap((_, d) => (d === fast ? [] : d === slow ? [slow, fast] : [d]));
  return nodesIn(joined(order.indexOf(slow), permute(of, order))) <= nodesIn(of);
}

function nodesIn(of: Layout): number {
  if (of.kind === 'concat') return of.parts.reduce((sum, part) => sum + nodesIn(part), 1);
  if (of.kind === 'mask') return of.bounds.length + nodesIn(of.of);
  return 'of' in of ? 1 + nodesIn(of.of) : 1;
}
