/**
 * Everything of a spectrogram's picture that is lines and letters: title, axes, ticks, units, colour bar, as SVG.
 */

import { tickStep, ticks } from 'd3-array';
import type { Spectrogram } from '../../signal/index.ts';
import type { Caption } from './caption.ts';
import { colours, type LevelRange } from './heatmap.ts';
import { type Box, INK, MUTED, text } from './svg.ts';

export const PICTURE = { width: 1600, height: 900 } as const;
/** Where the heat map goes. */
export const PLOT: Box = { x: 132, y: 128, width: 1268, height: 648 };
const BAR: Box = { x: PLOT.x + PLOT.width + 36, y: PLOT.y, width: 26, height: PLOT.height };

const TICK = 9;

/** The picture without its heat map, whose area stays empty. */
export function figure(spectrogram: Spectrogram, range: LevelRange, caption: Caption): string {
  const { frames, hop, size, sampleRate } = spectrogram;
  const time = timeUnit(((frames - 1) * hop + size) / sampleRate);
  const frequency = frequencyUnit(sampleRate / 2);
  const parts = [
    text(PLOT.x, 58, caption.title, { size: 32, weight: 600 }),
    text(PLOT.x, 96, caption.subtitle, { size: 20, fill: MUTED }),
    frame(PLOT),
    ...axisBelow(time.extent),
    text(PLOT.x + PLOT.width / 2, PLOT.y + PLOT.height + 82, `Time (${time.unit})`, { size: 23, anchor: 'middle' }),
    ...axisLeft(frequency.extent),
    upright(48, PLOT.y + PLOT.height / 2, `Frequency (${frequency.unit})`),
    ...colourBar(range),
    upright(PICTURE.width - 40, PLOT.y + PLOT.height / 2, 'Level (dB, full-scale sine = 0)'),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${PICTURE.width}" height="${PICTURE.height}">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}

/** Round values from 0 up, with as many decimals as the steps between them need. */
export function tickLabels(low: number, high: number, count: number): { value: number; label: string }[] {
  const decimals = Math.max(0, -Math.floor(Math.log10(tickStep(low, high, count)) + 1e-9));
  return ticks(low, high, count).map((value) => ({ value, label: value.toFixed(decimals).replace('-', '−') }));
}

function timeUnit(seconds: number): { extent: number; unit: string } {
  if (seconds < 1) return { extent: seconds * 1000, unit: 'ms' };
  return seconds > 600 ? { extent: seconds / 60, unit: 'min' } : { extent: seconds, unit: 's' };
}

function frequencyUnit(hertz: number): { extent: number; unit: string } {
  return hertz >= 2000 ? { extent: hertz / 1000, unit: 'kHz' } : { extent: hertz, unit: 'Hz' };
}

function axisBelow(extent: number): string[] {
  const y = PLOT.y + PLOT.height;
  return tickLabels(0, extent, 10).flatMap(({ value, label }) => {
    const x = PLOT.x + (value / extent) * PLOT.width;
    return [line(x, y, x, y + TICK), text(x, y + 36, label, { size: 20, anchor: 'middle' })];
  });
}

function axisLeft(extent: number): string[] {
  return tickLabels(0, extent, 9).flatMap(({ value, label }) => {
    const y = PLOT.y + PLOT.height * (1 - value / extent);
    return [line(PLOT.x - TICK, y, PLOT.x, y), text(PLOT.x - 16, y + 7, label, { size: 20, anchor: 'end' })];
  });
}

function colourBar({ low, high }: LevelRange): string[] {
  const stops = Array.from({ length: 33 }, (_, k) => {
    const [red, green, blue] = colours.subarray(3 * Math.min(8 * k, 255));
    return `<stop offset="${k / 32}" stop-color="rgb(${red},${green},${blue})"/>`;
  });
  const marks = tickLabels(low, high, 9).flatMap(({ value, label }) => {
    const x = BAR.x + BAR.width;
    const y = BAR.y + (BAR.height * (high - value)) / (high - low);
    return [line(x, y, x + TICK, y), text(x + 16, y + 7, label, { size: 20 })];
  });
  return [
    `<linearGradient id="levels" x1="0" y1="1" x2="0" y2="0">${stops.join('')}</linearGradient>`,
    `<rect x="${BAR.x}" y="${BAR.y}" width="${BAR.width}" height="${BAR.height}" fill="url(#levels)"/>`,
    frame(BAR),
    ...marks,
  ];
}

/** Text that reads upwards, centred on a point. */
function upright(x: number, y: number, content: string): string {
  return text(x, y, content, { size: 23, anchor: 'middle', transform: `rotate(-90 ${x} ${y})` });
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${INK}" stroke-width="2"/>`;
}

/** A border around a box, outside of it. */
function frame({ x, y, width, height }: Box): string {
  return `<rect x="${x - 1}" y="${y - 1}" width="${width + 2}" height="${height + 2}" fill="none" stroke="${INK}" stroke-width="2"/>`;
}
