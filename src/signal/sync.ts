/**
 * `omnifft/signal/sync`: what of `omnifft/signal` runs where nothing can be waited for, such as in an AudioWorklet. Nothing
 * here is loaded later. `omnifft/sync` opens the device for it. Of the functions that need no device, those that design filters and run them
 * over streams are here too.
 * @module omnifft/signal/sync
 */
export {
  type AudioBufferLike,
  type ChannelsInput,
  type FromChannelsOptions,
  fromChannels,
} from './arguments/channel-rows.ts';
export { PartitionedConvolver, type PartitionedConvolverOptions } from './convolution/partitioned-convolver.ts';
export type { Sections, TransferFunction, ZerosPolesGain } from './filter-design/filter-forms.ts';
export { type FirwinOptions, firwin } from './filter-design/fir-design.ts';
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
export {
  type Filtered,
  type FilterOptions,
  lfilter,
  lfilterZi,
  type StatefulOptions,
  type WithState,
} from './filters/lfilter.ts';
export { sosfilt, sosfiltZi } from './filters/sosfilt.ts';
export { IstftStream, type IstftStreamOptions } from './short-time/istft-stream.ts';
export { StftStream, type StftStreamOptions } from './short-time/stft-stream.ts';
export { SpectrumSmoother, type SpectrumSmootherOptions } from './spectra/smoothing.ts';
export { type WindowName, type WindowParameters, windowNames } from './windows/window-kinds.ts';
export { type WindowArguments, type WindowOptions, windowFunction } from './windows/windows.ts';
