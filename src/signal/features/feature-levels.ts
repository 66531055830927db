/** The last steps of features, from the levels of bands: steps that refer to the largest level, on the host and as a program of patterns. */
import type { Floats } from '../arguments/floats.ts';
import type { FeatureSpec } from './feature-presets.ts';

/** The factor of the natural logarithm, and the summand after it. */
export function levelScale({ log, amin, ref }: FeatureSpec): { readonly factor: number; readonly offset: number } {
  const factor = log === 'db' ? 10 / Math.LN10 : log === 'log10' ? 1 / Math.LN10 : 1;
  return { factor, offset: ref === 'max' ? 0 : -factor * Math.log(Math.max(amin, ref)) };
}

/** Whether values depend on the largest one of the signal. */
export function isRelative({ log, topDb, ref }: FeatureSpec): boolean {
  return log !== 'none' && (topDb !== null || ref === 'max');
}

/** The largest of the values and `before`. */
export function largest(values: Floats, before: number): number {
  let most = before;
  for (let k = 0; k < values.length; k++) if (values[k]! > most) most = values[k]!;
  return most;
}

/** Converts levels into their final form. @param known the largest level; default: the largest one of the values */
export function finish(values: Floats, spec: FeatureSpec, known?: number): void {
  const { log, topDb, ref, add, multiply } = spec;
  const relative = isRelative(spec);
  if (!relative && add === 0 && multiply === 1) return;
  const top = relative ? (known ?? largest(values, Number.NEGATIVE_INFINITY)) : 0;
  const least = relative && topDb !== null ? top - topDb : Number.NEGATIVE_INFINITY;
  const shift = (log !== 'none' && ref === 'max' ? -top : 0) + add;
  for (let k = 0; k < values.length; k++) {
    const value = values[k]!;
    values[k] = (Math.max(value, least) + shift) * multiply;
  }
}

/** Whether the levels of a whole signal are its features, so that no step is left. */
export function isFinal(spec: FeatureSpec, frames: number): boolean {
  return !isRelative(spec) && spec.add === 0 && spec.multiply === 1 && missingOf(spec, frames) === 0;
}

/** The number of frames of zeros behind the signal. */
function missingOf({ rows, maxFrames }: FeatureSpec, frames: number): number {
  return rows === 'mels' ? 0 : Math.max(0, (maxFrames ?? frames) - frames);
}

/**
 * The program of patterns that makes features of the levels of a whole signal, in the order of the spec. The language of patterns is loaded only
 * when the program is made.
 */
export async function lastProgram(spec: FeatureSpec, frames: number) {
  const { add, join, map, max, mul, pad, program, real, reduce, sub, toGlobal } = await import('../../lift/index.ts');
  const { topDb, rows, nMels } = spec;
  type Real = import('../../lift/index.ts').Real;
  const missing = missingOf(spec, frames);
  const lengths = rows === 'mels' ? ([nMels, frames] as const) : ([frames, nMels] as const);
  return program({ levels: real(...lengths) }, ({ levels }) => {
    const all = missing > 0 ? pad(0, missing, 0, levels) : levels;
    const stored = missing > 0 ? toGlobal((each: typeof all) => each, all) : all;
    const shifted = (value: Real) => mul(add(value, spec.add), spec.multiply);
    if (!isRelative(spec)) return map(map(shifted), stored);
    const top = reduce(max, -3e38, join(stored));
    const zero = spec.ref === 'max' ? top : 0;
    const least = topDb === null ? -3e38 : sub(top, topDb);
    return map(
      map((value: Real) => shifted(sub(max(value, least), zero))),
      stored,
    );
  });
}
