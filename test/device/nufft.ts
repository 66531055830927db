/**
 * Non-uniform transforms on a device: `./node nufft.mjs [--device KIND] [--points M] [--double]` of the archive. Samples of each result are
 * held against direct sums; then points per second, and the share of the time that the plan of the fine grid takes by itself.
 */
import { parseArgs } from 'node:util';
import { type Device, type DeviceMemory, openDevice } from '../../src/index.ts';
import * as nufft from '../../src/nufft/index.ts';
import { directSums } from '../reference/nonuniform.ts';
import { randomFor, uniform } from '../support/random.ts';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    points: { type: 'string', default: '262144' },
    threads: { type: 'string', default: '1' },
    double: { type: 'boolean', default: false },
    heap: { type: 'boolean', default: false },
  },
});
const M = Number(options.points);
const random = randomFor('non-uniform transforms on a device');

interface Case {
  readonly type: 1 | 2;
  readonly modes: readonly number[];
  readonly eps: number;
  readonly precision: 'single' | 'double';
}

/** As many modes as points, about: those are the cases that FINUFFT is measured by. */
function casesFor(points: number): Case[] {
  const side = (axes: number) => 2 ** Math.round(Math.log2(points) / axes);
  const sizes = [1, 2, 3].map((axes) => Array.from({ length: axes }, () => side(axes)));
  const accuracies = [
    [1e-6, 'single'],
    [1e-6, 'double'],
    [1e-12, 'double'],
  ] as const;
  return accuracies.flatMap(([eps, precision]) =>
    precision === 'double' && !options.double && options.device !== 'cpu' && options.device !== 'cuda'
      ? []
      : sizes.flatMap((modes) => ([1, 2] as const).map((type) => ({ type, modes, eps, precision }))),
  );
}

/** The least time of several calls, in milliseconds, with the device's memory on both sides. */
async function leastTime(device: Device, call: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + 1500;
  for (let round = 0; round < 3 || (round < 20 && performance.now() < end); round++) {
    const start = performance.now();
    await call();
    await device.finish();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

async function errorOf(plan: nufft.NufftPlan, x: readonly Float64Array[]): Promise<number> {
  const { type, nModes, precision } = plan;
  const all = nModes.reduce((product, count) => product * count, 1);
  const count = type === 1 ? M : all;
  const input = precision === 'single' ? Float32Array.from(uniform(random, 2 * count)) : uniform(random, 2 * count);
  const found = (await plan.execute(input)) as Float32Array | Float64Array;
  // A single mode of type 1, or a point of type 2, at a time: sums over all the others take their time.
  let [error, size] = [0, 0];
  for (let n = 0; n < 8; n++) {
    const at = random.integer(0, found.length / 2 - 1);
    const wanted = type === 1 ? modeAt(plan, x, input, at) : valueAt(plan, x, input, at);
    for (let part = 0; part < 2; part++) {
      error += (found[2 * at + part]! - wanted[part]!) ** 2;
      size += wanted[part]! ** 2;
    }
  }
  return Math.sqrt(error / size);
}

function modeAt(plan: nufft.NufftPlan, x: readonly Float64Array[], input: ArrayLike<number>, mode: number) {
  let rest = mode;
  const frequency = plan.nModes.map((count) => {
    const at = rest % count;
    rest = (rest - at) / count;
    return [at - Math.floor(count / 2)];
  });
  return directSums({ type: 3, modes: [], sign: plan.isign, modeOrd: 0, x, s: frequency }, input);
}

function valueAt(plan: nufft.NufftPlan, x: readonly Float64Array[], input: ArrayLike<number>, point: number) {
  const own = x.map((axis) => [axis[point]!]);
  return directSums({ type: 2, modes: plan.nModes, sign: plan.isign, modeOrd: 0, x: own, s: [] }, input);
}

async function transformTime(device: Device, plan: nufft.NufftPlan): Promise<number> {
  const { fineGrid, precision } = plan;
  const whole = await device.plan({ size: [...fineGrid], precision, placement: 'in-place' });
  const memory = device.alloc(whole.input.bytes, precision);
  const time = await leastTime(device, () => whole.forward(memory as never));
  memory.free();
  whole.destroy();
  return time;
}

async function measure(device: Device, { type, modes, eps, precision }: Case): Promise<string> {
  const plan = await nufft.plan(type, modes, { eps, precision, device });
  const spread = options.heap ? 1e-2 : 1;
  const x = modes.map(() => uniform(random, M).map((value) => value * Math.PI * spread));
  await plan.setPoints(x[0]!, x[1], x[2]);
  const start = performance.now();
  await plan.setPoints(x[0]!, x[1], x[2]);
  await device.finish();
  const setting = performance.now() - start;
  const error = await errorOf(plan, x);
  const all = modes.reduce((product, count) => product * count, 1);
  const bytes = precision === 'single' ? 8 : 16;
  const memory = [M, all].map((count): DeviceMemory => device.alloc(count * bytes, precision));
  const [from, to] = type === 1 ? memory : [...memory].reverse();
  const time = await leastTime(device, () => plan.execute(from!, to!));
  const transform = await transformTime(device, plan);
  for (const each of memory) each.free();
  plan.destroy();
  const rate = (ms: number) => (M / ms / 1000).toPrecision(3);
  return [
    `type ${type}  ${modes.join('×').padEnd(12)} ${precision} ${eps}`,
    `error/eps ${(error / eps).toFixed(2)}${error > 20 * eps + (precision === 'single' ? 1e-5 : 1e-9) ? ' WRONG' : ''}`,
    `setPoints ${setting.toFixed(1)} ms`,
    `execute ${time.toFixed(3)} ms`,
    `${rate(time)} M points/s`,
    `transform ${transform.toFixed(3)} ms (${((100 * transform) / time).toFixed(0)} %)`,
  ].join('  ');
}

const device = await openDevice(
  options.device as 'cpu',
  options.device === 'cpu' ? { threads: Number(options.threads) } : {},
);
console.log(`${device.name}, ${M} points${options.heap ? ' in a heap' : ''}`);
for (const each of casesFor(M)) console.log(await measure(device, each));
device.close();
