/** The order of ways to compile a program, by price. */
import { kernelKey, type ProgramPieces } from '../../kernels/programs/index.ts';
import { FftError } from '../../problem/index.ts';
import { type PriceRequest, priceOfProgram } from './price.ts';
import type { Way } from './ways.ts';

export interface PricedWay {
  readonly way: Way;
  readonly pieces: ProgramPieces;
  readonly price: number;
}

export interface RankRequest extends PriceRequest {
  /** Lowers the program in a way. @throws FftError the errors of lowering */
  piecesOf(way: Way): ProgramPieces;
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

/**
 * The ways with different launches, cheapest first.
 * @throws FftError (as a rejection) the errors of lowering, if it fails in all ways
 */
export async function rankWays(ways: readonly Way[], request: RankRequest): Promise<PricedWay[]> {
  const found = new Map<string, PricedWay>();
  let failure: unknown;
  for (const way of ways) {
    try {
      const pieces = request.piecesOf(way);
      const text = textOfLaunches(pieces);
      if (!found.has(text)) found.set(text, { way, pieces, price: await priceOfProgram(pieces, request) });
    } catch (error) {
      if (!rulesOutOneWay(error)) throw error;
      failure ??= error;
    }
  }
  if (found.size === 0) throw failure;
  return [...found.values()].sort((one, other) => one.price - other.price);
}

/** A text of launches, equal for launches that do the same in the same order, whatever their buffers are called. */
export function textOfLaunches({ launches }: ProgramPieces): string {
  const names = new Map<string, number>();
  const nameOf = (buffer: string) => {
    if (!names.has(buffer)) names.set(buffer, names.size);
    return names.get(buffer)!;
  };
  const lines = launches.map((launch) => [
    'transform' in launch ? launch.transform : kernelKey(launch.kernel),
    launch.reads.map(nameOf),
    nameOf(launch.writes),
  ]);
  return JSON.stringify(lines);
}
