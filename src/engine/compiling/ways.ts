/**
 * Ways to compile a program: what is decided while it is lowered, and periodic stencils as they are written or, by the rule `stencilToFft`,
 * as Fourier transforms. They are compared by price; with `strategy: 'measure'`, the cheapest ones are timed (trials.ts).
 */
import { type Decided, keyOf, type ProgramPieces, USUALLY, WAYS } from '../../kernels/programs/index.ts';
import { everywhere, type Program, rewrite, rules } from '../../patterns/index.ts';
import { FftError } from '../../problem/index.ts';

/** A way to compile a program. */
export interface Way extends Decided {
  /** Periodic stencils are computed by Fourier transforms. */
  readonly stencils?: 'transforms';
}

export interface PricedWay {
  readonly way: Way;
  readonly pieces: ProgramPieces;
  readonly price: number;
}

export interface WayRequest {
  /** @throws FftError what lowering throws */
  piecesOf(way: Way): ProgramPieces;
  priceOf(pieces: ProgramPieces): Promise<number>;
}

/** Errors that rule out one way only. */
const OWN_FAILURES: readonly string[] = [
  'compile-failed',
  'device-limit',
  'invalid-size',
  'out-of-memory',
  'unsupported-feature',
];

export function rulesOutOneWay(error: unknown): boolean {
  return error instanceof FftError && OWN_FAILURES.includes(error.code);
}

/** The program as the way has it. */
export function rewrittenFor(program: Program, { stencils }: Way): Program {
  return stencils === undefined ? program : rewrite(program, everywhere(rules.stencilToFft)).program;
}

/** All ways, the usual one first. */
export function waysOf(program: Program): Way[] {
  const [usual, ...others] = WAYS as [Decided, ...Decided[]];
  return [...stencilWaysOf(program, usual), ...others];
}

/** The usual way, and where the program has periodic stencils the same with Fourier transforms in their place. */
export function stencilWaysOf(program: Program, usual: Decided = USUALLY): Way[] {
  return hasStencils(program) ? [usual, { ...usual, stencils: 'transforms' }] : [usual];
}

/** Whether there are periodic stencils that may become transforms: in the functions of some patterns there can be none. */
function hasStencils(program: Program): boolean {
  try {
    return rewrite(program, everywhere(rules.stencilToFft)).trace.length > 0;
  } catch (error) {
    if (error instanceof FftError && error.code === 'invalid-program') return false;
    throw error;
  }
}

/**
 * Ways that differ, cheapest first.
 * @throws FftError (as a rejection) what lowering throws, if it does so in all ways
 */
export async function rankWays(ways: readonly Way[], { piecesOf, priceOf }: WayRequest): Promise<PricedWay[]> {
  const found = new Map<string, PricedWay>();
  let failure: unknown;
  for (const way of ways) {
    try {
      const pieces = piecesOf(way);
      const text = textOf(pieces);
      if (!found.has(text)) found.set(text, { way, pieces, price: await priceOf(pieces) });
    } catch (error) {
      if (!rulesOutOneWay(error)) throw error;
      failure ??= error;
    }
  }
  if (found.size === 0) throw failure;
  return [...found.values()].sort((one, other) => one.price - other.price);
}

/** Equal for launches that do the same in the same order. */
export function textOf({ launches }: ProgramPieces): string {
  const names = new Map<string, number>();
  const nameOf = (buffer: string) => {
    if (!names.has(buffer)) names.set(buffer, names.size);
    return names.get(buffer)!;
  };
  const lines = launches.map((launch) => [
    'transform' in launch ? launch.transform : keyOf(launch.kernel),
    launch.reads.map(nameOf),
    nameOf(launch.writes),
  ]);
  return JSON.stringify(lines);
}
