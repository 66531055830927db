/**
 * Overlap-add: inverse transforms of spectra, multiplied by a window and added up to a line. One plan reads bins where they lie, a row of frames for
 * each bin, and writes windowed frames, a row for each frame; a program of patterns adds up the frames that cover a sample and weights the sum.
 */
import type { CompiledProgram } from '../../engine/compiling/compiled-program.ts';
import type { Device, Plan } from '../../engine/index.ts';
import type { Callback, CallbackReal, ProblemInput } from '../../problem/index.ts';
import type { Floats } from '../arguments/floats.ts';
import { afterwards, called, oneByOne, type PlanRequest, type Workplace, withWorkplace } from '../calls/plans.ts';
import { placesFor, reaching, type WorkMemory, workOn } from '../calls/work.ts';
import { batchesOf, binsOf, timesBinFactor } from './frames.ts';

export interface OverlapAddSpec {
  /** Samples in a frame. */
  readonly size: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  readonly nfft: number;
  readonly frames: number;
  /** Whether bins cover frequencies from 0 to half the rate only, so that lines are real. */
  readonly onesided: boolean;
  readonly precision: 'single' | 'double';
  /** Whether spectra are multiplied by a complex factor for each bin. */
  readonly turned: boolean;
}

/** Weights of frames and of sums. */
export interface OverlapAddRequest {
  readonly spec: OverlapAddSpec;
  /** Window values for each sample of a frame, multiplied by the scale of the transform. */
  readonly taper: Float64Array;
  /** Weights of the sums, one for each sample that frames reach. */
  readonly weights: Float64Array;
  /** The factors of the bins, interleaved; undefined without any. */
  readonly factors: Float64Array | undefined;
  readonly plan: PlanRequest;
}

export function overlapAddRequest(
  given: Omit<OverlapAddSpec, 'turned'>,
  taper: Float64Array,
  weights: Float64Array,
  factors?: Float64Array,
): OverlapAddRequest {
  // A single frame reaches no further than its own length.
  const spec = { ...given, turned: factors !== undefined, ...(given.frames === 1 ? { hop: given.size } : {}) };
  return {
    spec,
    taper,
    weights,
    factors,
    plan: { key: `overlap-add ${JSON.stringify(spec)}`, problem: inverseProblem(spec) },
  };
}

/** The layout of a block's frames in memory. */
interface Rows {
  /** The number of frames that cover a sample. */
  readonly overlap: number;
  /** Samples from one frame to the next in memory, in whole hops. */
  readonly row: number;
  readonly batches: number;
  /** Samples of memory before the first frame; they are 0, like the samples behind the last frame. */
  readonly before: number;
  /** Samples of memory in all. */
  readonly reach: number;
  /** Samples of memory up to the end of the last frame. */
  readonly written: number;
  /** Reals in a sample. */
  readonly parts: 1 | 2;
  /** Hops that the frames of a block cover. */
  readonly hops: number;
}

function overlapRows(spec: OverlapAddSpec): Rows {
  const { hop, nfft, onesided } = spec;
  const overlap = Math.ceil(nfft / hop);
  const row = overlap * hop;
  const batches = batchesOf(spec);
  const hops = batches + overlap - 1;
  // Part j of a frame, counted in hops, lies j hops behind the frame's beginning, so that hop 0 is covered by part j of frame −j: memory begins with
  // the part of the earliest frame.
  const before = (overlap - 1) * (row - hop);
  const written = before + (batches - 1) * row + nfft;
  return {
    overlap,
    row,
    batches,
    before,
    written,
    reach: (hops - 1) * row + before + hop,
    parts: onesided ? 1 : 2,
    hops,
  };
}

function inverseProblem(spec: OverlapAddSpec): ProblemInput {
  const { size, nfft, onesided, precision, turned } = spec;
  const { row, batches, before } = overlapRows(spec);
  const array = (length: number) => ({ type: precision === 'single' ? 'f32' : 'f64', length }) as const;
  const store: Callback = (x, value, { axis }) => {
    const weighted = (part: CallbackReal) => x.mul(x.load('window', axis[0]!), part);
    return onesided ? weighted(value) : { re: weighted(value.re), im: weighted(value.im) };
  };
  return {
    ...{ size: [nfft], transform: onesided ? 'r2c' : 'c2c', batches, precision, directions: 'inverse' },
    ...{ strides: { input: [1, 1, row], output: [1, batches, 1] }, offsets: { input: before } },
    ...(size < nfft ? { zeroPadding: { space: [{ from: size, to: nfft }] } } : {}),
    callbacks: {
      inverse: { store, ...(turned ? { load: timesBinFactor } : {}) },
      arrays: { window: array(nfft), ...(turned ? { factors: array(2 * binsOf({ nfft, twoSided: !onesided })) } : {}) },
    },
  };
}

/**
 * The program that adds up frames. Hop q is covered by the frames q − overlap + 1 … q, the earliest one with its last part: in memory these parts lie
 * row − hop apart.
 */
async function addingProgram(spec: OverlapAddSpec, device: Device): Promise<CompiledProgram> {
  const { add, map, mul, program, real, reduce, slide, transpose, zip } = await import('../../lift/index.ts');
  const { row, before, reach, parts, hops } = overlapRows(spec);
  const [hop, step] = [spec.hop * parts, row * parts];
  const apart = Math.max(1, step - hop);
  const text = program({ waves: real(reach * parts), weights: real(hops, hop) }, ({ waves, weights }) =>
    map(
      (row, samples) =>
        map(
          (weight, covering) => mul(weight, reduce(add, 0, covering)),
          zip(row, transpose(slide(hop, apart, samples))),
        ),
      zip(weights, slide(before * parts + hop, step, waves)),
    ),
  );
  return (await device.compile(text, { precision: spec.precision })) as unknown as CompiledProgram;
}

/** Working memory for calls of a plan. */
interface OverlapAddPlace extends Workplace {
  readonly program: CompiledProgram;
  readonly spectra: WorkMemory;
  /** Memory for frames, with zeros before and behind them. */
  readonly waves: WorkMemory;
  /** The part of that memory that the plan writes: a host array has to have exactly that length. */
  readonly frames: WorkMemory['data'];
  readonly weights: WorkMemory;
  readonly sums: WorkMemory;
  readonly window: WorkMemory;
  readonly factors: WorkMemory | undefined;
  /** The arrays of the plan's callbacks: always the same object, so that the plan recognises it. */
  readonly given: { readonly arrays: object };
  /** What the program reads. */
  readonly added: object;
  /** The weights and factors that the arrays hold at present. */
  taper: Float64Array | undefined;
  turned: Float64Array | undefined;
  weighted: Float64Array | undefined;
}

async function overlapAddMemory(device: Device, spec: OverlapAddSpec): Promise<OverlapAddPlace> {
  const program = await addingProgram(spec, device);
  const { reach, batches, parts, hops } = overlapRows(spec);
  const { nfft, hop, onesided, precision, turned } = spec;
  const bins = binsOf({ nfft, twoSided: !onesided });
  const lengths = {
    ...{ spectra: 2 * bins * batches, waves: reach * parts, window: nfft, ...(turned ? { factors: 2 * bins } : {}) },
    ...{ weights: hops * hop * parts, sums: hops * hop * parts },
  };
  try {
    const places = placesFor(lengths, (length) => workOn(device, length, precision));
    const free = () => {
      program.destroy();
      for (const memory of Object.values(places)) memory.free();
    };
    const frames = reaching(places.waves, overlapRows(spec).written * parts);
    const { window, factors } = places;
    const given = { arrays: { window: window.data, ...(factors ? { factors: factors.data } : {}) } };
    const added = { waves: places.waves.data, weights: places.weights.data };
    const none = { taper: undefined, turned: undefined, weighted: undefined };
    return { program, ...places, factors, given, added, frames, ...none, free };
  } catch (error) {
    program.destroy();
    throw error;
  }
}

/** Adds up the frames of lines, block by block. */
export class OverlapAdd {
  private readonly request: OverlapAddRequest;
  private readonly rows: Rows;
  private readonly plan: Plan;
  private readonly place: OverlapAddPlace;

  constructor(request: OverlapAddRequest, plan: Plan, place: OverlapAddPlace) {
    this.request = request;
    this.rows = overlapRows(request.spec);
    this.plan = plan;
    this.place = place;
    const { taper, factors } = request;
    if (place.taper !== taper) place.window.array().set(taper);
    if (factors && place.turned !== factors) place.factors!.array().set(factors);
    place.taper = taper;
    place.turned = factors;
  }

  /**
   * Adds up one line.
   * @param load writes bins of frames: a row of `count` frames from frame `first` on for each bin
   * @param visit gets sums of the samples from `start` on, of which the first `begun` have to be added to the sums of an earlier block
   * @returns a promise to wait for, or undefined where `visit` has had all sums
   */
  line(
    load: (target: Floats, first: number, count: number) => void,
    visit: (sums: Floats, start: number, begun: number) => void,
  ): Promise<unknown> | undefined {
    const { request, rows, place } = this;
    const { frames, hop } = request.spec;
    const { batches, overlap, parts } = rows;
    return oneByOne(Math.ceil(frames / batches), (block) => {
      const done = block * batches;
      // The last block has the same length as the others, so that it begins with frames that are done already.
      const first = Math.min(done, frames - batches);
      const spectra = place.spectra.array();
      load(spectra, first, batches);
      if (first < done) forget(spectra, batches, done - first);
      return afterwards(this.frames(), () =>
        afterwards(this.sums(first), () => {
          const skip = (done - first) * hop * parts;
          const begun = done === 0 ? 0 : (overlap - 1) * hop * parts;
          visit(place.sums.array().subarray(skip), done * hop * parts, begun);
          return undefined;
        }),
      );
    });
  }

  /** Transforms spectra to frames. @returns a promise to wait for, or undefined where they are there */
  private frames(): Promise<unknown> | undefined {
    const { spectra, frames, given } = this.place;
    return called(this.plan, 'inverse', spectra.data, frames, given);
  }

  /** Adds up frames. @returns a promise to wait for, or undefined where the sums are there */
  private sums(first: number): Promise<unknown> | undefined {
    const { added, program, sums } = this.place;
    this.setWeights(first);
    return program.now(added, sums.data) ? undefined : program.run(added as never, sums.data as never);
  }

  private setWeights(first: number): void {
    const { place, request, rows } = this;
    const { weights, spec } = request;
    const isWhole = rows.batches === spec.frames;
    if (isWhole && place.weighted === weights) return;
    const target = place.weights.array();
    const own = weights.subarray(first * spec.hop, (first + rows.hops) * spec.hop);
    if (rows.parts === 1) target.set(own);
    else for (let k = 0; k < own.length; k++) target[2 * k] = target[2 * k + 1] = own[k]!;
    place.weighted = isWhole ? weights : undefined;
  }
}

/** Sets the first frames of a block to zero. */
function forget(spectra: Floats, batches: number, count: number): void {
  for (let row = 0; row < spectra.length; row += 2 * batches) spectra.fill(0, row, row + 2 * count);
}

/**
 * Lends an overlap-add whose plan, program and memory are kept for the next call.
 * @throws FftError (as a rejection) the errors of `device.plan` and `device.compile`, `out-of-memory`, and errors that `use` throws
 */
export function withOverlapAdd<T>(
  device: Device,
  request: OverlapAddRequest,
  use: (adding: OverlapAdd) => T | Promise<T>,
): T | Promise<T> {
  const make = () => overlapAddMemory(device, request.spec);
  return withWorkplace(device, request.plan, make, (plan, place) => use(new OverlapAdd(request, plan, place)));
}
