/**
 * Plans with their compiled code, one or several in one array of bytes, for devices like the one that made them (VkFFT's saved applications).
 * Loading a plan needs no compiler. It runs the code in the bytes: the checksum detects damage, but is no signature.
 */
import type { Backend, CodeFacts } from '../../devices/device.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { show } from '../../problem/errors.ts';
import { FftError, type PlannedProblem, type Problem } from '../../problem/index.ts';
import { arrayClass } from '../../problem/input/bytes.ts';
import type { KernelCache } from '../programs/cache.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { version } from '../programs/version.ts';
import { packedContents, unpacked } from './container.ts';
import { type KeptPlan, keptBytes, readKept } from './kept-plan.ts';

const FORMAT = 'omnifft-binaries-2';

/** The header of a plan in a bundle, by which the plan is found and checked. */
interface Entry {
  readonly version: string;
  readonly kind: string;
  /** The profile of the device that it was planned for. */
  readonly profile: DeviceProfile;
  readonly codeFacts: CodeFacts;
  /** Set if it was compiled ahead of time, for devices with other profiles, too. */
  readonly ahead?: true;
  readonly problem: unknown;
}

/** A header with the checksum of itself and of its plan. */
interface Checked extends Entry {
  readonly checksum: number;
}

/** The header of a bundle. The plans follow it, each as a stretch of bytes. */
interface Header {
  readonly format: string;
  readonly plans: readonly Checked[];
}

/** A plan of a bundle, with its header. */
interface Placed {
  readonly entry: Checked;
  readonly plan: Uint8Array;
}

/**
 * A plan with its compiled code, as bytes.
 * @param cache the cache that has the plan's tables.
 * @throws FftError `unsupported-feature` if plans of the device or the problem cannot be saved so, `compile-failed`
 */
export function serializeBinaries(
  problem: PlannedProblem,
  programs: readonly DirectionProgram[],
  backend: Backend,
  cache: KernelCache,
): Uint8Array {
  const { kind, profile, codeFacts, compilesAhead, pack } = backend;
  const reason = !pack
    ? `${backend.name} gives no compiled code`
    : problem.callbacks || problem.convolution || problem.bands
      ? 'plans with bands, callbacks or convolutions cannot be saved so'
      : undefined;
  const plan = reason === undefined ? keptBytes(problem, programs, backend, cache, true) : undefined;
  if (!plan) {
    const why = reason ?? 'its tables are too large';
    throw new FftError('unsupported-feature', `serialize was asked for binaries, but ${why}; leave binaries out.`);
  }
  const entry: Entry = {
    version,
    kind,
    profile,
    codeFacts: codeFacts!,
    ...(compilesAhead ? { ahead: true } : {}),
    problem,
  };
  return bundled([{ entry: { ...entry, checksum: checksumOf(entry, plan) }, plan }]);
}

/** Joins saved plans to one bundle, from which loading takes the plan for the problem and the device. @throws FftError `invalid-saved-plan` */
export function joinBinaries(saved: readonly Uint8Array[]): Uint8Array {
  return bundled(saved.flatMap(parsedBinaries));
}

function bundled(plans: readonly Placed[]): Uint8Array {
  const header: Header = { format: FORMAT, plans: plans.map(({ entry }) => entry) };
  return packedContents({ data: header, stretches: plans.map(({ plan }) => plan) });
}

/** A loaded plan, with the profile that it was planned for if that may differ from the device's. */
export interface LoadedPlan extends KeptPlan {
  readonly profile?: DeviceProfile;
}

/** Loads the plan for a problem and a device. @throws FftError `invalid-saved-plan`, which says why none fits */
export function loadBinaries(from: unknown, problem: PlannedProblem, backend: Backend): LoadedPlan {
  const all = parsedBinaries(from);
  const text = JSON.stringify(problem);
  const same = all.filter(({ entry }) => JSON.stringify(entry.problem) === text);
  const misfits = same.map(({ entry }) => misfitOf(entry, backend));
  const found = same[misfits.indexOf(undefined)];
  if (!found)
    return refuseBinary(
      likeliestMisfit(misfits) ??
        (all.length === 1 ? 'is for another problem' : `holds ${all.length} plans, none of them for this problem`),
    );
  const { entry, plan } = found;
  const { checksum, ...said } = entry;
  if (checksumOf(said, plan) !== checksum) refuseBinary('is damaged');
  return { ...readKept(plan), ...(entry.ahead ? { profile: entry.profile } : {}) };
}

/** The reason why a plan does not run on a device; undefined if it does. */
function misfitOf(entry: Entry, { kind, name, profile, codeFacts, unpack }: Backend): string | undefined {
  if (entry.version !== version) return `is of omnifft ${show(entry.version)}, this is ${version}`;
  if (entry.kind !== kind) return `is for a device of kind ${show(entry.kind)}, this is ${kind}`;
  if (!unpack) return `cannot be loaded: ${name} takes no compiled code`;
  // The plan has its code already, so the device's compiler does not matter.
  const { compiler: _, ...needed } = entry.codeFacts;
  const own = entry.ahead ? neededPrecisions(entry, profile) : profile;
  const planned = entry.ahead ? neededPrecisions(entry, entry.profile) : entry.profile;
  return (
    differingFacts('device', planned, own) ??
    differingFacts('system', needed, { ...needed, ...pick(codeFacts!, Object.keys(needed)) })
  );
}

/** The precisions that a device must have: kernels that compute in doubles need them, all others run everywhere. */
function neededPrecisions({ problem }: Entry, { precisions = ['single', 'double'] }: DeviceProfile): object {
  return (problem as Problem).precision === 'double' ? { precisions } : {};
}

/** The reason to report: that of a plan for a device of this kind, if there is one, else the first. */
function likeliestMisfit(misfits: readonly (string | undefined)[]): string | undefined {
  return misfits.find((reason) => !reason?.includes('of kind')) ?? misfits[0];
}

/**
 * Makes a plan from saved binaries. Headers and checksums have been compared before, but inconsistent contents are found only now.
 * @throws FftError `invalid-saved-plan` for any error of `make` that is not an `FftError` itself; these are passed on
 */
export function asSaved<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof FftError) throw cause;
    throw new FftError('invalid-saved-plan', 'The saved plan makes no sense; plan anew and serialize again.', {
      cause,
    });
  }
}

function parsedBinaries(from: unknown): Placed[] {
  if (arrayClass(from) !== 'Uint8Array') refuseBinary(`is ${show(from)}, neither text nor a Uint8Array`);
  try {
    const { data, stretches } = unpacked(from as Uint8Array);
    const { format, plans } = data as Header;
    if (format === FORMAT && plans.length === stretches.length && plans.every(isCompleteEntry)) {
      return plans.map((entry, n) => ({ entry, plan: stretches[n]! }));
    }
  } catch {
    // `refuseBinary` reports it below.
  }
  return refuseBinary(
    'is neither what plan.serialize({ binaries: true }) gave nor what omnifft aot-generate wrote, or is damaged',
  );
}

function isCompleteEntry({ codeFacts, profile, problem }: Entry): boolean {
  return [codeFacts, profile, problem].every((part) => typeof part === 'object' && part !== null);
}

function refuseBinary(why: string): never {
  throw new FftError('invalid-saved-plan', `The saved plan ${why}; plan without 'from' and serialize again.`);
}

function pick(facts: CodeFacts, names: readonly string[]): CodeFacts {
  return Object.fromEntries(names.map((name) => [name, facts[name]]));
}

/** The differences of two sets of facts, in words; undefined if there are none. @param what the subject of both. */
function differingFacts(what: string, saved: object, here: object): string | undefined {
  const there = saved as Readonly<Record<string, unknown>>;
  const own = here as Readonly<Record<string, unknown>>;
  const names = [...new Set([...Object.keys(there), ...Object.keys(own)])];
  const others = names.filter((name) => JSON.stringify(there[name]) !== JSON.stringify(own[name]));
  if (others.length === 0) return undefined;
  const list = others.map((name) => `${name} is ${show(own[name])} here and was ${show(there[name])}`);
  return `was compiled for another ${what}: ${list.join(', ')}`;
}

/** FNV-1a, 32 bits (Fowler, Noll and Vo), over the header of a plan and the plan. */
function checksumOf(entry: Entry, plan: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const bytes of [new TextEncoder().encode(JSON.stringify(entry)), plan]) {
    for (let n = 0; n < bytes.length; n++) hash = Math.imul(hash ^ bytes[n]!, 0x01000193);
  }
  return hash >>> 0;
}
