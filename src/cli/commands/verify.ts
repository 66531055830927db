/** `omnifft verify`: how exact transforms are here. */

import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Device, FftError, openDevice } from '../../index.ts';
import { makeFolder, writeOutput } from '../files.ts';
import { table } from '../format.ts';
import { type DeviceOptions, positiveInteger, useDevice, withDevice, withJson } from '../options.ts';
import { type Line, lengthChart } from '../picture/chart.ts';
import { startProgress } from '../progress.ts';
import { type Measured, measureErrors } from '../verify/errors.ts';
import { precisionSets, type SuitePrecision, suitePrecisions } from '../verify/suite.ts';

interface VerifyOptions extends Omit<DeviceOptions, 'precision'> {
  readonly json: boolean;
  readonly most: number;
  readonly rounds: number;
  readonly precision?: SuitePrecision;
  readonly svg?: string;
}

interface Row extends Measured {
  readonly set: string;
  readonly precision: SuitePrecision;
  readonly length: number;
}

/** Double-doubles are held against sums, whose terms take their time. */
const LONGEST_SUM = 1024;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('measure how far transforms of random numbers are off, against a reference of more digits')
    .addOption(new Option('--suite <name>', 'what is tried').choices(['precision']).default('precision'))
    .addOption(new Option('--precision <name>', 'only this one (default: all)').choices([...suitePrecisions]))
    .option('--most <points>', 'length of the longest transform', positiveInteger, 4096)
    .option('--rounds <count>', 'sets of random numbers for each length', positiveInteger, 3)
    .option('--svg <folder>', 'draw the errors there, a picture for each precision');
  withJson(withDevice(command)).action(verify);
}

async function verify({ precision, ...options }: VerifyOptions): Promise<void> {
  const progress = startProgress('verifying');
  try {
    const { rows, name } = await useDevice(options, async (device) => {
      const wanted = precision ? [precision] : suitePrecisions.filter((one) => has(device, one));
      return { rows: await rowsOf(device, wanted, options, progress.update.bind(progress)), name: device.name };
    });
    progress.stop();
    if (options.svg !== undefined) await draw(rows, name, options.svg);
    console.log(options.json ? JSON.stringify(rows, null, 2) : `${name}\n${table([HEAD, ...rows.map(columns)])}`);
    const over = rows.filter(({ maximum, bound }) => !(maximum <= bound));
    if (over.length > 0) {
      throw new FftError('internal-error', `${over.length} of ${rows.length} errors are over what is allowed.`);
    }
  } finally {
    progress.stop();
  }
}

/** Doubles are pairs where there are none; double-doubles need doubles. */
function has({ profile }: Device, precision: SuitePrecision): boolean {
  return precision !== 'double-double' || (profile.precisions?.includes('double') ?? true);
}

async function rowsOf(
  device: Device,
  precisions: readonly SuitePrecision[],
  { most, rounds }: VerifyOptions | Omit<VerifyOptions, 'precision'>,
  update: (done: number, all: number, what: string) => void,
): Promise<Row[]> {
  const tried = precisions.flatMap((precision) =>
    precisionSets(precision === 'double-double' ? Math.min(most, LONGEST_SUM) : most).flatMap((set) =>
      set.lengths.map((length) => ({ set: set.name, transform: set.transform, length, precision })),
    ),
  );
  const cpu = await openDevice('cpu', { threads: 1 });
  try {
    const rows: Row[] = [];
    for (const [n, one] of tried.entries()) {
      const { set, transform, length, precision } = one;
      update(n, tried.length, `${set}, ${precision}, ${length}`);
      // A sum over two ends needs two of them.
      if (transform === 'dct1' && length < 2) continue;
      const measured = await measureErrors(device, cpu, one, rounds);
      rows.push(...measured.map((errors): Row => ({ set, precision, length, ...errors })));
    }
    return rows;
  } finally {
    cpu.close();
  }
}

const HEAD = ['transform', 'precision', 'length', 'direction', 'average', 'maximum', 'of what is allowed'];

function columns({ set, precision, length, direction, average, maximum, bound }: Row): string[] {
  const errors = [average, maximum].map((error) => error.toExponential(2));
  return [set, precision, String(length), direction, ...errors, (maximum / bound).toFixed(2)];
}

/** Average errors of forward transforms. */
async function draw(rows: readonly Row[], device: string, folder: string): Promise<void> {
  await makeFolder(folder);
  for (const precision of new Set(rows.map((row) => row.precision))) {
    const own = rows.filter((row) => row.precision === precision && row.direction === 'forward');
    const lines = [...new Set(own.map(({ set }) => set))].map((set): Line => {
      const points = own.filter((row) => row.set === set && row.average > 0);
      return { name: set, points: points.map(({ length, average }) => [length, average]) };
    });
    const first = own.filter(({ set }) => set === own[0]!.set);
    const bound: Line = { name: 'allowed', points: first.map((row) => [row.length, row.bound]), bound: true };
    const shown = [...lines.filter(({ points }) => points.length > 0), bound];
    const title = `Relative errors, ${precision}`;
    const svg = lengthChart({ title, about: `forward, L2 norm, random numbers; ${device}` }, shown);
    await writeOutput(join(folder, `precision-${precision}.svg`), new TextEncoder().encode(svg));
  }
}
