/**
 * Peer: KISS FFT in WebAssembly (`kissfft-wasm`), single precision, every length. Timed call:
 * `new FFTConfig(n, false).work(input, output)` on `ComplexArray`s in its own heap.
 */
import { fill } from '../data.ts';
import { pick, type Subject } from '../subject.ts';

/**
 * The package predates `fetch` in Node: where it finds streaming compilation it fetches its file by a bare path, which
 * Node refuses. So that is hidden while it loads, and its handlers, which would print its whole source, are taken off.
 */
async function loadPackage() {
  const { instantiateStreaming } = WebAssembly;
  const before = process.listeners('unhandledRejection');
  Reflect.deleteProperty(WebAssembly, 'instantiateStreaming');
  try {
    const { waitLoading } = await import('kissfft-wasm/lib/wasm.js');
    await waitLoading();
    return await import('kissfft-wasm');
  } finally {
    WebAssembly.instantiateStreaming = instantiateStreaming;
    for (const listener of process.listeners('unhandledRejection')) {
      if (!before.includes(listener)) process.off('unhandledRejection', listener);
    }
  }
}

let loaded: ReturnType<typeof loadPackage> | undefined;

export async function kissfft(n: number): Promise<Subject> {
  const { ComplexArray, FFTConfig } = await (loaded ??= loadPackage());
  const config = new FFTConfig(n, false);
  const input = new ComplexArray(n);
  const output = new ComplexArray(n);
  return {
    name: 'kissfft-wasm',
    load: (seed) => fill(input.asFloat32Array(), seed),
    bins(indices) {
      config.work(input, output);
      return pick(output.asFloat32Array(), indices);
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) config.work(input, output);
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {
      for (const item of [config, input, output]) item.free();
    },
  };
}
