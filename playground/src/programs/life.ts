import { abs, add, join, less, map, pad, program, real, reduce, select, slide, sub, transpose } from 'omnifft/lift';

// Conway's Game of Life on a torus: a cell with three neighbours lives, one with two stays as it is.
export const life = program({ cells: real(40, 60) }, ({ cells }) => {
  const torus = pad(1, 1, 'wrap', map(pad(1, 1, 'wrap'), cells));
  return map(
    (rows) =>
      map(
        (window) => {
          const cell = window[1]![1]!;
          const neighbours = sub(reduce(add, 0, join(window)), cell);
          const has = (count: number) => less(abs(sub(neighbours, count)), 0.5);
          return select(has(3), 1, select(has(2), cell, 0));
        },
        slide(3, 1, transpose(rows)),
      ),
    slide(3, 1, torus),
  );
});
