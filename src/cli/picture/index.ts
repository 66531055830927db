/** Pictures of spectrograms, with titles and axes. */

export { levelSpectrogram } from '../../signal/short-time/level-spectrogram.ts';
export { spectrogramPng } from './render.ts';
export type { PictureStyle } from './style.ts';
export { type Caption, captionOf } from './style.ts';
