/** Planned transforms of programs as problems of the planner, and the operands of their launches. */
import type { Binding } from '../../devices/device.ts';
import type { Kernel } from '../../ir/index.ts';
import {
  nameOfRead,
  type PlannedTransform,
  type Rows,
  rowShape,
  type TransformLaunch,
} from '../../kernels/programs/index.ts';
import { operandName } from '../../plan/launch/leaf-sides.ts';
import { KERNEL } from '../../plan/tree/leaf.ts';
import type { Callbacks, Direction, ProblemInput } from '../../problem/index.ts';

/** The task of a problem that a program runs. */
export type TransformTask = Direction | 'convolve' | 'prepare';

export function problemOfTransform(
  transform: PlannedTransform,
  precision: 'single' | 'double',
): { readonly problem: ProblemInput; readonly task: TransformTask } {
  const { op, size, batches, times } = transform;
  const isForward = op === 'fft' || op === 'rfft';
  const direction: Direction = isForward ? 'forward' : 'inverse';
  const kernels = times?.spectra === 'each' ? 'per-batch' : 1;
  const problem: ProblemInput = {
    ...{ size: [size], batches, transform: op === 'rfft' || op === 'irfft' ? 'r2c' : 'c2c', precision },
    directions: direction,
    ...(times
      ? { convolution: { kernelSpectrum: times.isPrepared ? 'prepared' : 'user', conjugate: times.conjugate, kernels } }
      : { normalize: true }),
    ...stridesAndOffsets(transform, isForward),
    ...callbacksOfTransform(transform, precision),
  };
  return { problem, task: transform.prepares ? 'prepare' : times ? 'convolve' : direction };
}

/** Strides and offsets of sides that are not packed. */
function stridesAndOffsets(transform: PlannedTransform, isForward: boolean): Pick<ProblemInput, 'strides' | 'offsets'> {
  const { input, output, batches } = transform;
  const strides = (rows: Rows | undefined, side: 'input' | 'output') => {
    const { step, apart } = rows ?? { step: 1, apart: rowShape(transform, side).count };
    return [1, step, batches === 1 ? step * rowShape(transform, side).count : apart];
  };
  if (!input && !output) return {};
  const both = [strides(input, 'input'), strides(output, 'output')];
  const offsets = [input?.offset ?? 0, output?.offset ?? 0];
  const sides = <T>([read, written]: readonly T[]) =>
    isForward ? { input: read!, output: written! } : { input: written!, output: read! };
  return { strides: sides(both), offsets: sides(offsets) };
}

function callbacksOfTransform(
  { op, load, store, arrays, times }: PlannedTransform,
  precision: 'single' | 'double',
): Pick<ProblemInput, 'callbacks'> {
  if (!load && !store) return {};
  const type = precision === 'single' ? 'f32' : 'f64';
  const own = Object.entries(arrays ?? {}).map(([name, length]) => [name, { type, length }] as const);
  const isForward = op === 'fft' || op === 'rfft';
  const pairs: Callbacks = times
    ? { forward: { load }, inverse: { store } }
    : { [isForward ? 'forward' : 'inverse']: { load, store } };
  return { callbacks: { ...pairs, arrays: Object.fromEntries(own) } };
}

/**
 * The operands of a launch: memory that its plan reads beside its input.
 * @param tableOf gives the memory of a kernel's table
 */
export function operandBindings(
  { transform, reads, tables = {} }: TransformLaunch,
  slot: (buffer: string) => number,
  tableOf: (kernel: Kernel) => Binding,
): ReadonlyMap<string, number | Binding> {
  const found = new Map<string, number | Binding>();
  if (transform.prepares) return found;
  const arrays = transform.times ? reads.slice(1, -1) : reads.slice(1);
  arrays.forEach((buffer, n) => {
    found.set(operandName(nameOfRead(n + 1)), slot(buffer));
  });
  for (const [name, kernel] of Object.entries(tables)) found.set(operandName(name), tableOf(kernel));
  if (transform.times) found.set(KERNEL, slot(reads.at(-1)!));
  return found;
}
