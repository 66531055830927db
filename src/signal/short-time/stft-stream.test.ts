import { describe, expect, it, vi } from 'vitest';
import { asPairs, spectrum } from '../../../test/reference/signal.ts';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openDevice } from '../../index.ts';
import { openCpuSync } from '../../sync.ts';
import { StftStream, type StftStreamOptions, windowFunction } from '../sync.ts';

const random = randomFor('src/signal/stft-stream');

/** All frames of a signal that comes in chunks of random sizes. */
function framesOf(stream: StftStream<'single' | 'double'>, samples: Float32Array | Float64Array): Float64Array[] {
  const frames: Float64Array[] = [];
  let told = 0;
  for (let at = 0; at < samples.length; ) {
    const chunk = samples.subarray(at, at + random.integer(0, 300));
    at += chunk.length;
    told += stream.push(chunk, (bins, frame) => {
      expect(frame).toBe(frames.length);
      frames.push(Float64Array.from(bins));
    });
  }
  expect(told).toBe(frames.length);
  return frames;
}

describe('StftStream', () => {
  it.each([
    [{ nperseg: 64, hopLength: 16 }],
    [{ nperseg: 61, hopLength: 61, window: 'boxcar' }],
    [{ nperseg: 30, hopLength: 47, precision: 'double' }],
    [{ nperseg: 1, hopLength: 1, window: 'boxcar' }],
    [{ nperseg: 50, hopLength: 200, nfft: 97, window: 'kaiser', windowOptions: { beta: 5 }, precision: 'double' }],
    [{ nperseg: 128, window: windowFunction('hamming', 128) }],
  ] satisfies [Omit<StftStreamOptions, 'device'>][])('gives every frame of what comes in, %o', (options) => {
    const device = openCpuSync();
    const stream = new StftStream({ ...options, device });
    const { nperseg: size, hopLength: hop, nfft, bins } = stream;
    const precision = stream.precision as 'single' | 'double';
    const window = { window: 'hann', ...options }.window;
    const taper =
      typeof window === 'string'
        ? windowFunction(
            window as 'kaiser',
            size,
            (options as { windowOptions?: { beta: number } }).windowOptions ?? ({} as never),
          )
        : window;
    const samples = uniform(random, 2000, precision);
    const found = framesOf(stream, precision === 'single' ? Float32Array.from(samples) : samples);
    expect(found.length).toBe(1 + Math.floor((2000 - size) / hop));
    found.forEach((frame, f) => {
      const part = samples.subarray(f * hop, f * hop + size).map((value, k) => value * taper[k]!);
      const wanted = spectrum(asPairs(part), nfft).subarray(0, 2 * bins);
      expect(relativeError(frame, wanted)).toBeLessThan(precision === 'single' ? 2e-6 : 1e-13);
    });
    stream.destroy();
    device.close();
  });

  it('begins anew after a reset', () => {
    const device = openCpuSync();
    const stream = new StftStream({ device, nperseg: 8, hopLength: 12 });
    const samples = Float32Array.from({ length: 30 }, (_, k) => k);
    const first = framesOf(stream, samples);
    stream.push(samples.subarray(0, 5), () => undefined);
    stream.reset();
    expect(framesOf(stream, samples)).toEqual(first);
    device.close();
  });

  it('is planned from what another has found out', () => {
    const [one, two] = [openCpuSync(), openCpuSync()];
    const stream = new StftStream({ device: one, nperseg: 300 });
    const other = new StftStream({ device: two, nperseg: 300, from: stream.serialize() });
    const samples = Float32Array.from(uniform(random, 1000, 'single'));
    expect(framesOf(other, samples)).toEqual(framesOf(stream, samples));
    expect(() => new StftStream({ device: two, nperseg: 301, from: stream.serialize() })).toThrow(
      expect.objectContaining({ code: 'invalid-saved-plan' }),
    );
    one.close();
    two.close();
  });

  it('says where its bins and frames are', () => {
    const device = openCpuSync();
    const stream = new StftStream({ device, fs: 8000, nperseg: 64, noverlap: 48 });
    expect(stream.f).toEqual(Float64Array.from({ length: 33 }, (_, k) => (k * 8000) / 64));
    expect([stream.hopLength, stream.timeOf(0), stream.timeOf(3)]).toEqual([16, 32 / 8000, 80 / 8000]);
    device.close();
  });

  it('takes the old names of its options, and says once what they are called now', () => {
    const device = openCpuSync();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const old = [0, 1].map(() => new StftStream({ device, size: 32, hop: 8 }));
    expect(old.map(({ nperseg, hopLength, size, hop }) => [nperseg, hopLength, size, hop])).toEqual([
      [32, 8, 32, 8],
      [32, 8, 32, 8],
    ]);
    const said = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    // Of both the options and the fields of the stream.
    expect(said.filter((text) => text.includes('size is nperseg now')).length).toBe(1);
    expect(said.filter((text) => text.includes('hop is hopLength now')).length).toBe(1);
    device.close();
  });

  it('throws what onFrame throws, and goes on behind that frame', () => {
    const device = openCpuSync();
    const stream = new StftStream({ device, nperseg: 4, hopLength: 4 });
    const fail = () => {
      throw new Error('enough');
    };
    expect(() => stream.push(new Float32Array(10), fail)).toThrow('enough');
    const frames: number[] = [];
    stream.push(new Float32Array(4), (_, frame) => frames.push(frame));
    expect(frames).toEqual([1]);
    const inner = () => stream.push(new Float32Array(1), () => undefined);
    expect(() => stream.push(new Float32Array(4), inner)).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    device.close();
  });

  it('refuses what is no option, no samples and no callback', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    const refusals: [object, string, string][] = [
      [{}, 'invalid-argument', 'device'],
      [{ device, nperseg: 0 }, 'invalid-argument', 'nperseg'],
      [{ device, hopLength: 1.5 }, 'invalid-argument', 'hopLength'],
      [{ device, hopLength: 0 }, 'invalid-argument', 'hopLength'],
      [{ device, noverlap: 8, hopLength: 8 }, 'invalid-argument', 'hopLength'],
      [{ device, fs: '44100' }, 'invalid-argument', 'fs'],
      [{ device, nperseg: 8, nfft: 7 }, 'invalid-argument', 'nfft'],
      [{ device, precision: 'half' }, 'invalid-argument', 'precision'],
      [{ device, window: 'hannn' }, 'invalid-argument', 'window'],
      [{ device, nperseg: 8, window: new Float32Array(9).fill(1) }, 'invalid-argument', 'nperseg'],
      [{ device, hopp: 3 }, 'unknown-field', 'StftStream.hopp'],
    ];
    for (const [options, code, path] of refusals) {
      expect(() => new StftStream(options as never), path).toThrow(expect.objectContaining({ code }));
    }
    const stream = new StftStream({ device });
    const none = () => undefined;
    expect(() => stream.push([1] as never, none)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    expect(() => stream.push(new Float32Array(1), {} as never)).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    const gone = new Float32Array(8);
    structuredClone(gone, { transfer: [gone.buffer] });
    expect(() => stream.push(gone, none)).toThrow(expect.objectContaining({ code: 'detached-array' }));
    stream.destroy();
    stream.destroy();
    expect(() => stream.push(new Float32Array(1), none)).toThrow(expect.objectContaining({ code: 'destroyed' }));
    const other = new StftStream({ device });
    device.close();
    expect(() => other.push(new Float32Array(2000), none)).toThrow(expect.objectContaining({ code: 'destroyed' }));
    other.destroy();
  });
});
