/**
 * How assignments of one tree are ranked: rocFFT's criteria ("Choosing a winner") from the second on, in their order. The first one,
 * how many kernels are fused, is decided by price before a tree is made, so all assignments of a tree are alike in it.
 */
export interface Criteria {
  /** Distinct memories used, those of the user included: fewer is better. */
  readonly bufferCount: number;
  /** Reads and writes along padded strides: more is better, once the memory is paid for. */
  readonly padded: number;
  /** Leaves that write the memory they read: more is better. */
  readonly inPlace: number;
  /** Leaves that read one array type and write the other: fewer is better. */
  readonly typeChanges: number;
}

/** By which two assignments can be told apart; undefined where by none. */
export function decidingCriterion(a: Criteria, b: Criteria): keyof Criteria | undefined {
  const order = ['bufferCount', 'padded', 'inPlace', 'typeChanges'] as const;
  return order.find((criterion) => a[criterion] !== b[criterion]);
}

/** Negative where `a` is better than `b`, zero where the criteria cannot tell them apart. */
export function compareCriteria(a: Criteria, b: Criteria): number {
  return a.bufferCount - b.bufferCount || b.padded - a.padded || b.inPlace - a.inPlace || a.typeChanges - b.typeChanges;
}
