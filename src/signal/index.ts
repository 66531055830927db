/**
 * `omnifft/signal`: windows, short-time and chirp z-transforms, sound.
 * @module omnifft/signal
 */

export { type FastLengthOptions, nextFastLength } from '../engine/fast-length.ts';
export type { Device } from '../index.ts';
export { type AudioBufferLike, type ChannelsInput, type FromChannelsOptions, fromChannels } from './channel-rows.ts';
export type { NumberList } from './coefficients.ts';
export { abs, angle, conj, fromPolar, interleave, multiply, type PlanarArrays, planar } from './complex.ts';
export {
  type AxesConvolutionOptions,
  type ConvolutionMode,
  type ConvolutionOptions,
  type Convolved,
  correlate,
  correlationLags,
  fftconvolve,
  oaconvolve,
} from './convolve.ts';
export { type Convolution2dOptions, convolve2d, correlate2d } from './convolve2d.ts';
export { type Cqt, type CqtOptions, cqt } from './cqt.ts';
export type { ComplexNumber, FrequencyRange } from './curve.ts';
export { type CztOptions, czt, cztPoints, type ZoomFftOptions, zoomFft } from './czt.ts';
export { type CztPlan, type CztPlanOptions, planCzt, planZoomFft, type ZoomFftPlanOptions } from './czt-plans.ts';
export {
  amplitudeToDb,
  type DecibelOptions,
  dbToAmplitude,
  dbToPower,
  type FromDecibelOptions,
  type Levels,
  powerToDb,
} from './decibels.ts';
export { type DecimateOptions, decimate } from './decimate.ts';
export {
  type Coherence,
  type CoherenceOptions,
  type CrossDensity,
  coherence,
  csd,
  type Density,
  type PeriodogramOptions,
  periodogram,
  type WelchOptions,
  welch,
} from './density.ts';
export { type DetrendOptions, detrend } from './detrend.ts';
export { type Envelope, type EnvelopeOptions, envelope } from './envelope.ts';
export type { Extension } from './extension.ts';
export {
  type ExtractOptions,
  type ExtractorOptions,
  type ExtractorPreset,
  type FeatureExtractor,
  type FeatureStream,
  featureExtractor,
} from './feature-extractor.ts';
export type { LogMelOptions, MelSpectrogramOptions } from './feature-options.ts';
export type { FeaturePreset, FramePadding, LogKind } from './feature-presets.ts';
export type { Features } from './features.ts';
export {
  type FilterOutput,
  type FilterResult,
  type Sections,
  sos2tf,
  sos2zpk,
  type TransferFunction,
  tf2sos,
  tf2zpk,
  type ZerosPolesGain,
  zpk2sos,
  zpk2tf,
} from './filter-forms.ts';
export { type FiltfiltOptions, filtfilt, sosfiltfilt } from './filtfilt.ts';
export {
  type FindPeaksOptions,
  findPeaks,
  type PeakBound,
  type PeakInterval,
  type PeakProperties,
  type Peaks,
} from './find-peaks.ts';
export { type FirwinOptions, firwin, kaiserAtten, kaiserBeta, kaiserord, type PassZero } from './fir-design.ts';
export type { CenterOptions, PadMode } from './framing.ts';
export { type FrequencyResponse, type FreqzOptions, freqz, sosfreqz } from './freqz.ts';
export { type GriffinLimOptions, griffinLim } from './griffin-lim.ts';
export { type HilbertOptions, hilbert } from './hilbert.ts';
export type { BesselNorm } from './iir-bessel.ts';
export {
  type BandEdges,
  type BesselOptions,
  bessel,
  butter,
  cheby1,
  cheby2,
  ellip,
  type FilterBand,
  type IirOptions,
} from './iir-design.ts';
export { type Istft, type IstftOptions, istft, type SampleRange } from './istft.ts';
export { IstftStream, type IstftStreamOptions } from './istft-stream.ts';
export type { LevelSpectrogram, LevelSpectrogramOptions } from './level-spectrogram.ts';
export {
  type Filtered,
  type FilterOptions,
  type FilterState,
  lfilter,
  lfilterZi,
  type StatefulOptions,
  type WithState,
} from './lfilter.ts';
export { type LombScargle, type LombScargleNorm, type LombScargleOptions, lombscargle } from './lombscargle.ts';
export { medfilt, medfilt2d } from './medfilt.ts';
export { hzToMel, type MelOptions, type MelScale, melFilterBank, melToHz } from './mel.ts';
export { type FbankOptions, fbank, logMel, type MfccOptions, melSpectrogram, mfcc } from './mel-spectrogram.ts';
export type { PartitionLevel } from './partition-layout.ts';
export { PartitionedConvolver, type PartitionedConvolverOptions } from './partitioned-convolver.ts';
export {
  type PeakWidthOptions,
  type PeakWindow,
  type Prominences,
  peakProminences,
  peakWidths,
  type Widths,
} from './peak-shapes.ts';
export { type Resampled, type ResampleOptions, resample } from './resample.ts';
export { type ResamplePolyOptions, resamplePoly } from './resample-poly.ts';
export { type SavgolCoeffsOptions, type SavgolMode, type SavgolOptions, savgolCoeffs, savgolFilter } from './savgol.ts';
export type { SegmentOptions, StftScaling } from './segments.ts';
export {
  type InverseSlicesOptions,
  ShortTimeFFT,
  type ShortTimeFftOptions,
  type SlicesOptions,
  type SpectrogramSlicesOptions,
} from './short-time-fft.ts';
export type { FftMode, FftScaling } from './short-time-modes.ts';
export type { SampleAndSlice, SliceGeometry } from './slice-geometry.ts';
export { SpectrumSmoother, type SpectrumSmootherOptions } from './smoothing.ts';
export { sosfilt, sosfiltZi } from './sosfilt.ts';
export { type Spectrogram, type SpectrogramMode, type SpectrogramOptions, spectrogram } from './spectrogram.ts';
export { type Stft, type StftOptions, stft } from './stft.ts';
export { StftStream, type StftStreamOptions } from './stft-stream.ts';
export { type UpfirdnOptions, upfirdn } from './upfirdn.ts';
export { mixDown, type Recording, readWav, type WavOptions } from './wav.ts';
export { type Cwt, type CwtOptions, cwt, morlet2, ricker, type WaveletName } from './wavelets.ts';
export { type WindowName, type WindowParameters, windowNames } from './window-kinds.ts';
export { type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';
export { type WavFormat, type WriteWavOptions, writeWav } from './write-wav.ts';
