import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../test/support/random.ts';
import * as exact from '../numeric/exact.ts';
import { countOperations, Expressions, type Real, reachable } from './real.ts';

const array = { name: 'x', space: 'global', type: 'f64' } as const;
const other = { name: 'y', space: 'global', type: 'f64' } as const;

/** The value of a node, computed in doubles. */
function evaluate(node: Real, inputs: readonly number[]): number {
  if (node.op === 'const') return exact.toNumber(node.value);
  if (node.op === 'load') return inputs[node.index.constant] as number;
  if (node.op === 'neg') return -evaluate(node.a, inputs);
  if (node.op !== 'add' && node.op !== 'sub' && node.op !== 'mul') throw new RangeError(`'${node.op}' is not expected`);
  const a = evaluate(node.a, inputs);
  const b = evaluate(node.b, inputs);
  return node.op === 'add' ? a + b : node.op === 'sub' ? a - b : a * b;
}

describe('folding', () => {
  const x = new Expressions();
  const [a, b] = [x.load(array, 0), x.load(array, 1)];
  const [zero, one, two] = [x.constant(0), x.constant(1), x.constant(2)];

  it('of known values is exact', () => {
    const third = x.constant(exact.rational(1, 3));
    const sum = x.add(x.add(third, third), third) as Extract<Real, { op: 'const' }>;
    expect(exact.toNumber(sum.value)).toBe(1);
    expect(x.mul(two, x.constant(0.5))).toBe(one);
    expect(x.sub(two, one)).toBe(one);
    expect(x.neg(x.neg(two))).toBe(two);
  });

  it('removes what does nothing', () => {
    for (const same of [
      x.add(a, zero),
      x.add(zero, a),
      x.sub(a, zero),
      x.mul(a, one),
      x.mul(one, a),
      x.neg(x.neg(a)),
    ]) {
      expect(same).toBe(a);
    }
    expect(x.mul(a, zero)).toBe(zero);
    expect(x.sub(a, a)).toBe(zero);
    expect(x.sub(zero, a)).toBe(x.neg(a));
    expect(x.mul(x.constant(-1), a)).toBe(x.neg(a));
  });

  it('shares equal expressions, whichever way round they are written', () => {
    expect(x.load(array, 0)).toBe(a);
    expect(x.load(other, 0)).not.toBe(a);
    expect(x.add(a, b)).toBe(x.add(b, a));
    expect(x.mul(a, b)).toBe(x.mul(b, a));
    const difference = x.sub(a, b);
    expect(x.sub(b, a)).toBe(x.neg(difference));
    expect(countOperations([difference, x.sub(b, a)])).toEqual({ additions: 1, multiplications: 0, negations: 1 });
  });

  it('pushes signs outwards until a subtraction swallows them', () => {
    expect(x.add(a, x.neg(b))).toBe(x.sub(a, b));
    expect(x.sub(a, x.neg(b))).toBe(x.add(a, b));
    expect(x.add(x.neg(a), x.neg(b))).toBe(x.neg(x.add(a, b)));
    expect(x.mul(x.neg(a), x.neg(b))).toBe(x.mul(a, b));
    expect(x.mul(x.constant(-2), b)).toBe(x.neg(x.mul(two, b)));
    expect(x.neg(x.sub(a, b))).toBe(x.sub(b, a));
  });

  it('does not take an addition apart again', () => {
    // What double-double arithmetic is made of: (a + b) − a must stay as it is.
    const sum = x.add(a, b);
    expect(x.sub(sum, a)).toMatchObject({ op: 'sub', a: sum, b: a });
  });

  it('turns by quarters for nothing and by eighths for four operations', () => {
    const z = { re: a, im: b };
    expect(x.rotate(z, 1, 4)).toEqual(x.quarter(z));
    expect(x.rotate(z, -3, 4)).toEqual(x.quarter(z));
    expect(x.rotate(z, 5, 5)).toEqual(z);
    const eighth = x.rotate(z, 1, 8);
    const counts = countOperations([eighth.re, eighth.im]);
    expect(counts.additions + counts.multiplications).toBe(4);
  });
});

type Written =
  | { readonly op: 'constant'; readonly value: number }
  | { readonly op: 'load'; readonly at: number }
  | { readonly op: 'neg'; readonly a: Written }
  | { readonly op: 'add' | 'sub' | 'mul'; readonly a: Written; readonly b: Written };

const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.record({ op: fc.constant('constant' as const), value: fc.constantFrom(0, 1, -1, 2, -3, 0.5) }),
    fc.record({ op: fc.constant('load' as const), at: fc.nat({ max: 4 }) }),
    fc.record({ op: fc.constant('neg' as const), a: tie('written') }),
    fc.record({
      op: fc.constantFrom('add' as const, 'sub' as const, 'mul' as const),
      a: tie('written'),
      b: tie('written'),
    }),
  ),
}));

function build(x: Expressions, of: Written): Real {
  if (of.op === 'constant') return x.constant(of.value);
  if (of.op === 'load') return x.load(array, of.at);
  if (of.op === 'neg') return x.neg(build(x, of.a));
  return x[of.op](build(x, of.a), build(x, of.b));
}

function meaning(of: Written, inputs: readonly number[]): number {
  if (of.op === 'constant') return of.value;
  if (of.op === 'load') return inputs[of.at] as number;
  if (of.op === 'neg') return -meaning(of.a, inputs);
  const [a, b] = [meaning(of.a, inputs), meaning(of.b, inputs)];
  return of.op === 'add' ? a + b : of.op === 'sub' ? a - b : a * b;
}

describe('any expression', () => {
  const inputs = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 5, maxLength: 5 });
  const options = (name: string) => ({ seed: seedFor(`ir/real/${name}`) | 0, numRuns: 1500 });

  it('keeps its value and never costs more than it was written with', () => {
    const cost = (of: Written): number =>
      of.op === 'constant' || of.op === 'load' ? 0 : of.op === 'neg' ? cost(of.a) : 1 + cost(of.a) + cost(of.b);
    fc.assert(
      fc.property(written, inputs, (expression, values) => {
        const node = build(new Expressions(), expression);
        // Small integers and halves: doubles are exact here, and adding 0 makes −0 equal to 0.
        expect(evaluate(node, values) + 0).toBe(meaning(expression, values) + 0);
        const { additions, multiplications } = countOperations([node]);
        expect(additions + multiplications).toBeLessThanOrEqual(cost(expression));
      }),
      options('value'),
    );
  });

  it('lists operands before their users, each once', () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 3 }), (expressions) => {
        const x = new Expressions();
        const order = reachable(expressions.map((expression) => build(x, expression)));
        expect(new Set(order).size).toBe(order.length);
        order.forEach((node, place) => {
          const operands = 'b' in node ? [node.a, node.b] : 'a' in node ? [node.a] : [];
          for (const operand of operands) expect(order.indexOf(operand)).toBeLessThan(place);
        });
      }),
      options('order'),
    );
  });
});
