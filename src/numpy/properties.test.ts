/** Random calls against the double-double reference and, where they are installed, NumPy and SciPy. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelArray, numpyModel } from '../../test/reference/numpy.ts';
import { hasLargePrimes, relativeError, tolerance } from '../../test/support/accuracy.ts';
import { isScipys, modelled, type NumpyCall, numpyCalls, repeats, spelled } from '../../test/support/numpy-calls.ts';
import { missing, repeated } from '../../test/support/optional.ts';
import { findPython, runProgram } from '../../test/support/programs.ts';
import { randomFor, seedFor, uniform } from '../../test/support/random.ts';
import { FftError } from '../index.ts';
import * as numpy from './index.ts';
import * as sync from './sync.ts';

const seed = seedFor('numpy') | 0;
const calls = numpyCalls(randomFor('numpy'));

type Face = (x: unknown, options: unknown) => numpy.NumpyArray | Promise<numpy.NumpyArray>;

/** Both faces by name; functions are looked up in them. */
const later: Record<string, unknown> = { ...numpy };
const atOnce: Record<string, unknown> = { ...sync };

/** The result of a call; undefined if it is refused. */
async function outcome(face: Record<string, unknown>, call: NumpyCall): Promise<numpy.NumpyArray | undefined> {
  try {
    return await (face[call.name] as Face)(spelled(call), call.options);
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    return undefined;
  }
}

function model(call: NumpyCall): ModelArray | undefined {
  try {
    return numpyModel(call.name, modelled(call), call.options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** The largest difference that is allowed between two results. */
function allowed(call: NumpyCall, { shape, dtype }: numpy.NumpyArray): number {
  const { s, n } = call.options;
  const lengths = [...call.array.shape, ...shape, ...(s ?? []), n ?? 1].filter((length) => length > 0);
  const single = dtype === 'float32' || dtype === 'complex64';
  const points = lengths.reduce((a, b) => a * b, 1);
  // The part that remains after cropping a transform may be much smaller than the part that was cropped.
  const cropped = repeats(call) && s ? 100 : 1;
  return 2 * cropped * tolerance(single ? 'single' : 'double', points, hasLargePrimes(lengths) ? 5 : 1);
}

const partsOf = ({ complex }: ModelArray, words: Float64Array) =>
  complex ? words : words.filter((_, k) => k % 2 === 0);

function expectModelled(call: NumpyCall, result: numpy.NumpyArray | undefined, wanted: ModelArray | undefined): void {
  expect(result !== undefined, 'whether it can be done').toBe(wanted !== undefined);
  if (!result || !wanted) return;
  const single = call.array.data instanceof Float32Array;
  expect(result.shape).toEqual(wanted.shape);
  expect(result.dtype).toBe(`${wanted.complex ? 'complex' : 'float'}${(single ? 32 : 64) * (wanted.complex ? 2 : 1)}`);
  expect(result.data).toBeInstanceOf(single ? Float32Array : Float64Array);
  expect(result.data.length).toBe(partsOf(wanted, wanted.hi).length);
  if (result.data.length === 0) return;
  const error = relativeError(result.data, partsOf(wanted, wanted.hi), partsOf(wanted, wanted.lo));
  expect(error).toBeLessThanOrEqual(allowed(call, result));
}

describe('random calls', () => {
  it.skipIf(repeated)('agree with the reference on both faces, and leave their input alone', async () => {
    let done = 0;
    await fc.assert(
      fc.asyncProperty(calls, async (call) => {
        const before = call.array.data.slice();
        const wanted = model(call);
        if (wanted) done++;
        const result = await outcome(later, call);
        expectModelled(call, result, wanted);
        expectModelled(call, await outcome(atOnce, call), wanted);
        expect(call.array.data).toEqual(before);
        expect(result?.data.buffer).not.toBe(call.array.data.buffer);
      }),
      { seed, numRuns: 150 },
    );
    // Only the smaller part of the calls may be refused.
    expect(done).toBeGreaterThan(60);
  });

  it('of Hermitian transforms agree along any axes: bins are conjugated once, however many axes there are', async () => {
    const random = randomFor('numpy, Hermitian');
    const norms = ['backward', 'ortho', 'forward'] as const;
    for (const [k, axes] of [[0, 1, 2], [2, 0], [1, 2, 0], [-1, -3], [1]].entries()) {
      for (const s of [undefined, axes.map((_, at) => [7, 4, 6][at]!), axes.map(() => 3)]) {
        for (const name of ['hfftn', 'ihfftn', ...(axes.length === 2 ? (['hfft2', 'ihfft2'] as const) : [])] as const) {
          const data = uniform(random, name.startsWith('i') ? 120 : 240);
          const dtype = name.startsWith('i') ? 'float64' : 'complex128';
          const options = { axes, norm: norms[k % 3], ...(s && { s }) };
          const call: NumpyCall = { name, array: { data, shape: [4, 5, 6], dtype }, spelling: 'array', options };
          const wanted = model(call);
          expect(wanted).toBeDefined();
          expectModelled(call, await outcome(later, call), wanted);
          // The second call comes from the cache.
          for (let turn = 0; turn < 2; turn++) expectModelled(call, await outcome(atOnce, call), wanted);
        }
      }
    }
  });

  it('shifts move bin 0 to the middle and back, one axis at a time or all at once', () => {
    fc.assert(
      fc.property(calls, ({ array, options }) => {
        const rank = array.shape.length;
        const axes = (options.axes ?? []).filter((axis) => axis >= -rank && axis < rank);
        const shifted = numpy.fftshift(array, axes);
        expect(numpy.ifftshift(shifted, axes)).toEqual(array);
        expect(axes.reduce((partly, axis) => numpy.fftshift(partly, axis), array)).toEqual(shifted);
      }),
      { seed, numRuns: 100 },
    );
  });
});

/** Whether the usual length of the result would be 0. */
function isOfOneBin({ name, array: { shape }, options: { s, axes } }: NumpyCall): boolean {
  return /^hfft[2n]$/.test(name) && !s && shape.at(axes?.at(-1) ?? -1) === 1;
}

/** Runs calls in both libraries; `results` has each library's outcome of each call. */
const SCRIPT = `
import json, sys, warnings
import numpy, numpy.fft, scipy.fft
folder = sys.argv[1]
warnings.simplefilter('ignore')
libraries = {'numpy': numpy.fft, 'scipy': scipy.fft}
results = []
for k, (name, spelling, options) in enumerate(json.load(open(folder + '/calls.json'))):
    x = numpy.load(f'{folder}/in{k}.npy')
    if spelling == 'list': x = x.tolist()
    elif spelling != 'array': x = x.astype(spelling)
    said = {}
    for label, library in libraries.items():
        try: y = getattr(library, name)(x, **options)
        except Exception as error: said[label] = None
        else:
            file = f'{folder}/{label}{k}.npy'
            numpy.save(file, numpy.ascontiguousarray(y).reshape(numpy.shape(y)))
            said[label] = file
    results.append(said)
frequencies = [numpy.fft.rfftfreq(n, d).tolist() for n in range(1, 30) for d in (1, 0.1, 3)]
print(json.dumps({'version': numpy.__version__, 'results': results, 'frequencies': frequencies}))
`;

interface Said {
  readonly version: string;
  readonly results: readonly { readonly numpy: string | null; readonly scipy: string | null }[];
  readonly frequencies: readonly number[][];
}

function expectSame(call: NumpyCall, result: numpy.NumpyArray, file: string): void {
  const wanted = numpy.readNpy(readFileSync(file));
  expect({ shape: result.shape, dtype: result.dtype }).toEqual({ shape: wanted.shape, dtype: wanted.dtype });
  if (result.data.length === 0) return;
  // The library's result has an error, too.
  expect(relativeError(result.data, wanted.data)).toBeLessThanOrEqual(2 * allowed(call, result));
}

describe('NumPy and SciPy', () => {
  const python = findPython('numpy, scipy.fft');
  missing('scipy', python ? undefined : 'no python3 on the PATH has NumPy and SciPy');
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-numpy-'));

  it.runIf(python)('can do the same calls, and get the same', async () => {
    try {
      const sample = fc.sample(calls, { seed, numRuns: 200 });
      const shifts = sample
        .filter(({ spelling, options }) => spelling === 'array' && options.axes)
        .map((call, k) => ({ ...call, name: k % 2 ? 'fftshift' : 'ifftshift', options: { axes: call.options.axes } }));
      const all = [...sample, ...shifts] as NumpyCall[];
      all.forEach(({ array }, k) => writeFileSync(join(folder, `in${k}.npy`), numpy.writeNpy(array)));
      const told = all.map(({ name, spelling, options }) => [name, spelling, options]);
      writeFileSync(join(folder, 'calls.json'), JSON.stringify(told));
      const said = JSON.parse(runProgram(python!, ['-c', SCRIPT, folder])) as Said;
      // NumPy computes in single precision from version 2 on.
      const isNew = Number.parseInt(said.version, 10) >= 2;
      for (const [k, call] of all.entries()) {
        const theirs = said.results[k]!;
        const result = await outcome(later, call);
        const what = JSON.stringify({ name: call.name, shape: call.array.shape, options: call.options });
        // SciPy makes one point of one bin along several axes; for hfft it wants the length to be given, as NumPy does for irfftn.
        const wanted = isOfOneBin(call) ? null : isScipys(call) ? theirs.scipy : theirs.numpy;
        expect(result !== undefined, `whether ${what} can be done`).toBe(wanted !== null);
        if (!result) continue;
        // NumPy 2.4.6 reads uninitialised memory in irfft of an empty axis; SciPy and this library pad with zeros.
        const counts = call.array.data.length > 0 || !/^i?r|^hfft/.test(call.name);
        const numpyCounts = counts && (isNew || call.array.data instanceof Float64Array);
        if (theirs.numpy !== null && numpyCounts) expectSame(call, result, theirs.numpy);
        // SciPy refuses some calls that NumPy allows, such as repeated axes.
        if (theirs.scipy !== null) expectSame(call, result, theirs.scipy);
      }
      const frequencies = said.frequencies.map((_, k) => numpy.rfftfreq(1 + Math.floor(k / 3), [1, 0.1, 3][k % 3]));
      expect(frequencies.map(({ data }) => [...data])).toEqual(said.frequencies);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
