/**
 * From a spectrogram to the bytes of a PNG file. Letters come from a font inside an npm package: the machine needs none.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { encode } from 'fast-png';
import type { Spectrogram } from '../../signal/index.ts';
import type { Caption } from './caption.ts';
import { figure } from './figure.ts';
import { heatmap, levelRange, type Pixels } from './heatmap.ts';
import { layoutOf, type PictureStyle } from './style.ts';
import { FONT } from './svg.ts';

const require = createRequire(import.meta.url);
let fonts: Promise<Uint8Array[]> | undefined;

/**
 * Draws a spectrogram with axes, units, a title and a colour scale.
 * @returns a PNG file, of 1600 × 900 pixels unless the style says otherwise
 */
export async function spectrogramPng(
  spectrogram: Spectrogram,
  caption: Caption,
  style: PictureStyle = {},
): Promise<Uint8Array> {
  const range = levelRange(spectrogram, style.dynamicRange);
  const { plot } = layoutOf(style);
  const picture = await rasterise(figure(spectrogram, range, caption, style));
  paste(picture, heatmap(spectrogram, range, plot.width, plot.height, style), plot.x, plot.y);
  return encode({ ...picture, channels: 4, depth: 8 });
}

async function rasterise(svg: string): Promise<Pixels> {
  // The renderer's module can be started only once in a process.
  fonts ??= start();
  const image = new Resvg(svg, { font: { fontBuffers: await fonts, defaultFontFamily: FONT } });
  const rendered = image.render();
  // `pixels` looks into the module's memory: copied before it is freed.
  const pixels = { width: rendered.width, height: rendered.height, data: Uint8Array.from(rendered.pixels) };
  rendered.free();
  image.free();
  return pixels;
}

async function start(): Promise<Uint8Array[]> {
  await initWasm(await readFile(require.resolve('@resvg/resvg-wasm/index_bg.wasm')));
  const faces = ['inter-latin-400-normal.woff2', 'inter-latin-600-normal.woff2'];
  return Promise.all(faces.map((face) => readFile(require.resolve(`@fontsource/inter/files/${face}`))));
}

function paste(target: Pixels, source: Pixels, x: number, y: number): void {
  for (let row = 0; row < source.height; row++) {
    const from = 4 * row * source.width;
    target.data.set(source.data.subarray(from, from + 4 * source.width), 4 * ((y + row) * target.width + x));
  }
}
