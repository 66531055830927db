/** Channels of sound as rows of an array, made from the forms that the Web Audio API and readers of recordings give. */
import { readOptions } from '../../engine/arguments/options.ts';
import { asArray, floatZeros, type NumpyArray } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import { areSingles, type Floats, isFloats, liveSamples } from './floats.ts';

/** The part of an `AudioBuffer` that is read. */
export interface AudioBufferLike {
  readonly numberOfChannels: number;
  readonly length: number;
  readonly sampleRate: number;
  getChannelData(channel: number): Float32Array;
}

/** Sound of one channel or of several. */
export type ChannelsInput =
  | Float32Array
  | Float64Array
  | readonly (Float32Array | Float64Array)[]
  | { readonly channels: readonly (Float32Array | Float64Array)[] }
  | NumpyArray<'float32' | 'float64'>
  | AudioBufferLike;

/** The most channels that are read: as many as a WAV file may have. */
const MOST_CHANNELS = 2 ** 16;

/**
 * The channels of an AudioBuffer, of a list of channels, of a recording of `readWav`, or of an array whose rows are channels; a single array is one
 * channel. Channels that are views already are not copied.
 *
 * @returns at least one channel, all of the same length
 * @throws FftError `invalid-argument` for anything else, `wrong-length` for channels of different lengths, `detached-array`
 */
export function soundChannels(sound: ChannelsInput, what = 'sound'): Floats[] {
  const channels = channelList(sound, what).map((channel, k) => liveSamples(channel, `${what}, channel ${k},`));
  const [first] = channels;
  if (first === undefined) throw unfit(what, 'there is no channel in it');
  for (const [k, channel] of channels.entries()) {
    if (channel.length === first.length) continue;
    const message = `${what} has channels of ${first.length} and of ${channel.length} samples (channel ${k}); all have the same length.`;
    throw new FftError('wrong-length', message, { path: what });
  }
  return channels;
}

function channelList(sound: ChannelsInput, what: string): readonly Floats[] {
  if (isFloats(sound)) return [sound as Floats];
  if (typeof sound !== 'object' || sound === null) throw unfit(what, 'it is none of these');
  if ('getChannelData' in sound && typeof sound.getChannelData === 'function') return channelsOfBuffer(sound, what);
  if ('dtype' in sound) return rowsOfArray(sound as NumpyArray, what);
  const list = 'channels' in sound ? sound.channels : sound;
  if (!Array.isArray(list) || list.length > MOST_CHANNELS || !list.every(isFloats)) {
    throw unfit(what, 'it is none of these');
  }
  return list;
}

function channelsOfBuffer(buffer: AudioBufferLike, what: string): Floats[] {
  const { numberOfChannels: count } = buffer;
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_CHANNELS) throw unfit(what, 'it has no channel');
  const channels = Array.from({ length: count }, (_, channel) => buffer.getChannelData(channel));
  if (!channels.every(isFloats)) throw unfit(what, 'its channels are none');
  return channels;
}

function rowsOfArray(given: NumpyArray, what: string): Floats[] {
  const { data, shape, dtype } = asArray(given);
  if (shape.length > 2 || shape.length < 1 || (dtype !== 'float32' && dtype !== 'float64')) {
    throw unfit(what, `it is ${dtype} with ${shape.length} axes`);
  }
  const [rows, samples] = shape.length === 1 ? [1, shape[0]!] : (shape as [number, number]);
  if (rows > MOST_CHANNELS) throw unfit(what, `it has ${rows} rows`);
  return Array.from({ length: rows }, (_, k) => (data as Floats).subarray(k * samples, (k + 1) * samples));
}

function unfit(what: string, why: string): FftError {
  const message = `${what} takes an AudioBuffer, a Float32Array or a Float64Array of one channel, a list of them, a recording of readWav, or a real array whose rows are channels; ${why}.`;
  return new FftError('invalid-argument', message, { path: what });
}

export interface FromChannelsOptions {
  /** Precision of the result; default: single where all channels are single. */
  readonly dtype?: 'float32' | 'float64' | undefined;
}

/**
 * Channels as the rows of an array, which every function of `omnifft/signal` takes along its last axis.
 *
 * @param sound an AudioBuffer, a list of channels, a recording of `readWav`, or one channel
 * @returns shape `[channels, samples]`
 * @throws FftError `invalid-argument`, `wrong-length` for channels of different lengths, `unknown-field`, `detached-array`, `out-of-memory`
 */
export function fromChannels(
  sound: ChannelsInput,
  options: FromChannelsOptions = {},
): NumpyArray<'float32' | 'float64', readonly [number, number]> {
  const { dtype } = readOptions(options, { works: ['dtype'] }, 'fromChannels');
  const channels = soundChannels(sound);
  if (dtype !== undefined && dtype !== 'float32' && dtype !== 'float64') {
    throw new FftError('invalid-argument', "dtype takes 'float32' or 'float64'.", { path: 'dtype' });
  }
  const single = dtype === undefined ? channels.every(areSingles) : dtype === 'float32';
  const samples = channels[0]!.length;
  const data = floatZeros(channels.length * samples, single);
  channels.forEach((channel, k) => data.set(channel, k * samples));
  const shape = [channels.length, samples] as const;
  return { data, shape, dtype: single ? 'float32' : 'float64' } as NumpyArray<'float32' | 'float64', typeof shape>;
}
