/**
 * Vector accesses: how the lanes of one body read and write memory.
 *
 * An access whose address does not depend on the lane is a splat; an access whose address grows by 1 from lane to lane is a vector. Other
 * accesses are grouped with their neighbours: if every lane accesses `lanes` consecutive elements, these form a square of memory that is
 * read in rows and transposed in registers. Interleaved complex numbers, the stores of the first Stockham pass and transposing copies
 * are all of this kind. All other accesses go lane by lane.
 */
import {
  type ArrayRef,
  coefficient,
  dependsOn,
  type Guard,
  guardKey,
  type Index,
  index,
  indexKey,
  type LoadNode,
  type Real,
  released,
  type Store,
  substitute,
  type Var,
} from '../../ir/index.ts';
import type { Body } from './schedule.ts';

/** The addresses of an access: base + lane · stride, or `bases`. */
export interface LaneAccess {
  readonly array: ArrayRef;
  /** Address of lane 0; its constant is the offset within the group. */
  readonly base: Index;
  /** Elements from lane to lane; undefined if `bases` has the addresses. */
  readonly stride: number | undefined;
  /** Elements from one repetition of the body to the next. */
  readonly repeat: number;
  /** One address for each lane, where the lanes are scattered. */
  readonly bases?: readonly Index[];
  /** Condition under which the access takes place; missing if it always does. */
  readonly guard?: Guard;
}

/** Accesses that are executed together: 1, 2 or `lanes` accesses at consecutive offsets, or two accesses at offsets 0 and 2. */
export interface AccessGroup<T> {
  readonly access: LaneAccess;
  readonly members: readonly T[];
  /** Elements from one access to the next. */
  readonly apart: 1 | 2;
}

export interface BodyAccesses {
  readonly loads: ReadonlyMap<LoadNode, AccessGroup<LoadNode>>;
  readonly stores: readonly AccessGroup<Real>[];
}

/**
 * @param nodes all values of the body's statements, operands before their users.
 * @returns undefined if an address does not grow by a fixed step from repetition to repetition, or if guards change.
 */
export function bodyAccesses(
  body: Body,
  nodes: readonly Real[],
  statements: readonly Store[],
  lanes: number,
): BodyAccesses | undefined {
  const reads: [LaneAccess, LoadNode][] = [];
  const writes: [LaneAccess, Real][] = [];
  for (const node of nodes) {
    if (node.op === 'where' && changesInRepetitions(node.guard, body)) return undefined;
    if (node.op !== 'load') continue;
    const access = locate(node, body);
    if (!access) return undefined;
    reads.push([access, node]);
  }
  for (const statement of statements) {
    const access = locate(statement, body);
    if (!access) return undefined;
    writes.push([access, statement.value]);
  }
  const loads = new Map<LoadNode, AccessGroup<LoadNode>>();
  for (const group of grouped(reads, lanes, true)) for (const member of group.members) loads.set(member, group);
  return { loads, stores: grouped(writes, lanes) };
}

/** The start of accesses up to a constant offset. Each base needs a pointer. */
export interface Base {
  readonly array: ArrayRef;
  readonly terms: Index['terms'];
}

/** The base addresses of all accesses of a body, each once. */
export function accessBases({ loads, stores }: BodyAccesses): Base[] {
  const found = new Map<string, Base>();
  const visit = ({ access }: AccessGroup<unknown>): void => {
    const { array } = access;
    for (const base of access.bases ?? [access.base]) {
      const key = pointerKey(array, base);
      if (!found.has(key)) found.set(key, { array, terms: base.terms });
    }
  };
  for (const group of new Set(loads.values())) visit(group);
  stores.forEach(visit);
  return [...found.values()];
}

const termKeys = new WeakMap<Index['terms'], { readonly array: ArrayRef; readonly key: string }>();

/** A key that is equal for indices that differ by a constant. Keys are remembered, because every access needs one. */
export function pointerKey(array: ArrayRef, { terms }: Index): string {
  const found = termKeys.get(terms);
  if (found?.array === array) return found.key;
  const key = `${array.name}|${indexKey({ constant: 0, terms })}`;
  termKeys.set(terms, { array, key });
  return key;
}

function changesInRepetitions(guard: Guard, { repeat }: Body): boolean {
  return repeat !== undefined && guard.some(({ index }) => dependsOn(index, repeat));
}

function locate(
  { array, index: at, guard }: { readonly array: ArrayRef; readonly index: Index; readonly guard?: Guard },
  body: Body,
): LaneAccess | undefined {
  if (guard && changesInRepetitions(guard, body)) return undefined;
  const access = unguarded(array, at, body);
  return access && guard && guard.length > 0 ? { ...access, guard } : access;
}

function unguarded(array: ArrayRef, at: Index, { lane, repeat: copy }: Body): LaneAccess | undefined {
  const copies = copy && walkAlong(at, copy, lane);
  if (copies && copies.step === undefined) return undefined;
  const { step: repeat = 0, from: once } = copies ?? { from: at };
  if (!lane) return { array, base: once, stride: 0, repeat };
  const { step: stride, from } = walkAlong(once, lane);
  if (stride !== undefined) return { array, base: from, stride, repeat };
  const bases = Array.from({ length: lane.count }, (_, l) => substitute(once, new Map([[lane, index(l)]])));
  return { array, base: bases[0]!, stride, repeat, bases };
}

/**
 * The step of an index from one value of a variable to the next, undefined if it is not constant, and the index where the variable is 0.
 * @param within a variable with smaller steps, which is taken out of quotients and remainders first.
 */
function walkAlong(at: Index, v: Var, within?: Var): { step: number | undefined; from: Index } {
  let from = at;
  let step = coefficient(from, v);
  if (step === undefined) {
    from = released(within ? released(at, within) : at, v);
    step = coefficient(from, v);
  }
  return { step, from: step ? withoutVariable(from, v) : from };
}

/** An index in which a variable is 0. */
function withoutVariable({ constant, terms }: Index, v: Var): Index {
  return { constant, terms: terms.filter(({ atom }) => atom !== v) };
}

/** A key that is equal for accesses that differ by the same constant in every lane. */
function lanesKey({ base, bases = [base] }: LaneAccess): string {
  return bases.map((at) => indexKey({ ...at, constant: at.constant - base.constant })).join();
}

/** @param between whether memory between the elements may be accessed, too: a load may do that, a store may not */
function grouped<T>(accesses: readonly (readonly [LaneAccess, T])[], lanes: number, between = false): AccessGroup<T>[] {
  const groups: AccessGroup<T>[] = [];
  const families = new Map<string, (readonly [LaneAccess, T])[]>();
  for (const entry of accesses) {
    const [access] = entry;
    if (access.stride === 0 || access.stride === 1 || access.stride === -1) {
      groups.push({ access, members: [entry[1]], apart: 1 });
      continue;
    }
    const guarded = access.guard ? guardKey(access.guard) : '';
    const key = `${access.array.name}|${access.stride}|${access.repeat}|${lanesKey(access)}|${guarded}`;
    const family = families.get(key);
    if (family) family.push(entry);
    else families.set(key, [entry]);
  }
  for (const family of families.values()) {
    const sorted = [...family].sort(([a], [b]) => a.base.constant - b.base.constant);
    for (let at = 0; at < sorted.length; ) {
      const [access] = sorted[at]!;
      const runOf = (apart: number) => {
        let run = 1;
        while (sorted[at + run]?.[0].base.constant === access.base.constant + run * apart) run++;
        return run;
      };
      const run = runOf(1);
      const stride = Math.abs(access.stride ?? 0);
      // With stride 2, two vectors hold the pairs of all lanes; a square of more elements would overlap the next lanes.
      const near = stride !== 2 && run >= lanes ? lanes : Math.min(run, 2);
      const second = between && near === 1 && stride === 4 && lanes === 4 && runOf(2) > 1;
      const [size, apart] = second ? ([2, 2] as const) : ([near, 1] as const);
      groups.push({ access, apart, members: sorted.slice(at, at + size).map(([, member]) => member) });
      at += size;
    }
  }
  return groups;
}
