/**
 * `npm run bench -- [--only NAME[,NAME…]] [--quick] [--json]`: omnifft against its peers, in one run.
 * docs/performance.md says what every table shows and how to read it.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { check } from './check.ts';
import { freshSeed } from './data.ts';
import { type Device, loadLibrary } from './library.ts';
import { fullEffort, quickEffort } from './measure.ts';
import { fftjs } from './peers/fftjs.ts';
import { openFftw } from './peers/fftw.ts';
import { kissfft } from './peers/kissfft.ts';
import type { NativePeer } from './peers/native.ts';
import { pffft } from './peers/pffft.ts';
import { openScipy } from './peers/scipy.ts';
import { webfft } from './peers/webfft.ts';
import { json, met, text } from './report.ts';
import type { Precision, Workload } from './subject.ts';
import { type Context, type Entry, native, type Result, type Table } from './table.ts';
import { arithmetic, bound } from './tables/bound.ts';
import { cliff } from './tables/cliff.ts';
import { create } from './tables/create.ts';
import { double } from './tables/double.ts';
import { callbacks, convolutions, linear, padding } from './tables/fused.ts';
import { lengths } from './tables/lengths.ts';
import { memory } from './tables/memory.ts';
import { nufft } from './tables/nufft.ts';
import { primes } from './tables/primes.ts';
import { quad } from './tables/quad.ts';
import { real } from './tables/real.ts';
import { scipy } from './tables/scipy.ts';
import { short } from './tables/short.ts';
import { shortCalls } from './tables/short-calls.ts';
import { signals } from './tables/signals.ts';
import { alloc, copied } from './tables/single.ts';
import { speech } from './tables/speech.ts';
import { sums } from './tables/sums.ts';
import { threads } from './tables/threads.ts';

// What is timed is made, not found: tables that are about what is kept name a folder for it.
process.env.OMNIFFT_CACHE = 'off';

const tables: readonly Table[] = [
  alloc,
  copied,
  short,
  shortCalls,
  double,
  quad,
  real,
  sums,
  bound,
  lengths,
  arithmetic,
  scipy,
  primes,
  cliff,
  convolutions,
  linear,
  padding,
  callbacks,
  speech,
  signals,
  nufft,
  threads,
  create,
  memory,
];

function usage(problem: string): never {
  console.error(
    `bench: ${problem}; usage: npm run bench -- [--only ${tables.map(({ name }) => name)}] [--quick] [--json]`,
  );
  process.exit(2);
}

function parse() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return usage((error as Error).message);
  }
}

/** Every peer against the whole DFT of 64 points, before anything is timed. */
async function checkPeers(context: Context): Promise<void> {
  const at = (precision: Precision): Workload => ({ size: [64], precision });
  const entries: Entry[] = [
    { workload: at('single'), open: () => pffft(64) },
    { workload: at('single'), open: () => kissfft(64) },
    { workload: at('single'), open: () => webfft(64) },
    { workload: at('double'), open: () => fftjs(64) },
    ...[await context.fftw(), await context.scipy()].flatMap((peer) => [
      ...native(peer, at('single')),
      ...native(peer, at('double')),
    ]),
  ];
  for (const { open, workload } of entries) {
    const subject = await open();
    await check(subject, workload, context.seed);
    await subject.close();
  }
}

const { only, quick, json: asJson } = parse();
const wanted = only.flatMap((names) => names.split(','));
const unknown = wanted.find((name) => !tables.some((table) => table.name === name));
if (unknown !== undefined) usage(`no table '${unknown}'`);
const chosen = tables.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

const { openDevice, version } = await loadLibrary();
const devices = new Map<number, Promise<Device>>();
const peers = new Map<string, Promise<NativePeer | string>>();
const once = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  if (!map.has(key)) map.set(key, make());
  return map.get(key)!;
};
const context: Context = {
  effort: quick ? quickEffort : fullEffort,
  quick,
  seed: freshSeed(),
  device: (count) => once(devices, count, () => openDevice('cpu', { threads: count })),
  fftw: () => once(peers, 'FFTW', () => openFftw()),
  fftwQuad: () => once(peers, 'FFTW quad', () => openFftw(true)),
  scipy: () => once(peers, 'SciPy', openScipy),
};
const head = { version, node: process.version, cpu: cpus()[0]?.model.trim(), cores: cpus().length, seed: context.seed };

const measured: { table: Table; result: Result }[] = [];
try {
  if (!asJson)
    console.log(`omnifft ${version}, Node ${head.node}, ${head.cpu}, ${head.cores} cores, seed ${head.seed}\n`);
  await checkPeers(context);
  for (const table of chosen) {
    if (process.stderr.isTTY) process.stderr.write(`measuring ${table.name} …\r`);
    const result = await table.measure(context);
    measured.push({ table, result });
    if (!asJson) console.log(text(table, result));
  }
  if (asJson) console.log(json(head, measured));
  else {
    const verdicts = measured.flatMap(({ result }) => result.figures.map(met));
    console.log(
      `${verdicts.filter((ok) => ok === true).length} ok, ${verdicts.filter((ok) => ok === false).length} MISS`,
    );
  }
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  for (const device of devices.values()) await (await device).close();
  for (const opened of peers.values()) {
    const peer = await opened;
    if (typeof peer !== 'string') peer.close();
  }
}
