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

/** The same problem, some sides of which are stored otherwise. */
export function withSideStorage<P extends Problem>(problem: P, sideStorage: Partial<Sides<Storage | undefined>>): P {
  const own = Object.fromEntries(Object.entries(sideStorage).filter(([, storage]) => storage !== undefined));
  return Object.keys(own).length > 0 ? { ...problem, sideStorage: own } : problem;
}
