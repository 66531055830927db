/**
 * Plans with their compiled code, for devices like the one that made them: VkFFT's saved applications. Loading one needs no compiler. It runs
 * the code in it: the checksum finds damage, and is no signature.
 */
import type { Backend, CodeFacts } from '../../devices/device.ts';
import { arrayClass } from '../../problem/bytes.ts';
import { show } from '../../problem/errors.ts';
import { FftError, type PlannedProblem } from '../../problem/index.ts';
import type { KernelCache } from '../programs/cache.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { version } from '../programs/version.ts';
import { packed, unpacked } from './container.ts';
import { type KeptPlan, keptBytes, readKept } from './kept-plan.ts';

const FORMAT = 'omnifft-binaries-1';

/** What stands before the plan. */
interface Header {
  readonly format: string;
  readonly version: string;
  readonly kind: string;
  readonly profile: unknown;
  readonly codeFacts: CodeFacts;
  readonly problem: unknown;
  /** Of the plan. */
  readonly checksum: number;
}

/**
 * @param cache has the tables of the plan.
 * @throws FftError `unsupported-feature` where the device or the problem has no such plans, `compile-failed`
 */
export function serializeBinaries(
  problem: PlannedProblem,
  programs: readonly DirectionProgram[],
  backend: Backend,
  cache: KernelCache,
): Uint8Array {
  const { kind, profile, codeFacts, pack } = backend;
  const reason = !pack
    ? `${backend.name} gives no compiled code`
    : problem.callbacks || problem.convolution
      ? 'plans with callbacks or convolutions cannot be saved so'
      : undefined;
  const bytes = reason === undefined ? keptBytes(problem, programs, backend, cache, true) : undefined;
  if (!bytes) {
    const why = reason ?? 'its tables are too large';
    throw new FftError('unsupported-feature', `serialize was asked for binaries, but ${why}; leave binaries out.`);
  }
  const header: Header = {
    format: FORMAT,
    version,
    kind,
    profile,
    codeFacts: codeFacts!,
    problem,
    checksum: sum(bytes),
  };
  return packed({ data: header, stretches: [bytes] });
}

/** @throws FftError `invalid-saved-plan` that says what does not fit */
export function loadBinaries(from: unknown, problem: PlannedProblem, backend: Backend): KeptPlan {
  const { header, plan } = parsed(from);
  if (header.version !== version) refuse(`is of omnifft ${show(header.version)}, this is ${version}`);
  if (header.kind !== backend.kind) refuse(`is for a device of kind ${show(header.kind)}, this is ${backend.kind}`);
  if (!backend.unpack) refuse(`cannot be loaded: ${backend.name} takes no compiled code`);
  if (JSON.stringify(header.problem) !== JSON.stringify(problem)) refuse('is for another problem');
  requireSame('device', header.profile, backend.profile);
  // Its code is there already: another compiler, or none, does no harm.
  const { compiler: _, ...needed } = header.codeFacts;
  requireSame('system', needed, { ...needed, ...pick(backend.codeFacts!, Object.keys(needed)) });
  if (sum(plan) !== header.checksum) refuse('is damaged');
  return readKept(plan);
}

/**
 * Makes a plan of saved binaries. Headers and checksums have been compared; contents that are inconsistent show only now.
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

function parsed(from: unknown): { header: Header; plan: Uint8Array } {
  if (arrayClass(from) !== 'Uint8Array') refuse(`is ${show(from)}, neither text nor a Uint8Array`);
  try {
    const { data, stretches } = unpacked(from as Uint8Array);
    const header = data as Header;
    const [plan] = stretches;
    if (header.format === FORMAT && plan && Object.keys(header.codeFacts)) return { header, plan };
  } catch {
    // Said below.
  }
  return refuse('is not what plan.serialize({ binaries: true }) gave, or is damaged');
}

function refuse(why: string): never {
  throw new FftError('invalid-saved-plan', `The saved plan ${why}; plan without 'from' and serialize again.`);
}

function pick(facts: CodeFacts, names: readonly string[]): CodeFacts {
  return Object.fromEntries(names.map((name) => [name, facts[name]]));
}

/** @param what both are facts of, in messages. */
function requireSame(what: string, saved: unknown, here: object): void {
  const there = (saved ?? {}) as Readonly<Record<string, unknown>>;
  const own = here as Readonly<Record<string, unknown>>;
  const names = [...new Set([...Object.keys(there), ...Object.keys(own)])];
  const differing = names.filter((name) => JSON.stringify(there[name]) !== JSON.stringify(own[name]));
  if (differing.length === 0) return;
  const list = differing.map((name) => `${name} is ${show(own[name])} here and was ${show(there[name])}`);
  refuse(`was compiled for another ${what}: ${list.join(', ')}`);
}

/** FNV-1a, 32 bits (Fowler, Noll and Vo). */
function sum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < bytes.length; n++) hash = Math.imul(hash ^ bytes[n]!, 0x01000193);
  return hash >>> 0;
}
