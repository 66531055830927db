/**
 * The criteria by which assignments of one tree are ranked: rocFFT's criteria ("Choosing a winner") from the second on, in their order. The
 * first criterion, the number of fused kernels, is decided by price before a tree is made, so all assignments of a tree are equal in it.
 */
export interface Criteria {
  /** The number of distinct memories used, the user's included: fewer is better. */
  readonly bufferCount: number;
  /** The number of reads and writes with padded strides: more is better once the memory is allocated. */
  readonly padded: number;
  /** The number of leaves that write the memory they read: more is better. */
  readonly inPlace: number;
  /** The number of leaves whose input and output have different array types: fewer is better. */
  readonly typeChanges: number;
}

/** The first criterion in which two assignments differ; undefined if they are equal in all. */
export function decidingCriterion(a: Criteria, b: Criteria): keyof Criteria | undefined {
  const order = ['bufferCount', 'padded', 'inPlace', 'typeChanges'] as const;
  return order.find((criterion) => a[criterion] !== b[criterion]);
}

/** Negative if `a` is better than `b`, zero if they are equal in all criteria. */
export function compareCriteria(a: Criteria, b: Criteria): number {
  return a.bufferCount - b.bufferCount || b.padded - a.padded || b.inPlace - a.inPlace || a.typeChanges - b.typeChanges;
}
