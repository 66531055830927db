/**
 * Sides that store numbers otherwise than their problem says: what passes of several ranks send one another may be halves, whatever the
 * caller holds. Users cannot ask for it.
 */
import type { Problem, Side, Sides, Storage } from './problem.ts';

interface ProblemOfStorages {
  readonly sideStorage: Partial<Sides<Storage>>;
}

/** What a side stores its numbers in. */
export function storageOfSide(problem: Pick<Problem, 'edgeStorage'>, side: Side): Storage {
  const own = 'sideStorage' in problem ? (problem as object as ProblemOfStorages).sideStorage[side] : undefined;
  return own ?? problem.edgeStorage;
}

/** The same problem, some sides of which are stored otherwise. */
export function withSideStorage<P extends Problem>(problem: P, sideStorage: Partial<Sides<Storage | undefined>>): P {
  const { sideStorage: _, ...whole } = problem as P & Partial<ProblemOfStorages>;
  const isOther = (storage: Storage | undefined) => storage !== undefined && storage !== problem.edgeStorage;
  const own = Object.fromEntries(Object.entries(sideStorage).filter(([, storage]) => isOther(storage)));
  return (Object.keys(own).length > 0 ? { ...whole, sideStorage: own } : whole) as P;
}
