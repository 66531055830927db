/** The lines and texts of a spectrogram's picture as SVG: title, axes, ticks, units, colour bar. */

import type { LevelSpectrogram } from '../../signal/index.ts';
import { frequencyScale, type Tick, tickLabels } from './frequency-scale.ts';
import type { LevelRange } from './heatmap.ts';
import { type Caption, coloursOf, type PictureLayout, type PictureStyle, pictureLayout } from './style.ts';
import { INK, MUTED, type Rectangle, type TextStyle, text, widthOf } from './svg.ts';

const TICK = 9;

/** The picture, with the area of the heat map left empty. */
export function figure(
  spectrogram: LevelSpectrogram,
  range: LevelRange,
  caption: Caption,
  style: PictureStyle = {},
): string {
  const { frames, hop, size, sampleRate } = spectrogram;
  const layout = pictureLayout(style);
  const { plot, width, height } = layout;
  const time = timeUnit(((frames - 1) * hop + size) / sampleRate);
  const scale = frequencyScale(style.frequencies ?? 'linear', spectrogram);
  const middle = plot.y + plot.height / 2;
  const parts = [
    fittedText(plot.x, 58, caption.title, { size: 32, weight: 600 }, width),
    fittedText(plot.x, 96, caption.subtitle, { size: 20, fill: MUTED }, width),
    frame(plot),
    ...axisBelow(time.extent, plot),
    text(plot.x + plot.width / 2, plot.y + plot.height + 82, `Time (${time.unit})`, { size: 23, anchor: 'middle' }),
    ...axisLeft(scale.ticks(ticksOn(plot.height)), plot),
    upright(48, middle, scale.title),
    ...colourBar(range, coloursOf(style.colours ?? 'magma'), layout),
    upright(width - 40, middle, plot.height < 360 ? 'Level (dB)' : 'Level (dB, full-scale sine = 0)'),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}

/** A line of text, whose font shrinks down to half if the text would be wider than the picture. */
function fittedText(x: number, y: number, content: string, style: TextStyle, width: number): string {
  const room = width - x - 20;
  const size = style.size * Math.min(1, Math.max(0.5, room / widthOf(content, style)));
  return text(x, y, content, { ...style, size: Number(size.toFixed(1)) });
}

/** The approximate number of tick marks that fit on a vertical axis. */
function ticksOn(height: number): number {
  return Math.max(2, Math.round(height / 72));
}

function timeUnit(seconds: number): { extent: number; unit: string } {
  if (seconds < 1) return { extent: seconds * 1000, unit: 'ms' };
  return seconds > 600 ? { extent: seconds / 60, unit: 'min' } : { extent: seconds, unit: 's' };
}

function axisBelow(extent: number, plot: Rectangle): string[] {
  const y = plot.y + plot.height;
  return tickLabels(0, extent, Math.max(2, Math.round(plot.width / 127))).flatMap(({ value, label }) => {
    const x = plot.x + (value / extent) * plot.width;
    return [lineElement(x, y, x, y + TICK), text(x, y + 36, label, { size: 20, anchor: 'middle' })];
  });
}

function axisLeft(marks: readonly Tick[], plot: Rectangle): string[] {
  return marks.flatMap(({ at, label }) => {
    const y = plot.y + plot.height * (1 - at);
    return [lineElement(plot.x - TICK, y, plot.x, y), text(plot.x - 16, y + 7, label, { size: 20, anchor: 'end' })];
  });
}

function colourBar({ low, high }: LevelRange, colours: Uint8Array, { bar }: PictureLayout): string[] {
  const stops = Array.from({ length: 33 }, (_, k) => {
    const [red, green, blue] = colours.subarray(3 * Math.min(8 * k, 255));
    return `<stop offset="${k / 32}" stop-color="rgb(${red},${green},${blue})"/>`;
  });
  const marks = tickLabels(low, high, ticksOn(bar.height)).flatMap(({ value, label }) => {
    const x = bar.x + bar.width;
    const y = bar.y + (bar.height * (high - value)) / (high - low);
    return [lineElement(x, y, x + TICK, y), text(x + 16, y + 7, label, { size: 20 })];
  });
  return [
    `<linearGradient id="levels" x1="0" y1="1" x2="0" y2="0">${stops.join('')}</linearGradient>`,
    `<rect x="${bar.x}" y="${bar.y}" width="${bar.width}" height="${bar.height}" fill="url(#levels)"/>`,
    frame(bar),
    ...marks,
  ];
}

/** Vertical text that reads upwards, centred on a point. */
function upright(x: number, y: number, content: string): string {
  return text(x, y, content, { size: 23, anchor: 'middle', transform: `rotate(-90 ${x} ${y})` });
}

function lineElement(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${INK}" stroke-width="2"/>`;
}

/** A border around a box, outside it. */
function frame({ x, y, width, height }: Rectangle): string {
  return `<rect x="${x - 1}" y="${y - 1}" width="${width + 2}" height="${height + 2}" fill="none" stroke="${INK}" stroke-width="2"/>`;
}
