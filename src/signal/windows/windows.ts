/**
 * Window functions, by SciPy's names; those of several words are written as is usual here (`generalGaussian`). DPSS windows
 * are not there, nor are taylor, lanczos and kaiser_bessel_derived.
 *
 * The periodic form is the default, as that of `scipy.signal.get_window`: the first `size` of the `size` + 1 points of the
 * symmetric form, so that w[k] = w[size − k] and k = 0 … size − 1 is one full period. It is the form for spectral analysis
 * (the symmetric one is for designing filters), and hann and hamming at half overlap add up to a constant.
 */

import { readOptions } from '../../engine/arguments/options.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { NewFloat64Array } from '../../problem/index.ts';
import { meantWord } from '../../problem/input/meant.ts';
import { snapshot } from '../../problem/input/snapshot.ts';
import {
  type ParametersOf,
  type WindowKind,
  type WindowName,
  type WindowParameter,
  windowKinds,
  windowNames,
} from './window-kinds.ts';
import type { Shape } from './window-shapes.ts';

/** Options of a window: its parameters, and `sym`. */
export type WindowOptions<Name extends WindowName = WindowName> = Name extends WindowName
  ? ParametersOf<Name> & {
      /** True for the symmetric form, whose last point is like its first; default false, the periodic one. */
      readonly sym?: boolean | undefined;
    }
  : never;

/** Options may be left out only for a window without required parameters. */
export type WindowArguments<Name extends WindowName> =
  Record<never, never> extends WindowOptions<Name> ? [options?: WindowOptions<Name>] : [options: WindowOptions<Name>];

/**
 * The values of a window. That of a single value is [1] by every name, as SciPy has it: a period of one would be its
 * edge alone, which for most is 0.
 *
 * @param size Number of values, at least 1.
 * @param options its parameters (`{ beta: 8 }` for kaiser), and `sym: true` for the symmetric form.
 * @returns `size` values, of which the largest is 1 or close to it
 * @throws FftError `invalid-argument` for an unknown name, a size that is not a positive integer, or a parameter that is
 *   missing or out of range; `unknown-field` for options that the window does not have; `out-of-memory`
 */
export function windowFunction<Name extends WindowName>(
  name: Name,
  size: number,
  ...[options]: WindowArguments<Name>
): NewFloat64Array {
  if (typeof name !== 'string' || !Object.hasOwn(windowKinds, name)) {
    throw invalidOption('window', `Unknown window ${show(name)}; known are ${windowNames.join(', ')}.${hintOf(name)}`);
  }
  const { sym, shape } = readWindow(name, options === undefined ? {} : options);
  if (!Number.isSafeInteger(size) || size < 1) {
    throw invalidOption('size', `A window's size is a positive integer; ${show(size)} was given.`);
  }
  const values = floatZeros(size, false) as NewFloat64Array;
  if (size === 1) return values.fill(1);
  const valueAt = shape(sym ? size : size + 1);
  for (let n = 0; n < size; n++) values[n] = valueAt(n);
  return values;
}

/** A hint at the intended window, for an unknown name. SciPy takes a tuple of a name and its parameters. */
function hintOf(name: unknown): string {
  const own = snapshot(name, 'window', { code: 'invalid-argument', depth: 1 });
  const [first, ...rest] = Array.isArray(own) ? own : [own];
  const meant = meantWord(first, windowNames);
  if (meant === undefined) return '';
  const parameters = Object.keys(windowKinds[meant].parameters);
  if (rest.length === 0 || parameters.length === 0) return ` Did you mean '${meant}'?`;
  const given = parameters.slice(0, rest.length).map((parameter, k) => `${parameter}: ${show(rest[k])}`);
  return ` Did you mean '${meant}' with the options { ${given.join(', ')} }?`;
}

/** Whether all values of a window are 1 at any size, so that multiplying by it can be skipped. */
export function isFlat(name: WindowName): boolean {
  return name === 'boxcar' || name === 'rectangular';
}

function readWindow(name: WindowName, given: object): { sym: boolean; shape: (m: number) => Shape } {
  const { parameters, shape } = windowKinds[name] as WindowKind<Record<string, unknown>>;
  const works = ['sym', ...Object.keys(parameters)];
  const { sym = false, ...options } = readOptions(given as Record<string, unknown>, { works }, `the window ${name}`, 2);
  if (typeof sym !== 'boolean') throw invalidOption('sym', `sym is ${show(sym)}; it takes true or false.`);
  for (const [key, parameter] of Object.entries<WindowParameter>(parameters)) {
    const value = options[key];
    if (parameter.test(value) || (parameter.optional && value === undefined)) continue;
    throw invalidOption(key, `${key} of the window ${name} is ${show(value)}; it takes ${parameter.accepts}.`);
  }
  if (sym && options.center !== undefined) {
    throw invalidOption(
      'center',
      `center is ${show(options.center)}; the symmetric form has its center in the middle.`,
    );
  }
  return { sym, shape: shape(options) };
}

function invalidOption(path: string, message: string): FftError {
  return new FftError('invalid-argument', message, { path });
}
