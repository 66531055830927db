/** `omnifft verify`: measures the errors of transforms. */

import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Device, FftError, openDevice } from '../../index.ts';
import { type TransformKind, transformKinds } from '../../problem/problem.ts';
import { makeFolder, writeOutput } from '../files.ts';
import { alignedRows } from '../format.ts';
import { type DeviceFlags, positiveInteger, useDevice, withDevice, withJson } from '../options.ts';
import { type ChartLine, chart } from '../picture/chart.ts';
import { startProgress } from '../progress.ts';
import { type Measured, measureErrors, type Trial } from '../verify/errors.ts';
import { openPeers, type Peers } from '../verify/peers/index.ts';
import {
  type PrecisionSample,
  pointsOfSize,
  precisionSamples,
  type SuitePrecision,
  sampleSets,
  suitePrecisions,
  wantedSets,
} from '../verify/suite.ts';

interface VerifyOptions extends Omit<DeviceFlags, 'precision'> {
  readonly json: boolean;
  readonly most: number;
  readonly transforms?: readonly TransformKind[];
  readonly suite: string;
  readonly lengths?: readonly (readonly number[])[];
  readonly batches: number;
  readonly rounds: number;
  readonly peers: boolean;
  readonly precision?: SuitePrecision;
  readonly svg?: string;
}

interface VerifyRow extends Measured {
  readonly set: string;
  readonly precision: SuitePrecision;
  /** Lengths of the axes, fastest first, and their product. */
  readonly size: readonly number[];
  readonly length: number;
  readonly batches: number;
}

/** The most points of a double-double transform: its results are compared with direct sums, which take long. */
const LONGEST_SUM = 1024;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('measure how far transforms of random numbers are off, against a reference of more digits')
    .addOption(
      new Option('--suite <name>', "what is tried: lengths of all kinds, or one of VkFFT's samples")
        .choices(['precision', ...precisionSamples.map(({ sample }) => String(sample))])
        .default('precision'),
    )
    .addOption(new Option('--precision <name>', 'only this one (default: all)').choices([...suitePrecisions]))
    .addOption(new Option('--transforms <kinds...>', 'only these (default: all)').choices([...transformKinds]))
    .option('--most <points>', 'points of the longest transform', positiveInteger, 4096)
    .addOption(
      new Option('--lengths <points...>', "these instead of the suite's: 12, or 64x48 over two axes")
        .argParser(sizes)
        .conflicts('most'),
    )
    .option('--batches <count>', 'transforms of each length, one after another', positiveInteger, 1)
    .option('--rounds <count>', 'sets of random numbers for each length', positiveInteger, 3)
    .option('--no-peers', 'leave out FFTW, SciPy, cuFFT and rocFFT, whose errors stand beside where they are installed')
    .option('--svg <folder>', 'draw the errors there, a picture for each precision');
  withJson(withDevice(command)).action(runVerify);
}

/** Reads sizes such as `12` or `64x48`, and appends them to earlier ones. */
function sizes(text: string, before: readonly (readonly number[])[] | undefined): (readonly number[])[] {
  return [...(before ?? []), text.split(/[x×]/).map(positiveInteger)];
}

/** VkFFT's sample with the given number. @throws FftError `invalid-usage` where other options contradict it */
function sampleOf({ suite, precision, transforms, lengths }: VerifyOptions): PrecisionSample | undefined {
  const sample = precisionSamples.find((one) => String(one.sample) === suite);
  if (sample && (precision || transforms || lengths)) {
    const message = `Sample ${suite} says itself which transforms, lengths and precision are tried; leave these options out.`;
    throw new FftError('invalid-usage', message);
  }
  return sample;
}

async function runVerify(options: VerifyOptions): Promise<void> {
  const sample = sampleOf(options);
  const { precision: named, ...deviceFlags } = options;
  const precision = sample?.precision ?? named;
  const progress = startProgress('verifying');
  try {
    const { rows, name, missing } = await useDevice(deviceFlags, async (device) => {
      const wanted = precision ? [precision] : suitePrecisions.filter((one) => hasPrecision(device, one));
      const peers = await openPeers(device, options.peers ? wanted : []);
      try {
        const rows = await verifiedRows(
          device,
          trialsOf(wanted, options, sample),
          options,
          peers,
          progress.update.bind(progress),
        );
        return { rows, name: device.name, missing: options.peers ? peers.missing : [] };
      } finally {
        peers.close();
      }
    });
    progress.stop();
    if (options.svg !== undefined) await draw(rows, name, options.svg);
    console.log(options.json ? JSON.stringify(rows, null, 2) : report(rows, name, missing));
    const over = rows.filter(({ maximum, bound }) => !(maximum <= bound));
    if (over.length > 0) {
      throw new FftError('internal-error', `${over.length} of ${rows.length} errors are over what is allowed.`);
    }
  } finally {
    progress.stop();
  }
}

/** Whether a device computes in a precision. Every device computes in doubles, some by pairs of singles; double-doubles need native doubles. */
function hasPrecision({ profile }: Device, precision: SuitePrecision): boolean {
  return precision !== 'double-double' || (profile.precisions?.includes('double') ?? true);
}

/** The trials in order. */
function trialsOf(
  precisions: readonly SuitePrecision[],
  { most, batches, ...wanted }: VerifyOptions,
  sample: PrecisionSample | undefined,
): (Trial & { readonly set: string })[] {
  return precisions.flatMap((precision) => {
    const points = precision === 'double-double' ? Math.min(most, LONGEST_SUM) : most;
    const sets = sample ? sampleSets(sample, points) : wantedSets(points, wanted);
    return sets.flatMap(({ name: set, transform, sizes }) =>
      // The DCT-I needs at least two points.
      sizes
        .filter((size) => transform !== 'dct1' || Math.min(...size) > 1)
        .map((size) => ({ set, transform, size, batches, precision })),
    );
  });
}

async function verifiedRows(
  device: Device,
  tried: readonly (Trial & { readonly set: string })[],
  { rounds }: VerifyOptions,
  peers: Peers,
  update: (done: number, all: number, what: string) => void,
): Promise<VerifyRow[]> {
  const cpu = await openDevice('cpu', { threads: 1 });
  try {
    const rows: VerifyRow[] = [];
    for (const [n, one] of tried.entries()) {
      const { set, size, precision, batches } = one;
      update(n, tried.length, `${set}, ${precision}, ${size.join('x')}`);
      const measured = await measureErrors(device, cpu, one, rounds, peers);
      const length = pointsOfSize(size);
      rows.push(...measured.map((errors): VerifyRow => ({ set, precision, size, length, batches, ...errors })));
    }
    return rows;
  } finally {
    cpu.close();
  }
}

const HEAD = ['transform', 'precision', 'length', 'direction', 'average', 'maximum', 'of what is allowed'];

/** A table, followed by the comparison with other libraries and by the libraries that are missing. */
function report(rows: readonly VerifyRow[], device: string, missing: readonly string[]): string {
  const names = [...new Set(rows.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  const cells = rows.map((row) => [...verifyColumns(row), ...names.map((name) => peerText(row, name))]);
  return [
    ...[device, alignedRows([[...HEAD, ...names.map((name) => `${name} (ours over it)`)], ...cells])],
    ...names.map((name) => comparison(rows, name)),
    ...missing,
  ].join('\n');
}

function verifyColumns({ set, precision, size, direction, average, maximum, bound }: VerifyRow): string[] {
  const errors = [average, maximum].map((error) => error.toExponential(2));
  return [set, precision, size.join('x'), direction, ...errors, (maximum / bound).toFixed(2)];
}

function peerText({ peers }: VerifyRow, name: string): string {
  const peer = peers.find((one) => one.name === name);
  return peer ? `${peer.average.toExponential(2)}${peer.ratio === undefined ? '' : ` (${timesText(peer.ratio)})`}` : '';
}

/** The errors of another library beside the own ones: their geometric mean and the worst one. */
function comparison(rows: readonly VerifyRow[], name: string): string {
  const ratios = rows.flatMap((row) => {
    const ratio = row.peers.find((peer) => peer.name === name)?.ratio;
    return ratio === undefined || ratio === 0 ? [] : [{ row, ratio }];
  });
  if (ratios.length === 0) return `over ${name}: nothing to compare`;
  const mean = Math.exp(ratios.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / ratios.length);
  const { row, ratio } = ratios.reduce((worst, one) => (one.ratio > worst.ratio ? one : worst));
  const where = `${row.set}, ${row.precision}, ${row.size.join('x')}, ${row.direction}`;
  return `over ${name}: ${timesText(mean)} in the geometric mean, at most ${timesText(ratio)} (${where})`;
}

function timesText(ratio: number): string {
  return ratio < 0.01 ? ratio.toExponential(1) : ratio.toFixed(2);
}

/** Draws the average errors of forward transforms. */
async function draw(rows: readonly VerifyRow[], device: string, folder: string): Promise<void> {
  await makeFolder(folder);
  for (const precision of new Set(rows.map((row) => row.precision))) {
    const own = rows.filter((row) => row.precision === precision && row.direction === 'forward');
    const lines = [...new Set(own.map(({ set }) => set))].map((set): ChartLine => {
      const points = own.filter((row) => row.set === set && row.average > 0);
      return { name: set, points: points.map(({ length, average }) => [length, average]) };
    });
    const first = own.filter(({ set }) => set === own[0]!.set);
    const beside = peerLines(own);
    const bound: ChartLine = { name: 'allowed', points: first.map((row) => [row.length, row.bound]), bound: true };
    const shown = [...[...lines, ...beside].filter(({ points }) => points.length > 0), bound];
    const svg = chart({
      title: `Relative errors, ${precision}`,
      about: `forward, L2 norm, random numbers; ${device}`,
      ...{ across: 'Length', lines: shown },
    });
    await writeOutput(join(folder, `precision-${precision}.svg`), new TextEncoder().encode(svg));
  }
}

/** Lines of other libraries' errors in the first set, powers of two. */
function peerLines(rows: readonly VerifyRow[]): ChartLine[] {
  const first = rows.filter(({ set }) => set === rows[0]!.set);
  const names = [...new Set(first.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  return names.map((name) => ({
    name: `${name}, ${rows[0]!.set}`,
    points: first.flatMap(({ length, peers }) =>
      peers.filter((peer) => peer.name === name && peer.average > 0).map(({ average }) => [length, average] as const),
    ),
    beside: true,
  }));
}
