/** Reductions whose order is free, and long ones as shorter ones of partial results. */
import { pad, split } from '../../patterns/layout-patterns.ts';
import { map, reduce, toGlobal } from '../../patterns/patterns.ts';
import { add, max, min, mul } from '../../patterns/scalars.ts';
import { applied, freeOf, type Lambda, type Value } from '../../patterns/values.ts';

const OPERATIONS = { add, mul, min, max } as unknown as Readonly<Record<string, (a: Value, b: Value) => Value>>;

/** op(sum, term), where the term is made of an element only. */
export interface Combination {
  readonly op: 'add' | 'mul' | 'min' | 'max';
  readonly term: Value;
}

/** What the function of a reduction does, if that is associative. */
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

/** A reduction as one of partial results, which have a place in memory. */
export interface Shorter {
  readonly whole: Value;
  readonly parts: Value;
}

/** @param count elements of the array @param most terms of each partial result */
export function shorter(value: Value, { op, term }: Combination, count: number, most: number): Shorter {
  const [first, source] = value.of as [Value, Value];
  const f: Lambda = { parameters: value.f!.parameters.slice(1), body: term };
  const call = (...symbols: Value[]) => applied(f, symbols);
  const combine = OPERATIONS[op]!;
  const numbers = (map as never as (f: unknown, xs: Value) => Value)(call, source);
  const chunk = chunkOf(count, most);
  const left = Math.ceil(count / chunk) * chunk - count;
  // A minimum or maximum does not mind the last number once more, nor the first value that it begins with.
  const boundary = op === 'add' ? 0 : op === 'mul' ? 1 : 'clamp';
  const padded = left === 0 ? numbers : (pad(0, left, boundary, numbers as never) as never as Value);
  const begin = op === 'add' ? 0 : op === 'mul' ? 1 : first;
  const partial = (row: Value) => reduce(combine as never, begin as never, row as never);
  const chunks = split(chunk, padded as never);
  const parts = toGlobal(
    ((rows: Value) => map(partial as never, rows as never)) as never,
    chunks as never,
  ) as never as Value;
  const rest = reduce(combine as never, first as never, parts as never) as never as Value;
  return { whole: rest, parts };
}

/** Terms of a partial result: a divisor, if there is one that is no less than a quarter of the most. */
function chunkOf(count: number, most: number): number {
  for (let chunk = most; chunk >= most / 4; chunk--) if (count % chunk === 0) return chunk;
  return most;
}
