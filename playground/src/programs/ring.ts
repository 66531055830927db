import { add, array, map, mul, pad, program, real, reduce, slide, zip } from 'omnifft/lift';

const bell = (i: number, n: number) => Math.exp(-(((i - (n - 1) / 2) / 8) ** 2)) / (8 * Math.sqrt(Math.PI));

// A signal on a ring, smoothed by 65 weights. The rule stencilToFft makes three Fourier transforms of it.
export const ring = program({ signal: real(4096) }, ({ signal }) =>
  map((window) => reduce(add, 0, map(mul, zip(window, array(65, bell)))), slide(65, 1, pad(32, 32, 'wrap', signal))),
);
