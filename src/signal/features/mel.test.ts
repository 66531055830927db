import { describe, expect, it, vi } from 'vitest';
import { melBanks, melFrequencies } from '../../../test/reference/mel.ts';
import { randomFor } from '../../../test/support/random.ts';
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
      ...{ fs: 8000, nFft: 32, nMels: 5, fMin: 100, fMax: 3500 },
      ...{ melScale: scale, norm: norm === 'none' ? null : norm },
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
    const { data, shape } = melFilterBank({ fs: 22050, nFft: 2048 });
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
      const [fs, nFft, nMels] = [16000, 1001, 20];
      const { data, shape } = melFilterBank({ fs, nFft, nMels, melScale: scale, norm: null, fMin: 50, fMax: 7000 });
      const [from, to] = [hzToMel(50, scale), hzToMel(7000, scale)];
      const middle = (band: number) => melToHz(from + ((to - from) * (band + 1)) / (nMels + 1), scale);
      for (let bin = 0; bin < shape[1]!; bin++) {
        const column = Array.from({ length: nMels }, (_, band) => data[band * shape[1]! + bin]!);
        const frequency = (bin * fs) / nFft;
        const sum = column.reduce((a, b) => a + b);
        expect(column.filter((value) => value > 0).length).toBeLessThanOrEqual(2);
        if (frequency >= middle(0) && frequency <= middle(nMels - 1)) expect(sum).toBeCloseTo(1, 12);
        if (frequency < 50 || frequency > 7000) expect(sum).toBe(0);
      }
    }
  });

  it("with Slaney's norm gives all bands the same area", () => {
    const [fs, nFft] = [16000, 2 ** 16];
    const { data, shape } = melFilterBank({ fs, nFft, nMels: 12 });
    for (let band = 0; band < 12; band++) {
      const row = data.subarray(band * shape[1]!, (band + 1) * shape[1]!);
      expect((row.reduce((a, b) => a + b) * fs) / nFft).toBeCloseTo(1, 4);
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
    const options = { fs: 22050, nFft: 256, nMels: 128 };
    const empty = emptyIn(options);
    expect(empty.length).toBeGreaterThan(0);
    const [[said]] = warn.mock.calls as [[string]];
    expect(said).toContain(`bands ${empty.slice(0, 8).join(', ')}`);
    const [, nMels, nFft] = /take nMels: (\d+) or nFft: (\d+)\.$/.exec(said)!.map(Number);
    expect(emptyIn({ ...options, nMels: nMels! })).toEqual([]);
    expect(emptyIn({ ...options, nFft: nFft! })).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(emptyIn({ ...options, nMels: 8, fMax: 90_000 })).toEqual([6, 7]);
    expect(warn.mock.lastCall![0]).toMatch(/bands 6, 7 are 0 .* fMax up to half the sample rate, 11025/);

    for (const norm of ['slaney', null, 1, 2] as const) {
      const { data } = melFilterBank({ fs: 8000, nFft: 8, nMels: 40, norm });
      expect(data.subarray(0, 5)).toEqual(new Float64Array(5));
    }
    warn.mockRestore();
  });

  it("has triangles over mels on Kaldi's scale", () => {
    const { data } = melFilterBank({ fs: 16000, nFft: 512, nMels: 23, fMin: 20, melScale: 'kaldi', norm: null });
    const mel = (f: number) => 1127 * Math.log(1 + f / 700);
    const step = (mel(8000) - mel(20)) / 24;
    for (let band = 0; band < 23; band++) {
      for (let bin = 0; bin < 257; bin++) {
        const off = Math.abs(mel(bin * 31.25) - mel(20) - (band + 1) * step) / step;
        expect(data[257 * band + bin]).toBeCloseTo(Math.max(0, 1 - off), 12);
      }
    }
  });

  it('takes the names that options had before, and says so once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const old = { sampleRate: 8000, size: 64, bands: 6, scale: 'htk', norm: 'none' } as const;
    const now = melFilterBank({ fs: 8000, nFft: 64, nMels: 6, htk: true, norm: null });
    expect(melFilterBank(old)).toEqual(now);
    expect(melFilterBank(old)).toEqual(now);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.lastCall![0]).toMatch(/sampleRate is fs now, size is nFft now/);
    warn.mockRestore();
  });

  const good = { fs: 8000, nFft: 64 };
  it.each<[object, string, string]>([
    [{}, 'invalid-argument', 'fs'],
    [{ ...good, fs: 0 }, 'invalid-argument', 'fs'],
    [{ ...good, nFft: 64.5 }, 'invalid-argument', 'nFft'],
    [{ ...good, nMels: 0 }, 'invalid-argument', 'nMels'],
    [{ ...good, fMin: -1 }, 'invalid-argument', 'fMin'],
    [{ ...good, fMin: 4000 }, 'invalid-argument', 'fMax'],
    [{ ...good, fMax: Number.POSITIVE_INFINITY }, 'invalid-argument', 'fMax'],
    [{ ...good, melScale: 'bark' }, 'invalid-argument', 'melScale'],
    [{ ...good, norm: 0.5 }, 'invalid-argument', 'norm'],
    [{ ...good, norm: 'l1' }, 'invalid-argument', 'norm'],
    [{ ...good, filters: 8 }, 'unknown-field', 'melFilterBank.filters'],
    [{ ...good, nMels: 2 ** 52 }, 'out-of-memory', ''],
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
