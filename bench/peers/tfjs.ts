/**
 * Peer: TensorFlow.js with its WebGPU backend, single precision. Timed call: `tf.spectral.fft` of a complex tensor that
 * is on the GPU; many in a row, each result disposed of, then one wait for the queue.
 */
import { fill } from '../data.ts';
import { points, type Subject, type Workload } from '../subject.ts';

/** What the backend does at the end of a chunk of work; before that, calls only wait in its encoder. */
interface Backend {
  readonly device: GPUDevice;
  readonly queue: GPUQueue;
  readonly commandEncoder: GPUCommandEncoder | null;
  endComputePassEncoder(): void;
  submitQueue(): void;
}

/**
 * After `provideWebGpu` only.
 * @throws Error where the backend does not come up.
 */
export async function tfjs(workload: Workload): Promise<Subject> {
  const tf = await import('@tensorflow/tfjs-core');
  await import('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend('webgpu'))) throw new Error('the WebGPU backend of TensorFlow.js does not come up');
  await tf.ready();
  const backend = tf.backend() as unknown as Backend;
  const count = points(workload);
  const shape = [count / workload.size[0]!, workload.size[0]!];
  let input = tf.complex(tf.zeros(shape), tf.zeros(shape));
  const finish = async () => {
    if (backend.commandEncoder) {
      backend.endComputePassEncoder();
      backend.submitQueue();
    }
    await backend.queue.onSubmittedWorkDone();
  };
  return {
    name: `tfjs ${tf.version_core}`,
    load(seed) {
      const data = new Float32Array(2 * count);
      fill(data, seed);
      const part = (of: number) => data.filter((_, n) => n % 2 === of);
      input.dispose();
      input = tf.tidy(() => tf.complex(tf.tensor(part(0), shape), tf.tensor(part(1), shape)));
    },
    async bins(indices) {
      const output = tf.spectral.fft(input);
      const [re, im] = tf.tidy(() => [tf.real(output), tf.imag(output)]);
      const [a, b] = [await re!.data(), await im!.data()];
      for (const tensor of [output, re!, im!]) tensor.dispose();
      return Float64Array.from(indices.flatMap((k) => [a[k]!, b[k]!]));
    },
    async time(calls) {
      await finish();
      const start = performance.now();
      for (let n = 0; n < calls; n++) tf.spectral.fft(input).dispose();
      await finish();
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {
      input.dispose();
      tf.removeBackend('webgpu');
      backend.device.destroy();
    },
  };
}
