/** How a spectrogram's picture is to look, and where things are in it. */

import type { ColourMap } from './colours.ts';
import type { FrequencyScaleName } from './frequency-scale.ts';
import type { Box } from './svg.ts';

export interface PictureStyle {
  /** Pixels; default 1600 × 900. */
  readonly width?: number;
  readonly height?: number;
  /** Default `linear`. */
  readonly frequencies?: FrequencyScaleName;
  /** Default `magma`. */
  readonly colours?: ColourMap;
  /** Decibels between both ends of the colours; by default from the noise floor up. */
  readonly dynamicRange?: number;
}

/** Pixels that leave room for letters around the plot, and that fit memory. */
export const LEAST_PIXELS = { width: 640, height: 400 } as const;
export const MOST_PIXELS = 8192;

/** Boxes of a picture. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Where the heat map goes. */
  readonly plot: Box;
  /** The colours, and their levels. */
  readonly bar: Box;
}

/** Room for letters on all sides of the plot. */
const MARGIN = { left: 132, top: 128, right: 200, bottom: 124 } as const;

export function layoutOf({ width = 1600, height = 900 }: PictureStyle): Layout {
  const plot = {
    ...{ x: MARGIN.left, y: MARGIN.top },
    ...{ width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom },
  };
  const bar = { x: plot.x + plot.width + 36, y: plot.y, width: 26, height: plot.height };
  return { width, height, plot, bar };
}
