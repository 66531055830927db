import { describe, expect, it } from 'vitest';
import { PUBLISHED } from '../../../test/support/codelets.ts';
import { randomFor } from '../../../test/support/random.ts';
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  countOperations,
  Expressions,
  evaluate,
  index,
  interleaved,
  mappedStore,
  planar,
  type Real,
  reachable,
  scale,
  stackedPlanes,
  strided,
  swapped,
  variable,
} from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import { dft } from '../passes/butterfly.ts';
import { PackedExpressions } from './packed-lanes.ts';

const random = randomFor('kernels/packed-lanes');
const [memory, other, shared]: ArrayRef[] = [
  { name: 'x', space: 'global', type: 'f64' },
  { name: 'y', space: 'global', type: 'f64' },
  { name: 'ping', space: 'shared', type: 'f64', length: 1024 },
];
const item = variable('q', 4);
const radices = Array.from({ length: 15 }, (_, i) => i + 2);

/** Points of item q at q + 4·m. */
function pointsOf(view: ComplexView, radix: number): Complex[] {
  const x = new Expressions();
  return Array.from({ length: radix }, (_, m) => view.load(x, [add(item, 4 * m)]));
}

/** What a node is where `part` has a value, as the meaning of its operations says. */
function meaning(node: Real, x: PackedExpressions, part: number, data: Float64Array): number {
  const of = (operand: Real, at = part) => meaning(operand, x, at, data);
  if (node.op === 'const') return exact.toNumber(node.value);
  if (node.op === 'load') return data[evaluate(node.index, new Map([[x.part, part]]))]!;
  if (node.op === 'swap') return of(node.a, part ^ 1);
  if (node.op === 'conj') return exact.toNumber(node.value) * (part % 2 === 0 ? 1 : -1);
  if (node.op === 'neg') return -of(node.a);
  if (!('b' in node)) throw new RangeError(`${node.op} is in no butterfly`);
  const [a, b] = [of(node.a), of(node.b)];
  return node.op === 'add' ? a + b : node.op === 'sub' ? a - b : a * b;
}

describe.each([
  { way: 'forward', view: strided(interleaved(memory!), [1]), sign: -1 },
  { way: 'inverse', view: swapped(strided(interleaved(memory!), [1])), sign: 1 },
])('numbers in pairs, $way', ({ view, sign }) => {
  it.each(radices)('transform as they do taken apart, radix %i', (radix) => {
    const points = pointsOf(view, radix);
    const x = PackedExpressions.over(item, points)!;
    const data = Float64Array.from({ length: 8 * radix }, () => 2 * random.unit() - 1);
    const outputs = dft(
      x,
      points.map((point) => x.number(point)),
    );
    for (let q = 0; q < item.count; q++) {
      outputs.forEach(({ re, im }, k) => {
        expect(im).toBe(re);
        const sum = { re: 0, im: 0 };
        for (let m = 0; m < radix; m++) {
          const [a, b] = [data[2 * (q + 4 * m)]!, data[2 * (q + 4 * m) + 1]!];
          const angle = (2 * Math.PI * ((m * k) % radix)) / radix;
          sum.re += a * Math.cos(angle) - sign * b * Math.sin(angle);
          sum.im += b * Math.cos(angle) + sign * a * Math.sin(angle);
        }
        expect(meaning(re, x, 2 * q, data)).toBeCloseTo(sum.re, 12);
        expect(meaning(re, x, 2 * q + 1, data)).toBeCloseTo(sum.im, 12);
      });
    }
  });

  it.each(radices)('take half of the published additions, and few turns, radix %i', (radix) => {
    const points = pointsOf(view, radix);
    const x = PackedExpressions.over(item, points)!;
    const outputs = dft(
      x,
      points.map((point) => x.number(point)),
    );
    const values = outputs.map(({ re }) => re);
    expect(countOperations(values).additions).toBeLessThanOrEqual(PUBLISHED[radix]![0] / 2);
    // To take the numbers apart would be a shuffle for each.
    const swaps = reachable(values).filter(({ op }) => op === 'swap').length;
    expect(swaps).toBeLessThanOrEqual(radix + 1);
  });
});

describe('stores of both parts', () => {
  const points = pointsOf(strided(interleaved(memory!), [1]), 2);
  const x = PackedExpressions.over(item, points)!;
  const value = x.number(points[0]!);

  it('go where those of each part went', () => {
    const to = strided(stackedPlanes(shared!, 512), [1]);
    const at = [add(scale(item, 3), 1)];
    const store = x.whole(value, (own) => to.store(x, at, own))!;
    const apart = to.store(x, at, value);
    for (let part = 0; part < 8; part++) {
      const { index } = apart[part % 2]!;
      const place = evaluate(index, new Map([[item, part >> 1]]));
      expect(evaluate(store.index, new Map([[x.part, part]]))).toBe(place);
    }
    expect(store.value).toBe(value.re);
  });

  it.each([
    ['', (view: ComplexView) => view, 0],
    [', which is stored first, too', swapped, 1],
  ] as const)('begin with the second part where that was read first%s', (_, turned, first) => {
    const view = swapped(strided(interleaved(memory!), [1]));
    const inverse = PackedExpressions.over(item, pointsOf(view, 2))!;
    const to = turned(strided(stackedPlanes(shared!, 512), [3]));
    const number = inverse.number(pointsOf(view, 2)[1]!);
    const apart = to.store(inverse, [item], number);
    const store = inverse.whole(number, (own) => to.store(inverse, [item], own))!;
    for (let part = 0; part < 8; part++) {
      const place = evaluate(apart[first ? part % 2 : 1 - (part % 2)]!.index, new Map([[item, part >> 1]]));
      expect(evaluate(store.index, new Map([[inverse.part, part]]))).toBe(place);
    }
  });

  it('are not made of two that were multiplied by a complex factor', () => {
    const to = mappedStore(strided(stackedPlanes(shared!, 512), [3]), (by, number) =>
      by.cmul(number, { re: by.constant(0.6), im: by.constant(0.8) }),
    );
    expect(x.whole(value, (own) => to.store(x, [item], own))).toBeUndefined();
  });

  it('are not made of two that are the same of both parts', () => {
    const sum = mappedStore(strided(stackedPlanes(shared!, 512), [3]), (by, { re, im }) => ({
      re: by.add(re, im),
      im: by.add(re, im),
    }));
    expect(x.whole(value, (own) => sum.store(x, [item], own))).toBeUndefined();
  });

  it('are not made of two where neighbours follow each other, or the parts are in two arrays', () => {
    for (const to of [strided(stackedPlanes(shared!, 512), [1]), strided(planar(memory!, other!), [3])]) {
      expect(x.whole(value, (own) => to.store(x, [item], own))).toBeUndefined();
    }
  });
});

it('multiplies numbers by complex factors', () => {
  const points = pointsOf(strided(interleaved(memory!), [1]), 1);
  const x = PackedExpressions.over(item, points)!;
  const data = Float64Array.from({ length: 8 }, () => 2 * random.unit() - 1);
  const [re, im] = [random.unit(), -random.unit()];
  const product = x.cmul(x.number(points[0]!), { re: x.constant(re), im: x.constant(im) });
  for (let q = 0; q < item.count; q++) {
    const [a, b] = [data[2 * q]!, data[2 * q + 1]!];
    expect(meaning(product.re, x, 2 * q, data)).toBeCloseTo(a * re - b * im, 12);
    expect(meaning(product.re, x, 2 * q + 1, data)).toBeCloseTo(a * im + b * re, 12);
  }
});

it('takes a single number whose parts lie anywhere in one array', () => {
  const one = variable('one', 1);
  const view = strided(stackedPlanes(memory!, 512), [3]);
  const load = new Expressions();
  const numbers = [0, 2].map((n) => view.load(load, [add(one, n)]));
  const reversed = swapped(view).load(load, [add(one, 4)]);
  const x = PackedExpressions.over(one, [...numbers, reversed])!;
  const data = Float64Array.from({ length: 1024 }, () => random.unit());
  for (const part of [0, 1]) {
    expect(meaning(x.number(numbers[1]!).re, x, part, data)).toBe(data[6 + 512 * part]);
    expect(meaning(x.number(reversed).re, x, part, data)).toBe(data[12 + 512 * (1 - part)]);
  }
});

it('takes only numbers that lie side by side, all in the same order', () => {
  const over = (view: ComplexView) => PackedExpressions.over(item, pointsOf(view, 4));
  const side = strided(interleaved(memory!), [1]);
  expect(over(side)).toBeDefined();
  expect(over(strided(interleaved(memory!), [2]))).toBeUndefined();
  expect(over(strided(planar(memory!, other!), [1]))).toBeUndefined();
  // One part may not be there.
  const guard = [{ index: index(item), from: 0, to: 3 }];
  const [re, im] = [side, side].map((view, n) => view.load(new Expressions(), [item], n === 0 ? undefined : guard));
  expect(PackedExpressions.over(item, [{ re: re!.re, im: im!.im }])).toBeUndefined();
  const mixed = [...pointsOf(side, 2), ...pointsOf(swapped(side), 2)];
  expect(PackedExpressions.over(item, mixed)).toBeUndefined();
  const x = new Expressions();
  const scaled = pointsOf(side, 2).map((point) => x.cscale(point, x.constant(3)));
  expect(PackedExpressions.over(item, scaled)).toBeUndefined();
});
