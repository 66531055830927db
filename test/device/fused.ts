/**
 * What is done on the way of a transform, beside the same in steps: convolutions beside three calls of cuFFT and a kernel for the
 * product, blocks of zeros beside the same plan without them, and callbacks beside the plain plan.
 */
import type { Backend } from '../../src/devices/device.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import type { Callback, Plan, ProblemInput } from '../../src/index.ts';
import { realBytes } from '../../src/problem/index.ts';
import { relativeError } from '../support/accuracy.ts';
import type { Bench, Result, Run } from './benchmark.ts';
import { type CufftConvolution, openCufftConvolution, PLACES } from './cufft-convolution.ts';

type Precision = 'single' | 'double';

/** One row: a name as `--region` has it, and how to time it. */
export interface FusedCase {
  readonly group: 'convolution' | 'padding' | 'callbacks';
  readonly size: readonly number[];
  time(bench: Bench, precision: Precision): Promise<Result>;
}

/** What a size is a case of. */
interface Sized {
  readonly size: readonly number[];
  readonly batches: number;
  readonly points: number;
}

const square = (n: number) => [n, n];
const cube = (n: number) => [n, n, n];
const CONVOLVED = [
  ...[64, 128, 256, 512, 1024, 2048, 4096].map((n) => [n]),
  ...[256, 512, 1024, 2048].map(square),
  ...[64, 128, 256].map(cube),
];
const CONVOLVED_REAL = [[1024], [1024, 1024], [128, 128, 128]];
const PADDED = [...[256, 512, 1024, 2048, 4096].map(square), ...[64, 128, 256, 512].map(cube)];
const CALLED_SIZES = [[256], [1024], [4096], [2 ** 16], [2 ** 20], [1024, 1024], [128, 128, 128]];

/** @param bytes of the data on either side. @param sizes instead of those that are timed otherwise, as `1024,64x64`. */
export function fusedCases(precision: Precision, bytes: number, sizes?: string): FusedCase[] {
  const asked = sizes?.split(',').map((text) => text.split('x').map(Number));
  const sized = (size: readonly number[], elementBytes: number): Sized => {
    const points = size.reduce((a, b) => a * b, 1);
    return { size, points, batches: Math.max(1, Math.floor(bytes / elementBytes / points)) };
  };
  const complexBytes = 2 * realBytes(precision);
  const convolved = (size: readonly number[], real: boolean): FusedCase => {
    const own = sized(size, real ? complexBytes / 2 : complexBytes);
    return { group: 'convolution', size, time: (bench, kind) => timeConvolution(bench, own, kind, real) };
  };
  const padded = (size: readonly number[], direction: 'forward' | 'inverse'): FusedCase => ({
    group: 'padding',
    size,
    time: (bench, kind) => timePadding(bench, sized(size, complexBytes), kind, direction),
  });
  const called = (size: readonly number[], kind: CalledKind): FusedCase => ({
    group: 'callbacks',
    size,
    time: (bench, numbers) => timeCallbacks(bench, sized(size, complexBytes), numbers, kind),
  });
  const inverse = asked ?? [[1024, 1024], cube(256)];
  const all = [
    ...(asked ?? CONVOLVED).map((size) => convolved(size, false)),
    ...(asked ?? CONVOLVED_REAL).map((size) => convolved(size, true)),
    ...(asked ?? PADDED).map((size) => padded(size, 'forward')),
    ...inverse.map((size) => padded(size, 'inverse')),
    ...(asked ?? CALLED_SIZES).flatMap((size) => CALLED_KINDS.map((kind) => called(size, kind))),
  ];
  return all.filter(({ size }) => size.reduce((a, b) => a * b, 1) * complexBytes <= 4 * bytes);
}

function sizedName({ size, batches }: Sized): string {
  return `${size.join('x')} × ${batches}`;
}

/** What of a plan with callbacks or a convolution is called here. */
interface Fused {
  prepareKernel(h: DeviceMemory): Promise<DeviceMemory>;
  measure(task: 'forward' | 'inverse' | 'convolve', options: object): Promise<number>;
}

/** Signals, one kernel for all of them, and results as large as the signals. */
async function timeConvolution(bench: Bench, sized: Sized, precision: Precision, real: boolean): Promise<Result> {
  const { size, batches, points } = sized;
  const number = realBytes(precision);
  const bins = (points / size[0]!) * (Math.floor(size[0]! / 2) + 1);
  const signalBytes = points * batches * number * (real ? 1 : 2);
  const room = real ? bins * batches * 2 * number : signalBytes;
  const kernelBytes = (real ? bins : points) * 2 * number;
  const peer = await openCufftConvolution(bench, { size, batches, precision, real }, room);
  let kernel: DeviceMemory | undefined;
  const subjects = async (given: Plan) => {
    const plan = given as unknown as Fused;
    const memory = await bench.memory(room, bench.backend, 5);
    for (const n of [PLACES.input, PLACES.kernel]) await bench.fill(memory[n]!, room, bench.backend);
    kernel = await plan.prepareKernel(memory[PLACES.kernel]!);
    const sides = { input: memory[PLACES.input], output: memory[PLACES.output], kernel };
    const ours: Run = (repeats) => plan.measure('convolve', { ...sides, repeats });
    if (peer) await compareResults(bench, precision, room, ours, peer);
    return { ours, theirs: peer?.run };
  };
  try {
    return await bench.compare({
      ...{ region: `convolution ${size.length}d`, size, batches, precision, subjects, peer: 'cuFFT in three steps' },
      what: `${real ? 'real ' : ''}${sizedName(sized)}`,
      problem: {
        ...{ size, batches, precision, directions: 'forward', convolution: {} },
        ...(real ? { transform: 'r2c' } : {}),
      } as ProblemInput,
      otherKernels: ['forward', 'prepareKernel'],
      bytes: (2 * signalBytes + kernelBytes) / 2,
    });
  } finally {
    kernel?.free();
    peer?.close();
  }
}

/** Bytes of both results that are compared, at most. */
const COMPARED = 2 ** 20;
/** Far more than rounding, far less than another result. */
const MOST_APART = { single: 1e-4, double: 1e-11 } as const;

/** @throws Error where both do not compute the same. */
async function compareResults(bench: Bench, precision: Precision, room: number, ours: Run, peer: CufftConvolution) {
  const { backend, gpu } = bench;
  const result = async (on: Backend, work: () => Promise<unknown>) => {
    await work();
    const output = (await bench.memory(room, on, 5))[PLACES.output]!;
    const bytes = Math.min(COMPARED, room / 2);
    const data = precision === 'single' ? new Float32Array(bytes / 4) : new Float64Array(bytes / 8);
    await on.download({ buffer: DeviceMemory.bufferOf(output)!, byteOffset: 0 }, data);
    return data;
  };
  const mine = await result(backend, () => ours(1));
  await peer.prepare();
  const theirs = await result(gpu!, () => peer.run(1));
  const apart = relativeError(mine, theirs);
  if (!(apart < MOST_APART[precision])) throw new Error(`the results are apart by ${apart.toExponential(1)}`);
}

/** The upper half of each axis is zero on the side in space. */
async function timePadding(
  bench: Bench,
  sized: Sized,
  precision: Precision,
  direction: 'forward' | 'inverse',
): Promise<Result> {
  const { size, batches, points } = sized;
  const problem = { size, batches, precision, directions: direction } as const;
  const room = points * batches * 2 * realBytes(precision);
  const plain = (await bench.device.plan(problem)) as unknown as Plan;
  const subjects = async (plan: Plan) => {
    const [a, b] = await bench.memory(room);
    const [input, output] = direction === 'forward' ? [a, b] : [b, a];
    const run = (one: Plan) => (repeats: number) =>
      (one as unknown as Fused).measure(direction, { input, output, repeats });
    return { ours: run(plan), theirs: run(plain) };
  };
  try {
    return await bench.compare({
      ...{ region: `padding ${size.length}d`, size, batches, precision, subjects, peer: 'all of it' },
      what: `${sizedName(sized)} ${direction}`,
      problem: { ...problem, zeroPadding: { space: size.map((n) => ({ from: n / 2, to: n })) } },
      bytes: (room + room / 2 ** size.length) / 2,
    });
  } finally {
    plain.destroy();
  }
}

const window: Callback = (x, v, at) => {
  const w = x.load('w', at.axis[0]!);
  return { re: x.mul(w, v.re), im: x.mul(w, v.im) };
};
const magnitude: Callback = (x, v) => x.sqrt(x.add(x.mul(v.re, v.re), x.mul(v.im, v.im)));
const CALLED = {
  window: { load: window },
  magnitude: { store: magnitude },
  both: { load: window, store: magnitude },
} as const;
type CalledKind = keyof typeof CALLED;
const CALLED_KINDS = Object.keys(CALLED) as CalledKind[];

/** A window at load, magnitudes at store, which are half as many bytes, or both. */
async function timeCallbacks(bench: Bench, sized: Sized, precision: Precision, kind: CalledKind): Promise<Result> {
  const { size, batches, points } = sized;
  const problem = { size, batches, precision, directions: 'forward' } as const;
  const room = points * batches * 2 * realBytes(precision);
  const plain = (await bench.device.plan(problem)) as unknown as Plan;
  const subjects = async (plan: Plan) => {
    const [input, output] = await bench.memory(room);
    const [w] = (await bench.memory(room, bench.backend, 3)).slice(2);
    const run = (one: Plan, more: object) => (repeats: number) =>
      (one as unknown as Fused).measure('forward', { input, output, ...more, repeats });
    return { ours: run(plan, kind === 'magnitude' ? {} : { arrays: { w } }), theirs: run(plain, {}) };
  };
  const type = precision === 'single' ? 'f32' : 'f64';
  const arrays = kind === 'magnitude' ? {} : { arrays: { w: { type, length: size[0]! } } };
  try {
    return await bench.compare({
      ...{ region: `callbacks ${kind}`, what: sizedName(sized), size, batches, precision, subjects, peer: 'plain' },
      problem: { ...problem, callbacks: { forward: CALLED[kind], ...arrays } } as ProblemInput,
      bytes: kind === 'window' ? room : 0.75 * room,
    });
  } finally {
    plain.destroy();
  }
}
