/** Modes of `ShortTimeFFT`: spectra with the phases of another reference sample, doubled, or with bin 0 in the middle. */
import { elementCount, type NumpyArray } from '../../numpy/array.ts';
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

/** Converts spectra of slices from a plan's form to a mode, in place or by moving bins. */
export function toMode(spectra: NumpyArray, axis: number, { mode, scaling, mfft, shift }: SliceMode): NumpyArray {
  const factors = factorsOf({ mode, scaling, mfft, shift }, spectra.shape[axis]!, 1);
  scaleBins(spectra, axis, factors);
  return mode === 'centered' ? moved(spectra, axis, Math.floor(mfft / 2)) : spectra;
}

/** A copy of the spectra, converted from a mode to a plan's form. */
export function fromMode(spectra: NumpyArray, axis: number, { mode, scaling, mfft, shift }: SliceMode): NumpyArray {
  const copy = { ...spectra, data: spectra.data.slice() } as NumpyArray;
  const plain = mode === 'centered' ? moved(copy, axis, Math.ceil(mfft / 2)) : copy;
  scaleBins(plain, axis, factorsOf({ mode, scaling, mfft, shift }, spectra.shape[axis]!, -1));
  return plain;
}

/** Interleaved complex factors of the bins. */
function factorsOf({ mode, scaling, mfft, shift }: SliceMode, bins: number, sign: 1 | -1): Float64Array {
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

function scaleBins({ data, shape }: NumpyArray, axis: number, factors: Float64Array): void {
  const [bins, inner] = [shape[axis]!, elementCount(shape.slice(axis + 1))];
  const values = data as Floats;
  for (let at = 0; at < values.length / 2; at++) {
    const k = Math.floor(at / inner) % bins;
    const [a, b] = [values[2 * at]!, values[2 * at + 1]!];
    const [c, d] = [factors[2 * k]!, factors[2 * k + 1]!];
    values[2 * at] = a * c - b * d;
    values[2 * at + 1] = a * d + b * c;
  }
}

/** Rotates the bins by a distance, cyclically. */
function moved(array: NumpyArray, axis: number, by: number): NumpyArray {
  const { data, shape } = array;
  const [bins, inner] = [shape[axis]!, 2 * elementCount(shape.slice(axis + 1))];
  const [from, to] = [data as Floats, data.slice() as Floats];
  for (let start = 0; start < data.length; start += bins * inner) {
    for (let k = 0; k < bins; k++) {
      const source = start + k * inner;
      to.set(from.subarray(source, source + inner), start + ((k + by) % bins) * inner);
    }
  }
  return { ...array, data: to } as NumpyArray;
}
