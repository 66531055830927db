/** Modes of `ShortTimeFFT`: spectra with the phases of another reference sample, doubled, or with bin 0 in the middle. */
import { elementCount, isComplex, type NumpyArray } from '../../numpy/arrays/array.ts';
import type { Floats } from '../arguments/floats.ts';

export type FftMode = 'onesided' | 'onesided2X' | 'twosided' | 'centered';
export type FftScaling = 'magnitude' | 'psd' | null;

export interface SliceMode {
  readonly mode: FftMode;
  readonly scaling: FftScaling;
  readonly mfft: number;
  /** Reference sample of the phases, in the window. */
  readonly shift: number;
}

/**
 * Complex factors by which bins of a plan become those of a mode, interleaved; with the sign −1, by which they become a plan's again.
 * @param bins bins from 0 on
 */
export function modeFactors({ mode, scaling, mfft, shift }: SliceMode, bins: number, sign: 1 | -1): Float64Array {
  const factors = new Float64Array(2 * bins);
  const twice = mode !== 'onesided2X' ? 1 : scaling === 'psd' ? Math.SQRT2 : 2;
  for (let k = 0; k < bins; k++) {
    const angle = (sign * 2 * Math.PI * ((k * shift) % mfft)) / mfft;
    const size = k > 0 && 2 * k !== mfft ? twice ** sign : 1;
    factors[2 * k] = size * Math.cos(angle);
    factors[2 * k + 1] = size * Math.sin(angle);
  }
  return factors;
}

/** Spectra with bin 0 in the middle, of spectra with bin 0 first. */
export function toCentered(spectra: NumpyArray, axis: number): NumpyArray {
  return rotatedBins(spectra, axis, Math.floor(spectra.shape[axis]! / 2));
}

/** Spectra with bin 0 first, of spectra with bin 0 in the middle. */
export function fromCentered(spectra: NumpyArray, axis: number): NumpyArray {
  return rotatedBins(spectra, axis, Math.ceil(spectra.shape[axis]! / 2));
}

/** Rotates the bins by a distance, cyclically. */
function rotatedBins(array: NumpyArray, axis: number, by: number): NumpyArray {
  const { data, shape } = array;
  const bins = shape[axis]!;
  const inner = elementCount(shape.slice(axis + 1)) * (isComplex(array.dtype) ? 2 : 1);
  const [from, to] = [data as Floats, data.slice() as Floats];
  for (let start = 0; start < data.length; start += bins * inner) {
    for (let k = 0; k < bins; k++) {
      const source = start + k * inner;
      to.set(from.subarray(source, source + inner), start + ((k + by) % bins) * inner);
    }
  }
  return { ...array, data: to } as NumpyArray;
}
