/**
 * The functions of this room that design and run filters and find peaks, all without transforms. They are a chunk of their own in the bundle for
 * browsers, so that a page which uses only these gets no plans (scripts/bundle-browser.mjs).
 */

export * from './filter-design/filter-forms.ts';
export * from './filter-design/fir-design.ts';
export { freqz, sosfreqz } from './filter-design/freqz.ts';
export * from './filter-design/iir-design.ts';
export { detrend } from './filters/detrend.ts';
export { filtfilt, sosfiltfilt } from './filters/filtfilt.ts';
export { lfilter, lfilterZi } from './filters/lfilter.ts';
export { medfilt, medfilt2d } from './filters/medfilt.ts';
export { savgolCoeffs, savgolFilter } from './filters/savgol.ts';
export { sosfilt, sosfiltZi } from './filters/sosfilt.ts';
export { decimate } from './resampling/decimate.ts';
export { resamplePoly } from './resampling/resample-poly.ts';
export { upfirdn } from './resampling/upfirdn.ts';
export { findPeaks } from './spectra/find-peaks.ts';
export { lombscargle } from './spectra/lombscargle.ts';
export { peakProminences, peakWidths } from './spectra/peak-shapes.ts';
