/**
 * The decision whether a long reduction is split among threads and lanes. A partial result takes every `width`-th term, so that neighbouring lanes
 * read neighbouring numbers; splitting pays where there are fewer results than threads, or where the results' own loops read numbers that lie apart.
 */
import { coefficient, dependsOn, type LoadNode, type Real, reachable, type Var } from '../../../ir/index.ts';
import type { LoopProfile } from './loop-profile.ts';
import type { Shares } from './reductions.ts';

/** The most terms of a sum that one thread adds up even if other threads are idle. */
const LONG_SUM = 1024;
/** Threads that keep a multiprocessor of threads busy; on vectors the number of groups that keeps all multiprocessors busy. */
const BUSY_THREADS = 1024;
const GROUPS_EACH = 2;
/** The least number of terms of a partial result, as each one is written and read again. */
const LEAST_TERMS = 16;
/** Terms per thread where all threads are busy. */
const TERMS_EACH = 64;
/** Vectors of partial results that a loop accumulates independently, so that no addition waits for the one before. */
const VECTORS = 4;
/** Partial results that a group of threads makes at once. */
const GROUP_WIDTH = 256;

/**
 * @param around loops over results, outermost first
 * @param results iterations of all these loops together
 */
export function reductionShares(
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

/** The number of loads whose lanes along a loop read numbers that lie apart. The parts of complex numbers may lie side by side. */
function apart(loads: readonly LoadNode[], loop: Var): number {
  return loads.filter(({ index }) => Math.abs(coefficient(index, loop) ?? Number.POSITIVE_INFINITY) > 2).length;
}

/** Whether a load reads a different number for each result, so that no number is read twice. */
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

/** The number of vectors of partial results: one that divides the terms, if there is one. @param count terms, in vectors */
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
  const chunks = evenChunks(count / width, Math.floor(wanted / width));
  const terms = Math.ceil(count / (width * chunks));
  return terms >= 2 && width * chunks > 1 ? { chunks, width, terms } : undefined;
}

/** A number of chunks near to the wanted one; one that leaves no chunk short, where there is one. */
function evenChunks(rows: number, wanted: number): number {
  for (let chunks = wanted; chunks > wanted / 2; chunks--) if (rows % chunks === 0) return chunks;
  return wanted;
}
