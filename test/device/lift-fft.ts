/**
 * Fourier transforms as programs of patterns, in the variants of the paper's figures, beside this library's plan and cuFFT:
 * `./node lift-fft.mjs [--device cuda] [--figure 7,8,best] [--sizes 6,8,…] [--single] [--batches B]` of the archive. Every variant is held against
 * the plan before it is timed, by the device's own clock; sizes are powers of two.
 */
import { parseArgs } from 'node:util';
import type { BoundProgram } from '../../src/devices/device.ts';
import { DeviceMemory } from '../../src/engine/arguments/memory.ts';
import { wallClock } from '../../src/engine/measuring/measure.ts';
import { type Device, FftError, openDevice, type Plan } from '../../src/index.ts';
import { complex, map, type Program, program } from '../../src/lift/index.ts';
import * as ffts from '../support/lift-ffts.ts';
import { randomFor, uniform } from '../support/random.ts';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    figure: { type: 'string', default: '7,8,best' },
    sizes: { type: 'string', default: '6,8,10,12,13,14,16,18,20' },
    batches: { type: 'string', default: '1' },
    single: { type: 'boolean', default: false },
    filter: { type: 'string' },
    source: { type: 'boolean', default: false },
  },
});
const precision = options.single ? 'single' : 'double';
const batches = Number(options.batches);
const random = randomFor('transforms as programs');

interface Variant {
  readonly name: string;
  /** Of log2 of the points. */
  make(k: number): ffts.OfVector | undefined;
}

/** Powers of two whose product is 2^k: as many of 2^r as there are, and what is left in front. */
function radices(k: number, r: number): number[] {
  const rest = k % r;
  return [...(rest > 0 ? [2 ** rest] : []), ...Array<number>(Math.floor(k / r)).fill(2 ** r)];
}

/** As few radices as possible up to 2^r, as even as possible. */
function even(k: number, r: number): number[] {
  const count = Math.ceil(k / r);
  return Array.from({ length: count }, (_, n) => 2 ** Math.floor((k + n) / count));
}

const halves = (k: number) => [Math.floor(k / 2), Math.ceil(k / 2)] as const;

function flat(r: number, twiddles: ffts.Twiddles, between: ffts.OfVector | undefined, form = ffts.stockham): Variant {
  const where = between ? 'coalesced' : 'naive';
  const own = form === ffts.stockham ? `Stockham ${where}` : 'Cooley–Tukey';
  return { name: `${own}, radix ${2 ** r}, ${twiddles}`, make: (k) => form(radices(k, r), twiddles, between) };
}

function hierarchy(r: number, more: Omit<ffts.Hierarchy, 'columns' | 'rows'>): Variant {
  const { twiddles = 'table', tile = 1, isStored = false } = more;
  return {
    name: `hierarchical, ${isStored ? 'five' : 'two'} kernels, radix ${2 ** r}, ${twiddles}, ${tile} rows`,
    make(k) {
      const [low, high] = halves(k);
      if (low < 4 || 2 ** low < tile) return undefined;
      return ffts.hierarchical({ columns: even(low, r), rows: even(high, r), ...more });
    },
  };
}

function oneGroup(r: number, twiddles: ffts.Twiddles): Variant {
  return {
    name: `one work-group, radix ${2 ** r}, ${twiddles}`,
    make: (k) => (k > 13 ? undefined : ffts.inOneGroup(even(k, r), twiddles)),
  };
}

const { global } = ffts;
const figures: Readonly<Record<string, readonly Variant[]>> = {
  7: [
    ...[1, 2, 3, 4, 5].map((r) => flat(r, 'table', global)),
    ...[1, 2, 3, 4].map((r) => flat(r, 'table', global, ffts.cooleyTukey)),
    ...[1, 2, 3, 4, 5].map((r) => hierarchy(r, { isStored: true })),
    ...[1, 2, 3, 4, 5].map((r) => hierarchy(r, { tile: 4 })),
  ],
  8: [
    flat(2, 'dense', undefined),
    flat(2, 'dense', global),
    flat(2, 'powers', global),
    flat(2, 'table', global),
    flat(3, 'dense', undefined),
    flat(3, 'dense', global),
    flat(3, 'powers', global),
    flat(3, 'table', global),
    flat(3, 'dense', global, ffts.cooleyTukey),
    flat(3, 'table', global, ffts.cooleyTukey),
  ],
  best: [
    ...[3, 4, 5].flatMap((r) => [oneGroup(r, 'table'), oneGroup(r, 'powers')]),
    ...[4, 5].map((r) => flat(r, 'table', global)),
    ...[3, 4, 5].flatMap((r) => [2, 4, 8].map((tile) => hierarchy(r, { tile }))),
    hierarchy(4, { tile: 4, twiddles: 'powers' }),
  ],
};

/** Milliseconds of one run. */
async function timeOf(bound: BoundProgram): Promise<number> {
  const time = (repeats: number) => bound.time?.(repeats) ?? wallClock(bound, repeats);
  const once = await time(3);
  const repeats = Math.max(3, Math.min(1000, Math.ceil(4 / once)));
  const times: number[] = [];
  for (let n = 0; n < 7; n++) times.push(await time(repeats));
  return times.sort((a, b) => a - b)[3]!;
}

async function median(run: (repeats: number) => Promise<number>): Promise<number> {
  const repeats = Math.max(3, Math.min(1000, Math.ceil(4 / (await run(3)))));
  const times: number[] = [];
  for (let n = 0; n < 7; n++) times.push(await run(repeats));
  return times.sort((a, b) => a - b)[3]!;
}

interface Bench {
  readonly device: Device;
  readonly k: number;
  readonly input: DeviceMemory;
  readonly output: DeviceMemory;
  readonly numbers: Float32Array | Float64Array;
  readonly expected: Float32Array | Float64Array;
}

interface Row {
  readonly name: string;
  readonly ms: number;
  /** 0 where they are not known. */
  readonly launches: number;
}

function programOf(k: number, f: ffts.OfVector): Program {
  if (batches === 1) return ffts.fftProgram(2 ** k, f) as never;
  return program({ v: complex(batches, 2 ** k) }, ({ v }) => map(f as never, v) as never) as never;
}

async function measured(
  { device, k, input, output, numbers, expected }: Bench,
  name: string,
  f: ffts.OfVector,
): Promise<Row> {
  const compiled = await device.compile(programOf(k, f), { precision });
  try {
    const found = (await compiled.run({ v: numbers } as never)) as Float64Array;
    let [error, size] = [0, 0];
    expected.forEach((each, n) => {
      error += (found[n]! - each) ** 2;
      size += each ** 2;
    });
    const worst = Math.sqrt(error / size);
    if (!(worst < (precision === 'double' ? 1e-14 : 1e-5))) throw new Error(`wrong: error ${worst}`);
    await compiled.run({ v: input } as never, output as never);
    const { bound } = compiled as unknown as { bound: { programs: readonly BoundProgram[] } };
    if (options.source) for (const { source } of compiled.kernels) console.log(source);
    return { name, ms: await timeOf(bound.programs[0]!), launches: launchesOf(compiled) };
  } finally {
    compiled.destroy();
  }
}

function launchesOf(compiled: unknown): number {
  type Code = { readonly segments: readonly { readonly steps: readonly unknown[] }[] };
  const { parts } = compiled as { readonly parts: { readonly code: Code } };
  return parts.code.segments.reduce((sum, { steps }) => sum + steps.length, 0);
}

/** The library's own plan and cuFFT, where it is there. */
async function peers({ device, input, output }: Bench, plan: Plan): Promise<Row[]> {
  const sides = { input, output } as never as object;
  const rows = [
    {
      name: "this library's plan",
      ms: await median((repeats) => plan.measure('forward', { ...sides, repeats } as never)),
      launches: plan.kernels.filter(({ direction }) => direction === 'forward').length,
    },
  ];
  if (device.kind !== 'cuda') return rows;
  const ms = await median((repeats) => plan.measure('forward', { ...sides, repeats, peer: 'cufft' } as never));
  return [...rows, { name: 'cuFFT', ms, launches: 0 }];
}

async function size(device: Device, k: number, figure: string): Promise<void> {
  const reals = 2 ** (k + 1) * batches;
  const [input, output] = [0, 1].map(() => device.alloc(reals * (precision === 'double' ? 8 : 4), precision));
  const numbers = precision === 'double' ? uniform(random, reals) : Float32Array.from(uniform(random, reals));
  const { backend } = device.programHost();
  await backend.upload({ buffer: DeviceMemory.bufferOf(input)!, byteOffset: 0 }, new Float32Array(numbers.buffer));
  const plan = (await device.plan({ size: [2 ** k], batches, precision, directions: 'forward' })) as unknown as Plan;
  const expected = (await plan.forward(numbers as never)) as Float64Array;
  const bench = { device, k, input: input!, output: output!, numbers, expected };
  const [own, cufft] = (await peers(bench, plan)) as [Row, Row?];
  const line = ({ name, ms, launches }: Row) =>
    [
      `2^${k}`.padEnd(5),
      name.padEnd(58),
      `${(1000 * ms).toFixed(2)} µs`.padStart(12),
      `${launches || '–'} launches`.padStart(11),
      `plan/it ${(own.ms / ms).toFixed(2)}`,
      ...(cufft ? [`cuFFT/it ${(cufft.ms / ms).toFixed(2)}`] : []),
    ].join('  ');
  console.log(line(own));
  if (cufft) console.log(line(cufft));
  let best: Row | undefined;
  for (const { name, make } of figures[figure]!) {
    if (options.filter && !name.includes(options.filter)) continue;
    const f = make(k);
    if (!f) continue;
    try {
      const row = await measured(bench, name, f);
      console.log(line(row));
      if (!best || row.ms < best.ms) best = row;
    } catch (error) {
      console.log(`2^${k}`.padEnd(5), name, error instanceof FftError ? error.code : '', (error as Error).message);
    }
  }
  if (best) console.log('BEST ', line(best));
  plan.destroy();
  input!.free();
  output!.free();
}

const device = await openDevice(options.device as 'cpu');
console.log(`${device.name}, ${precision}, ${batches} transforms`);
for (const figure of options.figure.split(',')) {
  console.log(`\nfigure ${figure}`);
  const sizes = options.sizes.split(',').map(Number);
  for (const k of figure === 'best' ? sizes : sizes.slice(-1)) await size(device, k, figure);
}
device.close();
