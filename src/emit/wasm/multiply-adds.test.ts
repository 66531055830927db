import { describe, expect, it } from 'vitest';
import { PUBLISHED } from '../../../test/support/codelets.ts';
import { randomFor } from '../../../test/support/random.ts';
import {
  type ArrayRef,
  add,
  type Complex,
  Expressions,
  index,
  type Kernel,
  type Phase,
  type Real,
  reachable,
  type Store,
  type Var,
  variable,
} from '../../ir/index.ts';
import { dft } from '../../kernels/passes/butterfly.ts';
import * as exact from '../../numeric/exact.ts';
import { emitWasm } from './lower.ts';
import { arithmeticOf, sumsFirst, type VectorArithmetic } from './multiply-adds.ts';
import type { Statements } from './schedule.ts';

const random = randomFor('emit/wasm/multiply-adds/rewriting');

const input: ArrayRef = { name: 'input', space: 'global', type: 'f32' };
const output: ArrayRef = { name: 'output', space: 'global', type: 'f32' };

function storesOf(values: readonly Real[]): Store[] {
  return values.map((value, n) => ({ array: output, index: index(n), value }));
}

/** A butterfly whose points but the first are multiplied by factors from memory, and held one by one if `held`. */
function twiddled(radix: number, held: boolean, lane?: Var): Statements {
  const x = new Expressions();
  const at = (n: number) => (lane ? add(lane, lane.count * n) : index(n));
  const number = (n: number): Complex => ({ re: x.load(input, at(2 * n)), im: x.load(input, at(2 * n + 1)) });
  const points = Array.from({ length: radix }, (_, m) => {
    const value = m === 0 ? number(0) : x.cmul(number(m), number(radix + m));
    if (m > 0 && held) x.together(value);
    return value;
  });
  const values = dft(x, points).flatMap(({ re, im }) => [re, im]);
  const stores = values.map((value, n) => ({ array: output, index: at(n), value }));
  return { stores, steps: held ? x.steps : [] };
}

/** Additions, multiplications and both at once, and changes of sign. */
function count({ stores }: Statements, fuses: boolean): { arithmetic: number; signs: number } {
  const nodes = reachable(stores.map(({ value }) => value));
  const { products } = arithmeticOf(nodes, stores, new Set(), fuses);
  const inSums = new Set<Real>(products.values());
  const arithmetic = nodes.filter((node) => 'b' in node && !inSums.has(node)).length;
  const minuends = [...products].filter(([sum, product]) => sum.op === 'sub' && sum.a === product).length;
  return { arithmetic, signs: minuends + nodes.filter(({ op }) => op === 'neg').length };
}

function run({ stores }: Statements, data: readonly number[]): number[] {
  const known = new Map<Real, number>();
  for (const node of reachable(stores.map(({ value }) => value))) {
    const of = (operand: Real) => known.get(operand)!;
    if (node.op === 'const') known.set(node, exact.toNumber(node.value));
    else if (node.op === 'load') known.set(node, data[node.index.constant]!);
    else if (node.op === 'neg') known.set(node, -of(node.a));
    else if (node.op === 'add') known.set(node, of(node.a) + of(node.b));
    else if (node.op === 'sub') known.set(node, of(node.a) - of(node.b));
    else if (node.op === 'mul') known.set(node, of(node.a) * of(node.b));
    else throw new RangeError(node.op);
  }
  return stores.map(({ value }) => known.get(value)!);
}

function expectSameNumbers(one: Statements, other: Statements): void {
  const data = Array.from({ length: 64 }, () => 2 * random.unit() - 1);
  const [got, want] = [run(one, data), run(other, data)];
  got.forEach((value, n) => expect(value).toBeCloseTo(want[n]!, 11));
}

describe('sums before differences', () => {
  it.each([
    // Radix, with neither, with products in sums, and with sums first.
    [2, 10, 8, 6],
    [4, 34, 28, 24],
  ])('spare an instruction of four for twiddled values, radix %i', (radix, plain, fused, rewritten) => {
    const statements = twiddled(radix, true);
    expect(count(statements, false).arithmetic).toBe(plain);
    expect(count(statements, true)).toEqual({ arithmetic: fused, signs: 0 });
    const better = sumsFirst(statements);
    // The differences of radix 2 are results, as are those of the even points of radix 4.
    expect(count(better, true)).toEqual({ arithmetic: rewritten, signs: 2 });
    expectSameNumbers(better, statements);
  });

  it.each([2, 3, 4, 5, 7, 8, 9, 12, 16])('change nothing where nothing is held, radix %i', (radix) => {
    const statements = twiddled(radix, false);
    expect(sumsFirst(statements)).toEqual(statements);
  });

  it.each([2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16])('give the same numbers, radix %i', (radix) => {
    const statements = twiddled(radix, true);
    const better = sumsFirst(statements);
    expectSameNumbers(better, statements);
    expect(count(better, true).arithmetic).toBeLessThanOrEqual(count(statements, true).arithmetic);
  });

  it('hold what the twiddled values were for', () => {
    const statements = twiddled(4, true);
    const { stores, steps } = sumsFirst(statements);
    const nodes = new Set(reachable(stores.map(({ value }) => value)));
    // The first stands for sum and difference of the first and the third, which is held by itself, too.
    expect(steps.map((step) => step.length)).toEqual([4, 4, 2]);
    for (const value of steps.flat()) expect(nodes).toContain(value);
  });

  it('keep the sign where two differences meet, or one meets itself', () => {
    const x = new Expressions();
    const load = (n: number) => x.load(input, n);
    const [a, b] = [load(0), load(1)];
    const t = x.add(x.mul(load(2), load(3)), x.mul(load(4), load(5)));
    const u = x.sub(x.mul(load(6), load(7)), x.mul(load(8), load(9)));
    const [d, e] = [x.sub(a, t), x.sub(b, u)];
    const sums = [x.add(a, t), x.add(b, u)];
    for (const values of [[x.add(d, e)], [x.sub(d, e)], [x.add(d, d), e], [x.sub(e, d), x.add(d, e)]]) {
      const statements = { stores: storesOf([...sums, ...values]), steps: [[t], [u]] };
      const better = sumsFirst(statements);
      expect(better.stores).not.toBe(statements.stores);
      expectSameNumbers(better, statements);
    }
  });

  it('are what kernels are made of, where vectors multiply and add at once', () => {
    const fused = (held: boolean) => {
      const i = variable('i', 4);
      const { stores, steps } = twiddled(4, held, i);
      const group = variable('group', 1);
      const loops = [{ variable: i }];
      const phase: Phase = { loops, lanes: i, stores, steps, repeatable: true, exchange: 'group' };
      const shapes = { group, threads: 1, globals: [input, output], tables: [], shared: [], phases: [phase] };
      const kernel: Kernel = { name: 'twiddled', precision: 'f32', ...shapes };
      const limits = { initial: 1, maximum: 1, shared: false };
      const count = (vectors: VectorArithmetic) => {
        const bytes = Buffer.from(emitWasm(kernel, limits, vectors).bytes).toString('hex');
        return bytes.match(/fd8[56]02/g)?.length ?? 0;
      };
      return [count({ relaxedSimd: true }), count({ relaxedSimd: true, separateAdders: true }), count({})];
    };
    // Two for each of three twiddled values; or, where sums have no units of their own, two for one, and three for each part
    // of both pairs.
    expect(fused(false)).toEqual([6, 6, 0]);
    expect(fused(true)).toEqual([14, 6, 0]);
  });

  it('give the same numbers in any graph', () => {
    let rewritten = 0;
    for (let round = 0; round < 500; round++) {
      const statements = anything();
      const better = sumsFirst(statements);
      expectSameNumbers(better, statements);
      if (better.stores !== statements.stores) rewritten++;
    }
    expect(rewritten).toBeGreaterThan(50);
  });
});

/** Twiddled values, added to and subtracted from others and from each other, in any order. */
function anything(): Statements {
  const x = new Expressions();
  const load = () => x.load(input, random.integer(0, 63));
  const values: Real[] = Array.from({ length: 4 }, load);
  const steps: Real[][] = [];
  const any = () => random.pick(values);
  for (let n = random.integer(1, 8); n > 0; n--) {
    const [p, q] = [x.mul(any(), load()), x.mul(any(), load())];
    const t = random.pick([x.add(p, q), x.sub(p, q)]);
    const a = any();
    if (random.integer(0, 3) > 0) steps.push([t]);
    // Nobody's.
    if (random.integer(0, 9) === 0) steps.push([x.sub(p, load())]);
    values.push(x.add(a, t), random.pick([x.sub(a, t), x.sub(t, a)]));
    if (random.integer(0, 4) === 0) values.push(t);
  }
  for (let n = random.integer(0, 6); n > 0; n--) {
    const [a, b] = [any(), any()];
    values.push(random.pick([x.add(a, b), x.sub(a, b), x.neg(a), x.mul(a, x.constant(3))]));
  }
  return { stores: storesOf(values.filter(() => random.integer(0, 2) > 0).concat(any())), steps };
}

describe('products in sums', () => {
  // 25 is left with 17 more than FFTW’s codelet for machines that multiply and add at once.
  it.each(Object.keys(PUBLISHED).map(Number))('are all that butterflies multiply, radix %i', (radix) => {
    const x = new Expressions();
    const points = Array.from({ length: radix }, (_, n) => ({
      re: x.load(input, 2 * n),
      im: x.load(input, 2 * n + 1),
    }));
    const stores = storesOf(dft(x, points).flatMap(({ re, im }) => [re, im]));
    const [additions] = PUBLISHED[radix]!;
    const { arithmetic, signs } = count({ stores, steps: [] }, true);
    expect(arithmetic).toBeLessThanOrEqual(radix === 25 ? additions + 17 : additions);
    // Products that something is subtracted from.
    expect(signs).toBeLessThanOrEqual(
      new Map([
        [16, 1],
        [25, 6],
        [32, 4],
      ]).get(radix) ?? 0,
    );
  });

  it('of a constant may be in two, computed from operands that are wanted twice', () => {
    const x = new Expressions();
    const [a, b] = [x.load(input, 0), x.load(input, 1)];
    const product = x.mul(x.constant(3), b);
    const stores = storesOf([x.add(a, product), x.sub(a, product)]);
    const { products, uses } = arithmeticOf(reachable(stores.map(({ value }) => value)), stores, new Set(), true);
    expect([...products.values()]).toEqual([product, product]);
    expect(uses.get(b)).toBe(2);
  });

  it('stay by themselves where somebody else wants them', () => {
    const x = new Expressions();
    const [a, b] = [x.load(input, 0), x.load(input, 1)];
    const scaled = x.mul(x.constant(3), b);
    for (const values of [
      [x.add(a, scaled), scaled],
      [x.add(a, scaled), x.sub(a, scaled), x.add(b, scaled)],
      [x.add(a, x.mul(a, b)), x.sub(a, x.mul(a, b))],
    ]) {
      const stores = storesOf(values);
      const { products } = arithmeticOf(reachable(values), stores, new Set(), true);
      expect(products.size).toBe(0);
    }
  });
});
