/**
 * Peer: numpy-ts, double precision, any length. Timed call: `fft.fft(input)` of a complex array of its own, which returns a new one;
 * that is given back to it at once, as its memory is not the host's.
 */
import { fft, zeros } from 'numpy-ts';
import { fill } from '../data.ts';
import { pick, type Subject } from '../subject.ts';

export function numpyts(n: number): Subject {
  const input = zeros([n], 'complex128');
  return {
    name: 'numpy-ts',
    load: (seed) => fill(input.data as Float64Array, seed),
    bins(indices) {
      const output = fft.fft(input);
      const bins = pick(output.data as Float64Array, indices);
      output.dispose();
      return bins;
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) fft.fft(input).dispose();
      return ((performance.now() - start) * 1000) / calls;
    },
    close: () => input.dispose(),
  };
}
