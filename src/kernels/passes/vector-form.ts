/**
 * Leaves for vectors, and the form of their passes: whether they work in place or from array to array, where data lies between passes, and whether
 * it goes through them in slices. The form depends on the leaf alone.
 */

import { storageBytes } from '../../ir/index.ts';
import { allInMemory, strideAlong } from '../../layout/index.ts';
import { type Leaf, type LeafSide, type PassesStep, passesOf, stagedOf } from '../../plan/tree/leaf.ts';
import { numberTypeOf } from '../views/number-types.ts';

/** A leaf for vectors: all its passes go along one axis. */
export interface VectorLeaf
  extends Leaf,
    Pick<PassesStep, 'radices' | 'lanesAlong' | 'convolved' | 'rader' | 'symmetry'> {
  readonly length: number;
  /** One transform whose points are all in memory and are loaded and stored unchanged, without factors. */
  readonly plain: boolean;
  readonly staged: ReturnType<typeof stagedOf>;
}

/** A leaf for vectors, with the fields of its passes. */
export function vectorLeaf(leaf: Leaf): VectorLeaf {
  const [{ radices, convolved = [], rader = [], lanesAlong, symmetry, read, write }, ...more] = passesOf(leaf) as [
    PassesStep,
    ...PassesStep[],
  ];
  const sides = [leaf.input, leaf.output];
  const plain =
    !read &&
    !write &&
    more.length === 0 &&
    sides.every(({ layout, format, factors }) => !factors && format !== 'real' && allInMemory(layout));
  const passes = { radices, convolved, rader, lanesAlong, ...(symmetry ? { symmetry } : {}) };
  return { ...leaf, length: leaf.lengths[0]!, ...passes, plain, staged: stagedOf(leaf) };
}

/** Bytes of the emitter's vectors, and of the widest number in a lane: the parts of wider numbers are in separate vectors. */
const VECTOR_BYTES = 16;
const WIDEST_BYTES = 8;

/** Lanes of the emitter's vectors, which the profile does not change. Items that do not fill a vector run one by one, not in packed lanes. */
export function longestVector(precision: Leaf['precision']): number {
  return VECTOR_BYTES / Math.min(WIDEST_BYTES, storageBytes(numberTypeOf(precision)));
}

/**
 * Bytes of an array between passes from which on it does not stay in the first-level cache while the first pass writes it. For shorter
 * transforms that pass reads in order; for longer ones it writes whole cache lines. (Tiles of several columns write whole lines in any
 * order, so for them only the order of reading matters.)
 */
const NEAR_BYTES = 2 ** 15;

/**
 * The most bytes of a transform in autosort form that uses shared arrays only, and writes the output in its last pass. A shared array has a
 * better format for vectors.
 */
const SMALL_BYTES = 2 ** 13;

/**
 * A transform in place of more than `above` bytes goes through its passes after the first one slice by slice: a slice is a block of at most
 * `each` bytes that passes leave. A slice stays in a second-level cache, as does a whole transform of up to `above` bytes, and only the
 * first pass and the last ones walk through the whole transform.
 */
const SLICES = { above: 2 ** 19, each: 2 ** 17 };

export interface VectorForm {
  /** Every vector of every pass begins at a multiple of the lane count, so that it is a whole block of the blocked format. */
  readonly aligned: boolean;
  /** All passes but the first one write where they read. */
  readonly inPlace: boolean;
  /** Passes use the output as their working array: all of them, or every second one, alternating with a shared array. */
  readonly worksInOutput: boolean;
  /** The output of the first pass does not stay in the first-level cache (a tile of one transform only). */
  readonly far: boolean;
  /** The first pass transposes a tile of several transforms: after it, each goes through its passes on its own. */
  readonly transposed: boolean;
  /** Distance from one transform to the next in shared memory, in elements. */
  readonly pitch: number;
  /** Elements of a slice; 0 if there are no slices. */
  readonly slice: number;
}

export function vectorForm(leaf: VectorLeaf): VectorForm {
  const { lanes, lanesAlong, length, precision, radices, shared, tile } = leaf;
  const [firstRadix, ...rest] = radices;
  const bytes = 2 * length * storageBytes(numberTypeOf(precision));
  // The first pass of a transposed tile writes all its transforms alternately. A line of padding between transforms avoids cache conflicts
  // of lines that lie a power of two apart.
  const transposed = lanesAlong.input !== lanesAlong.output && tile > 1;
  const pitch = length + (transposed ? 2 * lanes : 0);
  const aligned =
    shared.format === 'blocked' &&
    (lanesAlong.output === 'batch'
      ? tile % lanes === 0
      : firstRadix! % lanes === 0 && rest.every((radix) => (length / radix) % lanes === 0));
  const inPlace =
    !leaf.symmetry && !leaf.rader?.length && rest.length > 0 && fillsVectors(leaf, aligned) && reversesDigits(leaf);
  const reachesOutput = inPlace ? fitsOutput(leaf, aligned) : rest.length > 1 && bytes > SMALL_BYTES;
  return {
    aligned,
    inPlace,
    worksInOutput: hasOutputToItself(leaf) && reachesOutput,
    far: tile === 1 && bytes >= NEAR_BYTES,
    transposed,
    pitch,
    slice:
      inPlace && tile === 1 && leaf.lengths.length === 1 && lanesAlong.output === 'axis' && bytes > SLICES.above
        ? longestSlice(radices, (SLICES.each * length) / bytes)
        : 0,
  };
}

/** The length of the longest blocks that passes leave, at most `most`. */
function longestSlice(radices: readonly number[], most: number): number {
  let slice = 1;
  for (const radix of radices) {
    if (slice * radix > most) break;
    slice *= radix;
  }
  return slice;
}

/**
 * Whether butterflies fill vectors, except for at most one that is left over, which costs as much as a vector. (The search for radices,
 * plan/group/radix.ts, assumes this and `reversesDigits` for interleaved data.)
 */
function fillsVectors({ lanes, lanesAlong }: VectorLeaf, aligned: boolean): boolean {
  return aligned || (lanesAlong.output === 'axis' && lanes <= 2);
}

/**
 * Whether a first pass that reverses digits fills its lanes. Along the axis, lanes walk along the last digit, with both parts of each number
 * if these are packed.
 */
function reversesDigits(leaf: VectorLeaf): boolean {
  const { lanes, lanesAlong, radices } = leaf;
  return lanesAlong.input === 'batch' || ((readsPairs(leaf) ? 2 : 1) * radices.at(-1)!) % lanes === 0;
}

/** Whether neighbours along the first dimension of a tile lie side by side. */
function liesInOrder({ layout, format }: LeafSide): boolean {
  return strideAlong(layout, 0) === (format === 'interleaved' ? 2 : 1);
}

/** Whether a first pass along the axis may use packed lanes. */
function readsPairs({ input, plain, scale, twiddle, outerTwiddle }: VectorLeaf): boolean {
  const isUnchanged =
    plain &&
    !input.callback &&
    [twiddle, outerTwiddle].every((own) => (own?.on ?? 'output') === 'output') &&
    scale.input === 1;
  return input.format === 'interleaved' && liesInOrder(input) && isUnchanged;
}

/**
 * Whether the output holds one transform only, in order, and may be used as a working array. Transforms of a batch are faster with a shared
 * array that stays in the cache; they write the output once and in order.
 */
function hasOutputToItself({ aliased, batch, lanesAlong, output, plain, staged }: VectorLeaf): boolean {
  const along = lanesAlong.input === 'axis' && lanesAlong.output === 'axis' && liesInOrder(output);
  const direct = plain && output.storage === undefined && !aliased && !staged.input && !staged.output;
  return along && direct && batch.every((count) => count === 1);
}

/** Whether the last pass can work in place in the output: it turns blocks into interleaved numbers vector by vector. */
function fitsOutput(leaf: VectorLeaf, aligned: boolean): boolean {
  return leaf.output.format === 'planar' ? !readsPairs(leaf) : aligned && leaf.lanes <= longestVector(leaf.precision);
}
