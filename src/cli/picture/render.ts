/**
 * Renders a spectrogram to the bytes of a PNG file. The font comes from an npm package, so the system needs none. That package and the renderer are
 * peer dependencies, which only users who draw have to install.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { encode } from 'fast-png';
import { FftError } from '../../index.ts';
import type { LevelSpectrogram } from '../../signal/index.ts';
import { figure } from './figure.ts';
import { heatmap, levelRange, type Pixels } from './heatmap.ts';
import { type Caption, type PictureStyle, pictureLayout } from './style.ts';
import { FONT } from './svg.ts';

const require = createRequire(import.meta.url);
/** The renderer, and its fonts. */
interface Renderer {
  readonly Resvg: typeof import('@resvg/resvg-wasm').Resvg;
  readonly fonts: Uint8Array[];
}

let renderer: Promise<Renderer> | undefined;

/**
 * Loads the renderer, so that a command can report early that it is missing.
 * @throws FftError `missing-package`
 */
export function loadRenderer(): Promise<Renderer> {
  // The renderer's WebAssembly module can be initialized once only in a process.
  renderer ??= start();
  return renderer;
}

/**
 * Draws a spectrogram with axes, units, a title and a colour scale.
 * @returns a PNG file, of 1600 × 900 pixels unless the style says otherwise
 * @throws FftError `missing-package`
 */
export async function spectrogramPng(
  spectrogram: LevelSpectrogram,
  caption: Caption,
  style: PictureStyle = {},
): Promise<Uint8Array> {
  const range = levelRange(spectrogram, style.dynamicRange);
  const { plot } = pictureLayout(style);
  const picture = await rasterise(figure(spectrogram, range, caption, style));
  paste(picture, heatmap(spectrogram, range, plot.width, plot.height, style), plot.x, plot.y);
  return encode({ ...picture, channels: 4, depth: 8 });
}

async function rasterise(svg: string): Promise<Pixels> {
  const { Resvg, fonts } = await loadRenderer();
  const image = new Resvg(svg, { font: { fontBuffers: fonts, defaultFontFamily: FONT } });
  const rendered = image.render();
  // `pixels` is a view of the module's memory, and has to be copied before that is freed.
  const pixels = { width: rendered.width, height: rendered.height, data: Uint8Array.from(rendered.pixels) };
  rendered.free();
  image.free();
  return pixels;
}

async function start(): Promise<Renderer> {
  const faces = ['inter-latin-400-normal.woff2', 'inter-latin-600-normal.woff2'];
  try {
    const { initWasm, Resvg } = await import(/* webpackIgnore: true */ '@resvg/resvg-wasm');
    const paths = ['@resvg/resvg-wasm/index_bg.wasm', ...faces.map((face) => `@fontsource/inter/files/${face}`)];
    const [wasm, ...fonts] = await Promise.all(
      paths.map((path) => require.resolve(path)).map((path) => readFile(path)),
    );
    await initWasm(wasm!);
    return { Resvg, fonts };
  } catch (cause) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
    const message =
      'Pictures need two packages that omnifft does not bring along, because they are larger than it is: ' +
      "run 'npm install @resvg/resvg-wasm @fontsource/inter' where omnifft is installed.";
    throw new FftError('missing-package', message, { cause });
  }
}

function paste(target: Pixels, source: Pixels, x: number, y: number): void {
  for (let row = 0; row < source.height; row++) {
    const from = 4 * row * source.width;
    target.data.set(source.data.subarray(from, from + 4 * source.width), 4 * ((y + row) * target.width + x));
  }
}
