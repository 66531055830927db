/**
 * What rows of the source documents are checked with. A check is over when what its row asks has been seen to hold; it throws an error
 * that says what does not, or `NotHere` where this machine or this release has not what it would take.
 */
import { runCommand } from '../../src/cli/program.ts';
import {
  type Device,
  FftError,
  type FftErrorCode,
  openDevice,
  openProfile,
  type ProblemInput,
  type ProfiledPlan,
  type ProfileName,
} from '../../src/index.ts';
import { type Direction, normalizeProblem, tensorShape } from '../../src/problem/index.ts';
import type { Tried } from '../support/accuracy.ts';
import { triedComplex } from '../support/complex.ts';
import { triedConvolution } from '../support/convolution.ts';
import { poclCache } from '../support/pocl-cache.ts';
import { type Random, randomFor } from '../support/random.ts';
import { triedReal } from '../support/real.ts';
import { triedSums } from '../support/sums.ts';

export type Check = () => Promise<void>;

/** A row of a document: where it stands there, what is run, and the check, or why there is none. */
export interface Row {
  readonly document: string;
  readonly section: string;
  readonly what: string;
  readonly check: Check | string;
  /** The row is known not to hold yet: its check fails, and says so until it does not. */
  readonly missing: boolean;
}

/** What a row would take is not here: the message says what. */
export class NotHere extends Error {}

/** The rows of one document, one call for each. */
export function rowsOf(document: string) {
  const rows: Row[] = [];
  const add = (missing: boolean) => (section: string, what: string, check: Check | string) => {
    rows.push({ document, section, what, check, missing });
  };
  return { rows, row: add(false), missing: add(true) };
}

/** The random data of all rows. */
export const random: Random = randomFor('guide');

export function insist(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** One check after another. */
export function all(...checks: readonly Check[]): Check {
  return async () => {
    for (const check of checks) await check();
  };
}

let processor: Promise<Device> | undefined;

/** The CPU, with one thread. */
export function cpu(): Promise<Device> {
  processor ??= openDevice('cpu', { threads: 1 });
  return processor;
}

/** A device of the kind, or `NotHere`. */
export async function deviceHere(kind: 'opencl' | 'vulkan' | 'level-zero' | 'cuda' | 'hip'): Promise<Device> {
  if (kind === 'opencl') process.env.POCL_CACHE_DIR = poclCache;
  try {
    return await openDevice(kind as 'opencl');
  } catch (error) {
    if (error instanceof FftError && ['device-unavailable', 'unknown-device'].includes(error.code)) {
      throw new NotHere(`no ${kind} device (${error.code})`);
    }
    throw error;
  }
}

/** A problem of fewer numbers is run on several sets of them: the error that it may have is that of many, and of a few it scatters. */
const FEW = 64;
const SETS = 16;

/** Several runs of one problem as one, with the root mean square of their errors. */
async function meanOf(run: () => Promise<Tried>, times: number): Promise<Tried> {
  const tries: Tried[] = [];
  for (let n = 0; n < times; n++) tries.push(await run());
  const squares = tries.reduce((sum, { error }) => sum + error * error, 0);
  return { ...tries[0]!, error: Math.sqrt(squares / times), damage: tries.flatMap(({ damage }) => damage) };
}

/** Runs the directions of problems on random numbers and compares with sums in twice the precision. */
export async function tryAll(device: Device, problems: readonly ProblemInput[]): Promise<void> {
  for (const problem of problems) {
    const given = normalizeProblem(problem);
    const { transform, directions, convolution } = given;
    const numbers = tensorShape(given, 'input').reduce((a, b) => a * b, 1);
    const times = numbers < FEW ? SETS : 1;
    const attempts: Promise<Tried>[] = [];
    const both: readonly Direction[] = directions === 'both' ? ['forward', 'inverse'] : [directions];
    if (convolution) attempts.push(meanOf(() => triedConvolution(device, problem, random), times));
    else {
      const once = transform[0] === 'c2c' ? triedComplex : transform[0] === 'r2c' ? triedReal : triedSums;
      for (const direction of both) attempts.push(meanOf(() => once(device, problem, direction, random), times));
    }
    for (const { what, error, allowed, damage } of await Promise.all(attempts)) {
      insist(error <= allowed, `${what}: error ${error} is over ${allowed}`);
      insist(damage.length === 0, `${what}: ${damage.join(', ')}`);
    }
  }
}

/** The problems are right on the CPU: all directions, nothing else written. */
export function right(...problems: readonly ProblemInput[]): Check {
  return async () => tryAll(await cpu(), problems);
}

/** The same on a device of a kind. */
export function rightOn(kind: 'opencl' | 'vulkan' | 'level-zero' | 'cuda' | 'hip', ...problems: ProblemInput[]): Check {
  return async () => {
    const device = await deviceHere(kind);
    try {
      await tryAll(device, problems);
    } finally {
      device.close();
    }
  };
}

/** So many random problems are right on the CPU. */
export function rightOften(count: number, problem: (random: Random) => ProblemInput): Check {
  return async () =>
    tryAll(
      await cpu(),
      Array.from({ length: count }, () => problem(random)),
    );
}

/** What is called fails with the code. */
export function fails(code: FftErrorCode, call: () => unknown): Check {
  return async () => {
    try {
      await call();
    } catch (error) {
      insist(error instanceof FftError && error.code === code, `${error} instead of ${code}`);
      return;
    }
    throw new Error(`not refused, with ${code}`);
  };
}

/** Planning is refused on the CPU, with the code. */
export function refused(code: FftErrorCode, ...problems: readonly (ProblemInput | string)[]): Check {
  return all(...problems.map((problem) => fails(code, async () => (await cpu()).plan(problem as ProblemInput))));
}

type PlanFacts = ReturnType<ProfiledPlan['toJSON']>;
export type DirectionFacts = PlanFacts['directions'][number];
type Profile = ProfileName | Exclude<Parameters<typeof openProfile>[0], ProfileName>;

/** A plan for a device that is not there. */
export async function planned<T>(
  profile: Profile,
  problem: ProblemInput,
  use: (plan: ProfiledPlan, facts: PlanFacts) => T,
): Promise<T> {
  const device = await openProfile(profile);
  try {
    const plan = (await device.plan(problem)) as unknown as ProfiledPlan;
    return use(plan, plan.toJSON());
  } finally {
    device.close();
  }
}

/** What is asked of a plan for a profile holds. */
export function explained(
  profile: Profile,
  problem: ProblemInput,
  holds: (plan: ProfiledPlan, facts: PlanFacts) => boolean,
): Check {
  return () =>
    planned(profile, problem, (plan, facts) =>
      insist(holds(plan, facts), `${JSON.stringify(problem)} for ${JSON.stringify(profile)}: ${plan.explain()}`),
    );
}

/** The launches of a direction, the first one unless named. */
export function launchesOf({ directions }: PlanFacts, direction?: string): DirectionFacts['launches'] {
  const named = directions.find((one) => one.direction === direction) ?? directions[0]!;
  return named.launches;
}

/** A plan has so many launches for its first direction, or its convolution. */
export function launched(profile: Profile, problem: ProblemInput, count: number): Check {
  return explained(
    profile,
    problem,
    (_, facts) => launchesOf(facts, problem.convolution ? 'convolve' : undefined).length === count,
  );
}

/** Entries of `tuning` change the kernels of some of the problems. */
export function changesKernels(
  profile: Profile,
  tuning: NonNullable<ProblemInput['tuning']>,
  ...problems: readonly ProblemInput[]
): Check {
  return async () => {
    const text = (problem: ProblemInput) =>
      planned(profile, problem, ({ kernels }) => kernels.map(({ source }) => String(source)).join('\n'));
    for (const problem of problems) {
      if ((await text(problem)) !== (await text({ ...problem, tuning: { ...problem.tuning, ...tuning } }))) return;
    }
    throw new Error(`${JSON.stringify(tuning)} changes no kernel of ${JSON.stringify(problems)} for ${profile}`);
  };
}

/** What a command printed on stdout, and its exit code. */
export interface Printed {
  readonly code: number;
  readonly text: string;
  readonly errors: string;
}

/** Runs a command of the command line in this process, one at a time. */
export async function printed(...args: readonly string[]): Promise<Printed> {
  let [text, errors] = ['', ''];
  const { log, error } = console;
  const [out, err] = [process.stdout.write, process.stderr.write];
  const into = (add: (text: string) => void) =>
    ((chunk: unknown) => {
      add(String(chunk));
      return true;
    }) as typeof process.stdout.write;
  console.log = (line: unknown) => {
    text += `${line}\n`;
  };
  console.error = (line: unknown) => {
    errors += `${line}\n`;
  };
  process.stdout.write = into((chunk) => {
    text += chunk;
  });
  process.stderr.write = into((chunk) => {
    errors += chunk;
  });
  try {
    return { code: await runCommand(args), text, errors };
  } finally {
    Object.assign(console, { log, error });
    process.stdout.write = out;
    process.stderr.write = err;
  }
}

/** A command ends well, and what it prints is as it should be. */
export function command(args: readonly string[], holds: (text: string) => boolean = () => true): Check {
  return async () => {
    const { code, text, errors } = await printed(...args);
    if (/unknown command/.test(errors)) throw new NotHere(`no command ${args[0]} in this release`);
    insist(code === 0, `omnifft ${args.join(' ')} ends with ${code}: ${errors}`);
    insist(holds(text), `omnifft ${args.join(' ')} prints ${text.slice(0, 500)}`);
  };
}

/** The names are exported, as what they are to be. */
export function exported(load: () => Promise<object>, ...names: readonly string[]): Check {
  return async () => {
    const module = await load();
    for (const name of names) insist(name in module, `${name} is not exported`);
  };
}

/** The outcome of a row, in the words of its line. */
export async function outcomeOf({ check }: Row): Promise<string> {
  if (typeof check === 'string') return `not here: ${check}`;
  try {
    await check();
    return 'right';
  } catch (error) {
    if (error instanceof NotHere) return `not here: ${error.message}`;
    return `WRONG: ${(error as Error).message.split('\n').join(' ').slice(0, 300)}`;
  }
}

/** Closes what the checks have opened. */
export async function closeAll(): Promise<void> {
  (await processor)?.close();
  processor = undefined;
}
