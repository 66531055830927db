/** Peer: fourier-transform, real data in plain JavaScript, powers of two. Timed call: `fft(input, [re, im])` on doubles. */
import { fft } from 'fourier-transform';
import { fill } from '../data.ts';
import type { Subject } from '../subject.ts';

export function fourierTransform(n: number): Subject {
  const input = new Float64Array(n);
  const output: [Float64Array, Float64Array] = [new Float64Array(n / 2 + 1), new Float64Array(n / 2 + 1)];
  return {
    name: 'fourier-transform',
    load: (seed) => fill(input, seed),
    bins(indices) {
      fft(input, output);
      return Float64Array.from(indices.flatMap((k) => output.map((part) => part[k]!)));
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) fft(input, output);
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {},
  };
}
