/**
 * The last steps of features, from the values of bands, as a program of patterns and on the host: logarithms, and steps that refer to the largest
 * value.
 */
import type { NumpyArray } from '../../numpy/array.ts';
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

/** Converts levels into their final form. @param top the largest level */
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

/**
 * The program of patterns that makes levels of bands out of the spectra of frames. The language of patterns is loaded only when the program is made.
 * @param bank shape [nMels, bins]
 * @param isWhole whether these are all frames, so that the largest value is known
 * @returns a program of `spectra`, a row of frames for each bin
 */
export async function melProgram(spec: FeatureSpec, bank: NumpyArray<'float64'>, frames: number, isWhole: boolean) {
  const lift = await import('../../lift/index.ts');
  const { add, array2, exp, join, log, map, max, mul, pad, program, real, reduce, sub, toGlobal, transpose, zip } =
    lift;
  const [nMels, bins] = bank.shape as [number, number];
  const filters = array2(nMels, bins, (band: number, bin: number) => bank.data[band * bins + bin]!);
  const { power, amin, topDb, rows } = spec;
  const { factor, offset } = levelScale(spec);
  type Real = import('../../lift/index.ts').Real;
  type Arr<A> = import('../../lift/index.ts').Arr<A>;
  // Powers of magnitudes with any other exponent p are e^(p · ln m).
  const raised = (m: Real) => exp(mul(power, log(max(1e-30, m))));
  const level = (sum: Real) => (spec.log === 'none' ? sum : add(mul(log(max(amin, sum)), factor), offset));
  return program({ spectra: real(bins, frames) }, ({ spectra }) => {
    const given = power === 1 || power === 2 ? spectra : toGlobal(map(map(raised)), spectra);
    const levels = map(
      (frame) => map((band: Arr<Real>) => level(reduce(add, 0, map(mul, zip(band, frame)))), filters),
      transpose(given),
    );
    // Frames lie side by side in a row, so that neighbouring threads read the same bins.
    if (!isWhole) return transpose(levels);
    const missing = (spec.maxFrames ?? frames) - frames;
    const ordered = rows === 'mels' ? transpose(levels) : missing > 0 ? pad(0, missing, 0, levels) : levels;
    if (!isRelative(spec) && spec.add === 0 && spec.multiply === 1) return ordered;
    const stored = toGlobal((all: typeof ordered) => all, ordered);
    const top = reduce(max, -3e38, join(stored));
    const zero = spec.ref === 'max' ? top : 0;
    const least = topDb === null || !isRelative(spec) ? -3e38 : sub(top, topDb);
    return map(
      map((value: Real) => mul(add(sub(max(value, least), zero), spec.add), spec.multiply)),
      stored,
    );
  });
}
