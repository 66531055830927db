import { add, array, join, map, mul, pad, program, real, reduce, slide, transpose, zip } from 'omnifft/lift';

const binomial = [1, 2, 1, 2, 4, 2, 1, 2, 1];

// Each pixel becomes the weighted mean of its 3 × 3 neighbours; beyond the edge the nearest pixel counts.
export const filter = program({ image: real(60, 80) }, ({ image }) => {
  const padded = pad(1, 1, 'clamp', map(pad(1, 1, 'clamp'), image));
  const weights = array(9, (i) => binomial[i]! / 16);
  return map(
    (rows) => map((window) => reduce(add, 0, map(mul, zip(join(window), weights))), slide(3, 1, transpose(rows))),
    slide(3, 1, padded),
  );
});
