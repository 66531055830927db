/**
 * The rules about a problem as a whole: the limits of exact indices, the strides that it may have, and the features of this release.
 */
import { kernelsOfEach, resultSide } from '../convolution.ts';
import { excerpt, type FftErrorCode, type FftProblem } from '../errors.ts';
import {
  blocksOf,
  channelsOf,
  coordinatesOf,
  elementBytes,
  elementKind,
  hermitianLength,
  isRealTransform,
  keepsReals,
  stridedExtent,
  tensorShape,
  tensorSpan,
  withoutCallbacks,
} from '../layout/layout.ts';
import { findCollision } from '../layout/overlap.ts';
import { type Problem, type Side, type Storage, sides } from '../problem.ts';
import { checkBands } from './read-bands.ts';
import { checkConvolution } from './read-convolution.ts';

function found(code: FftErrorCode, path: string, message: string): FftProblem {
  return { code, path, message };
}

/** The product where every step is exact, else undefined. */
function exactProduct(factors: readonly number[]): number | undefined {
  let product = 1;
  for (const factor of factors) {
    product *= factor;
    if (!Number.isSafeInteger(product)) return undefined;
  }
  return product;
}

function sizeText({ size }: Problem): string {
  return excerpt(size.join(' × '));
}

/** The packed tensor must be addressable: every byte address has to be exact in a double. */
export function checkExtent(problem: Problem): FftProblem[] {
  const bytes = Math.max(elementBytes(problem, 'input'), elementBytes(problem, 'output'));
  const limit = `so that byte addresses pass 2^53 - 1; ${Math.floor(Number.MAX_SAFE_INTEGER / bytes)} is the most`;
  if (exactProduct([...problem.size, bytes]) === undefined) {
    const message = `size has ${sizeText(problem)} elements of ${bytes} bytes, ${limit}.`;
    return [found('invalid-size', 'size', message)];
  }
  const { leftBatches, batches } = problem;
  const coordinates = Math.max(coordinatesOf(problem, 'input'), coordinatesOf(problem, 'output'));
  if (exactProduct([...problem.size, leftBatches, coordinates, batches, bytes]) === undefined) {
    const counts = `${leftBatches} left batches × ${coordinates} coordinates × ${batches} batches`;
    const message = `${counts} of size ${sizeText(problem)} have elements of ${bytes} bytes, ${limit}.`;
    return [found('invalid-batches', 'batches', message)];
  }
  const kernels = problem.convolution ? kernelsOfEach(problem.convolution) : 1;
  if (exactProduct([...problem.size, leftBatches, coordinates, batches, kernels, bytes]) === undefined) {
    const message = `convolution.kernels is ${kernels}, whose results of size ${sizeText(problem)} have elements of ${bytes} bytes, ${limit}.`;
    return [found('invalid-field', 'convolution.kernels', message)];
  }
  return [];
}

/** Strides and offsets of a problem whose shape is valid. */
export function checkGeometry(problem: Problem): FftProblem[] {
  const problems = checkInPlace(problem);
  for (const side of sides) {
    const unsafe = checkAddresses(problem, side);
    problems.push(...unsafe);
    if (unsafe.length > 0 || !mustNotOverlap(problem, side)) continue;
    // In place there is one tensor, which needs one message.
    if (side === 'input' && problem.placement === 'in-place' && sameStrides(problem)) continue;
    problems.push(...checkOverlap(problem, side));
  }
  return problems;
}

/** The strides as the user gave them: one coordinate has no stride. */
function stridesText(problem: Problem, side: Side): string {
  const { strides, size } = problem;
  const coordinates = coordinatesOf(problem, side);
  const shown = strides[side].filter((_, d) => coordinates > 1 || d !== size.length + 1);
  return `strides.${side} [${excerpt(shown.join(', '))}]`;
}

/** Whether both sides have the same strides; a dimension of one element has no neighbours, so its stride does not matter. */
function sameStrides(problem: Problem): boolean {
  const { input, output } = problem.strides;
  return tensorShape(problem, 'input').every((count, d) => count === 1 || input[d] === output[d]);
}

/** The rules in place: data that keep their type keep their place. */
function checkInPlace(whole: Problem): FftProblem[] {
  if (whole.placement !== 'in-place') return [];
  const broken = checkKept(whole);
  if (broken.length > 0) return broken;
  const problem = withoutCallbacks(whole);
  const { offsets, layout } = problem;
  if (elementKind(problem, 'input') !== elementKind(problem, 'output')) {
    if (layout.output === 'interleaved') return [];
    const given = `layout.output 'planar'`;
    return [found('invalid-field', 'layout', `In place, ${given} cannot be: reals and spectrum share one buffer.`)];
  }
  const problems: FftProblem[] = [];
  if (!sameStrides(problem)) {
    const given = `${stridesText(problem, 'input')} and ${stridesText(problem, 'output')}`;
    problems.push(found('invalid-strides', 'strides', `In place, ${given} must be equal: there is one buffer.`));
  }
  if (offsets.input !== offsets.output) {
    const given = `offsets.input ${offsets.input} and offsets.output ${offsets.output}`;
    problems.push(found('invalid-offset', 'offsets', `In place, ${given} must be equal: there is one buffer.`));
  }
  if (layout.input !== layout.output) {
    const given = `layout.input '${layout.input}' and layout.output '${layout.output}'`;
    problems.push(found('invalid-field', 'layout', `In place, ${given} must be equal: there is one buffer.`));
  }
  return problems;
}

/** The rule in place for callbacks: the real that a callback leaves lies where the real part would. */
function checkKept(problem: Problem): FftProblem[] {
  return sides.flatMap((side) => {
    if (!keepsReals(problem, side)) return [];
    const callback = `callbacks.${side === 'output' ? 'forward' : 'inverse'}.store`;
    const why = `In place, ${callback} leaves reals where the real parts of complex numbers would be`;
    if (problem.layout[side] === 'planar') {
      return [found('invalid-field', 'layout', `${why}: layout.${side} 'planar' cannot be.`)];
    }
    const counts = tensorShape(problem, side);
    if (problem.strides[side].some((stride, d) => counts[d]! > 1 && stride % 2 !== 0)) {
      return [found('invalid-strides', `strides.${side}`, `${why}: ${stridesText(problem, side)} must be even.`)];
    }
    if (problem.offsets[side] % 2 === 0) return [];
    const given = `offsets.${side} ${problem.offsets[side]}`;
    return [found('invalid-offset', `offsets.${side}`, `${why}: ${given} must be even.`)];
  });
}

function checkAddresses(problem: Problem, side: Side): FftProblem[] {
  const bytes = elementBytes(problem, side);
  const isSafe = (elements: number) => Number.isSafeInteger(elements * bytes);
  const { before, behind } = stridedExtent(writtenShape(problem, side), problem.strides[side]);
  const span = behind + 1;
  if (!isSafe(before + span)) {
    const message = `${stridesText(problem, side)} reach byte addresses beyond 2^53 - 1.`;
    return [found('invalid-strides', `strides.${side}`, `${message} Smaller strides are needed.`)];
  }
  if (!isSafe(Math.max(tensorSpan(problem, side), problem.offsets[side] + span))) {
    const message = `offsets.${side} ${problem.offsets[side]} moves elements to byte addresses beyond 2^53 - 1.`;
    return [found('invalid-offset', `offsets.${side}`, `${message} A smaller offset is needed.`)];
  }
  if (problem.offsets[side] < before) {
    const given = `${stridesText(problem, side)} reach ${before} elements in front of the first`;
    const message = `${given}, but offsets.${side} is ${problem.offsets[side]}; it has to be ${before} or more.`;
    return [found('invalid-offset', `offsets.${side}`, message)];
  }
  return [];
}

/**
 * Whether the elements of a side must not share memory. They may on a side that is never written: read by the only direction planned, and
 * preserved.
 */
function mustNotOverlap(problem: Problem, side: Side): boolean {
  if (!problem.preserveInput || isResult(problem, side)) return true;
  if (channelsOf(problem)) return false;
  if (problem.directions === 'both') return true;
  return side === (problem.directions === 'forward' ? 'output' : 'input');
}

/** Whether the result of a convolution has the strides of a side. */
function isResult(problem: Problem, side: Side): boolean {
  return problem.convolution !== null && side === resultSide(problem);
}

/** The shape that the strides of a side are for: the result of a convolution has batches for every kernel. */
function writtenShape(problem: Problem, side: Side): number[] {
  const shape = tensorShape(problem, side);
  if (isResult(problem, side)) shape.push(shape.pop()! * kernelsOfEach(problem.convolution!));
  return shape;
}

function checkOverlap(problem: Problem, side: Side): FftProblem[] {
  const shape = writtenShape(problem, side);
  const strides = problem.strides[side];
  const collision = findCollision(shape, strides);
  if (collision === undefined) return [];
  const path = `strides.${side}`;
  const shown = stridesText(problem, side);
  if (collision === 'undecided') {
    const remedy = 'Choose strides of which each steps over the whole extent of the smaller ones.';
    return [found('overlapping-strides', path, `${shown} cannot be shown to keep all elements apart. ${remedy}`)];
  }
  const { first, second } = collision;
  const involved = shape.map((_, d) => d).filter((d) => first[d] !== second[d]);
  const ofKernels = isResult(problem, side) && kernelsOfEach(problem.convolution!) > 1;
  const axes = involved.map(
    (d) => `${dimensionName(problem, d, ofKernels)} (length ${shape[d]}, stride ${strides[d]})`,
  );
  const index = (tuple: readonly number[]) => `(${excerpt(involved.map((d) => tuple[d]).join(', '))})`;
  const location = first.reduce((sum, k, d) => sum + k * strides[d]!, 0);
  const elements = `their elements ${index(first)} and ${index(second)} are both at ${location}`;
  return [found('overlapping-strides', path, `${shown} make ${excerpt(axes.join(' and '))} overlap: ${elements}.`)];
}

function dimensionName(problem: Problem, dimension: number, ofKernels: boolean): string {
  const axes = problem.size.length;
  if (dimension === 0) return 'the left batch';
  if (dimension <= axes) return `axis ${dimension - 1}`;
  if (dimension === axes + 1) return 'the coordinates';
  return ofKernels ? 'the batches of all kernels' : 'the batch';
}

/** The features that only complex transforms have. */
function checkReal(problem: Problem): FftProblem[] {
  if (problem.transform[0] === 'c2c') return [];
  const problems: FftProblem[] = [];
  const refuse = (path: string, message: string) => problems.push(found('unsupported-feature', path, message));
  if (isRealTransform(problem.transform[0])) return [...problems, ...checkSums(problem)];
  if (problem.omit[0])
    refuse('omit[0]', 'omit[0] leaves out the axis that makes complex numbers of reals; omit others.');
  const bins = hermitianLength(problem.size[0]!);
  const block = blocksOf(problem, 'output')[0];
  if (block && (block.to > bins || block.to - block.from >= bins)) {
    const path = 'zeroPadding.frequency[0]';
    const given = `${path} is from ${block.from} to ${block.to}; a real transform of ${problem.size[0]} points has ${bins} bins`;
    problems.push(found('invalid-field', path, `${given}, of which a block leaves some.`));
  }
  return problems;
}

function checkSums({ size, transform, omit }: Problem): FftProblem[] {
  return size.flatMap((length, axis) => {
    if (transform[axis] !== 'dct1' || length > 1 || omit[axis]) return [];
    const message = `size[${axis}] is 1, but a transform of kind 'dct1' has 2 points or more.`;
    return [found('invalid-size', `size[${axis}]`, message)];
  });
}

/** Features that are valid, but not in this release. */
export function checkRelease(problem: Problem): FftProblem[] {
  const problems: FftProblem[] = [];
  const refuse = (path: string, message: string) => problems.push(found('unsupported-feature', path, message));
  const padded = (side: Side) => blocksOf(problem, side).some((block) => block !== null);
  if (problem.unordered && padded('output')) {
    refuse('zeroPadding.frequency', 'zeroPadding.frequency does not go together with unordered bins; leave one out.');
  }
  problems.push(...checkReal(problem));
  if (problem.convolution) problems.push(...checkConvolution(problem));
  if (problem.bands) problems.push(...checkBands(problem));
  const widths: readonly Storage[] = ['half', 'single', 'double', 'double-double'];
  const wide = new Set<Storage>([problem.precision]);
  for (const field of ['storage', 'edgeStorage'] as const) {
    // The default of `edgeStorage` is `storage`, so the same value is reported once.
    const isNarrow = widths.indexOf(problem[field]) <= widths.indexOf(problem.precision);
    if (isNarrow || wide.has(problem[field])) continue;
    wide.add(problem[field]);
    const given = `${field} '${problem[field]}' with arithmetic in '${problem.precision}'`;
    refuse(field, `${given} is not supported: numbers are stored as they are computed, or narrower.`);
  }
  return problems;
}
