import { expect, it } from 'vitest';
import { plainText } from './plain-text.ts';

it('plain data has a text that gives it back', () => {
  const plain = [
    'scfo1024',
    '',
    true,
    0,
    1.5,
    null,
    [],
    {},
    [1, [2, 'a"b']],
    { size: [8], scale: { forward: 2 }, 'odd name': null },
  ];
  for (const value of plain) expect(JSON.parse(plainText(value)!)).toEqual(value);
  expect(plainText({ a: 1, b: 2 })).not.toBe(plainText({ b: 2, a: 1 }));
  expect(plainText([1])).not.toBe(plainText({ 0: 1 }));
});

it('what is not plain, or would read otherwise a second time, has none', () => {
  let requested = 0;
  const getter = Object.defineProperty({}, 'size', { enumerable: true, get: () => ++requested });
  const hidden = Object.defineProperty({ size: [8] }, 'callbacks', { value: {} });
  const sparse = [1, 2, 3];
  delete sparse[1];
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const others = [
    ...[undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, 1n, Symbol.iterator, () => 1],
    ...[
      new Date(),
      new Float32Array(2),
      new Map(),
      Object.create(null),
      Object.create({ size: [8] }),
      new (class A {})(),
    ],
    ...[
      { a: undefined },
      { [Symbol.iterator]: 1 },
      Object.assign([1], { more: 1 }),
      [undefined],
      sparse,
      cycle,
      getter,
      hidden,
    ],
    ...[{ callbacks: { forward: { load: () => 1 } } }, new Array(100).fill(1)],
  ];
  for (const value of others) expect(plainText(value), typeof value).toBeUndefined();
  expect(requested).toBe(0);
});
