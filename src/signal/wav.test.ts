import { describe, expect, it } from 'vitest';
import { FftError } from '../problem/errors.ts';
import { mixDown, readWav } from './wav.ts';

interface Layout {
  tag: number;
  bits: number;
  channels: number;
  rate?: number;
  extensible?: boolean;
  announce?: number;
}

/** A WAV file put together by hand: 44 bytes of header (68 when extensible) and the given sample bytes. */
function file(
  { tag, bits, channels, rate = 8000, extensible = false, announce }: Layout,
  data: Uint8Array,
): Uint8Array {
  const fmt = extensible ? 40 : 16;
  const bytes = new Uint8Array(28 + fmt + data.length);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => bytes.set(new TextEncoder().encode(word), at);
  const block = channels * Math.ceil(bits / 8);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, fmt, true);
  view.setUint16(20, extensible ? 0xfffe : tag, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * block, true);
  view.setUint16(32, block, true);
  view.setUint16(34, bits, true);
  if (extensible) {
    view.setUint16(36, 22, true);
    view.setUint16(38, bits, true);
    const guid = [tag, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
    bytes.set(guid, 44);
  }
  text(20 + fmt, 'data');
  view.setUint32(24 + fmt, announce ?? data.length, true);
  bytes.set(data, 28 + fmt);
  return bytes;
}

const bytesOf = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Packs integers little-endian into `size` bytes each. */
function packed(values: readonly number[], size: number): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => Array.from({ length: size }, (_, i) => (value >> (8 * i)) & 0xff)));
}

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

  const four = new Uint8Array(8);
  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /not a WAV file/],
    ['text', new TextEncoder().encode('hello, this is not sound at all'), /not a WAV file/],
    ['big-endian samples', new TextEncoder().encode('RIFX____WAVEfmt '), /big-endian/],
    ['a header cut short', file({ tag: 1, bits: 16, channels: 1 }, four).subarray(0, 30), /not a WAV file/],
    ['truncated samples', file({ tag: 1, bits: 16, channels: 1, announce: 100 }, four), /announces 100 bytes.*has 8/],
    ['no samples', file({ tag: 1, bits: 16, channels: 1 }, new Uint8Array(0)), /no samples/],
    ['compressed samples', file({ tag: 0x55, bits: 16, channels: 1 }, four), /format 85/],
    ['0 channels', file({ tag: 1, bits: 16, channels: 0 }, four), /WAV/],
    ['0 Hz', file({ tag: 1, bits: 16, channels: 1, rate: 0 }, four), /WAV/],
    ['16-bit floating point', file({ tag: 3, bits: 16, channels: 1 }, four), /WAV/],
    ['4-bit PCM', file({ tag: 1, bits: 4, channels: 1 }, four), /WAV/],
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

  it('says what a stream of unknown length is', () => {
    const bytes = file({ tag: 1, bits: 16, channels: 1, announce: 0xffffffff }, new Uint8Array(8));
    expect(failure(() => readWav(bytes)).message).toMatch(/written as a stream/);
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
