/** Speech features by the kernels that the package brings along: what the planner's kernels compute, bit for bit. `npm test` has built them. */
import { expect, it, vi } from 'vitest';
import { openDevice } from '../src/index.ts';
import { presetNames } from '../src/signal/features/feature-presets.ts';
import * as sources from '../src/signal/index.ts';
import { relativeError } from './support/accuracy.ts';
import { randomFor, uniform } from './support/random.ts';

// The kernels of the package are for every engine: a device that fused multiply-adds would round in other places.
vi.mock('../src/devices/cpu/relaxed.ts', async (original) => ({ ...(await original()), hasRelaxedSimd: () => false }));

const random = randomFor('test/presets');
const device = await openDevice('cpu', { threads: 1 });
const built = (await import(new URL('../dist/signal/index.js', import.meta.url).href)) as typeof sources;

function speech(length: number): Float32Array {
  return Float32Array.from(uniform(random, length, 'single'), (value, n) => value * Math.sin(n / 9));
}

/** Whether numbers are the same, bit for bit. */
function areSame(one: Float32Array | Float64Array, other: Float32Array | Float64Array): boolean {
  return Buffer.from(one.buffer).equals(Buffer.from(other.buffer));
}

it.each(presetNames)('has features of preset %s in it, of short and long signals', async (preset) => {
  // Whisper's are of 30 s: a shorter signal is followed by zeros, and a little shorter one is mirrored behind them.
  for (const length of [random.integer(2050, 2600), random.integer(50_000, 90_000), random.integer(479_700, 480_300)]) {
    const x = speech(length);
    const { data, shape, dtype } = await built.logMel(x, { preset });
    const wanted = await sources.logMel(x, { preset, device });
    expect([shape, dtype]).toEqual([wanted.shape, 'float32']);
    expect(areSame(data, wanted.data)).toBe(true);
    // The result is the caller's own.
    data.fill(Number.NaN);
    expect(areSame((await built.featureExtractor(preset).extract(x)).data, wanted.data)).toBe(true);
  }
});

it('takes them where options say what a preset says, and plans where they do not', async () => {
  const x = speech(6000);
  const calls = (from: typeof sources, options: object) => [
    from.logMel(x, { fs: 22050, ...options }),
    from.fbank(x, options),
    from.mfcc(x, { preset: 'kaldi', ...options }),
    from.logMel(x, { preset: 'kaldi', fMin: 50, ...options }),
    from.logMel(x, { preset: 'kaldi', nMels: 20, ...options }),
    from.melSpectrogram(x, { preset: 'torchaudio', ...options }),
    from.logMel(Float64Array.from(x), { preset: 'torchaudio', ...options }),
  ];
  const [found, wanted] = await Promise.all([Promise.all(calls(built, {})), Promise.all(calls(sources, { device }))]);
  for (const [n, { data, shape, dtype }] of found.entries()) {
    expect([shape, dtype], String(n)).toEqual([wanted[n]!.shape, wanted[n]!.dtype]);
    if (n < 3) expect(areSame(data, wanted[n]!.data), String(n)).toBe(true);
    else expect(relativeError(data, Float64Array.from(wanted[n]!.data))).toBeLessThan(1e-5);
  }
});

it('refuses what the planner refuses, in its words', async () => {
  for (const [x, preset] of [
    [new Float32Array(399), 'kaldi'],
    [new Float32Array(0), 'whisper'],
  ] as const) {
    const refusal = await sources.logMel(x, { preset, device }).then(String, (error: Error) => error.message);
    await expect(built.logMel(x, { preset })).rejects.toThrow(refusal);
  }
});
