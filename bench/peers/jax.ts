/**
 * Peer: jax-js on WebGPU, single precision. Timed call: `numpy.fft.fft` of a pair of arrays that are on the GPU, many in
 * a row, then one wait. Its arrays are lazy and what nobody reads is never computed, so each call takes the result of
 * the one before; they begin with zeros, which stay zeros.
 */
import { fill } from '../data.ts';
import { points, type Subject, type Workload } from '../subject.ts';

/**
 * After `provideWebGpu` only.
 * @throws Error where its WebGPU backend does not come up.
 */
export async function jax(workload: Workload): Promise<Subject> {
  const { blockUntilReady, defaultDevice, getWebGPUDevice, init, numpy } = await import('@jax-js/jax');
  const there = await init('webgpu');
  if (!there.includes('webgpu')) throw new Error('the WebGPU backend of jax-js does not come up');
  defaultDevice('webgpu');
  const count = points(workload);
  const shape = [count / workload.size[0]!, workload.size[0]!];
  let input: { real: ReturnType<typeof numpy.zeros>; imag: ReturnType<typeof numpy.zeros> } | undefined;
  const run = () => numpy.fft.fft({ real: input!.real.ref, imag: input!.imag.ref });
  const give = (pair: typeof input) => {
    pair?.real.dispose();
    pair?.imag.dispose();
  };
  return {
    name: 'jax-js',
    async load(seed) {
      const data = new Float32Array(2 * count);
      fill(data, seed);
      const part = (of: number) => numpy.array(data.filter((_, n) => n % 2 === of)).reshape(shape);
      give(input);
      input = await blockUntilReady({ real: part(0), imag: part(1) });
    },
    async bins(indices) {
      const { real, imag } = run();
      const [a, b] = [await real.data(), await imag.data()];
      return Float64Array.from(indices.flatMap((k) => [a[k]!, b[k]!]));
    },
    async time(calls) {
      let data = await blockUntilReady({ real: numpy.zeros(shape).add(0), imag: numpy.zeros(shape).add(0) });
      const start = performance.now();
      for (let n = 0; n < calls; n++) data = numpy.fft.fft(data);
      await blockUntilReady(data);
      await getWebGPUDevice().queue.onSubmittedWorkDone();
      const us = ((performance.now() - start) * 1000) / calls;
      give(data);
      return us;
    },
    close() {
      give(input);
      getWebGPUDevice().destroy();
    },
  };
}
