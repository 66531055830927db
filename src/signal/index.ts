/**
 * `omnifft/signal`: windows, short-time and chirp z-transforms, sound.
 * @module omnifft/signal
 */

export { type FastLengthOptions, nextFastLength } from '../engine/fast-length.ts';
export type { Device } from '../index.ts';
export {
  type AudioBufferLike,
  type ChannelsInput,
  type FromChannelsOptions,
  fromChannels,
} from './arguments/channel-rows.ts';
export type { NumberList } from './arguments/coefficients.ts';
export type { Extension } from './arguments/extension.ts';
export type { ComplexNumber, FrequencyRange } from './chirp-z/curve.ts';
export { type CztOptions, czt, cztPoints, type ZoomFftOptions, zoomFft } from './chirp-z/czt.ts';
export {
  type CztPlan,
  type CztPlanOptions,
  planCzt,
  planZoomFft,
  type ZoomFftPlanOptions,
} from './chirp-z/czt-plans.ts';
export {
  type AxesConvolutionOptions,
  type ConvolutionMode,
  type ConvolutionOptions,
  type Convolved,
  correlate,
  correlationLags,
  fftconvolve,
  oaconvolve,
} from './convolution/convolve.ts';
export { type Convolution2dOptions, convolve2d, correlate2d } from './convolution/convolve2d.ts';
export type { PartitionLevel } from './convolution/partition-layout.ts';
export { PartitionedConvolver, type PartitionedConvolverOptions } from './convolution/partitioned-convolver.ts';
export {
  type ExtractOptions,
  type ExtractorOptions,
  type ExtractorPreset,
  type FeatureExtractor,
  type FeatureStream,
  featureExtractor,
} from './features/feature-extractor.ts';
export type { LogMelOptions, MelSpectrogramOptions } from './features/feature-options.ts';
export type { FeaturePreset, FramePadding, LogKind } from './features/feature-presets.ts';
export type { Features } from './features/features.ts';
export type { KaldiOptions } from './features/kaldi.ts';
export { hzToMel, type MelOptions, type MelScale, melFilterBank, melToHz } from './features/mel.ts';
export {
  type FbankOptions,
  fbank,
  logMel,
  type MfccOptions,
  melSpectrogram,
  mfcc,
} from './features/mel-spectrogram.ts';
export { mixDown, type Recording, readWav, type WavOptions } from './files/wav.ts';
export { type WavFormat, type WriteWavOptions, writeWav } from './files/write-wav.ts';
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
} from './filter-design/filter-forms.ts';
export {
  type FirwinOptions,
  firwin,
  kaiserAtten,
  kaiserBeta,
  kaiserord,
  type PassZero,
} from './filter-design/fir-design.ts';
export { type FrequencyResponse, type FreqzOptions, freqz, sosfreqz } from './filter-design/freqz.ts';
export type { BesselNorm } from './filter-design/iir-bessel.ts';
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
} from './filter-design/iir-design.ts';
export { type DetrendOptions, detrend } from './filters/detrend.ts';
export { type FiltfiltOptions, filtfilt, sosfiltfilt } from './filters/filtfilt.ts';
export {
  type Filtered,
  type FilterOptions,
  type FilterState,
  lfilter,
  lfilterZi,
  type StatefulOptions,
  type WithState,
} from './filters/lfilter.ts';
export { medfilt, medfilt2d } from './filters/medfilt.ts';
export {
  type SavgolCoeffsOptions,
  type SavgolMode,
  type SavgolOptions,
  savgolCoeffs,
  savgolFilter,
} from './filters/savgol.ts';
export { sosfilt, sosfiltZi } from './filters/sosfilt.ts';
export type { CenterOptions, PadMode } from './frames/framing.ts';
export type { SegmentOptions, StftScaling } from './frames/segments.ts';
export { type DecimateOptions, decimate } from './resampling/decimate.ts';
export { type Resampled, type ResampleOptions, resample } from './resampling/resample.ts';
export { type ResamplePolyOptions, resamplePoly } from './resampling/resample-poly.ts';
export { type UpfirdnOptions, upfirdn } from './resampling/upfirdn.ts';
export { type GriffinLimOptions, griffinLim } from './short-time/griffin-lim.ts';
export { type Istft, type IstftOptions, istft, type SampleRange } from './short-time/istft.ts';
export { IstftStream, type IstftStreamOptions } from './short-time/istft-stream.ts';
export type { LevelSpectrogram, LevelSpectrogramOptions } from './short-time/level-spectrogram.ts';
export {
  type InverseSlicesOptions,
  ShortTimeFFT,
  type ShortTimeFftOptions,
  type SlicesOptions,
  type SpectrogramSlicesOptions,
} from './short-time/short-time-fft.ts';
export type { FftMode, FftScaling } from './short-time/short-time-modes.ts';
export type { SampleAndSlice, SliceGeometry } from './short-time/slice-geometry.ts';
export {
  type Spectrogram,
  type SpectrogramMode,
  type SpectrogramOptions,
  spectrogram,
} from './short-time/spectrogram.ts';
export { type Stft, type StftOptions, stft } from './short-time/stft.ts';
export { StftStream, type StftStreamOptions } from './short-time/stft-stream.ts';
export { abs, angle, conj, fromPolar, interleave, multiply, type PlanarArrays, planar } from './spectra/complex.ts';
export {
  amplitudeToDb,
  type DecibelOptions,
  dbToAmplitude,
  dbToPower,
  type FromDecibelOptions,
  type Levels,
  powerToDb,
} from './spectra/decibels.ts';
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
} from './spectra/density.ts';
export { type Envelope, type EnvelopeOptions, envelope } from './spectra/envelope.ts';
export {
  type FindPeaksOptions,
  findPeaks,
  type PeakBound,
  type PeakInterval,
  type PeakProperties,
  type Peaks,
} from './spectra/find-peaks.ts';
export { type HilbertOptions, hilbert } from './spectra/hilbert.ts';
export { type LombScargle, type LombScargleNorm, type LombScargleOptions, lombscargle } from './spectra/lombscargle.ts';
export {
  type PeakWidthOptions,
  type PeakWindow,
  type Prominences,
  peakProminences,
  peakWidths,
  type Widths,
} from './spectra/peak-shapes.ts';
export { SpectrumSmoother, type SpectrumSmootherOptions } from './spectra/smoothing.ts';
export { type Cqt, type CqtOptions, cqt } from './wavelets/cqt.ts';
export { type Cwt, type CwtOptions, cwt, morlet2, ricker, type WaveletName } from './wavelets/wavelets.ts';
export { type WindowName, type WindowParameters, windowNames } from './windows/window-kinds.ts';
export { type WindowArguments, type WindowOptions, windowFunction } from './windows/windows.ts';
