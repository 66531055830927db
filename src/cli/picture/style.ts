/** The style of a spectrogram's picture: its caption, its colours and its layout. */

import {
  interpolateCividis,
  interpolateGreys,
  interpolateInferno,
  interpolateMagma,
  interpolatePlasma,
  interpolateTurbo,
  interpolateViridis,
} from 'd3-scale-chromatic';
import type { LevelSpectrogram, Recording } from '../../signal/index.ts';
import { threeDigits } from '../format.ts';
import type { FrequencyScaleName } from './frequency-scale.ts';
import type { Rectangle } from './svg.ts';

export interface PictureStyle {
  /** Pixels; default 1600 × 900. */
  readonly width?: number;
  readonly height?: number;
  /** Default `linear`. */
  readonly frequencies?: FrequencyScaleName;
  /** Default `magma`. */
  readonly colours?: ColourMap;
  /** Decibels between both ends of the colours. Default: down to the noise floor. */
  readonly dynamicRange?: number;
}

/** The least size of a picture in pixels, which leaves room for labels around the plot. */
export const LEAST_PIXELS = { width: 640, height: 400 } as const;
export const MOST_PIXELS = 8192;

/** The boxes of a picture. */
export interface PictureLayout {
  readonly width: number;
  readonly height: number;
  /** The box of the heat map. */
  readonly plot: Rectangle;
  /** The box of the colour bar. */
  readonly bar: Rectangle;
}

/** Margins for labels around the plot. */
const MARGIN = { left: 132, top: 128, right: 200, bottom: 124 } as const;

export function pictureLayout({ width = 1600, height = 900 }: PictureStyle): PictureLayout {
  const plot = {
    ...{ x: MARGIN.left, y: MARGIN.top },
    ...{ width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom },
  };
  const bar = { x: plot.x + plot.width + 36, y: plot.y, width: 26, height: plot.height };
  return { width, height, plot, bar };
}

const maps = {
  magma: interpolateMagma,
  inferno: interpolateInferno,
  plasma: interpolatePlasma,
  viridis: interpolateViridis,
  cividis: interpolateCividis,
  turbo: interpolateTurbo,
  greys: interpolateGreys,
} as const;

export type ColourMap = keyof typeof maps;
export const colourMaps = Object.keys(maps) as ColourMap[];

/**
 * 256 colours as RGB bytes, from the lowest level to the highest. Except for turbo, lightness changes evenly (for grey it decreases, as on paper), so
 * that equal steps in decibels look equal, in greyscale and to colour-blind people, too.
 */
export function coloursOf(map: ColourMap): Uint8Array {
  return Uint8Array.from(Array.from({ length: 256 }, (_, step) => colourChannels(maps[map](step / 255))).flat());
}

/** The channels of a colour written as `#rrggbb` or `rgb(r, g, b)`. */
function colourChannels(colour: string): number[] {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  if (hex) return hex.slice(1).map((channel) => Number.parseInt(channel, 16));
  return (colour.match(/\d+/g) ?? []).slice(0, 3).map(Number);
}

export interface Caption {
  readonly title: string;
  readonly subtitle: string;
}

/** A title, and below it the facts of the recording and of its transform. */
export function captionOf(
  title: string,
  recording: Recording,
  { frames, size, hop, window }: LevelSpectrogram,
): Caption {
  const { sampleRate, channels, format } = recording;
  const sound = `${format}, ${threeDigits(sampleRate / 1000)} kHz${channels.length > 1 ? `, ${channels.length} channels` : ''}`;
  return {
    title,
    subtitle: `${sound} · ${window} window of ${size} sample${size === 1 ? '' : 's'}, hop ${hop} · ${frames} transform${frames === 1 ? '' : 's'}`,
  };
}
