/** A plane of numbers as colours: what plots are for transforms of two and more axes. */
import { html } from './dom.ts';
import { short } from './numbers.ts';
import { clearFigure } from './plot.ts';

export interface Heatmap {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** Row after row. */
  readonly values: ArrayLike<number>;
  readonly from: number;
  readonly to: number;
  readonly unit: string;
  /** Shows index 0 in the middle, as spectra of images are. */
  readonly centred: boolean;
}

/** From dark blue over green to yellow, evenly brighter: five stops, linear in between. */
const STOPS = [
  [33, 19, 77],
  [49, 85, 141],
  [33, 145, 140],
  [112, 199, 94],
  [250, 226, 52],
] as const;

/** Pixels of a canvas at most in each direction; larger planes show the greatest value of each tile. */
const MOST_PIXELS = 512;

export function showHeatmap(figure: HTMLElement, map: Heatmap): void {
  const tile = Math.ceil(Math.max(map.width, map.height) / MOST_PIXELS);
  const [width, height] = [Math.ceil(map.width / tile), Math.ceil(map.height / tile)];
  const canvas = html('canvas', { width, height, role: 'img', 'aria-label': map.title });
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser draws nothing on a canvas.');
  const image = context.createImageData(width, height);
  const strongest = new Float64Array(width * height).fill(Number.NEGATIVE_INFINITY);
  const half = map.centred ? [map.width >> 1, map.height >> 1] : [0, 0];
  for (let y = 0; y < map.height; y++) {
    for (let x = 0; x < map.width; x++) {
      const column = Math.floor(((x + (half[0] ?? 0)) % map.width) / tile);
      const row = Math.floor(((y + (half[1] ?? 0)) % map.height) / tile);
      const at = row * width + column;
      strongest[at] = Math.max(strongest[at] ?? 0, map.values[y * map.width + x] ?? 0);
    }
  }
  strongest.forEach((value, at) => {
    image.data.set([...colour((value - map.from) / (map.to - map.from || 1)), 255], 4 * at);
  });
  context.putImageData(image, 0, 0);
  canvas.style.aspectRatio = `${Math.min(4, Math.max(0.5, map.width / map.height))}`;
  clearFigure(figure);
  const scale = `${short(map.from)} (dark) to ${short(map.to)} ${map.unit} (bright)`;
  figure.append(html('figcaption', {}, `${map.title}: ${scale}`), canvas);
}

/** The same from left to right, for style sheets. */
export function gradient(): string {
  return `linear-gradient(to right, ${STOPS.map((stop) => `rgb(${stop.join()})`).join(', ')})`;
}

export function colour(level: number): number[] {
  const place = Math.min(1, Math.max(0, level)) * (STOPS.length - 1);
  const below = STOPS[Math.min(STOPS.length - 2, Math.floor(place))] ?? STOPS[0];
  const above = STOPS[Math.min(STOPS.length - 1, Math.floor(place) + 1)] ?? STOPS[0];
  const share = Math.min(1, place - Math.min(STOPS.length - 2, Math.floor(place)));
  return below.map((value, channel) => Math.round(value + share * ((above[channel] ?? value) - value)));
}
