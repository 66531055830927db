/** `omnifft transform`: Fourier transforms of `.npy` files over chosen axes. */

import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { type Device, FftError } from '../../index.ts';
import { isComplex, isSingle } from '../../numpy/arrays/array.ts';
import { resolveDistinctAxes } from '../../numpy/calls/axes.ts';
import { npyPieces, readNpyFrom } from '../../numpy/files/npy.ts';
import { npzMembers, npzPieces } from '../../numpy/files/npz.ts';
import type { ByteSource } from '../../numpy/files/source.ts';
import { isZip } from '../../numpy/files/zip.ts';
import { fftn, ifftn, irfftn, type Norm, type NpyArray, rfftn } from '../../numpy/index.ts';
import { show } from '../../problem/errors.ts';
import { type Contents, checkOutput, reportDone, writeOutput } from '../files.ts';
import { duration } from '../format.ts';
import { inputName, readWith } from '../inputs.ts';
import {
  type DeviceFlags,
  integerList,
  outputPath,
  positiveInteger,
  useDevice,
  withDevice,
  withJson,
} from '../options.ts';
import { secondsSinceStart, startProgress } from '../progress.ts';
import { inRounds } from '../rounds.ts';

const NORMS: readonly Norm[] = ['backward', 'ortho', 'forward'];

/** NumPy's name for an unnamed array in a `.npz` file. */
const UNNAMED = 'arr_0';

interface TransformOptions extends DeviceFlags {
  readonly output: string;
  readonly array?: string;
  readonly axes?: number[];
  readonly inverse: boolean;
  readonly real: boolean;
  readonly length?: number;
  readonly norm: Norm;
  readonly json: boolean;
}

export function addTransform(program: Command): void {
  const command = program
    .command('transform')
    .description('transform an array: .npy or .npz in, .npy or .npz out')
    .argument('<input.npy>', 'real or complex array, or a .npz file; - for standard input')
    .requiredOption(
      '-o, --output <output.npy>',
      'where to write the result, .npy or .npz; - for standard output, .npy',
      outputPath('.npy', '.npz'),
    )
    .option('--array <name>', 'which array of a .npz file to transform (default: the only one)')
    .option('-a, --axes <list>', 'axes to transform, counted as in NumPy: 0,2 or -1 (default: all)', integerList)
    .option('-i, --inverse', 'compute the inverse transform', false)
    .option('-r, --real', 'along the last of the axes, half the bins of reals; with --inverse, the reals', false)
    .option(
      '--length <n>',
      'how many reals --real --inverse makes along that axis (default: 2(m - 1) of m bins)',
      positiveInteger,
    )
    .addOption(
      new Option('--norm <norm>', 'which direction is scaled, as in NumPy').choices(NORMS).default('backward'),
    );
  withJson(withDevice(command)).action(transformFile);
}

async function transformFile(input: string, options: TransformOptions): Promise<void> {
  if (options.length !== undefined && !(options.real && options.inverse)) {
    throw new FftError('invalid-usage', '--length is for --real --inverse.');
  }
  await checkOutput(options.output);
  const progress = startProgress('reading');
  try {
    progress.update(0, 4, 'reading     ');
    const { name, array } = await readWith(input, (source) => readArray(source, options.array));
    const axes = axesFromFile(options.axes, array, inputName(input));
    if (options.real && !options.inverse && isComplex(array.dtype)) {
      throw new FftError('invalid-file', `${inputName(input)}: The array is ${array.dtype}; --real takes reals.`);
    }
    const precision = isSingle(array.dtype) ? 'single' : 'double';
    const { result, device } = await useDevice({ ...options, precision }, async (device) => {
      progress.update(1, 4, 'transforming');
      const result = await inRounds(array, axes, (part) => transformArray(part, axes, options, device));
      return { result, device: device.name };
    });
    progress.update(3, 4, 'writing     ');
    await writeOutput(options.output, encoded(options.output, name, result));
    progress.stop();
    const { shape, dtype } = result;
    const seconds = secondsSinceStart();
    const summary = { output: options.output, shape, dtype, axes, device, seconds };
    if (options.json) return reportDone(options.output, JSON.stringify(summary));
    reportDone(
      options.output,
      `${options.output}: ${dtype} (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), axes ${axes.join(', ')}, ${duration(seconds)} in all on ${device}`,
    );
  } finally {
    progress.stop();
  }
}

function transformArray(
  array: NpyArray,
  axes: readonly number[],
  { real, inverse, length, norm }: TransformOptions,
  device: Device,
): Promise<NpyArray> {
  const options = { axes, norm, device };
  if (!real) return (inverse ? ifftn : fftn)(array, options);
  if (!inverse) return rfftn(array, options);
  if (length === undefined) return irfftn(array, options);
  return irfftn(array, { ...options, s: axes.map((_, k) => (k === axes.length - 1 ? length : -1)) });
}

/**
 * Reads an array.
 * @param wanted name of an array in an archive
 * @throws FftError `invalid-usage` if there is no such array, or several and no name is given; `invalid-file`, `out-of-memory`
 */
async function readArray(source: ByteSource, wanted: string | undefined): Promise<{ name: string; array: NpyArray }> {
  if (!isZip(source)) {
    if (wanted === undefined) return { name: UNNAMED, array: readNpyFrom(source) };
    throw new FftError('invalid-usage', 'This is no .npz file: --array cannot choose from it.');
  }
  const members = npzMembers(source);
  if (members.length === 0) throw new FftError('invalid-file', 'There is no array in the archive.');
  // If several members have the name, the last one counts, as in NumPy.
  const chosen = wanted === undefined ? members : members.filter(({ name }) => name === wanted).slice(-1);
  if (chosen.length === 1) return { name: chosen[0]!.name, array: await chosen[0]!.read() };
  const names = members.slice(0, 8).map(({ name }) => show(name));
  const more = members.length > names.length ? ` and ${members.length - names.length} more` : '';
  const found = `It holds ${members.length === 1 ? 'the array' : `${members.length} arrays,`} ${names.join(', ')}${more}`;
  const reason = wanted === undefined ? 'choose one with --array' : `there is no ${show(wanted)} for --array`;
  throw new FftError('invalid-usage', `${found}; ${reason}.`);
}

/** The result as a file of the format that its extension asks for. */
function encoded(output: string, name: string, result: NpyArray): Contents {
  return extname(output).toLowerCase() === '.npz' ? npzPieces({ [name]: result }) : npyPieces(result).pieces;
}

/**
 * Axes counted from 0, ascending.
 * @throws FftError `invalid-file` for a single number and for axes without elements, `invalid-usage` for axes that the array does not have
 */
function axesFromFile(given: readonly number[] | undefined, { shape }: NpyArray, input: string): number[] {
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
    return resolveDistinctAxes(given, dimensions).sort((a, b) => a - b);
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    throw new FftError('invalid-usage', error.message.replace(/^axes(\[\d+\])?/, '--axes'), { cause: error });
  }
}
