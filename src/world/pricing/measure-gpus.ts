/** Measures the GPUs of this process: links by simultaneous copies between neighbours, memory by copies within each GPU. */
import type { GpuFabric } from '../../devices/fabric/gpus/fabric.ts';
import { type Device, DeviceMemory } from '../../engine/index.ts';
import type { Machine } from '../../plan/world/index.ts';
import { secondsPerUnit } from './measure.ts';

const SHORT = { bytes: 4096, runs: 100 };
const LONG = { bytes: 2 ** 26, runs: 8 };
const ROUNDS = 3;
/** The size of the transform that the speed of passes is measured with. */
const SIZE = [128, 128, 128];

/** @throws FftError (as a rejection) `out-of-memory`, and what the driver reports */
export async function measureGpus(gpus: GpuFabric, devices: readonly Device[], guess: Machine): Promise<Machine> {
  const { size } = gpus;
  const memories = devices.map((device) => [device.alloc(LONG.bytes), device.alloc(LONG.bytes)] as const);
  const at = (rank: number, which: 0 | 1) => {
    const memory = memories[rank]![which];
    return gpus.addressOf(rank, DeviceMemory.bufferOf(memory)!, 'memory');
  };
  /** Seconds of a simultaneous copy from every rank to the rank `further` places behind it. */
  const timed = async (further: number, { bytes, runs }: typeof SHORT) => {
    const messages = gpus.ranks.map((from) => {
      const to = (from + further) % size;
      return { from, to, source: at(from, 0), target: at(to, 1), bytes };
    });
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round <= ROUNDS; round++) {
      const start = performance.now();
      for (let run = 0; run < runs; run++) {
        gpus.send(messages);
        gpus.receive();
      }
      await gpus.finish();
      // The first round sets up the connections and is not counted.
      if (round > 0) best = Math.min(best, (performance.now() - start) / 1e3 / runs);
    }
    return best;
  };
  try {
    const latency = size > 1 ? await timed(1, SHORT) : guess.latency.inside;
    const between = size > 1 ? LONG.bytes / ((await timed(1, LONG)) - latency) : guess.bandwidth.inside;
    const memory = LONG.bytes / (await timed(0, LONG));
    return {
      latency: { ...guess.latency, inside: latency },
      bandwidth: { ...guess.bandwidth, inside: between },
      memory,
      unit: await secondsPerUnit(devices[0]!, SIZE),
      profile: guess.profile,
    };
  } finally {
    for (const memory of memories.flat()) memory.free();
  }
}
