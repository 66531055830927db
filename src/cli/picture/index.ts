/** Pictures of spectrograms, with what they say about themselves. */
export { type Caption, captionOf } from './caption.ts';
export { spectrogramPng } from './render.ts';
export type { PictureStyle } from './style.ts';
