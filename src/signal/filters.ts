/**
 * What of this room designs and runs filters, and looks for peaks, without any transform: a chunk of its own in the bundle for browsers, so that who
 * takes some of it gets no plans (scripts/bundle-browser.mjs).
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
