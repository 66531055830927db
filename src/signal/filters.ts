/**
 * What of this room designs and runs filters, and looks for peaks, without any transform: a chunk of its own in the bundle for browsers, so that who
 * takes some of it gets no plans (scripts/bundle-browser.mjs).
 */
export { decimate } from './decimate.ts';
export { detrend } from './detrend.ts';
export * from './filter-forms.ts';
export { filtfilt, sosfiltfilt } from './filtfilt.ts';
export { findPeaks } from './find-peaks.ts';
export * from './fir-design.ts';
export { freqz, sosfreqz } from './freqz.ts';
export * from './iir-design.ts';
export { lfilter, lfilterZi } from './lfilter.ts';
export { lombscargle } from './lombscargle.ts';
export { medfilt, medfilt2d } from './medfilt.ts';
export { peakProminences, peakWidths } from './peak-shapes.ts';
export { resamplePoly } from './resample-poly.ts';
export { savgolCoeffs, savgolFilter } from './savgol.ts';
export { sosfilt, sosfiltZi } from './sosfilt.ts';
export { upfirdn } from './upfirdn.ts';
