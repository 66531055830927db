/**
 * Sides that store numbers otherwise than their problem says: what passes of several ranks send one another may be halves, whatever the
 * caller holds. Users cannot ask for it.
 */
import type { Problem, Side, Sides, Storage } from './problem.ts';

interface ProblemOfStorages {
  readonly sideStorage: Partial<Sides<Storage>>;
}

/** What a side stores its numbers in. */
export function storageOfSide(problem: Pick<Problem, 'edgeStorage'> & Partial<ProblemOfStorages>, side: Side): Storage {
  return problem.sideStorage?.[side] ?? problem.edgeStorage;
}

/** The same problem with halves stored on the sides that are true. */
export function withHalves<P extends Problem>(problem: P, { input, output }: Sides<boolean>): P {
  if (!input && !output) return problem;
  const sideStorage = { ...(input ? { input: 'half' } : {}), ...(output ? { output: 'half' } : {}) };
  return { ...problem, sideStorage };
}
