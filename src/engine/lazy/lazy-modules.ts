/**
 * Lazy modules, which only some problems need: a page loads them before it plans such a problem. In Node all modules are imported at once,
 * so nothing is left to load. The build for browsers (scripts/lazy-modules.mjs) takes these modules out of the first download and puts
 * functions in their place that look them up here.
 */

import { isInPairs } from '../../plan/device/capacity.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { largePrimesOf } from '../../plan/group/butterflies.ts';
import { FftError } from '../../problem/errors.ts';
import { blocksOf, channelsOf, elementKind, type Problem } from '../../problem/index.ts';

/** Groups of modules. The names appear in error messages. */
export type LazyGroup =
  | 'bands'
  | 'callbacks'
  | 'convolutions'
  | 'debugging'
  | 'device functions'
  | 'gradients'
  | 'kept plans'
  | 'large primes'
  | 'layouts'
  | 'logarithms in programs'
  | 'pairs of numbers'
  | 'programs in several ways'
  | 'programs of patterns'
  | 'real transforms'
  | 'saved and measured plans'
  | 'spectral layers'
  | 'sums in programs'
  | 'tables in programs'
  | 'threads'
  | 'tiles in programs'
  | 'transforms in programs'
  | 'work-groups in programs';

/** Groups that `device.compile` loads, which no problem needs. */
type ProgramGroup = Extract<LazyGroup, `${string}program${string}`>;
type ProblemGroup = Exclude<LazyGroup, ProgramGroup>;

type Loaders = { readonly [name in LazyGroup]?: () => Promise<object> };

const loaded = new Map<LazyGroup, object>();
/** Loaders by group. There are none where nothing can be loaded later, such as on an audio thread. */
let loaders: Loaders = {};

/** The groups to load before a problem is planned. A superfluous group costs a request; a missing one leads to an error. */
export function lazyGroupsOf(problem: Problem, profile: DeviceProfile): LazyGroup[] {
  const { bands, callbacks, convolution, debug, precision, size, strategy, transform, tuning } = problem;
  const real = (['input', 'output'] as const).some((side) => elementKind(problem, side) === 'real');
  const reals = real || transform.some((kind) => kind !== 'c2c');
  // The knob `rader.multiply` makes small primes use the code for large ones.
  const largePrimes =
    tuning.rader?.multiply !== undefined ||
    size.some((n, axis) => largePrimesOf(factoredLength(n, transform[axis]!)).length > 0);
  const blocks = (['input', 'output'] as const).some((side) => blocksOf(problem, side).some((block) => block !== null));
  const needed: { readonly [name in ProblemGroup]: boolean } = {
    bands: Boolean(bands),
    // Bands make reals of bins by a callback.
    callbacks: Boolean(callbacks ?? bands),
    convolutions: Boolean(convolution),
    debugging: debug,
    // `openProfile` loads them.
    'device functions': false,
    // `adjoint` loads them.
    gradients: false,
    // The device loads them if it has a store.
    'kept plans': false,
    'large primes': largePrimes,
    layouts: reals || largePrimes || blocks || Boolean(callbacks ?? bands ?? convolution),
    'pairs of numbers': isInPairs(precision, profile),
    'real transforms': reals,
    'saved and measured plans': strategy === 'measure',
    'spectral layers': channelsOf(problem) !== null,
    threads: profile.lockstep === 'threads',
  };
  return (Object.keys(needed) as ProblemGroup[]).filter((name) => needed[name]);
}

/** The length whose prime factors decide how an axis is transformed: N − 1 for a DCT-I, N + 1 for a DST-I, else N. */
function factoredLength(length: number, kind: Problem['transform'][number]): number {
  return kind === 'dct1' ? Math.max(1, length - 1) : kind === 'dst1' ? length + 1 : length;
}

/** The functions of a group, for the functions that the build puts in their place. @throws FftError `not-loaded` */
export function lazyGroup<T extends object>(name: LazyGroup): T {
  const modules = loaded.get(name);
  if (modules) return modules as T;
  const remedy =
    name === 'device functions'
      ? 'await openProfile() once.'
      : "await device.plan() for such a problem once, or open the device with openCpuSync() of 'omnifft/sync', which has all but adjoints.";
  throw new FftError('not-loaded', `The code for ${name} has not been loaded, which takes waiting: ${remedy}`);
}

/** Registers groups that are loaded already. */
export function provideGroups(groups: { readonly [name in LazyGroup]?: object }): void {
  for (const [name, modules] of Object.entries(groups)) loaded.set(name as LazyGroup, modules);
}

/** Registers the loaders of all other groups. */
export function loadGroupsBy(known: Loaders): void {
  loaders = known;
}

/**
 * Loads the named groups of modules, except groups that are loaded already.
 * @param by the loaders, which callers give for groups that no problem needs.
 * @returns undefined if nothing has to be loaded, so that the caller need not wait before it reads its own arguments.
 * @throws FftError (as a rejection) `not-loaded`
 */
export function loadGroups(names: readonly LazyGroup[], by: Loaders = loaders): Promise<unknown> | undefined {
  const missing = names.filter((name) => by[name] && !loaded.has(name));
  return missing.length === 0 ? undefined : Promise.all(missing.map((name) => loadGroup(name, by[name]!)));
}

async function loadGroup(name: LazyGroup, loader: () => Promise<object>): Promise<void> {
  try {
    loaded.set(name, await loader());
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new FftError('not-loaded', `The code for ${name} could not be loaded: ${why}`, { cause });
  }
}
