/** The field `bands` of a user's problem, and the rules about problems that have it. */

import { type FftErrorCode, type FftProblem, show } from '../errors.ts';
import { arrayClass, arrayLength } from '../input/bytes.ts';
import type { FieldReader } from '../input/fields.ts';
import { isRecord } from '../input/snapshot.ts';
import { hermitianLength, isRealTransform } from '../layout/layout.ts';
import type { Band, Problem } from '../problem.ts';

/** The most weights of all bands together, zeros between the first and the last weight of a band included. */
const MOST_WEIGHTS = 2 ** 20;

/** The facts that the number of bins follows from. */
type BinFacts = Pick<Problem, 'size' | 'transform'>;

/** The number of bins of a line that bands weigh. */
function binsOfBands({ size, transform }: BinFacts): number {
  return transform[0] === 'r2c' ? hermitianLength(size[0]!) : size[0]!;
}

/** The normal form of the field. */
export function readBands(reader: FieldReader, value: unknown, problem: BinFacts): readonly Band[] {
  const bins = binsOfBands(problem);
  const bands = isFloatList(value) ? rowsOf(reader, value, bins) : listOf(reader, value, bins);
  const weights = bands.reduce((sum, band) => sum + band.weights.length, 0);
  if (weights > MOST_WEIGHTS) {
    const message = `bands span ${weights} weights; ${MOST_WEIGHTS} are the most. Several plans with some of the bands each would do.`;
    reader.report('invalid-field', 'bands', message);
  }
  return Object.freeze(bands);
}

function isFloatList(value: unknown): value is ArrayLike<number> {
  return ['Float32Array', 'Float64Array'].includes(arrayClass(value) ?? '');
}

/** The bands of a matrix [bands × bins], row by row. */
function rowsOf(reader: FieldReader, matrix: ArrayLike<number>, bins: number): Band[] {
  const length = arrayLength(matrix);
  const count = length / bins;
  if (!Number.isInteger(count) || count === 0) {
    const message = `bands has ${length} numbers, but a matrix must have a row of ${bins} numbers, one for each bin, for every band.`;
    reader.report('invalid-field', 'bands', message);
    return [bandFromFields([])];
  }
  const isWrong = (weight: number) => !Number.isFinite(weight);
  return Array.from({ length: count }, (_, n) => {
    const row = Array.from({ length: bins }, (_, bin) => matrix[n * bins + bin]!);
    const wrong = row.findIndex(isWrong);
    if (wrong >= 0) {
      const message = `bands[${n * bins + wrong}] is ${row[wrong]}, but weights must be finite numbers.`;
      reader.report('invalid-field', `bands[${n * bins + wrong}]`, message);
    }
    return bandFromFields(row);
  });
}

/** The bands of a list of first bins and weights. */
function listOf(reader: FieldReader, value: unknown, bins: number): Band[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord))
    return value.map((band, n) => readBandFields(reader, band, `bands[${n}]`, bins));
  const accepted =
    'a Float32Array or Float64Array that holds a matrix [bands × bins], or a list of { from, weights }, a first bin and the weights from there on';
  reader.report('invalid-field', 'bands', `bands is ${show(value)}, but must be ${accepted}.`);
  return [bandFromFields([])];
}

function readBandFields(reader: FieldReader, value: unknown, path: string, bins: number): Band {
  const record = reader.record(value, path, ['from', 'weights']);
  const from = reader.integer(record.from, `${path}.from`, 'invalid-field', 'the first bin', 0);
  const given = record.weights;
  if (!Array.isArray(given) && !isFloatList(given)) {
    reader.report('invalid-field', `${path}.weights`, `${path}.weights is ${show(given)}, but must list numbers.`);
    return bandFromFields([]);
  }
  const weights = Array.from(given, (weight, n) => reader.finite(weight, `${path}.weights[${n}]`, 0));
  if (from + weights.length > bins) {
    const message = `${path} ends at bin ${from + weights.length}, but a line has ${bins} bins: bands end there.`;
    reader.report('invalid-field', path, message);
    return bandFromFields([]);
  }
  return bandFromFields(weights, from);
}

/** A band without the zeros at its ends. A band without weights has one weight of zero, so that the band's sum is zero. */
function bandFromFields(weights: readonly number[], from = 0): Band {
  let [first, end] = [0, weights.length];
  while (first < end && weights[first] === 0) first++;
  while (end > first && weights[end - 1] === 0) end--;
  if (first === end) return Object.freeze({ from: 0, weights: Object.freeze([0]) });
  return Object.freeze({ from: from + first, weights: Object.freeze(weights.slice(first, end)) });
}

/** Fields that exclude bands. */
export function checkBands(problem: Problem): FftProblem[] {
  const problems: FftProblem[] = [];
  const refuse = (path: string, message: string, code: FftErrorCode = 'unsupported-feature') =>
    problems.push({ code, path, message });
  const { size, transform, directions, placement, zeroPadding, layout } = problem;
  if (size.length > 1) refuse('bands', `bands weigh the bins of one axis, but size has ${size.length}; use batches.`);
  if (isRealTransform(transform[0])) {
    refuse('bands', `bands weigh the bins of 'r2c' and 'c2c' transforms, but transform is '${transform[0]}'.`);
  }
  if (directions !== 'forward') {
    const message = `bands have no inverse, but directions is '${directions}'; directions: 'forward' would do.`;
    refuse('directions', message);
  }
  if (placement === 'in-place') refuse('placement', "bands are shorter than lines: placement 'out-of-place' would do.");
  if (problem.omit[0]) refuse('omit[0]', 'bands weigh the bins of an axis that omit[0] leaves out; transform it.');
  if (problem.unordered) refuse('unordered', 'bands weigh bins in their order; leave unordered out.');
  if (problem.convolution) refuse('convolution', 'A plan with bands does not convolve; make a plan for each.');
  if (zeroPadding.frequency.some((block) => block !== null)) {
    refuse('zeroPadding.frequency', 'bands say which bins count; leave zeroPadding.frequency out.');
  }
  if (layout.output === 'planar') refuse('layout', "bands give reals, which have no layout 'planar'; leave it out.");
  return problems;
}
