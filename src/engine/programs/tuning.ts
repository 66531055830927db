/**
 * `problem.tuning` applied to a device: the profile that the planner reads for this problem.
 */
import type { Backend, CompileOptions } from '../../devices/device.ts';
import { planBands } from '../../plan/bands.ts';
import { type Candidate, rankSplits } from '../../plan/candidates.ts';
import { type ConvolutionPlan, planConvolution } from '../../plan/convolution.ts';
import { isInPairs } from '../../plan/device/capacity.ts';
import type { DeviceProfile, PlannerTuning } from '../../plan/device/profile.ts';
import { POINTS_PER_THREAD, type Target, targetOf } from '../../plan/device/target.ts';
import { type DirectionPlan, planDirection } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import { planSpectralLayer } from '../../plan/spectral-layer.ts';
import {
  type Direction,
  FftError,
  type FftProblem,
  type Problem,
  type Tuning,
  withoutCallbacks,
} from '../../problem/index.ts';
import { tooShort } from '../../problem/tuning/scheme-knobs.ts';

/** Bytes of a single-precision number, the unit in which lanes in lockstep are counted. */
const LANE_BYTES = 4;

/** Knobs that apply to devices with threads only; the number of lanes of a vector is fixed. */
const FOR_THREADS = [
  'banks',
  'warpSize',
  'threads',
  'maxThreads',
  'halfThreads',
  'maxGroups',
  'registerBoost',
  'registerBoost4Step',
  'registerBoostNonPow2',
] as const;

/** The profile that the planner reads for a problem; `profile` itself if nothing is tuned. */
export function tunedProfile(profile: DeviceProfile, problem: Problem): DeviceProfile {
  const { tuning } = problem;
  if (Object.keys(tuning).length === 0) return profile;
  const { coalescedBytes, banks, warpSize, threads, maxThreads } = tuning;
  const { distant, ...sharedOut } = sharing(profile, tuning);
  return {
    ...sharedOut,
    // A run length that is set by the user applies to near and to far memory.
    ...(coalescedBytes !== undefined ? { coalescedBytes } : distant ? { distant } : {}),
    ...(banks === undefined ? {} : { banks }),
    ...(warpSize === undefined ? {} : { lockstepBytes: LANE_BYTES * warpSize }),
    ...(threads === undefined ? {} : { groupPoints: POINTS_PER_THREAD * threads }),
    ...(maxThreads === undefined ? {} : { maxThreads }),
    tuning: plannerTuning(tuning, isQuartered(problem) ? 4 : 2),
  };
}

/** Limits the shared memory of a group, the same for each block of a cluster, and the blocks of a cluster. */
function sharing({ cluster, ...profile }: DeviceProfile, tuning: Tuning): DeviceProfile {
  const { sharedBytes, clusterBlocks, maxGroups = Number.POSITIVE_INFINITY } = tuning;
  const most = sharedBytes ?? profile.sharedBytes;
  const shared = { ...profile, sharedBytes: most };
  // The blocks of a cluster are neighbours in one dimension of a launch.
  const blocks = Math.min(clusterBlocks ?? cluster?.blocks ?? 1, maxGroups);
  if (!cluster || blocks === 1) return shared;
  return { ...shared, cluster: { ...cluster, blocks, sharedBytes: Math.min(cluster.sharedBytes, most) } };
}

/** Options of compilation that follow from the knobs; undefined if there are none. */
export function compileOptions({ tuning }: Problem): CompileOptions | undefined {
  const { maxGroups, streams, warpSize: subgroupSize } = tuning;
  const roots = computedRootsOf(tuning);
  const options: CompileOptions = {
    ...(maxGroups === undefined ? {} : { maxGroups }),
    ...(streams === undefined ? {} : { streams }),
    ...(subgroupSize === undefined ? {} : { subgroupSize }),
    ...(roots ? { computedRoots: roots } : {}),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}

/** The roots that kernels compute: all, four-step twiddles only, or all others. By default kernels read tables and compute none. */
function computedRootsOf({
  twiddles = 'table',
  twiddles4Step = twiddles,
}: Tuning): NonNullable<CompileOptions['computedRoots']> {
  if (twiddles === twiddles4Step) return twiddles === 'computed';
  return twiddles === 'computed' ? 'others' : 'four-step';
}

/**
 * Knobs that the device cannot follow: `device-limit` if a value exceeds the device's own, `unsupported-feature` if the device
 * lacks the feature.
 */
export function knobProblems(problem: Problem, backend: Backend): FftProblem[] {
  const { tuning } = problem;
  return [
    ...missingFeatures(problem, backend),
    ...misplaced(backend.profile, tuning),
    ...excesses(backend.profile, tuning),
    ...tooShort(problem).map((short): FftProblem => ({ code: 'invalid-field', ...short })),
  ];
}

/** Knobs that need a feature the device lacks: several streams, exact sines. */
function missingFeatures(
  { precision, tuning }: Problem,
  { kind, severalStreams, computesRoots, profile }: Backend,
): FftProblem[] {
  const { streams } = tuning;
  const refuse = (knob: keyof Tuning, why: string): FftProblem => {
    const path = `tuning.${knob}`;
    const message = `${path} cannot be followed by a device of kind ${kind}: ${why}.`;
    return { code: 'unsupported-feature', path, message };
  };
  const problems: FftProblem[] = [];
  if (streams !== undefined && !severalStreams) {
    problems.push(refuse('streams', 'it submits to one queue; leave it out there, cuda and hip have streams'));
  }
  for (const knob of ['twiddles', 'twiddles4Step'] as const) {
    if (tuning[knob] !== 'computed') continue;
    const inexact = "it has no sines that are exact enough; use 'table' there, cuda, hip and opencl compute them";
    const wide = `its sines are not as exact as numbers in '${precision}' precision; use 'table'`;
    if (!computesRoots) problems.push(refuse(knob, inexact));
    else if (isInPairs(precision, profile)) problems.push(refuse(knob, wide));
  }
  return problems;
}

/**
 * Whether shared memory may hold a quarter of the data at a time. Each launch of such a problem has passes along one axis with
 * radices that are powers of two.
 */
function isQuartered({ transform, convolution, size }: Problem): boolean {
  return (
    transform.every((one) => one === 'c2c') &&
    !convolution &&
    size.every((length) => Number.isInteger(Math.log2(length)))
  );
}

/**
 * The knobs that the planner reads as `profile.tuning`; all others change numbers of the profile.
 * @param boost the most times that registers can stand in for shared memory.
 */
function plannerTuning({ groupedBatch, uploadSwitch, ...tuning }: Tuning, boost: 2 | 4): PlannerTuning {
  const { threads, halfThreads, performBandwidthBoost, considerAllAxesStrided } = tuning;
  const { registerBoost, registerBoost4Step, registerBoostNonPow2, bluestein, rader } = tuning;
  return {
    ...(threads === undefined ? {} : { threads }),
    ...(halfThreads === undefined ? {} : { halfThreads }),
    ...(performBandwidthBoost === undefined ? {} : { performBandwidthBoost }),
    ...(considerAllAxesStrided === undefined ? {} : { considerAllAxesStrided }),
    ...(registerBoost === undefined ? {} : { registerBoost: Math.min(registerBoost, boost) }),
    ...(registerBoost4Step === undefined ? {} : { registerBoost4Step: Math.min(registerBoost4Step, boost) }),
    ...(registerBoostNonPow2 === undefined ? {} : { registerBoostNonPow2 }),
    ...(bluestein === undefined ? {} : { bluestein: bluestein as NonNullable<PlannerTuning['bluestein']> }),
    ...(rader === undefined ? {} : { rader: rader as NonNullable<PlannerTuning['rader']> }),
    // The normal form of a problem has lists and numbers only.
    ...(groupedBatch === undefined ? {} : { groupedBatch: groupedBatch as readonly number[] }),
    ...(uploadSwitch === undefined ? {} : { uploadSwitch: uploadSwitch as { two?: number; three?: number } }),
  };
}

function misplaced({ name, lockstep, doubleBuffered }: DeviceProfile, tuning: Tuning): FftProblem[] {
  const refuse = (knob: keyof Tuning, why: string): FftProblem => {
    const path = `tuning.${knob}`;
    return { code: 'unsupported-feature', path, message: `${path} ${why}; leave it out there.` };
  };
  if (lockstep === 'vector') {
    const why = `is about threads of a group, and ${name} computes with vectors`;
    return FOR_THREADS.filter((knob) => tuning[knob] !== undefined).map((knob) => refuse(knob, why));
  }
  const boosts = (['registerBoost', 'registerBoost4Step'] as const).filter((knob) => (tuning[knob] ?? 1) > 1);
  const why = `is more than 1, but ${name} keeps nothing in registers over a barrier`;
  return doubleBuffered ? boosts.map((knob) => refuse(knob, why)) : [];
}

function excesses(profile: DeviceProfile, tuning: Tuning): FftProblem[] {
  const { name, lockstep, sharedBytes, maxThreads, lockstepBytes, cluster } = profile;
  const threads = lockstep === 'threads' ? { maxThreads, warpSize: lockstepBytes / LANE_BYTES } : {};
  const most = { sharedBytes, clusterBlocks: cluster?.blocks ?? 1, ...threads };
  return Object.entries(most).flatMap(([knob, has]): FftProblem[] => {
    const requested = tuning[knob as keyof typeof most];
    if (requested === undefined || requested <= has) return [];
    const path = `tuning.${knob}`;
    return [{ code: 'device-limit', path, message: `${path} is ${requested}, but ${name} has ${has}.` }];
  });
}

/**
 * Plans one direction.
 * @param splits the splits of the axes if they have been chosen; if left out, the cheapest.
 * @throws FftError `device-limit` where no decomposition fits the profile
 */
export function planTuned(
  problem: Problem,
  direction: Direction,
  profile: DeviceProfile,
  throughWork: boolean,
  splits?: Splits,
): DirectionPlan {
  const tuned = tunedProfile(profile, problem);
  const target = targetOf(tuned, problem.precision);
  return orDeviceLimit(tuned, () => planOf(problem, direction, target, throughWork, splits));
}

/** The plan of one direction. Bands have a plan of their own, which has no use for `work` memory. @throws RangeError as `planDirection` */
export function planOf(
  problem: Problem,
  direction: Direction,
  target: Target,
  throughWork: boolean,
  splits?: Splits,
): DirectionPlan {
  return problem.bands
    ? planBands(problem, target, splits)
    : planDirection(problem, direction, target, throughWork, splits);
}

/** The plans of a convolution. @throws FftError as `planTuned`, `unsupported-length` */
export function planTunedConvolution(problem: Problem, profile: DeviceProfile, throughWork: boolean): ConvolutionPlan {
  const tuned = tunedProfile(profile, problem);
  const target = targetOf(tuned, problem.precision);
  if (problem.convolution?.channels) return orDeviceLimit(tuned, () => planSpectralLayer(problem, target));
  return orDeviceLimit(tuned, () => planConvolution(problem, target, throughWork));
}

/**
 * The cheapest ways to split the axes of a problem, `most` at most.
 * @throws FftError as `planTuned`
 */
export function rankTuned(problem: Problem, profile: DeviceProfile, most: number): Candidate[] {
  const tuned = tunedProfile(profile, problem);
  const transform = problem.bands ? withoutCallbacks(problem) : problem;
  return orDeviceLimit(tuned, () => rankSplits(transform, targetOf(tuned, problem.precision), most));
}

function orDeviceLimit<T>({ sharedBytes, coalescedBytes }: DeviceProfile, plan: () => T): T {
  try {
    return plan();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new FftError(
      'device-limit',
      `No plan fits ${sharedBytes} bytes of shared memory in runs of ${coalescedBytes}: ${cause.message}. ` +
        'More shared memory or shorter runs would do.',
      { path: 'tuning', cause },
    );
  }
}
