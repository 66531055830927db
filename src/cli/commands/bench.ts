/** `omnifft bench`: how fast problems are solved here. */

import { type Command, Option } from 'commander';
import { normalizeProblem } from '../../problem/index.ts';
import { benchmark, type Measurement, type Peer } from '../benchmark.ts';
import { digits, duration, table } from '../format.ts';
import { type DeviceOptions, precisionOf, readProblem, useDevice, withDevice, withJson } from '../options.ts';
import { startProgress } from '../progress.ts';

interface BenchOptions extends DeviceOptions {
  readonly json: boolean;
  readonly peer?: Peer;
}

interface Row extends Measurement {
  readonly problem: string;
  readonly device: string;
}

const PEER_NAMES: Readonly<Record<Peer, string>> = { cufft: 'cuFFT' };

export function addBench(program: Command): void {
  const command = program
    .command('bench')
    .description('time problems: median of repeated runs on memory of the device')
    .argument('<problem...>', 'bbfft descriptors such as scfo1024*16, or problem objects as JSON')
    .addOption(
      new Option('--peer <library>', 'time this library beside, on the same memory').choices(Object.keys(PEER_NAMES)),
    );
  withJson(withDevice(command)).action(bench);
}

async function bench(texts: readonly string[], options: BenchOptions): Promise<void> {
  // All are read before the first is run: a slip in the last should not cost the time of the others.
  const problems = texts.map((text) => ({ text, problem: normalizeProblem(readProblem(text)) }));
  const precision = precisionOf(...problems.map(({ problem }) => problem));
  const progress = startProgress('timing');
  try {
    const rows = await useDevice({ ...options, precision }, async (device) => {
      const results: Row[] = [];
      for (const { text, problem } of problems) {
        progress.update(results.length, problems.length, text);
        const measurement = await benchmark(device, problem, options.peer);
        results.push({ problem: text, device: device.name, ...measurement });
      }
      return results;
    });
    progress.stop();
    if (options.json) return console.log(JSON.stringify(rows, null, 2));
    console.log(`${rows[0]?.device}\n${table(rows.map(columns))}`);
  } finally {
    progress.stop();
  }
}

function columns({ problem, direction, seconds, gflops, gigabytes, copyFraction, peer }: Row): string[] {
  return [
    ...[problem, direction, duration(seconds), `${digits(gflops)} GFLOP/s`, `${digits(gigabytes)} GB/s`],
    copyFraction === undefined ? '' : `${copyFraction.toFixed(2)} of copy`,
    peer ? `${PEER_NAMES[peer.name]} ${duration(peer.seconds)}, ratio ${peer.ratio.toFixed(2)}` : '',
  ];
}
