/**
 * `omnifft/signal/sync`: the synchronous functions of `omnifft/signal`, for places where nothing can be waited for, such as an AudioWorklet. No
 * module is loaded later. `omnifft/sync` opens the device for them. Functions that design filters and run them over streams, which need no device,
 * are included.
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
