/** Peer: fft.js, double precision in plain JavaScript, powers of two. Timed call: `fft.transform(output, input)`. */
import FFT from 'fft.js';
import { fill } from '../data.ts';
import { pick, type Subject } from '../subject.ts';

/**
 * On the arrays that its own `createComplexArray` makes: plain arrays of doubles, as its documentation uses it. They are
 * its fastest case, and only as long as nothing in the process calls it with another kind of array: typed arrays beside
 * them make it twice as slow for good.
 */
export function fftjs(n: number): Subject {
  const fft = new FFT(n);
  const input: number[] = fft.createComplexArray();
  const output: number[] = fft.createComplexArray();
  return {
    name: 'fft.js',
    load: (seed) => fill(input, seed),
    bins(indices) {
      fft.transform(output, input);
      return pick(output, indices);
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) fft.transform(output, input);
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {},
  };
}

/** The same of reals: `fft.realTransform(output, input)`, which writes the bins up to the half. */
export function fftjsReal(n: number): Subject {
  const fft = new FFT(n);
  const input: number[] = Array(n).fill(0);
  const output: number[] = fft.createComplexArray();
  return {
    name: 'fft.js',
    load: (seed) => fill(input, seed),
    bins(indices) {
      fft.realTransform(output, input);
      return pick(output, indices);
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) fft.realTransform(output, input);
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {},
  };
}
