/** Reductions whose order is free, and long reductions split into partial results. */

import { add, max, min, mul } from '../../../patterns/language/scalars.ts';
import { applied, elementValue, freeOf, type Lambda, type Value } from '../../../patterns/language/values.ts';
import { patterns } from '../../../patterns/rewriting/rule.ts';
import { arrayInMemory } from './memories.ts';

const OPERATIONS = { add, mul, min, max } as unknown as Readonly<Record<string, (a: Value, b: Value) => Value>>;

/** A reduction step op(sum, term), where the term depends on an element only. */
export interface Combination {
  readonly op: 'add' | 'mul' | 'min' | 'max';
  readonly term: Value;
}

/** The combination that a reduction's function computes, if it is associative. */
export function combinationOf({ op: kind, f }: Value): Combination | undefined {
  const { parameters, body } = f!;
  const [sum] = parameters;
  const { op, of } = body;
  if (kind === 'reduceSeq' && op !== 'add' && op !== 'mul' && op !== 'min' && op !== 'max') return undefined;
  if (op !== 'add' && op !== 'mul' && op !== 'min' && op !== 'max') return undefined;
  const terms = of.filter((operand) => operand !== sum);
  const [term] = terms;
  return terms.length === 1 && term && !freeOf(term).has(sum!) ? { op, term } : undefined;
}

/** The split of a long reduction: `chunks` times `width` partial results, each of every `width`-th term of its chunk. */
export interface Shares {
  readonly chunks: number;
  readonly width: number;
  /** Terms of each partial result. */
  readonly terms: number;
}

/** A reduction of partial results, and those partial results, which have a place in memory. */
export interface Shorter {
  readonly whole: Value;
  readonly parts: Value;
}

/** Reductions to partial results, which are not split again. */
const partial = new WeakSet<Value>();

export function isPartial(value: Value): boolean {
  return partial.has(value);
}

/**
 * @param count elements of the array. Where the shares hold more terms, neutral elements fill the end; elements that the shares do not cover come
 *   last.
 */
export function shorter(value: Value, { op, term }: Combination, count: number, shares: Shares): Shorter {
  const [first, source] = value.of as [Value, Value];
  const f: Lambda = { parameters: value.f!.parameters.slice(1), body: term };
  const numbers = patterns.map!((...symbols: Value[]) => applied(f, symbols), source);
  const { chunks, width, terms } = shares;
  const whole = chunks * width * terms;
  const left = count - whole;
  // A minimum or maximum is unchanged if the last number, or the first value, is taken twice.
  const boundary = op === 'add' ? 0 : op === 'mul' ? 1 : 'clamp';
  const begin = op === 'add' ? 0 : op === 'mul' ? 1 : first;
  const shared =
    left < 0
      ? patterns.pad!(0, -left, boundary, numbers)
      : left > 0
        ? elementValue(patterns.slide!(whole, left, numbers), 0)
        : numbers;
  const combine = OPERATIONS[op]!;
  const reducedTo = (column: Value) => {
    const made = patterns.reduce!(combine, begin, column);
    partial.add(made);
    return made;
  };
  const ofChunk = (chunk: Value) => patterns.map!(reducedTo, patterns.transpose!(chunk));
  const parts = arrayInMemory(
    'toGlobal',
    patterns.map!(ofChunk, patterns.split!(terms, patterns.split!(width, shared))),
  );
  const together = patterns.reduce!(combine, first, patterns.join!(parts));
  if (left <= 0) return { whole: together, parts };
  const last = elementValue(patterns.slide!(left, whole, numbers), 1);
  return { whole: patterns.reduce!(combine, together, last), parts };
}

/** A reduction of arrays element by element, as an array of reductions of numbers; undefined where its function combines different elements. */
export function interchanged({ of, f }: Value): Value | undefined {
  const [first, source] = of as [Value, Value];
  const [sum, ...parameters] = f!.parameters as [Value, ...Value[]];
  const { op, of: operands, f: inner } = f!.body;
  const [zipped] = operands;
  if (op !== 'map' || freeOf(inner!.body).has(sum)) return undefined;
  const parts = zipped === sum ? [sum] : zipped!.op === 'zip' ? zipped!.of : [];
  const others = parts.filter((part) => part !== sum);
  if (parts.length - others.length !== 1 || others.some((part) => freeOf(part).has(sum))) return undefined;
  if ([...freeOf(inner!.body)].some((symbol) => parameters.includes(symbol))) return undefined;
  if (zipped !== sum && inner!.parameters.length !== parts.length) return undefined;
  const columns = others.map((part) => {
    const ofRow: Lambda = { parameters, body: part };
    return patterns.transpose!(patterns.map!((...symbols: Value[]) => applied(ofRow, symbols), source));
  });
  if (columns.length === 0) return undefined;
  const place = parts.indexOf(sum);
  const step = (state: Value, ...elements: Value[]) =>
    applied(inner!, [...elements.slice(0, place), state, ...elements.slice(place)]);
  const ofElement = (begin: Value, ...own: Value[]) =>
    patterns.reduce!(step, begin, own.length === 1 ? own[0] : patterns.zip!(...own));
  return patterns.map!(ofElement, patterns.zip!(first, ...columns));
}
