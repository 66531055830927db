/**
 * Peer: PFFFT in its WebAssembly SIMD build (`@echogarden/pffft-wasm/simd`), single precision. Timed call:
 * `pffft_transform_ordered(setup, input, output, work, PFFFT_FORWARD)`, out of place with a work area. The plain
 * `pffft_transform` leaves the spectrum in an internal order and would be another, smaller job.
 */
import load, { type Pffft } from '@echogarden/pffft-wasm/simd';
import { fill } from '../data.ts';
import { pick, type Subject } from '../subject.ts';

const [REAL, COMPLEX] = [0, 1];
const forward = 0;
let loaded: Promise<Pffft> | undefined;

/** In its own heap, or with `copied` from and to host arrays: set into the heap, transform, set out of it. */
export async function pffft(n: number, { copied = false, real = false } = {}): Promise<Subject> {
  const module = await (loaded ??= load());
  if (module._pffft_simd_size() !== 4) throw new Error('this is not the SIMD build of pffft');
  const setup = module._pffft_new_setup(n, real ? REAL : COMPLEX);
  if (setup === 0) throw new Error(`pffft has no such transform of ${n} points`);
  const [input, output, work] = [0, 0, 0].map(() => module._pffft_aligned_malloc(8 * n)) as [number, number, number];
  const numbers = real ? n : 2 * n;
  // Views only now: an allocation may have grown the heap and detached older ones. Another subject may grow it again.
  let heapInput: Float32Array = new Float32Array();
  let heapOutput = heapInput;
  const view = () => {
    heapInput = module.HEAPF32.subarray(input / 4, input / 4 + numbers);
    heapOutput = module.HEAPF32.subarray(output / 4, output / 4 + numbers);
  };
  const hostInput = new Float32Array(numbers);
  const hostOutput = new Float32Array(numbers);
  // The export itself: what the package puts on the module first is a wrapper that replaces itself when called.
  const resolve = () => {
    module._pffft_transform_ordered(setup, input, output, work, forward);
    return module._pffft_transform_ordered;
  };
  return {
    name: copied ? 'pffft + copies' : 'pffft',
    load(seed) {
      view();
      fill(hostInput, seed);
      heapInput.set(hostInput);
    },
    bins(indices) {
      resolve();
      if (!real) return pick(heapOutput, indices);
      // The last bin, which is real, is where the imaginary part of the first one would be.
      const bins = new Float32Array(numbers + 2);
      bins.set(heapOutput);
      [bins[1], bins[numbers]] = [0, heapOutput[1]!];
      return pick(bins, indices);
    },
    time(calls) {
      const transform = resolve();
      view();
      const start = performance.now();
      if (copied) {
        for (let i = 0; i < calls; i++) {
          heapInput.set(hostInput);
          transform(setup, input, output, work, forward);
          hostOutput.set(heapOutput);
        }
      } else {
        for (let i = 0; i < calls; i++) transform(setup, input, output, work, forward);
      }
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {
      for (const pointer of [input, output, work]) module._pffft_aligned_free(pointer);
      module._pffft_destroy_setup(setup);
    },
  };
}
