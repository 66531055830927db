/** The user's arrays that callbacks load from: which ones a direction needs, and reading them from the options of a call. */
import type { Backend, Binding } from '../../devices/device.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { operandName } from '../../plan/launch/leaf-sides.ts';
import { KERNEL } from '../../plan/tree/leaf.ts';
import { type Direction, FftError, loadedArrays, type Problem } from '../../problem/index.ts';
import {
  type ComplexData,
  checkedParts,
  type Data,
  extentsOf,
  type MemoryExtent,
  type Part,
  refuseOverlap,
  type SideFacts,
  sideFactsOf,
} from './arguments.ts';
import { readOptions } from './options.ts';
import { readMemory } from './read-data.ts';

/** Arrays of the user's, by the names in `callbacks.arrays`. */
export type Arrays = { readonly [name: string]: Data };

/** Options of a call beside its data. */
export interface CallOptions {
  /** The arrays that the direction's callbacks load from: host arrays, which are copied at each call, or device memory. */
  readonly arrays?: Arrays | undefined;
  /** The prepared kernel, or spectrum, that `convolve` was given, for its adjoint with respect to the signal. */
  readonly kernel?: Data | undefined;
  /** The signal that `convolve` was given, for its adjoint with respect to the kernel. */
  readonly signal?: ComplexData | undefined;
}

/** An array that a direction loads from. */
export interface DirectionOperand {
  readonly name: string;
  /** The caller's name for it, in messages. */
  readonly what: string;
  /** Its name among the bindings of a program. */
  readonly bound: string;
  readonly facts: SideFacts;
}

/** All arrays that the callbacks of a direction load from. */
export function directionOperands(
  { callbacks }: Pick<Problem, 'callbacks'>,
  direction: Direction,
  profile: DeviceProfile,
): DirectionOperand[] {
  return loadedArrays(callbacks, direction).map((name): DirectionOperand => {
    const { type, length } = callbacks!.arrays[name]!;
    const numbers = sideFactsOf(type === 'f64' ? 'double' : 'single', length, profile);
    const facts: SideFacts = { layout: 'real', ...numbers };
    return { name, what: `arrays.${name}`, bound: operandName(name), facts };
  });
}

/** The argument that `convolve` passes in place of options: a kernel, and the options with arrays for callbacks. */
export interface ConvolveGiven {
  readonly kernel: unknown;
  readonly options: unknown;
}

/** The facts of a plan by which the arrays of a call are read. */
interface OperandReading {
  readonly operands: readonly DirectionOperand[];
  readonly problem: Problem;
  /** For a convolution: checks a prepared kernel and returns its memory. */
  readonly readKernel?: ((value: unknown, what: string) => readonly unknown[]) | undefined;
  readonly factor?: 'kernel' | 'signal' | undefined;
  readonly factorAlone?: boolean | undefined;
}

/** The operands of most calls: none. */
const NONE: readonly unknown[] = [];

const CALL_OPTIONS = { works: ['arrays'] };

/**
 * Whether a call is plainly given the same arrays as the previous call, which have been checked. In doubt the answer is false, and the
 * options are read closely, which takes longer than a short transform.
 */
export function givesTheSame(options: unknown, before: readonly unknown[], reading: OperandReading): boolean {
  const { operands, problem, readKernel, factorAlone } = reading;
  if (options === undefined || before.length === 0) return false;
  if (readKernel) {
    if (!factorAlone) return false;
    const { kernel, options: own } = options as ConvolveGiven;
    if (kernel !== before[0]) return false;
    const others = { problem, operands: operands.slice(1) };
    return operands.length === 1 ? own === undefined : givesTheSame(own, before.slice(1), others);
  }
  try {
    const given = options as CallOptions;
    for (const field in given) if (field !== 'arrays') return false;
    const arrays: unknown = Object.hasOwn(given, 'arrays') && given.arrays;
    if (typeof arrays !== 'object' || arrays === null) return false;
    const declared = problem.callbacks?.arrays ?? {};
    for (const name in arrays) if (!Object.hasOwn(declared, name)) return false;
    for (let n = 0; n < operands.length; n++) {
      const { name } = operands[n]!;
      if (!Object.hasOwn(arrays, name) || (arrays as Arrays)[name] !== before[n]) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/**
 * The arrays of a call, or the kernel that a convolution is given in place of options, in the order of the operands. Arrays for the
 * other direction's callbacks are ignored.
 * @param what the call, in messages
 * @throws FftError `unknown-field`, `missing-buffer`, `invalid-argument`, `wrong-array-type`
 */
export function readCall(options: unknown, host: OperandReading, what: string): readonly unknown[] {
  if (host.readKernel) {
    const { kernel, options: own } = host.factorAlone
      ? (options as ConvolveGiven)
      : { kernel: factorOption(options, host, what), options: undefined };
    const memory = host.readKernel(kernel, what);
    const others = { problem: host.problem, operands: host.operands.slice(memory.length) };
    return [...memory, ...readCall(own, others, what)];
  }
  if (options === undefined && host.operands.length === 0) return NONE;
  return readArrays(
    options === undefined ? undefined : readOptions(options as CallOptions, CALL_OPTIONS, what).arrays,
    host,
    what,
  );
}

/** The kernel, or the signal, among the options of a call. */
function factorOption(options: unknown, { factor }: OperandReading, what: string): unknown {
  return options === undefined ? undefined : readOptions(options as CallOptions, { works: [factor!] }, what)[factor!];
}

/** Like `readCall` of a convolution, given its kernel, or signal, and the `arrays` option. */
export function readFactorAnd(
  factor: unknown,
  arrays: unknown,
  { problem, operands, readKernel }: OperandReading,
  what: string,
): readonly unknown[] {
  const memory = readKernel!(factor, what);
  return [...memory, ...readArrays(arrays, { problem, operands: operands.slice(memory.length) }, what)];
}

/** Like `readCall`, given the `arrays` option itself. */
export function readArrays(arrays: unknown, { operands, problem }: OperandReading, what: string): readonly unknown[] {
  if (arrays === undefined && operands.length === 0) return NONE;
  const works = Object.keys(problem.callbacks?.arrays ?? {});
  const given: Readonly<Record<string, unknown>> =
    arrays === undefined ? {} : readOptions(arrays as Record<string, unknown>, { works }, `${what}.arrays`);
  return operands.map(({ name, facts: { type, length } }) => {
    const value = given[name];
    if (value !== undefined) return readMemory(value, `arrays.${name}`);
    const wanted = `${length} numbers of type ${type}`;
    throw new FftError('missing-buffer', `${what} needs arrays.${name}, which callbacks load from: ${wanted}.`);
  });
}

/**
 * @param written the memory that the call writes, which must not overlap the arrays: these are only read.
 * @param offset complex numbers of a kernel to skip.
 * @throws FftError the fault of an array
 */
export function operandParts(
  arrays: readonly unknown[],
  operands: readonly DirectionOperand[],
  written: readonly MemoryExtent[],
  backend: Backend,
  offset = 0,
): Part[] {
  return operands.map(({ what, facts, bound }, n) => {
    const parts = checkedParts([arrays[n]], facts, what, backend, bound === KERNEL ? offset : 0);
    refuseOverlap([...written, ...extentsOf(parts, facts, what)]);
    return parts[0]!;
  });
}

/** Operands as bindings of a program. */
export function boundOperands(
  operands: readonly DirectionOperand[],
  places: readonly Binding[],
): ReadonlyMap<string, Binding> | undefined {
  return operands.length === 0 ? undefined : new Map(operands.map(({ bound }, n) => [bound, places[n]!]));
}
