/** `omnifft transform`: Fourier transforms of `.npy` files over chosen axes. */

import { type Command, Option } from 'commander';
import { FftError } from '../../index.ts';
import { isSingle } from '../../numpy/array.ts';
import { resolveAxes } from '../../numpy/axes.ts';
import { fftn, ifftn, type Norm, type NpyArray, readNpy, writeNpy } from '../../numpy/index.ts';
import { checkOutput, inputName, readWith, report, writeOutput } from '../files.ts';
import { duration } from '../format.ts';
import { type DeviceOptions, integerList, outputPath, useDevice, withDevice, withJson } from '../options.ts';
import { startProgress } from '../progress.ts';

const NORMS: readonly Norm[] = ['backward', 'ortho', 'forward'];

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
    .argument('<input.npy>', 'real or complex array in C order; - for standard input')
    .requiredOption('-o, --output <output.npy>', 'where to write the result; - for standard output', outputPath)
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
    const array = await readWith(input, readNpy);
    const axes = axesOf(options.axes, array, inputName(input));
    const precision = isSingle(array.dtype) ? 'single' : 'double';
    const { result, seconds, device } = await useDevice({ ...options, precision }, async (device) => {
      progress.update(1, 4, 'transforming');
      const started = performance.now();
      const result = await (options.inverse ? ifftn : fftn)(array, { axes, norm: options.norm, device });
      return { result, seconds: (performance.now() - started) / 1000, device: device.name };
    });
    progress.update(3, 4, 'writing     ');
    await writeOutput(options.output, writeNpy(result));
    progress.stop();
    const { shape, dtype } = result;
    const summary = { output: options.output, shape, dtype, axes, device, seconds };
    if (options.json) return report(options.output, JSON.stringify(summary));
    report(
      options.output,
      `${options.output}: ${dtype} (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), axes ${axes.join(', ')}, ${duration(seconds)} on ${device}`,
    );
  } finally {
    progress.stop();
  }
}

/**
 * Axes counted from 0, ascending.
 * @throws FftError `invalid-file` for a single number and for axes without elements, `invalid-usage` for axes that the
 *   array does not have
 */
function axesOf(given: readonly number[] | undefined, { shape }: NpyArray, input: string): number[] {
  if (shape.length === 0) {
    throw new FftError('invalid-file', `${input}: The array is a single number; it needs at least one axis.`);
  }
  const axes = given === undefined ? shape.map((_, axis) => axis) : chosenAxes(given, shape.length);
  const empty = axes.find((axis) => shape[axis] === 0);
  if (empty === undefined) return axes;
  throw new FftError('invalid-file', `${input}: Axis ${empty} of the array has no elements; it needs at least one.`);
}

function chosenAxes(given: readonly number[], dimensions: number): number[] {
  try {
    return resolveAxes(given, dimensions).sort((a, b) => a - b);
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    throw new FftError('invalid-usage', error.message.replace(/^axes(\[\d+\])?/, '--axes'), { cause: error });
  }
}
