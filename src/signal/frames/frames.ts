/**
 * Spectra of the frames of a signal, many at a time: the basis of all short-time transforms. One plan reads frames where they lie in the signal,
 * through overlapping strides; its callbacks subtract a trend and multiply by the window while it reads, and compute powers while it writes; output
 * strides may put frames side by side. The host only copies, and computes the trends.
 */
import type { Device, DeviceMemory, Plan } from '../../engine/index.ts';
import type { Callback, CallbackReal, Callbacks, CallbackValue, ProblemInput } from '../../problem/index.ts';
import type { Floats } from '../arguments/floats.ts';
import { type Lines, readLineAs } from '../arguments/lines.ts';
import { type PlanRequest, type Workplace, withWorkplace } from '../calls/plans.ts';
import { placesFor, type WorkMemory, workOn } from '../calls/work.ts';
import type { Trend } from '../filters/detrend.ts';
import { fillTrends, type TrendFrames } from './frame-trends.ts';

/** Output of a bin: the complex number, its power, its absolute value, or its product with the conjugate of another spectrum's bin (`product`). */
export type BinPart = 'complex' | 'power' | 'magnitude' | 'product';

/** The frames of a line, and the way in which they are transformed. */
export interface FrameSpec {
  /** Samples in a frame. */
  readonly size: number;
  /** Whether frames are transformed without a window. */
  readonly flat: boolean;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** Length of the transforms; shorter frames are padded with zeros. */
  readonly nfft: number;
  /** Number of frames. */
  readonly frames: number;
  readonly trend: Trend;
  /** Whether lines are of complex numbers. */
  readonly complex: boolean;
  /** Whether all nfft bins are wanted rather than bins 0 to ⌊nfft/2⌋; always true for complex lines. */
  readonly twoSided: boolean;
  readonly precision: 'single' | 'double';
  /** Factor of the spectra. */
  readonly scale: number;
  readonly part: BinPart;
  /** Whether powers and products are doubled in bins that stand for both signs of a frequency. */
  readonly doubled: boolean;
  /** Whether the output is bin by bin, with frames side by side; otherwise it is frame by frame. */
  readonly binsFirst: boolean;
}

/** The most numbers in one batch: some 16 MiB of single-precision input and output together. */
const POINTS_AT_ONCE = 2 ** 20;

/** The number of bins of a spectrum. */
export function binsOf({ nfft, twoSided }: Pick<FrameSpec, 'nfft' | 'twoSided'>): number {
  return twoSided ? nfft : Math.floor(nfft / 2) + 1;
}

/** The number of frames in a block: rounds of nearly equal size waste the fewest frames. */
export function batchesOf({ frames, nfft }: Pick<FrameSpec, 'frames' | 'nfft'>): number {
  const rounds = Math.ceil(frames / Math.max(1, Math.floor(POINTS_AT_ONCE / nfft)));
  return Math.ceil(frames / rounds);
}

/** The number of reals per bin of the output. */
export function realsOf({ part }: Pick<FrameSpec, 'part'>): 1 | 2 {
  return part === 'complex' || part === 'product' ? 2 : 1;
}

/** A plan for frames, with its window. */
export interface FrameRequest {
  readonly spec: FrameSpec;
  /** Window values for each sample of a frame, multiplied by the scale; undefined without a window. */
  readonly taper: Float64Array | undefined;
  readonly plan: PlanRequest;
}

/** @param window window values, one for each sample of a frame */
export function frameRequest(spec: FrameSpec, window: Float64Array): FrameRequest {
  const { scale, flat } = spec;
  // Plans for different windows and scales are the same, as the window's array holds both; without a window the scale is a part of the plan.
  const key = JSON.stringify({ ...spec, scale: flat ? scale : 1 });
  const taper = flat ? undefined : window.map((value) => value * scale);
  return { spec, taper, plan: { key: `frames ${key}`, problem: frameProblem(spec) } };
}

/** The plan request for a block of frames. */
function frameProblem(spec: FrameSpec): ProblemInput {
  const { nfft, size, hop, precision, flat, scale, trend, part, twoSided, binsFirst } = spec;
  const batches = batchesOf(spec);
  return {
    ...{ size: [nfft], batches, precision, directions: 'forward', transform: twoSided ? 'c2c' : 'r2c' },
    strides: { input: [1, 1, batches > 1 ? hop : nfft], ...(binsFirst ? { output: [1, batches, 1] } : {}) },
    ...(size < nfft ? { zeroPadding: { space: [{ from: size, to: nfft }] } } : {}),
    ...(flat ? { scale: { forward: scale } } : {}),
    ...(flat && trend === false && part === 'complex' ? {} : { callbacks: callbacksOf(spec) }),
  };
}

function callbacksOf(spec: FrameSpec): Callbacks {
  const { nfft, precision, trend, flat, part, doubled } = spec;
  const array = (length: number) => ({ type: precision === 'single' ? 'f32' : 'f64', length }) as const;
  const trends = batchesOf(spec) * (spec.twoSided ? 2 : 1);
  return {
    forward: {
      ...(trend === false && flat ? {} : { load: loadOf(spec) }),
      ...(part === 'complex' ? {} : { store: storeOf(spec) }),
    },
    arrays: {
      ...(flat ? {} : { window: array(nfft) }),
      ...(trend === false ? {} : { level: array(trends) }),
      ...(trend === 'linear' ? { slope: array(trends), ramp: array(nfft) } : {}),
      ...(doubled ? { sides: array(binsOf(spec)) } : {}),
      ...(part === 'product' ? { others: array(2 * binsOf(spec) * batchesOf(spec)) } : {}),
    },
  };

  /** A sample minus its trend, times the window. */
  function loadOf({ twoSided }: FrameSpec): Callback {
    return (x, value, { axis, batch }) => {
      const k = axis[0]!;
      const changed = (sample: CallbackReal, plane: number) => {
        const line = twoSided ? x.index.add(x.index.mul(batch, 2), plane) : batch;
        const rise = trend === 'linear' ? x.mul(x.load('slope', line), x.load('ramp', k)) : undefined;
        const level = trend === false ? undefined : x.load('level', line);
        const fit = level && rise ? x.add(level, rise) : level;
        const rest = fit ? x.sub(sample, fit) : sample;
        return flat ? rest : x.mul(x.load('window', k), rest);
      };
      return twoSided ? { re: changed(value.re, 0), im: changed(value.im, 1) } : changed(value, 0);
    };
  }
}

function storeOf(spec: FrameSpec): Callback {
  const { part, doubled } = spec;
  if (part === 'magnitude') return magnitude;
  return part === 'power' ? powerOf(doubled) : productOf(doubled, binsOf(spec));
}

/** The product conj(other) · value; the other spectra are stored frame by frame, as the result is. */
function productOf(doubled: boolean, bins: number): Callback {
  return (x, { re, im }, { axis, batch }) => {
    const at = x.index.mul(x.index.add(x.index.mul(batch, bins), axis[0]!), 2);
    const [a, b] = [x.load('others', at), x.load('others', x.index.add(at, 1))];
    const sided = (value: CallbackReal) => (doubled ? x.mul(x.load('sides', axis[0]!), value) : value);
    return {
      re: sided(x.add(x.mul(a, re), x.mul(b, im))),
      im: sided(x.sub(x.mul(a, im), x.mul(b, re))),
    };
  };
}

/** The power of a bin, doubled for bins that stand for both signs of a frequency. */
export function powerOf(doubled: boolean): Callback {
  return (x, { re, im }, at) => {
    const power = x.add(x.mul(re, re), x.mul(im, im));
    return doubled ? x.mul(x.load('sides', at.axis[0]!), power) : power;
  };
}

/** The absolute value, without squares that overflow; NaN if either part is NaN. */
export const magnitude: Callback = (x, value: CallbackValue) => {
  const [re, im] = [x.abs(value.re), x.abs(value.im)];
  const isLess = x.less(re, im);
  const [large, small] = [x.select(isLess, im, re), x.select(isLess, re, im)];
  const zero = x.constant(0);
  const ratio = x.select(x.less(zero, large), x.div(small, large), small);
  return x.mul(large, x.sqrt(x.add(x.constant(1), x.mul(ratio, ratio))));
};

/** Working memory for calls of a plan of frames. */
interface FramePlace extends Workplace {
  readonly line: WorkMemory;
  readonly spectra: WorkMemory;
  readonly arrays: Readonly<Record<string, WorkMemory>>;
  /** The window that the array `window` holds at present. */
  taper: Float64Array | undefined;
  /** The transform of the previous call. */
  transform: FrameTransform | undefined;
}

function placeOn(device: Device, spec: FrameSpec): FramePlace {
  const { precision, hop, nfft, frames, size, twoSided } = spec;
  const { arrays = {} } = callbacksOf(spec);
  const lengths: Record<string, number> = {
    line: ((frames - 1) * hop + nfft) * (twoSided ? 2 : 1),
    spectra: realsOf(spec) * binsOf(spec) * batchesOf(spec),
  };
  // The other spectra come from another transform.
  for (const [name, { length }] of Object.entries(arrays)) if (name !== 'others') lengths[name] = length;
  const { line, spectra, ...rest } = placesFor(lengths, (length) => workOn(device, length, precision));
  if (rest.ramp) for (let k = 0; k < size; k++) rest.ramp.array()[k] = k - (size - 1) / 2;
  // Bin 0 and, for an even length, the last bin have no partner of the opposite sign.
  rest.sides
    ?.array()
    .fill(2)
    .fill(1, 0, 1)
    .fill(nfft % 2 === 0 ? 1 : 2, nfft >> 1, (nfft >> 1) + 1);
  const free = () => [line!, spectra!, ...Object.values(rest)].forEach((memory) => memory.free());
  return { line: line!, spectra: spectra!, arrays: rest, taper: undefined, transform: undefined, free };
}

/** Transforms the frames of lines, block by block. */
export class FrameTransform {
  readonly spec: FrameSpec;
  /** Number of frames in a block. */
  readonly batches: number;
  /** Trend of each frame. */
  readonly bins: number;
  private readonly plan: Plan;
  private readonly place: FramePlace;
  private readonly arrays: Readonly<Record<string, Floats | DeviceMemory>>;
  /** Options of every call without `others`: always the same object, so that the plan recognises it. */
  private readonly given: { readonly arrays: object };
  /** The frames of a block, for their trends. */
  private readonly trends: TrendFrames;

  private constructor(spec: FrameSpec, plan: Plan, place: FramePlace) {
    this.spec = spec;
    this.plan = plan;
    this.place = place;
    this.batches = batchesOf(spec);
    this.bins = binsOf(spec);
    this.arrays = Object.fromEntries(Object.entries(place.arrays).map(([name, { data }]) => [name, data]));
    this.given = { arrays: this.arrays };
    const { size, hop, trend, twoSided } = spec;
    this.trends = { size, hop, trend, twoSided, frames: this.batches };
  }

  /** The transform in a working memory that stays with its plan: that of the previous call, if its request was the same. */
  static in(place: FramePlace, { spec, taper }: FrameRequest, plan: Plan): FrameTransform {
    if (taper && place.taper !== taper) {
      place.arrays.window!.array().set(taper);
      place.taper = taper;
    }
    if (place.transform?.spec !== spec) place.transform = new FrameTransform(spec, plan, place);
    return place.transform;
  }

  /**
   * Memory for a line: (frames − 1) · hop + nfft samples, complex where spectra have both signs of frequency. It is 0 where nothing has been written.
   */
  get line(): Floats {
    return this.place.line.array();
  }

  /** Copies a line into the memory from the beginning on, as far as frames reach. */
  read(lines: Lines, line: number): void {
    const { frames, hop, nfft, twoSided } = this.spec;
    const length = Math.min(lines.n, (frames - 1) * hop + nfft);
    readLineAs(lines, line, this.line, { at: 0, length, parts: twoSided ? 2 : 1 });
  }

  /**
   * Calls `visit` for each block of the line: `spectra` holds the bins of `count` frames from frame `first` on, in the order of the spec. It is valid
   * until `visit` returns.
   * @param visit also gets the number of frames at the block's beginning that an earlier block has had already
   */
  async each(visit: (spectra: Floats, first: number, count: number, skip: number) => void | Promise<void>) {
    const { frames } = this.spec;
    for (let done = 0; done < frames; done += this.batches) {
      // The last block has the same length as the others, so that it begins with frames that are done already.
      const first = Math.min(done, frames - this.batches);
      const skip = done - first;
      await visit(await this.block(first), done, this.batches - skip, skip);
    }
  }

  /** The spectra of a block. */
  get spectra(): WorkMemory['data'] {
    return this.place.spectra.data;
  }

  /**
   * Transforms the frames of a block, from frame `first` on.
   * @param others spectra that products are taken with
   */
  async block(first: number, others?: WorkMemory['data']): Promise<Floats> {
    const { spec, place, plan } = this;
    const given = others === undefined ? this.given : { arrays: { ...this.arrays, others } };
    const { trend, hop, twoSided, frames, nfft } = spec;
    const { line, spectra } = place;
    const parts = twoSided ? 2 : 1;
    const start = first * hop * parts;
    const isWhole = this.batches === frames;
    const length = ((this.batches - 1) * hop + nfft) * parts;
    const samples = isWhole ? line.data : line.array().subarray(start, start + length);
    if (trend !== false) {
      const { level, slope } = place.arrays;
      fillTrends(line.array(), start, this.trends, level!.array(), slope?.array());
    }
    await plan.forward(samples as never, spectra.data as never, given as never);
    return spectra.array();
  }
}

/**
 * Lends a transform of frames whose plan and memory are kept for the next call.
 * @throws FftError (as a rejection) the errors of `device.plan`, `out-of-memory`, and errors that `use` throws
 */
export function withFrames<T>(
  device: Device,
  request: FrameRequest,
  use: (transform: FrameTransform) => Promise<T>,
): Promise<T> {
  const make = () => placeOn(device, request.spec);
  return withWorkplace(device, request.plan, make, (plan, place) => use(FrameTransform.in(place, request, plan)));
}
