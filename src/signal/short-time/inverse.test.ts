/** Back from short-time transforms: frame by frame, and from absolute values alone. */
import { afterAll, describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openCpuSync } from '../../sync.ts';
import { abs, griffinLim, istft, stft } from '../index.ts';
import { IstftStream, type IstftStreamOptions, StftStream } from '../sync.ts';

const random = randomFor('src/signal/inverse');
const device = openCpuSync();
afterAll(() => device.close());

describe('IstftStream', () => {
  it.each([
    { nperseg: 64, hopLength: 16, precision: 'double' },
    { nperseg: 61, noverlap: 40, nfft: 75, window: 'hamming', precision: 'double' },
    { nperseg: 50, hopLength: 50, window: 'boxcar', precision: 'single' },
  ] as const)('gives the samples back that a StftStream took: %o', (options) => {
    const [forward, inverse] = [new StftStream({ device, ...options }), new IstftStream({ device, ...options })];
    const samples = uniform(random, 1000, options.precision);
    const found: number[] = [];
    const take = (part: Float32Array | Float64Array, first: number) => {
      expect(first).toBe(found.length);
      found.push(...part);
    };
    const frames = forward.push(samples, (spectrum) => inverse.push(spectrum, take));
    expect(found.length).toBe(frames * inverse.hopLength);
    inverse.flush(take);
    const end = (frames - 1) * inverse.hopLength + inverse.nperseg;
    expect(found.length).toBeGreaterThanOrEqual(end);
    // The first sample of a window of hann is 0, and the last frames are there in part.
    const limit = options.precision === 'single' ? 1e-6 : 1e-13;
    expect(relativeError(found.slice(1, end - 5), samples.slice(1, end - 5))).toBeLessThan(limit);
    // Behind a flush, it begins anew.
    inverse.push(new Float64Array(2 * inverse.bins), (_, first) => expect(first).toBe(0));
    for (const stream of [forward, inverse]) stream.destroy();
  });

  it('agrees with istft of spectra that are no transform of a signal', async () => {
    const [bins, frames] = [17, 12];
    const data = uniform(random, 2 * bins * frames, 'double');
    // The parts of bins 0 and 16 that no real signal has.
    for (let k = 0; k < frames; k++) data[2 * k + 1] = data[2 * (16 * frames + k) + 1] = 0;
    const options = { window: 'hamming', nperseg: 32, noverlap: 24 } as const;
    const zxx = { data, shape: [bins, frames], dtype: 'complex128' } as const;
    const { x } = await istft(zxx, { ...options, boundary: false, scaling: null });
    const stream = new IstftStream({ device, ...options, precision: 'double' });
    const found: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      const spectrum = Float64Array.from(
        { length: 2 * bins },
        (_, k) => data[2 * ((k >> 1) * frames + frame) + (k & 1)]!,
      );
      stream.push(spectrum, (samples) => found.push(...samples));
    }
    stream.flush((samples) => found.push(...samples));
    expect(relativeError(found.slice(0, x.data.length), x.data as Float64Array)).toBeLessThan(1e-13);
    stream.destroy();
  });

  it('refuses what leaves samples out, and spectra of other lengths', () => {
    const refusals: [object, string][] = [
      [{ nperseg: 8, hopLength: 9 }, 'invalid-argument'],
      [{ nperseg: 8, hopLength: 8 }, 'invalid-argument'],
      [{ nperseg: 8, hopLength: 0 }, 'invalid-argument'],
      [{ nperseg: 8, nfft: 7 }, 'invalid-argument'],
      [{ fs: 8 }, 'unknown-field'],
    ];
    for (const [options, code] of refusals) {
      expect(() => new IstftStream({ device, ...options } as IstftStreamOptions)).toThrow(
        expect.objectContaining({ code }),
      );
    }
    const stream = new IstftStream({ device, nperseg: 8 });
    const none = () => undefined;
    expect(() => stream.push(new Float32Array(8), none)).toThrow(expect.objectContaining({ code: 'wrong-length' }));
    expect(() => stream.push(new Float32Array(10), 1 as never)).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    stream.destroy();
    stream.destroy();
    expect(() => stream.flush(none)).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });
});

describe('griffinLim', () => {
  const options = { nperseg: 256, hopLength: 64, center: true } as const;
  const magnitudesOf = async (x: Float64Array) => abs((await stft(x, { ...options, scaling: null })).zxx);

  it('finds a signal whose absolute values are nearly those that are given, nearer with more steps', async () => {
    const x = Float64Array.from(
      { length: 4096 },
      (_, k) => Math.sin(k / 5) + 0.5 * Math.sin(k / 11 + 1) * (k > 2000 ? 1 : 0),
    );
    const wanted = await magnitudesOf(x);
    const errors: number[] = [];
    for (const nIter of [0, 4, 60]) {
      const { x: found } = await griffinLim(wanted, { ...options, nIter, length: x.length });
      expect(found.shape).toEqual([4096]);
      const own = await magnitudesOf(found.data as Float64Array);
      errors.push(relativeError(own.data as Float64Array, wanted.data as Float64Array));
    }
    expect(errors[1]).toBeLessThan(errors[0]!);
    expect(errors[2]).toBeLessThan(errors[1]!);
    expect(errors[2]).toBeLessThan(0.1);
  });

  it('is the same for the same seed, and another signal for another one', async () => {
    const wanted = await magnitudesOf(uniform(random, 1024, 'double'));
    const [one, same, other] = await Promise.all(
      [5, 5, 6].map(async (seed) => (await griffinLim(wanted, { ...options, seed, nIter: 2 })).x.data),
    );
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it('refuses what are no absolute values, and options out of range', async () => {
    const zxx = { data: new Float64Array(20), shape: [5, 2], dtype: 'complex128' } as const;
    await expect(griffinLim(zxx)).rejects.toMatchObject({ code: 'wrong-array-type' });
    await expect(griffinLim(new Float64Array(5))).rejects.toMatchObject({ code: 'wrong-array-type' });
    for (const wrong of [{ nIter: -1 }, { momentum: -1 }, { seed: 0.5 }, { init: 'zeros' }]) {
      const refused = griffinLim(abs(zxx), wrong as never);
      await expect(refused).rejects.toMatchObject({ code: 'invalid-argument' });
    }
  });
});
