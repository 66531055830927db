/**
 * `npm run calibrate -- [--device KIND] [--threads N] [--problems N] [--most ELEMENTS] [--lengths N] [--seed N] [--no-fit] [--json]`: how
 * good the planner's choices are on a device, and what its passes and launches cost. docs/tuning.md says how to read it.
 */
import { parseArgs } from 'node:util';
import type { DeviceKind } from '../../src/devices/device.ts';
import { deviceModule } from '../../src/devices/registry.ts';
import { Device } from '../../src/engine/device.ts';
import { randomFor } from '../../test/support/random.ts';
import { type Choice, choiceFor, randomProblem } from './choices.ts';
import { fitLaunches } from './launches.ts';
import { fitPasses } from './passes.ts';
import { randomLength, type SchemeChoice, schemeChoiceFor } from './schemes.ts';

const values = parse();
if (values.seed !== undefined) process.env.OMNIFFT_SEED = values.seed;

function parse() {
  try {
    return parseArgs({
      options: {
        device: { type: 'string', default: 'cpu' },
        threads: { type: 'string', default: '1' },
        problems: { type: 'string', default: '20' },
        most: { type: 'string', default: String(2 ** 20) },
        lengths: { type: 'string', default: '0' },
        seed: { type: 'string' },
        'no-fit': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return usage((error as Error).message);
  }
}

function usage(message: string): never {
  console.error(`${message}\n
npm run calibrate -- [--device KIND] [--threads N] [--problems N] [--most ELEMENTS] [--lengths N] [--seed N] [--no-fit] [--json]`);
  process.exit(2);
}

/** The mean of logarithms: a choice twice as slow and one twice as fast are none. */
function geometricMean(ratios: readonly number[]): number {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

function report(choices: readonly Choice[]): string {
  const ratios = choices.map(({ ratio }) => ratio);
  const sorted = choices.toSorted((one, other) => other.ratio - one.ratio);
  const best = ratios.filter((ratio) => ratio <= 1.05).length;
  const lines = [
    `${choices.length} problems: the plan takes ${geometricMean(ratios).toFixed(3)} of the fastest candidate in the mean, ` +
      `${sorted[0]!.ratio.toFixed(2)} at the worst; within 5 % in ${best}.`,
  ];
  for (const { problem, ratio, chosen, fastest } of sorted.slice(0, 5).filter((one) => one.ratio > 1)) {
    lines.push(`  ${ratio.toFixed(2)}  ${JSON.stringify(problem)}: ${chosen} instead of ${fastest}`);
  }
  return lines.join('\n');
}

function schemeReport(choices: readonly SchemeChoice[]): string {
  const ratios = choices.map(({ ratio }) => ratio);
  const sorted = choices.toSorted((one, other) => other.ratio - one.ratio);
  return [
    `${choices.length} lengths with large primes: the plan takes ${geometricMean(ratios).toFixed(3)} of the fastest scheme in the ` +
      `mean, ${sorted[0]!.ratio.toFixed(2)} at the worst; within 10 % in ${ratios.filter((ratio) => ratio <= 1.1).length}.`,
    ...sorted
      .slice(0, 10)
      .map(
        (one) =>
          `  ${one.ratio.toFixed(2)}  ${one.length} ${one.precision}: ${one.fastest}, of ${JSON.stringify(one.times)} µs`,
      ),
  ].join('\n');
}

/** Longer ones tell no more of schemes, and take their time. */
const LONGEST = 10 ** 5;

const module = await deviceModule(values.device as DeviceKind);
if (!module) usage(`There is no device ${values.device}.`);
const backend = await module.create(values.device === 'cpu' ? { threads: Number(values.threads) } : {});
const device = new Device(backend);
const random = randomFor('calibrate');
const precisions = backend.profile.precisions ?? (['single', 'double'] as const);
try {
  if (!values.json) console.log(`${device.name} (${device.kind})`);
  const choices: Choice[] = [];
  while (choices.length < Number(values.problems)) {
    const choice = await choiceFor(randomProblem(Number(values.most), random, precisions), device);
    if (choice) choices.push(choice);
  }
  const schemes: SchemeChoice[] = [];
  while (schemes.length < Number(values.lengths)) {
    const length = randomLength(Math.min(LONGEST, Number(values.most)), random);
    schemes.push(await schemeChoiceFor(length, random.pick(precisions), device));
  }
  const passes = values['no-fit'] ? undefined : await fitPasses(backend, 'single');
  const launches = values['no-fit'] ? undefined : await fitLaunches(backend);
  if (values.json) console.log(JSON.stringify({ device: device.name, choices, schemes, ...passes, ...launches }));
  else {
    if (choices.length > 0) console.log(report(choices));
    if (schemes.length > 0) console.log(schemeReport(schemes));
    if (passes) console.log(`radixCosts: ${JSON.stringify(passes.radixCosts)}`);
    if (passes || launches) console.log(`calibration: ${JSON.stringify({ trip: passes?.trip, ...launches })}`);
  }
} finally {
  device.close();
}
