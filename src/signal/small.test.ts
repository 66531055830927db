/** What programs do with spectra and sound beside transforms: complex numbers, channels, WAV files, meters. */
import { describe, expect, it } from 'vitest';
import { relativeError } from '../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import {
  abs,
  angle,
  type ChannelsInput,
  conj,
  fromChannels,
  fromPolar,
  interleave,
  multiply,
  planar,
  readWav,
  SpectrumSmoother,
  writeWav,
} from './index.ts';

const random = randomFor('src/signal/small');
const z = { data: Float64Array.of(3, 4, -1, 0, 0, -2), shape: [3], dtype: 'complex128' } as const;

describe('complex helpers', () => {
  it('take absolute values, angles, conjugates and products, element by element', () => {
    expect([...abs(z).data]).toEqual([5, 1, 2]);
    expect([...abs(Float32Array.of(-2, 3)).data]).toEqual([2, 3]);
    expect([...angle(z).data]).toEqual([Math.atan2(4, 3), Math.PI, -Math.PI / 2]);
    expect([...angle(Float64Array.of(1, -1)).data]).toEqual([0, Math.PI]);
    expect(Array.from(conj(z).data, (value) => value + 0)).toEqual([3, -4, -1, 0, 0, 2]);
    expect(z.data[1]).toBe(4);
    expect(Array.from(multiply(z, conj(z)).data, (value) => value + 0)).toEqual([25, 0, 1, 0, 4, 0]);
    expect([...multiply(z, Float64Array.of(1, 2, 3)).data].map((value) => value + 0)).toEqual([3, 4, -2, 0, 0, -6]);
    expect([...multiply(Float64Array.of(1, 2, 3), z).data].map((value) => value + 0)).toEqual([3, 4, -2, 0, 0, -6]);
    expect([...multiply(Float32Array.of(1, 2), 3).data]).toEqual([3, 6]);
    expect([multiply(Float32Array.of(1), 3).dtype, multiply(Float32Array.of(1), Float64Array.of(1)).dtype]).toEqual([
      'float32',
      'float64',
    ]);
  });

  it('take numbers apart and put them together again', () => {
    const data = uniform(random, 40, 'double');
    const x = { data, shape: [4, 5], dtype: 'complex128' } as const;
    const { re, im } = planar(x);
    expect([re.shape, re.dtype, re.data[3], im.data[3]]).toEqual([[4, 5], 'float64', data[6], data[7]]);
    expect(interleave(re, im)).toEqual({ ...x, shape: [4, 5] });
    expect(relativeError(fromPolar(abs(x), angle(x)).data as Float64Array, data)).toBeLessThan(1e-15);
    expect([...planar(Float32Array.of(1, 2)).im.data]).toEqual([0, 0]);
  });

  it('refuse shapes and types that do not fit', () => {
    const refusals: [() => unknown, string][] = [
      [() => multiply(z, Float64Array.of(1)), 'wrong-length'],
      [() => interleave(Float64Array.of(1), Float64Array.of(1, 2)), 'wrong-length'],
      [() => fromPolar(z, Float64Array.of(1, 2, 3)), 'wrong-array-type'],
    ];
    for (const [call, code] of refusals) expect(call).toThrow(expect.objectContaining({ code }));
  });
});

describe('channels', () => {
  const [left, right] = [Float32Array.of(1, 2, 3), Float32Array.of(4, 5, 6)];
  const buffer = {
    ...{ numberOfChannels: 2, length: 3, sampleRate: 48000 },
    getChannelData: (channel: number) => [left, right][channel]!,
  };

  it('of an AudioBuffer, a recording or a list are rows', () => {
    const rows = { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3], dtype: 'float32' };
    for (const sound of [buffer, [left, right], { sampleRate: 1, channels: [left, right] }]) {
      expect(fromChannels(sound)).toEqual(rows);
    }
    expect(fromChannels(left).shape).toEqual([1, 3]);
    expect(fromChannels([left, Float64Array.of(1, 2, 3)]).dtype).toBe('float64');
    expect(fromChannels([left], { dtype: 'float64' }).dtype).toBe('float64');
  });

  it('that are none are refused', () => {
    const refusals: [unknown, string][] = [
      ['a.wav', 'invalid-argument'],
      [[], 'invalid-argument'],
      [[left, [1, 2, 3]], 'invalid-argument'],
      [{ ...buffer, numberOfChannels: 0 }, 'invalid-argument'],
      [{ data: new Float64Array(4), shape: [2], dtype: 'complex128' }, 'invalid-argument'],
      [[left, new Float32Array(2)], 'wrong-length'],
    ];
    for (const [sound, code] of refusals) {
      expect(() => fromChannels(sound as ChannelsInput)).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe('writeWav', () => {
  it('writes what readWav reads', () => {
    const channels = [0, 1, 2].map(() => Float32Array.from(uniform(random, 101, 'single')));
    for (const [format, name, step] of [
      ['float32', '32-bit float', 0],
      ['pcm16', '16-bit PCM', 2 ** -15],
      ['pcm24', '24-bit PCM', 2 ** -23],
    ] as const) {
      const read = readWav(writeWav(channels, { fs: 44100, format }));
      expect([read.sampleRate, read.format, read.warnings]).toEqual([44100, name, undefined]);
      read.channels.forEach((channel, c) => {
        channel.forEach((sample, k) =>
          expect(Math.abs(sample - channels[c]![k]!)).toBeLessThanOrEqual(step / 2 + 1e-9),
        );
      });
    }
  });

  it('clips at full scale, fills up odd lengths, and takes the rate of a recording', () => {
    const bytes = writeWav({ sampleRate: 8000, channels: [Float32Array.of(2, -2, 0.5)] } as never, { format: 'pcm24' });
    expect(bytes.length).toBe(44 + 10);
    const { channels, sampleRate } = readWav(bytes);
    expect(sampleRate).toBe(8000);
    expect([...channels[0]!]).toEqual([1 - 2 ** -23, -1, 0.5]);
  });

  it('refuses rates that are none, and samples that a format cannot hold', () => {
    const sound = Float32Array.of(0, Number.NaN);
    for (const options of [
      {},
      { fs: 0 },
      { fs: 0.5 },
      { fs: Number.NaN },
      { fs: 8000, format: 'mp3' },
      { fs: 8000, format: 'pcm16' },
    ]) {
      expect(() => writeWav(sound, options as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    }
    expect(readWav(writeWav(sound, { fs: 8000 })).channels[0]![1]).toBeNaN();
  });
});

describe('SpectrumSmoother', () => {
  it('smooths and shows spectra as an AnalyserNode does', () => {
    const smoother = new SpectrumSmoother({ bins: 3, scale: 2, smoothingTimeConstant: 0.75 });
    const values = [0, 0, 0];
    for (let step = 0; step < 5; step++) {
      const spectrum = Float32Array.from(uniform(random, 6, 'single'));
      spectrum.fill(0, 4);
      smoother.push(spectrum);
      for (let k = 0; k < 3; k++) {
        values[k] = 0.75 * values[k]! + (0.25 * Math.hypot(spectrum[2 * k]!, spectrum[2 * k + 1]!)) / 2;
      }
    }
    const levels = smoother.decibels();
    const bytes = smoother.bytes();
    for (let k = 0; k < 2; k++) {
      const level = 20 * Math.log10(values[k]!);
      expect(levels[k]).toBeCloseTo(level, 4);
      expect(bytes[k]).toBe(Math.max(0, Math.min(255, Math.floor((255 / 70) * (level + 100)))));
    }
    expect([levels[2], bytes[2]]).toEqual([Number.NEGATIVE_INFINITY, 0]);
    smoother.push(new Float32Array(6).fill(Number.NaN));
    smoother.reset();
    expect([...smoother.bytes()]).toEqual([0, 0, 0]);
  });

  it('refuses options out of range, and arrays of other lengths', () => {
    for (const options of [
      { bins: 0 },
      { bins: 2, smoothingTimeConstant: 1 },
      { bins: 2, maxDecibels: -100 },
      { bins: 2, scale: 0 },
    ]) {
      expect(() => new SpectrumSmoother(options)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    }
    const smoother = new SpectrumSmoother({ bins: 2 });
    expect(() => smoother.push(new Float32Array(3))).toThrow(expect.objectContaining({ code: 'wrong-length' }));
    expect(() => smoother.decibels(new Float32Array(3))).toThrow(expect.objectContaining({ code: 'wrong-length' }));
  });
});
