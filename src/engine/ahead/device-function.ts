/** `plan.deviceFunction`: the transform of one line as the source of a function that a kernel of the caller's calls. */

import { arrayFor } from '../../devices/host-arrays.ts';
import { emitDeviceFunction, type FunctionLanguage } from '../../emit/device-function/index.ts';
import { type RegisterSide, registersOf } from '../../emit/device-function/registers.ts';
import { computable } from '../../emit/double-word/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { buildKernel } from '../../kernels/index.ts';
import { isInPairs } from '../../plan/device/capacity.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { targetOf } from '../../plan/device/target.ts';
import { lineLeaf } from '../../plan/device-function.ts';
import type { PlanTask } from '../../plan/planner.ts';
import { show } from '../../problem/errors.ts';
import { type Direction, FftError, normalizeProblem, type Problem } from '../../problem/index.ts';
import { readOptions } from '../arguments/options.ts';
import { fillTable } from '../programs/tables.ts';
import { tunedProfile } from '../programs/tuning.ts';

export type DeviceFunctionLanguage = FunctionLanguage;

export interface DeviceFunctionOptions {
  /** The language of the kernel that calls the function. */
  readonly language: DeviceFunctionLanguage;
  /** Default: 'forward', or the direction that the plan is for. */
  readonly direction?: Direction | undefined;
  /** The name of the function, with which all other names in the source begin. Default: such as `fft256_forward`. */
  readonly name?: string | undefined;
  /** Only for WGSL: lines that a work-group transforms at once, for which shared memory is declared. Default 1. */
  readonly lines?: number | undefined;
  /**
   * Only for WGSL: the name of an array of shared memory that the module declares already, such as that of the other direction's function.
   * If it is left out, the source declares `NAME_ping`.
   */
  readonly shared?: string | undefined;
  /** Only for WGSL: bind group and first binding of the tables. Default: group 1, binding 0. */
  readonly binding?: { readonly group: number; readonly binding: number } | undefined;
}

/** The contents of the threads' registers on one side of a device function. */
export interface RegisterLayout {
  readonly holds: 'complex' | 'real';
  /**
   * The type of a register: `float2`, `double2` or `vec2<f32>` for a complex number, re before im; `float`, `double` or `f32` for a real. For
   * double-doubles it is `double2` for each real number, hi before lo, and a complex number takes two registers, re before im.
   */
  readonly type: string;
  /** Registers that each thread declares. */
  readonly registers: number;
  /**
   * `elements[t][j]`: the element of the line that register j of thread t holds, a sample or a bin; −1 if it holds none. For complex
   * double-doubles it is the index of a real: twice the element, plus one for the imaginary part.
   */
  readonly elements: readonly (readonly number[])[];
  /**
   * The name of a function of t and j in the source that returns `elements[t][j]` (4294967295 instead of −1 in WGSL, where it is unsigned);
   * missing if the order of the elements has no short expression, as after passes by Rader's algorithm.
   */
  readonly function?: string;
}

/** A table of constants that the caller passes to a function in OpenCL, or binds in WGSL. In CUDA and HIP the source holds it. */
export interface DeviceFunctionTable {
  /** The name of the parameter, or of the variable that is bound. */
  readonly name: string;
  /** The contents of the table, to be copied to memory of the device. */
  readonly data: Float32Array | Float64Array | Uint32Array;
  /** The bind group, only in WGSL. */
  readonly group?: number;
  /** The binding, only in WGSL. */
  readonly binding?: number;
}

/** The transform of one line as a function that the threads of a work-group call together. */
export interface DeviceFunction {
  readonly language: DeviceFunctionLanguage;
  readonly direction: Direction;
  readonly name: string;
  /** Declarations to be put before the kernel that calls it. */
  readonly source: string;
  /** Threads that share a line. */
  readonly threads: number;
  /** The most elements of the line that a thread holds, before or after the transform. */
  readonly elementsPerThread: number;
  /** 32-bit registers that the elements of a thread take. */
  readonly registers: number;
  /** Bytes of shared memory for one line; 0 if one thread transforms it alone. Each line of a work-group needs its own. */
  readonly sharedBytes: number;
  readonly input: RegisterLayout;
  readonly output: RegisterLayout;
  /** Whether input and output are one array of registers, `x`, as in complex transforms. Real transforms read `x` and write `y`. */
  readonly inPlace: boolean;
  /**
   * Whether the same plan's function of the other direction reads the registers in the order that this one writes, and vice versa, so that
   * nothing has to be moved between the two.
   */
  readonly reversible: boolean;
  /** The number of lines in a group of the plan's own kernel. */
  readonly suggestedLines: number;
  readonly tables: readonly DeviceFunctionTable[];
  /** The text of a call, with the parameters' names as arguments. */
  readonly call: string;
  /** The caller's obligations, as sentences. */
  readonly requirements: readonly string[];
}

/** The part of a plan that says which task of its problem a call runs. */
interface Called {
  readonly problem: Problem;
  readonly called: readonly Direction[];
  taskOf(name: Direction): PlanTask | undefined;
}

/** @throws FftError `invalid-argument`, `unknown-field`, `direction-not-planned`, `unsupported-feature` */
export function deviceFunctionOf(plan: Called, untuned: DeviceProfile, given: DeviceFunctionOptions): DeviceFunction {
  const { problem } = plan;
  const { called, ...options } = readFunctionOptions(plan, given);
  refuseUnsuited(problem, untuned, options.language);
  const profile = tunedProfile(untuned, problem);
  const line = lineProblem(problem);
  // An adjoint runs the inverse of its problem as its `forward`.
  const direction = plan.taskOf(called) as Direction;
  const { kernel, isReal, inParts, lines } = lineKernel(line, direction, profile);
  const text = emitDeviceFunction(kernel, {
    ...{ ...options, isReal, inParts },
    contents: (table) => {
      const data = arrayFor(table.type, table.length);
      fillTable(data, table);
      return data;
    },
  });
  const layoutOf = (side: 'input' | 'output'): RegisterLayout => {
    const { elements } = text[side];
    const name = text.elements[side];
    const holds = isReal[side] ? 'real' : 'complex';
    return {
      holds,
      type: text.types[side],
      registers: elements[0]!.length,
      elements,
      ...(name ? { function: name } : {}),
    };
  };
  const [input, output] = [layoutOf('input'), layoutOf('output')];
  const inPlace = input.holds === output.holds;
  const wordsOf = ({ holds, registers }: RegisterLayout) =>
    registers * (holds === 'complex' || inParts ? 2 : 1) * (problem.precision === 'single' ? 1 : 2);
  const heldOf = ({ holds, elements }: RegisterLayout) =>
    Math.max(...elements.map(heldIn)) / (holds === 'complex' && inParts ? 2 : 1);
  const words = [input, output].map(wordsOf) as [number, number];
  return Object.freeze({
    language: options.language,
    ...{ direction: called, name: options.name, source: text.source, threads: kernel.threads },
    elementsPerThread: Math.max(heldOf(input), heldOf(output)),
    registers: inPlace ? Math.max(...words) : words[0] + words[1],
    sharedBytes: text.sharedBytes,
    ...{ input, output, inPlace, suggestedLines: lines },
    reversible: isReversible(line, direction, profile, text),
    tables: text.tables.map(({ name, data, binding }) => ({
      ...{ name, data: data as DeviceFunctionTable['data'] },
      ...(binding ? { group: binding[0], binding: binding[1] } : {}),
    })),
    call: text.call,
    requirements: requirementsOf(options.language, kernel.threads, text.sharedBytes, text.tables.length),
  });
}

function heldIn(registers: readonly number[]): number {
  return registers.filter((element) => element >= 0).length;
}

const LANGUAGES: readonly DeviceFunctionLanguage[] = ['cuda', 'hip', 'opencl', 'wgsl'];

function readFunctionOptions({ problem, called: planned }: Called, given: DeviceFunctionOptions) {
  const works = ['language', 'direction', 'name', 'lines', 'shared', 'binding'];
  const own = readOptions(given, { works }, 'deviceFunction', 2);
  const { language, lines = 1, shared, binding = { group: 1, binding: 0 } } = own;
  if (!LANGUAGES.includes(language))
    throw invalidArgument(`language is ${show(language)}; device functions are written in ${LANGUAGES.join(', ')}.`);
  const { direction = planned[0] ?? 'forward' } = own;
  if (direction !== 'forward' && direction !== 'inverse')
    throw invalidArgument(`The direction is ${show(direction)}; choose 'forward' or 'inverse'.`);
  if (!problem.convolution && !planned.includes(direction)) {
    const message = `This plan is for '${planned[0]}' only; plan with directions 'both' for a function of '${direction}'.`;
    throw new FftError('direction-not-planned', message);
  }
  const { name = `${problem.transform[0] === 'r2c' ? 'rfft' : 'fft'}${problem.size[0]}_${direction}` } = own;
  for (const [what, value] of Object.entries({ name, ...(shared === undefined ? {} : { shared }) })) {
    if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_]*$/.test(value) || value.includes('__'))
      throw invalidArgument(`${what} is ${show(value)}; it must be a name of letters, digits and single underscores.`);
  }
  for (const [what, value, least] of [
    ['lines', lines, 1],
    ['binding.group', binding?.group, 0],
    ['binding.binding', binding?.binding, 0],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > 1024)
      throw invalidArgument(`${what} is ${show(value)}; it must be an integer from ${least} to 1024.`);
  }
  return { language, called: direction, name, lines, shared, binding: [binding.group, binding.binding] as const };
}

function invalidArgument(message: string): FftError {
  return new FftError('invalid-argument', message);
}

function unsupportedFeature(message: string): FftError {
  return new FftError('unsupported-feature', message);
}

/** @throws FftError `unsupported-feature` if the problem is no plain transform of lines, or the language lacks its arithmetic */
function refuseUnsuited(problem: Problem, profile: DeviceProfile, language: DeviceFunctionLanguage): void {
  const { size, omit, transform, precision, bands, callbacks, convolution, zeroPadding } = problem;
  if (
    convolution ||
    callbacks ||
    bands ||
    [...zeroPadding.space, ...zeroPadding.frequency].some((block) => block !== null)
  ) {
    const message =
      'A device function does the transform alone: plan without convolution, callbacks, bands and zeroPadding, and do in the kernel that calls it what they would do.';
    throw unsupportedFeature(message);
  }
  if (size.length > 1 || omit.some((left) => left)) {
    const message = `A device function transforms lines of one axis, and the problem has ${size.length}: plan each axis by itself, size: [${size[0]}] and so on.`;
    throw unsupportedFeature(message);
  }
  if (transform.some((kind) => kind !== 'c2c' && kind !== 'r2c')) {
    throw unsupportedFeature(
      `Device functions are of c2c and r2c transforms, not of ${transform[0]}: plan the r2c transform that it follows from.`,
    );
  }
  if (precision !== 'single' && (language === 'wgsl' || isInPairs('double', profile))) {
    throw unsupportedFeature(
      `A device function computes in what the language has, which for ${language} here is not ${precision}: plan with precision: 'single'.`,
    );
  }
  if (profile.lockstep === 'vector') {
    const message =
      "A device function is of threads that share memory, which this device has not: plan on a GPU, or for one that is not there, by openProfile('h200').";
    throw unsupportedFeature(message);
  }
}

/** The batch size for planning, so large that the launch is chosen for its speed per line. */
const LINES = 4096;

function lineProblem({ size, transform, precision, normalize, scale }: Problem): Problem {
  const [kind] = transform as readonly ('c2c' | 'r2c')[];
  return normalizeProblem({ size, transform: kind!, precision, normalize, scale, batches: LINES });
}

interface LineKernel {
  readonly kernel: Kernel;
  readonly isReal: { readonly input: boolean; readonly output: boolean };
  /** Whether numbers are double-doubles, two doubles each. */
  readonly inParts: boolean;
  readonly lines: number;
}

/** The form of double-word arithmetic: products and sums use fused multiply-adds, which round once. */
const PAIR_FORM = { fused: true } as const;

/** @throws FftError `unsupported-feature` where a line takes several launches */
function lineKernel(problem: Problem, direction: Direction, profile: DeviceProfile): LineKernel {
  const found = lineLeaf(problem, direction, targetOf(profile, problem.precision));
  if (!found) {
    const message = `A line of ${problem.size[0]} takes several launches on ${profile.name}, whose groups share ${profile.sharedBytes} bytes: a device function is of lines that one group transforms in one launch, so plan a shorter one.`;
    throw unsupportedFeature(message);
  }
  const { leaf, lines } = found;
  const isReal = { input: leaf.input.format === 'real', output: leaf.output.format === 'real' };
  const inParts = problem.precision === 'double-double';
  return { kernel: computable(buildKernel(leaf), { profile, pairForm: PAIR_FORM }), isReal, inParts, lines };
}

function isReversible(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  { input, output }: { readonly input: RegisterSide; readonly output: RegisterSide },
): boolean {
  const back = lineKernel(problem, direction === 'forward' ? 'inverse' : 'forward', profile);
  const other = registersOf(back.kernel, back.isReal, back.inParts);
  const alike = (one: RegisterSide, two: RegisterSide) => JSON.stringify(one.elements) === JSON.stringify(two.elements);
  return alike(input, other.output) && alike(output, other.input);
}

/** A barrier of a work-group in each language. */
const BARRIERS: Readonly<Record<DeviceFunctionLanguage, string>> = {
  cuda: '__syncthreads()',
  hip: '__syncthreads()',
  opencl: 'barrier(CLK_LOCAL_MEM_FENCE)',
  wgsl: 'workgroupBarrier()',
};

function requirementsOf(language: DeviceFunctionLanguage, threads: number, bytes: number, tables: number): string[] {
  const passed = language === 'opencl' ? 'pass a pointer to a copy of each table' : 'bind a buffer with each table';
  const room =
    language === 'wgsl'
      ? `line is the number of the line in the work-group, below the option lines: each has ${bytes} bytes of shared memory`
      : `shared points to ${bytes} bytes of shared memory, aligned to 16 bytes, which the line has for itself`;
  return [
    `t is the number of the thread in its line, 0 to ${threads - 1}; each thread declares its registers and accesses them by constant numbers, in loops that are unrolled.`,
    ...(bytes > 0
      ? [
          `All threads of the work-group call the function together: there are barriers in it.`,
          `Of several lines in a work-group, ${room}.`,
          `Between a use of that memory and the next one, in a second call, say, there is a barrier: ${BARRIERS[language]}.`,
        ]
      : []),
    ...(tables > 0 ? [`The caller sees to the tables: ${passed}.`] : []),
  ];
}
