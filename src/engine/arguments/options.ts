/**
 * Objects with named options, checked name by name: a misspelt option must not be ignored in silence.
 */
import type { Backend } from '../../devices/device.ts';
import { excerpt, FftError, type FftProblem, show, throwIfAny } from '../../problem/errors.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import { meantOption } from '../../problem/input/meant.ts';
import { isRecord, snapshot } from '../../problem/input/snapshot.ts';

/** The names that an object may have, and names that belong to the interface but that this release does not support yet. */
export interface KnownOptions {
  readonly works: readonly string[];
  readonly planned?: readonly string[];
}

/** The most unknown options that are reported one by one. */
const UNKNOWN_REPORTED = 16;

/**
 * A copy of the options object: its own fields, each read once. The values of the fields (arrays, memory, devices) are not
 * copied.
 * @param what the object is, in messages: `enqueue`, `tuning` …
 * @param depth levels that are copied: 2 if fields hold lists.
 * @throws FftError `invalid-argument` when it is no plain object or cannot be read, `unknown-field`, `unsupported-feature`
 */
export function readOptions<T extends object>(
  options: T,
  { works, planned = [] }: KnownOptions,
  what: string,
  depth = 1,
): T {
  const own = snapshot(options, `The object of options of ${what}`, { code: 'invalid-argument', depth, keep: true });
  if (!isRecord(own)) {
    const given = arrayClass(own) === undefined ? show(own) : `a ${arrayClass(own)}`;
    const message = `The options of ${what} are ${given}; a plain object is needed${example(own, works)}.`;
    throw new FftError('invalid-argument', message);
  }
  const unknown = Object.keys(own).filter((name) => own[name] !== undefined && !works.includes(name));
  const accepted = works.length > 0 ? `${what} takes ${works.join(', ')}` : `there are no options of ${what}`;
  throwIfAny(
    unknown.slice(0, UNKNOWN_REPORTED).map((name): FftProblem => {
      const path = `${what}.${excerpt(name)}`;
      if (!planned.includes(name)) {
        const meant = meantOption(name, works);
        const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
        return { code: 'unknown-field', path, message: `${path} is not known; ${accepted}.${hint}` };
      }
      return { code: 'unsupported-feature', path, message: `${path} is not supported yet; ${accepted}.` };
    }),
  );
  return own as T;
}

/**
 * Names of options that a number, a text … may have been meant for when it is given in place of an options object, the likeliest first.
 * The message suggests the first name that the function has.
 */
const MEANT = {
  number: [
    'type',
    'n',
    's',
    'm',
    'fs',
    'sampleRate',
    'size',
    'threads',
    'd',
    'axis',
    'beta',
    'std',
    'alpha',
    'p',
    'tau',
    'at',
    'offset',
    'initial',
  ],
  string: ['mode', 'norm', 'window', 'precision', 'from'],
  boolean: ['real', 'sym', 'compressed', 'endpoint'],
  list: ['s', 'axes', 'a'],
  array: ['window'],
  device: ['device'],
} as const;

/** The value written as an option, for messages, after a comma: other libraries take the most usual options by position. */
function example(value: unknown, works: readonly string[]): string {
  const kind = isDevice(value) ? 'device' : arrayClass(value) ? 'array' : Array.isArray(value) ? 'list' : typeof value;
  if (!Object.hasOwn(MEANT, kind)) return '';
  const name = MEANT[kind as keyof typeof MEANT].find((option) => works.includes(option));
  if (name === undefined) return '';
  return kind === 'device' || kind === 'array' ? `, such as { ${name} }` : `, such as { ${name}: ${show(value)} }`;
}

/** All devices made so far, with their backends. `isDevice` asks this map, so that it need not load the class. */
const devices = new WeakMap<object, Backend>();

/** Notes a device that was made. */
export function noteDevice(device: object, backend: Backend): void {
  devices.set(device, backend);
}

/** The backend of a device, for rooms that move the device's memory themselves. */
export function backendOf(device: object): Backend {
  return devices.get(device)!;
}

export function isDevice(value: unknown): boolean {
  return devices.has(value as object);
}
