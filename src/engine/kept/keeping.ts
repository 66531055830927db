/** The entries that a device keeps for later processes: plans, and the fastest candidates of measured plans and programs. */
import { type CodeStore, entryKey } from '../../devices/code-cache/store.ts';
import type { Backend } from '../../devices/device.ts';
import type { PlannedProblem, Problem } from '../../problem/index.ts';
import type { MeasuredCandidates } from '../measuring/candidates.ts';
import type { KernelCache } from '../programs/cache.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { type KeptPlan, keptBytes, readKept } from './kept-plan.ts';

/**
 * Reads the entries of a problem into memory, where `findPlan` and `findMeasured` find them without waiting. Pages need this because their
 * databases are asynchronous.
 * @param text the problem as the caller gave it
 */
export async function fetchKept(text: string, problem: Problem, backend: Backend): Promise<void> {
  const { store } = backend;
  await Promise.all([
    store?.fetch?.(planKey(store, text, backend)),
    store?.fetch?.(measuredKey(store, problem, backend)),
  ]);
}

/** The plan of a problem from an earlier process. @param text the problem as the caller gave it */
export function findPlan(text: string, backend: Backend): KeptPlan | undefined {
  const { store } = backend;
  const bytes = store?.get(planKey(store, text, backend));
  if (!bytes) return undefined;
  try {
    return readKept(bytes);
  } catch {
    return undefined;
  }
}

/** Keeps the plan of a problem for later processes. @param text the problem as the caller gave it */
export function keepPlan(
  text: string,
  problem: PlannedProblem,
  programs: readonly DirectionProgram[],
  backend: Backend,
  cache: KernelCache,
): void {
  const { store } = backend;
  const bytes = store && keptBytes(problem, programs, backend, cache, false);
  if (bytes) store.put(planKey(store, text, backend), bytes);
}

/** The measurements of an earlier process for a problem. */
export function findMeasured(problem: Problem, backend: Backend): MeasuredCandidates | undefined {
  const { store } = backend;
  const bytes = store?.get(measuredKey(store, problem, backend));
  if (!bytes) return undefined;
  const { splits, times } = JSON.parse(new TextDecoder().decode(bytes));
  return { splits, times: new Map(times) };
}

export function keepMeasured(problem: Problem, { splits, times }: MeasuredCandidates, backend: Backend): void {
  const { store } = backend;
  const text = JSON.stringify({ splits, times: [...times] });
  store?.put(measuredKey(store, problem, backend), new TextEncoder().encode(text));
}

/**
 * The fastest way to compile a program of patterns, as the text that an earlier process has kept.
 * @param text a text that identifies the program: its launches in all ways
 */
export async function findWay(text: string, backend: Backend): Promise<string | undefined> {
  const { store } = backend;
  const key = store && wayKey(store, text, backend);
  if (!key) return undefined;
  await store.fetch?.(key);
  const bytes = store.get(key);
  return bytes && new TextDecoder().decode(bytes);
}

/** Keeps the fastest way to compile a program. @param text as for `findWay` @param way the result of later calls of `findWay` */
export function keepWay(text: string, way: string, backend: Backend): void {
  const { store } = backend;
  store?.put(wayKey(store, text, backend), new TextEncoder().encode(way));
}

function wayKey(store: CodeStore, text: string, { kind, profile, codeFacts }: Backend): string {
  return entryKey('measured', store, [kind, profile, codeFacts, 'program', text]);
}

function planKey(store: CodeStore, text: string, { kind, profile, codeFacts }: Backend): string {
  return entryKey('plan', store, [kind, profile, codeFacts, text]);
}

function measuredKey(store: CodeStore, problem: Problem, { kind, profile, codeFacts }: Backend): string {
  return entryKey('measured', store, [kind, profile, codeFacts, problem]);
}
