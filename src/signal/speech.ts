/**
 * The functions of this room that compute speech features. They are a chunk of their own in the bundle for browsers, so that a page which uses them
 * loads plans and streams only when it calls them (scripts/bundle-browser.mjs).
 */
export { featureExtractor } from './features/feature-extractor.ts';
export { fbank, logMel, melSpectrogram, mfcc } from './features/mel-spectrogram.ts';
