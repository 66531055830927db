/**
 * Makes the leaf of a launch that computes weighted sums over bins. A group takes a tile of lines. Where the launch also transforms them, their
 * bins are a plane in shared memory, [bins × lines of the tile]; otherwise they are read from memory.
 */
import { coordinatesUsed } from '../../problem/index.ts';
import { besideBytes, type Target } from '../device/target.ts';
import type { Span } from '../group/tiling.ts';
import type { BandsStep, Leaf, LeafSide, Operand } from '../tree/leaf.ts';
import type { BandSums, LeafNode } from '../tree/node.ts';
import { oneAxis } from './configure.ts';
import { leafOperands, leafSide } from './leaf-sides.ts';
import { mergedBatch, type PlacedLeaf, tensorPlaces } from './placed.ts';

/** The dimension of the tensor that counts bins on one side and bands on the other. */
const AXIS = 1;

const NOTHING = { input: [], output: [] } as const;

export function bandsLeaf(placed: PlacedLeaf, { bands, bin, there }: BandSums, target: Target): Leaf {
  return there ? transformAndSums(placed, { bands, bin, there }, target) : sumsAlone(placed, { bands, bin }, target);
}

/** Whether a group has room for the bins of its lines beside the lines themselves: for as many lines as fill a vector. */
export function holdsBands(there: LeafNode, target: Target): boolean {
  const lines = target.lockstep === 'vector' ? target.capacity.lanes : 1;
  const bytes = bandPlaneBytes(there, lines, target);
  if (bytes >= target.sharedBytes) return false;
  const points = there.convolved?.length ?? there.axis.count;
  return lines * points <= besideBytes(bytes, target).capacity.room;
}

/** The bytes of the bins of some lines. */
function bandPlaneBytes({ outputLength }: LeafNode, lines: number, { capacity }: Target): number {
  return (outputLength[AXIS]! * lines * capacity.complexBytes) / 2;
}

function transformAndSums(placed: PlacedLeaf, sums: Required<BandSums>, target: Target): Leaf {
  const batch = bandLines(placed);
  const transform = (tile: number, group?: number) =>
    oneAxis(
      thereOf(placed, sums, { batch, tile, ...(group ? { group } : {}) }),
      besideBytes(group ? bandPlaneBytes(sums.there, group, target) : 0, target),
    );
  // The bins of a tile take room from the lines, so that a tile may have to be smaller than one without bins.
  let there = transform(batch[0]!.count);
  for (let tile = 0; there.tile !== tile; ) {
    tile = there.tile;
    there = transform(tile, tile);
  }
  const { residentGroups: _, ...leaf } = there;
  const output = sumsSide({ ...placed, batch }, sums);
  const operands = [...new Map([...(there.operands ?? []), ...output.operands].map((one) => [one.name, one])).values()];
  const bins = sums.there.outputLength[AXIS]!;
  const step: BandsStep = { do: 'bands', bands: sums.bands, bins, there };
  return {
    ...leaf,
    ...{ lengths: [sums.bands.length], steps: [step], output: output.side },
    ...{ scale: { input: 1, output: 1 }, aliased: placed.aliased },
    ...(operands.length > 0 ? { operands } : {}),
  };
}

/** Loops over lines, the longest first, whose neighbours share a group. */
function bandLines(placed: PlacedLeaf): Span[] {
  const { there } = placed.node.bands!;
  const spans = there!.batch.map((_, n) => placed.batch[n]!);
  const { bin } = placed.node.bands!;
  // A callback for bins may ask for the numbers of their line.
  const isMerged = coordinatesUsed(bin).size === 0 || spans.length === 0;
  return [...(isMerged ? mergedBatch({ ...placed, batch: spans }) : spans)].sort((a, b) => b.count - a.count);
}

/** The transform of a tile, whose output is the plane of bins. */
function thereOf(
  placed: PlacedLeaf,
  { there, bin }: Required<BandSums>,
  { batch, tile, group }: { readonly batch: readonly Span[]; readonly tile: number; readonly group?: number },
): PlacedLeaf {
  const lengths = there.outputLength;
  // A tile after another uses the same plane.
  const line = { run: tile, next: 0 };
  const { load, realsOnly } = { load: placed.callbacks.input, realsOnly: placed.realsOnly.input };
  return {
    ...placed,
    node: there,
    axis: { ...placed.axis, output: tile * there.axis.output.stride },
    batch: batch.map((span, n) => ({ ...span, output: n === 0 ? line : 0 })),
    tensor: {
      input: placed.tensor.input,
      output: { lengths, strides: lengths.map((_, d) => (d === AXIS ? tile : 0)), offset: 0 },
    },
    format: { input: placed.format.input, output: 'real' },
    storage: { input: placed.storage.input, output: placed.precision },
    callbacks: { ...(load ? { input: load } : {}), output: bin },
    realsOnly: { ...(realsOnly ? { input: true } : {}), output: true },
    ...{ aliased: false, split: false, inOrder: group === undefined ? {} : { group } },
  };
}

function sumsAlone(placed: PlacedLeaf, sums: BandSums, target: Target): Leaf {
  const { node, precision } = placed;
  const own: PlacedLeaf = { ...placed, callbacks: { ...placed.callbacks, input: sums.bin } };
  const batch = [...mergedBatch(own)].sort((a, b) => b.count - a.count);
  const bins = node.length[AXIS]!;
  const output = sumsSide({ ...own, batch }, sums);
  const isVector = target.lockstep === 'vector';
  const { lanes } = target.capacity;
  const input = leafSide(own, shapeOf(batch, { ...placed.axis, count: bins }), 'input');
  const operands = new Map(
    [...(leafOperands(own).operands ?? []), ...output.operands].map((one): [string, Operand] => [one.name, one]),
  );
  return {
    ...{ precision, lengths: [sums.bands.length], steps: [{ do: 'bands', bands: sums.bands, bins }] },
    ...{ coupled: false, blocks: 1, batch: batch.map(({ count }) => count) },
    // Neighbouring threads take neighbouring bands, whose bins are close to one another.
    tile: isVector ? Math.min(batch[0]!.count, lanes) : 1,
    threads: isVector ? 1 : Math.min(target.maxThreads, BUSY_THREADS, sums.bands.length),
    ...{ lockstep: target.lockstep, lanes },
    shared: { format: target.sharedFormat, arrays: 1, banks: target.banks, room: target.capacity.room },
    ...{ input, output: output.side, inverse: false, scale: { input: 1, output: 1 }, aliased: placed.aliased },
    ...(operands.size > 0 ? { operands: [...operands.values()] } : {}),
  };
}

/** The most threads of a group that only computes sums. */
const BUSY_THREADS = 256;

/** The shape of a side that lanes walk through line by line. */
function shapeOf(batch: readonly Span[], axis: Span) {
  return {
    batch,
    counts: { input: [axis.count], output: [axis.count] },
    axes: { input: [axis.input], output: [axis.output] },
    places: tensorPlaces([axis]),
  };
}

/** The output of the sums, and the arrays that the user's callback for sums loads from. */
function sumsSide(
  placed: PlacedLeaf,
  { bands }: BandSums,
): { readonly side: LeafSide; readonly operands: readonly Operand[] } {
  const { axis, node, callbacks, tensor } = placed;
  const { real: _, ...plain } = node;
  const place = { dimension: AXIS, stride: 1 };
  const along: Span = {
    ...{ count: bands.length, input: axis.input, output: tensor.output.strides[AXIS]! },
    places: { input: place, output: place },
  };
  const own: PlacedLeaf = {
    ...placed,
    node: { ...plain, lines: NOTHING, zeros: NOTHING },
    factors: NOTHING,
    callbacks: callbacks.output ? { output: callbacks.output } : {},
    realsOnly: {},
  };
  return { side: leafSide(own, shapeOf(placed.batch, along), 'output'), operands: leafOperands(own).operands ?? [] };
}
