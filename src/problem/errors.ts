/**
 * The one error type of the library. Every failure that a caller can meet is an `FftError` with a code from the closed
 * list below; docs/errors.md says for each code when it is thrown and what to do about it.
 */

/** Every code an `FftError` can carry, in the order in which docs/errors.md explains them. */
export const fftErrorCodes = [
  // What was asked for.
  'invalid-size',
  'invalid-batches',
  'invalid-strides',
  'overlapping-strides',
  'invalid-offset',
  'invalid-field',
  'unknown-field',
  'invalid-descriptor',
  'unsupported-length',
  'unsupported-feature',
  'unsupported-precision',
  // What a call was given.
  'invalid-argument',
  'wrong-array-type',
  'wrong-length',
  'missing-buffer',
  'buffer-too-small',
  'misaligned-buffer',
  'buffer-usage',
  'foreign-buffer',
  'aliased-buffers',
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
  // Files and the command line.
  'invalid-file',
  'unreadable-input',
  'unwritable-output',
  'invalid-usage',
  // Our own mistakes.
  'internal-error',
] as const;

/** Stable, kebab-case name of a kind of failure. */
export type FftErrorCode = (typeof fftErrorCodes)[number];

/** One thing that is wrong with what was asked for. */
export interface FftProblem {
  readonly code: FftErrorCode;
  /** What was given and what would be accepted, in one sentence or two. */
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
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    const problems = options.problems ?? [{ code, message, path: options.path ?? '' }];
    this.problems = Object.freeze([...problems]);
  }
}

/** @throws FftError for all that was found, where there is any: the code is that of the first, the message names them all */
export function throwIfAny(problems: readonly FftProblem[]): void {
  const [first] = problems;
  if (first) throw new FftError(first.code, problems.map((problem) => problem.message).join(' '), { problems });
}

/** A value as a message can show it: short, on one line, numbers and strings as they are written in code. */
export function show(value: unknown): string {
  return shown(value, 2);
}

/** @param depth how many lists inside one another are written out: one may hold itself. */
function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${onOneLine(value.length > 40 ? `${value.slice(0, 40)}…` : value)}'`;
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  if (Array.isArray(value)) {
    if (value.length > 8 || depth === 0) return `a list of ${value.length} values`;
    return `[${value.map((entry) => shown(entry, depth - 1)).join(', ')}]`;
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return `an object (${className(value) ?? 'of no class'})`;
  return String(value);
}

/** A text without what would end a line or steer a terminal: control characters as JSON writes them. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const known = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
    return known ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** What a value is, in messages about its type: the name of its class, or `null`, `undefined`, `number` … */
export function typeName(value: unknown): string {
  return value === null || value === undefined ? String(value) : (className(value) ?? typeof value);
}

/** What an object calls its class, if that is a name at all. */
function className(value: unknown): string | undefined {
  const name: unknown = (value as object).constructor?.name;
  return typeof name === 'string' ? name : undefined;
}
