import { describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { type FftMode, ShortTimeFFT, type ShortTimeFftOptions } from '../index.ts';

const random = randomFor('src/signal/short-time-fft');

/** Slice p in bin f, by its definition: the window's middle is at sample p · hop, phases are of the sample `shift` behind it. */
function byDefinition(
  x: Float64Array,
  transform: ShortTimeFFT,
  p: number,
  frequency: number,
  { kOffset = 0, beyond = (_: number): number => 0 } = {},
) {
  const { win, mNumMid, hop, fs, phaseShift } = transform;
  const from = phaseShift === null ? -mNumMid : phaseShift;
  let [re, im] = [0, 0];
  for (let m = 0; m < win.length; m++) {
    const k = p * hop + m - mNumMid + kOffset;
    const value = win[m]! * (k >= 0 && k < x.length ? x[k]! : beyond(k));
    const angle = (-2 * Math.PI * frequency * (m - mNumMid - from)) / fs;
    re += value * Math.cos(angle);
    im += value * Math.sin(angle);
  }
  return [re, im];
}

describe('ShortTimeFFT', () => {
  it.each([
    { size: 16, hop: 5, options: {} },
    { size: 15, hop: 4, options: { mfft: 20, fftMode: 'centered', phaseShift: null } },
    { size: 9, hop: 9, options: { mfft: 10, fftMode: 'twosided', phaseShift: -3 } },
    { size: 12, hop: 3, options: { fftMode: 'onesided2X', scaleTo: 'magnitude' } },
    { size: 12, hop: 6, options: { fftMode: 'onesided2X', scaleTo: 'psd', phaseShift: 2 } },
  ] satisfies { size: number; hop: number; options: ShortTimeFftOptions }[])(
    'has slices by their definition, and goes back: windows of $size, hops of $hop, $options',
    async ({ size, hop, options }) => {
      const win = uniform(random, size, 'double').map((value) => 1.5 + value);
      const transform = new ShortTimeFFT(win, hop, 100, options);
      const [x, n] = [uniform(random, 61, 'double'), 61];
      const s = await transform.stft(x);
      const { f, pMin } = transform;
      const t = transform.t(n);
      expect(s.shape).toEqual([f.length, transform.pNum(n)]);
      expect(t[-pMin]).toBe(0);
      const twice = (k: number) => {
        if (transform.fftMode !== ('onesided2X' as FftMode) || k === 0 || 2 * k === transform.mfft) return 1;
        return transform.scaling === 'psd' ? Math.SQRT2 : 2;
      };
      const wanted = [...f].flatMap((frequency, k) =>
        [...t].flatMap((_, p) => byDefinition(x, transform, p + pMin, frequency).map((part) => part * twice(k))),
      );
      expect(relativeError(s.data as Float64Array, Float64Array.from(wanted))).toBeLessThan(1e-13);
      const back = await transform.istft(s, { k1: n });
      const real = back.dtype === 'complex128' ? back.data.filter((_, k) => k % 2 === 0) : back.data;
      expect(relativeError(real as Float64Array, x)).toBeLessThan(1e-13);
      const part = await transform.istft(s, { k0: 7, k1: 20 });
      const own = part.dtype === 'complex128' ? part.data.filter((_, k) => k % 2 === 0) : part.data;
      expect(relativeError(own as Float64Array, x.slice(7, 20))).toBeLessThan(1e-13);
    },
  );

  it('has any slices, of signals that go on in any way, by the window as it is scaled', async () => {
    const transform = new ShortTimeFFT(
      uniform(random, 9, 'double').map((value) => 1.5 + value),
      4,
      100,
    );
    const n = 30;
    for (let round = 0; round < 40; round++) {
      const x = uniform(random, n, 'double');
      const padding = (['zeros', 'edge', 'even', 'odd'] as const)[round % 4]!;
      const beyond = (k: number) => {
        const [end, mirrored] = k < 0 ? [x[0]!, x[-k]!] : [x[n - 1]!, x[2 * (n - 1) - k]!];
        return { zeros: 0, edge: end, even: mirrored, odd: 2 * end - mirrored }[padding];
      };
      const p0 = random.integer(transform.pMin, transform.pMax(n) - 1);
      const p1 = random.integer(p0 + 1, transform.pMax(n));
      const far = padding === 'zeros' || padding === 'edge' ? 60 : 12;
      const kOffset = random.integer(0, 2) === 0 ? 0 : random.integer(-far, far);
      if (round === 20) transform.scaleTo('psd');
      const { data, shape } = await transform.stft(x, { p0, p1, padding, kOffset });
      expect(shape).toEqual([5, p1 - p0]);
      const wanted = [...transform.f].flatMap((frequency) =>
        Array.from({ length: p1 - p0 }, (_, p) =>
          byDefinition(x, transform, p0 + p, frequency, { kOffset, beyond }),
        ).flat(),
      );
      const error = Math.max(...wanted.map((value, k) => Math.abs(value - data[k]!)));
      expect(error, JSON.stringify({ p0, p1, padding, kOffset })).toBeLessThan(1e-13);
      // Other options at every call, and twice the same.
      const powers = await transform.spectrogram(x, null, { p0, p1, padding, kOffset });
      const squares = Float64Array.from(powers.data, (_, k) => data[2 * k]! ** 2 + data[2 * k + 1]! ** 2);
      expect(relativeError(powers.data as Float64Array, squares)).toBeLessThan(1e-13);
    }
  });

  it('knows where slices lie', () => {
    // Numbers of scipy.signal.ShortTimeFFT 1.17: of a window of 8, hops of 3 and 20 samples, and of 7, 2 and 20.
    const [even, odd] = [8, 7].map((size, k) => new ShortTimeFFT(new Float64Array(size).fill(1), 3 - k, 10)) as [
      ShortTimeFFT,
      ShortTimeFFT,
    ];
    const of = (a: ShortTimeFFT) => [a.pMin, a.kMin, a.pMax(20), a.kMax(20), a.lowerBorderEnd, a.upperBorderBegin(20)];
    expect(of(even)).toEqual([-1, -7, 8, 25, [7, 2], [14, 6]]);
    expect(of(odd)).toEqual([-1, -5, 12, 26, [6, 2], [15, 9]]);
    expect([even.nearestKP(7), even.nearestKP(7, false), even.pNum(20)]).toEqual([6, 9, 9]);
    const hann = ShortTimeFFT.fromWindow('hann', 10, 8, 5, { mfft: 16, scaleTo: 'magnitude', phaseShift: 2 });
    expect([hann.facMagnitude, hann.facPsd, hann.win[1], hann.dualWin[1]].map((value) => value!.toFixed(8))).toEqual([
      ...['1.00000000', '0.73029674', '0.03661165', '0.56169359'],
    ]);
    hann.scaleTo('psd');
    expect([hann.facMagnitude, hann.win[1], hann.dualWin[1]].map((value) => value!.toFixed(8))).toEqual([
      ...['1.36930639', '0.02673737', '0.76913063'],
    ]);
  });

  it('takes parts, other beginnings and paddings, lines of arrays, and makes powers', async () => {
    const transform = new ShortTimeFFT(new Float64Array(4).fill(1), 2, 10, { mfft: 6, phaseShift: null });
    const x = Float64Array.from({ length: 20 }, (_, k) => k);
    const part = await transform.stft(x, { p0: 0, p1: 2, kOffset: 3 });
    expect([part.shape, part.data[0], part.data[2]]).toEqual([[4, 2], 10, 18]);
    const edge = await transform.stft(
      x.map((value) => value + 1),
      { padding: 'edge', p1: 1 },
    );
    expect(edge.data[0]).toBeCloseTo(1 + 1 + 1 + 2, 12);
    const both = {
      data: Float64Array.of(...x, ...x.map((value) => -value)),
      shape: [2, 20],
      dtype: 'float64',
    } as const;
    const powers = await transform.spectrogram(both);
    const one = await transform.spectrogram(x);
    expect([powers.shape, powers.dtype, powers.data.slice(0, one.data.length)]).toEqual([
      [2, ...one.shape],
      'float64',
      one.data,
    ]);
    const flat = await transform.spectrogram(new Float64Array(20).fill(3), null, { detr: 'constant', p0: 2, p1: 5 });
    expect(Math.max(...(flat.data as Float64Array))).toBeLessThan(1e-25);
    const cross = await transform.spectrogram(
      x,
      x.map((value) => 2 * value),
    );
    expect(
      relativeError(
        (cross.data as Float64Array).filter((_, k) => k % 2 === 0),
        one.data.map((value) => 2 * (value as number)) as Float64Array,
      ),
    ).toBeLessThan(1e-14);
  });

  it('refuses what is out of range, and says what would do', async () => {
    const ones = new Float64Array(8).fill(1);
    const bad: [() => unknown, string][] = [
      [() => new ShortTimeFFT(new Float64Array(4), 1, 1), 'win'],
      [() => new ShortTimeFFT(ones, 0, 1), 'hop'],
      [() => new ShortTimeFFT(ones, 1, Number.NaN), 'fs'],
      [() => new ShortTimeFFT(ones, 1, 1, { mfft: 7 }), 'mfft'],
      [() => new ShortTimeFFT(ones, 1, 1, { fftMode: 'onesided2X' }), 'scaleTo'],
      [() => new ShortTimeFFT(ones, 1, 1, { phaseShift: 8 }), 'phaseShift'],
      [() => new ShortTimeFFT(ones, 9, 1).dualWin, 'hop'],
    ];
    for (const [call, path] of bad) {
      expect(call, path).toThrow(
        expect.objectContaining({ code: 'invalid-argument', problems: [expect.objectContaining({ path })] }),
      );
    }
    const transform = new ShortTimeFFT(ones, 4, 1);
    const code = 'invalid-argument';
    await expect(transform.stft(new Float64Array(3))).rejects.toMatchObject({ code });
    await expect(transform.stft(new Float64Array(9), { p0: -5 })).rejects.toMatchObject({ code });
    await expect(transform.stft(new Float64Array(4), { padding: 'even' })).rejects.toMatchObject({ code });
    const s = await transform.stft(new Float64Array(9));
    await expect(transform.istft(s, { k0: -9 })).rejects.toMatchObject({ code });
    await expect(transform.istft({ ...s, shape: [s.shape[1]!, s.shape[0]!] })).rejects.toMatchObject({
      code: 'wrong-length',
    });
    const complex = { data: new Float64Array(40), shape: [20], dtype: 'complex128' } as const;
    await expect(transform.stft(complex)).rejects.toMatchObject({ code: 'wrong-array-type' });
  });
});
