import { describe, expect, it, vi } from 'vitest';
import { melBanks, melFrequencies } from '../../test/reference/mel.ts';
import { randomFor } from '../../test/support/random.ts';
import { hzToMel, type MelOptions, melFilterBank, melToHz } from './mel.ts';

const random = randomFor('src/signal/mel');

describe('mel scales', () => {
  it('have the values of published tables', () => {
    // The examples of librosa's reference manual, and the corner at 1000 Hz; 1000 Hz are 1000 mel (Stevens and Volkmann).
    [60, 110, 220, 440, 1000].forEach((f, k) => {
      expect(hzToMel(f)).toBeCloseTo([0.9, 1.65, 3.3, 6.6, 15][k]!, 12);
    });
    [1, 2, 3, 4, 5].forEach((mel) => {
      expect(melToHz(mel)).toBeCloseTo((200 * mel) / 3, 10);
    });
    expect(hzToMel(6400)).toBeCloseTo(15 + 27, 12);
    expect(hzToMel(1000, 'htk')).toBeCloseTo(999.9855, 3);
    expect(hzToMel(700, 'htk')).toBeCloseTo(2595 * Math.log10(2), 10);
    melFrequencies.forEach((frequency, k) => {
      expect(melToHz((hzToMel(11025) * k) / 39) / (frequency || 1)).toBeCloseTo(k === 0 ? 0 : 1, 13);
    });
  });

  it.each(['slaney', 'htk'] as const)('%s goes there and back, always upwards', (scale) => {
    let before = -1;
    for (let f = 0; f < 30_000; f += 1 + 200 * random.unit()) {
      const mel = hzToMel(f, scale);
      expect(mel).toBeGreaterThan(before);
      expect(melToHz(mel, scale)).toBeCloseTo(f, 8);
      before = mel;
    }
  });
});

describe('melFilterBank', () => {
  it.each(melBanks)('$scale scale, norm $norm: what librosa computes', ({ scale, norm, bands }) => {
    const { data, shape, dtype } = melFilterBank({
      ...{ sampleRate: 8000, size: 32, bands: 5, fMin: 100, fMax: 3500 },
      ...{ scale, norm },
    });
    expect({ shape, dtype }).toEqual({ shape: [5, 17], dtype: 'float64' });
    bands.forEach(([first, ...values], band) => {
      const row = Array.from(data.subarray(17 * band, 17 * (band + 1)));
      const wanted = Array.from({ length: 17 }, (_, bin) => values[bin - first] ?? 0);
      row.forEach((value, bin) => {
        expect(Math.abs(value - wanted[bin]!), `band ${band}, bin ${bin}`).toBeLessThan(1e-14);
      });
    });
  });

  it('by default has 128 bands up to half the rate, as librosa', () => {
    const { data, shape } = melFilterBank({ sampleRate: 22050, size: 2048 });
    expect(shape).toEqual([128, 1025]);
    // Computed by librosa 0.11.0: the first values, the sum of all and the largest of band 64.
    [0, 0.01618285320821994, 0.03236570641643988, 0.02899008803737996, 0.01280723482916003].forEach((value, bin) => {
      expect(data[bin]).toBeCloseTo(value, 15);
    });
    expect(data.reduce((a, b) => a + b)).toBeCloseTo(11.88668128955846, 11);
    expect(Math.max(...data.subarray(64 * 1025, 65 * 1025))).toBeCloseTo(0.017278832377275868, 15);
  });

  it('without a norm adds up to 1 between the middles of the first and of the last band', () => {
    for (const scale of ['slaney', 'htk'] as const) {
      const [sampleRate, size, bands] = [16000, 1001, 20];
      const { data, shape } = melFilterBank({ sampleRate, size, bands, scale, norm: 'none', fMin: 50, fMax: 7000 });
      const [from, to] = [hzToMel(50, scale), hzToMel(7000, scale)];
      const middle = (band: number) => melToHz(from + ((to - from) * (band + 1)) / (bands + 1), scale);
      for (let bin = 0; bin < shape[1]!; bin++) {
        const column = Array.from({ length: bands }, (_, band) => data[band * shape[1]! + bin]!);
        const frequency = (bin * sampleRate) / size;
        const sum = column.reduce((a, b) => a + b);
        expect(column.filter((value) => value > 0).length).toBeLessThanOrEqual(2);
        if (frequency >= middle(0) && frequency <= middle(bands - 1)) expect(sum).toBeCloseTo(1, 12);
        if (frequency < 50 || frequency > 7000) expect(sum).toBe(0);
      }
    }
  });

  it("with Slaney's norm gives all bands the same area", () => {
    const [sampleRate, size] = [16000, 2 ** 16];
    const { data, shape } = melFilterBank({ sampleRate, size, bands: 12 });
    for (let band = 0; band < 12; band++) {
      const row = data.subarray(band * shape[1]!, (band + 1) * shape[1]!);
      expect((row.reduce((a, b) => a + b) * sampleRate) / size).toBeCloseTo(1, 4);
    }
  });

  it('leaves a band between two bins at 0, and says on the console which and what would do', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const emptyIn = (options: MelOptions) => {
      const { data, shape } = melFilterBank(options);
      const [bands, bins] = shape as [number, number];
      return Array.from({ length: bands }, (_, band) => band).filter((band) =>
        data.subarray(band * bins, (band + 1) * bins).every((value) => value === 0),
      );
    };
    const options = { sampleRate: 22050, size: 256, bands: 128 };
    const empty = emptyIn(options);
    expect(empty.length).toBeGreaterThan(0);
    const [[said]] = warn.mock.calls as [[string]];
    expect(said).toContain(`bands ${empty.slice(0, 8).join(', ')}`);
    const [, bands, size] = /take bands: (\d+) or size: (\d+)\.$/.exec(said)!.map(Number);
    expect(emptyIn({ ...options, bands: bands! })).toEqual([]);
    expect(emptyIn({ ...options, size: size! })).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(emptyIn({ ...options, bands: 8, fMax: 90_000 })).toEqual([6, 7]);
    expect(warn.mock.lastCall![0]).toMatch(/bands 6, 7 are 0 .* fMax up to half the sample rate, 11025/);

    for (const norm of ['slaney', 'none', 1, 2] as const) {
      const { data } = melFilterBank({ sampleRate: 8000, size: 8, bands: 40, norm });
      expect(data.subarray(0, 5)).toEqual(new Float64Array(5));
    }
    warn.mockRestore();
  });

  const good = { sampleRate: 8000, size: 64 };
  it.each<[object, string, string]>([
    [{}, 'invalid-argument', 'sampleRate'],
    [{ ...good, sampleRate: 0 }, 'invalid-argument', 'sampleRate'],
    [{ ...good, size: 64.5 }, 'invalid-argument', 'size'],
    [{ ...good, bands: 0 }, 'invalid-argument', 'bands'],
    [{ ...good, fMin: -1 }, 'invalid-argument', 'fMin'],
    [{ ...good, fMin: 4000 }, 'invalid-argument', 'fMax'],
    [{ ...good, fMax: Number.POSITIVE_INFINITY }, 'invalid-argument', 'fMax'],
    [{ ...good, scale: 'bark' }, 'invalid-argument', 'scale'],
    [{ ...good, norm: 0.5 }, 'invalid-argument', 'norm'],
    [{ ...good, norm: null }, 'invalid-argument', 'norm'],
    [{ ...good, nMels: 8 }, 'unknown-field', 'melFilterBank.nMels'],
    [{ ...good, bands: 2 ** 52 }, 'out-of-memory', ''],
  ])('refuses %o', (options, code, path) => {
    let thrown: unknown;
    try {
      melFilterBank(options as MelOptions);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'FftError', code, problems: [{ code, path }] });
  });

  it('refuses frequencies and scales that are none', () => {
    for (const call of [
      () => hzToMel(-1),
      () => melToHz(Number.NaN),
      () => hzToMel(1, 'bark' as never),
      () => melToHz(1, '' as never),
    ])
      expect(call).toThrow(/it takes/);
  });
});
