/**
 * Index arithmetic: integers that are known at plan time or named at run time, kept in one canonical form.
 *
 * An `Index` is a constant plus a sum of coefficient × atom. An atom is a run-time variable with a known range, a
 * quotient or remainder that could not be simplified, or an entry of a table of integers. Because the form is canonical, "is the distance between these
 * two addresses known?" and "by how much does this address move from one lane to the next?" are look-ups, and the
 * ranges make most divisions that views introduce disappear before anything is printed (design decision 4).
 */
import { gcd } from '../numeric/primes.ts';
import type { IntegerTable } from './arrays.ts';

/** A run-time integer in [0, count). Identity is the object, the name is for people. */
export interface Var {
  readonly kind: 'var';
  readonly id: number;
  readonly name: string;
  readonly count: number;
}

export interface Quotient {
  readonly kind: 'div' | 'mod';
  readonly id: number;
  readonly argument: Index;
  readonly by: number;
}

/** The entry of a table of integers at an index. */
export interface Lookup {
  readonly kind: 'lookup';
  readonly id: number;
  readonly argument: Index;
  readonly table: IntegerTable;
}

export type Atom = Var | Quotient | Lookup;

export interface Term {
  readonly atom: Atom;
  readonly factor: number;
}

/** constant + Σ factor · atom, terms sorted by atom id, no zero factors. */
export interface Index {
  readonly constant: number;
  readonly terms: readonly Term[];
}

export type IndexLike = Index | Var | number;

let nextId = 1;

// The first plans of a process run before the JavaScript engine has optimised this code. Until then each step of `for (… of …)`
// allocates an object, and fresh memory costs more than the arithmetic: so loops count, and results are shared where possible.

const NO_TERMS: readonly Term[] = [];
const ZERO: Index = { constant: 0, terms: NO_TERMS };

/** A fresh run-time variable with values 0 … count − 1. */
export function variable(name: string, count: number): Var {
  return { kind: 'var', id: nextId++, name, count };
}

export function index(value: IndexLike): Index {
  if (typeof value === 'number') return value === 0 ? ZERO : { constant: value, terms: NO_TERMS };
  if ('constant' in value) return value;
  return value.count === 1 ? ZERO : { constant: 0, terms: [{ atom: value, factor: 1 }] };
}

export function add(...values: IndexLike[]): Index {
  let sum = index(values[0]!);
  for (let n = 1; n < values.length; n++) sum = mergedTerms(sum, index(values[n]!));
  return sum;
}

/** Merges two sorted lists of terms. */
function mergedTerms(a: Index, b: Index): Index {
  const constant = a.constant + b.constant;
  if (b.terms.length === 0) return b.constant === 0 ? a : { constant, terms: a.terms };
  if (a.terms.length === 0) return a.constant === 0 ? b : { constant, terms: b.terms };
  const terms = new Array<Term>(a.terms.length + b.terms.length);
  let count = 0;
  let remainders = false;
  let i = 0;
  let j = 0;
  while (i < a.terms.length || j < b.terms.length) {
    const x = a.terms[i];
    const y = b.terms[j];
    let term: Term;
    if (!y || (x && x.atom.id < y.atom.id)) {
      term = x!;
      i++;
    } else if (!x || y.atom.id < x.atom.id) {
      term = y;
      j++;
    } else {
      if (x.atom !== y.atom) throw new Error('index expressions of two copies of this module were mixed');
      term = { atom: x.atom, factor: x.factor + y.factor };
      i++;
      j++;
    }
    if (term.factor === 0) continue;
    remainders ||= term.atom.kind === 'mod';
    terms[count++] = term;
  }
  terms.length = count;
  const sum = { constant, terms };
  return remainders ? recombine(sum) : sum;
}

export function scale(value: IndexLike, by: number): Index {
  const whole = index(value);
  if (by === 1) return whole;
  if (by === 0) return ZERO;
  const { constant, terms } = whole;
  const scaled = new Array<Term>(terms.length);
  for (let n = 0; n < terms.length; n++) scaled[n] = { atom: terms[n]!.atom, factor: terms[n]!.factor * by };
  // Plus 0, because the constant is not to become −0.
  return { constant: constant * by + 0, terms: scaled };
}

export function sub(a: IndexLike, b: IndexLike): Index {
  return add(a, scale(b, -1));
}

/** The smallest and the largest value that an index can take. */
export function range(value: IndexLike): [low: number, high: number] {
  const { constant, terms } = index(value);
  let low = constant;
  let high = constant;
  for (let n = 0; n < terms.length; n++) {
    const { atom, factor } = terms[n]!;
    const least = atom.kind === 'div' ? Math.floor(range(atom.argument)[0] / atom.by) : 0;
    const most = largestValue(atom);
    low += factor > 0 ? factor * least : factor * most;
    high += factor > 0 ? factor * most : factor * least;
  }
  return [low, high];
}

function largestValue(atom: Atom): number {
  if (atom.kind === 'var') return atom.count - 1;
  if (atom.kind === 'lookup') return atom.table.below - 1;
  return atom.kind === 'mod' ? atom.by - 1 : Math.floor(range(atom.argument)[1] / atom.by);
}

/** The whole part of value = by · whole + rest, where the terms of the whole are all terms whose factors `by` divides. */
function quotientTerms({ constant, terms }: Index, by: number): Index {
  const divided = multiplesIn(terms, by, true);
  const whole = new Array<Term>(divided.length);
  for (let n = 0; n < whole.length; n++) whole[n] = { atom: divided[n]!.atom, factor: divided[n]!.factor / by };
  return { constant: Math.floor(constant / by), terms: whole };
}

/** The rest of value = by · whole + rest, where the whole is `quotientTerms`. */
function remainderTerms({ constant, terms }: Index, by: number): Index {
  return { constant: constant - Math.floor(constant / by) * by, terms: multiplesIn(terms, by, false) };
}

/** The terms whose factor `by` divides if `divided`, otherwise the others. */
function multiplesIn(terms: readonly Term[], by: number, divided: boolean): readonly Term[] {
  let count = 0;
  for (let n = 0; n < terms.length; n++) if ((terms[n]!.factor % by === 0) === divided) count++;
  if (count === 0 || count === terms.length) return count === 0 ? NO_TERMS : terms;
  return terms.filter(({ factor }) => (factor % by === 0) === divided);
}

/** ⌊value / by⌋ if it is the same for all values; otherwise undefined. */
function knownQuotient(value: Index, by: number): number | undefined {
  // Not destructured: that costs an iterator until the JavaScript engine has optimised this function.
  const bounds = range(value);
  const floor = Math.floor(bounds[0] / by);
  return floor === Math.floor(bounds[1] / by) ? floor : undefined;
}

/** ⌊value / by⌋ for a known positive divisor. */
export function div(value: IndexLike, by: number): Index {
  const all = index(value);
  const rest = remainderTerms(all, by);
  const below = periodsBelow(rest, by);
  const raised = below === 0 ? rest : { ...rest, constant: rest.constant + below * by };
  return add(quotientTerms(all, by), -below, knownQuotient(raised, by) ?? reducedQuotient('div', raised, by));
}

/** value − by · ⌊value / by⌋ for a known positive divisor. */
export function mod(value: IndexLike, by: number): Index {
  const least = remainderTerms(index(value), by);
  const rest = { ...least, constant: least.constant + periodsBelow(least, by) * by };
  const floor = knownQuotient(rest, by);
  return floor === undefined ? reducedQuotient('mod', rest, by) : add(rest, -floor * by);
}

/** The number of times that `by` must be added so that an index is never negative, because devices divide unsigned numbers. */
function periodsBelow(value: Index, by: number): number {
  const [low] = range(value);
  return low < 0 ? Math.ceil(-low / by) : 0;
}

/** A quotient or remainder in lowest terms: (4·a + 5) mod 8 is 4·((a + 1) mod 2) + 1. */
function reducedQuotient(kind: Quotient['kind'], of: Index, by: number): Index {
  let step = by;
  for (const { factor } of of.terms) step = gcd(step, Math.abs(factor));
  if (step === 1) return quotientAtom(kind, of, by);
  const whole = quotientAtom(kind, quotientTerms(of, step), by / step);
  return kind === 'div' ? whole : add(scale(whole, step), remainderTerms(of, step).constant);
}

/**
 * The same index, with a variable taken out of quotients and remainders where it only adds to the rest: (4·a + b) mod 8 is
 * 4·(a mod 2) + b for b below 4.
 */
export function released(value: Index, of: Var): Index {
  let result: Index = { constant: value.constant, terms: [] };
  for (const term of value.terms) {
    const { atom, factor } = term;
    const without = atom.kind === 'var' ? undefined : withoutIn(atom, of);
    result = mergedTerms(result, without ? scale(without, factor) : { constant: 0, terms: [term] });
  }
  return result;
}

/** A quotient or remainder as an index that is linear in a variable; undefined if that is not possible. */
function withoutIn(quotient: Quotient | Lookup, v: Var): Index | undefined {
  if (quotient.kind === 'lookup' || !dependsOn(quotient.argument, v)) return undefined;
  const { kind, argument: of, by } = quotient;
  let step = by;
  for (const { atom, factor } of of.terms) {
    const own = atom === v || (atom.kind !== 'var' && dependsOn(atom.argument, v));
    if (!own) step = gcd(step, Math.abs(factor));
  }
  const rest = remainderTerms(of, step);
  const [low, high] = range(rest);
  if (step === 1 || low < 0 || high >= step) return undefined;
  const whole = quotientTerms(of, step);
  return kind === 'div' ? div(whole, by / step) : add(scale(mod(whole, by / step), step), rest);
}

const lookups = new WeakMap<IntegerTable, Map<string, Lookup>>();

/** The integer that a table holds at an index. The index never lies outside the table. */
export function lookup(table: IntegerTable, at: IndexLike): Index {
  const of = index(at);
  if (of.terms.length === 0 && !table.filledLater) return index(table.entries[of.constant]!);
  let known = lookups.get(table);
  if (!known) lookups.set(table, (known = new Map()));
  const key = indexKey(of);
  let atom = known.get(key);
  if (!atom) known.set(key, (atom = { kind: 'lookup', id: nextId++, argument: of, table }));
  return { constant: 0, terms: [{ atom, factor: 1 }] };
}

const quotients = new WeakMap<Atom, Map<string, Quotient>>();

/** Hash-consed, so that the same quotient is the same atom and cancels against itself. */
function quotientAtom(kind: 'div' | 'mod', of: Index, by: number): Index {
  const anchor = of.terms[0]!.atom;
  let known = quotients.get(anchor);
  if (!known) quotients.set(anchor, (known = new Map()));
  const key = `${kind}${by}|${indexKey(of)}`;
  let atom = known.get(key);
  if (!atom) known.set(key, (atom = { kind, id: nextId++, argument: of, by }));
  return { constant: 0, terms: [{ atom, factor: 1 }] };
}

/** by · (x div by) + (x mod by) is x again. */
function recombine(value: Index): Index {
  for (let n = 0; n < value.terms.length; n++) {
    const { atom, factor } = value.terms[n]!;
    if (atom.kind !== 'mod') continue;
    const twin = value.terms.find(
      (t) =>
        t.atom.kind === 'div' &&
        t.atom.by === atom.by &&
        t.factor === factor * atom.by &&
        indexKey(t.atom.argument) === indexKey(atom.argument),
    );
    if (!twin) continue;
    const rest = value.terms.filter((t) => t.atom !== atom && t !== twin);
    return add({ constant: value.constant, terms: rest }, scale(atom.argument, factor));
  }
  return value;
}

/** A string that is equal for equal indices. */
export function indexKey(value: Index): string {
  let key = `${value.constant}`;
  for (let n = 0; n < value.terms.length; n++) {
    const { atom, factor } = value.terms[n]!;
    key += `+${factor}*${atom.id}`;
  }
  return key;
}

/** Replaces variables and simplifies again. */
export function substitute(value: Index, by: ReadonlyMap<Var, Index>): Index {
  return new Substitution(by).apply(value);
}

/** Replaces the same variables in many indices. A quotient that occurs in several of them is simplified once. */
export class Substitution {
  private readonly by: ReadonlyMap<Var, Index>;
  private readonly quotients = new Map<Quotient | Lookup, Index | undefined>();

  constructor(by: ReadonlyMap<Var, Index>) {
    this.by = by;
  }

  apply(value: Index): Index {
    const { constant, terms } = value;
    let added: Index | undefined;
    let kept: Term[] = [];
    for (let n = 0; n < terms.length; n++) {
      const term = terms[n]!;
      const replacement = this.replacement(term.atom);
      if (replacement) {
        if (!added) kept = terms.slice(0, n);
        const scaled = scale(replacement, term.factor);
        added = added ? mergedTerms(added, scaled) : scaled;
      } else if (added) kept.push(term);
    }
    return added ? mergedTerms({ constant, terms: kept }, added) : value;
  }

  private replacement(atom: Atom): Index | undefined {
    if (atom.kind === 'var') return this.by.get(atom);
    if (this.quotients.has(atom)) return this.quotients.get(atom);
    const of = this.apply(atom.argument);
    const simplified = of === atom.argument ? undefined : rebuiltAtom(atom, of);
    this.quotients.set(atom, simplified);
    return simplified;
  }
}

/** The same kind of quotient, remainder or look-up with another argument. */
function rebuiltAtom(atom: Quotient | Lookup, of: Index): Index {
  if (atom.kind === 'lookup') return lookup(atom.table, of);
  return atom.kind === 'div' ? div(of, atom.by) : mod(of, atom.by);
}

/** The coefficient of a variable, or undefined where the index does not depend on it linearly. */
export function coefficient(value: Index, of: Var): number | undefined {
  let found = 0;
  for (let n = 0; n < value.terms.length; n++) {
    const { atom, factor } = value.terms[n]!;
    if (atom === of) found = factor;
    else if (atom.kind !== 'var' && dependsOn(atom.argument, of)) return undefined;
  }
  return found;
}

/** Every table that an index looks something up in. */
export function tablesOf(value: Index, into: Set<IntegerTable> = new Set()): Set<IntegerTable> {
  for (const { atom } of value.terms) {
    if (atom.kind === 'var') continue;
    if (atom.kind === 'lookup') into.add(atom.table);
    tablesOf(atom.argument, into);
  }
  return into;
}

export function dependsOn(value: Index, on: Var): boolean {
  return value.terms.some(({ atom }) => atom === on || (atom.kind !== 'var' && dependsOn(atom.argument, on)));
}

/** Every run-time variable in an index. */
export function variablesOf(value: Index, into: Set<Var> = new Set()): Set<Var> {
  for (const { atom } of value.terms) {
    if (atom.kind === 'var') into.add(atom);
    else variablesOf(atom.argument, into);
  }
  return into;
}

/** The value of an index; variables that are not given are 0. For tests and for samples of accesses. */
export function evaluate(value: Index, at: ReadonlyMap<Var, number>): number {
  let sum = value.constant;
  for (const { atom, factor } of value.terms) {
    if (atom.kind === 'var') sum += factor * (at.get(atom) ?? 0);
    else if (atom.kind === 'lookup') sum += factor * atom.table.entries[evaluate(atom.argument, at)]!;
    else {
      const of = evaluate(atom.argument, at);
      const quotient = Math.floor(of / atom.by);
      sum += factor * (atom.kind === 'div' ? quotient : of - quotient * atom.by);
    }
  }
  return sum;
}

/** An index as text, for people. */
export function formatIndex(value: Index): string {
  const parts = value.terms.map(({ atom, factor }) => {
    const name = formatAtom(atom);
    return factor === 1 ? name : `${factor}*${name}`;
  });
  if (value.constant !== 0 || parts.length === 0) parts.push(`${value.constant}`);
  return parts.join(' + ');
}

function formatAtom(atom: Atom): string {
  if (atom.kind === 'var') return atom.name;
  if (atom.kind === 'lookup') return `${atom.table.name}[${formatIndex(atom.argument)}]`;
  return `(${formatIndex(atom.argument)})${atom.kind === 'div' ? '/' : '%'}${atom.by}`;
}
