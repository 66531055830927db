/** Measures the machine of a world: the latencies, bandwidths and speeds that decompositions are priced by, on all ranks together. */
import type { Part, RankExchange } from '../../devices/fabric/fabric.ts';
import type { Device } from '../../engine/index.ts';
import type { Machine } from '../../plan/world/index.ts';
import { normalizeProblem } from '../../problem/index.ts';
import type { WorldHost } from '../ranks/agreement.ts';
import { pricesOf } from './pricing.ts';

const SHORT_BYTES = 8;
const LONG_BYTES = 2 ** 22;
const SHORT_RUNS = 50;
const LONG_RUNS = 4;
/** The size of the transform that the speed of passes is measured with. */
const SIZE = [64, 64, 64];

/** The measured machine. @param guess values that are kept where nothing can be measured, such as links to other nodes */
export async function measureMachine(host: WorldHost, device: Device, guess: Machine): Promise<Machine> {
  const { fabric, perNode } = host;
  const { size } = fabric;
  const inNode = (rank: number) => Math.floor(rank / perNode) * perNode;
  const beside = (rank: number) => {
    const first = inNode(rank);
    return first + ((rank - first + 1) % Math.min(perNode, size - first));
  };
  const inside = perNode > 1 && size > 1 ? await ring(host, beside) : undefined;
  const between =
    size > perNode && size % perNode === 0 ? await ring(host, (rank) => (rank + perNode) % size) : undefined;
  return {
    latency: { inside: inside?.latency ?? guess.latency.inside, between: between?.latency ?? guess.latency.between },
    bandwidth: {
      inside: inside?.bandwidth ?? guess.bandwidth.inside,
      between: between?.bandwidth ?? guess.bandwidth.between,
    },
    memory: await slowest(host, memorySpeed(), Math.min),
    unit: await slowest(host, await secondsPerUnit(device), Math.max),
    profile: device.profile,
  };
}

/** The value that `of` selects among all ranks: the slowest one. */
async function slowest({ fabric }: WorldHost, own: number, of: (...values: number[]) => number): Promise<number> {
  const bytes = new Uint8Array(Float64Array.of(own).buffer);
  const all = await fabric.gather(fabric.ranks.map(() => bytes));
  return of(...all.map((one) => new Float64Array(one.slice().buffer)[0]!));
}

/** Latency and bandwidth with every rank sending to one rank and receiving from one. @param next a permutation of all ranks */
async function ring(host: WorldHost, next: (rank: number) => number): Promise<{ latency: number; bandwidth: number }> {
  const latency = await timedExchange(host, next, SHORT_BYTES, SHORT_RUNS);
  const long = await timedExchange(host, next, LONG_BYTES, LONG_RUNS);
  return { latency, bandwidth: LONG_BYTES / Math.max(long - latency, 1e-9) };
}

async function timedExchange(
  host: WorldHost,
  next: (rank: number) => number,
  bytes: number,
  runs: number,
): Promise<number> {
  const { fabric } = host;
  const before = new Map(Array.from({ length: fabric.size }, (_, rank) => [next(rank), rank]));
  const part = (peer: number): Part => ({ peer, offset: 0, lengths: [bytes / 8], strides: [1], contiguous: true });
  const ranks = fabric.ranks.map(
    (rank): RankExchange => ({
      ...{ rank, sent: new Float64Array(bytes / 8), received: new Float64Array(bytes / 8) },
      ...{ sentParts: [part(next(rank))], receivedParts: [part(before.get(rank)!)] },
    }),
  );
  const once = () => fabric.exchange({ elementBytes: 8, way: 'pairs', ranks });
  await once();
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < runs; n++) {
    const start = performance.now();
    await once();
    best = Math.min(best, (performance.now() - start) / 1e3);
  }
  return slowest(host, best, Math.max);
}

function memorySpeed(): number {
  const [from, to] = [new Float64Array(LONG_BYTES / 8), new Float64Array(LONG_BYTES / 8)];
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < LONG_RUNS; n++) {
    const start = performance.now();
    to.set(from);
    best = Math.min(best, performance.now() - start);
  }
  return (1e3 * LONG_BYTES) / Math.max(best, 1e-3);
}

/** Seconds per unit of the planner's price, measured by a transform of three axes. */
export async function secondsPerUnit(device: Device, size: readonly number[] = SIZE): Promise<number> {
  const problem = normalizeProblem({ size });
  const price = pricesOf(problem, device.profile)([...size, 1], [0, 1, 2]);
  const plan = await device.plan({ size });
  const memory = [device.alloc(plan.input.bytes, 'single'), device.alloc(plan.output.bytes, 'single')] as const;
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < LONG_RUNS; n++) {
    const start = performance.now();
    await plan.forward(memory[0], memory[1]);
    await device.finish();
    best = Math.min(best, (performance.now() - start) / 1e3);
  }
  for (const one of memory) one.free();
  plan.destroy();
  return best / (price * size.reduce((a, b) => a * b));
}
