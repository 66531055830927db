/** `omnifft bench`: how fast problems are solved here. */

import type { Command } from 'commander';
import type { ComplexData, DeviceMemory } from '../../index.ts';
import { elementBytes, normalizeProblem, type Problem, type Side, tensorShape } from '../../problem/index.ts';
import { digits, duration, table } from '../format.ts';
import { type Device, type DeviceOptions, readProblem, useDevice, withDevice, withJson } from '../options.ts';
import { startProgress } from '../progress.ts';

interface BenchOptions extends DeviceOptions {
  readonly json: boolean;
}

interface Measurement {
  readonly problem: string;
  readonly device: string;
  readonly direction: 'forward' | 'inverse';
  /** Median time of one call, and the quickest, in seconds. */
  readonly seconds: number;
  readonly best: number;
  /** How many samples the median is of, and how many calls went into each. */
  readonly samples: number;
  readonly calls: number;
  /** 5 N log₂ N for each transform, whatever the algorithm really does, in 10⁹ a second. */
  readonly gflops: number;
  /** Bytes in plus bytes out, in 10⁹ a second. */
  readonly gigabytes: number;
}

/** Time spent on each problem, at most and at least in number of samples. */
const BUDGET_S = 1;
const WARM_UP_S = 0.2;
const SAMPLES = 51;
const FEWEST_SAMPLES = 5;
/** A sample takes at least this long, so that the clock's own steps do not count. */
const SAMPLE_S = 1e-3;

export function addBench(program: Command): void {
  const command = program
    .command('bench')
    .description('time problems: median of repeated calls on memory of the device')
    .argument('<problem...>', 'bbfft descriptors such as scfo1024*16, or problem objects as JSON');
  withJson(withDevice(command)).action(bench);
}

async function bench(texts: readonly string[], options: BenchOptions): Promise<void> {
  // All are read before the first is run: a slip in the last should not cost the time of the others.
  const problems = texts.map((text) => ({ text, problem: normalizeProblem(readProblem(text)) }));
  const progress = startProgress('timing');
  try {
    const measurements = await useDevice(options, async (device) => {
      const results: Measurement[] = [];
      for (const { text, problem } of problems) {
        progress.update(results.length, problems.length, text);
        results.push({ problem: text, device: device.name, ...(await measure(device, problem)) });
      }
      return results;
    });
    progress.stop();
    if (options.json) return console.log(JSON.stringify(measurements, null, 2));
    const rows = measurements.map(({ problem, direction, seconds, gflops, gigabytes }) => [
      ...[problem, direction, duration(seconds), `${digits(gflops)} GFLOP/s`, `${digits(gigabytes)} GB/s`],
    ]);
    console.log(`${measurements[0]?.device}\n${table(rows)}`);
  } finally {
    progress.stop();
  }
}

async function measure(device: Device, problem: Problem): Promise<Omit<Measurement, 'problem' | 'device'>> {
  const direction = problem.directions === 'inverse' ? 'inverse' : 'forward';
  const plan = await device.plan(problem);
  const memory: DeviceMemory[] = [];
  const allocate = (side: Side): ComplexData => {
    const planar = problem.layout[side] === 'planar';
    const bytes = plan[side].bytes / (planar ? 2 : 1);
    const part = () => {
      const part = device.alloc(bytes, problem.precision === 'single' ? 'single' : 'double');
      // Zeros stay finite however often an in-place problem is run on its own output.
      part.array.fill(0);
      memory.push(part);
      return part;
    };
    return planar ? { re: part(), im: part() } : part();
  };
  try {
    const [read, written]: [Side, Side] = direction === 'forward' ? ['input', 'output'] : ['output', 'input'];
    const from = allocate(read);
    const to = problem.placement === 'in-place' ? from : allocate(written);
    const { times, calls } = await sample(() => plan[direction](from, to));
    const seconds = times[Math.floor(times.length / 2)] ?? Number.NaN;
    const { points, length } = extent(problem);
    return {
      ...{ direction, seconds, best: times[0] ?? Number.NaN, samples: times.length, calls },
      gflops: (5 * points * Math.log2(length)) / seconds / 1e9,
      gigabytes: (points * (elementBytes(problem, 'input') + elementBytes(problem, 'output'))) / seconds / 1e9,
    };
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

/** Times of one call, ascending, in seconds. */
async function sample(call: () => Promise<unknown>): Promise<{ times: number[]; calls: number }> {
  const timed = async (calls: number) => {
    const started = performance.now();
    for (let k = 0; k < calls; k++) await call();
    return (performance.now() - started) / 1000 / calls;
  };
  const start = performance.now();
  let once = await timed(1);
  while ((performance.now() - start) / 1000 < WARM_UP_S) once = await timed(1);
  const calls = Math.max(1, Math.ceil(SAMPLE_S / once));
  const times: number[] = [];
  const begin = performance.now();
  const timeLeft = () => (performance.now() - begin) / 1000 < BUDGET_S;
  while (times.length < FEWEST_SAMPLES || (times.length < SAMPLES && timeLeft())) times.push(await timed(calls));
  return { times: times.sort((a, b) => a - b), calls };
}

/** Points of the whole tensor, and the length of one transform over all its axes. */
function extent(problem: Problem): { points: number; length: number } {
  const product = (lengths: readonly number[]) => lengths.reduce((total, length) => total * length, 1);
  return {
    points: product(tensorShape(problem, 'input')),
    length: product(problem.size.filter((_, axis) => !problem.omit[axis])),
  };
}
