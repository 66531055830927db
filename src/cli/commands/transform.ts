/** `omnifft transform`: Fourier transforms of `.npy` files over chosen axes. */

import { type Command, Option } from 'commander';
import { FftError } from '../../index.ts';
import { type NpyArray, readNpy, writeNpy } from '../../numpy/npy.ts';
import { checkOutput, readWith, writeOutput } from '../files.ts';
import { duration } from '../format.ts';
import { type Device, type DeviceOptions, integerList, useDevice, withDevice, withJson } from '../options.ts';
import { startProgress } from '../progress.ts';

const NORMS = ['backward', 'ortho', 'forward'] as const;
type Norm = (typeof NORMS)[number];

interface TransformOptions extends DeviceOptions {
  readonly output: string;
  readonly axes?: number[];
  readonly inverse: boolean;
  readonly norm: Norm;
  readonly json: boolean;
}

export function addTransform(program: Command): void {
  const command = program
    .command('transform')
    .description('transform an array: .npy in, .npy of complex numbers out')
    .argument('<input.npy>', 'real or complex array in C order')
    .requiredOption('-o, --output <output.npy>', 'where to write the result')
    .option('-a, --axes <list>', 'axes to transform, counted as in NumPy: 0,2 or -1 (default: all)', integerList)
    .option('-i, --inverse', 'compute the inverse transform', false)
    .addOption(
      new Option('--norm <norm>', 'which direction is scaled, as in NumPy').choices(NORMS).default('backward'),
    );
  withJson(withDevice(command)).action(transformFile);
}

async function transformFile(input: string, options: TransformOptions): Promise<void> {
  await checkOutput(options.output);
  const progress = startProgress('reading');
  try {
    progress.update(0, 4, 'reading     ');
    const array = toComplex(await readWith(input, readNpy));
    const axes = resolveAxes(options.axes, array.shape);
    const { result, seconds, device } = await useDevice(
      { ...options, precision: precisionOfArray(array) },
      async (device) => {
        progress.update(1, 4, 'transforming');
        const started = performance.now();
        const result = await transform(device, array, axes, options);
        return { result, seconds: (performance.now() - started) / 1000, device: device.name };
      },
    );
    progress.update(3, 4, 'writing     ');
    await writeOutput(options.output, writeNpy(result));
    progress.stop();
    const { shape, dtype } = result;
    const summary = { output: options.output, shape, dtype, axes, device, seconds };
    if (options.json) return console.log(JSON.stringify(summary));
    console.log(
      `${options.output}: ${dtype} (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), axes ${axes.join(', ')}, ${duration(seconds)} on ${device}`,
    );
  } finally {
    progress.stop();
  }
}

/**
 * Transforms some axes of a complex array. Axes that stay are omitted axes of one plan, so nothing is moved around.
 *
 * `.npy` shapes are slowest first, the sizes of a plan fastest first: axis a of D is axis D − 1 − a of the plan.
 */
async function transform(
  device: Device,
  array: NpyArray,
  axes: readonly number[],
  { inverse, norm }: TransformOptions,
): Promise<NpyArray> {
  const { data, shape, dtype } = array;
  const points = axes.reduce((product, axis) => product * (shape[axis] ?? 1), 1);
  const direction = inverse ? 'inverse' : 'forward';
  const problem = {
    size: shape.toReversed(),
    omit: shape.map((_, axis) => !axes.includes(axis)).reverse(),
    precision: precisionOfArray(array),
    scale: { [direction]: scaleOf(norm, inverse, points) },
    directions: direction,
  } as const;
  const plan = await device.plan(problem).catch((error: unknown) => {
    throw inAxes(error, shape.length);
  });
  try {
    const result = await (inverse ? plan.inverse(data) : plan.forward(data));
    return { data: result as typeof data, shape, dtype };
  } finally {
    plan.destroy();
  }
}

/** An error about a plan, in the words of the array: its axes, slowest first. */
function inAxes(error: unknown, count: number): unknown {
  if (!(error instanceof FftError) || !error.message.includes('size[')) return error;
  const message = error.message.replace(/size\[(\d+)\]/g, (_, axis) => `the length of axis ${count - 1 - axis}`);
  return new FftError(error.code, message, { cause: error });
}

/** NumPy's three ways to share the factor 1/n between the two directions. */
function scaleOf(norm: Norm, inverse: boolean, points: number): number {
  if (norm === 'ortho') return 1 / Math.sqrt(points);
  return (norm === 'forward') === inverse ? 1 : 1 / points;
}

/** Axes counted from 0, ascending. */
function resolveAxes(given: readonly number[] | undefined, shape: readonly number[]): number[] {
  if (shape.length === 0)
    throw new FftError('invalid-file', 'The array is a single number; it needs at least one axis.');
  const empty = shape.indexOf(0);
  if (empty >= 0)
    throw new FftError('invalid-file', `Axis ${empty} of the array has no elements; it needs at least one.`);
  if (given === undefined) return shape.map((_, axis) => axis);
  const axes = given.map((axis) => {
    if (axis < -shape.length || axis >= shape.length) {
      throw new FftError(
        'invalid-usage',
        `The array has ${shape.length} axes, so --axes takes ${-shape.length} to ${shape.length - 1}; ${axis} was given.`,
      );
    }
    return axis < 0 ? axis + shape.length : axis;
  });
  if (new Set(axes).size < axes.length) {
    throw new FftError('invalid-usage', `--axes names an axis twice: ${given.join(', ')}.`);
  }
  return axes.sort((a, b) => a - b);
}

function precisionOfArray({ dtype }: NpyArray): 'single' | 'double' {
  return dtype === 'complex64' ? 'single' : 'double';
}

function toComplex(array: NpyArray): NpyArray {
  const { data, shape, dtype } = array;
  if (dtype === 'complex64' || dtype === 'complex128') return array;
  const complex = dtype === 'float32' ? new Float32Array(2 * data.length) : new Float64Array(2 * data.length);
  for (let k = 0; k < data.length; k++) complex[2 * k] = data[k] ?? 0;
  return { data: complex, shape, dtype: dtype === 'float32' ? 'complex64' : 'complex128' };
}
