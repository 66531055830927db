/**
 * `plan.measure`: times a direction on the device, by the device's own clock if it has one.
 */

import { leastMilliseconds, repeatUntilLong } from '../../devices/clock.ts';
import type { Backend, BoundProgram, DeviceBuffer, PeerName } from '../../devices/device.ts';
import { operandName } from '../../plan/launch/leaf-sides.ts';
import { show } from '../../problem/errors.ts';
import { FftError } from '../../problem/index.ts';
import { type ComplexData, type Data, numbersPerElement, type SideFacts } from '../arguments/arguments.ts';
import { DeviceMemory } from '../arguments/memory.ts';
import type { Arrays } from '../arguments/operands.ts';
import { readOptions } from '../arguments/options.ts';
import { bindMemory, MEMORY_OPTIONS, type MemoryOptions, offsetsOf } from '../calls/enqueue.ts';
import type { RunnerHost } from '../calls/runner.ts';
import { bindPeer } from './peer.ts';

const OPTIONS = { works: [...MEMORY_OPTIONS, 'repeats', 'peer'] };

/** The most runs of one measurement. */
export const MOST_REPEATS = 100_000;

/** The time of one transform in milliseconds. */
export async function measure(host: RunnerHost, options: MeasureOptions): Promise<number> {
  host.check();
  const requested = readOptions(options, OPTIONS, 'measure');
  const { repeats = 10, peer } = requested;
  if (!(Number.isSafeInteger(repeats) && repeats >= 1 && repeats <= MOST_REPEATS)) {
    const accepted = `it is a whole number from 1 to ${MOST_REPEATS}`;
    throw new FftError('invalid-argument', `measure.repeats is ${show(repeats)}; ${accepted}.`);
  }
  const offsets = offsetsOf(requested, host, 'measure');
  const own: DeviceBuffer[] = [];
  const make = (facts: SideFacts, offset = 0) => allocateFor(facts, offset, host.backend, own);
  try {
    const input =
      requested.input ?? (host.inPlace ? requested.output : undefined) ?? (await make(host.read, offsets.input));
    const output = requested.output ?? (host.inPlace ? input : await make(host.written, offsets.output));
    const arrays = requested.arrays ?? (await allocatedArrays(host, make));
    // In the meantime the plan may have been destroyed, or the device closed.
    host.resume();
    const memory = { ...requested, input, output, arrays };
    const checked = bindMemory(host, memory, 'measure');
    const bound = peer === undefined ? checked : await bindPeer(host, memory, peer).finally(() => checked.release());
    try {
      return await (bound.time ? bound.time(repeats) : wallClock(bound as BoundProgram, repeats));
    } finally {
      bound.release();
    }
  } finally {
    for (const buffer of own) buffer.free();
  }
}

async function allocatedArrays(
  { operands }: RunnerHost,
  make: (facts: SideFacts) => Promise<ComplexData>,
): Promise<Arrays> {
  const arrays: Record<string, Data> = {};
  // The kernel of a convolution, or the factor of its adjoint, comes from the caller.
  for (const { name, bound, facts } of operands) {
    if (bound === operandName(name)) arrays[name] = (await make(facts)) as Data;
  }
  return arrays;
}

/** Memory for one side, filled with zeros. @param buffers receives each buffer as it is allocated, so that the caller can free it after a failure. */
export async function allocateFor(
  facts: SideFacts,
  offset: number,
  backend: Backend,
  buffers: DeviceBuffer[],
): Promise<ComplexData> {
  const planar = facts.layout === 'planar';
  const part = async () => {
    const bytes = (numbersPerElement(facts) * offset + facts.length) * facts.bytes;
    const buffer = backend.allocate(bytes);
    buffers.push(buffer);
    await clear(backend, buffer, bytes);
    return new DeviceMemory(buffer, facts.type);
  };
  return planar ? { re: await part(), im: await part() } : part();
}

/** Bytes that are uploaded at a time, so that clearing large memory takes little memory on the host. */
const PIECE_BYTES = 2 ** 22;

/** Fills memory with zeros, because old contents may be subnormal numbers, which are slow on some processors. */
async function clear(backend: Backend, buffer: DeviceBuffer, bytes: number): Promise<void> {
  if (buffer.view) {
    // All bits zero is the number 0 in any type.
    buffer.view('f16').fill(0);
    return;
  }
  const zeros = new Float32Array(Math.min(bytes, PIECE_BYTES) / 4);
  for (let byteOffset = 0; byteOffset < bytes; byteOffset += zeros.byteLength) {
    await backend.upload({ buffer, byteOffset }, zeros.subarray(0, Math.min(zeros.length, (bytes - byteOffset) / 4)));
  }
}

/** Runs before the clock starts: they touch pages, wake worker threads and fill caches. */
const WARM_UP_RUNS = 2;
const WARM_UP_MS = 10;
/** The number of batches that are timed separately, so that a pause of the machine affects only one batch. */
const BATCHES = 5;
/** The most runs submitted before the host waits for one, since queued runs take memory. */
const MOST_SUBMITTED = 20_000;

/** @internal Milliseconds of one run by the host's clock. @param repeats the least number of runs; there are more if the clock is coarse. */
export async function wallClock(bound: Pick<BoundProgram, 'run'>, repeats: number): Promise<number> {
  const begin = performance.now();
  for (let run = 0; run < WARM_UP_RUNS || performance.now() - begin < WARM_UP_MS; run++) await bound.run();
  const least = leastMilliseconds();
  const elapsed = async (runs: number) => {
    const start = performance.now();
    for (let n = 1; n < runs; n++) {
      const run = bound.run();
      if (n % MOST_SUBMITTED === 0) await run;
      else void run.catch(() => undefined);
    }
    // Waiting for the last run is enough: runs end in order, and after a failed run the last one fails as well.
    await bound.run();
    return performance.now() - start;
  };
  const each = Math.ceil(repeats / BATCHES);
  const times: number[] = [];
  for (let runs = each; times.length < Math.ceil(repeats / each); ) {
    const batch = await repeatUntilLong(runs, least, elapsed);
    runs = batch.repeats;
    times.push(batch.milliseconds);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

/** Memory as for `enqueue`; sides that are left out are allocated for the measurement and filled with zeros. */
export interface MeasureOptions<Input = ComplexData, Output = ComplexData> extends MemoryOptions<Input, Output> {
  /**
   * The least number of transforms to run one after another, at most 100 000; default 10. There are more if the clock is too
   * coarse to time that few.
   */
  readonly repeats?: number;
  /** Another library to time instead, on the same memory and by the same clock: cuFFT on `cuda`, rocFFT on `hip`, where they are installed. */
  readonly peer?: PeerName;
}
