/** Sums with known numbers of which each row has one band that is not zero, as banks of filters have. */
import { describe, expect, it } from 'vitest';
import { hold } from '../../../../test/support/lift-hold.ts';
import { processor, runLowered } from '../../../../test/support/lift-interpreted.ts';
import { randomFor, uniform } from '../../../../test/support/random.ts';
import { add, array, array2, map, mul, program, real, reduce, transpose, zip } from '../../../lift/index.ts';

const random = randomFor('bands of programs');
const numbers = (count: number) => uniform(random, count);

describe('sums of products with known numbers that are zero but in a band', () => {
  /** Rows that see `wide` columns each, from another place on; the last row none. */
  const filters = (rows: number, columns: number, wide: number) => {
    const first = Array.from({ length: rows }, () => random.integer(0, columns - wide));
    const values = Array.from({ length: rows * wide }, () => random.unit() + 0.5);
    return array2(rows, columns, (row, column) => {
      const at = column - first[row]!;
      return at >= 0 && at < wide && row < rows - 1 ? values[row * wide + at]! : 0;
    });
  };
  const banded = (rows: number, columns: number, wide: number, count: number) => {
    const known = filters(rows, columns, wide);
    return program({ x: real(columns, count) }, ({ x }) =>
      transpose(map((column) => map((row) => reduce(add, 1, map(mul, zip(row, column))), known), transpose(x))),
    );
  };

  it.each([
    [5, 40, 3],
    [9, 200, 17],
    // Longer than what is written out.
    [4, 300, 90],
  ])('%i rows of %i numbers, %i of them not zero', (rows, columns, wide) => {
    const count = random.integer(2, 40);
    hold(banded(rows, columns, wide, count), { x: numbers(columns * count) });
  });

  it('take only these', () => {
    const given = banded(6, 1000, 10, 8);
    const { pieces } = runLowered(given, { x: numbers(8000) }, processor);
    // A dense sum of a thousand terms would be one of partial sums, in a launch of its own.
    expect(pieces.launches).toHaveLength(1);
  });

  it('may be of one row, and dense ones are as ever', () => {
    const [row, dense] = [array(80, (k) => (k > 20 && k < 30 ? k : 0)), array(80, (k) => 1 / (1 + k))];
    for (const known of [row, dense]) {
      const sum = program({ x: real(80) }, ({ x }) => reduce(add, 0, map(mul, zip(x, known))));
      hold(sum, { x: numbers(80) });
    }
  });
});
