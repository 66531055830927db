/**
 * How axes are split into launches: what the search over trees decides, and nearly all that planning takes its time for.
 * The rest of a plan follows from it.
 */
export interface Splits {
  /**
   * The first of the axes that have no uploads of their own, where they share launches: so many in one; or up to three of them in two, the
   * second one cut into these parts.
   */
  readonly together?: number | readonly number[];
  /** For each axis of the problem the lengths of its uploads; of an axis that has none of its own, none. */
  readonly uploads: readonly (readonly number[])[];
}
