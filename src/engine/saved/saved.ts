/**
 * Plans as text: how the planner split the axes, which is what takes it time. Whoever loads a plan derives the rest of it
 * from the problem, as the planner does: nothing that a text says becomes a stride, a table or a kernel unseen.
 */
import type { Backend } from '../../devices/device.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import type { Problem } from '../../problem/index.ts';
import { version } from '../programs/version.ts';

export const FORMAT = 'omnifft-plan-3';

export interface Saved {
  readonly format: string;
  /** Of omnifft: another one may split otherwise. */
  readonly version: string;
  readonly profile: unknown;
  readonly problem: unknown;
  /** Of both directions: an unordered inverse undoes what the forward transform did. */
  readonly splits: Splits;
  /** Of `splits`, which shows damage. */
  readonly checksum: string;
}

export function serializePlan(problem: Problem, backend: Backend, plans: readonly DirectionPlan[]): string {
  const { profile } = backend;
  // Of a spectral layer, which has no directions, nothing is searched for that takes long.
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
