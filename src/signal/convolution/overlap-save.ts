/**
 * Convolutions by circular convolution plans. A period has to be only so long that wrapped-around terms stay out of the wanted part of the result;
 * the kernel is moved so that it begins where the period does. Along one axis the result may be cut into blocks, each made of a window of the signal
 * and the whole kernel (overlap-save; Oppenheim and Schafer, Discrete-Time Signal Processing, section 8.7.3): blocks are batches of one plan.
 */
import { nextFastLength } from '../../engine/fast-length.ts';
import type { Device, DeviceMemory, Plan } from '../../engine/index.ts';
import { dtypeOf, elementCount, floatZeros, isComplex, isSingle, type NumpyArray } from '../../numpy/arrays/array.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { Floats } from '../arguments/floats.ts';
import { eachRowOfBlock } from '../arguments/tensors.ts';
import { type PlanRequest, planRequest, type Workplace, withWorkplace } from '../calls/plans.ts';
import { unfilledOn, type WorkMemory } from '../calls/work.ts';

/** The wanted part of the whole convolution: a box. */
export interface Region {
  readonly origin: readonly number[];
  readonly shape: readonly number[];
}

/** The division of a result into blocks along an axis. */
export interface BlockCut {
  readonly axis: number;
  /** Elements of a block along that axis; the last one may have fewer. */
  readonly step: number;
}

export interface ConvolvedArrays {
  readonly signal: NumpyArray;
  /** Number of signals of this shape that lie one after another in the data, and of results. Default 1. */
  readonly slices?: number;
  readonly kernel: NumpyArray;
  /** Whether each signal has a kernel of its own; the kernels of this shape lie one after another in the data. */
  readonly ownKernels?: boolean;
  readonly region: Region;
  readonly cut: BlockCut;
  /** Whether the kernel is conjugated and reversed along all axes, for a correlation. */
  readonly correlates: boolean;
}

/** The most numbers in one batch. */
const POINTS_AT_ONCE = 2 ** 20;

/** The least part of a period that a block of zeros has to take up for kernels of its own to pay, because they take time to make. */
const LEAST_BLOCK = 1 / 8;

/** The convolution along one axis. */
interface Along {
  /** The first sample of the first block's window; the signal is zero outside its own range. */
  readonly from: number;
  /** Points of a window. */
  readonly window: number;
  /** Result elements in each block. */
  readonly step: number;
  readonly blocks: number;
  /** The kernel's first position in the period. */
  readonly at: number;
  readonly period: number;
}

/** The facts of a convolution that follow from the shapes and types of its arrays. */
export interface PlannedConvolution {
  readonly along: readonly Along[];
  readonly period: readonly number[];
  /** Blocks of all slices together. */
  readonly blocks: number;
  readonly batches: number;
  readonly parts: 1 | 2;
  readonly precision: 'single' | 'double';
  readonly request: PlanRequest;
}

/** A convolution that is being computed. */
type ConvolutionJob = ConvolvedArrays & PlannedConvolution;

/** @param convolution the arrays, of which only shapes and types matter here */
export function planOverlapSave(convolution: ConvolvedArrays): PlannedConvolution {
  const { signal, kernel, cut, correlates, slices = 1 } = convolution;
  const complex = isComplex(signal.dtype) || isComplex(kernel.dtype);
  const precision = isSingle(signal.dtype) && isSingle(kernel.dtype) ? 'single' : 'double';
  const along = signal.shape.map((_, d) => alongAxis(convolution, d, !complex && d === signal.shape.length - 1));
  const period = along.map((axis) => axis.period);
  const blocks = along[cut.axis]!.blocks * slices;
  // Rounds of nearly equal size waste the fewest batches.
  const rounds = Math.ceil(blocks / Math.max(1, Math.floor(POINTS_AT_ONCE / elementCount(period))));
  const batches = Math.ceil(blocks / rounds);
  const problem: ProblemInput = {
    ...{ size: [...period].reverse(), transform: complex ? 'c2c' : 'r2c', batches, precision, directions: 'forward' },
    ...unusedPoints(along, complex),
    convolution: {
      conjugate: correlates ? 'kernel' : 'none',
      ...(convolution.ownKernels ? { kernels: 'per-batch' } : {}),
    },
  };
  return { along, period, blocks, batches, parts: complex ? 2 : 1, precision, request: planRequest(problem) };
}

/**
 * A part of the convolution of two arrays with the same number of axes, none of length 0; or of several slices, one after another.
 * @throws FftError (as a rejection) `out-of-memory`, and the errors of `device.plan`
 */
export async function convolved(
  convolution: ConvolvedArrays,
  device: Device,
  planned = planOverlapSave(convolution),
): Promise<NumpyArray> {
  const { region, slices = 1 } = convolution;
  const { period, parts, batches, precision, request } = planned;
  const single = precision === 'single';
  const data = floatZeros(elementCount(region.shape) * slices * parts, single);
  const job: ConvolutionJob = { ...convolution, ...planned };
  const place = () => overlapMemory(device, elementCount(period) * parts * batches, precision);
  await withWorkplace(device, request, place, (plan, own) => runOverlapSave(job, plan, own, data));
  return { data, shape: [...region.shape], dtype: dtypeOf(parts === 2, single) } as NumpyArray;
}

/** The convolution along one axis. @param pairs whether real lines are processed two samples at a time */
function alongAxis({ signal, kernel, region, cut, correlates }: ConvolvedArrays, d: number, pairs: boolean): Along {
  const [n, m] = [signal.shape[d]!, kernel.shape[d]!];
  const [origin, count] = [region.origin[d]!, region.shape[d]!];
  const isCut = d === cut.axis && cut.step < count;
  const step = isCut ? cut.step : count;
  const window = isCut ? step + m - 1 : n;
  // The part of a window's convolution before the result.
  const before = isCut ? m - 1 : origin;
  const period = nextFastLength(Math.max(window, m, before + step, window + m - 1 - before), { real: pairs });
  // A conjugated and reversed kernel has its last point where the first one lies otherwise.
  const at = correlates ? before - m + 1 : -before;
  return { from: origin - before, window, step, blocks: Math.ceil(count / step), at: (at + period) % period, period };
}

/**
 * Points that are neither in a window nor in the result, as a zero block of the plan. Whole lines of such points are skipped, so that nothing is
 * saved along an axis whose neighbours in memory are lines themselves: a single axis, and the axis of reals.
 */
function unusedPoints(along: readonly Along[], complex: boolean): Pick<ProblemInput, 'zeroPadding'> {
  const last = along.length - (complex && along.length > 1 ? 0 : 1);
  const space = along.map(({ window, step, period }, d) => {
    const from = Math.max(window, step);
    return d < last && period - from >= LEAST_BLOCK * period ? { from, to: period } : null;
  });
  return space.some((block) => block !== null) ? { zeroPadding: { space: space.reverse() } } : {};
}

/** The working memory of convolutions of one problem. */
interface OverlapWorkplace extends Workplace {
  /** Memory for windows of the signal; before, it holds the kernel. */
  readonly waves: WorkMemory;
  readonly products: WorkMemory;
  /** Memory for prepared kernels, from the first one on. */
  kernel?: DeviceMemory;
}

function overlapMemory(device: Device, numbers: number, precision: 'single' | 'double'): OverlapWorkplace {
  const waves = unfilledOn(device, numbers, precision);
  try {
    const products = unfilledOn(device, numbers, precision);
    return {
      ...{ waves, products },
      free() {
        for (const work of [waves, products, this.kernel]) work?.free();
      },
    };
  } catch (error) {
    waves.free();
    throw error;
  }
}

async function runOverlapSave(job: ConvolutionJob, plan: Plan, place: OverlapWorkplace, result: Floats): Promise<void> {
  const { period, batches, parts, blocks, ownKernels } = job;
  const { waves, products } = place;
  const numbers = elementCount(period) * parts;
  const prepare = async (slices: readonly number[]) => {
    for (const [batch, slice] of slices.entries()) placeKernel(job, slice, waves.array(), batch);
    const count = ownKernels ? batches : 1;
    waves.array().fill(0, slices.length * numbers, count * numbers);
    place.kernel = await plan.prepareKernelIn(place.kernel, waves.array().subarray(0, count * numbers) as never);
    return place.kernel;
  };
  const shared = ownKernels ? undefined : await prepare([0]);
  for (let first = 0; first < blocks; first += batches) {
    const all = Array.from({ length: Math.min(batches, blocks - first) }, (_, k) => first + k);
    const kernel = shared ?? (await prepare(all.map((block) => sliceOfBlock(job, block)[0])));
    for (const [batch, block] of all.entries()) placeWindow(job, block, waves.array(), batch);
    // Two real lines may be transformed as one complex line, so that the unwanted part has to be zero.
    waves.array().fill(0, all.length * numbers);
    await plan.convolve(waves.array() as never, kernel, products.array() as never);
    for (const [batch, block] of all.entries()) copyBlock(job, block, products.array(), batch, result);
  }
}

/** A box of an array whose elements begin at number `start` of its data. */
interface ArrayBox {
  readonly data: Floats;
  readonly shape: readonly number[];
  readonly origin: readonly number[];
  readonly start: number;
  readonly parts: 1 | 2;
}

function boxOf({ data, shape, dtype }: NumpyArray, origin: readonly number[], slice = 0): ArrayBox {
  return { data: data as Floats, shape, origin, start: slice * elementCount(shape), parts: isComplex(dtype) ? 2 : 1 };
}

/** The slice that a block belongs to, and the block's index in the slice. */
function sliceOfBlock({ along, cut }: ConvolutionJob, block: number): readonly [slice: number, own: number] {
  const { blocks } = along[cut.axis]!;
  return [Math.floor(block / blocks), block % blocks];
}

function batchOf({ period, parts }: ConvolutionJob, data: Floats, batch: number, origin: readonly number[]): ArrayBox {
  return { data, shape: period, origin, start: batch * elementCount(period), parts };
}

/** Copies a box of elements; reals become complex numbers where the target is complex. */
function copy(lengths: readonly number[], from: ArrayBox, to: ArrayBox): void {
  const row = lengths.at(-1)! * from.parts;
  eachRowOfBlock(lengths, from, to, (a, b) => {
    const source = (from.start + a) * from.parts;
    const target = (to.start + b) * to.parts;
    if (from.parts === to.parts) to.data.set(from.data.subarray(source, source + row), target);
    else {
      for (let k = 0; k < row; k++) {
        to.data[target + 2 * k] = from.data[source + k]!;
        to.data[target + 2 * k + 1] = 0;
      }
    }
  });
}

/** Copies the kernel into a period, cyclically: elements that would lie behind the period's end come first. */
function placeKernel(job: ConvolutionJob, slice: number, target: Floats, batch: number): void {
  const { kernel, along, period, parts } = job;
  const numbers = elementCount(period) * parts;
  if (kernel.shape.some((m, d) => m < period[d]!)) target.fill(0, batch * numbers, (batch + 1) * numbers);
  const pieces = kernel.shape.map((m, d) => {
    const { at, period } = along[d]!;
    const first = Math.min(m, period - at);
    const rest = { from: first, to: 0, length: m - first };
    return [{ from: 0, to: at, length: first }, ...(rest.length > 0 ? [rest] : [])];
  });
  type Piece = (typeof pieces)[number];
  const boxes = pieces.reduce<Piece[]>((all, own) => all.flatMap((box) => own.map((piece) => [...box, piece])), [[]]);
  for (const box of boxes) {
    const [from, to, lengths] = (['from', 'to', 'length'] as const).map((key) => box.map((piece) => piece[key]));
    copy(lengths!, boxOf(kernel, from!, slice), batchOf(job, target, batch, to!));
  }
}

/** Copies a window of the signal to the beginning of one batch, with zeros outside the signal. */
function placeWindow(job: ConvolutionJob, block: number, target: Floats, batch: number): void {
  const { signal, along, cut, period, parts } = job;
  const [slice, own] = sliceOfBlock(job, block);
  const begin = along.map(({ from, step }, d) => from + (d === cut.axis ? own * step : 0));
  const from = begin.map((index) => Math.max(0, index));
  const to = begin.map((index, d) => Math.min(signal.shape[d]!, index + along[d]!.window));
  const lengths = to.map((index, d) => index - from[d]!);
  if (lengths.some((length, d) => length < period[d]!)) {
    const numbers = elementCount(period) * parts;
    target.fill(0, batch * numbers, (batch + 1) * numbers);
  }
  if (lengths.every((length) => length > 0)) {
    const there = from.map((index, d) => index - begin[d]!);
    copy(lengths, boxOf(signal, from, slice), batchOf(job, target, batch, there));
  }
}

/** Copies a block's result to its place in the output. */
function copyBlock(job: ConvolutionJob, block: number, products: Floats, batch: number, result: Floats): void {
  const { region, along, cut, parts } = job;
  const [slice, own] = sliceOfBlock(job, block);
  const origin = along.map(({ step }, d) => (d === cut.axis ? own * step : 0));
  const lengths = along.map(({ step }, d) => Math.min(step, region.shape[d]! - origin[d]!));
  const nowhere = origin.map(() => 0);
  copy(lengths, batchOf(job, products, batch, nowhere), {
    ...{ data: result, shape: region.shape, origin, start: slice * elementCount(region.shape), parts },
  });
}
