/**
 * Reading sound from WAV files: PCM of 8 to 32 bits and floating point of 32 and 64 bits, any number of channels.
 *
 * The container and its chunks are the `wavefile` package's affair. Samples are converted here, because it takes the
 * floating-point samples of an extensible header for integers; so are damages that it lets pass refused here.
 */

import wavefile from 'wavefile';
import { refuseDetached } from '../engine/arguments.ts';
import { requireBytes } from '../problem/bytes.ts';
import { FftError } from '../problem/errors.ts';
import { isFloats } from './floats.ts';

/** A decoded recording. */
export interface Recording {
  /** Samples a second, in hertz. */
  readonly sampleRate: number;
  /** One array for each channel, all of the same length; full scale is −1 to 1. */
  readonly channels: readonly Float32Array<ArrayBuffer>[];
  /** How the file holds a sample, such as `16-bit PCM`. */
  readonly format: string;
}

interface Format {
  readonly audioFormat: number;
  readonly numChannels: number;
  readonly sampleRate: number;
  readonly bitsPerSample: number;
  readonly blockAlign: number;
  readonly subformat: readonly number[];
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
/** What programs announce that do not know yet how much will come. */
const STREAMED = 0xffffffff;
const ACCEPTED = 'omnifft reads WAV files with PCM samples of 8 to 32 bits or floating-point samples of 32 or 64 bits';

/**
 * Decodes a WAV file.
 *
 * @param bytes The whole file. It is not modified and not kept.
 * @throws FftError `invalid-argument` when they are no `Uint8Array`; `invalid-file` when they are no WAV file, end too
 *   early, hold no sample at all or samples of another kind.
 */
export function readWav(bytes: Uint8Array): Recording {
  requireBytes(bytes, 'readWav');
  const { wav, format } = open(bytes);
  const tag = format.audioFormat === EXTENSIBLE ? format.subformat[0] : format.audioFormat;
  const bits = format.bitsPerSample;
  const pcm = tag === PCM && bits >= 8 && bits <= 32;
  const float = tag === FLOAT && (bits === 32 || bits === 64);
  if (!pcm && !float) {
    throw invalid(`The WAV file has ${describe(tag, bits)} samples; ${ACCEPTED}.`);
  }
  if (format.numChannels < 1 || format.sampleRate < 1) {
    throw invalid(
      `The WAV file has ${format.numChannels} channels at ${format.sampleRate} Hz; at least 1 of each is needed.`,
    );
  }
  const { chunkSize, samples } = wav.data as { chunkSize: number; samples: Uint8Array };
  if (chunkSize > samples.length) {
    const hint = chunkSize === STREAMED ? ' It was written as a stream: a sound editor can save it anew.' : '';
    throw invalid(
      `The WAV file is truncated: it announces ${chunkSize} bytes of samples and has ${samples.length}.${hint}`,
    );
  }
  const size = Math.ceil(bits / 8);
  const frame = format.numChannels * size;
  if (samples.length < frame) throw invalid('The WAV file holds no samples; at least one is needed.');
  const read = sampleReader(bits, float);
  const channels = deinterleave(samples, format.numChannels, Math.floor(samples.length / frame), size, read);
  return { sampleRate: format.sampleRate, channels, format: float ? `${bits}-bit float` : `${bits}-bit PCM` };
}

/** The mean of all channels: what a mono loudspeaker would play. @throws FftError `invalid-argument`, `detached-array` */
export function mixDown(recording: Recording): Float32Array<ArrayBuffer> {
  const channels: unknown = recording?.channels;
  if (!Array.isArray(channels) || !channels.every(isFloats)) {
    throw new FftError('invalid-argument', 'mixDown takes a recording as readWav gives it, with its list of channels.');
  }
  recording.channels.forEach((channel, n) => refuseDetached(channel, `Channel ${n}`));
  const [first, ...others] = recording.channels;
  if (first === undefined)
    throw new FftError('invalid-argument', 'A recording has at least one channel; this one has none.');
  if (others.length === 0) return first;
  const gain = 1 / recording.channels.length;
  return first.map((sample, index) => others.reduce((sum, channel) => sum + (channel[index] ?? 0), sample) * gain);
}

function open(bytes: Uint8Array): { wav: wavefile.WaveFile; format: Format } {
  if (String.fromCharCode(...bytes.subarray(0, 4)) === 'RIFX') {
    throw invalid(`The WAV file is big-endian (RIFX); ${ACCEPTED}, little-endian.`);
  }
  try {
    const wav = new wavefile.WaveFile();
    wav.fromBuffer(bytes);
    return { wav, format: wav.fmt as Format };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(`This is not a WAV file that can be read (${reason.replace(/\.$/, '')}); ${ACCEPTED}.`, error);
  }
}

/** Reads the sample at a byte offset as a number in −1 … 1. */
type SampleReader = (view: DataView, at: number) => number;

/**
 * Samples whose bits do not fill their bytes stand at the top of them, so that the bytes alone say what full scale is.
 * One byte is unsigned, more are two's complement.
 */
function sampleReader(bits: number, float: boolean): SampleReader {
  if (float) return bits === 32 ? (view, at) => view.getFloat32(at, true) : (view, at) => view.getFloat64(at, true);
  switch (Math.ceil(bits / 8)) {
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count }, (_, channel) => {
    const samples = new Float32Array(frames);
    for (let k = 0; k < frames; k++) samples[k] = read(view, (k * count + channel) * size);
    return samples;
  });
}

function describe(tag: number | undefined, bits: number): string {
  if (tag === PCM) return `${bits}-bit PCM`;
  if (tag === FLOAT) return `${bits}-bit floating-point`;
  return `compressed or unknown (format ${tag})`;
}

function invalid(message: string, cause?: unknown): FftError {
  return new FftError('invalid-file', message, { cause });
}
