/**
 * One transform of one problem, checked in every respect: its result against the reference, its input and all gaps
 * and guards bit for bit. Outputs are poisoned beforehand.
 */
import type { Backend, DeviceBuffer, DeviceKind } from '../../src/devices/device.ts';
import { deviceModule } from '../../src/devices/registry.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import { Device } from '../../src/engine/device.ts';
import type { Plan } from '../../src/engine/plan.ts';
import { largestPrimeFactor } from '../../src/numeric/primes.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import type { Direction, Problem, ProblemInput } from '../../src/problem/index.ts';
import { elementsOf, type ReferenceResult, referenceTransform } from '../reference/transform.ts';
import { relativeError, tolerance } from './accuracy.ts';
import { changedOutside, poison, snapshot } from './poison.ts';
import { type Random, uniform } from './random.ts';
import {
  arraysOf,
  gather,
  type HostData,
  hostData,
  ownedIndices,
  type RealArray,
  type Side,
  scatter,
  spanOf,
} from './strided.ts';

/** True when everything is to be tested instead of a sample. */
export const exhaustive = process.env.OMNIFFT_EXHAUSTIVE === '1';

/**
 * The kind of device that the suites run on: `OMNIFFT_TEST_DEVICE`, or the CPU. What a device cannot do is left out: calls
 * on the calling thread become calls that wait, and problems in other precisions than its own are not tried.
 */
export const testKind = (process.env.OMNIFFT_TEST_DEVICE ?? 'cpu') as DeviceKind;

/**
 * A device of that kind whose planner sees another profile: little shared memory makes plans of several uploads small.
 * What only vectors have is left out where lanes are threads.
 */
export async function openWith(profile: Partial<DeviceProfile>, threads = 1): Promise<Device> {
  const module = await deviceModule(testKind);
  if (!module) throw new Error(`OMNIFFT_TEST_DEVICE is ${testKind}, which cannot be opened`);
  const options = { threads, profile: testKind === 'cpu' ? profile : threadProfile(profile) };
  return new Device(await module.create(options));
}

/** The part of a profile made for vectors that makes sense for threads, within what every device has. */
export function threadProfile({ sharedBytes, coalescedBytes, registers, passCost }: Partial<DeviceProfile>) {
  const profile = { sharedBytes: sharedBytes && Math.min(sharedBytes, 16384), coalescedBytes, registers, passCost };
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}

/** How a transform is called. `work` is enqueued with the caller's work and temp memory. */
export const callModes = ['host', 'alloc', 'host-sync', 'alloc-sync', 'enqueue', 'work'] as const;
export type CallMode = (typeof callModes)[number];

/** The modes that a device has: WebGPU cannot be waited for on the calling thread. */
export function modesOf(device: Device): CallMode[] {
  return callModes.filter((mode) => device.kind !== 'webgpu' || !mode.endsWith('-sync'));
}

/** The precisions that a device computes in. */
export function precisionsOf({ profile }: Device): readonly ('single' | 'double')[] {
  return profile.precisions ?? ['single', 'double'];
}

/** Points over which errors add up. */
export function transformedPoints({ size, omit }: Problem): number {
  return size.reduce((product, length, axis) => (omit[axis] ? product : product * length), 1);
}

/** The exact factor of a direction, as the reference applies it. */
function factorOf(problem: Problem, direction: Direction): readonly [number, number] {
  const scale = problem.scale[direction];
  const points = direction === 'inverse' && problem.normalize ? transformedPoints(problem) : 1;
  const hi = scale / points;
  // scale − hi·points is exact with the product in two parts: hi·points loses nothing beyond 106 bits.
  const [product, rest] = exactProduct(hi, points);
  return [hi, (scale - product - rest) / points];
}

function exactProduct(a: number, b: number): [number, number] {
  const product = a * b;
  const cut = (x: number): [number, number] => {
    const big = 134217729 * x;
    const high = big - (big - x);
    return [high, x - high];
  };
  const [ah, al] = cut(a);
  const [bh, bl] = cut(b);
  return [product, ah * bh - product + ah * bl + al * bh + al * bl];
}

/** A packed tensor with the elements of every axis at the places that `order` gives; back where `undo`. */
export function reordered(
  problem: Problem,
  packed: Float64Array,
  order: (k: number, axis: number) => number,
  undo = false,
): Float64Array {
  let from = packed;
  let stride = problem.leftBatches;
  problem.size.forEach((length, axis) => {
    const to = new Float64Array(from.length);
    const places = Array.from({ length }, (_, k) => order(k, axis));
    for (let at = 0; at < from.length / 2; at++) {
      const k = Math.floor(at / stride) % length;
      const other = at + ((places[k] as number) - k) * stride;
      const [source, target] = undo ? [other, at] : [at, other];
      to[2 * target] = from[2 * source] as number;
      to[2 * target + 1] = from[2 * source + 1] as number;
    }
    from = to;
    stride *= length;
  });
  return from;
}

/** The reference result of a direction for packed data in natural order. */
export function expectedOf(problem: Problem, direction: Direction, packed: Float64Array): ReferenceResult {
  const { size, omit, leftBatches, coordinates, batches } = problem;
  const [hi, lo] = factorOf(problem, direction);
  const scale = hi === 1 && lo === 0 ? 1 : ([hi, lo] as const);
  return referenceTransform({ size, omit, leftBatches, coordinates, batches, direction, scale }, packed);
}

export interface Outcome {
  readonly error: number;
  readonly allowed: number;
  /** What was changed and should not have been, in words. */
  readonly damage: readonly string[];
  /** The result, packed, in natural order. */
  readonly result: Float64Array;
}

export interface Trial {
  readonly direction: Direction;
  readonly mode?: CallMode;
  /** Packed data; random when left out. */
  readonly data?: Float64Array;
  readonly expected?: ReferenceResult;
}

/** Reals behind the last element of device memory, which nobody may touch. */
const GUARD = 24;

/** Device memory and what is in it, as host arrays: the memory itself where the host can see it. */
class Stage {
  private readonly device: Device;
  private readonly backend: Backend;
  private readonly entries: {
    readonly memory: DeviceMemory;
    readonly buffer: DeviceBuffer;
    readonly mirror: RealArray;
  }[] = [];

  constructor(device: Device) {
    this.device = device;
    this.backend = (device as unknown as { readonly backend: Backend }).backend;
  }

  /** Poisoned memory. */
  allocate(reals: number, precision: 'single' | 'double'): RealArray {
    const memory = this.device.alloc(reals * (precision === 'single' ? 4 : 8), precision);
    const make = () => (precision === 'single' ? new Float32Array(reals) : new Float64Array(reals));
    const buffer = DeviceMemory.bufferOf(memory)!;
    const mirror = poison(buffer.view ? (memory.array.subarray(0, reals) as RealArray) : make());
    this.entries.push({ memory, buffer, mirror });
    return mirror;
  }

  /** What to pass to a plan for the part of an array in front of its guard. */
  handle(array: RealArray): RealArray | DeviceMemory {
    const entry = this.entries.find(
      ({ mirror }) => mirror.buffer === array.buffer && mirror.byteOffset === array.byteOffset,
    );
    return entry && !entry.buffer.view ? entry.memory : array;
  }

  async toDevice(): Promise<void> {
    for (const { buffer, mirror } of this.entries) {
      if (!buffer.view) await this.backend.upload({ buffer, byteOffset: 0 }, mirror);
    }
  }

  async fromDevice(): Promise<void> {
    for (const { buffer, mirror } of this.entries) {
      if (!buffer.view) await this.backend.download({ buffer, byteOffset: 0 }, mirror);
    }
  }

  free(): void {
    for (const { memory } of this.entries) memory.free();
  }
}

/** Runs a plan once and looks at everything that it read and wrote. */
export async function tryPlan(device: Device, plan: Plan, random: Random, trial: Trial): Promise<Outcome> {
  const { problem } = plan;
  const { direction } = trial;
  const wanted = trial.mode ?? 'host';
  const mode = modesOf(device).find((known) => known === wanted) ?? (wanted === 'host-sync' ? 'host' : 'alloc');
  const precision = problem.precision === 'single' ? 'single' : 'double';
  const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
  const inPlace = problem.placement === 'in-place';
  const packed = trial.data ?? uniform(random, 2 * elementsOf(problem), precision);
  const expected = trial.expected ?? expectedOf(problem, direction, packed);

  const onDevice = mode !== 'host' && mode !== 'host-sync';
  const stage = new Stage(device);
  const guards: { array: RealArray; before: Uint8Array; what: string }[] = [];
  const allocate = (reals: number, what: string): RealArray => {
    const whole = stage.allocate(reals + GUARD, precision);
    const guard = whole.subarray(reals);
    guards.push({ array: guard, before: snapshot(guard), what: `the guard behind ${what}` });
    return whole.subarray(0, reals);
  };
  const make = (side: Side): HostData => {
    if (!onDevice) return hostData(problem, side, precision);
    const span = spanOf(problem, side);
    if (problem.layout[side] === 'interleaved') return allocate(2 * span, side);
    return { re: allocate(span, `${side}.re`), im: allocate(span, `${side}.im`) };
  };
  try {
    const source = make(read);
    const target = inPlace ? source : make(written);
    const unsorted = problem.unordered && read === 'output';
    const order = (k: number, axis: number) => plan.output.order(k, axis);
    scatter(problem, read, unsorted ? reordered(problem, packed, order) : packed, source);
    const before = (data: HostData) => arraysOf(data).map(snapshot);
    const [sourceBefore, targetBefore] = [before(source), before(target)];

    const handle = (data: HostData) =>
      're' in data ? { re: stage.handle(data.re), im: stage.handle(data.im) } : stage.handle(data);
    const [from, to] = [handle(source), inPlace ? undefined : handle(target)];
    if (mode === 'host' || mode === 'alloc') {
      await stage.toDevice();
      await plan[direction](from, to);
    } else if (mode === 'host-sync' || mode === 'alloc-sync') {
      await stage.toDevice();
      plan[`${direction}Sync`](from, to);
    } else if (mode === 'enqueue') {
      await stage.toDevice();
      void plan.enqueue(direction, { input: from, output: to ?? from });
      await device.finish();
    } else {
      const real = precision === 'single' ? 4 : 8;
      const work = stage.handle(allocate(2 * spanOf(problem, written), 'work'));
      const temp = allocate(plan.bytes.temp / real, 'temp');
      await stage.toDevice();
      const scratch = temp.length > 0 ? { temp: stage.handle(temp) } : {};
      await plan.enqueue(direction, { input: from, output: to ?? from, work, ...scratch });
    }
    await stage.fromDevice();

    const damage: string[] = [];
    const compare = (data: HostData, snapshots: Uint8Array[], side: Side, what: string, mayChange: boolean) => {
      const owned = mayChange ? ownedIndices(problem, side) : undefined;
      arraysOf(data).forEach((array, n) => {
        const changed = changedOutside(array, snapshots[n] as Uint8Array, owned);
        if (changed.length > 0) damage.push(`${what} changed at ${changed.join(', ')}`);
      });
    };
    const mayScribble = inPlace || (onDevice && !problem.preserveInput);
    if (inPlace) compare(target, targetBefore, written, 'the buffer outside its elements', true);
    else {
      compare(source, sourceBefore, read, mayScribble ? 'the gaps of the input' : 'the input', mayScribble);
      compare(target, targetBefore, written, 'the gaps of the output', true);
    }
    for (const { array, before: bits, what } of guards) {
      if (changedOutside(array, bits).length > 0) damage.push(`${what} changed`);
    }
    const raw = gather(problem, written, target);
    const result = problem.unordered && written === 'output' ? reordered(problem, raw, order, true) : raw;
    return {
      error: relativeError(result, expected.hi, expected.lo),
      allowed: tolerance(precision, transformedPoints(problem), isConvolved(problem) ? 5 : 1),
      damage,
      result,
    };
  } finally {
    stage.free();
  }
}

/** Whether some axis has a prime factor over 13: it, or the butterflies of its passes, are Rader's or Bluestein's algorithm. */
export function isConvolved({ size, omit }: Problem): boolean {
  return size.some((length, axis) => !omit[axis] && largestPrimeFactor(length) > 13);
}

/**
 * Plans a problem and tries each direction it is planned for, in the given modes; what went wrong, in words.
 * @param from a saved plan to take instead of planning
 */
export async function complaints(
  device: Device,
  input: ProblemInput,
  random: Random,
  modes: readonly CallMode[] = ['host'],
  from?: string,
): Promise<string[]> {
  if (!precisionsOf(device).some((precision) => precision === (input.precision ?? 'single'))) return [];
  const plan = await device.plan(input, from === undefined ? {} : { from });
  const found: string[] = [];
  try {
    for (const direction of plan.directions) {
      const data = uniform(
        random,
        2 * elementsOf(plan.problem),
        plan.problem.precision === 'single' ? 'single' : 'double',
      );
      const expected = expectedOf(plan.problem, direction, data);
      for (const mode of modes) {
        const { error, allowed, damage } = await tryPlan(device, plan, random, { direction, mode, data, expected });
        const where = `${JSON.stringify(input)} ${direction} ${mode}`;
        if (!(error <= allowed))
          found.push(`${where}: error ${error} is over ${allowed} (${(error / allowed).toFixed(2)} times)`);
        for (const what of damage) found.push(`${where}: ${what}`);
      }
    }
  } finally {
    plan.destroy();
  }
  return found;
}

/** Real and imaginary parts exchanged: of the input of a transform and of its result, that is the other direction. */
function exchanged(values: Float64Array): Float64Array {
  return values.map((_, i) => values[i ^ 1] as number);
}

/** So many of a list in their order, every time others; all where everything is to be tested. */
export function someOf<T>(random: Random, all: readonly T[], count: number): T[] {
  const left = [...all];
  while (!exhaustive && left.length > count) left.splice(random.integer(0, left.length - 1), 1);
  return left;
}

/** In samples of lengths each is planned in one precision, every time another: the other one has as many kernels of its own. */
export function onePrecision(random: Random, device: Device): Pick<ProblemInput, 'precision'> {
  return exhaustive ? {} : { precision: random.pick(precisionsOf(device)) };
}

/** One length in both precisions, or in the one that is asked for, and in both directions, for the price of one reference transform. */
export async function lengthComplaints(
  device: Device,
  size: readonly number[],
  random: Random,
  modes: readonly CallMode[] = ['host'],
  more: Omit<ProblemInput, 'size'> = {},
): Promise<string[]> {
  const found: string[] = [];
  const elements = size.reduce((a, b) => a * b, 1);
  const data = uniform(random, 2 * elements, 'single');
  const expected = referenceTransform({ size }, data);
  const mirrored = { hi: exchanged(expected.hi), lo: exchanged(expected.lo) };
  const computed = precisionsOf(device);
  for (const precision of computed.filter((own) => (more.precision ?? own) === own)) {
    const plan = await device.plan({ ...more, size, precision });
    for (const direction of plan.directions) {
      const forward = direction === 'forward';
      for (const mode of modes) {
        const trial = {
          direction,
          mode,
          data: forward ? data : exchanged(data),
          expected: forward ? expected : mirrored,
        };
        const { error, allowed, damage } = await tryPlan(device, plan, random, trial);
        const where = `${size.join(' × ')} ${precision} ${direction} ${mode}`;
        if (!(error <= allowed))
          found.push(`${where}: error ${error} is over ${allowed} (${(error / allowed).toFixed(2)} times)`);
        for (const what of damage) found.push(`${where}: ${what}`);
      }
    }
    plan.destroy();
  }
  return found;
}
