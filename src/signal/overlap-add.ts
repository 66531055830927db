/**
 * Convolutions by transforms. The longer array is cut along one axis into blocks; each is convolved with the other array, and
 * where blocks then overlap, they add up. One block is the whole array.
 */
import { nextFastLength } from '../engine/fast-length.ts';
import type { Device, Plan } from '../engine/index.ts';
import { isComplex, isSingle, type NumpyArray, product, zeros } from '../numpy/array.ts';
import type { ProblemInput } from '../problem/index.ts';
import type { Floats } from './floats.ts';
import { withPlan } from './plans.ts';
import { eachRow } from './tensors.ts';
import { type Work, workOn } from './work.ts';

/** What of the whole convolution is wanted: a box in it. */
export interface Region {
  readonly origin: readonly number[];
  readonly shape: readonly number[];
}

/** How an array is cut. */
export interface Cut {
  readonly axis: number;
  /** Elements of a block along that axis; the last one may have fewer. */
  readonly step: number;
}

/** Numbers in one batch, at most. */
const POINTS_AT_ONCE = 2 ** 20;

/** A convolution that is being computed. */
interface Job {
  readonly signal: NumpyArray;
  readonly kernel: NumpyArray;
  readonly region: Region;
  readonly cut: Cut;
  /** Lengths of the transforms. */
  readonly padded: readonly number[];
  readonly blocks: number;
  readonly batches: number;
  readonly complex: boolean;
  readonly precision: 'single' | 'double';
}

/**
 * A part of the convolution of two arrays of the same number of axes, none of length 0.
 * @throws FftError (as a rejection) `out-of-memory`, and those of `device.plan`
 */
export async function convolved(
  signal: NumpyArray,
  kernel: NumpyArray,
  cut: Cut,
  region: Region,
  device: Device,
): Promise<NumpyArray> {
  const complex = isComplex(signal.dtype) || isComplex(kernel.dtype);
  const single = isSingle(signal.dtype) && isSingle(kernel.dtype);
  const padded = paddedLengths(signal.shape, kernel.shape, cut, complex);
  const blocks = Math.ceil(signal.shape[cut.axis]! / cut.step);
  const batches = Math.max(1, Math.min(blocks, Math.floor(POINTS_AT_ONCE / product(padded))));
  const precision = single ? 'single' : 'double';
  const job: Job = { signal, kernel, region, cut, padded, blocks, batches, complex, precision };
  const problem: ProblemInput = {
    ...{ size: [...padded].reverse(), transform: complex ? 'c2c' : 'r2c', batches, precision, normalize: true },
  };
  const data = zeros(product(region.shape) * (complex ? 2 : 1), single);
  await withPlan(device, problem, (plan) => run(job, plan, device, data));
  const dtype = complex ? (single ? 'complex64' : 'complex128') : single ? 'float32' : 'float64';
  return { data, shape: [...region.shape], dtype } as NumpyArray;
}

/** Lengths that hold a block convolved with the kernel and are fast; real lines go two samples at a time, along the last axis. */
function paddedLengths(signal: readonly number[], kernel: readonly number[], cut: Cut, complex: boolean): number[] {
  const last = signal.length - 1;
  return signal.map((length, d) => {
    const block = d === cut.axis ? Math.min(cut.step, length) : length;
    return nextFastLength(block + kernel[d]! - 1, { real: !complex && d === last });
  });
}

async function run(job: Job, plan: Plan, device: Device, result: Floats): Promise<void> {
  const { padded, batches, complex, precision, blocks } = job;
  const points = product(padded);
  const bins = plan.output.length / batches;
  const waves = workOn(device, points * batches * (complex ? 2 : 1), precision);
  const spectra = workOn(device, 2 * bins * batches, precision);
  try {
    const whole = { axis: job.cut.axis, from: 0, length: job.kernel.shape[job.cut.axis]! };
    place(job, job.kernel, whole, waves.array(), 0);
    await plan.forward(waves.array(), spectra.array());
    const factor = spectra.array().slice(0, 2 * bins);
    for (let first = 0; first < blocks; first += batches) {
      const count = Math.min(batches, blocks - first);
      await convolveBlocks(job, plan, { waves, spectra, factor }, { first, count }, result);
    }
  } finally {
    waves.free();
    spectra.free();
  }
}

interface Memory {
  readonly waves: Work;
  readonly spectra: Work;
  /** Spectrum of the kernel. */
  readonly factor: Floats;
}

async function convolveBlocks(
  job: Job,
  plan: Plan,
  { waves, spectra, factor }: Memory,
  { first, count }: { readonly first: number; readonly count: number },
  result: Floats,
): Promise<void> {
  const blocks = Array.from({ length: count }, (_, k) => blockOf(job, first + k));
  waves.array().fill(0);
  for (const [k, block] of blocks.entries()) place(job, job.signal, block, waves.array(), k);
  await plan.forward(waves.array(), spectra.array());
  multiply(spectra.array(), factor);
  await plan.inverse(spectra.array(), waves.array());
  for (const [k, block] of blocks.entries()) add(job, block, waves.array(), k, result);
}

/** A stretch of an array along one axis. */
interface Block {
  readonly axis: number;
  readonly from: number;
  readonly length: number;
}

function blockOf({ signal, cut }: Job, n: number): Block {
  const from = n * cut.step;
  return { axis: cut.axis, from, length: Math.min(cut.step, signal.shape[cut.axis]! - from) };
}

/** Copies a block of an array to the beginning of one batch, where zeros are. */
function place(job: Job, { data, shape, dtype }: NumpyArray, block: Block, target: Floats, batch: number): void {
  const { padded, complex } = job;
  const lengths = shape.map((length, d) => (d === block.axis ? block.length : length));
  const origin = shape.map((_, d) => (d === block.axis ? block.from : 0));
  const nowhere = shape.map(() => 0);
  const start = batch * product(padded);
  const row = lengths.at(-1)!;
  const widened = complex && !isComplex(dtype);
  const parts = complex && !widened ? 2 : 1;
  eachRow(lengths, { shape, origin }, { shape: padded, origin: nowhere }, (from, to) => {
    const at = (start + to) * (complex ? 2 : 1);
    if (widened) for (let k = 0; k < row; k++) target[at + 2 * k] = data[from + k]!;
    else target.set(data.subarray(from * parts, (from + row) * parts), at);
  });
}

/** Adds what a block has become to the part of the result that it reaches. */
function add(
  { kernel, signal, region, padded, complex }: Job,
  block: Block,
  waves: Floats,
  batch: number,
  result: Floats,
) {
  const parts = complex ? 2 : 1;
  const begin = signal.shape.map((_, d) => (d === block.axis ? block.from : 0));
  const end = signal.shape.map((n, d) => begin[d]! + (d === block.axis ? block.length : n) + kernel.shape[d]! - 1);
  const from = begin.map((index, d) => Math.max(index, region.origin[d]!));
  const lengths = end.map((index, d) => Math.min(index, region.origin[d]! + region.shape[d]!) - from[d]!);
  if (lengths.some((length) => length <= 0)) return;
  const there = { shape: region.shape, origin: from.map((index, d) => index - region.origin[d]!) };
  const here = { shape: padded, origin: from.map((index, d) => index - begin[d]!) };
  const start = batch * product(padded);
  const row = lengths.at(-1)! * parts;
  eachRow(lengths, here, there, (source, target) => {
    const [s, t] = [(start + source) * parts, target * parts];
    for (let k = 0; k < row; k++) result[t + k]! += waves[s + k]!;
  });
}

/** Multiplies the spectra of all batches by one. */
function multiply(spectra: Floats, factor: Floats): void {
  for (let at = 0; at < spectra.length; at += factor.length) {
    for (let k = 0; k < factor.length; k += 2) {
      const [a, b, c, d] = [spectra[at + k]!, spectra[at + k + 1]!, factor[k]!, factor[k + 1]!];
      spectra[at + k] = a * c - b * d;
      spectra[at + k + 1] = a * d + b * c;
    }
  }
}
