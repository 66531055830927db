/**
 * Subjects for what is done on the way of a transform: convolutions, blocks of zeros and callbacks of omnifft, and the same by steps
 * or without them. All of them work in memory of the device.
 */
import { directBin } from './check.ts';
import { fill } from './data.ts';
import { type Device, loadSignal, type Memory, type Plan, type RealArray } from './library.ts';
import { pick, points, type Subject, type Workload } from './subject.ts';

/** Memory of a device that is given back together. */
class Arrays {
  private readonly device: Device;
  private readonly single: boolean;
  private readonly made: Memory[] = [];

  constructor(device: Device, { precision }: Workload) {
    this.device = device;
    this.single = precision === 'single';
  }

  of(bytes: number): RealArray {
    const memory = this.device.alloc(bytes, this.single ? 'single' : 'double');
    this.made.push(memory);
    return memory.array;
  }

  free(): void {
    for (const memory of this.made) memory.free();
  }
}

/** What a subject does, once it has its memory. */
interface Deed {
  readonly name: string;
  readonly load: (seed: number) => void;
  readonly run: () => void;
  readonly result: RealArray;
  /** The result is reals. */
  readonly real?: boolean;
  readonly close: () => void;
}

function subjectOf({ name, load, run, result, real, close }: Deed): Subject {
  return {
    ...{ name, load, close },
    bins(indices) {
      result.fill(Number.NaN);
      run();
      return real ? Float64Array.from(indices.flatMap((k) => [result[k]!, 0])) : pick(result, indices);
    },
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) run();
      return ((performance.now() - start) * 1000) / calls;
    },
  };
}

/** A kernel is fixed data of its own; peers/scipy_peer.py has the same. */
export const KERNEL_SEED = 0x5eed;

/** The circular convolution of the data with the kernel, element by element. */
export function convolution(size: readonly number[], precision: 'single' | 'double'): Workload {
  const h = new Float64Array(2 * points({ size, precision }));
  fill(h, KERNEL_SEED);
  const wrapped = (n: number, d: number) => (n + size[d]!) % size[d]!;
  return { size, precision, expected: { count: h.length / 2, at: sums(size, size, size, h, wrapped) } };
}

/** All of the convolution of reals with a kernel of its own size. */
export function linearConvolution(
  size: readonly number[],
  kernel: readonly number[],
  precision: 'single' | 'double',
): Workload {
  const count = points({ size: kernel, precision });
  const h = new Float64Array(2 * count);
  const reals = new Float64Array(count);
  fill(reals, KERNEL_SEED);
  reals.forEach((value, n) => {
    h[2 * n] = value;
  });
  const shape = size.map((n, d) => n + kernel[d]! - 1);
  const at = sums(size, kernel, shape, h, (n) => n);
  return { size, kernel, precision, real: true, expected: { count: points({ size: shape, precision }), at } };
}

/** Σ x[j] · h[k − j], straight from the definition. @param place of a difference along an axis; what lies outside is 0 */
function sums(
  size: readonly number[],
  kernel: readonly number[],
  shape: readonly number[],
  h: Float64Array,
  place: (difference: number, axis: number) => number,
): (data: ArrayLike<number>, k: number) => [number, number] {
  return (data, k) => {
    const sum: [number, number] = [0, 0];
    const walk = (d: number, from: number, other: number, rest: number): void => {
      if (d < 0) {
        const [re, im, a, b] = [data[2 * from]!, data[2 * from + 1]!, h[2 * other]!, h[2 * other + 1]!];
        sum[0] += re * a - im * b;
        sum[1] += re * b + im * a;
        return;
      }
      const below = shape.slice(0, d).reduce((product, n) => product * n, 1);
      const target = Math.floor(rest / below);
      for (let j = 0; j < size[d]!; j++) {
        const at = place(target - j, d);
        if (at >= 0 && at < kernel[d]!) walk(d - 1, from * size[d]! + j, other * kernel[d]! + at, rest % below);
      }
    };
    walk(size.length - 1, 0, 0, k);
    return sum;
  };
}

export async function convolved(device: Device, workload: Workload): Promise<Subject> {
  const { size, precision } = workload;
  const plan = await device.plan({ size, precision, convolution: {} });
  const arrays = new Arrays(device, workload);
  const [input, result] = [arrays.of(plan.input.bytes), arrays.of(plan.input.bytes)];
  fill(input, KERNEL_SEED);
  const kernel = plan.prepareKernelSync(input);
  const close = () => {
    kernel.free();
    arrays.free();
    plan.destroy();
  };
  return subjectOf({
    ...{ name: 'omnifft', result, close, load: (seed) => fill(input, seed) },
    run: () => plan.convolveSync(input, kernel, result),
  });
}

/** Forward, a loop over all bins, and back. */
export async function inThreeSteps(device: Device, workload: Workload): Promise<Subject> {
  const { size, precision } = workload;
  const plan = await device.plan({ size, precision, normalize: true });
  const arrays = new Arrays(device, workload);
  const [input, bins, kernel, result] = Array.from({ length: 4 }, () => arrays.of(plan.input.bytes));
  fill(input!, KERNEL_SEED);
  plan.forwardSync(input!, kernel!);
  return subjectOf({
    ...{ name: 'three steps', result: result!, load: (seed) => fill(input!, seed) },
    run: () => {
      plan.forwardSync(input!, bins!);
      multiply(bins!, kernel!);
      plan.inverseSync(bins!, result!);
    },
    close: () => {
      arrays.free();
      plan.destroy();
    },
  });
}

/** Two steps: the product is a callback of the forward transform. */
export async function inTwoSteps(device: Device, workload: Workload): Promise<Subject> {
  const { size, precision } = workload;
  const store = (x: Builder, { re, im }: Value, at: { readonly axis: readonly unknown[] }) => {
    const place = at.axis.reduceRight((sum, own, d) => x.index.add(x.index.mul(sum, size[d]!), own));
    const [a, b] = [x.load('h', x.index.mul(place, 2)), x.load('h', x.index.add(x.index.mul(place, 2), 1))];
    return { re: x.sub(x.mul(re, a), x.mul(im, b)), im: x.add(x.mul(re, b), x.mul(im, a)) };
  };
  const length = 2 * points(workload);
  const arraysOf = { h: { type: precision === 'single' ? 'f32' : 'f64', length } };
  const callbacks = { forward: { store }, arrays: arraysOf };
  const plan = await device.plan({ size, precision, normalize: true, callbacks });
  const plain = await device.plan({ size, precision, directions: 'forward' });
  const arrays = new Arrays(device, workload);
  const [input, bins, h, result] = Array.from({ length: 4 }, () => arrays.of(plan.input.bytes));
  fill(input!, KERNEL_SEED);
  plain.forwardSync(input!, h!);
  plain.destroy();
  const options = { arrays: { h: h! } };
  return subjectOf({
    ...{ name: 'product as a callback', result: result!, load: (seed) => fill(input!, seed) },
    run: () => {
      plan.forwardSync(input!, bins!, options);
      plan.inverseSync(bins!, result!);
    },
    close: () => {
      arrays.free();
      plan.destroy();
    },
  });
}

function multiply(bins: RealArray, kernel: RealArray): void {
  for (let k = 0; k < bins.length; k += 2) {
    const [re, im, a, b] = [bins[k]!, bins[k + 1]!, kernel[k]!, kernel[k + 1]!];
    bins[k] = re * a - im * b;
    bins[k + 1] = re * b + im * a;
  }
}

/** A transform of which the upper half of each axis is zero. */
export function halfZeros(size: readonly number[], precision: 'single' | 'double'): Workload {
  const plain: Workload = { size, precision };
  const at = (data: ArrayLike<number>, k: number) => directBin(withZeros(Float64Array.from(data), size), plain, k);
  return { ...plain, expected: { count: points(plain), at } };
}

function withZeros<T extends RealArray>(data: T, size: readonly number[]): T {
  for (let n = 0; 2 * n < data.length; n++) {
    let rest = n;
    const isLower = size.every((length) => {
      const at = rest % length;
      rest = Math.floor(rest / length);
      return 2 * at < length;
    });
    if (!isLower) data[2 * n] = data[2 * n + 1] = 0;
  }
  return data;
}

/** @param spared that half is not read; otherwise it is zeros. */
export async function padded(device: Device, workload: Workload, spared: boolean): Promise<Subject> {
  const { size, precision } = workload;
  const space = size.map((n) => ({ from: Math.ceil(n / 2), to: n }));
  const plan = await device.plan({ size, precision, ...(spared ? { zeroPadding: { space } } : {}) });
  const load = (input: RealArray) => (seed: number) => {
    fill(input, seed);
    if (!spared) withZeros(input, size);
  };
  return transformed(device, workload, plan, spared ? 'omnifft' : 'all of it', load);
}

/** Callbacks: a window at load, the magnitude at store. */
export type CalledKind = 'window' | 'magnitude';

interface Real {
  readonly real: unique symbol;
}
interface Builder {
  mul(a: Real, b: Real): Real;
  readonly index: { add(a: unknown, b: unknown): unknown; mul(a: unknown, by: number): unknown };
  add(a: Real, b: Real): Real;
  sub(a: Real, b: Real): Real;
  sqrt(a: Real): Real;
  load(name: string, at: unknown): Real;
}
interface Value {
  readonly re: Real;
  readonly im: Real;
}

const windowAt = (n: number) => (n % 64) / 64 + 0.5;
const atLoad = (x: Builder, { re, im }: Value, at: { readonly axis: readonly unknown[] }) => {
  const w = x.load('w', at.axis[0]);
  return { re: x.mul(w, re), im: x.mul(w, im) };
};
const atStore = (x: Builder, { re, im }: Value) => x.sqrt(x.add(x.mul(re, re), x.mul(im, im)));

export function called(plain: Workload, kind: CalledKind): Workload {
  const { size } = plain;
  const at = (data: ArrayLike<number>, k: number): readonly [number, number] => {
    if (kind === 'magnitude') return [Math.hypot(...directBin(data, plain, k)), 0];
    const windowed = Float64Array.from(data, (value, n) => value * windowAt((n >> 1) % size[0]!));
    return directBin(windowed, plain, k);
  };
  return { ...plain, expected: { count: points(plain), at } };
}

/** @param kind none: the transform alone. */
export async function withCallback(device: Device, workload: Workload, kind?: CalledKind): Promise<Subject> {
  const { size, batches = 1, precision } = workload;
  const arrays = { w: { type: precision === 'single' ? 'f32' : 'f64', length: size[0]! } };
  const callbacks = kind === 'window' ? { forward: { load: atLoad }, arrays } : { forward: { store: atStore } };
  const plan = await device.plan({ size, batches, precision, directions: 'forward', ...(kind ? { callbacks } : {}) });
  return transformed(device, workload, plan, kind ? 'omnifft' : 'plain', (input) => (seed) => fill(input, seed), kind);
}

function transformed(
  device: Device,
  workload: Workload,
  plan: Plan,
  name: string,
  load: (input: RealArray) => (seed: number) => void,
  kind?: CalledKind,
): Subject {
  const arrays = new Arrays(device, workload);
  const [input, result] = [arrays.of(plan.input.bytes), arrays.of(plan.output.bytes)];
  const w = kind === 'window' ? arrays.of((plan.input.bytes / points(workload) / 2) * workload.size[0]!) : undefined;
  w?.forEach((_, n) => {
    w[n] = windowAt(n);
  });
  const options = w && { arrays: { w } };
  return subjectOf({
    ...{ name, result, real: kind === 'magnitude', load: load(input) },
    run: () => plan.forwardSync(input, result, options),
    close: () => {
      arrays.free();
      plan.destroy();
    },
  });
}

/** `fftconvolve` of `omnifft/signal`, which returns a new array. */
export async function fftconvolved(device: Device, { size, kernel = [], precision }: Workload): Promise<Subject> {
  const { fftconvolve } = await loadSignal();
  const make = (lengths: readonly number[]) => {
    const count = points({ size: lengths, precision });
    const data = precision === 'single' ? new Float32Array(count) : new Float64Array(count);
    return { data, shape: [...lengths].reverse(), dtype: precision === 'single' ? 'float32' : 'float64' };
  };
  const [x, y] = [make(size), make(kernel)];
  fill(y.data, KERNEL_SEED);
  return {
    name: 'omnifft',
    load: (seed) => fill(x.data, seed),
    bins: async (indices) => {
      const { data } = await fftconvolve(x, y, { device });
      return Float64Array.from(indices.flatMap((k) => [data[k]!, 0]));
    },
    async time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) await fftconvolve(x, y, { device });
      return ((performance.now() - start) * 1000) / calls;
    },
    close: () => {},
  };
}
