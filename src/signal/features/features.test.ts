/** Features of speech against the definitions of those whose models and programs take them. */
import { describe, expect, it, vi } from 'vitest';
import * as reference from '../../../test/reference/features.ts';
import { noOpenCl, openOpenCl } from '../../../test/support/opencl.ts';
import { randomFor } from '../../../test/support/random.ts';
import { noWebGpu, openWebGpu, testGpuDevice } from '../../../test/support/webgpu.ts';
import type { Device as EngineDevice } from '../../engine/index.ts';
import { type Device, openDevice, openProfile } from '../../index.ts';
import {
  type Features,
  fbank,
  featureExtractor,
  logMel,
  type MelSpectrogramOptions,
  melSpectrogram,
  mfcc,
} from '../index.ts';

import { levelPlan } from './feature-engine.ts';
import { featureSpec } from './feature-options.ts';

const random = randomFor('src/signal/features');

describe('the plan of features', () => {
  it.each(['whisper', 'librosa', 'kaldi'] as const)('takes one launch, preset %s', async (preset) => {
    const spec = featureSpec({ preset });
    // The most shared memory that any WebGPU device promises holds no frame of 2048 doubles with its bins.
    for (const [name, precision] of [
      ...[['wasm-cpu', 'single'] as const, ['wasm-cpu', 'double'] as const, ['h200', 'double'] as const],
      ['webgpu-default', 'single'] as const,
    ]) {
      const profiled = (await openProfile(name)) as unknown as EngineDevice;
      const plan = await levelPlan(profiled, { spec, frames: 256, precision, isWhole: false });
      expect(plan.explain()).toMatch(/^forward: 1 launch,/m);
      plan.destroy();
    }
  });
});

/** Noise of changing loudness, over a tone and an offset. */
function speech(length: number): Float32Array {
  return Float32Array.from({ length }, (_, n) => {
    const loud = 0.3 + 0.25 * Math.sin(n / 700);
    return loud * (random.unit() - 0.5) + 0.1 * Math.sin(0.3 * n) + 0.05;
  });
}

/**
 * Values agree to a part of each, and to a constant. @param amplitude error of a transform, as a part of the largest amplitude of its frame:
 * a power p is off by twice the product of that and √p
 */
function same(
  found: Features,
  wanted: readonly (readonly number[])[],
  { relative = 1e-5, absolute = 0, amplitude = 0 } = {},
): void {
  expect(found.shape).toEqual([wanted.length, wanted[0]!.length]);
  let worst = 0;
  wanted.forEach((row, frame) => {
    const largest = Math.max(...row);
    row.forEach((value, n) => {
      const rounding = amplitude > 0 ? 2 * amplitude * Math.sqrt(value * largest) : 0;
      const error = Math.abs(found.data[frame * row.length + n]! - value);
      // A band without bins is exactly 0.
      if (error !== 0) worst = Math.max(worst, error / (relative * Math.abs(value) + absolute + rounding));
    });
  });
  expect(worst).toBeLessThanOrEqual(1);
}

const doubles = (x: Float32Array) => Float64Array.from(x);
const list = (x: Float32Array) => Array.from(x);
/** Natural logarithms of values right to 10⁻⁵. */
const LOG = { relative: 0, absolute: 1.5e-5 };
const DECIBELS = { relative: 0, absolute: 5e-5 };

/** Options that the definitions need, too. */
interface Sizes {
  readonly fs: number;
  readonly nFft: number;
  readonly hopLength: number;
}

describe('melSpectrogram is what librosa defines', () => {
  const fs = 16000;
  it.each<[string, Sizes & Omit<MelSpectrogramOptions, keyof Sizes>, Partial<reference.SpectrogramDefinition>]>([
    ['by default', { fs, nFft: 512, hopLength: 128 }, {}],
    ['mirrored at the ends', { fs, nFft: 400, hopLength: 160, padMode: 'reflect' }, {}],
    ['with the edge beyond the ends', { fs, nFft: 300, hopLength: 70, padMode: 'edge' }, {}],
    ['of whole frames', { fs, nFft: 400, hopLength: 170, center: false }, {}],
    ['with a window shorter than the frame', { fs, nFft: 512, hopLength: 100, winLength: 301 }, {}],
    ['whole frames with a shorter window', { fs, nFft: 256, hopLength: 100, winLength: 200, center: false }, {}],
    [
      "on HTK's scale, with triangles of height 1",
      { fs, nFft: 512, hopLength: 200, htk: true, norm: null },
      { htk: true, norm: null },
    ],
    ['of magnitudes', { fs, nFft: 512, hopLength: 200, power: 1 }, { power: 1 }],
    ['of any power', { fs, nFft: 128, hopLength: 90, power: 1.3 }, { power: 1.3 }],
    [
      'of a part of the spectrum',
      { fs: 8000, nFft: 511, hopLength: 200, fMin: 300, fMax: 3400 },
      { fMin: 300, fMax: 3400 },
    ],
  ])('%s', async (_, options, others) => {
    const x = speech(3000);
    const { nFft, hopLength: hop, winLength = nFft, center = true, padMode = 'constant' } = options;
    const definition = {
      fs: options.fs,
      nFft,
      hop,
      nMels: 20,
      window: reference.hann(winLength),
      center,
      padMode,
      ...others,
    };
    const wanted = reference.melSpectrogram(list(x), definition);
    same(await melSpectrogram(x, { ...options, nMels: 20 }), wanted);
    const found = await melSpectrogram(doubles(x), { ...options, nMels: 20 });
    expect(found.dtype).toBe('float64');
    same(found, wanted, { relative: 1e-10 });
  });

  it('for signals of many blocks of frames', async () => {
    const x = speech(40_000);
    const found = await melSpectrogram(x, { fs, nFft: 64, hopLength: 50, nMels: 8 });
    const definition = { fs, nFft: 64, hop: 50, nMels: 8, window: reference.hann(64) };
    same(found, reference.melSpectrogram(list(x), definition));
  });

  it('with a window of the caller', async () => {
    const x = speech(2000);
    const window = Float64Array.from({ length: 256 }, () => random.unit() + 0.1);
    const wanted = reference.melSpectrogram(list(x), { fs, nFft: 256, hop: 64, nMels: 12, window: Array.from(window) });
    same(await melSpectrogram(x, { fs, window, nFft: 256, nMels: 12 }), wanted);
  });
});

describe('logMel and mfcc', () => {
  const options = { fs: 22050, nFft: 512, hopLength: 128, nMels: 40 } as const;
  const x = speech(4000);
  // A quiet end, below what is left of it.
  x.fill(0, 3000);
  const power = reference.melSpectrogram(list(x), { ...options, hop: 128, window: reference.hann(512) });

  it("are librosa's decibels, clamped below the largest one", async () => {
    same(await logMel(x, options), reference.powerToDb(power), DECIBELS);
    same(await logMel(x, { ...options, topDb: 20 }), reference.powerToDb(power, { topDb: 20 }), DECIBELS);
    const most = Math.max(...power.flat());
    const wanted = reference.powerToDb(power, { ref: most, topDb: null, amin: 1e-5 });
    same(await logMel(x, { ...options, ref: 'max', topDb: null, amin: 1e-5 }), wanted, DECIBELS);
    same(await logMel(x, { ...options, ref: 2, log: 'db' }), reference.powerToDb(power, { ref: 2 }), DECIBELS);
    const natural = power.map((row) => row.map((value) => Math.log(Math.max(value, 1e-10))));
    same(await logMel(x, { ...options, log: 'ln', topDb: null }), natural, LOG);
  });

  it("have librosa's cepstra", async () => {
    const wanted = reference.cepstrum(reference.powerToDb(power), 13);
    same(await mfcc(x, { ...options, nMfcc: 13 }), wanted, { relative: 1e-5, absolute: 1e-3 });
    same(await mfcc(doubles(x), { ...options, nMfcc: 13 }), wanted, { relative: 1e-10, absolute: 1e-9 });
    const lifted = wanted.map((row, k) => row.map((value) => value * (1 + 11 * Math.sin((Math.PI * (k + 1)) / 22))));
    same(await mfcc(doubles(x), { ...options, nMfcc: 13, lifter: 22 }), lifted, { relative: 1e-10, absolute: 1e-8 });
  });

  it("are torchaudio's", async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const definition = {
      fs: 16000,
      nFft: 400,
      hop: 200,
      nMels: 128,
      window: reference.hann(400),
      padMode: 'reflect',
      htk: true,
      norm: null,
    };
    const mel = reference.melSpectrogram(list(x), definition);
    // Some of these bands see one bin, which may happen to be small beside the rounding of its frame: that of 400 singles.
    const amplitude = 1.2 * 2 ** -24 * Math.sqrt(1 + Math.log2(400));
    same(await melSpectrogram(x, { preset: 'torchaudio' }), mel, { relative: 1e-5, amplitude });
    const wanted = reference.cepstrum(reference.powerToDb(mel), 40);
    same(await mfcc(doubles(x), { preset: 'torchaudio' }), wanted, { relative: 1e-9, absolute: 1e-7 });
    vi.restoreAllMocks();
  });
});

describe("fbank is Kaldi's", () => {
  const x = speech(2000);
  it.each([
    ['by default', {}, {}],
    ['mirrored at the ends', { snipEdges: false }, { snipEdges: false }],
    [
      'of many bands up to a frequency',
      { nMels: 40, fMin: 100, fMax: 7000 },
      { nMels: 40, lowFrequency: 100, highFrequency: 7000 },
    ],
    [
      'without offset and emphasis',
      { removeDcOffset: false, preemphasis: 0 },
      { removeDcOffset: false, preemphasis: 0 },
    ],
    ['with the offset', { removeDcOffset: false, window: 'hann' }, { removeDcOffset: false, window: 'hanning' }],
    ['without emphasis', { preemphasis: 0 }, { preemphasis: 0 }],
    ['at another rate', { fs: 8000 }, { fs: 8000 }],
    ['with energies', { useEnergy: true }, { useEnergy: true }],
    [
      'with energies of windowed frames, mirrored at the ends',
      { useEnergy: true, rawEnergy: false, energyFloor: 0, snipEdges: false },
      { useEnergy: true, rawEnergy: false, energyFloor: 0, snipEdges: false },
    ],
    ['with a floor of energies', { useEnergy: true, energyFloor: 4 }, { useEnergy: true, energyFloor: 4 }],
    ['of a shorter vocal tract', { vtlnWarp: 0.88 }, { vtlnWarp: 0.88 }],
    [
      'of a longer one, with cut-offs',
      { vtlnWarp: 1.15, vtlnLow: 200, vtlnHigh: 6000, fMax: 7800 },
      { vtlnWarp: 1.15, vtlnLow: 200, vtlnHigh: 6000, highFrequency: 7800 },
    ],
  ] as const)('%s', async (_, options, definition) => {
    const wanted = reference.kaldiFbank(list(x), definition as reference.KaldiDefinition);
    same(await fbank(x, options), wanted, { relative: 0, absolute: 3e-5 });
    same(await fbank(doubles(x), options), wanted, { relative: 0, absolute: 1e-9 });
  });

  it('and so are its cepstra', async () => {
    const rows = reference.kaldiFbank(list(x));
    const columns = rows[0]!.map((_, m) => rows.map((row) => row[m]!));
    const all = reference.cepstrum(columns, 13);
    const wanted = rows.map((_, t) => all.map((row, k) => row[t]! * (1 + 11 * Math.sin((Math.PI * k) / 22))));
    same(await mfcc(doubles(x), { preset: 'kaldi' }), wanted, { relative: 1e-9, absolute: 1e-8 });
    const energies = reference.kaldiFbank(list(x), { useEnergy: true });
    wanted.forEach((row, t) => (row[0] = energies[t]![0]!));
    same(await mfcc(doubles(x), { preset: 'kaldi', useEnergy: true }), wanted, { relative: 1e-9, absolute: 1e-8 });
  });

  it('have their energy last, or coefficient 0 by √2, as HTK has them', async () => {
    const small = { absolute: 1e-8, relative: 1e-9 };
    const energies = reference.kaldiFbank(list(x), { useEnergy: true });
    const behind = energies.map(([energy, ...bands]) => [...bands, energy!]);
    same(await fbank(doubles(x), { useEnergy: true, htkCompat: true }), behind, small);
    const rows = (await mfcc(doubles(x), { preset: 'kaldi' })).data;
    const cepstra = energies.map((_, t) => Array.from(rows.slice(13 * t, 13 * (t + 1))));
    const scaled = cepstra.map(([first, ...rest]) => [...rest, Math.SQRT2 * first!]);
    same(await mfcc(doubles(x), { preset: 'kaldi', htkCompat: true }), scaled, small);
    const replaced = cepstra.map(([, ...rest], t) => [...rest, energies[t]![0]!]);
    same(await mfcc(doubles(x), { preset: 'kaldi', htkCompat: true, useEnergy: true }), replaced, small);
  });
});

describe('featureExtractor', () => {
  it("gives Whisper's features, of 80 and of 128 bands", async () => {
    const x = speech(12_000);
    for (const [preset, nMels] of [
      ['whisper', 80],
      ['whisper-large-v3', 128],
    ] as const) {
      const wanted = reference.whisperFeatures(list(x), nMels);
      const extractor = featureExtractor(preset);
      const found = await extractor.extract(x);
      expect([extractor.fs, ...found.shape]).toEqual([16000, nMels, 3000]);
      same(found, wanted, { relative: 0, absolute: 1e-5 });
      // What came before leaves nothing behind.
      same(await logMel(x, { preset }), wanted, { relative: 0, absolute: 1e-5 });
    }
  });

  it("gives AST's and Wav2Vec's", async () => {
    const x = speech(9000);
    const wanted = reference.astFeatures(list(x));
    // Bands of little power, next to ones of much, have fewer digits in single precision.
    same(await featureExtractor('ast').extract(x), wanted, { relative: 0, absolute: 1e-4 });
    same(await featureExtractor('ast').extract(doubles(x)), wanted, { relative: 0, absolute: 1e-10 });
    const { data, shape } = await featureExtractor('wav2vec').extract(x);
    const mean = list(x).reduce((a, b) => a + b) / 9000;
    const variance = list(x).reduce((sum, value) => sum + (value - mean) ** 2, 0) / 9000;
    expect(shape).toEqual([9000]);
    x.forEach((value, n) => {
      expect(Math.abs(data[n]! - (value - mean) / Math.sqrt(variance + 1e-7))).toBeLessThan(1e-6);
    });
  });

  it.each(['librosa', 'whisper', 'kaldi'] as const)(
    '%s: streams give the frames of the whole signal',
    async (preset) => {
      const x = speech(9000);
      const changed = { fs: 16000, nFft: 512, winLength: 400, hopLength: 160, nMels: 30 } as const;
      const extractor = featureExtractor(preset, changed);
      const options = { ...changed, preset, topDb: null, log: 'ln' } as const;
      const stream = featureExtractor(preset, { ...changed, topDb: null, log: 'ln' }).stream();
      for (let round = 0; round < 2; round++) {
        const parts: Features[] = [];
        for (let at = 0; at < x.length; ) {
          const count = random.integer(1, 900);
          parts.push(await stream.push(x.subarray(at, at + count)));
          at += count;
        }
        parts.push(await stream.finish());
        const isRows = preset === 'kaldi';
        const frames = parts.flatMap(({ data, shape }) => {
          const [mels, count] = isRows ? [shape[1]!, shape[0]!] : [shape[0]!, shape[1]!];
          return Array.from({ length: count }, (_, t) =>
            Array.from({ length: mels }, (_, m) => data[isRows ? t * mels + m : m * count + t]!),
          );
        });
        const whole = await logMel(x, options);
        const count = isRows ? whole.shape[0]! : 9000 / 160;
        const place = (t: number, m: number) => (isRows ? t * 30 + m : m * whole.shape[1]! + t);
        // A signal that is filled up to 30 s differs where it ends.
        const compared = preset === 'whisper' ? Math.floor(count) - 2 : frames.length;
        if (preset !== 'whisper') expect(frames).toHaveLength(isRows ? whole.shape[0]! : whole.shape[1]!);
        else expect(frames).toHaveLength(56);
        for (let t = 0; t < compared; t++) {
          for (let m = 0; m < 30; m++) expect(frames[t]![m]!).toBeCloseTo(whole.data[place(t, m)]!, 4);
        }
      }
      expect(extractor.fs).toBe(16000);
    },
  );
});

describe('bad input is refused by name', () => {
  const x = speech(1000);
  const good = { fs: 16000, nFft: 256 };
  it.each<[string, () => unknown, string, string]>([
    ['no rate', () => logMel(x, {}), 'invalid-argument', 'fs'],
    ['a rate that is no number', () => logMel(x, { fs: '16000' as never }), 'invalid-argument', 'fs'],
    ['a rate of NaN', () => melSpectrogram(x, { ...good, fs: Number.NaN }), 'invalid-argument', 'fs'],
    ['a hop of 0', () => logMel(x, { ...good, hopLength: 0 }), 'invalid-argument', 'hopLength'],
    ['half a sample', () => logMel(x, { ...good, nFft: 255.5 }), 'invalid-argument', 'nFft'],
    [
      'a window longer than the transform',
      () => logMel(x, { ...good, winLength: 300 }),
      'invalid-argument',
      'winLength',
    ],
    ['a window longer than the signal', () => logMel(x, { fs: 16000 }), 'invalid-argument', 'x'],
    [
      'too few samples to mirror',
      () => logMel(x.subarray(0, 128), { ...good, winLength: 64, padMode: 'reflect' }),
      'invalid-argument',
      'x',
    ],
    ['no samples', () => logMel(new Float32Array(0), good), 'invalid-argument', 'x'],
    ['integers', () => logMel(new Int16Array(1000) as never, good), 'invalid-argument', 'x'],
    ['bands beyond half the rate', () => logMel(x, { ...good, fMax: 9000 }), 'invalid-argument', 'fMax'],
    [
      'bands that end before they begin',
      () => logMel(x, { ...good, fMin: 900, fMax: 800 }),
      'invalid-argument',
      'fMax',
    ],
    ['no bands', () => logMel(x, { ...good, nMels: 0 }), 'invalid-argument', 'nMels'],
    ['an unknown window', () => logMel(x, { ...good, window: 'han' as never }), 'invalid-argument', 'window'],
    ['an unknown preset', () => logMel(x, { preset: 'wisper' as never }), 'invalid-argument', 'preset'],
    ['a preset of extractors', () => featureExtractor('wav2vec2' as never), 'invalid-argument', 'preset'],
    ['two scales', () => logMel(x, { ...good, htk: true, melScale: 'kaldi' }), 'invalid-argument', 'htk'],
    ['other names', () => logMel(x, { ...good, n_mels: 80 } as never), 'unknown-field', 'logMel.n_mels'],
    ['more cepstra than bands', () => mfcc(x, { ...good, nMels: 12 }), 'invalid-argument', 'nMfcc'],
    ['energies of other features', () => mfcc(x, { ...good, useEnergy: true }), 'invalid-argument', 'useEnergy'],
    [
      'the order of HTK in other features',
      () => mfcc(x, { ...good, htkCompat: true }),
      'invalid-argument',
      'htkCompat',
    ],
    ['a negative floor', () => fbank(x, { useEnergy: true, energyFloor: -1 }), 'invalid-argument', 'energyFloor'],
    ['a cut-off below all bands', () => fbank(x, { vtlnWarp: 0.9, vtlnLow: 20 }), 'invalid-argument', 'vtlnLow'],
    ['cut-offs the wrong way round', () => fbank(x, { vtlnWarp: 2, vtlnHigh: 90 }), 'invalid-argument', 'vtlnHigh'],
    ['no warping at all', () => fbank(x, { vtlnWarp: 0 }), 'invalid-argument', 'vtlnWarp'],
    ['no device', () => logMel(x, { ...good, device: {} as never }), 'invalid-argument', 'device'],
    ['streams of wav2vec', () => featureExtractor('wav2vec').stream(), 'unsupported-feature', 'preset'],
  ])('%s', async (_, call, code, path) => {
    const thrown = await (async () => call())().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: 'FftError', code, problems: [{ code, path }] });
  });

  it('bands that no bin lies in are named in a warning, once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    for (let round = 0; round < 2; round++) await melSpectrogram(x, { fs: 22050, nFft: 256, nMels: 120 });
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.lastCall![0]).toMatch(/bands 0, .* are 0 throughout/);
    warn.mockRestore();
  });

  it('a device that has been closed says so', async () => {
    const device = await openDevice('cpu');
    const options = { ...good, nMels: 10, device };
    await logMel(x, options);
    device.close();
    await expect(logMel(x, options)).rejects.toMatchObject({ code: 'device-closed' });
    await expect(logMel(x, { ...options, nMels: 11 })).rejects.toMatchObject({ code: 'device-closed' });
  });

  it('a stream that failed goes on', async () => {
    const stream = featureExtractor('librosa', { ...good, nMels: 20 }).stream();
    await expect(stream.push([] as never)).rejects.toMatchObject({ code: 'invalid-argument' });
    await stream.push(x.subarray(0, 100));
    await expect(stream.finish()).rejects.toMatchObject({ code: 'invalid-argument' });
    const [some, others] = [await stream.push(x.subarray(100)), await stream.finish()];
    expect(some.shape[1]! + others.shape[1]!).toBe(1 + Math.floor(1000 / 64));
  });
});

/** What the CPU gives. */
async function onDevice(device: Device): Promise<void> {
  const x = speech(3000);
  const options = { fs: 16000, nFft: 256, hopLength: 100, nMels: 16 } as const;
  const wanted = await logMel(x, options);
  const found = await logMel(x, { ...options, device });
  wanted.data.forEach((value, n) => {
    expect(Math.abs(found.data[n]! - value)).toBeLessThan(2e-4);
  });
}

describe('features on other devices', () => {
  it.skipIf(noWebGpu)('WebGPU, also into a buffer of the caller', async () => {
    const gpu = await testGpuDevice();
    const device = await openWebGpu({ device: gpu });
    await onDevice(device);
    const x = speech(3000);
    const options = { nFft: 256, winLength: 256, hopLength: 100, nMels: 16, topDb: 20, fMin: 100 } as const;
    const wanted = await featureExtractor('torchaudio', options).extract(x);
    const output = gpu.createBuffer({ size: 4 * wanted.data.length, usage: 0x84 });
    const { data, shape } = await featureExtractor('torchaudio', { ...options, device }).extract(x, { output });
    expect([data, shape]).toEqual([output, wanted.shape]);
    const staging = gpu.createBuffer({ size: output.size, usage: 0x9 });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(output, 0, staging, 0, output.size);
    gpu.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    const found = new Float32Array(staging.getMappedRange().slice(0));
    wanted.data.forEach((value, n) => {
      expect(Math.abs(found[n]! - value)).toBeLessThan(2e-4);
    });
    device.close();
    gpu.destroy();
  });

  it.skipIf(noOpenCl)('OpenCL', async () => {
    const device = await openOpenCl();
    await onDevice(device);
    device.close();
  });

  it('stay in memory of the device where that is given', async () => {
    const device = await openDevice('cpu');
    const x = speech(5000);
    for (const preset of ['torchaudio', 'kaldi', 'ast'] as const) {
      const extractor = featureExtractor(preset, { device, nMels: 32, topDb: preset === 'torchaudio' ? 30 : null });
      const wanted = await extractor.extract(x);
      const memory = device.alloc(4 * wanted.data.length, 'single');
      const { data, shape } = await extractor.extract(x, { output: memory });
      expect(data).toBe(memory);
      expect(shape).toEqual(wanted.shape);
      wanted.data.forEach((value, n) => {
        expect(Math.abs(memory.array![n]! - value)).toBeLessThan(1e-5);
      });
    }
    device.close();
  });
});
