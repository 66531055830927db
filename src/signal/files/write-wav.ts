/** Writing sound to WAV files: RIFF, PCM of 16 or 24 bits, floating point of 32. */
import { readOptions } from '../../engine/arguments/options.ts';
import { allocated } from '../../numpy/arrays/array.ts';
import { FftError } from '../../problem/errors.ts';
import type { NewUint8Array } from '../../problem/index.ts';
import { type ChannelsInput, soundChannels } from '../arguments/channel-rows.ts';
import { check, checkWord } from '../arguments/check.ts';
import type { Floats } from '../arguments/floats.ts';

/** Sample formats for writing: integers of 16 or 24 bits, which clip at full scale, or floating point, which does not. */
export type WavFormat = 'pcm16' | 'pcm24' | 'float32';

export interface WriteWavOptions {
  /** Sampling rate in hertz, a whole number. Default: the rate of a recording or an AudioBuffer; it is required for arrays. */
  readonly fs?: number | undefined;
  /** Sample format; default `float32`, which represents single precision exactly. */
  readonly format?: WavFormat | undefined;
}

const BYTES: Readonly<Record<WavFormat, number>> = { pcm16: 2, pcm24: 3, float32: 4 };
const HEADER = 44;
/** The largest size that the file's size fields hold. */
const MOST = 2 ** 32 - 1;

/**
 * A WAV file.
 *
 * @param sound an AudioBuffer, a recording of `readWav`, a list of channels, a real array whose rows they are, or one channel; full scale is −1 to 1
 * @returns the bytes of the file. `readWav` gives the samples back: of `float32` as they were in single precision, of `pcm16` and `pcm24` to the
 *   nearest step
 * @throws FftError `invalid-argument` for no sound, options out of range, samples that are no numbers (PCM), or more than a file of this kind holds;
 *   `wrong-length` for channels of different lengths, `unknown-field`, `detached-array`, `out-of-memory`
 */
export function writeWav(sound: ChannelsInput, options: WriteWavOptions = {}): NewUint8Array {
  const { fs = rateOf(sound), format = 'float32' } = readOptions(options, { works: ['fs', 'format'] }, 'writeWav');
  const channels = soundChannels(sound);
  check('fs', fs, Number.isInteger(fs) && fs! >= 1 && fs! <= MOST, 'a whole number of samples a second, from 1 on');
  checkWord('format', format, ['pcm16', 'pcm24', 'float32']);
  const frame = channels.length * BYTES[format];
  const size = channels[0]!.length * frame;
  if (channels.length >= 2 ** 16 || size + (size % 2) + HEADER - 8 > MOST) {
    const message = `sound has ${channels.length} channels of ${channels[0]!.length} samples; a WAV file holds 65535 channels, and 4 GiB.`;
    throw new FftError('invalid-argument', message, { path: 'sound' });
  }
  const bytes = allocated(HEADER, () => new Uint8Array(HEADER + size + (size % 2)));
  const view = new DataView(bytes.buffer);
  writeHeader(view, { fs: fs!, channels: channels.length, format, size });
  channels.forEach((channel, c) => writeChannel(view, channel, HEADER + c * BYTES[format], frame, format));
  return bytes;
}

/** The sampling rate of a recording or an AudioBuffer. */
function rateOf(sound: unknown): number | undefined {
  if (typeof sound !== 'object' || sound === null || !('sampleRate' in sound)) return undefined;
  return sound.sampleRate as number;
}

function writeHeader(
  view: DataView,
  { fs, channels, format, size }: { fs: number; channels: number; format: WavFormat; size: number },
): void {
  const text = (at: number, letters: string) => {
    for (let k = 0; k < letters.length; k++) view.setUint8(at + k, letters.charCodeAt(k));
  };
  const bytes = BYTES[format];
  text(0, 'RIFF');
  view.setUint32(4, HEADER - 8 + size + (size % 2), true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, format === 'float32' ? 3 : 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, fs, true);
  view.setUint32(28, Math.min(MOST, fs * channels * bytes), true);
  view.setUint16(32, channels * bytes, true);
  view.setUint16(34, 8 * bytes, true);
  text(36, 'data');
  view.setUint32(40, size, true);
}

function writeChannel(view: DataView, samples: Floats, at: number, step: number, format: WavFormat): void {
  if (format === 'float32') {
    for (let k = 0; k < samples.length; k++) view.setFloat32(at + k * step, samples[k]!, true);
    return;
  }
  const full = format === 'pcm16' ? 2 ** 15 : 2 ** 23;
  for (let k = 0; k < samples.length; k++) {
    const sample = samples[k]!;
    if (Number.isNaN(sample)) {
      throw new FftError(
        'invalid-argument',
        `sound has no number at sample ${k}, which ${format} cannot hold; float32 can.`,
        {
          path: 'sound',
        },
      );
    }
    const value = Math.max(-full, Math.min(full - 1, Math.round(sample * full)));
    if (format === 'pcm16') view.setInt16(at + k * step, value, true);
    else {
      view.setUint16(at + k * step, value & 0xffff, true);
      view.setInt8(at + k * step + 2, value >> 16);
    }
  }
}
