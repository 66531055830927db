/**
 * Sides with another storage than their problem: messages that the passes of several ranks exchange may be halves, whatever the storage of the
 * caller's data. Users cannot ask for it.
 */
import type { Problem, Side, Sides, Storage } from './problem.ts';

/** A problem that has sides with another storage. */
export interface ProblemOfStorages {
  readonly sideStorage: Partial<Sides<Storage>>;
}

/** The storage of a side. */
export function storageOfSide(problem: Pick<Problem, 'edgeStorage'> & Partial<ProblemOfStorages>, side: Side): Storage {
  return problem.sideStorage?.[side] ?? problem.edgeStorage;
}

/** The same problem with halves on the sides that are true. */
export function withHalves<P extends Problem>(problem: P, { input, output }: Sides<boolean>): P {
  if (!input && !output) return problem;
  const sideStorage = { ...(input ? { input: 'half' } : {}), ...(output ? { output: 'half' } : {}) };
  return { ...problem, sideStorage };
}
