/** Repetitions: the arrays of a state that may be a tuple, and the launches of all steps. */

import { type ArrayType, arrayOf, isNumber, type Type } from '../../patterns/language/types.ts';
import { elementValue, type Value } from '../../patterns/language/values.ts';
import { patterns } from '../../patterns/rewriting/rule.ts';
import type { Pulled } from './expressions/pulled.ts';
import type { Launch } from './loops/launches.ts';

/** The types of the arrays and numbers that a value consists of. Tuples are taken apart, wherever they stand. */
export function fieldTypesOf(type: Type): Type[] {
  if (type.kind === 'tuple') return type.of.flatMap(fieldTypesOf);
  return type.kind === 'array' ? fieldTypesOf(type.of).map((field) => arrayOf(field, type.length)) : [type];
}

/** The arrays and numbers that a value consists of, in the order of `fieldTypesOf`. */
export function fieldsOf(value: Value): Value[] {
  const { op, of, type } = value;
  const { length } = fieldTypesOf(type);
  if (type.kind === 'tuple') return type.of.flatMap((_, n) => fieldsOf(elementValue(value, n)));
  if (op === 'zip') return of.flatMap(fieldsOf);
  if (type.kind !== 'array' || holdsNoTuple(type)) return [value];
  return Array.from({ length }, (_, n) => patterns.map!((...parts: Value[]) => parts.flatMap(fieldsOf)[n], value));
}

function holdsNoTuple({ of }: ArrayType): boolean {
  return of.kind === 'array' ? holdsNoTuple(of) : isNumber(of);
}

/** The value of a type whose fields are taken from the front of a list. An array of tuples is a tuple of arrays. */
export function fromFields(type: Type, fields: Pulled[]): Pulled {
  if (type.kind === 'array') return fromFields(type.of, fields);
  if (type.kind === 'tuple') return { kind: 'tuple', parts: type.of.map((part) => fromFields(part, fields)) };
  return fields.shift()!;
}

/** The buffers of a state's field: the first step reads `begin`, and two take turns. */
export interface Turns {
  readonly begin: string;
  readonly one: string;
  readonly other: string;
}

/** The launches of one step, repeated; launches that do not depend on the state come first and once. */
export function repeatedLaunches(step: readonly Launch[], turns: readonly Turns[], times: number): Launch[] {
  const changing = new Set(turns.flatMap(({ one, other }) => [one, other]));
  const [once, always]: [Launch[], Launch[]] = [[], []];
  for (const launch of step) {
    const changes = launch.reads.some((buffer) => changing.has(buffer)) || changing.has(launch.writes);
    (changes ? always : once).push(launch);
    if (changes) changing.add(launch.writes);
  }
  const renamed = (names: readonly (readonly [string, string])[]) => {
    const by = new Map(names);
    const nameOf = (name: string) => by.get(name) ?? name;
    return always.map((launch) => ({ ...launch, reads: launch.reads.map(nameOf), writes: nameOf(launch.writes) }));
  };
  const back = renamed(turns.flatMap(({ one, other }) => [[one, other] as const, [other, one] as const]));
  const first = renamed(turns.map(({ begin, one }) => [one, begin] as const));
  const steps = Array.from({ length: times }, (_, n) => (n === 0 ? first : n % 2 === 0 ? always : back));
  return [...once, ...steps.flat()];
}
