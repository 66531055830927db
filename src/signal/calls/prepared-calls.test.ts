import { describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { convolve2d, csd, czt, istft, lfilter, resample, spectrogram, stft, welch, zoomFft } from '../index.ts';

const random = randomFor('src/signal/prepared-calls');
const noise = (n = 600) => Float64Array.from(uniform(random, n, 'double'));

/** Σ x(n) w(n) e^(−2πi k n / N) of the frame that begins at a sample, unscaled. */
function binOf(x: Float64Array, window: Float64Array, start: number, k: number): [number, number] {
  let [re, im] = [0, 0];
  window.forEach((value, n) => {
    const angle = (2 * Math.PI * k * n) / window.length;
    re += x[start + n]! * value * Math.cos(angle);
    im -= x[start + n]! * value * Math.sin(angle);
  });
  return [re, im];
}

describe('a call like an earlier one', () => {
  it('transforms its own numbers, by the window as it is now', async () => {
    const window = Float64Array.from({ length: 32 }, (_, k) => 1 + k);
    const options = { window, hopLength: 20, boundary: null, padded: false, scaling: null } as const;
    for (let round = 0; round < 4; round++) {
      // Twice the same values, then others in the same array.
      if (round === 2) for (let k = 0; k < 32; k++) window[k] = random.unit();
      const x = noise();
      const { zxx, t, f } = await stft(x, options);
      const frames = zxx.shape[1]!;
      const [frame, bin] = [random.integer(0, frames - 1), random.integer(0, 16)];
      const wanted = binOf(x, window, 20 * frame, bin);
      const at = 2 * (bin * frames + frame);
      expect(relativeError(zxx.data.slice(at, at + 2), Float64Array.from(wanted))).toBeLessThan(1e-12);
      // What is returned is the caller's own.
      t.fill(0);
      f.fill(0);
    }
    const { t } = await stft(noise(), options);
    expect(t[1]! - t[0]!).toBe(20);
  });

  it('is refused where its options are not what they were', async () => {
    const x = noise();
    await stft(x, { nperseg: 64 });
    let requested = 0;
    const changing = {
      get nperseg() {
        return requested++ === 0 ? 64 : -1;
      },
    };
    // Read once: the getter says what a valid call has said, and is not asked again.
    const { zxx } = await stft(x, changing);
    expect(zxx.shape[0]).toBe(33);
    await expect(stft(x, changing)).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(stft(x, { nperseg: 64, hop: 3 } as never)).rejects.toMatchObject({ code: 'unknown-field' });
    await expect(stft(x, { nperseg: 64, device: {} as never })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(stft({ data: x, shape: [599], dtype: 'float64' }, { nperseg: 64 })).rejects.toMatchObject({
      code: 'wrong-length',
    });
  });

  it('of signals and lengths of another kind is another call', async () => {
    for (const num of [300, 200, 300]) expect((await resample(noise(), num)).shape).toEqual([num]);
    const complex = { data: noise(), shape: [300], dtype: 'complex128' } as const;
    expect((await welch(noise(300), { nperseg: 30 })).pxx.shape).toEqual([16]);
    expect((await welch(complex, { nperseg: 30 })).pxx.shape).toEqual([30]);
  });
});

describe('a call like one that has not ended', () => {
  it('has its own chirp z-transform, and nothing of the other one', async () => {
    const at = (x: Float64Array, turns: number) =>
      Float64Array.of(
        x.reduce((sum, value, j) => sum + value * Math.cos(2 * Math.PI * turns * j), 0),
        x.reduce((sum, value, j) => sum - value * Math.sin(2 * Math.PI * turns * j), 0),
      );
    for (let round = 0; round < 2; round++) {
      const all = [noise(50), noise(50).fill(Number.NaN), noise(50)] as const;
      const [first, none, last] = await Promise.all(all.map((x) => czt(x, { m: 70 })));
      const k = random.integer(0, 69);
      expect(relativeError(first!.data.slice(2 * k, 2 * k + 2), at(all[0], k / 70))).toBeLessThan(1e-12);
      expect(relativeError(last!.data.slice(2 * k, 2 * k + 2), at(all[2], k / 70))).toBeLessThan(1e-12);
      expect(none!.data.every(Number.isNaN)).toBe(true);
      // Ranges are compared, too.
      for (const end of [0.3, 0.5, 0.3]) {
        const { data } = await zoomFft(all[0], [0.1, end], { m: 20, fs: 1, endpoint: true });
        expect(relativeError(data.slice(38), at(all[0], end))).toBeLessThan(1e-12);
      }
    }
  });

  it('has its own images, with small and with large kernels', async () => {
    for (const [side, boundary] of [
      [3, 'fill'],
      [9, 'wrap'],
    ] as const) {
      const [rows, columns] = [12, 17];
      const images = [0, 1, 2].map(() => noise(rows * columns));
      const kernels = images.map(() => noise(side * side));
      const sums = await Promise.all(
        images.map((data, n) =>
          convolve2d(
            { data, shape: [rows, columns], dtype: 'float64' },
            { data: kernels[n]!, shape: [side, side], dtype: 'float64' },
            { boundary, mode: 'same' },
          ),
        ),
      );
      sums.forEach((sum, n) => {
        const [i, j] = [random.integer(0, rows - 1), random.integer(0, columns - 1)];
        let wanted = 0;
        for (let k = 0; k < side * side; k++) {
          const [y, x] = [i + (side >> 1) - Math.floor(k / side), j + (side >> 1) - (k % side)];
          const inside = y >= 0 && y < rows && x >= 0 && x < columns;
          const sample = images[n]![((y + rows) % rows) * columns + ((x + columns) % columns)]!;
          if (inside || boundary === 'wrap') wanted += kernels[n]![k]! * sample;
        }
        expect(sum.data[i * columns + j]).toBeCloseTo(wanted, 12);
      });
    }
  });
});

describe('spectra of frames', () => {
  it('have magnitudes that are the roots of powers, whatever is scaled and taken off', async () => {
    const x = Float32Array.from(noise(), (value) => 3 + value);
    for (const detrend of [false, 'constant', 'linear'] as const) {
      for (const window of ['hann', 'boxcar'] as const) {
        const options = { nperseg: 48, hopLength: 20, window, detrend, scaling: null, nfft: 64 } as const;
        const { sxx: magnitudes } = await spectrogram(x, { ...options, mode: 'magnitude' });
        const { sxx: powers } = await spectrogram(x, options);
        const roots = Float64Array.from(powers.data, Math.sqrt);
        expect(relativeError(magnitudes.data, roots)).toBeLessThan(1e-5);
        // One side of a density: its own scale, and no power of both sides.
        const { sxx } = await spectrogram(x, { ...options, scaling: 'spectrum', mode: 'magnitude' });
        expect(sxx.data[1]! / magnitudes.data[1]!).toBeCloseTo(sxx.data[70]! / magnitudes.data[70]!, 4);
      }
    }
  });

  it('of a real and a complex signal are multiplied as those of two complex ones', async () => {
    const [re, z] = [noise(300), { data: noise(), shape: [300], dtype: 'complex128' } as const];
    const widened = Float64Array.from({ length: 600 }, (_, k) => (k % 2 === 0 ? re[k / 2]! : 0));
    const { pxy } = await csd(z, re, { nperseg: 50 });
    const wanted = await csd(z, { data: widened, shape: [300], dtype: 'complex128' }, { nperseg: 50 });
    expect(relativeError(pxy.data, wanted.pxy.data)).toBeLessThan(1e-12);
  });

  it('become the signal again with hops that do not divide frames, zeros behind them, and several lines', async () => {
    for (const options of [
      { nperseg: 50, noverlap: 31, nfft: 64 },
      { nperseg: 33, noverlap: 11 },
      { nperseg: 40, noverlap: 0, window: 'boxcar' },
    ] as const) {
      const x = { data: noise(), shape: [2, 100, 3], dtype: 'float64' } as const;
      const { zxx } = await stft(x, { ...options, axis: 1 });
      const { x: back } = await istft(zxx, { ...options, freqAxis: 1 });
      const [, , length] = back.shape as readonly [number, number, number];
      const same = Float64Array.from(
        x.data,
        (_, k) => back.data[(Math.floor(k / 300) * 3 + (k % 3)) * length + (Math.floor(k / 3) % 100)]!,
      );
      expect(relativeError(same, x.data)).toBeLessThan(1e-12);
    }
  });
});

describe('lfilter', () => {
  it.each([1, 2, 3, 4, 7, 8, 9, 12])('of order %i is the recursion that defines it', (order) => {
    const b = noise(order + 1);
    const a = Float64Array.of(1, ...noise(order).map((value) => value / (2 * order)));
    const x = noise(80);
    const wanted = new Float64Array(80);
    x.forEach((_, n) => {
      for (let k = 0; k <= Math.min(order, n); k++) {
        wanted[n]! += b[k]! * x[n - k]! - (k > 0 ? a[k]! * wanted[n - k]! : 0);
      }
    });
    const zi = new Float64Array(order);
    const { y: first, zf } = lfilter(b, a, x.slice(0, 33), { zi });
    const { y: second } = lfilter(b, a, x.slice(33), { zi: zf });
    expect(relativeError(Float64Array.of(...first.data, ...second.data), wanted)).toBeLessThan(1e-13);
  });
});
