/**
 * Reading sound from WAV files: PCM of 8 to 32 bits, floating point of 32 and 64 bits, A-law and µ-law, any number of
 * channels.
 *
 * Sources: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991); Microsoft's
 * documentation of `WAVEFORMATEXTENSIBLE`.
 */

import { readOptions } from '../../engine/arguments/options.ts';
import { allocated, floatZeros } from '../../numpy/arrays/array.ts';
import { type ByteSource, memorySource, PIECE, sourceSlice } from '../../numpy/files/source.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { NewFloat32Array } from '../../problem/index.ts';
import { requireBytes } from '../../problem/input/bytes.ts';
import { isRecord, type Reading, snapshot } from '../../problem/input/snapshot.ts';
import { isFloats, liveSamples } from '../arguments/floats.ts';
import { type Chunk, containerOf, dataView, findChunks } from './riff.ts';
import { ACCEPTED, CONVERT, type SampleFormat, type Samples, sampleFormat } from './samples.ts';

/** A decoded recording. */
export interface Recording {
  /** Sampling rate, in hertz. */
  readonly sampleRate: number;
  /** Samples of each channel, all channels of the same length; full scale is −1 to 1. */
  readonly channels: readonly NewFloat32Array[];
  /** Sample format of the file, such as `16-bit PCM`. */
  readonly format: string;
  /** Faults of the file, a sentence each, where it could be read nevertheless. Absent for a faultless file. */
  readonly warnings?: readonly string[];
}

/** Options of reading. */
export interface WavOptions {
  /**
   * Handling of a file that ends before the samples that it announces: `'refuse'` (the default) throws `invalid-file`, `'accept'` reads the whole
   * frames that are present and adds a warning to the recording.
   */
  readonly truncated?: (typeof truncatedChoices)[number] | undefined;
}

/** The depth of a recording as an argument: its fields and its list of channels, of which a file has 2^16 at most. */
const READING: Reading = { code: 'invalid-argument', depth: 2, keep: true, most: 2 ** 17 };

/** The values of `truncated`, for files that end too early. */
export const truncatedChoices = ['refuse', 'accept'] as const;

const EXTENSIBLE = 0xfffe;

/**
 * Decodes a WAV file: RIFF, RIFX (big-endian), and RF64, BW64 and W64 for more than 4 GiB. Only its `fmt ` and `data` chunks
 * are read, and whole frames of the samples.
 *
 * Where the writer did not know the size of the samples (it wrote to a pipe, or was stopped), they are read to the end of the file, and
 * where a chunk does not begin where the one before it ends, it is searched for: `warnings` of the recording say so.
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array` or for options out of range, `unknown-field`, `detached-array`;
 *   `invalid-file` when they are no WAV file, end too early, hold no sample at all or samples of another kind; `out-of-memory`.
 */
export function readWav(bytes: Uint8Array, options: WavOptions = {}): Recording {
  const { truncated = 'refuse' } = readOptions(options, { works: ['truncated'] }, 'readWav');
  if (!truncatedChoices.includes(truncated)) {
    throw new FftError('invalid-argument', `truncated is ${show(truncated)}; it is 'refuse' or 'accept'.`, {
      path: 'truncated',
    });
  }
  return readWavFrom(memorySource(requireBytes(bytes, 'readWav')), { truncated });
}

/**
 * Reads a recording from any source, without holding the whole file in memory.
 * @param most bytes that are decoded at a time
 */
export function readWavFrom(source: ByteSource, { truncated = 'refuse' }: WavOptions = {}, most = PIECE): Recording {
  const { format, data, littleEndian, warnings } = openFile(source);
  const { channels, sampleRate, blockAlign } = format;
  if (channels < 1 || sampleRate < 1) {
    throw new FftError(
      'invalid-file',
      `The WAV file has ${channels} channels at ${sampleRate} Hz; at least 1 of each is needed.`,
    );
  }
  const samples = sampleFormat(format, littleEndian);
  if (data.size > data.present) {
    const found = `it announces ${data.size} bytes of samples and has ${data.present}`;
    if (truncated === 'refuse') {
      throw new FftError(
        'invalid-file',
        `The WAV file is truncated ({ truncated: 'accept' } takes what is there): ${found}.`,
      );
    }
    warnings.push(`The WAV file is truncated: ${found}, which are read.`);
  }
  const frames = Math.floor(data.present / blockAlign);
  if (frames === 0) throw new FftError('invalid-file', 'The WAV file holds no samples; at least one is needed.');
  const decoded = Array.from({ length: channels }, () => floatZeros(frames, true) as NewFloat32Array);
  const each = Math.max(1, Math.floor(most / blockAlign));
  for (let first = 0; first < frames; first += each) {
    const count = Math.min(each, frames - first);
    const piece = source.read(data.start + first * blockAlign, count * blockAlign);
    if (piece.length < count * blockAlign)
      throw new FftError('invalid-file', 'The WAV file has become shorter while it was read.');
    deinterleave(dataView(piece), decoded, first, count, samples);
  }
  const recording = { sampleRate, channels: decoded, format: samples.name };
  return warnings.length === 0 ? recording : { ...recording, warnings };
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
  return allocated(first.length, () =>
    first.map((sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) * gain),
  );
}

interface OpenFile {
  readonly format: SampleFormat;
  readonly data: Chunk;
  readonly littleEndian: boolean;
  readonly warnings: string[];
}

/**
 * Skips repeated headers. Where libsndfile, and so SoX for Wave64, cannot go back to correct its header, it writes the header again: before the first
 * sample, and after the last one. These bytes are not samples.
 */
function openFile(source: ByteSource): OpenFile {
  const file = openAt(source, 0);
  const { start: header, size, unknown } = file.data;
  const isHeader = (at: number) => containerOf(sourceSlice(source, at, header)) !== undefined;
  if (!unknown || !isHeader(header)) return file;
  const again = openAt(source, header);
  // The repeated header at the end begins a header's length before the end of the file.
  if (!again.data.unknown || !isHeader(size)) return again;
  const rest = Math.max(0, again.data.size - header);
  return { ...again, data: { ...again.data, size: rest, present: rest } };
}

/** @param origin offset of the header */
function openAt(whole: ByteSource, origin: number): OpenFile {
  const source = sourceSlice(whole, origin, whole.size);
  const container = containerOf(source);
  if (container === undefined) throw unreadableWav(whatElse(source.read(0, 12)));
  const { littleEndian } = container;
  const chunks = findChunks(source, container, ['fmt ', 'data']);
  const fmt = chunks.get('fmt ');
  if (fmt === undefined) throw unreadableWav('it has no "fmt " chunk');
  const format = readFormat(source.read(fmt.start, Math.min(fmt.present, 40)), littleEndian);
  const data = chunks.get('data');
  if (data === undefined) throw unreadableWav('it has no "data" chunk');
  return { format, data: { ...data, start: origin + data.start }, littleEndian, warnings: warningsAbout(chunks) };
}

function warningsAbout(chunks: ReadonlyMap<string, Chunk>): string[] {
  const warnings = [...chunks]
    .filter(([, { displaced }]) => displaced)
    .map(
      ([name, { start }]) =>
        `The WAV file is damaged: its "${name}" chunk had to be searched for, and was found at byte ${start}.`,
    );
  if (chunks.get('data')?.unknown) {
    warnings.push(
      'The WAV file does not say how many samples it has, as one written to a pipe; they are read to its end.',
    );
  }
  return warnings;
}

function readFormat(bytes: Uint8Array, littleEndian: boolean): SampleFormat {
  const view = dataView(bytes);
  const needs = (least: number) => {
    if (bytes.length < least) throw unreadableWav(`its "fmt " chunk has ${bytes.length} bytes, but needs ${least}`);
  };
  needs(16);
  const tag = view.getUint16(0, littleEndian);
  // In the extensible format the first bytes of a GUID name the sample format.
  if (tag === EXTENSIBLE) needs(40);
  return {
    tag: tag === EXTENSIBLE ? extendedTag(bytes.subarray(24, 28), littleEndian) : tag,
    channels: view.getUint16(2, littleEndian),
    sampleRate: view.getUint32(4, littleEndian),
    blockAlign: view.getUint16(12, littleEndian),
    bits: view.getUint16(14, littleEndian),
  };
}

/** The format tag of a GUID. In big-endian files programs disagree about its byte order; tags that are read take up one of its four bytes. */
function extendedTag(bytes: Uint8Array, littleEndian: boolean): number {
  const [byte, ...others] = bytes.filter((byte) => byte !== 0);
  return !littleEndian && byte !== undefined && others.length === 0 ? byte : dataView(bytes).getUint32(0, littleEndian);
}

/** @param first number of the first frame in `view` */
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

/** The first bytes of other kinds of recordings, from an offset on. */
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

/** The name of a file's actual kind, where its first bytes tell. */
function whatElse(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes);
  const found = STARTS.find(([, at, letters]) => text.startsWith(letters, at));
  return found ? `it starts as a file of ${found[0]} does` : 'it does not start as one does';
}

function unreadableWav(reason: string): FftError {
  return new FftError('invalid-file', `This is not a WAV file that can be read (${reason}); ${ACCEPTED}. ${CONVERT}.`);
}
