/**
 * The form that passes take whose lanes are elements of vectors: whether they work in place or from array to array, where
 * the data lies meanwhile, and whether it goes through them in slices. Known from the leaf alone.
 */

import { bytesOf } from '../ir/index.ts';
import { strideOf } from '../layout/index.ts';
import type { Leaf, LeafSide } from '../plan/tree/leaf.ts';
import { typeOf } from './number-types.ts';
import type { VectorLeaf } from './vector-leaf.ts';

/** What the vectors of an emitter hold, and the widest number in one of them: of a wider one each part has vectors of its own. */
const VECTOR_BYTES = 16;
const WIDEST_BYTES = 8;

/** Lanes that an emitter may take at a time, whatever the profile says. What does not fill them goes one by one, not in pairs. */
export function longestVector(precision: Leaf['precision']): number {
  return VECTOR_BYTES / Math.min(WIDEST_BYTES, bytesOf(typeOf(precision)));
}

/**
 * Bytes of an array between passes from which on it does not stay in the first-level cache while it is written: a first pass
 * of shorter transforms had better read them in order, one of longer ones write whole lines. What several neighbouring columns write is
 * whole lines in any order, and what they read comes line by line from memory, where order matters more.
 */
const NEAR_BYTES = 2 ** 15;

/**
 * Bytes of a transform in autosort form up to which it leaves the output alone until its last pass: in a shared array both
 * parts of vectors lie better.
 */
const SMALL_BYTES = 2 ** 13;

/**
 * A transform of more bytes than `above` goes through its first passes in place slice by slice: blocks that its radices
 * leave, of at most `each` bytes, so that only the first pass and the last ones walk through all of it: a slice
 * stays in a second-level cache, as does a whole transform of up to `above`.
 */
const SLICES = { above: 2 ** 19, each: 2 ** 17 };

export interface VectorForm {
  /** Every vector of every pass begins at a multiple of the lane count, so that blocks are never torn. */
  readonly aligned: boolean;
  /** All passes but the first one write where they read. */
  readonly inPlace: boolean;
  /** What lies between passes lies in the output, which is written in any case, or alternates between there and an array. */
  readonly worksInOutput: boolean;
  /** What the first pass writes, of one transform by itself, does not stay in the first-level cache. */
  readonly far: boolean;
  /** The first pass transposes a tile of several transforms: after it, each goes through its passes on its own. */
  readonly transposed: boolean;
  /** From one transform to the next in shared memory, in elements. */
  readonly pitch: number;
  /** Elements of a slice; 0: there are none. */
  readonly slice: number;
}

export function vectorForm(leaf: VectorLeaf): VectorForm {
  const { lanes, lanesAlong, length, precision, radices, shared, tile } = leaf;
  const [firstRadix, ...rest] = radices;
  const bytes = 2 * length * bytesOf(typeOf(precision));
  // The first pass of a tile that is transposed writes all its transforms side by side: a line more between them, because
  // lines that lie a power of two apart share few places in a cache.
  const transposed = lanesAlong.input !== lanesAlong.output && tile > 1;
  const pitch = length + (transposed ? 2 * lanes : 0);
  const aligned =
    shared.format === 'blocked' &&
    (lanesAlong.output === 'batch'
      ? tile % lanes === 0
      : firstRadix! % lanes === 0 && rest.every((radix) => (length / radix) % lanes === 0));
  const inPlace = !leaf.symmetry && rest.length > 0 && fillsVectors(leaf, aligned) && reversesDigits(leaf);
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

/** The longest blocks that passes leave and that are not longer than this. */
function longestSlice(radices: readonly number[], most: number): number {
  let slice = 1;
  for (const radix of radices) {
    if (slice * radix > most) break;
    slice *= radix;
  }
  return slice;
}

/**
 * Whether whole vectors are all there is, or leave one butterfly of a run at the most, which costs what a vector would.
 * (Together with the next one, what the search for radices takes for granted of interleaved data: plan/group/radix.ts.)
 */
function fillsVectors({ lanes, lanesAlong }: VectorLeaf, aligned: boolean): boolean {
  return aligned || (lanesAlong.output === 'axis' && lanes <= 2);
}

/**
 * Whether the lanes of a first pass that reverses digits are filled: along the axis they take what the last digit counts,
 * where it can both parts of it.
 */
function reversesDigits(leaf: VectorLeaf): boolean {
  const { lanes, lanesAlong, radices } = leaf;
  return lanesAlong.input === 'batch' || ((readsPairs(leaf) ? 2 : 1) * radices.at(-1)!) % lanes === 0;
}

/** Whether neighbours along the first dimension of a tile lie side by side. */
function liesInOrder({ layout, format }: LeafSide): boolean {
  return strideOf(layout, 0) === (format === 'interleaved' ? 2 : 1);
}

/** Whether a first pass along the axis may leave the parts of its numbers together. */
function readsPairs({ input, plain, scale, twiddle }: VectorLeaf): boolean {
  const asTheyAre = plain && !input.callback && twiddle?.on !== 'input' && scale.input === 1;
  return input.format === 'interleaved' && liesInOrder(input) && asTheyAre;
}

/**
 * Whether all that the output will hold is one transform, element by element. Those of a larger batch are better
 * off with an array that stays near, and write the output, which comes from memory, once and in its order.
 */
function hasOutputToItself({ aliased, batch, lanesAlong, output, plain, staged }: VectorLeaf): boolean {
  const along = lanesAlong.input === 'axis' && lanesAlong.output === 'axis' && liesInOrder(output);
  const direct = plain && output.storage === undefined && !aliased && !staged.input && !staged.output;
  return along && direct && batch.every((count) => count === 1);
}

/** Whether passes in place can leave in the output what belongs there: the last one makes pairs of blocks, vector by vector. */
function fitsOutput(leaf: VectorLeaf, aligned: boolean): boolean {
  return leaf.output.format === 'planar' ? !readsPairs(leaf) : aligned && leaf.lanes <= longestVector(leaf.precision);
}
