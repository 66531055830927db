/**
 * `omnifft/signal/sync`: what of `omnifft/signal` runs where nothing can be waited for, such as in an AudioWorklet. Nothing
 * here is loaded later. `omnifft/sync` opens the device for it.
 * @module omnifft/signal/sync
 */
export { StftStream, type StftStreamOptions } from './stft-stream.ts';
export { type WindowName, type WindowParameters, windowNames } from './window-kinds.ts';
export { type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';
