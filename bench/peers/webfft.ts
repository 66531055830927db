/**
 * Peer: WebFFT, single precision, powers of two from 4 to 2¹⁷. Timed call: `new Webfft(n, 'kissWasm').fft(input)`, which
 * copies in, transforms and returns a new host array. Of its libraries the WebAssembly one is named here instead of
 * letting it profile itself, so that every run times the same code.
 */
import Webfft from 'webfft';
import { fill } from '../data.ts';
import { pick, type Subject } from '../subject.ts';

export const webfftLargest = 2 ** 17;

export function webfft(n: number): Subject {
  const fft = new Webfft(n, 'kissWasm', false);
  const input = new Float32Array(2 * n);
  return {
    name: 'webfft',
    load: (seed) => fill(input, seed),
    bins: (indices) => pick(fft.fft(input), indices),
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) fft.fft(input);
      return ((performance.now() - start) * 1000) / calls;
    },
    close: () => fft.dispose(),
  };
}
