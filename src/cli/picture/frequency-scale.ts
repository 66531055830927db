/** Frequency scales of a picture's vertical axis: linear, logarithmic or mel. */

import { tickStep, ticks } from 'd3-array';
import { hzToMel, melToHz } from '../../signal/features/mel.ts';

export const frequencyScales = ['linear', 'log', 'mel'] as const;
export type FrequencyScaleName = (typeof frequencyScales)[number];

/** A tick mark, with its position as a fraction of the axis. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** An axis that ends at half the sample rate. */
export interface FrequencyScale {
  /** The label of the axis, such as `Frequency (kHz)`. */
  readonly title: string;
  /** The frequency, in hertz, at a fraction of the height. */
  readonly hertzAt: (share: number) => number;
  /** Tick marks at round frequencies, about `count` of them. */
  readonly ticks: (count: number) => Tick[];
}

/** The fewest samples of a frame for a logarithmic scale, which needs two bins above 0 Hz. */
export const LEAST_LOG_SIZE = 4;

/**
 * The scale by its name.
 * @param sampleRate in hertz
 * @param size samples in a frame; for `log` at least 4, because the axis begins at the first bin above 0 Hz
 */
export function frequencyScale(
  name: FrequencyScaleName,
  { sampleRate, size }: { readonly sampleRate: number; readonly size: number },
): FrequencyScale {
  const top = sampleRate / 2;
  if (name === 'linear') {
    const [unit, length] = top >= 2000 ? (['kHz', top / 1000] as const) : (['Hz', top] as const);
    return {
      title: `Frequency (${unit})`,
      hertzAt: (share) => share * top,
      ticks: (count) => tickLabels(0, length, count).map(({ value, label }) => ({ at: value / length, label })),
    };
  }
  if (name === 'mel') {
    const most = hzToMel(top);
    const shareOf = (hertz: number) => hzToMel(hertz) / most;
    const hertzAt = (share: number) => melToHz(share * most);
    return { title: 'Frequency (Hz, mel scale)', hertzAt, ticks: roundTicks([0], top, shareOf) };
  }
  const low = sampleRate / size;
  const octaves = Math.log2(top / low);
  return {
    title: 'Frequency (Hz, by octaves)',
    hertzAt: (share) => low * 2 ** (share * octaves),
    ticks: roundTicks([], top, (hertz) => Math.log2(hertz / low) / octaves),
  };
}

/** Tick marks at 1, 2 and 5 times powers of ten, each far enough from the one below. */
function roundTicks(
  first: readonly number[],
  top: number,
  shareOf: (hertz: number) => number,
): (count: number) => Tick[] {
  const powers = Array.from({ length: Math.max(1, Math.ceil(Math.log10(top)) + 4) }, (_, k) => 10 ** (k - 3));
  const round = [...first, ...powers.flatMap((power) => [power, 2 * power, 5 * power])];
  return (count) => {
    let last = Number.NEGATIVE_INFINITY;
    return round.flatMap((hertz) => {
      const at = shareOf(hertz);
      if (at < 0 || at > 1 || at < last + 0.6 / count) return [];
      last = at;
      return [{ at, label: String(Number(hertz.toPrecision(1))) }];
    });
  };
}

/** Round values from `low` to `high`, with as many decimals as their distance needs. */
export function tickLabels(low: number, high: number, count: number): { value: number; label: string }[] {
  const decimals = Math.max(0, -Math.floor(Math.log10(tickStep(low, high, count)) + 1e-9));
  return ticks(low, high, count).map((value) => ({ value, label: value.toFixed(decimals).replace('-', '−') }));
}
