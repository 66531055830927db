import { add, map, mul, program, real, reduce, transpose, zip } from 'omnifft/lift';

// Every row of one matrix times every column of another.
export const product = program({ A: real(128, 64), B: real(64, 96) }, ({ A, B }) =>
  map((row) => map((column) => reduce(add, 0, map(mul, zip(row, column))), transpose(B)), A),
);
