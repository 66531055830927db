import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Device, openDevice } from '../../index.ts';
import { plainWindowNames } from '../windows/window-kinds.ts';
import { type LevelSpectrogram, levelSpectrogram } from './level-spectrogram.ts';

let device: Device;
beforeAll(async () => {
  device = await openDevice('cpu');
});
afterAll(() => device.close());

const sampleRate = 8000;
const sine = (frequency: number, amplitude: number, length: number) =>
  Float32Array.from({ length }, (_, k) => amplitude * Math.cos((2 * Math.PI * frequency * k) / sampleRate));

/** The loudest bin of a frame, and its level. */
function peak({ levels, bins }: LevelSpectrogram, frame: number): { bin: number; level: number } {
  const row = levels.subarray(frame * bins, (frame + 1) * bins);
  const level = Math.max(...row);
  return { bin: row.indexOf(level), level };
}

describe('levelSpectrogram', () => {
  // The exponential one is no taper: it is about as wide as a sample.
  const tapers = plainWindowNames.filter((name) => name !== 'exponential');
  it.each(tapers)('finds a sine at its bin and its level through a %s window', async (window) => {
    const size = 256;
    const result = await levelSpectrogram(sine((20 * sampleRate) / size, 0.5, 2000), {
      sampleRate,
      device,
      size,
      window,
    });
    expect(result).toMatchObject({ bins: 129, hop: 64, frames: 1 + Math.floor((2000 - 256) / 64), window });
    for (let frame = 0; frame < result.frames; frame++) {
      const { bin, level } = peak(result, frame);
      expect(bin).toBe(20);
      expect(level).toBeCloseTo(20 * Math.log10(0.5), 2);
    }
  });

  it('measures a constant and the Nyquist frequency without doubling them', async () => {
    const size = 64;
    const constant = await levelSpectrogram(new Float32Array(size).fill(1), {
      sampleRate,
      device,
      size,
      window: 'rectangular',
    });
    expect(peak(constant, 0).bin).toBe(0);
    expect(peak(constant, 0).level).toBeCloseTo(0, 3);
    const fastest = await levelSpectrogram(sine(sampleRate / 2, 1, size), {
      sampleRate,
      device,
      size,
      window: 'rectangular',
    });
    expect(peak(fastest, 0).bin).toBe(32);
    expect(peak(fastest, 0).level).toBeCloseTo(0, 3);
  });

  it.each([1, 2, 7, 997])('takes frames of %i samples', async (size) => {
    const window = 'rectangular';
    const result = await levelSpectrogram(new Float32Array(2000).fill(0.5), {
      sampleRate,
      device,
      size,
      window,
      hop: 500,
    });
    expect(result).toMatchObject({ bins: Math.floor(size / 2) + 1, frames: 1 + Math.floor((2000 - size) / 500) });
    expect(peak(result, 1).bin).toBe(0);
    expect(peak(result, 1).level).toBeCloseTo(20 * Math.log10(0.5), 3);
  });

  it('takes windows with parameters', async () => {
    const options = { sampleRate, device, size: 64, hop: 64 };
    const samples = sine(1000, 1, 64);
    const flat = await levelSpectrogram(samples, { ...options, window: 'rectangular' });
    const kaiser = (beta: number) =>
      levelSpectrogram(samples, { ...options, window: 'kaiser', windowOptions: { beta } });
    expect((await kaiser(0)).levels).toEqual(flat.levels);
    expect((await kaiser(9)).levels).not.toEqual(flat.levels);
    await expect(levelSpectrogram(samples, { ...options, windowOptions: { beta: 1 } as never })).rejects.toMatchObject({
      code: 'unknown-field',
    });
  });

  it('follows a tone that changes', async () => {
    const size = 128;
    const tones = [10, 50, 30];
    const samples = Float32Array.from(tones.flatMap((bin) => [...sine((bin * sampleRate) / size, 1, 1024)]));
    const result = await levelSpectrogram(samples, { sampleRate, device, size, hop: 1024 });
    expect([0, 1, 2].map((frame) => peak(result, frame).bin)).toEqual(tones);
  });

  it('gives the same in several rounds as in one', async () => {
    const samples = sine(440, 0.3, 2 ** 15);
    const options = { sampleRate, device, size: 4096, hop: 50 };
    const reports: number[] = [];
    const whole = await levelSpectrogram(samples, { ...options, onProgress: (done) => reports.push(done) });
    expect(whole.batches).toBeLessThan(whole.frames);
    expect(reports.length).toBe(Math.ceil(whole.frames / whole.batches));
    expect(reports.at(-1)).toBe(whole.frames);
    const last = whole.frames - 1;
    const tail = await levelSpectrogram(samples.subarray(last * 50), options);
    expect(tail.frames).toBe(1);
    // Plans of other batch sizes may round differently: near the peak, where the signal is, they agree.
    expect(peak(tail, 0).bin).toBe(peak(whole, last).bin);
    expect(peak(tail, 0).level).toBeCloseTo(peak(whole, last).level, 4);
  });

  it('pads a signal shorter than a frame and shows silence as −200 dB', async () => {
    const result = await levelSpectrogram(new Float32Array(10), { sampleRate, device, size: 64 });
    expect(result.frames).toBe(1);
    expect([...new Set(result.levels)]).toEqual([-200]);
  });

  it('needs no more than samples', async () => {
    const samples = sine(0.1, 0.5, 3000);
    const { plan: _, ...alone } = await levelSpectrogram(samples);
    expect(alone).toMatchObject({ sampleRate: 1, size: 1024, hop: 256, window: 'hann' });
    const { levels } = await levelSpectrogram(samples, { sampleRate, device });
    expect(Array.from(alone.levels)).toEqual(Array.from(levels));
  });

  it('refuses what it cannot hold, and what is no signal or device', async () => {
    const samples = new Float32Array(64);
    for (const size of [2 ** 40, 2 ** 52]) {
      const refused = levelSpectrogram(samples, { sampleRate, device, size });
      await expect(refused).rejects.toMatchObject({
        name: 'FftError',
        code: expect.stringMatching(/^(device-limit|invalid-size)$/),
      });
    }
    const bad = [['samples', 'x', { sampleRate, device }] as const, ['device', samples, { device: {} }] as const];
    for (const [path, signal, options] of [...bad, ['device', samples, { sampleRate, device: null }] as const]) {
      const refused = levelSpectrogram(signal as Float32Array, options as never);
      await expect(refused).rejects.toMatchObject({ code: 'invalid-argument', problems: [{ path }] });
    }
  });

  it('refuses options that there are not, of which those set to undefined are none', async () => {
    const samples = new Float32Array(64);
    const options = { sampleRate, device, size: 64, hopp: 16, winodw: 'hamming' };
    await expect(levelSpectrogram(samples, options)).rejects.toMatchObject({
      code: 'unknown-field',
      problems: [{ path: 'spectrogram.hopp' }, { path: 'spectrogram.winodw' }],
    });
    const nothing = { sampleRate, device, size: 64, hopp: undefined };
    expect((await levelSpectrogram(samples, nothing)).hop).toBe(16);
  });

  it('refuses samples that were transferred away', async () => {
    for (const samples of [new Float32Array(64), new Float64Array(64)]) {
      structuredClone(samples, { transfer: [samples.buffer] });
      await expect(levelSpectrogram(samples, { sampleRate, device })).rejects.toMatchObject({ code: 'detached-array' });
    }
  });

  it.each([
    ['size', { size: 0 }],
    ['beta', { window: 'kaiser' as const }],
    ['size', { size: 100.5 }],
    ['hop', { hop: 0 }],
    ['sampleRate', { sampleRate: Number.NaN }],
    ['size', { size: 1024n as never }],
    ['onProgress', { onProgress: {} as never }],
    ['window', { window: Symbol('hann') as never }],
  ])('refuses a bad %s (%o)', async (path, wrong) => {
    const samples = new Float32Array(4096);
    await expect(levelSpectrogram(samples, { sampleRate, device, ...wrong })).rejects.toMatchObject({
      code: 'invalid-argument',
      problems: [{ path }],
    });
    await expect(levelSpectrogram(new Float32Array(0), { sampleRate, device })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
  });
});
