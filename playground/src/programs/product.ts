import { add, map, mul, program, real, reduce, transpose, zip } from 'omnifft/lift';

// Every row of one matrix times every column of another.
export const product = program({ A: real(60, 40), B: real(40, 80) }, ({ A, B }) =>
  map((row) => map((column) => reduce(add, 0, map(mul, zip(row, column))), transpose(B)), A),
);
