/** Sound and short-time transforms: the package's entry point `omnifft/signal`. */

export type { Device } from '../index.ts';
export { type Spectrogram, type SpectrogramOptions, spectrogram } from './spectrogram.ts';
export { mixDown, type Recording, readWav } from './wav.ts';
export { type WindowName, windowFunction, windowNames } from './windows.ts';
