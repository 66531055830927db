/** The rules that every kernel has to keep. Tests, `debug` and saved plans check kernels with them. */

import { type ArrayRef, isIntegers, storageBytes } from './arrays.ts';
import { rangeByCases } from './cases.ts';
import { dependencesOf } from './dependences.ts';
import type { Guard } from './guard.ts';
import {
  type Atom,
  add,
  coefficient,
  type Index,
  indexKey,
  type Quotient,
  range,
  scale,
  sub,
  substitute,
  tablesOf,
  type Var,
  variable,
  variablesOf,
} from './integer.ts';
import { type Kernel, type Loop, type Phase, slicedPhases } from './kernel.ts';
import { type Real, reachable } from './real.ts';
import { rangeWithin } from './within.ts';

/** All violations of the rules of a kernel, in words; empty for a valid kernel. */
export function verify(kernel: Kernel): string[] {
  const { phases, reverse = phases } = kernel;
  // Violations in phases that both directions share are reported once.
  const problems = new Set([...complaints(kernel, phases), ...complaints(kernel, reverse)]);
  if (reverse.length !== phases.length) {
    problems.add(`${kernel.name}: ${reverse.length} phases the other way, not ${phases.length}`);
  }
  if (reverse.some(({ exchange }, n) => exchange !== phases[n]?.exchange)) {
    problems.add(`${kernel.name}: other exchanges the other way`);
  } else if (reverse.some((phase, n) => phase.exchange === 'slice' && slicesOf(phase) !== slicesOf(phases[n]!))) {
    problems.add(`${kernel.name}: other slices the other way`);
  }
  return [...problems];
}

function complaints(kernel: Kernel, phases: readonly Phase[]): string[] {
  const problems: string[] = [];
  const written = new Set<ArrayRef>();
  const read = new Set<ArrayRef>();
  const places = new Map<ArrayRef, Index[]>();
  phases.forEach((phase, number) => {
    const say = (what: string) => problems.push(`${kernel.name}, phase ${number}: ${what}`);
    const access = new AccessRules(kernel, phase, places, say);
    const reads = access.loads(written);
    const writes = access.stores(reads);
    const inSlices = phase.exchange === 'slice' || phases[number - 1]?.exchange === 'slice';
    if (!phase.readsFirst) complaintsInPlace(phase, inSlices).forEach(say);
    for (const array of reads) read.add(array);
    for (const array of writes) written.add(array);
  });
  for (const array of kernel.globals) {
    if (!read.has(array) || !written.has(array) || places.get(array)!.some(isPromised)) continue;
    if (!kernel.cluster && haveOwnParts(kernel.group, places.get(array)!)) continue;
    problems.push(`${kernel.name}: one group may write what another reads in ${array.name}`);
  }
  let number = 0;
  for (const run of slicedPhases(phases)) {
    const [start, end] = [number, (number += run.length)];
    if (run.length === 1 && run[0]!.exchange !== 'slice') continue;
    const what = complaintsOfSlices(kernel, run);
    problems.push(...what.map((text) => `${kernel.name}, phases ${start} to ${end - 1}: ${text}`));
  }
  if (kernel.shared.some(({ partLength }) => partLength !== undefined)) {
    if (kernel.shared.length > 1) problems.push(`${kernel.name}: an array in parts stands beside another one`);
    const { length, partLength } = kernel.shared[0]!;
    if (length !== 2 * partLength! && length !== 4 * partLength!)
      problems.push(`${kernel.name}: ${length} elements are neither two nor four parts of ${partLength}`);
  }
  return problems;
}

/** The accesses of one phase, checked against the rules. */
class AccessRules {
  private readonly kernel: Kernel;
  private readonly phase: Phase;
  private readonly places: Map<ArrayRef, Index[]>;
  private readonly say: (what: string) => void;
  private readonly known: ReadonlySet<ArrayRef>;
  private readonly inScope: Set<Var>;
  /** The guard that the loop limits impose on the loop variables. */
  private readonly tails: Guard;

  /** @param places the accessed indices of each array so far; those of this phase are added */
  constructor(kernel: Kernel, phase: Phase, places: Map<ArrayRef, Index[]>, say: (what: string) => void) {
    this.kernel = kernel;
    this.phase = phase;
    this.places = places;
    this.say = say;
    this.known = new Set([...kernel.globals, ...kernel.tables, ...kernel.shared]);
    const own = kernel.cluster ? [kernel.group, kernel.cluster.rank] : [kernel.group];
    this.inScope = new Set<Var>([...own, ...phase.loops.map((loop) => loop.variable)]);
    this.tails = phase.loops.flatMap(({ variable: at, limit }) => {
      const beyond = limit && sub(at, limit);
      return beyond ? [{ index: beyond, from: range(beyond)[0], to: 0 }] : [];
    });
    if (!phase.loops.some((loop) => loop.variable === phase.lanes)) say('the lane variable is not one of its loops');
  }

  /** Checks the loads. @param written arrays that earlier phases have written */
  loads(written: ReadonlySet<ArrayRef>): Set<ArrayRef> {
    const { phase, say } = this;
    const reads = new Set<ArrayRef>();
    let usesNeighbours = false;
    const nodes = reachable(phase.stores.map((store) => store.value));
    for (const problem of complaintsOfFolds(nodes, phase)) say(problem);
    for (const node of nodes) if (node.op === 'fold') this.inScope.add(node.loop.over);
    for (const node of nodes) {
      usesNeighbours ||= node.op === 'swap' || node.op === 'conj';
      if (node.op === 'where') this.guard(node.guard);
      if (node.op !== 'load') continue;
      this.access(node.array, node.index, node.guard);
      reads.add(node.array);
      if (node.array.space === 'shared' && !written.has(node.array)) {
        say(`reads ${node.array.name}, which no earlier phase has written: a value would cross no exchange`);
      }
    }
    if (usesNeighbours) {
      const loop = phase.loops.find(({ variable }) => variable === phase.lanes);
      // Items after the last whole vector have to be repeated in one more vector: one by one they would have no neighbour.
      const unrepeatable = phase.lanes.count > 2 && !phase.repeatable;
      if (phase.lanes.count % 2 !== 0 || loop?.limit || unrepeatable) say('an item may be without its neighbour');
    }
    return reads;
  }

  /** Checks the stores. */
  stores(reads: ReadonlySet<ArrayRef>): Set<ArrayRef> {
    const { kernel, phase, say } = this;
    const writes = new Set<ArrayRef>();
    for (const store of phase.stores) {
      this.access(store.array, store.index, store.guard);
      writes.add(store.array);
      if (store.block) {
        const blocks = kernel.cluster?.blocks ?? 1;
        if (range(store.block)[0] < 0 || range(store.block)[1] >= blocks) say(`stores to a block that is not there`);
        if (!phase.readsFirst || phase.exchange !== 'cluster') say(`stores to other blocks, which may not be ready`);
      }
      if (store.array.space === 'table') say(`writes the table ${store.array.name}`);
      if (store.array.operand) say(`writes the operand ${store.array.name}`);
      if (phase.repeatable && reads.has(store.array))
        say(`is called repeatable but writes ${store.array.name}, which it reads`);
    }
    return writes;
  }

  private access(array: ArrayRef, at: Index, guard: Guard = []): void {
    const { kernel, places, say } = this;
    if (!this.known.has(array)) say(`array ${array.name} is not declared`);
    if (isIntegers(array)) say(`array ${array.name} holds integers, which only indices are looked up in`);
    else if (storageBytes(array.type) > storageBytes(kernel.precision))
      say(`array ${array.name} is wider than what is computed in`);
    if (!places.has(array)) places.set(array, []);
    places.get(array)!.push(at);
    this.index(at, `index of ${array.name}`);
    this.guard(guard);
    let [low, high] = rangeWithin(at, guard, this.tails);
    const isBeyond = low < 0 || (array.space === 'shared' && high >= array.length!);
    if (isBeyond) {
      const [least, most] = rangeByCases(at, [...guard, ...this.tails]);
      [low, high] = [Math.max(low, least), Math.min(high, most)];
    }
    // Guards and limits together do not always show that callbacks and programs load inside the array, or that a dimension walked backwards
    // ends at its first element, so each bound is used on its own.
    const isBackwards = array.space === 'global' && at.terms.some(({ factor }) => factor < 0);
    const isComposed = array.operand === true || array.guarded === true || array.space === 'table';
    const isTrusted = (isComposed || isBackwards) && guard.length + this.tails.length > 0;
    if (low < 0 && !isTrusted) say(`index of ${array.name} can be ${low}`);
    if (array.space === 'shared' && high >= array.length! && !isTrusted) {
      say(`index of ${array.name} can be ${high}, its length is ${array.length}`);
    }
    const { partLength } = array;
    if (partLength !== undefined && Math.floor(low / partLength) !== Math.floor(high / partLength)) {
      say(`index of ${array.name} can be in more than one part`);
    }
  }

  private index(at: Index, what: string): void {
    for (const v of variablesOf(at)) if (!this.inScope.has(v)) this.say(`${what} uses ${v.name} out of scope`);
    for (const table of tablesOf(at)) if (!this.known.has(table)) this.say(`array ${table.name} is not declared`);
  }

  private guard(guard: Guard): void {
    for (const { index } of guard) this.index(index, 'a guard');
  }
}

/** Violations of folds: a value is used outside its loop, or a loop carries something else than its initial value. */
function complaintsOfFolds(nodes: readonly Real[], { stores }: Phase): Set<string> {
  const problems = new Set<string>();
  const dependences = dependencesOf(nodes);
  const outside = (value: Real, what = 'outside its fold'): void => {
    for (const v of dependences.get(value)?.rounds ?? []) problems.add(`${v.name} is used ${what}`);
  };
  for (const { value } of stores) outside(value);
  const loops = new Set(nodes.flatMap((node) => (node.op === 'fold' ? [node.loop] : [])));
  for (const { over, first, next } of loops) {
    if (first.length !== next.length) problems.add(`a fold over ${over.name} begins with other values than it carries`);
    if (first.some((value) => dependences.get(value)?.rounds.has(over))) {
      problems.add(`a fold over ${over.name} begins with what is only in its rounds`);
    }
    const inner = reachable(next).flatMap((node) => (node.op === 'fold' ? [node.loop.over] : []));
    if (inner.includes(over)) problems.add(`a fold over ${over.name} has another one in its rounds`);
  }
  const counts = new Map<Var, number>();
  for (const { over, next } of loops) counts.set(over, Math.max(counts.get(over) ?? 0, next.length));
  for (const node of nodes) {
    if (node.op !== 'carried') continue;
    if (!counts.has(node.over)) problems.add(`${node.over.name} carries a value without a fold`);
    else if (node.slot >= counts.get(node.over)!) problems.add(`${node.over.name} carries fewer values`);
  }
  return problems;
}

/**
 * Violations of a phase that writes arrays it reads, or that claims to work in place.
 * @param inSlices items with different values of the outermost loop run one after another, and may use the same array (`complaintsOfSlices`)
 */
function complaintsInPlace({ lanes, loops: all, stores, inPlace = 0 }: Phase, inSlices: boolean): Set<string> {
  const loops = inSlices ? all.slice(1) : all;
  const together = Math.max(1, inPlace);
  if (!Number.isInteger(together)) return new Set([`works in place by ${inPlace} items`]);
  if (together > 1 && (lanes.count % together !== 0 || loops.some(({ limit }) => limit))) {
    return new Set(['an item may be without its neighbours']);
  }
  // Items that all load before any of them stores count as one item, which makes the accesses of all.
  const first = variable(lanes.name, lanes.count / together);
  const items = Array.from({ length: together }, (_, n) => new Map([[lanes, add(scale(first, together), n)]]));
  const around = loops.map((loop) => (together > 1 && loop.variable === lanes ? { ...loop, variable: first } : loop));
  const touched = new Map<ArrayRef, Map<string, Index>>();
  const [read, written] = [new Set<ArrayRef>(), new Set<ArrayRef>()];
  const touch = (array: ArrayRef, at: Index): void => {
    let places = touched.get(array);
    if (!places) touched.set(array, (places = new Map()));
    for (const by of items) {
      const place = together > 1 ? substitute(at, by) : at;
      places.set(indexKey(place), place);
    }
  };
  for (const node of reachable(stores.map(({ value }) => value))) {
    if (node.op !== 'load' || node.array.space === 'table') continue;
    read.add(node.array);
    touch(node.array, node.index);
  }
  for (const { array, index } of stores) {
    written.add(array);
    touch(array, index);
  }
  const problems = new Set<string>();
  for (const [array, places] of touched) {
    if (!read.has(array) || !written.has(array) || [...places.values()].some(isPromised)) continue;
    if (array.space === 'shared' && inPlace === 0) {
      problems.add(`reads and writes ${array.name} without an exchange between`);
    } else if (!allPlacesDiffer([...places.values()], around)) {
      problems.add(`two items may touch the same place of ${array.name}`);
    }
  }
  return problems;
}

/** Whether a place comes from a table that is filled later, whose provider guarantees that nothing else accesses it. */
function isPromised(at: Index): boolean {
  return [...tablesOf(at)].some(({ filledLater }) => filledLater);
}

/** A term of an index that depends on a loop variable: the variable itself, or one of its two mixed-radix digits. */
interface Digit {
  readonly step: number;
  readonly count: number;
}

/** Whether no two items access the same place. Also false if the form of the indices does not show it. */
function allPlacesDiffer(places: readonly Index[], loops: readonly Loop[]): boolean {
  const [{ terms }] = places as [Index];
  if (new Set(places.map((at) => indexKey({ ...at, constant: 0 }))).size > 1) return false;
  const digits: Digit[] = [];
  for (const { variable } of loops) {
    if (variable.count === 1) continue;
    const own = mixedRadixDigits(variable, terms);
    if (!own) return false;
    digits.push(...own);
  }
  digits.sort((a, b) => b.step - a.step);
  return digits.every(({ step, count }, n) => {
    const rest = digits.slice(n + 1).reduce((sum, digit) => sum + digit.step * (digit.count - 1), 0);
    const reaches = places.map(({ constant }): Reach => [constant, constant + rest]);
    return step > 0 && !meet(reaches, step, count);
  });
}

/** The mixed-radix digits of a variable that occur in an index; undefined if they do not determine the variable. */
function mixedRadixDigits(variable: Var, terms: Index['terms']): Digit[] | undefined {
  const own = terms.filter(({ atom }) => variablesOf({ constant: 0, terms: [{ atom, factor: 1 }] }).has(variable));
  const [first, second] = own;
  if (own.length === 1 && first!.atom === variable) return [{ step: first!.factor, count: variable.count }];
  if (own.length !== 2 || !isQuotient(first!.atom) || !isQuotient(second!.atom)) return undefined;
  const [div, mod] = first!.atom.kind === 'div' ? [first!, second!] : [second!, first!];
  const { by } = first!.atom;
  const whole = [first!, second!].every(
    ({ atom }) => isQuotient(atom) && atom.by === by && isVariable(variable, atom.argument),
  );
  if (div.atom.kind !== 'div' || mod.atom.kind !== 'mod' || !whole || variable.count % by !== 0) return undefined;
  return [
    { step: div.factor, count: variable.count / by },
    { step: mod.factor, count: by },
  ];
}

function isQuotient(atom: Atom): atom is Quotient {
  return atom.kind === 'div' || atom.kind === 'mod';
}

function isVariable(variable: Var, { constant, terms }: Index): boolean {
  return constant === 0 && terms.length === 1 && terms[0]!.atom === variable && terms[0]!.factor === 1;
}

/** Whether different values of a variable never share a place. Also false if the indices do not show it. */
function haveOwnParts(variable: Var, places: readonly Index[]): boolean {
  if (variable.count === 1) return true;
  const steps = places.map((at) => coefficient(at, variable));
  const [step] = steps;
  if (!step || step < 0 || steps.some((other) => other !== step)) return false;
  return !meet(
    places.map((at) => range(sub(at, scale(variable, step)))),
    step,
    variable.count,
  );
}

/** A key for the slices of a phase, equal for phases with the same slices. */
function slicesOf({ loops: [outermost] }: Phase): string {
  const { variable, limit } = outermost!;
  return `${variable.count} ${limit ? indexKey(limit) : ''}`;
}

/** The range of places that a phase accesses in an array, in slice 0. */
type Reach = readonly [low: number, high: number];

/**
 * Violations of phases that run slice by slice. A slice may read its own part of an array, or an array that it has written first, which
 * then serves one slice after another.
 */
function complaintsOfSlices({ aliased, globals }: Kernel, run: readonly Phase[]): string[] {
  if (run.at(-1)!.exchange === 'slice') return ['a slice goes on after the last phase'];
  if (new Set(run.map(slicesOf)).size > 1) return ['their outermost loops differ'];
  const outermost = run.map(({ loops }) => loops[0]!.variable);
  if (run.some(({ lanes }, n) => lanes === outermost[n])) return ['lanes run across slices'];
  const { count } = outermost[0]!;
  const touched = new Map<ArrayRef, { steps: Set<number | undefined>; reaches: Reach[]; first: 'read' | 'write' }>();
  const [read, written] = [new Set<ArrayRef>(), new Set<ArrayRef>()];
  run.forEach(({ stores }, n) => {
    const slice = outermost[n]!;
    const touch = (array: ArrayRef, at: Index, first: 'read' | 'write') => {
      if (isPromised(at)) return;
      (first === 'read' ? read : written).add(array);
      let known = touched.get(array);
      if (!known) touched.set(array, (known = { steps: new Set(), reaches: [], first }));
      const step = coefficient(at, slice);
      known.steps.add(step);
      known.reaches.push(range(step ? sub(at, scale(slice, step)) : at));
    };
    for (const node of reachable(stores.map(({ value }) => value))) {
      if (node.op === 'load') touch(node.array, node.index, 'read');
    }
    for (const { array, index } of stores) touch(array, index, 'write');
  });
  const problems: string[] = [];
  for (const [array, { steps, reaches, first }] of touched) {
    if (array.space === 'table' || !read.has(array) || !written.has(array) || count === 1) continue;
    const [step] = steps;
    const rewritten = step === 0 && first === 'write';
    const apart = step !== undefined && step > 0 && !meet(reaches, step, count);
    if (steps.size > 1 || !(rewritten || apart)) problems.push(`slices get into each other's way in ${array.name}`);
  }
  // Input and output may be the same memory; then indices do not show which slice an element belongs to.
  const sides = globals.filter(({ operand }) => !operand);
  if (aliased && sides.some((array) => read.has(array)) && sides.some((array) => written.has(array))) {
    problems.push('slices may write what others have yet to read');
  }
  return problems;
}

/** Whether the places of two slices may overlap, where each slice lies `step` further on than the one before. */
function meet(reaches: readonly Reach[], step: number, count: number): boolean {
  const parts: [low: number, high: number][] = [];
  for (const [low, high] of [...reaches].sort(([a], [b]) => a - b)) {
    const last = parts.at(-1);
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else parts.push([low, high]);
  }
  // [low, high] of one slice and [from, to] of the slice `slices` after it share a place.
  return parts.some(([low, high]) =>
    parts.some(([from, to]) => {
      const slices = Math.max(1, Math.ceil((from - high) / step));
      return slices < count && slices <= (to - low) / step;
    }),
  );
}
