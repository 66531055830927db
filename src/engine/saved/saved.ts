/**
 * Plans as text: the splits of axes, which take most of the planning time. The loader derives all else from the problem,
 * as the planner does, so that no stride, table or kernel comes unchecked from the text.
 */
import type { Backend } from '../../devices/device.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import type { Problem } from '../../problem/index.ts';
import { version } from '../programs/version.ts';

export const FORMAT = 'omnifft-plan-3';

export interface Saved {
  readonly format: string;
  /** The version of omnifft, since another one may split differently. */
  readonly version: string;
  readonly profile: unknown;
  readonly problem: unknown;
  /** The splits of both directions, which are the same because an unordered inverse undoes the forward transform's order. */
  readonly splits: Splits;
  /** The checksum of `splits`, which shows damage. */
  readonly checksum: string;
}

export function serializePlan(problem: Problem, backend: Backend, plans: readonly DirectionPlan[]): string {
  const { profile } = backend;
  // A spectral layer has no directions, and its planning needs no long search, so it saves empty splits.
  const splits = plans[0]?.splits ?? { axes: problem.size.map(() => null) };
  const saved: Saved = { format: FORMAT, version, profile, problem, splits, checksum: checksum(splits) };
  return JSON.stringify(saved);
}

/** FNV-1a of the text, 32 bits (Fowler, Noll and Vo). */
export function checksum(value: unknown): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(value) ?? '') {
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
