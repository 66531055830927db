import { describe, expect, it } from 'vitest';
import { damage } from '../../../test/support/damage.ts';
import { randomFor } from '../../../test/support/random.ts';
import {
  bigSized,
  bytesOf,
  chunk,
  chunk64,
  file,
  fmt,
  type Layout,
  packed,
  riff,
  wave64,
} from '../../../test/support/wav.ts';
import { type ByteSource, memorySource } from '../../numpy/files/source.ts';
import { FftError } from '../../problem/errors.ts';
import { mixDown, readWav, readWavFrom } from './wav.ts';

function failure(run: () => unknown): FftError {
  try {
    run();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('readWav', () => {
  const wanted = [-1, 0, 0.5, -0.25];
  const scaled = (full: number) => wanted.map((value) => value * full);
  it.each<[string, Layout, Uint8Array]>([
    ['8-bit PCM', { tag: 1, bits: 8, channels: 1 }, Uint8Array.of(0, 128, 192, 96)],
    ['16-bit PCM', { tag: 1, bits: 16, channels: 1 }, packed(scaled(2 ** 15), 2)],
    ['24-bit PCM', { tag: 1, bits: 24, channels: 1 }, packed(scaled(2 ** 23), 3)],
    ['32-bit PCM', { tag: 1, bits: 32, channels: 1 }, packed(scaled(2 ** 31), 4)],
    ['24-bit PCM', { tag: 1, bits: 24, channels: 1, extensible: true }, packed(scaled(2 ** 23), 3)],
    ['32-bit float', { tag: 3, bits: 32, channels: 1 }, bytesOf(Float32Array.from(wanted))],
    ['64-bit float', { tag: 3, bits: 64, channels: 1 }, bytesOf(Float64Array.from(wanted))],
    ['32-bit float', { tag: 3, bits: 32, channels: 1, extensible: true }, bytesOf(Float32Array.from(wanted))],
  ])('reads %s (%o)', (name, layout, data) => {
    const recording = readWav(file(layout, data));
    expect(recording.format).toBe(name);
    expect(recording.sampleRate).toBe(8000);
    expect(recording.channels.map((channel) => [...channel])).toEqual([wanted]);
  });

  it.each([2, 3, 6])('separates %i channels', (channels) => {
    const frames = 5;
    const values = Array.from({ length: channels * frames }, (_, k) => k / 64);
    const recording = readWav(file({ tag: 3, bits: 32, channels }, bytesOf(Float32Array.from(values))));
    expect(recording.channels).toHaveLength(channels);
    recording.channels.forEach((channel, c) => {
      expect([...channel]).toEqual(Array.from({ length: frames }, (_, k) => values[k * channels + c]));
    });
  });

  it('reads whole frames of what is announced, and no padding', () => {
    const random = randomFor('frames of a WAV file');
    const frames = random.integer(2, 50);
    const values = Array.from({ length: frames }, () => random.integer(-128, 127));
    const read = (layout: Layout, data: Uint8Array) =>
      readWav(file(layout, data)).channels.map((channel) => [...channel]);
    const unsigned = Uint8Array.from(values, (value) => value + 128);
    const wanted = values.map((value) => value / 128);
    // One of the two has an odd number of bytes.
    expect(read({ tag: 1, bits: 8, channels: 1 }, unsigned)).toEqual([wanted]);
    expect(read({ tag: 1, bits: 8, channels: 1 }, unsigned.subarray(1).slice())).toEqual([wanted.slice(1)]);
    const wide = packed(
      values.map((value) => value * 256),
      2,
    );
    expect(read({ tag: 1, bits: 16, channels: 1, announce: 2 * frames - 1 }, wide)).toEqual([wanted.slice(0, -1)]);
    expect(read({ tag: 1, bits: 16, channels: 2 }, packed([0, 0, 2 ** 14], 2))).toEqual([[0], [0]]);
  });

  it.each([
    ['a sampler chunk cut short', chunk('smpl', new Uint8Array(10).fill(255))],
    ['cue points by the billion', chunk('cue ', packed([2e9], 4))],
    ['a list that is none', chunk('LIST', new Uint8Array(3))],
    ['an odd number of bytes', chunk('note', new Uint8Array(7))],
  ])('steps over %s', (_name, other) => {
    const sound = [chunk('fmt ', fmt({ tag: 1, bits: 16, channels: 1 })), chunk('data', packed([-(2 ** 14)], 2))];
    for (let at = 0; at <= sound.length; at++) {
      expect([...(readWav(riff('RIFF', ...sound.toSpliced(at, 0, other))).channels[0] ?? [])]).toEqual([-0.5]);
    }
  });

  it.each([
    [12, 2],
    [16, 3],
    [16, 4],
    [24, 4],
  ])('reads samples of %i bits from the top of %i bytes', (bits, size) => {
    const layout = { tag: 1, bits, channels: 2, block: 2 * size };
    const recording = readWav(file(layout, packed(scaled(2 ** (8 * size - 1)), size)));
    expect(recording.format).toBe(`${bits}-bit PCM`);
    expect(recording.channels.map((channel) => [...channel])).toEqual([
      [-1, 0.5],
      [0, -0.25],
    ]);
  });

  it.each(['RF64', 'BW64'])('reads %s, whose sizes are in a chunk of their own', (container) => {
    const data = packed(scaled(2 ** 15), 2);
    const sizes = (count: number) => {
      const body = new DataView(new ArrayBuffer(28));
      body.setBigUint64(8, BigInt(count), true);
      return chunk('ds64', bytesOf(body));
    };
    const format = chunk('fmt ', fmt({ tag: 1, bits: 16, channels: 1 }));
    const last = chunk('LIST', new Uint8Array(20));
    const whole = riff(container, sizes(data.length), format, chunk('data', data, 0xffffffff), last);
    expect([...(readWav(whole).channels[0] ?? [])]).toEqual(wanted);
    const short = riff(container, sizes(2 ** 33), format, chunk('data', data, 0xffffffff));
    expect(failure(() => readWav(short)).message).toMatch(/announces 8589934592 bytes .* has 8\.$/);
  });

  it('reads what was written as a stream up to its end', () => {
    const layout = { tag: 1, bits: 16, channels: 1, announce: 0xffffffff };
    expect([...(readWav(file(layout, packed(scaled(2 ** 15), 2))).channels[0] ?? [])]).toEqual(wanted);
  });

  /** Numbers of `unit` bytes each, the other way round. */
  const reversed = (data: Uint8Array, unit: number) => {
    const bytes = Uint8Array.from(data);
    for (let at = 0; at < bytes.length; at += unit) bytes.subarray(at, at + unit).reverse();
    return bytes;
  };

  it.each<[string, Layout, Uint8Array, number]>([
    ['8-bit PCM', { tag: 1, bits: 8, channels: 1 }, Uint8Array.of(0, 128, 192, 96), 1],
    ['16-bit PCM', { tag: 1, bits: 16, channels: 1 }, packed(scaled(2 ** 15), 2), 2],
    ['24-bit PCM', { tag: 1, bits: 24, channels: 1 }, packed(scaled(2 ** 23), 3), 3],
    ['32-bit PCM', { tag: 1, bits: 32, channels: 1 }, packed(scaled(2 ** 31), 4), 4],
    ['32-bit float', { tag: 3, bits: 32, channels: 1 }, bytesOf(Float32Array.from(wanted)), 4],
    ['64-bit float', { tag: 3, bits: 64, channels: 1 }, bytesOf(Float64Array.from(wanted)), 8],
  ])('reads RIFX, which is big-endian: %s', (format, layout, data, unit) => {
    const header = fmt(layout);
    const big = Uint8Array.from([
      ...reversed(header.subarray(0, 4), 2),
      ...reversed(header.subarray(4, 12), 4),
      ...reversed(header.subarray(12), 2),
    ]);
    const chunks = [chunk('note', new Uint8Array(3)), chunk('fmt ', big), chunk('data', reversed(data, unit))];
    const bytes = Buffer.concat([Buffer.from('RIFX____WAVE'), ...chunks.map(bigSized)]);
    expect(readWav(bytes)).toEqual({ sampleRate: 8000, channels: [Float32Array.from(wanted)], format });
  });

  // ITU-T G.711 (11/88), tables 1a/2a and 1b/2b: the values at which segments end, for codes as they are sent.
  it.each<[string, number, Record<number, number>, number]>([
    [
      'A-law',
      6,
      { 213: 1, 212: 3, 218: 31, 197: 33, 202: 63, 245: 66, 229: 132, 149: 264, 133: 528, 181: 1056, 165: 2112 },
      4096,
    ],
    [
      'µ-law',
      7,
      { 255: 0, 254: 2, 240: 30, 239: 33, 223: 99, 207: 231, 191: 495, 175: 1023, 159: 2079, 143: 4191, 128: 8031 },
      8192,
    ],
  ])('reads %s', (format, tag, values, scale) => {
    const codes = Object.keys(values).map(Number);
    const read = (data: readonly number[], extensible: boolean) =>
      readWav(file({ tag, bits: 8, channels: 1, extensible }, Uint8Array.from(data)));
    const expected = Float32Array.from(codes, (code) => values[code]! / scale);
    for (const extensible of [false, true]) {
      expect(read(codes, extensible)).toEqual({ sampleRate: 8000, channels: [expected], format });
    }
    // The first bit is the sign.
    const negative = codes.map((code) => code ^ 0x80);
    expect([...read(negative, false).channels[0]!].map((value) => 0 - value)).toEqual([...expected]);
    // Every code is a value of its own, but for the two zeros of µ-law; the quietest have the smallest steps.
    const all = new Set(
      read(
        Array.from({ length: 256 }, (_, k) => k),
        false,
      ).channels[0],
    );
    expect(all.size).toBe(tag === 7 ? 255 : 256);
  });

  it('reads Wave64, at places beyond 4 GiB too', () => {
    const layout = { tag: 1, bits: 16, channels: 1 };
    const data = packed(scaled(2 ** 15), 2);
    const near = wave64([chunk64('fmt ', fmt(layout)), chunk64('junk', new Uint8Array(3)), chunk64('data', data)]);
    expect(readWav(near)).toEqual({ sampleRate: 8000, channels: [Float32Array.from(wanted)], format: '16-bit PCM' });
    expect(failure(() => readWav(near.subarray(0, -2))).message).toMatch(/announces 8 bytes of samples and has 6/);

    const head = wave64([chunk64('fmt ', fmt(layout)), chunk64('junk', new Uint8Array(0), 5 * 2 ** 30)]);
    const tail = chunk64('data', data);
    const gap = 5 * 2 ** 30;
    const far: ByteSource = {
      size: head.length + gap + tail.length,
      read: (at, length) =>
        at < head.length
          ? head.subarray(at, at + length)
          : tail.subarray(at - head.length - gap, at - head.length - gap + length),
    };
    expect([...readWavFrom(far).channels[0]!]).toEqual(wanted);
  });

  it.each([1, 6, 7, 100])('reads the same however few bytes are decoded at a time: %i', (most) => {
    const random = randomFor('WAV pieces');
    const values = Float32Array.from({ length: 3 * 41 }, () => random.unit());
    const bytes = file({ tag: 3, bits: 32, channels: 3 }, bytesOf(values));
    expect(readWavFrom(memorySource(bytes), {}, most)).toEqual(readWav(bytes));
  });

  it('never fails otherwise, whatever the bytes', async () => {
    const data = packed(scaled(2 ** 15), 2);
    const sound = [chunk('fmt ', fmt({ tag: 1, bits: 16, channels: 1, extensible: true })), chunk('data', data)];
    const files = [
      riff('RIFF', ...sound),
      riff('RF64', chunk('ds64', new Uint8Array(28)), ...sound),
      Uint8Array.from(Buffer.concat([Buffer.from('RIFX____WAVE'), ...sound.map(bigSized)])),
      wave64([chunk64('fmt ', fmt({ tag: 7, bits: 8, channels: 2 })), chunk64('data', data)]),
      file({ tag: 6, bits: 8, channels: 1 }, data),
    ];
    expect(await damage('WAV damage', files, 3000, readWav)).toBeGreaterThan(1000);
  });

  const four = new Uint8Array(8);
  const withFormat = (body: Uint8Array) => riff('RIFF', chunk('fmt ', body), chunk('data', four));
  const pcm16 = fmt({ tag: 1, bits: 16, channels: 1 });
  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /not a WAV file/],
    ['text', new TextEncoder().encode('hello, this is not sound at all'), /not a WAV file/],
    ['a film', new TextEncoder().encode('RIFF____AVI LIST____'), /not a WAV file/],
    ['a big-endian header cut short', new TextEncoder().encode('RIFX____WAVEfmt '), /no "fmt " chunk/],
    ['a FLAC file', new TextEncoder().encode('fLaC____________'), /FLAC.*ffmpeg -i INPUT -c:a pcm_s16le OUTPUT\.wav/],
    ['an AIFF file', new TextEncoder().encode('FORM____AIFFCOMM'), /AIFF.*ffmpeg/],
    ['an MP3 file', Uint8Array.of(0xff, 0xfb, 0x90, 0, 0, 0), /MP3.*ffmpeg/],
    ['an MP4 file', new TextEncoder().encode('____ftypM4A ____'), /MP4.*ffmpeg/],
    ['a header cut short', file({ tag: 1, bits: 16, channels: 1 }, four).subarray(0, 30), /not a WAV file/],
    ['truncated samples', file({ tag: 1, bits: 16, channels: 1, announce: 100 }, four), /announces 100 bytes.*has 8/],
    ['no samples', file({ tag: 1, bits: 16, channels: 1 }, new Uint8Array(0)), /no samples/],
    ['compressed samples', file({ tag: 0x55, bits: 16, channels: 1 }, four), /format 85, MP3.*ffmpeg -i INPUT/],
    ['ADPCM', file({ tag: 17, bits: 4, channels: 1 }, four), /format 17, ADPCM.*A-law or µ-law.*ffmpeg -i INPUT/],
    ['A-law of 16 bits', file({ tag: 6, bits: 16, channels: 1 }, four), /16-bit A-law/],
    ['µ-law in 2 bytes', file({ tag: 7, bits: 8, channels: 1, block: 2 }, four), /µ-law samples in 1 channel take 1/],
    ['0 channels', file({ tag: 1, bits: 16, channels: 0 }, four), /WAV/],
    ['0 Hz', file({ tag: 1, bits: 16, channels: 1, rate: 0 }, four), /WAV/],
    ['16-bit floating point', file({ tag: 3, bits: 16, channels: 1 }, four), /WAV/],
    ['4-bit PCM', file({ tag: 1, bits: 4, channels: 1 }, four), /WAV/],
    ['a format of 14 bytes', withFormat(pcm16.subarray(0, 14)), /"fmt " chunk has 14 bytes, but needs 16/],
    ['a format of no bytes', withFormat(new Uint8Array(0)), /"fmt " chunk has 0 bytes, but needs 16/],
    ['half an extension', withFormat(fmt({ tag: 0xfffe, bits: 16, channels: 1 })), /has 16 bytes, but needs 40/],
    ['no format', riff('RIFF', chunk('data', four)), /no "fmt " chunk/],
    ['a format alone', riff('RIFF', chunk('fmt ', pcm16)), /no "data" chunk/],
    ['frames of no bytes', file({ tag: 1, bits: 16, channels: 1, block: 0 }, four), /frames of 0 bytes/],
    [
      'half a channel',
      file({ tag: 1, bits: 16, channels: 2, block: 5 }, four),
      /16-bit PCM samples in 2 channels take 4/,
    ],
    ['bytes too few', file({ tag: 1, bits: 24, channels: 1, block: 2 }, four), /1 channel take 3/],
    ['8 bits in 2 bytes', file({ tag: 1, bits: 8, channels: 1, block: 2 }, four), /1 channel take 1/],
    ['24 bits in 8 bytes', file({ tag: 1, bits: 24, channels: 1, block: 8 }, four), /1 channel take 3/],
    ['32-bit floats in 8 bytes', file({ tag: 3, bits: 32, channels: 1, block: 8 }, four), /1 channel take 4/],
  ])('refuses %s', (_name, bytes, message) => {
    const error = failure(() => readWav(bytes));
    expect(error.code).toBe('invalid-file');
    expect(error.message).toMatch(message);
  });
});

describe('what is no file', () => {
  it.each([null, undefined, 'x', new ArrayBuffer(10), new Float32Array(4), [1, 2]])('%s', (given) => {
    expect(failure(() => readWav(given as never)).code).toBe('invalid-argument');
    expect(failure(() => mixDown(given as never)).code).toBe('invalid-argument');
  });

  it('bytes that were transferred away', () => {
    const bytes = file({ tag: 1, bits: 16, channels: 1 }, new Uint8Array(8));
    structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
    expect(failure(() => readWav(bytes)).code).toBe('detached-array');
  });
});

describe('mixDown', () => {
  it('is the mean of the channels', () => {
    const channels = [Float32Array.of(1, 0), Float32Array.of(0.5, -1)];
    expect([...mixDown({ sampleRate: 1, channels, format: 'test' })]).toEqual([0.75, -0.5]);
  });

  it('refuses channels that are no samples, or that were transferred away', () => {
    const channel = Float32Array.of(1, 0);
    structuredClone(channel, { transfer: [channel.buffer] });
    expect(failure(() => mixDown({ sampleRate: 1, channels: [channel, channel], format: '' })).code).toBe(
      'detached-array',
    );
    const views = [new DataView(new ArrayBuffer(8))] as never;
    expect(failure(() => mixDown({ sampleRate: 1, channels: views, format: '' })).code).toBe('invalid-argument');
  });
});
