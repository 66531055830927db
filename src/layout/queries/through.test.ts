/** Tensors seen through lines: each element is the one that the line says, at the other coordinates of the tensor. */
import { expect, it } from 'vitest';
import { coordinatesOf, randomLine } from '../../../test/support/layouts.ts';
import { randomFor } from '../../../test/support/random.ts';
import * as l from '../index.ts';

const random = randomFor('layout/through');

it('an element behind a line is the element of the tensor that the line says, with its sign', () => {
  let elements = 0;
  for (let round = 0; round < 800; round++) {
    const count = random.integer(1, 7);
    const complex = random.integer(0, 1) === 1;
    const { layout: line, text } = randomLine(random, complex ? l.numbers(count) : l.wholeLine(count), 5);
    // A line of nothing but zeros does not say whether it is one of complex numbers.
    if (line.kind === 'zeros') continue;
    const others = Array.from({ length: random.integer(0, 2) }, () => random.integer(1, 3));
    const d = random.integer(0, others.length);
    const shape = [...others.slice(0, d), count, ...others.slice(d), ...(complex ? [2] : [])];
    const packed = shape.map((_, k) => shape.slice(k + 1).reduce((a, b) => a * b, 1));
    const tensor = l.memory('x', shape, packed);
    const seen = l.seenThrough(tensor, d, line);
    const rank = others.length + 1;
    expect(seen.shape).toEqual([...others.slice(0, d), line.shape[0], ...others.slice(d), ...line.shape.slice(1)]);
    for (const at of coordinatesOf(seen.shape)) {
      const inLine = l.elementOfLayout(line, [at[d]!, ...at.slice(rank)]);
      const place = inLine?.place;
      const own = complex && place !== undefined ? [Math.floor(place / 2), place % 2] : [place];
      const inTensor = [...at.slice(0, d), own[0]!, ...at.slice(d + 1, rank), ...own.slice(1)];
      const wanted = inLine && { ...l.elementOfLayout(tensor, inTensor as number[]), negated: inLine.negated };
      expect(l.elementOfLayout(seen, at), `${text} at ${at}`).toEqual(wanted);
      elements++;
    }
  }
  expect(elements).toBeGreaterThan(2000);
});
