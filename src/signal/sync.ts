/**
 * `omnifft/signal/sync`: what of `omnifft/signal` runs where nothing can be waited for, such as in an AudioWorklet. Nothing
 * here is loaded later. `omnifft/sync` opens the device for it. Of the functions that need no device, those that design filters and run them
 * over streams are here too.
 * @module omnifft/signal/sync
 */
export { type AudioBufferLike, type ChannelsInput, type FromChannelsOptions, fromChannels } from './channel-rows.ts';
export type { Sections, TransferFunction, ZerosPolesGain } from './filter-forms.ts';
export { type FirwinOptions, firwin } from './fir-design.ts';
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
export { IstftStream, type IstftStreamOptions } from './istft-stream.ts';
export {
  type Filtered,
  type FilterOptions,
  lfilter,
  lfilterZi,
  type StatefulOptions,
  type WithState,
} from './lfilter.ts';
export { PartitionedConvolver, type PartitionedConvolverOptions } from './partitioned-convolver.ts';
export { SpectrumSmoother, type SpectrumSmootherOptions } from './smoothing.ts';
export { sosfilt, sosfiltZi } from './sosfilt.ts';
export { StftStream, type StftStreamOptions } from './stft-stream.ts';
export { type WindowName, type WindowParameters, windowNames } from './window-kinds.ts';
export { type WindowArguments, type WindowOptions, windowFunction } from './windows.ts';
