/**
 * Trials for `strategy: 'measure'`: several ways to compile a program are timed on the device, the cheapest first, and the fastest is taken.
 * It is kept for later processes, as measured plans are.
 */

import { leastMilliseconds, repeatUntilLong } from '../../devices/clock.ts';
import type { Backend, Binding, DeviceBuffer } from '../../devices/device.ts';
import type { ProgramPieces } from '../../kernels/programs/index.ts';
import type { Program } from '../../patterns/index.ts';
import { FftError } from '../../problem/index.ts';
import type { SideFacts } from '../arguments/arguments.ts';
import { findWay, keepWay } from '../kept/keeping.ts';
import type { ProgramCode } from './code.ts';
import type { ProgramHost } from './host.ts';
import { type PricedWay, type RankRequest, rankWays, rulesOutOneWay, textOfLaunches } from './ranking.ts';
import { type Way, waysOf } from './ways.ts';

/** Milliseconds after which no other way is tried and no other round is begun. */
const BUDGET_MILLISECONDS = 2000;
/** The most rounds, each of which times every way once. */
const ROUNDS = 5;
/** The most ways that are timed. */
const MOST_WAYS = 8;
/** The fastest ways found so far, by device, program, and sizes with precision. */
const decided = new WeakMap<Backend, WeakMap<Program, Map<string, Way>>>();

export interface TrialRequest extends RankRequest {
  readonly host: ProgramHost;
  readonly program: Program;
  /** The sizes and the precision as text. */
  readonly key: string;
  /** The arrays of the inputs, then of the output. */
  readonly sides: readonly SideFacts[];
  /** Compiles pieces to code that is ready to run. */
  codeOf(pieces: ProgramPieces): Promise<ProgramCode>;
}

interface Trial {
  readonly way: Way;
  readonly code: ProgramCode;
  milliseconds: number;
}

/** @throws FftError (as a rejection) `unsupported-feature` if the device runs nothing; the errors of compiling, if no way can be compiled */
export async function fastestWay(request: TrialRequest): Promise<Way> {
  const { host, program, key } = request;
  const { backend } = host;
  if (backend.withoutMemory) {
    const message = `strategy 'measure' times programs, and ${backend.name} is only a profile, which runs nothing; use 'fast' there.`;
    throw new FftError('unsupported-feature', message, { path: 'compile.strategy' });
  }
  const own = decided.get(backend) ?? new WeakMap<Program, Map<string, Way>>();
  decided.set(backend, own);
  const known = own.get(program) ?? new Map<string, Way>();
  own.set(program, known);
  let way = known.get(key);
  if (!way) known.set(key, (way = await keptOrTimed(request)));
  return way;
}

async function keptOrTimed(request: TrialRequest): Promise<Way> {
  const { backend } = request.host;
  const ranked = await rankWays(waysOf(request.program), request);
  if (!backend.store) return timedWays(request, ranked);
  // The text of all ways' launches identifies a program across processes.
  const text = JSON.stringify(ranked.map(({ pieces }) => textOfLaunches(pieces)).sort());
  const kept = await findWay(text, backend);
  // An entry that is none of the ways is damaged or stale, so it is ignored.
  const known = ranked.find(({ way }) => JSON.stringify(way) === kept);
  if (known) return known.way;
  const way = await timedWays(request, ranked);
  keepWay(text, JSON.stringify(way), backend);
  return way;
}

async function timedWays(request: TrialRequest, ranked: readonly PricedWay[]): Promise<Way> {
  const { backend } = request.host;
  const trials: Trial[] = [];
  const buffers: DeviceBuffer[] = [];
  try {
    const places: Binding[] = [];
    for (const { length, bytes } of request.sides) {
      const buffer = backend.allocate(length * bytes);
      buffers.push(buffer);
      places.push({ buffer, byteOffset: 0 });
      // Old contents of memory may be subnormal numbers, which are slow on some processors.
      const zeros = new Float32Array(Math.ceil((length * bytes) / 4));
      await backend.upload(places.at(-1)!, zeros);
    }
    await compileAndTime(request, ranked.slice(0, MOST_WAYS), trials, places);
    const begin = performance.now();
    for (let round = 1; round < ROUNDS && performance.now() - begin < BUDGET_MILLISECONDS; round++) {
      for (const trial of trials)
        trial.milliseconds = Math.min(trial.milliseconds, await timeOfRun(trial.code, places));
    }
  } finally {
    for (const { code } of trials) code.release();
    for (const buffer of buffers) buffer.free();
  }
  return trials.reduce((one, other) => (other.milliseconds < one.milliseconds ? other : one)).way;
}

/** Compiles each way and times it once. */
async function compileAndTime(
  { codeOf }: TrialRequest,
  ranked: readonly PricedWay[],
  trials: Trial[],
  places: readonly Binding[],
): Promise<void> {
  const begin = performance.now();
  let failure: unknown;
  for (const { way, pieces } of ranked) {
    if (trials.length > 0 && performance.now() - begin > BUDGET_MILLISECONDS) break;
    try {
      const code = await codeOf(pieces);
      trials.push({ way, code, milliseconds: Number.POSITIVE_INFINITY });
      trials.at(-1)!.milliseconds = await timeOfRun(code, places);
    } catch (error) {
      if (!rulesOutOneWay(error)) throw error;
      failure ??= error;
    }
  }
  if (trials.length === 0) throw failure;
}

/** Milliseconds of one run. */
async function timeOfRun(code: ProgramCode, places: readonly Binding[]): Promise<number> {
  const bound = code.bind(places);
  const run = () => Promise.all(bound.map((one) => one.run()));
  try {
    await run();
    const elapsed = async (runs: number) => {
      const start = performance.now();
      for (let n = 0; n < runs; n++) await run();
      return performance.now() - start;
    };
    return (await repeatUntilLong(1, Math.max(2, leastMilliseconds()), elapsed)).milliseconds;
  } finally {
    for (const one of new Set(bound)) one.release();
  }
}
