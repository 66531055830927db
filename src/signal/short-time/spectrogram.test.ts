import { afterEach, describe, expect, it, vi } from 'vitest';
import { asPairs, spectrum } from '../../../test/reference/signal.ts';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import {
  amplitudeToDb,
  dbToAmplitude,
  dbToPower,
  istft,
  type PadMode,
  powerToDb,
  spectrogram,
  stft,
  windowFunction,
} from '../index.ts';

const random = randomFor('src/signal/spectrogram');
afterEach(() => vi.restoreAllMocks());

/** Librosa's frames by their definition: of the padded signal, with the window in the middle of the transform. */
function framesByDefinition(
  x: Float64Array,
  { nfft, nperseg, hop, padMode }: { nfft: number; nperseg: number; hop: number; padMode: PadMode | null },
): Float64Array[] {
  const n = x.length;
  const pad = padMode === null ? 0 : Math.floor(nfft / 2);
  const at = (k: number): number => {
    if (k >= 0 && k < n) return x[k]!;
    if (padMode === 'constant') return 0;
    if (padMode === 'edge') return x[k < 0 ? 0 : n - 1]!;
    return x[k < 0 ? -k : 2 * (n - 1) - k]!;
  };
  const window = windowFunction('hann', nperseg);
  const left = Math.floor((nfft - nperseg) / 2);
  const frames = 1 + Math.floor((n + 2 * pad - nfft) / hop);
  return Array.from({ length: frames }, (_, f) => {
    const frame = new Float64Array(nfft);
    for (let k = 0; k < nperseg; k++) frame[left + k] = window[k]! * at(f * hop - pad + left + k);
    return spectrum(asPairs(frame), nfft).slice(0, 2 * (Math.floor(nfft / 2) + 1)) as Float64Array;
  });
}

describe('stft by the middles of frames', () => {
  it.each([
    { nfft: 64, nperseg: 64, hop: 16, padMode: 'reflect' },
    { nfft: 64, nperseg: 40, hop: 16, padMode: 'constant' },
    { nfft: 63, nperseg: 50, hop: 20, padMode: 'edge' },
    { nfft: 48, nperseg: 31, hop: 12, padMode: null },
  ] as const)('has the frames of librosa: %o', async ({ nfft, nperseg, hop, padMode }) => {
    const x = uniform(random, 500, 'double');
    const center = padMode !== null;
    const options = { fs: 1000, nperseg, nfft, hopLength: hop, center, ...(padMode ? { padMode } : {}) };
    const { f, t, zxx } = await stft(x, { ...options, scaling: null });
    const frames = framesByDefinition(x, { nfft, nperseg, hop, padMode });
    expect(zxx.shape).toEqual([Math.floor(nfft / 2) + 1, frames.length]);
    const found = frames.map((_, frame) =>
      Float64Array.from(
        { length: 2 * f.length },
        (_, k) => zxx.data[2 * ((k >> 1) * frames.length + frame) + (k % 2)]!,
      ),
    );
    expect(
      relativeError(
        found.flatMap((v) => [...v]),
        frames.flatMap((v) => [...v]),
      ),
    ).toBeLessThan(1e-14);
    expect([t[0], t[2]]).toEqual([center ? 0 : nfft / 2000, (2 * hop + (center ? 0 : nfft / 2)) / 1000]);
    const back = await istft(zxx, { ...options, padMode: undefined, scaling: null, length: x.length } as never);
    const [[from, to] = [x.length, x.length]] = back.undetermined.filter(([, end]) => end === x.length);
    expect([from, to]).toEqual([Math.min(from, x.length), x.length]);
    expect(from).toBeGreaterThan(x.length - nfft);
    const inside = center ? 0 : nfft;
    expect(relativeError(back.x.data.slice(inside, from) as Float64Array, x.slice(inside, from))).toBeLessThan(1e-13);
  });

  it('takes signals that are shorter than a frame, where what is beyond them is known', async () => {
    const { zxx } = await stft(Float64Array.of(1, 2, 3), { nperseg: 8, hopLength: 1, center: true, scaling: null });
    expect(zxx.shape).toEqual([5, 4]);
  });

  it.each<[object, string]>([
    [{ center: true, boundary: 'zeros' }, 'boundary'],
    [{ center: false, padMode: 'reflect' }, 'padMode'],
    [{ padMode: 'mirror' }, 'padMode'],
    [{ padMode: 'reflect', nperseg: 64 }, 'padMode'],
    [{ hopLength: 0 }, 'hopLength'],
    [{ hopLength: 4, noverlap: 4 }, 'hopLength'],
    [{ nperseg: 40 }, 'nperseg'],
    [{ center: false, nperseg: 16, nfft: 64 }, 'nfft'],
    [{ fs: Number.NaN }, 'fs'],
    [{ fs: '8000' }, 'fs'],
    [{ scaling: 'none' }, 'scaling'],
  ])('refuses %o', async (options, path) => {
    await expect(stft(new Float64Array(32), options as never)).rejects.toMatchObject({
      code: 'invalid-argument',
      problems: [{ path }],
    });
  });
});

describe('spectrogram', () => {
  it('gives powers as they are, and as levels with a reference', async () => {
    const x = Float32Array.from(uniform(random, 400, 'single'));
    const options = {
      nperseg: 64,
      hopLength: 16,
      center: true,
      padMode: 'reflect',
      window: 'hann',
      scaling: null,
    } as const;
    const { zxx } = await stft(x, options);
    const { sxx, f, t } = await spectrogram(x, options);
    expect([sxx.dtype, sxx.shape]).toEqual(['float32', [f.length, t.length]]);
    const powers = Float64Array.from(sxx.data, (_, k) => zxx.data[2 * k]! ** 2 + zxx.data[2 * k + 1]! ** 2);
    expect(relativeError(sxx.data as Float32Array, powers)).toBeLessThan(1e-6);
    const most = powers.reduce((a, b) => Math.max(a, b));
    for (const [decibels, zero, lowest] of [
      [true, 1, 80],
      [{ ref: 'max', topDb: 30 }, most, 30],
      [{ ref: 2, topDb: null }, 2, 1e9],
    ] as const) {
      const { sxx: levels } = await spectrogram(x, { ...options, decibels });
      const highest = 10 * Math.log10(most / zero);
      levels.data.forEach((level, k) => {
        const wanted = 10 * Math.log10(Math.max(powers[k]!, 1e-10) / zero);
        expect(level as number).toBeCloseTo(Math.max(wanted, highest - lowest), 3);
      });
    }
  });

  it('has the angles that its complex numbers have, and without jumps those of them', async () => {
    const x = uniform(random, 300, 'double');
    const options = { nperseg: 32, noverlap: 8, detrend: false } as const;
    const [complex, angle, phase] = await Promise.all(
      (['complex', 'angle', 'phase'] as const).map(async (mode) => (await spectrogram(x, { ...options, mode })).sxx),
    );
    const frames = complex!.shape[1];
    angle!.data.forEach((value, k) => {
      expect(value).toBeCloseTo(Math.atan2(complex!.data[2 * k + 1] as number, complex!.data[2 * k] as number), 12);
      const turns = ((phase!.data[k] as number) - (value as number)) / (2 * Math.PI);
      expect(turns).toBeCloseTo(Math.round(turns), 9);
      if (k < frames!) return;
      const step = Math.abs((phase!.data[k] as number) - (phase!.data[k - frames!] as number));
      expect(step).toBeLessThanOrEqual(Math.PI + 1e-9);
    });
  });

  it('takes the names of its options that were, gives what it gave, and says once what they are called now', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const samples = new Float32Array(100).fill(0.5);
    for (let k = 0; k < 2; k++) {
      const { levels, frames, bins } = await spectrogram(samples, { sampleRate: 8000, size: 32, hop: 16 });
      expect([frames, bins, levels.length]).toEqual([5, 17, 85]);
    }
    expect(warn.mock.calls.length).toBe(1);
    expect(String(warn.mock.calls[0])).toMatch(/fs, nperseg and hopLength/);
  });

  it('refuses levels of what is no power, and options out of range', async () => {
    const x = new Float32Array(64);
    for (const options of [
      { mode: 'angle', decibels: true },
      { decibels: { ref: 0 } },
      { decibels: { topDb: -1 } },
      { mode: 'power' },
    ]) {
      await expect(spectrogram(x, { nperseg: 16, ...options } as never)).rejects.toMatchObject({
        code: 'invalid-argument',
      });
    }
  });
});

describe('decibels', () => {
  it('are ten times the logarithm of a power, and twenty times that of an amplitude', () => {
    const powers = Float64Array.of(1, 100, 0, 1e-12);
    expect([...powerToDb(powers).data]).toEqual([0, 20, -60, -60]);
    expect([...powerToDb(powers, { topDb: null, ref: 10 }).data]).toEqual([-10, 10, -110, -110]);
    expect([...amplitudeToDb(Float64Array.of(-1, 10, 0), { ref: 'max' }).data]).toEqual([-20, 0, -80]);
    const values = uniform(random, 20, 'double').map((value) => 1 + value * value);
    expect(
      relativeError(dbToPower(powerToDb(values, { ref: 3 }), { ref: 3 }).data as Float64Array, values),
    ).toBeLessThan(1e-14);
    expect(relativeError(dbToAmplitude(amplitudeToDb(values)).data as Float64Array, values)).toBeLessThan(1e-14);
    expect(powerToDb(Float32Array.of(1, 1000, 1e-4)).data).toEqual(Float32Array.of(0, 30, -40));
    const singles = Float32Array.from(values);
    const most = Math.max(...singles);
    const levels = [...powerToDb(singles, { ref: 'max', topDb: null }).data];
    expect(Math.max(...levels)).toBe(0);
    levels.forEach((level, k) => expect(level).toBeCloseTo(10 * Math.log10(singles[k]! / most), 5));
    const complex = { data: new Float64Array(2), shape: [1], dtype: 'complex128' } as const;
    expect(() => powerToDb(complex)).toThrow(expect.objectContaining({ code: 'wrong-array-type' }));
  });
});
