/**
 * What of this room makes features of speech: a chunk of its own in the bundle for browsers, so that who takes some of it loads at first neither plans nor
 * streams, but when it is called (scripts/bundle-browser.mjs).
 */
export { featureExtractor } from './features/feature-extractor.ts';
export { fbank, logMel, melSpectrogram, mfcc } from './features/mel-spectrogram.ts';
