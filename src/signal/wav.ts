/**
 * Reading sound from WAV files: PCM of 8 to 32 bits, floating point of 32 and 64 bits, A-law and µ-law, any number of
 * channels.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991); Microsoft's
 * documentation of `WAVEFORMATEXTENSIBLE`.
 */

import { fitting, zeros } from '../numpy/array.ts';
import { type ByteSource, memorySource, PIECE } from '../numpy/source.ts';
import { requireBytes } from '../problem/bytes.ts';
import { FftError } from '../problem/errors.ts';
import type { NewFloat32Array } from '../problem/index.ts';
import { isRecord, type Reading, snapshot } from '../problem/snapshot.ts';
import { isFloats, liveSamples } from './floats.ts';
import { type Chunk, containerOf, findChunks, viewOf } from './riff.ts';
import { ACCEPTED, CONVERT, type SampleFormat, type Samples, samplesOf } from './samples.ts';

/** A decoded recording. */
export interface Recording {
  /** Samples a second, in hertz. */
  readonly sampleRate: number;
  /** One array for each channel, all of the same length; full scale is −1 to 1. */
  readonly channels: readonly NewFloat32Array[];
  /** How the file holds a sample, such as `16-bit PCM`. */
  readonly format: string;
}

/** How a recording is read: its fields and the list of its channels, of which a file has 2^16 at most. */
const READING: Reading = { code: 'invalid-argument', depth: 2, keep: true, most: 2 ** 17 };

const EXTENSIBLE = 0xfffe;

/**
 * Decodes a WAV file: RIFF, RIFX (big-endian), and RF64, BW64 and W64 for more than 4 GiB. Only its `fmt ` and `data` chunks
 * are read, and whole frames of the samples; those of a stream that did not know its length go to the end of the file.
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array`, `detached-array`; `invalid-file` when they are no WAV
 *   file, end too early, hold no sample at all or samples of another kind; `out-of-memory`.
 */
export function readWav(bytes: Uint8Array): Recording {
  return readWavFrom(memorySource(requireBytes(bytes, 'readWav')));
}

/**
 * The same of any source: the file is never in memory as a whole.
 * @param most bytes that are decoded at a time
 */
export function readWavFrom(source: ByteSource, most = PIECE): Recording {
  const { format, data, littleEndian } = open(source);
  const { channels, sampleRate, blockAlign } = format;
  if (channels < 1 || sampleRate < 1) {
    throw invalid(`The WAV file has ${channels} channels at ${sampleRate} Hz; at least 1 of each is needed.`);
  }
  const samples = samplesOf(format, littleEndian);
  if (data.size > data.present) throw truncated(data.size, data.present);
  const frames = Math.floor(data.size / blockAlign);
  if (frames === 0) throw invalid('The WAV file holds no samples; at least one is needed.');
  const decoded = Array.from({ length: channels }, () => zeros(frames, true) as NewFloat32Array);
  const each = Math.max(1, Math.floor(most / blockAlign));
  for (let first = 0; first < frames; first += each) {
    const count = Math.min(each, frames - first);
    const piece = source.read(data.start + first * blockAlign, count * blockAlign);
    if (piece.length < count * blockAlign) throw truncated(data.size, first * blockAlign + piece.length);
    deinterleave(viewOf(piece), decoded, first, count, samples);
  }
  return { sampleRate, channels: decoded, format: samples.name };
}

/**
 * The mean of all channels: what a mono loudspeaker would play.
 *
 * @returns as many samples as the first channel has; the channel itself where there is no other.
 * @throws FftError `invalid-argument`, `detached-array`, `out-of-memory`
 */
export function mixDown(recording: Recording): NewFloat32Array {
  const given = snapshot(recording, 'The recording', READING);
  const channels = isRecord(given) ? given.channels : undefined;
  if (!Array.isArray(channels) || !channels.every(isFloats)) {
    throw new FftError('invalid-argument', 'mixDown takes a recording as readWav gives it, with its list of channels.');
  }
  const [first, ...others] = channels.map(
    (channel, n) => liveSamples(channel, `Channel ${n}`) as Recording['channels'][number],
  );
  if (first === undefined)
    throw new FftError('invalid-argument', 'A recording has at least one channel; this one has none.');
  if (others.length === 0) return first;
  const gain = 1 / channels.length;
  return fitting(first.length, () =>
    first.map((sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) * gain),
  );
}

function open(source: ByteSource): { format: SampleFormat; data: Chunk; littleEndian: boolean } {
  const container = containerOf(source);
  if (container === undefined) throw unreadable(whatElse(source.read(0, 12)));
  const { littleEndian } = container;
  const chunks = findChunks(source, container, ['fmt ', 'data']);
  const fmt = chunks.get('fmt ');
  if (fmt === undefined) throw unreadable('it has no "fmt " chunk');
  const format = readFormat(source.read(fmt.start, Math.min(fmt.present, 40)), littleEndian);
  const data = chunks.get('data');
  if (data === undefined) throw unreadable('it has no "data" chunk');
  return { format, data, littleEndian };
}

function readFormat(bytes: Uint8Array, littleEndian: boolean): SampleFormat {
  const view = viewOf(bytes);
  const needs = (least: number) => {
    if (bytes.length < least) throw unreadable(`its "fmt " chunk has ${bytes.length} bytes, but needs ${least}`);
  };
  needs(16);
  const tag = view.getUint16(0, littleEndian);
  // The extension names the kind of samples in the first bytes of a GUID.
  if (tag === EXTENSIBLE) needs(40);
  return {
    tag: tag === EXTENSIBLE ? extendedTag(bytes.subarray(24, 28), littleEndian) : tag,
    channels: view.getUint16(2, littleEndian),
    sampleRate: view.getUint32(4, littleEndian),
    blockAlign: view.getUint16(12, littleEndian),
    bits: view.getUint16(14, littleEndian),
  };
}

/** Where numbers are big-endian, programs disagree about those of a GUID; tags that are read take one byte of the four. */
function extendedTag(bytes: Uint8Array, littleEndian: boolean): number {
  const [byte, ...others] = bytes.filter((byte) => byte !== 0);
  return !littleEndian && byte !== undefined && others.length === 0 ? byte : viewOf(bytes).getUint32(0, littleEndian);
}

/** @param first which frame the first one of `view` is */
function deinterleave(
  view: DataView,
  channels: readonly Float32Array[],
  first: number,
  count: number,
  { bytes, read }: Samples,
): void {
  channels.forEach((channel, n) => {
    for (let k = 0; k < count; k++) channel[first + k] = read(view, (k * channels.length + n) * bytes);
  });
}

/** How other recordings begin, from some byte on. */
const STARTS: readonly (readonly [name: string, at: number, letters: string])[] = [
  ['FLAC', 0, 'fLaC'],
  ['Ogg', 0, 'OggS'],
  ['MP3', 0, 'ID3'],
  ['MP3', 0, '\xff\xfb'],
  ['AIFF', 8, 'AIFF'],
  ['AIFF-C', 8, 'AIFC'],
  ['AU', 0, '.snd'],
  ['Core Audio', 0, 'caff'],
  ['MP4', 4, 'ftyp'],
  ['AVI', 8, 'AVI '],
  ['Matroska or WebM', 0, '\x1a\x45\xdf\xa3'],
];

/** Names what a file is instead, where its first bytes tell. */
function whatElse(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes);
  const found = STARTS.find(([, at, letters]) => text.startsWith(letters, at));
  return found ? `it starts as a file of ${found[0]} does` : 'it does not start as one does';
}

function truncated(announced: number, present: number): FftError {
  return invalid(`The WAV file is truncated: it announces ${announced} bytes of samples and has ${present}.`);
}

function unreadable(reason: string): FftError {
  return invalid(`This is not a WAV file that can be read (${reason}); ${ACCEPTED}. ${CONVERT}.`);
}

function invalid(message: string): FftError {
  return new FftError('invalid-file', message);
}
