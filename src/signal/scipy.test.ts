/** Windows and chirp z-transforms beside SciPy, where there is one: random sizes, parameters and arrays. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relativeError } from '../../test/support/accuracy.ts';
import { missing } from '../../test/support/optional.ts';
import { findPython, runProgram } from '../../test/support/programs.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { type NumpyArray, readNpy, writeNpy } from '../numpy/index.ts';
import { czt, cztPoints, windowFunction, windowNames, zoomFft } from './index.ts';

const random = randomFor('src/signal/scipy');

const SCRIPT = `
import json, sys
import numpy, scipy.signal
folder = sys.argv[1]
def number(x):
    return complex(x['re'], x['im']) if isinstance(x, dict) else x
for k, (name, given, options) in enumerate(json.load(open(folder + '/cases.json'))):
    options = {key: number(value) for key, value in options.items()}
    function = getattr(scipy.signal.windows, name, None) or getattr(scipy.signal, name)
    given = [numpy.load(f'{folder}/in{k}.npy')] + given if name in ('czt', 'zoom_fft') else given
    result = numpy.ascontiguousarray(function(*given, **options))
    numpy.save(f'{folder}/out{k}.npy', result)
`;

interface Case {
  /** What SciPy calls it. */
  readonly name: string;
  readonly x?: NumpyArray;
  readonly given: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly ours: () => Promise<NumpyArray> | NumpyArray;
  /** Of the relative error. */
  readonly most: number;
}

const between = (low: number, high: number) => low + (high - low) * random.unit();
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function windowCase(name: (typeof windowNames)[number]): Case {
  const parameters: Readonly<Record<string, () => object>> = {
    kaiser: () => ({ beta: between(0, 30) }),
    tukey: () => ({ alpha: between(-0.2, 1.2) }),
    gaussian: () => ({ std: between(1, 20) }),
    generalGaussian: () => ({ p: between(0.4, 3), sig: between(1, 20) }),
    generalCosine: () => ({ a: [0.5, 0.4, 0.1 * random.unit()] }),
    generalHamming: () => ({ alpha: random.unit() }),
    exponential: () => ({ tau: between(1, 20) }),
    chebwin: () => ({ at: between(50, 120) }),
  };
  const options = { ...parameters[name]?.(), sym: random.unit() < 0.5 };
  const size = random.integer(1, 300);
  return {
    name: name === 'rectangular' ? 'boxcar' : snakeCase(name),
    given: [size],
    options,
    ours: () => ({ data: windowFunction(name as 'hann', size, options), shape: [size], dtype: 'float64' }),
    // SciPy sums chebwin by a transform, and its argument of Bessel's function is a difference of near numbers.
    most: 1e-11,
  };
}

/** An array of three axes, and one of them. */
function operand(): { x: NumpyArray; axis: number; n: number } {
  const shape = Array.from({ length: 3 }, () => random.integer(1, 12));
  const axis = random.integer(-3, 2);
  shape[(axis + 3) % 3] = random.integer(1, 100);
  const dtype = random.pick(['float32', 'float64', 'complex64', 'complex128'] as const);
  const single = dtype === 'float32' || dtype === 'complex64';
  const count = shape.reduce((a, b) => a * b, dtype.startsWith('complex') ? 2 : 1);
  const values = uniform(random, count, single ? 'single' : 'double');
  return {
    x: { data: single ? Float32Array.from(values) : values, shape, dtype },
    axis,
    n: shape[(axis + 3) % 3]!,
  };
}

/** SciPy computes powers of w in doubles: of |w| = 1 these are wrong by some 10^−16 for each step. */
const near = (dtype: string) => (dtype === 'float32' || dtype === 'complex64' ? 1e-5 : 1e-10);

function cztCase(): Case {
  const { x, axis } = operand();
  const angle = between(-3, 3);
  const size = between(0.999, 1.001);
  const w = { re: size * Math.cos(angle), im: size * Math.sin(angle) };
  const all = { m: random.integer(1, 100), w, a: { re: between(0.98, 1.02), im: between(-0.1, 0.1) } };
  const kept = Object.fromEntries(Object.entries(all).filter(() => random.unit() < 0.6));
  // Where a factor is not near 1, results of different size are compared as one.
  const most = 'w' in kept ? 1e3 * near(x.dtype) : near(x.dtype);
  return { name: 'czt', x, given: [], options: { ...kept, axis }, ours: () => czt(x, { ...kept, axis }), most };
}

function zoomCase(): Case {
  const { x, axis } = operand();
  const fs = random.pick([undefined, 100, 44100]);
  const rate = fs ?? 2;
  const from = between(-rate / 2, rate / 2);
  const fn = random.unit() < 0.3 ? between(0, rate) : ([from, between(from, rate)] as const);
  const options = {
    ...(fs === undefined ? {} : { fs }),
    ...(random.unit() < 0.5 ? {} : { m: random.integer(2, 100), endpoint: random.unit() < 0.5 }),
    axis,
  };
  return { name: 'zoom_fft', x, given: [fn], options, ours: () => zoomFft(x, fn, options), most: near(x.dtype) };
}

function pointsCase(): Case {
  const m = random.integer(1, 50);
  const options = random.pick([{}, { w: { re: 0.6, im: -0.81 } }, { w: 0.99, a: { re: 0, im: 2 } }]);
  return { name: 'czt_points', given: [m], options, ours: () => cztPoints(m, options), most: 1e-12 };
}

describe('SciPy', () => {
  const python = findPython('scipy.signal');
  missing('scipy', python ? undefined : 'no python3 on the PATH has it');
  it.runIf(python)(
    'computes the same',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'omnifft-signal-'));
      try {
        const several = (count: number, make: () => Case) => Array.from({ length: count }, make);
        const cases = [
          ...windowNames.flatMap((name) => several(6, () => windowCase(name))),
          ...several(40, cztCase),
          ...several(40, zoomCase),
          ...several(10, pointsCase),
        ];
        cases.forEach(({ x }, k) => {
          if (x) writeFileSync(join(folder, `in${k}.npy`), writeNpy(x));
        });
        const requested = cases.map(({ name, given, options }) => [name, given, options]);
        writeFileSync(join(folder, 'cases.json'), JSON.stringify(requested));
        runProgram(python!, ['-W', 'ignore', '-c', SCRIPT, folder]);
        for (const [k, { name, ours, most, x, ...rest }] of cases.entries()) {
          const wanted = readNpy(readFileSync(join(folder, `out${k}.npy`)));
          const found = await ours();
          const about = JSON.stringify({ name, ...rest, of: x?.shape, dtype: x?.dtype });
          expect(found.shape, about).toEqual(wanted.shape);
          expect(relativeError(found.data, wanted.data), about).toBeLessThan(most);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    60_000,
  );
});
