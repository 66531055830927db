/** Input and result of the first transform: curves for one axis, pictures for more. */

import { logicalLength } from '../../src/problem/index.ts';
import { byId } from './dom.ts';
import { showHeatmap } from './heatmap.ts';
import { frequency, short } from './numbers.ts';
import { showPlot } from './plot.ts';
import type { Planned } from './session.ts';
import { SAMPLE_RATE } from './signals.ts';
import { type Arrays, isReal, plane, type Side } from './tensor.ts';

/** Amplitudes below this many decibels of full scale are all shown alike. */
const FLOOR_DECIBELS = -140;

const decibels = (amplitude: number) => Math.max(FLOOR_DECIBELS, 20 * Math.log10(amplitude));

/** Draws both sides and says which bin is strongest. */
export function showResult({ plan, direction }: Planned, input: Arrays, result: Arrays): void {
  const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
  if (plan.problem.size.length === 1) showLines({ plan, direction }, read, input, written, result);
  else showPlanes({ plan, direction }, read, input, written, result);
}

type Shown = Pick<Planned, 'plan' | 'direction'>;

function showLines({ plan, direction }: Shown, read: Side, input: Arrays, written: Side, result: Arrays): void {
  const [length = 1] = plan.problem.size;
  const signal = plane(plan, read, input, 'real').values;
  const largest = signal.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
  showPlot(byId('input-plot'), {
    title: `Input: ${length} samples at ${SAMPLE_RATE / 1000} kHz`,
    x: { label: 'time (ms)', from: 0, to: ((length - 1) / SAMPLE_RATE) * 1000 },
    y: { label: 'amplitude', from: -largest, to: largest },
    curves: [{ name: 'amplitude', values: signal }],
  });
  // A real signal has a mirrored spectrum: one half, at twice its height, tells all. Cosines and sines are such halves.
  const logical = logicalLength(plan.problem.transform[0] ?? 'c2c', length);
  const amplitude = amplitudeFactor(plan, direction);
  const magnitudes = plane(plan, written, result, 'magnitude')
    .values.slice(0, (logical >> 1) + 1)
    .map((value, k) => value * amplitude * (k === 0 || 2 * k === logical ? 1 : 2));
  const peak = strongest(magnitudes);
  const hertz = (peak * SAMPLE_RATE) / logical;
  const levels = magnitudes.map(decibels);
  const top = Math.max(0, Math.ceil((levels[peak] ?? 0) / 10) * 10);
  showPlot(byId('spectrum-plot'), {
    title: `Spectrum: ${magnitudes.length} bins of ${frequency(SAMPLE_RATE / logical)}. 0 dB: amplitude 1`,
    x: { label: 'frequency (kHz)', from: 0, to: ((magnitudes.length - 1) * SAMPLE_RATE) / logical / 1000 },
    y: { label: 'amplitude (dB)', from: FLOOR_DECIBELS, to: top },
    curves: [{ name: 'amplitude (dB)', values: levels }],
    marked: { index: peak, text: frequency(hertz) },
  });
  sayPeak([peak], `${peak} of ${length}: ${frequency(hertz)}, amplitude ${short(magnitudes[peak] ?? 0, 4)}`);
}

function showPlanes({ plan, direction }: Shown, read: Side, input: Arrays, written: Side, result: Arrays): void {
  const real = plane(plan, read, input, 'real');
  const [low, high] = extremes(real.values);
  const { size } = plan.problem;
  const more =
    size.length > 2
      ? `, ${size
          .slice(2)
          .map((_, n) => `axis ${n + 2} at 0`)
          .join(', ')}`
      : '';
  showHeatmap(byId('input-plot'), {
    ...real,
    title: `Input, ${real.width} × ${real.height} samples, axis 0 to the right, axis 1 down${more}`,
    from: low,
    to: high,
    unit: '',
    centred: false,
  });
  const spectrum = plane(plan, written, result, 'magnitude');
  const isComplex = !isReal(plan, 'output');
  const amplitude = amplitudeFactor(plan, direction);
  const peak = strongest(spectrum.values);
  const levels = spectrum.values.map((value) => decibels(value * amplitude));
  const [, top] = extremes(levels);
  showHeatmap(byId('spectrum-plot'), {
    ...spectrum,
    values: levels,
    title: isComplex ? 'Spectrum, frequency 0 in the middle' : 'Spectrum, axis 0 to the right, axis 1 down',
    from: Math.max(FLOOR_DECIBELS, top - 100),
    to: top,
    unit: 'dB (0 dB: amplitude 1)',
    centred: isComplex,
  });
  const bins = [peak % spectrum.width, Math.floor(peak / spectrum.width)];
  sayPeak(
    bins,
    `(${bins.join(', ')}) of ${size.join(' × ')}, amplitude ${short((spectrum.values[peak] ?? 0) * amplitude, 4)}`,
  );
}

/** What turns a bin into the amplitude of its wave: the transform adds up all points. */
function amplitudeFactor({ problem }: Planned['plan'], direction: 'forward' | 'inverse'): number {
  const along = (length: number, axis: number) => logicalLength(problem.transform[axis] ?? 'c2c', length);
  const points = problem.size.reduce((all, n, axis) => (problem.omit[axis] ? all : all * along(n, axis)), 1);
  const scale = Math.abs(problem.scale[direction]) || 1;
  return 1 / (scale * (direction === 'inverse' && problem.normalize ? 1 : points));
}

/** The first of the strongest: a bin and its mirror image differ by rounding errors only. */
function strongest(values: ArrayLike<number>): number {
  let most = 0;
  for (let k = 0; k < values.length; k++) most = Math.max(most, values[k] ?? 0);
  for (let k = 0; k < values.length; k++) if ((values[k] ?? 0) >= most * (1 - 1e-5)) return k;
  return 0;
}

function extremes(values: Float64Array): readonly [number, number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

function sayPeak(bins: readonly number[], text: string): void {
  const output = byId('peak');
  output.textContent = `bin ${text}`;
  output.dataset.bin = bins.join();
}
