/**
 * Whether a long reduction is shared out among threads and lanes. Each partial result is of every so many-th term, so that neighbouring lanes read
 * neighbouring numbers; that is worth it where there are fewer results than threads, or where the results' own loops read numbers that lie apart.
 */
import { coefficient, dependsOn, type LoadNode, type Real, reachable, type Var } from '../../ir/index.ts';
import type { LoopProfile } from './loop-profile.ts';
import type { Shares } from './reductions.ts';

/** Terms of a sum that one thread adds up even where others have nothing to do. */
const LONG_SUM = 1024;
/** Threads that keep a multiprocessor of threads busy, and groups that keep all multiprocessors of vectors busy. */
const BUSY_THREADS = 1024;
const GROUPS_EACH = 2;
/** Terms of a partial result at least: it is written and read again. */
const LEAST_TERMS = 16;
/** Terms that a thread adds up where all are busy. */
const TERMS_EACH = 64;
/** Vectors of partial results that a loop adds up at once, so that no addition waits for the one before. */
const VECTORS = 4;
/** Partial results that a group of threads makes at once. */
const GROUP_WIDTH = 256;

/**
 * @param around loops over results, outermost first
 * @param results iterations of all of them
 */
export function sharesOf(
  profile: LoopProfile,
  term: { readonly re: Real; readonly im?: Real | undefined },
  over: Var,
  around: readonly Var[],
  results: number,
): Shares | undefined {
  const loads = reachable(term.im ? [term.re, term.im] : [term.re]).filter(
    (node): node is LoadNode => node.op === 'load' && node.array.space === 'global',
  );
  const { lanes } = profile;
  const own = around.filter(({ count }) => count >= lanes).map((loop) => apart(loads, loop));
  const readsBetter = apart(loads, over) < Math.min(Number.POSITIVE_INFINITY, ...own);
  const { count } = over;
  return profile.lockstep === 'vector'
    ? sharesOfVectors(profile, count, results, readsBetter)
    : sharesOfThreads(profile, count, results, readsBetter && loads.some((load) => isOfAll(load, around)));
}

/** Loads that take numbers which lie apart, if lanes run along a loop. Complex numbers may lie side by side. */
function apart(loads: readonly LoadNode[], loop: Var): number {
  return loads.filter(({ index }) => Math.abs(coefficient(index, loop) ?? Number.POSITIVE_INFINITY) > 2).length;
}

/** Whether a load reads another number for each result, so that none is read twice. */
function isOfAll({ index }: LoadNode, around: readonly Var[]): boolean {
  return around.every((loop) => dependsOn(index, loop));
}

function sharesOfVectors(
  { lanes, multiprocessors }: LoopProfile,
  count: number,
  results: number,
  readsBetter: boolean,
): Shares | undefined {
  const isFew = results < lanes * multiprocessors && count > LONG_SUM;
  if (!readsBetter && !isFew) return undefined;
  const width = readsBetter ? lanes * vectorsFor(count / lanes) : 1;
  const wanted = Math.ceil((GROUPS_EACH * multiprocessors * (readsBetter ? 1 : lanes)) / results);
  const chunks = Math.max(1, Math.min(wanted, Math.floor(count / (width * LONG_SUM))));
  const terms = Math.floor(count / (width * chunks));
  return terms >= LEAST_TERMS && width * chunks > 1 ? { chunks, width, terms } : undefined;
}

/** How many vectors of partial results: a number that leaves no term over, if there is one. @param count of vectors */
function vectorsFor(count: number): number {
  if (count < LEAST_TERMS * VECTORS) return 1;
  for (let vectors = VECTORS; vectors >= VECTORS / 2; vectors--) if (count % vectors === 0) return vectors;
  return VECTORS;
}

function sharesOfThreads(
  { lanes, multiprocessors }: LoopProfile,
  count: number,
  results: number,
  readsBetter: boolean,
): Shares | undefined {
  const busy = BUSY_THREADS * multiprocessors;
  const isFew = results < busy && count > TERMS_EACH * LEAST_TERMS;
  if (!readsBetter && !isFew) return undefined;
  const wanted = Math.max(readsBetter ? lanes : 1, Math.min(Math.ceil(count / TERMS_EACH), Math.ceil(busy / results)));
  const width = wanted < lanes ? wanted : Math.min(GROUP_WIDTH, wanted - (wanted % lanes));
  const chunks = chunksFor(count / width, Math.floor(wanted / width));
  const terms = Math.ceil(count / (width * chunks));
  return terms >= 2 && width * chunks > 1 ? { chunks, width, terms } : undefined;
}

/** A number of chunks near to what is wanted; one that leaves no chunk short, where there is one. */
function chunksFor(rows: number, wanted: number): number {
  for (let chunks = wanted; chunks > wanted / 2; chunks--) if (rows % chunks === 0) return chunks;
  return wanted;
}
