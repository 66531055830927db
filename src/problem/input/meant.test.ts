/** What a message says was meant, where arguments stand as other libraries take them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Device, openDevice } from '../../index.ts';
import * as numpy from '../../numpy/index.ts';
import * as numpySync from '../../numpy/sync.ts';
import * as signal from '../../signal/index.ts';

const x = Float64Array.from({ length: 64 }, (_, k) => Math.sin(k));
const z = { data: new Float64Array(2 * 9 * 4), shape: [9, 4], dtype: 'complex128' } as const;
const image = { data: x, shape: [8, 8], dtype: 'float64' } as const;
let device: Device;

beforeAll(async () => {
  device = await openDevice('cpu', { threads: 1 });
});
afterAll(() => device.close());

/** Called as nobody who reads types would: what is thrown, or rejected. */
type Loose = (...values: unknown[]) => unknown;
async function messageOf(call: unknown, ...values: unknown[]): Promise<string> {
  try {
    await (call as Loose)(...values);
  } catch (error) {
    expect(error).toMatchObject({ name: 'FftError', code: expect.stringMatching(/^(invalid|unknown)-/) });
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

describe('a value in the place of the options', () => {
  it.each<[string, unknown, readonly unknown[], string]>([
    ['rfft', numpy.rfft, [x, 1024], '{ n: 1024 }'],
    ['rfft of sync', numpySync.rfft, [x, 1024], '{ n: 1024 }'],
    ['irfft', numpy.irfft, [z, 'ortho'], "{ norm: 'ortho' }"],
    ['fft2', numpy.fft2, [image, [4, 4]], '{ s: [4, 4] }'],
    ['hfftn', numpy.hfftn, [image, 4], '{ s: 4 }'],
    ['fht', numpySync.fht, [x, 0.1, 1, 0.5], '{ offset: 0.5 }'],
    ['fhtoffset', numpy.fhtoffset, [0.1, 1, 0.5], '{ initial: 0.5 }'],
    ['dct', numpy.dct, [x, 2], '{ type: 2 }'],
    ['hilbert', signal.hilbert, [x, 32], '{ n: 32 }'],
    ['fftconvolve', signal.fftconvolve, [x, x, 'same'], "{ mode: 'same' }"],
    ['correlate', signal.correlate, [x, x, 'valid'], "{ mode: 'valid' }"],
    ['stft', signal.stft, [x, 8000], '{ fs: 8000 }'],
    ['welch', signal.welch, [x, 'hamming'], "{ window: 'hamming' }"],
    ['istft', signal.istft, [z, new Float64Array(4)], '{ window }'],
    ['czt', signal.czt, [x, 16], '{ m: 16 }'],
    ['zoomFft', signal.zoomFft, [x, [0, 0.5], 16], '{ m: 16 }'],
    ['spectrogram', signal.spectrogram, [x, 44100], '{ fs: 44100 }'],
    ['melFilterBank', signal.melFilterBank, [16000, 512], '{ fs: 16000 }'],
    ['windowFunction', signal.windowFunction, ['kaiser', 8, 8.6], '{ beta: 8.6 }'],
    ['nextFastLength', signal.nextFastLength, [17, true], '{ real: true }'],
    ['openDevice', openDevice, ['cpu', 4], '{ threads: 4 }'],
  ])('of %s is written as the option that it is', async (_, call, values, expected) => {
    expect(await messageOf(call, ...values)).toContain(`a plain object is needed, such as ${expected}.`);
  });

  it('may be a device', async () => {
    expect(await messageOf(numpy.fft, x, device)).toContain('{ device }');
    expect(await messageOf(signal.stft, x, device)).toContain('{ device }');
  });
});

describe('an option by the name that another library has for it is called by ours', () => {
  it.each<[string, unknown, readonly unknown[], string]>([
    ['fft, { axes: [0] }', numpy.fft, [x, { axes: [0] }], 'axis'],
    ['fftn, { shape: [4] }', numpy.fftn, [x, { shape: [4] }], 's'],
    ['rfft, { nfft: 32 }', numpy.rfft, [x, { nfft: 32 }], 'n'],
    ['rfft, { N: 32 }', numpy.rfft, [x, { N: 32 }], 'n'],
    ['fft, { dim: 0 }', numpy.fft, [x, { dim: 0 }], 'axis'],
    ['fftconvolve, { shape: same }', signal.fftconvolve, [x, x, { shape: 'same' }], 'mode'],
    ['stft, { hop_length: 16 }', signal.stft, [x, { hop_length: 16 }], 'hopLength'],
    ['stft, { n_fft: 32 }', signal.stft, [x, { n_fft: 32 }], 'nfft'],
    ['stft, { return_onesided: true }', signal.stft, [x, { return_onesided: true }], 'returnOnesided'],
    ['stft, { sampleRate: 8000 }', signal.stft, [x, { sampleRate: 8000 }], 'fs'],
    ['stft, { center: true }', signal.stft, [x, { centered: true }], 'boundary'],
    ['istft, { OverlapLength: 8 }', signal.istft, [z, { OverlapLength: 8 }], 'noverlap'],
    ['spectrogram, { sr: 8000 }', signal.spectrogram, [x, { sr: 8000 }], 'fs'],
    ['spectrogram, { win_length: 32 }', signal.spectrogram, [x, { win_length: 32 }], 'nperseg'],
    ['melFilterBank, { sr: 8000, nFft: 256 }', signal.melFilterBank, [{ sr: 8000, nFft: 256 }], 'fs'],
    [
      'melFilterBank, { fs: 8000, nFft: 256, n_mels: 4 }',
      signal.melFilterBank,
      [{ fs: 8000, nFft: 256, n_mels: 4 }],
      'nMels',
    ],
  ])('%s', async (_, call, values, expected) => {
    const message = await messageOf(call, ...values);
    expect(message).toContain(`Did you mean ${expected}?`);
  });
});

describe('a word that another library has is called by ours', () => {
  it.each<[string, unknown, readonly unknown[], string]>([
    ['windowFunction, hanning, 8', signal.windowFunction, ['hanning', 8], "'hann'"],
    ['windowFunction, rectwin, 8', signal.windowFunction, ['rectwin', 8], "'boxcar'"],
    ['windowFunction, Blackman-Harris, 8', signal.windowFunction, ['Blackman-Harris', 8], "'blackmanharris'"],
    ['windowFunction, general_gaussian, 8', signal.windowFunction, ['general_gaussian', 8], "'generalGaussian'"],
    ['windowFunction, gausswin, 8', signal.windowFunction, ['gausswin', 8], "'gaussian'"],
    ['windowFunction, haming, 8', signal.windowFunction, ['haming', 8], "'hamming'"],
    [
      'windowFunction, [kaiser, 8.6], 8',
      signal.windowFunction,
      [['kaiser', 8.6], 8],
      "'kaiser' with the options { beta: 8.6 }",
    ],
    ['stft, { window: hanning }', signal.stft, [x, { window: 'hanning' }], "'hann'"],
    ['stft, { boundary: reflect }', signal.stft, [x, { boundary: 'reflect' }], "'even'"],
    ['stft, { boundary: false }', signal.stft, [x, { boundary: false }], 'null'],
    ['stft, { scaling: density }', signal.stft, [x, { scaling: 'density' }], "'psd'"],
    ['welch, { scaling: psd }', signal.welch, [x, { scaling: 'psd' }], "'density'"],
    ['welch, { detrend: mean }', signal.welch, [x, { detrend: 'mean' }], "'constant'"],
    ['welch, { detrend: none }', signal.welch, [x, { detrend: 'none' }], 'false'],
    ['fftconvolve, { mode: Same }', signal.fftconvolve, [x, x, { mode: 'Same' }], "'same'"],
    [
      'melFilterBank, { fs: 8000, nFft: 256, norm: Slaney }',
      signal.melFilterBank,
      [{ fs: 8000, nFft: 256, norm: 'Slaney' }],
      "'slaney'",
    ],
    ['planCzt, { n: 8, precision: float64 }', signal.planCzt, [{ n: 8, precision: 'float64' }], "'double'"],
    ['hzToMel, 100, HTK', signal.hzToMel, [100, 'HTK'], "'htk'"],
    ['fft, { norm: unitary }', numpy.fft, [x, { norm: 'unitary' }], "'ortho'"],
  ])('%s', async (_, call, values, expected) => {
    expect(await messageOf(call, ...values)).toContain(`Did you mean ${expected}?`);
  });

  it('that is like none gets no suggestion', async () => {
    expect(await messageOf(signal.windowFunction, 'quadratic', 8)).not.toContain('Did you mean');
    expect(await messageOf(numpy.fft, x, { norm: 7 })).not.toContain('Did you mean');
    expect(await messageOf(numpy.fft, x, { colour: 7 })).not.toContain('Did you mean');
  });
});
