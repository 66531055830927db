/**
 * Vector accesses: how the lanes of one body read and write memory.
 *
 * An access whose address does not depend on the lane is a splat, one that moves by 1 is a vector. For the rest,
 * neighbouring accesses are grouped: what every lane finds in `lanes` consecutive places is a square of memory that is
 * read in rows and transposed in registers. Interleaved complex numbers, the first Stockham store and transposing
 * copies are all this one case. What is left goes lane by lane.
 */
import {
  type ArrayRef,
  coefficient,
  type Index,
  index,
  indexKey,
  type Real,
  reachable,
  type Store,
  substitute,
  type Var,
} from '../../ir/index.ts';
import type { Body } from './schedule.ts';

/** Places an element access at one address per lane: base + lane · stride, or wherever `bases` says. */
export interface Access {
  readonly array: ArrayRef;
  /** Address of lane 0; its constant is the offset within the group. */
  readonly base: Index;
  /** Elements from lane to lane; undefined: see `bases`. */
  readonly stride: number | undefined;
  /** Elements from one repetition of the body to the next. */
  readonly repeat: number;
  /** One address for each lane, where the lanes are scattered. */
  readonly bases?: readonly Index[];
}

export type LoadNode = Extract<Real, { op: 'load' }>;

/** Accesses that are done together: 1, 2 or `lanes` of them at consecutive offsets. */
export interface Group<T> {
  readonly access: Access;
  readonly members: readonly T[];
}

export interface BodyAccesses {
  readonly loads: ReadonlyMap<LoadNode, Group<LoadNode>>;
  readonly stores: readonly Group<Real>[];
}

/**
 * @param statements of the body.
 * @returns undefined where the repetitions of the body do not walk through memory at a fixed step.
 */
export function accessesOf(body: Body, statements: readonly Store[], lanes: number): BodyAccesses | undefined {
  const nodes = reachable(statements.map((store) => store.value)).filter((node) => node.op === 'load') as LoadNode[];
  const reads: [Access, LoadNode][] = [];
  const writes: [Access, Real][] = [];
  for (const node of nodes) {
    const access = locate(node.array, node.index, body);
    if (!access) return undefined;
    reads.push([access, node]);
  }
  for (const { array, index: at, value } of statements) {
    const access = locate(array, at, body);
    if (!access) return undefined;
    writes.push([access, value]);
  }
  const loads = new Map<LoadNode, Group<LoadNode>>();
  for (const group of grouped(reads, lanes)) for (const member of group.members) loads.set(member, group);
  return { loads, stores: grouped(writes, lanes) };
}

/** Every address that the accesses of a body start from: what pointers are needed for. */
export function basesOf({ loads, stores }: BodyAccesses): { array: ArrayRef; base: Index }[] {
  const groups = new Set<Group<unknown>>([...loads.values(), ...stores]);
  return [...groups].flatMap(({ access }) =>
    (access.bases ?? [access.base]).map((base) => ({ array: access.array, base })),
  );
}

function locate(array: ArrayRef, at: Index, body: Body): Access | undefined {
  const [once, repeat] = body.repeat ? without(at, body.repeat) : [at, 0];
  if (repeat === undefined) return undefined;
  const { lane } = body;
  if (!lane) return { array, base: once, stride: 0, repeat };
  const [base, stride] = without(once, lane);
  if (stride !== undefined) return { array, base, stride, repeat };
  const bases = Array.from({ length: lane.count }, (_, l) => substitute(once, new Map([[lane, index(l)]])));
  return { array, base: bases[0]!, stride, repeat, bases };
}

/** Takes a variable out of an index: the rest and the coefficient, which is undefined where there is none. */
function without(at: Index, v: Var): [rest: Index, coefficient: number | undefined] {
  const factor = coefficient(at, v);
  if (!factor) return [at, factor];
  return [{ constant: at.constant, terms: at.terms.filter(({ atom }) => atom !== v) }, factor];
}

function grouped<T>(accesses: readonly (readonly [Access, T])[], lanes: number): Group<T>[] {
  const groups: Group<T>[] = [];
  const families = new Map<string, (readonly [Access, T])[]>();
  for (const entry of accesses) {
    const [access] = entry;
    if (access.stride === undefined || access.stride === 0 || access.stride === 1) {
      groups.push({ access, members: [entry[1]] });
      continue;
    }
    const key = `${access.array.name}|${access.stride}|${access.repeat}|${indexKey({ ...access.base, constant: 0 })}`;
    const family = families.get(key);
    if (family) family.push(entry);
    else families.set(key, [entry]);
  }
  for (const family of families.values()) {
    const sorted = [...family].sort(([a], [b]) => a.base.constant - b.base.constant);
    for (let at = 0; at < sorted.length; ) {
      const [access] = sorted[at]!;
      let run = 1;
      while (at + run < sorted.length && sorted[at + run]![0].base.constant === access.base.constant + run) run++;
      // Where the lanes tile memory in pairs, whole vectors hold them; a square would overlap its neighbour.
      const size = access.stride !== 2 && run >= lanes ? lanes : run >= 2 ? 2 : 1;
      groups.push({ access, members: sorted.slice(at, at + size).map(([, member]) => member) });
      at += size;
    }
  }
  return groups;
}
