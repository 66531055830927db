import { add, array, map, mul, pad, program, real, reduce, slide, zip } from 'omnifft/lift';

const bell = (i: number, n: number) => Math.exp(-(((i - (n - 1) / 2) / 5) ** 2)) / (5 * Math.sqrt(Math.PI));

// A signal on a ring, smoothed by 33 weights. The rule stencilToFft makes three Fourier transforms of it.
export const ring = program({ signal: real(1024) }, ({ signal }) =>
  map((window) => reduce(add, 0, map(mul, zip(window, array(33, bell)))), slide(33, 1, pad(16, 16, 'wrap', signal))),
);
