/** Timing of work on a `GPUDevice`: by its timestamps, or by the host's clock around many dispatches. */
import { leastMilliseconds, repeatUntilLong } from '../clock.ts';
import { USAGE } from './memory.ts';
import { type GpuWork, refusal } from './work.ts';

/** The least milliseconds to time by timestamps: 40 steps of browsers' timestamps, which are 65 to 100 µs (WebGPU, 20.4, timestamp query). */
const LEAST_BY_TIMESTAMPS = 4;

/**
 * Times one repetition in milliseconds.
 * @param repeats the least number of repetitions; there are more if the clock is coarse.
 * @param record appends one repetition to a pass.
 */
export async function milliseconds(
  work: GpuWork,
  repeats: number,
  record: (pass: GPUComputePassEncoder) => void,
): Promise<number> {
  const { gpu } = work;
  // A first run touches pages and raises clocks.
  await submitted(work, 1, record);
  const byClock = async (runs: number) => {
    const start = performance.now();
    await submitted(work, runs, record);
    return performance.now() - start;
  };
  // A time of zero means that timestamps do not move, or not for so little work.
  const stamped = gpu.features.has('timestamp-query') && (await byTimestamps(work, repeats, record)) > 0;
  const timed = stamped
    ? await repeatUntilLong(repeats, LEAST_BY_TIMESTAMPS, (runs) => byTimestamps(work, runs, record))
    : await repeatUntilLong(repeats, leastMilliseconds(), byClock);
  return timed.milliseconds;
}

async function submitted(
  work: GpuWork,
  repeats: number,
  record: (pass: GPUComputePassEncoder) => void,
  timestampWrites?: GPUComputePassTimestampWrites,
  after?: (encoder: GPUCommandEncoder) => void,
): Promise<void> {
  const repeat = (pass: GPUComputePassEncoder) => {
    for (let n = 0; n < repeats; n++) record(pass);
  };
  const judged = work.submit(repeat, timestampWrites, after);
  const done = work.gpu.queue.onSubmittedWorkDone();
  done.catch(() => undefined);
  const error = await judged;
  if (error) throw refusal(error, 'launch-failed', 'The GPU refused a launch');
  await done;
}

async function byTimestamps(
  work: GpuWork,
  repeats: number,
  record: (pass: GPUComputePassEncoder) => void,
): Promise<number> {
  const { gpu } = work;
  const size = 16;
  const querySet = gpu.createQuerySet({ type: 'timestamp', count: 2 });
  const resolved = gpu.createBuffer({ size, usage: USAGE.QUERY_RESOLVE | USAGE.COPY_SRC });
  const readable = gpu.createBuffer({ size, usage: USAGE.MAP_READ | USAGE.COPY_DST });
  try {
    const writes = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
    await submitted(work, repeats, record, writes, (encoder) => {
      encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, readable, 0, size);
    });
    await readable.mapAsync(1);
    const [from, to] = new BigUint64Array(readable.getMappedRange()) as unknown as [bigint, bigint];
    return Number(to - from) / 1e6;
  } finally {
    querySet.destroy();
    resolved.destroy();
    readable.destroy();
  }
}
