/**
 * Spectra of the frames of a signal, many at a time: the basis of all short-time transforms. One plan reads frames where they lie in the signal,
 * through overlapping strides; its callbacks subtract a trend and multiply by the window while it reads, and compute powers while it writes; output
 * strides may put frames side by side. The host only copies, and computes the trends.
 */
import type { Device, DeviceMemory, Plan } from '../../engine/index.ts';
import type {
  Callback,
  CallbackBuilder,
  CallbackComplex,
  CallbackPlace,
  CallbackReal,
  Callbacks,
  CallbackValue,
  ProblemInput,
} from '../../problem/index.ts';
import type { Floats } from '../arguments/floats.ts';
import { type Lines, readLineAs } from '../arguments/lines.ts';
import { called, type PlanRequest, type Workplace, withWorkplace } from '../calls/plans.ts';
import { placesFor, reaching, type WorkMemory, workOn } from '../calls/work.ts';
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
  /** Whether spectra are multiplied by a complex factor for each bin, before parts are taken of them. */
  readonly turned: boolean;
  /** Samples of memory before the first frame; default 0. */
  readonly start?: number;
  /** Samples of memory for a line; default as far as frames reach. */
  readonly memory?: number;
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
export function realsPerBin({ part }: Pick<FrameSpec, 'part'>): 1 | 2 {
  return part === 'complex' || part === 'product' ? 2 : 1;
}

/** Samples of memory for a line. */
export function samplesPerLine({ memory, start = 0, frames, hop, nfft }: FrameSpec): number {
  return memory ?? start + (frames - 1) * hop + nfft;
}

/** A plan for frames, with its window. */
export interface FrameRequest {
  readonly spec: FrameSpec;
  /** Window values for each sample of a frame, multiplied by the scale; undefined without a window. */
  readonly taper: Float64Array | undefined;
  /** The factors of the bins, interleaved; undefined without any. */
  readonly factors: Float64Array | undefined;
  readonly plan: PlanRequest;
}

/**
 * @param window window values, one for each sample of a frame
 * @param factors where spectra are turned: a complex number for each bin
 */
export function frameRequest(spec: FrameSpec, window: Float64Array, factors?: Float64Array): FrameRequest {
  const { scale, flat } = spec;
  // Plans for different windows and scales are the same, as the window's array holds both; without a window the scale is a part of the plan.
  const key = JSON.stringify({ ...spec, scale: flat ? scale : 1 });
  const taper = flat ? undefined : window.map((value) => value * scale);
  return { spec, taper, factors, plan: { key: `frames ${key}`, problem: planOfFrames(spec) } };
}

/** The plan request for a block of frames. */
function planOfFrames(spec: FrameSpec): ProblemInput {
  const { nfft, size, hop, precision, flat, scale, trend, part, twoSided, binsFirst, turned } = spec;
  const batches = batchesOf(spec);
  return {
    ...{ size: [nfft], batches, precision, directions: 'forward', transform: twoSided ? 'c2c' : 'r2c' },
    strides: { input: [1, 1, batches > 1 ? hop : nfft], ...(binsFirst ? { output: [1, batches, 1] } : {}) },
    ...(size < nfft ? { zeroPadding: { space: [{ from: size, to: nfft }] } } : {}),
    ...(flat ? { scale: { forward: scale } } : {}),
    ...(flat && trend === false && part === 'complex' && !turned ? {} : { callbacks: frameCallbacks(spec) }),
  };
}

function frameCallbacks(spec: FrameSpec): Callbacks {
  const { nfft, precision, trend, flat, part, doubled, turned } = spec;
  const array = (length: number) => ({ type: precision === 'single' ? 'f32' : 'f64', length }) as const;
  const trends = batchesOf(spec) * (spec.twoSided ? 2 : 1);
  return {
    forward: {
      ...(trend === false && flat ? {} : { load: loadOf(spec) }),
      ...(part === 'complex' && !turned ? {} : { store: storeOf(spec) }),
    },
    arrays: {
      ...(flat ? {} : { window: array(nfft) }),
      ...(trend === false ? {} : { level: array(trends) }),
      ...(trend === 'linear' ? { slope: array(trends), ramp: array(nfft) } : {}),
      ...(doubled ? { sides: array(binsOf(spec)) } : {}),
      ...(turned ? { factors: array(2 * binsOf(spec)) } : {}),
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
  const { turned, part } = spec;
  const store = part === 'complex' ? undefined : partStore(spec);
  if (!turned) return store!;
  return (x, value, at) => {
    const result = timesBinFactor(x, value, at);
    return store ? store(x, result as CallbackValue, at) : result;
  };
}

function partStore(spec: FrameSpec): Callback {
  const { part, doubled } = spec;
  if (part === 'magnitude') return absoluteValue;
  return part === 'power' ? powerOf(doubled) : conjugateProduct(doubled, binsOf(spec));
}

/** A bin times its number of the array `factors`. */
export function timesBinFactor(
  x: CallbackBuilder,
  { re, im }: CallbackComplex,
  { axis }: CallbackPlace,
): CallbackComplex {
  const at = x.index.mul(axis[0]!, 2);
  const [a, b] = [x.load('factors', at), x.load('factors', x.index.add(at, 1))];
  return { re: x.sub(x.mul(re, a), x.mul(im, b)), im: x.add(x.mul(re, b), x.mul(im, a)) };
}

/** The product conj(other) · value; the other spectra are stored frame by frame, as the result is. */
function conjugateProduct(doubled: boolean, bins: number): Callback {
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
export const absoluteValue: Callback = (x, value: CallbackValue) => {
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
  /** The window that the array `window` holds at present, and the factors that `factors` holds. */
  taper: Float64Array | undefined;
  factors: Float64Array | undefined;
  /** The transform of the previous call. */
  transform: FrameTransform | undefined;
}

function framesMemory(device: Device, spec: FrameSpec): FramePlace {
  const { precision, nfft, size, twoSided } = spec;
  const { arrays = {} } = frameCallbacks(spec);
  const lengths: Record<string, number> = {
    line: samplesPerLine(spec) * (twoSided ? 2 : 1),
    spectra: realsPerBin(spec) * binsOf(spec) * batchesOf(spec),
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
  const none = { taper: undefined, factors: undefined, transform: undefined };
  return { line: line!, spectra: spectra!, arrays: rest, ...none, free };
}

type BlockVisitor = (spectra: Floats, first: number, count: number, skip: number) => void;

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
  /** Options of the last call with `others`. */
  private product: { readonly arrays: { readonly others: unknown } } | undefined;
  private kept: unknown;
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
    const hops = new Float64Array(Math.floor(size / hop));
    this.trends = { size, hop, trend, twoSided, frames: this.batches, hops };
  }

  /** The transform in a working memory that stays with its plan: that of the previous call, if its request was the same. */
  static in(place: FramePlace, { spec, taper, factors }: FrameRequest, plan: Plan): FrameTransform {
    if (taper && place.taper !== taper) {
      place.arrays.window!.array().set(taper);
      place.taper = taper;
    }
    if (factors && place.factors !== factors) {
      place.arrays.factors!.array().set(factors);
      place.factors = factors;
    }
    if (place.transform?.spec !== spec) place.transform = new FrameTransform(spec, plan, place);
    return place.transform;
  }

  /** Memory for a line, of complex samples where spectra have both signs of frequency. It is 0 where nothing has been written. */
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
   * @returns a promise to wait for, or undefined where all blocks have been visited
   */
  each(visit: BlockVisitor): Promise<unknown> | undefined {
    if (this.batches < this.spec.frames) return this.blocks(visit);
    const waiting = this.run(0);
    if (waiting) return waiting.then(() => visit(this.values, 0, this.batches, 0));
    visit(this.values, 0, this.batches, 0);
    return undefined;
  }

  private async blocks(visit: BlockVisitor): Promise<void> {
    const { frames } = this.spec;
    for (let done = 0; done < frames; done += this.batches) {
      // The last block has the same length as the others, so that it begins with frames that are done already.
      const first = Math.min(done, frames - this.batches);
      const skip = done - first;
      const waiting = this.run(first);
      if (waiting) await waiting;
      visit(this.values, done, this.batches - skip, skip);
    }
  }

  /** The spectra of the last block, as other transforms take them. */
  get spectra(): WorkMemory['data'] {
    return this.place.spectra.data;
  }

  /** The spectra of the last block, in the order of the spec. */
  get values(): Floats {
    return this.place.spectra.array();
  }

  /** Memory of the caller's own that stays with the transform; the first call makes it. */
  keep<T>(make: () => T): T {
    this.kept ??= make();
    return this.kept as T;
  }

  /**
   * Transforms the frames of a block, from frame `first` on.
   * @param others spectra that products are taken with
   * @returns a promise to wait for, or undefined where the spectra are there
   */
  run(first: number, others?: WorkMemory['data']): Promise<unknown> | undefined {
    const { spec, place, plan } = this;
    const given = others === undefined ? this.given : this.withOthers(others);
    const { trend, hop, twoSided, frames, nfft } = spec;
    const { line, spectra } = place;
    const parts = twoSided ? 2 : 1;
    const start = ((spec.start ?? 0) + first * hop) * parts;
    const isWhole = this.batches === frames && start === 0;
    const length = ((this.batches - 1) * hop + nfft) * parts;
    const samples = isWhole ? reaching(line, length) : line.array().subarray(start, start + length);
    if (trend !== false) {
      const { level, slope } = place.arrays;
      fillTrends(line.array(), start, this.trends, level!.array(), slope?.array());
    }
    return called(plan, 'forward', samples, spectra.data, given);
  }

  private withOthers(others: WorkMemory['data']): { readonly arrays: object } {
    if (this.product?.arrays.others !== others) this.product = { arrays: { ...this.arrays, others } };
    return this.product!;
  }
}

/**
 * Lends a transform of frames whose plan and memory are kept for the next call.
 * @returns what `use` returns: no promise where `use` returns none and the plan is there
 * @throws FftError (as a rejection) the errors of `device.plan`, `out-of-memory`, and errors that `use` throws
 */
export function withFrames<T>(
  device: Device,
  request: FrameRequest,
  use: (transform: FrameTransform) => Promise<T>,
): Promise<T>;
export function withFrames<T>(
  device: Device,
  request: FrameRequest,
  use: (transform: FrameTransform) => T | Promise<T>,
): T | Promise<T>;
export function withFrames<T>(
  device: Device,
  request: FrameRequest,
  use: (transform: FrameTransform) => T | Promise<T>,
): T | Promise<T> {
  const make = () => framesMemory(device, request.spec);
  return withWorkplace(device, request.plan, make, (plan, place) => use(FrameTransform.in(place, request, plan)));
}
