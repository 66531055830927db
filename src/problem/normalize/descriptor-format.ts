/**
 * The writer of bbfft descriptors from problems: the inverse of descriptor.ts, which gives the grammar.
 */

import { type FftProblem, throwIfAny } from '../errors.ts';
import { blocksOf, defaultStrides } from '../layout/layout.ts';
import type { AnyProblemInput, Problem } from '../problem.ts';
import { maximumAxes, sidesOfDirections } from './descriptor.ts';
import { resolveProblem } from './normalize.ts';

/**
 * Writes a problem as a descriptor; default strides and batches of 1 are left out. A descriptor has one direction: a
 * problem for both is written as its forward transform.
 * @throws FftError `unsupported-feature` where the problem says something that a descriptor cannot, or as
 *   `normalizeProblem` where it is wrong
 */
export function formatDescriptor(input: AnyProblemInput): string {
  const problem = resolveProblem(input, inexpressible('callbacks'));
  throwIfAny(unsayable(problem));
  const { size, leftBatches, batches, placement, directions } = problem;
  const letters = [
    problem.precision === 'single' ? 's' : 'd',
    problem.transform[0] === 'r2c' ? 'r' : 'c',
    directions === 'inverse' ? 'b' : 'f',
    placement === 'in-place' ? 'i' : 'o',
  ].join('');
  const left = leftBatches === 1 ? '' : `${leftBatches}.`;
  const right = batches === 1 ? '' : `*${batches}`;
  return `${letters}${left}${size.join('x')}${right}${formatStrides(problem)}`;
}

function formatStrides(problem: Problem): string {
  const coordinate = problem.size.length + 1;
  const sayable = (list: readonly number[]) => list.filter((_, i) => i !== coordinate).join();
  const { reading, writing } = sidesOfDirections(problem.directions);
  const lists = [reading, writing].map((side) => ({
    text: sayable(problem.strides[side]),
    usual: sayable(defaultStrides(problem, side)),
  }));
  const isCustom = lists.map(({ text, usual }) => text !== usual);
  // A descriptor in place has to give both lists of strides even where one of them is the default.
  const both = problem.placement === 'in-place' && isCustom.includes(true);
  return lists.map(({ text }, i) => (both || isCustom[i] ? `${'io'[i]}${text}` : '')).join('');
}

/** All properties of a problem that the grammar cannot express. */
function unsayable(problem: Problem): FftProblem[] {
  const { precision, storage, edgeStorage, layout, strides, offsets, scale } = problem;
  const kind = problem.transform[0];
  const facts: readonly [path: string, isSaid: boolean, what: string][] = [
    ['size', problem.size.length <= maximumAxes, `${problem.size.length} axes (three are the most)`],
    ['transform', kind === 'c2c' || kind === 'r2c', `the transform '${kind}'`],
    ['omit', !problem.omit.includes(true), 'omitted axes'],
    ['precision', precision !== 'double-double', `the precision '${precision}'`],
    ['storage', storage === precision, `the storage '${storage}'`],
    ['edgeStorage', edgeStorage === precision, `the edge storage '${edgeStorage}'`],
    ['layout', layout.input === 'interleaved' && layout.output === 'interleaved', 'planar data'],
    ['coordinates', problem.coordinates === 1, 'coordinates'],
    ['preserveInput', problem.preserveInput || problem.placement === 'in-place', 'an input that may be overwritten'],
    ['offsets', offsets.input === 0 && offsets.output === 0, 'offsets'],
    ['strides', [...strides.input, ...strides.output].every((stride) => stride > 0), 'strides that are not positive'],
    ['normalize', !problem.normalize, 'normalisation'],
    [
      'zeroPadding',
      !blocksOf(problem, 'input').some(Boolean) && !blocksOf(problem, 'output').some(Boolean),
      'blocks of zeros',
    ],
    ['bands', problem.bands === null, 'bands'],
    ['convolution', problem.convolution === null, 'convolutions'],
    ['scale', scale.forward === 1 && scale.inverse === 1, 'scale factors'],
    ['unordered', !problem.unordered, 'unordered results'],
    ['strategy', problem.strategy === 'fast', `the strategy '${problem.strategy}'`],
    ['tuning', Object.keys(problem.tuning).length === 0, 'tuning'],
    ['debug', !problem.debug, 'debugging'],
  ];
  return facts
    .filter(([, isSaid]) => !isSaid)
    .map(([path, , what]) => ({
      code: 'unsupported-feature',
      path,
      message: inexpressible(what),
    }));
}

function inexpressible(what: string): string {
  return `A descriptor cannot express ${what}; give the problem as an object.`;
}
