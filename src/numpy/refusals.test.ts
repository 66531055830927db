/** Calls that cannot be carried out are refused with an error code, the same on both faces. */
import { describe, expect, it } from 'vitest';
import { FftError, openDevice } from '../index.ts';
import * as numpy from './index.ts';
import { type ArrayInput, fft, fftfreq, fftshift, nextFastLength, rfftfreq } from './index.ts';
import * as sync from './sync.ts';

const later = { ...numpy };
const atOnce = { ...sync };
const image = { data: new Float64Array(24), shape: [2, 3, 4], dtype: 'float64' } as const;
const detached = new Float32Array(8);
structuredClone(detached.buffer, { transfer: [detached.buffer] });

const bins = { data: new Float64Array(48), shape: [2, 3, 4], dtype: 'complex128' } as const;
const dot = { data: Float32Array.of(1), shape: [], dtype: 'float32' } as const;

/** A list nested to the given depth. */
function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

const cyclic: unknown[] = [];
cyclic.push(cyclic);
const revoked = Proxy.revocable([1, 2], {});
revoked.revoke();
const throwing = Object.defineProperty([1, 2, 3], 1, {
  get() {
    throw new Error('no');
  },
});

type Name = `${'' | 'i'}${'' | 'r' | 'h'}fft${'' | 2 | 'n'}`;
const refusals: readonly (readonly [string, Name, unknown, unknown, string])[] = [
  ['an axis out of range', 'fft', image, { axis: 3 }, 'invalid-argument'],
  ['a negative axis out of range', 'ifft', image, { axis: -4 }, 'invalid-argument'],
  ['a fractional axis', 'fft', image, { axis: 0.5 }, 'invalid-argument'],
  [
    'an axis of a single number',
    'fft',
    { data: Float32Array.of(1), shape: [], dtype: 'float32' },
    {},
    'invalid-argument',
  ],
  ['two axes of one', 'fft2', new Float32Array(4), {}, 'invalid-argument'],
  ['no axis at all', 'fft', image, { axis: null }, 'invalid-argument'],
  ['lengths with a hole', 'fftn', image, { s: [4, null], axes: [0, 1] }, 'invalid-size'],
  ['complex numbers for reals', 'rfft', bins, {}, 'wrong-array-type'],
  ['complex numbers for reals in two axes', 'rfft2', bins, {}, 'wrong-array-type'],
  ['complex numbers for reals in all axes', 'rfftn', bins, { axes: [1] }, 'wrong-array-type'],
  ['complex numbers for the half of a spectrum', 'ihfft', bins, {}, 'wrong-array-type'],
  ['reals without an axis', 'rfftn', image, { axes: [] }, 'invalid-argument'],
  ['bins without an axis', 'irfft2', bins, { axes: [] }, 'invalid-argument'],
  ['a single real', 'rfftn', dot, {}, 'invalid-argument'],
  ['a single bin without a length', 'irfft', [1], {}, 'invalid-size'],
  ['a single bin of a spectrum without a length', 'hfft', [1], {}, 'invalid-size'],
  ['single bins along the last axis', 'irfftn', [[1], [2]], {}, 'invalid-size'],
  ['no bins', 'irfft', [], {}, 'invalid-size'],
  ['no reals', 'ihfft', [[], []], {}, 'invalid-size'],
  ['reals of length 0', 'rfft', image, { n: 0 }, 'invalid-size'],
  ['bins for a negative length', 'irfft', bins, { n: -1 }, 'invalid-size'],
  ['an unknown norm of a spectrum', 'hfft', bins, { norm: '' }, 'invalid-argument'],
  ['s of a function for one axis', 'irfft', bins, { s: [8] }, 'unknown-field'],
  ['lengths of reals beyond any memory', 'irfftn', bins, { s: [2 ** 40, 2 ** 40], axes: [0, 1] }, 'invalid-size'],
  ['axes that are no list', 'fftn', image, { axes: 'last' }, 'invalid-argument'],
  ['a single axis out of range', 'fftn', image, { axes: 3 }, 'invalid-argument'],
  ['an axis of a Hermitian signal twice', 'hfftn', bins, { axes: [0, 1, 0] }, 'invalid-argument'],
  ['complex numbers for the half of a spectrum in two axes', 'ihfft2', bins, {}, 'wrong-array-type'],
  ['a Hermitian signal without an axis', 'hfftn', bins, { axes: [] }, 'invalid-argument'],
  ['n = 0', 'fft', image, { n: 0 }, 'invalid-size'],
  ['n = −1', 'ifft', image, { n: -1 }, 'invalid-size'],
  ['a fractional n', 'fft', image, { n: 2.5 }, 'invalid-size'],
  ['n that is no number', 'fft', image, { n: '8' }, 'invalid-size'],
  ['s with a zero', 'fft2', image, { s: [4, 0] }, 'invalid-size'],
  ['s for fewer axes than there are', 'fft2', image, { s: [4] }, 'invalid-argument'],
  ['s for more axes than there are', 'fftn', image, { s: [4, 4, 4, 4] }, 'invalid-argument'],
  ['s that does not match axes', 'fftn', image, { s: [4, 4], axes: [0] }, 'invalid-argument'],
  ['s that is no list', 'ifft2', image, { s: '4' }, 'invalid-argument'],
  ['a single length for two axes', 'ifft2', image, { s: 4 }, 'invalid-argument'],
  ['a single length that is none', 'fftn', image, { s: 0 }, 'invalid-size'],
  ['no numbers to transform', 'fft', new Float64Array(0), {}, 'invalid-size'],
  ['an empty axis', 'fftn', { data: new Float64Array(0), shape: [0, 4], dtype: 'float64' }, {}, 'invalid-size'],
  ['lengths beyond any memory', 'fftn', image, { s: [2 ** 40, 2 ** 40], axes: [0, 1] }, 'invalid-size'],
  ['lengths beyond this memory', 'fft', image, { n: 2 ** 42 }, 'out-of-memory'],
  ['an unknown norm', 'fft', image, { norm: 'unitary' }, 'invalid-argument'],
  ['an unknown norm of nothing', 'fftn', image, { norm: 'sideways', axes: [] }, 'invalid-argument'],
  ['an option of another function', 'fft', image, { axes: [0] }, 'unknown-field'],
  ['an unknown option', 'ifftn', image, { shape: [4] }, 'unknown-field'],
  ['options that are no object', 'fft', image, 16, 'invalid-argument'],
  ['no options', 'fft', image, null, 'invalid-argument'],
  ['a shape that does not hold the data', 'fft', { ...image, shape: [2, 3, 5] }, {}, 'wrong-length'],
  ['a real array as complex', 'fft', { ...image, dtype: 'complex128' }, {}, 'wrong-length'],
  ['a negative length', 'fft', { ...image, shape: [-2, -3, 4] }, {}, 'invalid-argument'],
  ['no shape', 'fft', { data: image.data, dtype: 'float64' }, {}, 'invalid-argument'],
  ['a shape with a hole', 'fft', { ...image, shape: new Array(3) }, {}, 'invalid-argument'],
  ['an unknown dtype', 'fft', { ...image, dtype: 'float16' }, {}, 'wrong-array-type'],
  ['no dtype', 'fft', { data: image.data, shape: [24] }, {}, 'wrong-array-type'],
  ['data of another dtype', 'fft', { ...image, dtype: 'float32' }, {}, 'wrong-array-type'],
  ['a list of texts', 'fft', ['1', '2'], {}, 'wrong-array-type'],
  ['a list with a hole', 'fft', new Array(4), {}, 'wrong-array-type'],
  ['a list of large integers', 'rfft', [1n, 2n], {}, 'wrong-array-type'],
  ['lists and numbers side by side', 'fft', [[1, 2], 3], {}, 'wrong-array-type'],
  ['numbers and lists side by side', 'fft', [1, [2, 3]], {}, 'wrong-array-type'],
  ['lists of several lengths', 'fft', [[1, 2], [3]], {}, 'wrong-length'],
  ['lists of several lengths in lists', 'fftn', [[[1], [2]], [[3]]], {}, 'wrong-length'],
  ['lists in too many lists', 'fft', nested(65), {}, 'wrong-array-type'],
  ['a list that holds itself', 'fft', cyclic, {}, 'wrong-array-type'],
  ['a list that is none any more', 'fft', revoked.proxy, {}, 'wrong-array-type'],
  ['a list that throws', 'fft', throwing, {}, 'wrong-array-type'],
  ['a list of typed arrays', 'fft', [new Float32Array(2)], {}, 'wrong-array-type'],
  ['a buffer', 'fft', new ArrayBuffer(32), {}, 'wrong-array-type'],
  ['a data view', 'fft', new DataView(new ArrayBuffer(32)), {}, 'wrong-array-type'],
  ['nothing', 'fft', undefined, {}, 'wrong-array-type'],
  ['a detached array', 'fft', detached, {}, 'detached-array'],
  ['a detached array with a shape', 'fftn', { data: detached, shape: [2, 4], dtype: 'float32' }, {}, 'detached-array'],
];

function failure(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a call is refused for', () => {
  it.each(refusals)('%s', async (_, name, input, options, code) => {
    const call: Promise<unknown> = later[name](input as ArrayInput, options as object);
    const rejected = await call.then(
      () => undefined,
      (error) => error,
    );
    const thrown = failure(() => atOnce[name](input as ArrayInput, options as object));
    for (const error of [rejected, thrown]) {
      expect(error).toBeInstanceOf(FftError);
      expect(error).toMatchObject({ code, problems: [{ code }] });
    }
    // One face has the option `device` in addition.
    expect((rejected as Error).message.replace(', device.', '.')).toBe((thrown as Error).message);
  });

  it('a device that is none, that is closed, or that the synchronous face cannot wait for', async () => {
    await expect(fft(image, { device: {} as never })).rejects.toMatchObject({ code: 'invalid-argument' });
    const device = await openDevice('cpu', { threads: 1 });
    await fft(image, { device });
    device.close();
    for (const axis of [0, -1])
      await expect(fft(image, { device, axis })).rejects.toMatchObject({ code: 'device-closed' });
    expect(failure(() => sync.fft(image, { device } as object))).toMatchObject({ code: 'unknown-field' });
  });
});

describe('the helpers refuse', () => {
  it.each([
    ['no bins', () => fftfreq(0), 'invalid-size'],
    ['half a bin', () => fftfreq(1.5), 'invalid-size'],
    ['no bins of reals', () => rfftfreq(0), 'invalid-size'],
    ['fewer than no bins of reals', () => rfftfreq(-3), 'invalid-size'],
    ['no spacing of reals', () => rfftfreq(8, { d: 0 }), 'invalid-argument'],
    ['no spacing', () => fftfreq(8, 0), 'invalid-argument'],
    ['an endless spacing', () => fftfreq(8, { d: Number.POSITIVE_INFINITY }), 'invalid-argument'],
    ['a spacing that is no number', () => fftfreq(8, '1' as never), 'invalid-argument'],
    ['null for a spacing', () => fftfreq(8, null as never), 'invalid-argument'],
    ['another option', () => fftfreq(8, { n: 1 } as never), 'unknown-field'],
    ['an axis out of range', () => fftshift(image, 3), 'invalid-argument'],
    ['axes that are none', () => fftshift(image, 'last' as never), 'invalid-argument'],
    ['an unknown option of a shift', () => fftshift(image, { axis: 1 } as never), 'unknown-field'],
    ['no array', () => fftshift('abc' as never), 'wrong-array-type'],
    ['a target of 0', () => nextFastLength(0), 'invalid-size'],
    ['a fractional target', () => nextFastLength(10.5), 'invalid-size'],
    ['a target beyond exact integers', () => nextFastLength(2 ** 53), 'invalid-size'],
    ['an answer that is none', () => nextFastLength(8, { real: 'yes' as never }), 'invalid-argument'],
    ['real as an argument', () => nextFastLength(8, true as never), 'invalid-argument'],
    ['an option that there is not', () => nextFastLength(8, { even: true } as never), 'unknown-field'],
    [
      'a target after the last such length of real data',
      () => nextFastLength(2 ** 53 - 1, { real: true }),
      'invalid-size',
    ],
    ['a target after the last such length', () => nextFastLength(2 ** 53 - 1), 'invalid-size'],
  ])('%s', (_, run, code) => {
    expect(failure(run)).toMatchObject({ name: 'FftError', code });
  });
});
