/**
 * The one error type of the library. Every failure that a caller can meet is an `FftError` with a code from the closed
 * list below; docs/errors.md says for each code when it is thrown and what to do about it.
 */

/** Every code an `FftError` can carry, in the order in which docs/errors.md explains them. */
export const fftErrorCodes = [
  // The problem.
  'invalid-size',
  'invalid-batches',
  'invalid-strides',
  'overlapping-strides',
  'invalid-offset',
  'invalid-field',
  'unknown-field',
  'invalid-descriptor',
  'invalid-program',
  'unsupported-length',
  'unsupported-feature',
  'unsupported-precision',
  // The arguments of a call.
  'invalid-argument',
  'wrong-array-type',
  'wrong-length',
  'missing-buffer',
  'buffer-too-small',
  'misaligned-buffer',
  'buffer-usage',
  'foreign-buffer',
  'aliased-buffers',
  'wrong-kernel',
  'detached-array',
  'shared-array',
  'direction-not-planned',
  'invalid-encoder',
  'destroyed',
  'invalid-saved-plan',
  // The device.
  'unknown-device',
  'device-unavailable',
  'device-limit',
  'device-lost',
  'device-closed',
  'out-of-memory',
  'compile-failed',
  'launch-failed',
  'not-loaded',
  // Many ranks.
  'world-unavailable',
  'launcher-mismatch',
  'mismatched-plans',
  'overlapping-bricks',
  'incomplete-bricks',
  'too-few-points',
  'rank-failed',
  'rank-lost',
  'world-broken',
  // Files and the command line.
  'invalid-file',
  'unreadable-input',
  'unwritable-output',
  'invalid-usage',
  'missing-package',
  // Faults of the library itself.
  'internal-error',
] as const;

/** Stable, kebab-case name of a kind of failure. */
export type FftErrorCode = (typeof fftErrorCodes)[number];

/** One thing that is wrong with what was asked for. */
export interface FftProblem {
  readonly code: FftErrorCode;
  /** The given value and the values that would be accepted, in one sentence or two. */
  readonly message: string;
  /** Where: a field path such as `size[1]` or `strides.output`; empty when it is not about one place. */
  readonly path: string;
}

/** Extra facts for an `FftError`. */
export interface FftErrorOptions {
  /** Everything that was found; the error's own code and message when left out. */
  readonly problems?: readonly FftProblem[] | undefined;
  /** Path of the only problem, used when `problems` is left out. */
  readonly path?: string | undefined;
  /** The lower-level error that led to this one. */
  readonly cause?: unknown;
}

/**
 * A failure of omnifft.
 *
 * `code` is stable and meant for programs, `message` is one line meant for people, `problems` lists all that validation
 * found (one entry where there was only one thing to find).
 */
export class FftError extends Error {
  override readonly name = 'FftError';
  readonly code: FftErrorCode;
  readonly problems: readonly FftProblem[];

  constructor(code: FftErrorCode, message: string, options: FftErrorOptions = {}) {
    const text = cut(message, MOST_CHARACTERS);
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    const problems = options.problems ?? [{ code, message: text, path: options.path ?? '' }];
    this.problems = Object.freeze(problems.map((problem) => Object.freeze({ ...problem })));
  }
}

/** @throws FftError for all that was found, where there is any: the code is that of the first, the message names them all */
export function throwIfAny(problems: readonly FftProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const told: string[] = [];
  let room = MOST_CHARACTERS - MORE_CHARACTERS;
  for (const { message } of problems) {
    room -= message.length + 1;
    if (room < 0 && told.length > 0) break;
    told.push(message);
  }
  const untold = problems.length - told.length;
  if (untold > 0) told.push(`There are ${untold} more problems.`);
  throw new FftError(first.code, told.join(' '), { problems });
}

/** The most characters of a message, and of one quotation in it. */
const MOST_CHARACTERS = 1900;
const MOST_QUOTED = 200;
/** Characters reserved for the remark that more problems were found. */
const MORE_CHARACTERS = 50;
/** The most characters of a string quoted inside a list or object. */
const STRING_CHARACTERS = 40;
/** Longer bigints are not written out, because that takes long. */
const BIGINT_BITS = 128;

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Foreign text as a message can quote it: on one line and of limited length. */
export function excerpt(text: string, most = MOST_QUOTED): string {
  return cut(onOneLine(cut(text, most)), most);
}

/** The first line of a foreign error's message, or of any other thrown value. */
export function reasonOf(cause: unknown): string {
  try {
    const message = typeof cause === 'object' && cause !== null ? (cause as { message?: unknown }).message : cause;
    return typeof message === 'string' ? excerpt(message.trim().split('\n', 1)[0]!) : show(cause);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = 'something that cannot be read';

/** Replaces an object whose contents do not matter; keeps only its name for messages. */
export class Opaque {
  readonly text: string;

  constructor(value: unknown) {
    this.text = show(value);
  }
}

/** A value as a message can show it: short, on one line, numbers and strings as they are written in code. */
export function show(value: unknown): string {
  try {
    return cut(shown(value, 2), MOST_QUOTED);
  } catch {
    // Proxies, getters.
    return UNREADABLE;
  }
}

/** @param depth how many lists inside one another are written out: one may hold itself. */
function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${excerpt(value, STRING_CHARACTERS)}'`;
  if (typeof value === 'bigint') {
    return BigInt.asIntN(BIGINT_BITS, value) === value ? `the bigint ${value}n` : 'a bigint of many digits';
  }
  if (typeof value === 'symbol') return `a symbol (${excerpt(value.description ?? '', STRING_CHARACTERS)})`;
  if (Array.isArray(value)) {
    if (value.length > 8 || depth === 0) return `a list of ${value.length} values`;
    return `[${value.map((entry) => shown(entry, depth - 1)).join(', ')}]`;
  }
  if (typeof value === 'function') return 'a function';
  if (value instanceof Opaque) return value.text;
  if (typeof value === 'object' && value !== null) return `an object (${className(value) ?? 'of no class'})`;
  return String(value);
}

/** A text with its control characters escaped as in JSON, so that it neither breaks the line nor steers a terminal. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const known = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
    return known ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The type of a value for messages: the name of its class, or `null`, `undefined`, `number` … */
export function typeName(value: unknown): string {
  try {
    return value === null || value === undefined ? String(value) : (className(value) ?? typeof value);
  } catch {
    return UNREADABLE;
  }
}

/** The name of an object's class, if it is a valid name. */
function className(value: unknown): string | undefined {
  const name: unknown = (value as object).constructor?.name;
  return typeof name === 'string' ? excerpt(name, STRING_CHARACTERS) : undefined;
}
