/** The colours that levels are shown in. */

import {
  interpolateCividis,
  interpolateGreys,
  interpolateInferno,
  interpolateMagma,
  interpolatePlasma,
  interpolateTurbo,
  interpolateViridis,
} from 'd3-scale-chromatic';

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
 * 256 colours as RGB bytes, from the lowest level to the highest. Of all but turbo the lightness grows evenly (of greys it
 * falls, for paper), so that equal steps in decibels look equal, in grey and to colour-blind eyes too.
 */
export function coloursOf(map: ColourMap): Uint8Array {
  return Uint8Array.from(Array.from({ length: 256 }, (_, step) => channelsOf(maps[map](step / 255))).flat());
}

/** `#rrggbb`, or `rgb(r, g, b)`. */
function channelsOf(colour: string): number[] {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  if (hex) return hex.slice(1).map((channel) => Number.parseInt(channel, 16));
  return (colour.match(/\d+/g) ?? []).slice(0, 3).map(Number);
}
