/** Asks SciPy for results, in one run of Python. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NumpyArray, readNpy, writeNpy } from '../../src/numpy/index.ts';
import { runProgram } from './programs.ts';

/** A call of a function of `scipy.signal` or `scipy.fft`. */
export interface ScipyCall {
  readonly name: string;
  readonly arrays: readonly NumpyArray[];
  /** What Python takes by name; an option that is `{ array: 1 }` is the second of the arrays, which no argument is then. */
  readonly options: Readonly<Record<string, unknown>>;
}

const SCRIPT = `
import json, sys
import numpy, scipy.fft, scipy.signal
folder = sys.argv[1]
for k, (name, count, options) in enumerate(json.load(open(folder + '/calls.json'))):
    arrays = [numpy.load(f'{folder}/in{k}-{n}.npy') for n in range(count)]
    named = {key: value['array'] for key, value in options.items() if isinstance(value, dict)}
    options.update({key: arrays[n] for key, n in named.items()})
    arguments = [array for n, array in enumerate(arrays) if n not in named.values()]
    function = getattr(scipy.signal, name, None) or getattr(scipy.fft, name, None)
    if function is None:
        continue
    if 'wavelet' in options:
        options['wavelet'] = getattr(scipy.signal, options['wavelet'])
    results = function(*arguments, **options)
    results = results if isinstance(results, tuple) else (results,)
    for n, result in enumerate(results):
        if isinstance(result, dict):
            result = numpy.concatenate([result[key] for key in sorted(result)] + [[]])
        result = numpy.ascontiguousarray(result)
        numpy.save(f'{folder}/out{k}-{n}.npy', result.astype(float) if result.dtype.kind == 'i' else result)
`;

/**
 * @param python that has SciPy
 * @param results how many arrays a call returns: each, or each of them
 * @returns for each call its results (a dictionary as one array, the values of its keys in their order); none of a function that this SciPy does not have
 */
export function askScipy(
  python: string,
  calls: readonly ScipyCall[],
  results: number | readonly number[],
): NumpyArray[][] {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-scipy-'));
  try {
    calls.forEach(({ arrays }, k) => {
      for (const [n, array] of arrays.entries()) writeFileSync(join(folder, `in${k}-${n}.npy`), writeNpy(array));
    });
    const asked = calls.map(({ name, arrays, options }) => [name, arrays.length, options]);
    writeFileSync(join(folder, 'calls.json'), JSON.stringify(asked));
    runProgram(python, ['-W', 'ignore', '-c', SCRIPT, folder]);
    return calls.map((_, k) => {
      const names = Array.from({ length: typeof results === 'number' ? results : results[k]! }, (_, n) =>
        join(folder, `out${k}-${n}.npy`),
      );
      return existsSync(names[0]!) ? names.map((name) => readNpy(readFileSync(name))) : [];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
