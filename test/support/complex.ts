/** Complex transforms on trial, with everything that a problem can say of memory. */
import type { Device, Problem, ProblemInput } from '../../src/index.ts';
import { referenceTransform } from '../reference/transform.ts';
import type { Tried } from './accuracy.ts';
import type { Called } from './called.ts';
import type { Random } from './random.ts';
import { blockIn, type Direction, type Exact, stridesOf, tensorFrom, tried, withReversed } from './trial.ts';

function reference(
  { size, omit, leftBatches, coordinates, batches }: Problem,
  direction: Direction,
  packed: Float64Array,
): Exact {
  return referenceTransform({ size, omit, leftBatches, coordinates, batches, direction }, packed);
}

/** Plans a complex problem and runs one direction of it once. */
export function triedComplex(
  device: Device,
  input: ProblemInput,
  direction: Direction,
  random: Random,
  called?: Called,
): Promise<Tried> {
  return tried(device, input, direction, random, reference, called);
}

/** A random complex problem of at most so many numbers. */
export function complexProblem(
  random: Random,
  most: number,
  precisions: readonly ('single' | 'double')[],
): ProblemInput {
  const { size, batches, leftBatches, coordinates } = tensorFrom(random, most);
  const one = (of: number) => random.integer(0, of) === 0;
  const inPlace = one(2);
  const strides = () => stridesOf(random, [leftBatches, ...size, coordinates, batches]);
  const [here, there] = [strides(), strides()];
  const layout = () => random.pick(['interleaved', 'interleaved', 'planar'] as const);
  const [first, second] = [layout(), layout()];
  const blocked = one(3);
  const blocks = () => size.map((length) => blockIn(random, length));
  return withReversed(random, {
    ...{ size, batches, leftBatches, coordinates },
    precision: random.pick(precisions),
    placement: inPlace ? 'in-place' : 'out-of-place',
    normalize: one(1),
    preserveInput: one(1),
    layout: inPlace ? first : { input: first, output: second },
    scale: { forward: random.pick([1, 1, 0.3]), inverse: random.pick([1, 1, -2]) },
    omit: size.map(() => one(blocked ? 3 : 7)),
    ...(one(4) ? { edgeStorage: random.pick(['half', 'single'] as const) } : {}),
    ...(one(4) ? { offsets: { input: 3, output: inPlace ? 3 : 2 } } : {}),
    ...(one(2) ? { strides: { input: here, output: inPlace ? here : there } } : {}),
    ...(blocked ? { zeroPadding: { space: blocks(), frequency: blocks() } } : {}),
  });
}
