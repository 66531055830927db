/** The arrays of reals that kernels touch. */

export type ElementType = 'f32' | 'f64';

/**
 * An array of reals that a kernel touches. `global`: bound at launch. `shared`: one per group, of known length.
 * `table`: constants that the plan fills in.
 */
export interface ArrayRef {
  readonly name: string;
  readonly space: 'global' | 'shared' | 'table';
  readonly type: ElementType;
  /** Of a global: one plane of complex numbers. It may begin at any real, so its neighbours are never read as pairs. */
  readonly plane?: true;
  /** Elements; required for `shared`. */
  readonly length?: number;
  /**
   * Of a shared array: its two halves, of so many elements each, take turns in one memory (rocFFT's "half LDS"). An
   * exchange hands over first what was stored in the lower half, then the upper one, which waits in registers until then.
   */
  readonly half?: number;
}
