/** Sample formats of WAV files, and their conversion to numbers in −1 … 1. */

import { FftError } from '../../problem/errors.ts';

/** The contents of a `fmt ` chunk. */
export interface SampleFormat {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  /** Bytes of a frame: one sample of each channel. */
  readonly blockAlign: number;
  readonly bits: number;
}

/** A sample format with its reader. */
export interface Samples {
  /** The format's name, such as `16-bit PCM`. */
  readonly name: string;
  readonly bytes: number;
  readonly read: SampleReader;
}

/** Reads the sample at a byte offset. */
type SampleReader = (view: DataView, at: number) => number;

const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;

export const ACCEPTED =
  'omnifft reads WAV files (RIFF, RIFX, RF64, BW64, W64) with samples of PCM of 8 to 32 bits, floating point of 32 or 64 bits, A-law or µ-law';
/** The conversion command recommended for a recording in another format. */
export const CONVERT = 'To convert a recording: ffmpeg -i INPUT -c:a pcm_s16le OUTPUT.wav';

/** Names of formats that are not read; Microsoft's registry in mmreg.h has the rest. */
const OTHERS: Readonly<Record<number, string>> = {
  2: 'ADPCM (Microsoft)',
  17: 'ADPCM (IMA)',
  49: 'GSM 6.10',
  80: 'MPEG',
  85: 'MP3',
  255: 'AAC',
  353: 'WMA',
  8192: 'AC-3',
};

/** The sample format of a file. @throws FftError `invalid-file` for other formats, or for frames too short for their samples. */
export function sampleFormat(format: SampleFormat, littleEndian: boolean): Samples {
  const { tag, bits } = format;
  const pcm = tag === PCM && bits >= 8 && bits <= 32;
  const float = tag === FLOAT && (bits === 32 || bits === 64);
  const law = bits === 8 && (tag === A_LAW || tag === MU_LAW);
  if (!pcm && !float && !law) {
    throw new FftError('invalid-file', `The WAV file has ${formatName(format)} samples; ${ACCEPTED}. ${CONVERT}.`);
  }
  const bytes = sampleBytes(format);
  if (law) {
    const table = tag === A_LAW ? A_LAW_TABLE : MU_LAW_TABLE;
    return { name: formatName(format), bytes, read: (view, at) => table[view.getUint8(at)]! };
  }
  const name = float ? `${bits}-bit float` : `${bits}-bit PCM`;
  return { name, bytes, read: float ? floatReader(bytes, littleEndian) : pcmReader(bytes, littleEndian) };
}

/** Bytes of a sample, which may be more than its bits need. */
function sampleBytes(format: SampleFormat): number {
  const { tag, channels, blockAlign, bits } = format;
  const least = Math.ceil(bits / 8);
  const size = blockAlign / channels;
  // Samples of one byte are unsigned and longer ones signed, so that 8 bits in more than one byte could be either.
  const most = tag === PCM && bits > 8 ? 4 : least;
  if (Number.isInteger(size) && size >= least && size <= most) return size;
  const sound = `${formatName(format)} samples in ${channels} channel${channels === 1 ? '' : 's'}`;
  throw new FftError(
    'invalid-file',
    `The WAV file has frames of ${blockAlign} bytes (blockAlign); ${sound} take ${least * channels}.`,
  );
}

function formatName({ tag, bits }: SampleFormat): string {
  if (tag === PCM) return `${bits}-bit PCM`;
  if (tag === FLOAT) return `${bits}-bit floating-point`;
  if (tag === A_LAW || tag === MU_LAW) return `${bits === 8 ? '' : `${bits}-bit `}${tag === A_LAW ? 'A-law' : 'µ-law'}`;
  return `compressed or unknown (format ${tag}${Object.hasOwn(OTHERS, tag) ? `, ${OTHERS[tag]}` : ''})`;
}

function floatReader(bytes: number, little: boolean): SampleReader {
  return bytes === 4 ? (view, at) => view.getFloat32(at, little) : (view, at) => view.getFloat64(at, little);
}

/**
 * PCM samples, whose bits stand at the top of their bytes: full scale follows from the number of bytes alone. One byte is unsigned, more are two's
 * complement.
 */
function pcmReader(bytes: number, little: boolean): SampleReader {
  const [low, high] = little ? [0, 2] : [1, 0];
  switch (bytes) {
    case 1:
      return (view, at) => (view.getUint8(at) - 0x80) / 0x80;
    case 2:
      return (view, at) => view.getInt16(at, little) / 2 ** 15;
    case 3:
      return (view, at) => (view.getInt8(at + high) * 2 ** 16 + view.getUint16(at + low, little)) / 2 ** 23;
    default:
      return (view, at) => view.getInt32(at, little) / 2 ** 31;
  }
}

/** ITU-T G.711, table 1a: every second bit is inverted; 13 bits with a sign, the first segment is as wide as the second. */
const A_LAW_TABLE = Float32Array.from({ length: 256 }, (_, byte) => {
  const code = byte ^ 0x55;
  const [segment, step] = [(code >> 4) & 7, code & 15];
  const size = segment === 0 ? 2 * step + 1 : (2 * step + 33) << (segment - 1);
  return ((code & 0x80) === 0 ? -size : size) / 2 ** 12;
});

/** ITU-T G.711, table 2a: all bits are inverted; 14 bits with a sign, in segments of twice the width, less the first start. */
const MU_LAW_TABLE = Float32Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte;
  const size = ((2 * (code & 15) + 33) << ((code >> 4) & 7)) - 33;
  return ((code & 0x80) === 0 ? size : -size) / 2 ** 13;
});
