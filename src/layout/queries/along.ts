/**
 * Queries about one dimension of a layout. Answers are conservative: undefined, an empty list or the smallest value means "unknown".
 * They are about addresses in memory; signs and callbacks do not matter to them.
 */

import type { Layout } from '../layout.ts';
import { permute } from '../normal-form/constructors.ts';
import { joinedDimensions } from '../normal-form/normal-form.ts';
import { greatestDivisor } from '../normal-form/rows.ts';
import { runs } from './runs.ts';

/** The stride from an element to the next one in the same run; undefined if runs have different strides. */
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
 * The largest r such that, for all other coordinates, every block of elements r·k … r·k + r − 1 is contiguous and ascending in memory or
 * is all zeros. The last block may be shorter.
 */
export function contiguousRun(of: Layout, d: number): number {
  let most = of.shape[d]!;
  for (const { from, to, zero, step, whole } of runs(of, d)) {
    most = greatestDivisor(most, from);
    if (!zero && to - from > 1 && !(whole && step === 1)) return 1;
  }
  return Math.max(1, most);
}

/** The blocks of a dimension in which all elements are zeros, for all other coordinates. */
export function knownZeros(of: Layout, d: number): readonly { readonly from: number; readonly to: number }[] {
  return runs(of, d).flatMap(({ from, to, zero }) => (zero ? [{ from, to }] : []));
}

/** Whether a loop may walk dimensions `slow` and `fast` as one: their join needs no more nodes than the layout itself. */
export function mayJoin(of: Layout, slow: number, fast: number): boolean {
  const order = of.shape.flatMap((_, d) => (d === fast ? [] : d === slow ? [slow, fast] : [d]));
  return nodesIn(joinedDimensions(order.indexOf(slow), permute(of, order))) <= nodesIn(of);
}

function nodesIn(of: Layout): number {
  if (of.kind === 'concat') return of.parts.reduce((sum, part) => sum + nodesIn(part), 1);
  if (of.kind === 'mask') return of.bounds.length + nodesIn(of.of);
  return 'of' in of ? 1 + nodesIn(of.of) : 1;
}
