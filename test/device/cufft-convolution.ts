/**
 * A convolution as users of cuFFT write it: a call of cuFFT there, a kernel for the product, compiled by NVRTC, and a call of
 * cuFFT back; in the device's stream, on the buffers of the benchmark.
 */
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import type { VendorFftPlan } from '../../src/devices/cuda/vendor-fft.ts';
import { address, type Bench, type Run } from './benchmark.ts';

export interface ConvolvedShape {
  readonly size: readonly number[];
  readonly batches: number;
  readonly precision: 'single' | 'double';
  readonly real: boolean;
}

export interface CufftConvolution {
  /** Transforms the kernel. */
  prepare(): Promise<void>;
  readonly run: Run;
  close(): void;
}

/** Which of the benchmark's buffers is what. */
export const PLACES = { input: 0, output: 1, kernel: 2, spectrum: 3, bins: 4 } as const;

const THREADS = 256;

/** Multiplies spectra by that of the kernel, and by what the way back lacks. */
function productSource(complex: string, numbers: number, bins: number, points: string): string {
  return `extern "C" __global__ void __launch_bounds__(${THREADS}) product(${complex} *y, const ${complex} *h) {
  const unsigned at = blockIdx.x * ${THREADS}u + threadIdx.x;
  if (at >= ${numbers}u) return;
  const ${complex} a = y[at], b = h[at % ${bins}u];
  y[at] = make_${complex}((a.x * b.x - a.y * b.y) / ${points}, (a.x * b.y + a.y * b.x) / ${points});
}`;
}

/** @param room bytes of a buffer. @returns undefined where there is no cuFFT. */
export async function openCufftConvolution(
  bench: Bench,
  { size, batches, precision, real }: ConvolvedShape,
  room: number,
): Promise<CufftConvolution | undefined> {
  const { gpu } = bench;
  const shape = { size, precision, real };
  const plans: VendorFftPlan[] = [];
  const close = () => {
    for (const plan of plans) plan.close();
  };
  for (const [direction, count] of [
    ['forward', batches],
    ['inverse', batches],
    ['forward', 1],
  ] as const) {
    const plan = bench.peerPlan({ ...shape, direction, batches: count });
    if (plan) plans.push(plan);
  }
  const [there, back, once] = plans;
  if (!gpu || !there || !back || !once) {
    close();
    return undefined;
  }
  const memory = await bench.memory(room, gpu, 5);
  const at = Object.fromEntries(Object.entries(PLACES).map(([name, n]) => [name, address(memory[n]!)])) as Record<
    keyof typeof PLACES,
    bigint
  >;
  const points = size.reduce((a, b) => a * b, 1);
  const count = real ? (points / size[0]!) * (Math.floor(size[0]! / 2) + 1) : points;
  const [bins, type] = [real ? at.bins : at.output, precision === 'single' ? 'float' : 'double'];
  const scale = `(${type})${points}`;
  const product = loadProduct(gpu, productSource(`${type}2`, count * batches, count, scale), [bins, at.spectrum]);
  const launch = () => {
    there.run(at.input, bins);
    product.launch(Math.ceil((count * batches) / THREADS));
    back.run(bins, at.output);
  };
  return {
    async prepare() {
      for (const n of [PLACES.input, PLACES.kernel]) await bench.fill(memory[n]!, room, gpu);
      gpu.enter();
      once.run(at.kernel, at.spectrum);
    },
    run: (repeats) => bench.timed(repeats, launch),
    close() {
      product.unload();
      close();
    },
  };
}

/** @param values the addresses that it is called with. */
function loadProduct(gpu: CudaBackend, source: string, values: readonly bigint[]) {
  const { driver } = gpu;
  gpu.enter();
  const code = driver.compile({ source, entry: 'product' } as Parameters<typeof driver.compile>[0]);
  const module = driver.api.handle('ModuleLoadData', code.bytes);
  const entry = driver.api.handle('ModuleGetFunction', module, 'product');
  // First the values, then the pointers to them.
  const block = new ArrayBuffer(16 * values.length);
  const start = driver.addressOf(block);
  new BigUint64Array(block).set([...values, ...values.map((_, n) => start + BigInt(8 * n))]);
  const parameters = start + BigInt(8 * values.length);
  return {
    /** Kept as long as anybody may launch. */
    block,
    launch: (groups: number) =>
      driver.launch({ entry, groups: [groups, 1, 1], threads: THREADS, sharedBytes: 0, parameters }, driver.stream),
    unload: () => driver.api.raw.ModuleUnload(module),
  };
}
