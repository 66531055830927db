import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../test/support/random.ts';
import {
  add,
  coefficient,
  dependsOn,
  div,
  evaluate,
  formatIndex,
  type Index,
  index,
  indexKey,
  mod,
  range,
  released,
  Substitution,
  scale,
  sub,
  substitute,
  type Var,
  variable,
  variablesOf,
} from './integer.ts';

/** An expression as it is written, before anything simplifies it. */
type Written =
  | { readonly op: 'constant'; readonly value: number }
  | { readonly op: 'variable'; readonly number: number }
  | { readonly op: 'add' | 'sub'; readonly a: Written; readonly b: Written }
  | { readonly op: 'scale' | 'div' | 'mod'; readonly a: Written; readonly by: number };

const COUNTS = [1, 2, 3, 4, 7, 16, 60];
const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ op: fc.constant('constant' as const), value: fc.integer({ min: -40, max: 40 }) }),
    fc.record({ op: fc.constant('variable' as const), number: fc.nat({ max: COUNTS.length - 1 }) }),
    fc.record({ op: fc.constantFrom('add' as const, 'sub' as const), a: tie('written'), b: tie('written') }),
    fc.record({ op: fc.constant('scale' as const), a: tie('written'), by: fc.integer({ min: -6, max: 12 }) }),
    fc.record({
      op: fc.constantFrom('div' as const, 'mod' as const),
      a: tie('written'),
      by: fc.constantFrom(1, 2, 3, 4, 5, 8, 12, 16),
    }),
  ),
}));

function build(of: Written, variables: readonly Var[]): Index {
  const at = (part: Written) => build(part, variables);
  if (of.op === 'constant') return index(of.value);
  if (of.op === 'variable') return index(variables[of.number] as Var);
  if ('b' in of) return of.op === 'add' ? add(at(of.a), at(of.b)) : sub(at(of.a), at(of.b));
  if (of.op === 'scale') return scale(at(of.a), of.by);
  return of.op === 'div' ? div(at(of.a), of.by) : mod(at(of.a), of.by);
}

function meaning(of: Written, values: readonly number[]): number {
  const at = (part: Written) => meaning(part, values);
  if (of.op === 'constant') return of.value;
  if (of.op === 'variable') return values[of.number] as number;
  if ('b' in of) return of.op === 'add' ? at(of.a) + at(of.b) : at(of.a) - at(of.b);
  if (of.op === 'scale') return at(of.a) * of.by;
  const quotient = Math.floor(at(of.a) / of.by);
  return of.op === 'div' ? quotient : at(of.a) - of.by * quotient;
}

const points = fc.tuple(...COUNTS.map((count) => fc.nat({ max: count - 1 })));
const fresh = (): Var[] => COUNTS.map((count, i) => variable(`v${i}`, count));
const at = (variables: readonly Var[], values: readonly number[]) =>
  new Map(variables.map((v, i) => [v, values[i] as number]));
const options = (name: string) => ({ seed: seedFor(`ir/integer/${name}`) | 0, numRuns: 2000 });

describe('index arithmetic', () => {
  it('simplifies without changing any value, and knows its range', () => {
    fc.assert(
      fc.property(written, points, (expression, values) => {
        const variables = fresh();
        const simplified = build(expression, variables);
        // Adding 0 makes −0 equal to 0.
        const value = evaluate(simplified, at(variables, values)) + 0;
        expect(value).toBe(meaning(expression, values) + 0);
        const [low, high] = range(simplified);
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
      }),
      options('values'),
    );
  });

  it('keeps its canonical form: sorted, without zeros or variables of one value', () => {
    fc.assert(
      fc.property(written, (expression) => {
        const { terms } = build(expression, fresh());
        const ids = terms.map(({ atom }) => atom.id);
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        expect(terms.every(({ factor }) => factor !== 0)).toBe(true);
        expect(terms.every(({ atom }) => atom.kind !== 'var' || atom.count > 1)).toBe(true);
      }),
      options('form'),
    );
  });

  it('gives equal keys to sums in any order, and cancels what is subtracted again', () => {
    fc.assert(
      fc.property(written, written, written, (a, b, c) => {
        const variables = fresh();
        const [x, y, z] = [a, b, c].map((part) => build(part, variables)) as [Index, Index, Index];
        expect(indexKey(add(x, y, z))).toBe(indexKey(add(z, add(y, x))));
        expect(indexKey(sub(add(x, y), y))).toBe(indexKey(x));
      }),
      options('keys'),
    );
  });

  it('substitutes values and other expressions', () => {
    fc.assert(
      fc.property(
        written,
        fc.array(written, { minLength: COUNTS.length, maxLength: COUNTS.length }),
        points,
        (expression, parts, values) => {
          const variables = fresh();
          const others = fresh();
          const replaced = substitute(
            build(expression, variables),
            // What replaces a variable stays in its range.
            new Map(variables.map((v, i) => [v, mod(build(parts[i] as Written, others), v.count)])),
          );
          const inner = variables.map((v, i) => {
            const value = meaning(parts[i] as Written, values);
            return value - v.count * Math.floor(value / v.count);
          });
          expect(evaluate(replaced, at(others, values)) + 0).toBe(meaning(expression, inner) + 0);
          for (const v of variablesOf(replaced)) expect(others).toContain(v);
        },
      ),
      options('substitution'),
    );
  });

  it('substitutes in many expressions as in each of them alone', () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 2, maxLength: 6 }), points, (expressions, values) => {
        const variables = fresh();
        const others = fresh();
        const by = new Map(variables.slice(2).map((v, i) => [v, mod(add(others[i + 2]!, values[i]!), v.count)]));
        const together = new Substitution(by);
        for (const expression of expressions) {
          const value = build(expression, variables);
          expect(indexKey(together.apply(value))).toBe(indexKey(substitute(value, by)));
        }
      }),
      options('substitution in many'),
    );
  });

  it('knows how far an address moves with a variable', () => {
    fc.assert(
      fc.property(written, points, fc.nat({ max: COUNTS.length - 1 }), (expression, values, number) => {
        const variables = fresh();
        const v = variables[number] as Var;
        const simplified = build(expression, variables);
        const step = coefficient(simplified, v);
        if (step === undefined) {
          expect(dependsOn(simplified, v)).toBe(true);
          return;
        }
        const [before, after] = [[...values], [...values]];
        before[number] = 0;
        after[number] = v.count - 1;
        const moved = evaluate(simplified, at(variables, after)) - evaluate(simplified, at(variables, before));
        expect(moved).toBe(step * (v.count - 1));
      }),
      options('coefficient'),
    );
  });
});

describe('a variable released from quotients and remainders', () => {
  it('leaves the value as it is', () => {
    fc.assert(
      fc.property(written, points, fc.nat({ max: COUNTS.length - 1 }), (expression, values, number) => {
        const variables = fresh();
        const simplified = build(expression, variables);
        const apart = released(simplified, variables[number] as Var);
        expect(evaluate(sub(apart, simplified), at(variables, values))).toBe(0);
      }),
      options('released'),
    );
  });

  it('moves at a fixed step where it goes on within a multiple of the others', () => {
    const [a, b, c] = [variable('a', 4), variable('b', 5), variable('c', 60)];
    const round = mod(add(scale(c, 4), a, 8), 96);
    expect(coefficient(round, a)).toBeUndefined();
    expect(coefficient(released(round, a), a)).toBe(1);
    expect(coefficient(released(scale(round, 3), a), a)).toBe(3);
    expect(coefficient(released(div(add(scale(c, 4), a, 8), 96), a), a)).toBe(0);
    // Five items in fours: some go round where others do not.
    expect(coefficient(released(mod(add(scale(c, 4), b), 96), b), b)).toBeUndefined();
    expect(coefficient(released(mod(add(scale(c, 4), a, 1), 96), a), a)).toBeUndefined();
  });
});

describe('what ranges and structure make disappear', () => {
  const [a, b, c] = [variable('a', 4), variable('b', 5), variable('c', 60)];

  it('quotients and remainders of what is in range', () => {
    const flat = add(a, scale(b, 4));
    expect(indexKey(mod(flat, 4))).toBe(indexKey(index(a)));
    expect(indexKey(div(flat, 4))).toBe(indexKey(index(b)));
    expect(indexKey(div(flat, 20))).toBe('0');
    expect(indexKey(mod(flat, 20))).toBe(indexKey(flat));
    expect(indexKey(mod(sub(a, 4), 4))).toBe(indexKey(index(a)));
    expect(indexKey(div(sub(a, 4), 4))).toBe('-1');
  });

  it('a quotient and a remainder that belong together', () => {
    const whole = add(scale(div(c, 7), 7), mod(c, 7));
    expect(formatIndex(whole)).toBe('c');
    const shifted = add(scale(div(add(c, 3), 8), 16), scale(mod(add(c, 3), 8), 2));
    expect(formatIndex(shifted)).toBe('2*c + 6');
  });

  it('numbers below zero in quotients, which devices divide without a sign', () => {
    const [b, c] = [variable('b', 1000), variable('c', 7)];
    for (const value of [sub(2004, scale(b, 2)), sub(3, scale(b, 3)), add(scale(c, -5), b, -40)]) {
      for (const by of [7, 8, 1000]) {
        for (const made of [div(value, by), mod(value, by)]) {
          for (const { atom } of made.terms)
            if (atom.kind === 'div' || atom.kind === 'mod') expect(range(atom.argument)[0]).toBeGreaterThanOrEqual(0);
        }
        const at = new Map([
          [b, 999],
          [c, 6],
        ]);
        const number = evaluate(value, at);
        expect(evaluate(div(value, by), at)).toBe(Math.floor(number / by));
        expect(evaluate(mod(value, by), at)).toBe(number - by * Math.floor(number / by));
      }
    }
  });

  it('common factors', () => {
    expect(formatIndex(mod(add(scale(c, 6), 10), 48))).toBe('6*(c + 1)%8 + 4');
    expect(formatIndex(div(add(scale(c, 6), 10), 48))).toBe('(c + 1)/8');
  });

  it('variables of one value', () => {
    expect(index(variable('one', 1))).toEqual({ constant: 0, terms: [] });
  });

  it('and is written as people write it', () => {
    expect(formatIndex(add(scale(a, 2), div(c, 7), 3))).toBe('2*a + (c)/7 + 3');
    expect(formatIndex(index(0))).toBe('0');
  });
});
