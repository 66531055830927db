/** What is done to the values of bands: logarithms, and what refers to the largest of them. */
import type { FeatureSpec } from './feature-presets.ts';
import type { Floats } from './floats.ts';

/** What the natural logarithm is multiplied by, and what is added then. */
export function levelScale({ log, amin, ref }: FeatureSpec): { readonly factor: number; readonly offset: number } {
  const factor = log === 'db' ? 10 / Math.LN10 : log === 'log10' ? 1 / Math.LN10 : 1;
  return { factor, offset: ref === 'max' ? 0 : -factor * Math.log(Math.max(amin, ref)) };
}

/** Whether values depend on the largest one. */
export function isRelative({ log, topDb, ref }: FeatureSpec): boolean {
  return log !== 'none' && (topDb !== null || ref === 'max');
}

/** The largest value, or `before` where that is larger. */
export function largest(values: Floats, before: number): number {
  let most = before;
  for (let k = 0; k < values.length; k++) if (values[k]! > most) most = values[k]!;
  return most;
}

/** Brings levels into their final form. @param top the largest one */
export function finish(values: Floats, spec: FeatureSpec, top: number): void {
  const { log, topDb, ref, add, multiply } = spec;
  const relative = isRelative(spec);
  if (!relative && add === 0 && multiply === 1) return;
  const least = relative && topDb !== null ? top - topDb : Number.NEGATIVE_INFINITY;
  const shift = (log !== 'none' && ref === 'max' ? -top : 0) + add;
  for (let k = 0; k < values.length; k++) {
    const value = values[k]!;
    values[k] = (Math.max(value, least) + shift) * multiply;
  }
}
