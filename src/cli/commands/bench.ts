/** `omnifft bench`: how fast problems are solved here. */

import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { FftError } from '../../index.ts';
import { show } from '../../problem/errors.ts';
import { normalizeProblem } from '../../problem/index.ts';
import { benchSuite, suiteList, suitePicture, suiteTable } from '../bench/suite.ts';
import { benchSuites, findSuite } from '../bench/suites.ts';
import { benchmark, type Measurement, type PeerName } from '../benchmark.ts';
import { makeFolder, writeOutput } from '../files.ts';
import { alignedRows, duration, threeDigits } from '../format.ts';
import {
  type DeviceFlags,
  neededPrecision,
  positiveInteger,
  readProblem,
  useDevice,
  withDevice,
  withJson,
} from '../options.ts';
import { startProgress } from '../progress.ts';

interface BenchOptions extends DeviceFlags {
  readonly json: boolean;
  readonly peer?: PeerName;
  readonly suite?: string;
  readonly count?: number;
  readonly megabytes?: number;
  readonly svg?: string;
}

interface BenchRow extends Measurement {
  readonly problem: string;
  readonly device: string;
}

const PEER_NAMES: Readonly<Record<PeerName, string>> = { cufft: 'cuFFT', rocfft: 'rocFFT' };

export function addBench(program: Command): void {
  const command = program
    .command('bench')
    .description('time problems: median of repeated runs on memory of the device')
    .argument(
      '[problem...]',
      'lengths such as 1024 or 256x256, bbfft descriptors such as scfo1024*16, or problem objects as JSON',
    )
    .addOption(
      new Option('--peer <library>', 'time this library beside, on the same memory').choices(Object.keys(PEER_NAMES)),
    )
    .addOption(new Option('--suite <name>', 'time a problem set instead, or list them').conflicts('peer'))
    .option('--count <problems>', 'only so many of the suite, spread over it', positiveInteger)
    .option('--megabytes <size>', 'of memory for a buffer of the suite (default: 1024, on a CPU 64)', positiveInteger)
    .option('--svg <folder>', 'draw the results of the suite there');
  withJson(withDevice(command)).action(bench);
}

async function bench(texts: readonly string[], options: BenchOptions): Promise<void> {
  const { suite, count, megabytes, svg } = options;
  if (suite !== undefined) {
    if (texts.length > 0) throw new FftError('invalid-usage', 'A suite has problems of its own; leave the others out.');
    return benchNamed(suite, options);
  }
  if (texts.length === 0) {
    throw new FftError(
      'invalid-usage',
      'There is nothing to time: name problems, or a --suite (--suite list lists them).',
    );
  }
  if (count !== undefined || megabytes !== undefined || svg !== undefined) {
    throw new FftError('invalid-usage', '--count, --megabytes and --svg go with --suite.');
  }
  // All problems are read before the first is run, so that a typing error in the last one does not cost the time of the others.
  const problems = texts.map((text) => ({ text, problem: normalizeProblem(readProblem(text)) }));
  const precision = neededPrecision(...problems.map(({ problem }) => problem));
  const progress = startProgress('timing');
  try {
    const rows = await useDevice({ ...options, precision }, async (device) => {
      const results: BenchRow[] = [];
      for (const { text, problem } of problems) {
        progress.update(results.length, problems.length, text);
        const measurement = await benchmark(device, problem, options.peer);
        results.push({ problem: text, device: device.name, ...measurement });
      }
      return results;
    });
    progress.stop();
    if (options.json) return console.log(JSON.stringify(rows, null, 2));
    console.log(`${rows[0]?.device}\n${alignedRows(rows.map(benchColumns))}`);
  } finally {
    progress.stop();
  }
}

async function benchNamed(name: string, options: BenchOptions): Promise<void> {
  const { json, svg } = options;
  if (name === 'list') return console.log(json ? JSON.stringify(benchSuites, null, 2) : suiteList());
  const suite = findSuite(name);
  if (!suite) {
    const names = benchSuites.map(({ name, sample }) => `${name} (${sample})`).join(', ');
    throw new FftError('invalid-usage', `There is no suite ${show(name)}; they are ${names}.`);
  }
  if (svg !== undefined) await makeFolder(svg);
  const precision = suite.precision === 'single' || suite.precision === 'half' ? 'single' : 'double';
  const progress = startProgress('timing');
  try {
    const update = progress.update.bind(progress);
    const result = await useDevice({ ...options, precision }, (device) => benchSuite(device, suite, options, update));
    progress.stop();
    console.log(json ? JSON.stringify(result, null, 2) : suiteTable(result));
    if (svg !== undefined) {
      await writeOutput(join(svg, `${suite.name}.svg`), new TextEncoder().encode(suitePicture(result)));
    }
  } finally {
    progress.stop();
  }
}

function benchColumns({ problem, direction, seconds, gflops, gigabytes, copyFraction, peer }: BenchRow): string[] {
  return [
    ...[problem, direction, duration(seconds), `${threeDigits(gflops)} GFLOP/s`, `${threeDigits(gigabytes)} GB/s`],
    copyFraction === undefined ? '' : `${copyFraction.toFixed(2)} of copy`,
    peer ? `${PEER_NAMES[peer.name]} ${duration(peer.seconds)}, ratio ${peer.ratio.toFixed(2)}` : '',
  ];
}
