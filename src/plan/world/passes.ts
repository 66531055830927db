/** A pass of a rank as a problem of one device, with axes in blocks where messages lie in its memory. */
import {
  type BlockRun,
  normalizeProblem,
  type PlannedProblem,
  type SplitAxis,
  type Storage,
  withHalves,
  withSplitAxes,
} from '../../problem/index.ts';
import { lengthsOf, type WorldProblem } from '../../problem/world/index.ts';
import type { Decomposition } from './decompositions.ts';
import type { BoxInMemory } from './places.ts';
import { type PassPart, type PassStep, zerosWithin } from './schedule.ts';

/** A part of a pass, for one device. */
export interface LocalPass {
  readonly problem: PlannedProblem;
  /** The side whose numbers all count as zeros: nothing is read from it, or nothing is written to it. */
  readonly nothing: 'input' | 'output' | undefined;
}

/**
 * The problem of a part of a pass.
 * @param stages the number of stages: blocks of zeros belong to the input of the first and the output of the last
 */
export function localPass(
  { whole }: WorldProblem,
  { stages }: Decomposition,
  { stage, axes, halves }: Pick<PassStep, 'stage' | 'axes' | 'halves'>,
  { input, output }: PassPart,
): LocalPass {
  const none = whole.size.map(() => null);
  const space = stage === 0 ? zerosWithin(input.box, whole.zeroPadding.space) : none;
  const frequency = stage === stages.length - 1 ? zerosWithin(output.box, whole.zeroPadding.frequency) : none;
  const lengths = lengthsOf(input.box);
  const packed = normalizeProblem({
    size: lengths.slice(0, -1),
    batches: lengths.at(-1)!,
    transform: whole.transform[0] === 'r2c' && axes.includes(0) ? 'r2c' : 'c2c',
    omit: whole.size.map((_, axis) => !axes.includes(axis)),
    ...precisionFields(whole),
    normalize: whole.normalize,
    scale: stage === 0 ? whole.scale : { forward: 1, inverse: 1 },
    zeroPadding: { space: space === 'all' ? none : space, frequency: frequency === 'all' ? none : frequency },
    tuning: whole.tuning,
    debug: whole.debug,
  });
  const strides = { input: stridesOf(input), output: stridesOf(output) };
  const offsets = { input: firstBlock(input).offset, output: firstBlock(output).offset };
  const blocks = { input: splitAxisOfPlace(input), output: splitAxisOfPlace(output) };
  const problem = withHalves(withSplitAxes({ ...packed, strides, offsets }, blocks), halves);
  return { problem, nothing: space === 'all' ? 'input' : frequency === 'all' ? 'output' : undefined };
}

function precisionFields({ precision, storage, edgeStorage }: PlannedProblem) {
  return { precision: precision as Storage, storage, edgeStorage };
}

function firstBlock({ blocks }: BoxInMemory) {
  return blocks[0]!;
}

/** Strides in the order of a tensor: left batch, axes, coordinate, batches. */
function tensorStrides(strides: readonly number[]): number[] {
  const batch = strides.at(-1)!;
  return [1, ...strides.slice(0, -1), batch, batch];
}

function stridesOf(place: BoxInMemory): readonly number[] {
  return tensorStrides(firstBlock(place).strides);
}

/** The blocks of a place as an axis in blocks. Neighbouring blocks of one length at equal distances are one run. */
function splitAxisOfPlace({ blocks, dimension, memory }: BoxInMemory): SplitAxis | undefined {
  if (dimension === undefined || blocks.length === 1) return undefined;
  const first = blocks[0]!.offset;
  const runs: { -readonly [K in keyof BlockRun]: BlockRun[K] }[] = [];
  let end = 0;
  blocks.forEach((block) => {
    const length = block.to[dimension]! - block.from[dimension]!;
    const strides = tensorStrides(block.strides);
    const offset = block.offset - first;
    const run = runs.at(-1);
    const apart = offset - end;
    const fits =
      run?.length === length && (run.blocks === 1 || run.apart === apart) && hasSameStrides(run.strides, strides);
    if (fits && apart > 0) {
      run.blocks++;
      run.apart = apart;
    } else runs.push({ blocks: 1, length, offset, apart: 0, strides });
    end = offset;
  });
  const last = blocks[0]!.from.length - 1;
  const far = memory === 'window' ? { far: true } : {};
  return { dimension: dimension === last ? last + 2 : dimension + 1, runs, ...far };
}

function hasSameStrides(a: readonly number[], b: readonly number[]): boolean {
  return a.every((stride, d) => stride === b[d]);
}
