/** Schemes of axes as tests ask for them. */
import type { AxisScheme, Uploads } from '../../src/plan/schemes/axis-scheme.ts';

/** Uploads of these lengths. */
export function uploads(...lengths: number[]): Uploads {
  return { by: 'uploads', lengths };
}

/** Lengths of the uploads of an axis that is nothing else. */
export function lengthsOf(scheme: AxisScheme | null | undefined): readonly number[] {
  if (scheme?.by !== 'uploads') throw new Error(`not uploads, but ${JSON.stringify(scheme)}`);
  return scheme.lengths;
}
