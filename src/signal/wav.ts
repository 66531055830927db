/**
 * Reading sound from WAV files: PCM of 8 to 32 bits and floating point of 32 and 64 bits, any number of channels.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991); Microsoft's
 * documentation of `WAVEFORMATEXTENSIBLE`.
 */

import { fitting, zeros } from '../numpy/array.ts';
import { requireBytes } from '../problem/bytes.ts';
import { FftError } from '../problem/errors.ts';
import { isRecord, type Reading, snapshot } from '../problem/snapshot.ts';
import { isFloats, liveSamples } from './floats.ts';
import { type Chunk, containerOf, findChunks, UNKNOWN_SIZE, viewOf } from './riff.ts';

/** A decoded recording. */
export interface Recording {
  /** Samples a second, in hertz. */
  readonly sampleRate: number;
  /** One array for each channel, all of the same length; full scale is −1 to 1. */
  readonly channels: readonly Float32Array<ArrayBuffer>[];
  /** How the file holds a sample, such as `16-bit PCM`. */
  readonly format: string;
}

type Samples = Recording['channels'][number];

/** How a recording is read: its fields and the list of its channels, of which a file has 2^16 at most. */
const READING: Reading = { code: 'invalid-argument', depth: 2, keep: true, most: 2 ** 17 };

/** What a `fmt ` chunk says. */
interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  /** Bytes of a frame: one sample of each channel. */
  readonly blockAlign: number;
  readonly bits: number;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const READABLE: ReadonlySet<string | undefined> = new Set(['RIFF', 'RF64', 'BW64']);
const ACCEPTED = 'omnifft reads WAV files with PCM samples of 8 to 32 bits or floating-point samples of 32 or 64 bits';

/**
 * Decodes a WAV file, RF64 and BW64 included. Only its `fmt ` and `data` chunks are read, and whole frames of the samples.
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array`, `detached-array`; `invalid-file` when they are no WAV
 *   file, end too early, hold no sample at all or samples of another kind; `out-of-memory`.
 */
export function readWav(bytes: Uint8Array): Recording {
  const { format, data } = open(requireBytes(bytes, 'readWav'));
  const { tag, channels, sampleRate, blockAlign, bits } = format;
  const pcm = tag === PCM && bits >= 8 && bits <= 32;
  const float = tag === FLOAT && (bits === 32 || bits === 64);
  if (!pcm && !float) throw invalid(`The WAV file has ${describe(tag, bits)} samples; ${ACCEPTED}.`);
  if (channels < 1 || sampleRate < 1) {
    throw invalid(`The WAV file has ${channels} channels at ${sampleRate} Hz; at least 1 of each is needed.`);
  }
  const size = sampleBytes(format);
  if (data.size > data.bytes.length) {
    const hint = data.size === UNKNOWN_SIZE ? ' It was written as a stream: a sound editor can save it anew.' : '';
    throw invalid(
      `The WAV file is truncated: it announces ${data.size} bytes of samples and has ${data.bytes.length}.${hint}`,
    );
  }
  const frames = Math.floor(data.size / blockAlign);
  if (frames === 0) throw invalid('The WAV file holds no samples; at least one is needed.');
  return {
    sampleRate,
    channels: deinterleave(data.bytes, channels, frames, size, sampleReader(size, float)),
    format: float ? `${bits}-bit float` : `${bits}-bit PCM`,
  };
}

/**
 * The mean of all channels: what a mono loudspeaker would play.
 *
 * @returns as many samples as the first channel has; the channel itself where there is no other.
 * @throws FftError `invalid-argument`, `detached-array`, `out-of-memory`
 */
export function mixDown(recording: Recording): Float32Array<ArrayBuffer> {
  const given = snapshot(recording, 'The recording', READING);
  const channels = isRecord(given) ? given.channels : undefined;
  if (!Array.isArray(channels) || !channels.every(isFloats)) {
    throw new FftError('invalid-argument', 'mixDown takes a recording as readWav gives it, with its list of channels.');
  }
  const [first, ...others] = channels.map((channel, n) => liveSamples(channel, `Channel ${n}`) as Samples);
  if (first === undefined)
    throw new FftError('invalid-argument', 'A recording has at least one channel; this one has none.');
  if (others.length === 0) return first;
  const gain = 1 / channels.length;
  return fitting(first.length, () =>
    first.map((sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) * gain),
  );
}

function open(bytes: Uint8Array): { format: Format; data: Chunk } {
  const container = containerOf(bytes);
  if (container === 'RIFX') throw invalid(`The WAV file is big-endian (RIFX); ${ACCEPTED}, little-endian.`);
  if (!READABLE.has(container)) throw unreadable('it does not start as one does');
  const chunks = findChunks(bytes, ['fmt ', 'data']);
  const fmt = chunks.get('fmt ');
  if (fmt === undefined) throw unreadable('it has no "fmt " chunk');
  const format = readFormat(fmt.bytes);
  const data = chunks.get('data');
  if (data === undefined) throw unreadable('it has no "data" chunk');
  return { format, data };
}

function readFormat(bytes: Uint8Array): Format {
  const view = viewOf(bytes);
  const needs = (least: number) => {
    if (bytes.length < least) throw unreadable(`its "fmt " chunk has ${bytes.length} bytes, but needs ${least}`);
  };
  needs(16);
  const tag = view.getUint16(0, true);
  // The extension names the kind of samples in the first bytes of a GUID.
  if (tag === EXTENSIBLE) needs(40);
  return {
    tag: tag === EXTENSIBLE ? view.getUint32(24, true) : tag,
    channels: view.getUint16(2, true),
    sampleRate: view.getUint32(4, true),
    blockAlign: view.getUint16(12, true),
    bits: view.getUint16(14, true),
  };
}

/** Bytes that a sample takes, which may be more than its bits need. */
function sampleBytes({ tag, channels, blockAlign, bits }: Format): number {
  const least = Math.ceil(bits / 8);
  const size = blockAlign / channels;
  // One byte is unsigned and more are signed, so that 8 bits in more than one byte could be either.
  const most = tag === PCM && bits > 8 ? 4 : least;
  if (Number.isInteger(size) && size >= least && size <= most) return size;
  const sound = `${describe(tag, bits)} samples in ${channels} channel${channels === 1 ? '' : 's'}`;
  throw invalid(`The WAV file has frames of ${blockAlign} bytes (blockAlign); ${sound} take ${least * channels}.`);
}

/** Reads the sample at a byte offset as a number in −1 … 1. */
type SampleReader = (view: DataView, at: number) => number;

/**
 * Samples whose bits do not fill their bytes stand at the top of them, so that the bytes alone say what full scale is.
 * One byte is unsigned, more are two's complement.
 */
function sampleReader(size: number, float: boolean): SampleReader {
  if (float) return size === 4 ? (view, at) => view.getFloat32(at, true) : (view, at) => view.getFloat64(at, true);
  switch (size) {
    case 1:
      return (view, at) => (view.getUint8(at) - 0x80) / 0x80;
    case 2:
      return (view, at) => view.getInt16(at, true) / 2 ** 15;
    case 3:
      return (view, at) => (view.getInt8(at + 2) * 2 ** 16 + view.getUint16(at, true)) / 2 ** 23;
    default:
      return (view, at) => view.getInt32(at, true) / 2 ** 31;
  }
}

function deinterleave(
  bytes: Uint8Array,
  count: number,
  frames: number,
  size: number,
  read: SampleReader,
): Float32Array<ArrayBuffer>[] {
  const view = viewOf(bytes);
  return Array.from({ length: count }, (_, channel) => {
    const samples = zeros(frames, true) as Float32Array<ArrayBuffer>;
    for (let k = 0; k < frames; k++) samples[k] = read(view, (k * count + channel) * size);
    return samples;
  });
}

function describe(tag: number, bits: number): string {
  if (tag === PCM) return `${bits}-bit PCM`;
  if (tag === FLOAT) return `${bits}-bit floating-point`;
  return `compressed or unknown (format ${tag})`;
}

function unreadable(reason: string): FftError {
  return invalid(`This is not a WAV file that can be read (${reason}); ${ACCEPTED}.`);
}

function invalid(message: string): FftError {
  return new FftError('invalid-file', message);
}
