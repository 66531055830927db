/** Spectra of a line that has another number of samples afterwards, in place: cut off, or filled up with zeros. */
import type { Floats } from './floats.ts';

/** The bins of a real line of n samples, with zeros behind them, as those of one of m: the last one of an even number stands for both signs of its frequency. */
export function changeHalf(spectrum: Floats, n: number, m: number): void {
  const least = Math.min(n, m);
  if (least % 2 === 0 && n !== m) for (const part of [least, least + 1]) spectrum[part]! *= m < n ? 2 : 0.5;
}

/** The same of a complex line, whose negative frequencies go to the end. */
export function changeBoth(spectrum: Floats, n: number, m: number): void {
  if (n === m) return;
  const least = Math.min(n, m);
  const positive = Math.floor(least / 2) + 1;
  const negative = least - positive;
  // The bin at half the rate, of the longer spectrum at two places.
  const half = least % 2 === 0 ? spectrum.slice(least, least + 2) : undefined;
  const other = half && m < n ? spectrum.slice(2 * n - least, 2 * n - least + 2) : undefined;
  spectrum.copyWithin(2 * (m - negative), 2 * (n - negative), 2 * n);
  if (m > n) spectrum.fill(0, 2 * positive, 2 * (m - negative));
  if (!half) return;
  for (const part of [0, 1]) {
    if (other) spectrum[least + part] = half[part]! + other[part]!;
    else spectrum[least + part] = spectrum[2 * m - least + part] = half[part]! / 2;
  }
}
