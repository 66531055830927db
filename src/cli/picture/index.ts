/** Pictures of spectrograms, with what they say about themselves. */

export { levelSpectrogram } from '../../signal/short-time/level-spectrogram.ts';
export { spectrogramPng } from './render.ts';
export type { PictureStyle } from './style.ts';
export { type Caption, captionOf } from './style.ts';
