import { describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { cqt, type PadMode, windowFunction } from '../index.ts';

const random = randomFor('src/signal/cqt');

interface Definition {
  readonly fs: number;
  readonly fMin: number;
  readonly binsPerOctave: number;
  readonly hop: number;
  readonly padMode: PadMode;
}

/** One number of librosa's transform, by its definition: the filter reversed, as multiplying spectra makes it. */
function byDefinition(
  x: Float64Array,
  bin: number,
  frame: number,
  { fs, fMin, binsPerOctave, hop, padMode }: Definition,
) {
  const frequency = fMin * 2 ** (bin / binsPerOctave);
  const ratio = 2 ** (1 / binsPerOctave);
  const q = (ratio ** 2 + 1) / (ratio ** 2 - 1);
  const length = (q * fs) / frequency;
  const [from, to] = [Math.floor(-length / 2), Math.floor(length / 2)];
  const window = windowFunction('hann', to - from);
  const sum = window.reduce((a, b) => a + b, 0);
  const at = (k: number) => {
    if (k >= 0 && k < x.length) return x[k]!;
    if (padMode === 'constant') return 0;
    if (padMode === 'edge') return x[k < 0 ? 0 : x.length - 1]!;
    return x[k < 0 ? -k : 2 * (x.length - 1) - k]!;
  };
  let [re, im] = [0, 0];
  for (let n = from; n < to; n++) {
    const angle = (2 * Math.PI * frequency * n) / fs;
    const value = (window[n - from]! / sum) * at(frame * hop - n);
    re += value * Math.cos(angle);
    im += value * Math.sin(angle);
  }
  return [re * Math.sqrt(length), im * Math.sqrt(length)];
}

describe('cqt', () => {
  it.each([
    { precision: 'double', fs: 8000, fMin: 60, nBins: 40, binsPerOctave: 12, hop: 100, padMode: 'constant' },
    { precision: 'single', fs: 22050, fMin: 110, nBins: 72, binsPerOctave: 12, hop: 333, padMode: 'edge' },
    { precision: 'double', fs: 1, fMin: 0.02, nBins: 25, binsPerOctave: 6, hop: 7, padMode: 'reflect' },
  ] as const)('is the sum of products with filters of constant Q: %o', async (options) => {
    const { precision, fs, fMin, nBins, binsPerOctave, hop, padMode } = options;
    const x = uniform(random, 6000, precision);
    const given = precision === 'single' ? Float32Array.from(x) : x;
    const { f, t, cqt: found } = await cqt(given, { fs, fMin, nBins, binsPerOctave, hopLength: hop, padMode });
    const frames = 1 + Math.floor(x.length / hop);
    expect(found.shape).toEqual([nBins, frames]);
    expect([f[binsPerOctave], t[2]]).toEqual([2 * fMin, (2 * hop) / fs]);
    const places = Array.from({ length: 150 }, (_, k) => [
      k < nBins ? k : random.integer(0, nBins - 1),
      k < 4 ? (k % 2) * (frames - 1) : random.integer(0, frames - 1),
    ]) as [number, number][];
    const own = places.flatMap(([bin, frame]) => [0, 1].map((part) => found.data[2 * (bin * frames + frame) + part]!));
    const wanted = places.flatMap(([bin, frame]) => byDefinition(x, bin, frame, options));
    expect(relativeError(own, wanted)).toBeLessThan(precision === 'single' ? 5e-6 : 1e-11);
  });

  it('takes lines of arrays, and scales by lengths', async () => {
    const [a, b] = [uniform(random, 2000, 'double'), uniform(random, 2000, 'double')];
    const options = { fs: 4000, fMin: 100, nBins: 20, hopLength: 250 };
    const one = await cqt(b, options);
    const both = await cqt({ data: Float64Array.of(...a, ...b), shape: [2, 2000], dtype: 'float64' }, options);
    expect(both.cqt.shape).toEqual([2, 20, 9]);
    expect(both.cqt.data.slice(2 * 20 * 9)).toEqual(one.cqt.data);
    const unscaled = await cqt(b, { ...options, scale: false });
    const ratio = 2 ** (1 / 12);
    const length = (((ratio ** 2 + 1) / (ratio ** 2 - 1)) * 4000) / 100;
    expect((unscaled.cqt.data[0] as number) / (one.cqt.data[0] as number)).toBeCloseTo(Math.sqrt(length), 9);
  });

  it.each<[object, string]>([
    [{ fs: 8000, fMin: 100, nBins: 84 }, 'nBins'],
    [{ fs: 100, fMin: 100 }, 'nBins'],
    [{ fs: Number.NaN }, 'fs'],
    [{ hopLength: 0 }, 'hopLength'],
    [{ fMin: 0 }, 'fMin'],
    [{ fMin: 1e-5, nBins: 1 }, 'fMin'],
    [{ nBins: 20, padMode: 'reflect' }, 'padMode'],
    [{ padMode: 'wrap' }, 'padMode'],
  ])('refuses %o', async (options, path) => {
    const refused = cqt(new Float64Array(2000), options as never);
    await expect(refused).rejects.toMatchObject({ code: 'invalid-argument', problems: [{ path }] });
  });

  it('refuses complex signals', async () => {
    const x = { data: new Float64Array(20), shape: [10], dtype: 'complex128' } as const;
    await expect(cqt(x)).rejects.toMatchObject({ code: 'wrong-array-type' });
  });
});
