/**
 * Tests and benchmarks on a GPU host, out of the archive that `npm run bundle` makes. It needs nothing that is not in
 * the archive but the GPU's driver and its run-time compiler.
 *
 *   ./node run.mjs info                              what there is
 *   ./node run.mjs test  [--device cuda] [--quick] [--filter TEXT] [--precision single|double] [--no-large]
 *   ./node run.mjs limits                            transforms over 4 GiB, and 10 000 plans (CUDA)
 *   ./node run.mjs bench [--device cuda] [--precision single|double] [--region NAME,…] [--filter 1024,256x256]
 *                        [--sizes 1000,24x14] [--samples 11] [--ms 4] [--mib 512] [--json FILE] [--explain]
 *
 * On WebGPU the regions are pow2, smooth, larger, 1024x1024 and peers: the last is omnifft beside TensorFlow.js and jax-js.
 * The regions `chance` and `chance in place`, of lengths that nobody has tuned for, are timed when they are asked for.
 * A precision that the device has not is left out. `--profile JSON` replaces parts of the profile that the planner sees, `--seed N` fixes the random data.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import { openCufft } from '../../src/devices/cuda/cufft.ts';
import type { Backend } from '../../src/devices/device.ts';
import { deviceModule } from '../../src/devices/registry.ts';
import { Device } from '../../src/engine/device.ts';
import { type DeviceKind, type DeviceOptions, listDevices, type ProblemInput, version } from '../../src/index.ts';
import { blocksSample, triedBlocks } from '../support/blocks.ts';
import { realProblem, triedReal, withBlocks } from '../support/real.ts';
import { storageProblems, triedStorage } from '../support/stored.ts';
import { sumsProblem, triedSums } from '../support/sums.ts';
import { Bench, type Effort, geometricMean, type Result } from './benchmark.ts';
import {
  askedCases,
  blockSizes,
  chanceCases,
  largeProblems,
  smallProblems,
  timedCases,
  tunedProblems,
} from './cases.ts';
import { checkClosedForms, checkLarge, checkSmall, failed, openReference, type Verdict } from './correctness.ts';
import { checkHuge, checkLeaks } from './limits.ts';
import { besidePeers, type PeerResult, webGpuCases, webGpuCopier } from './webgpu.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: 'string', default: 'cuda' },
    quick: { type: 'boolean', default: false },
    'no-large': { type: 'boolean', default: false },
    filter: { type: 'string' },
    precision: { type: 'string' },
    region: { type: 'string' },
    sizes: { type: 'string' },
    samples: { type: 'string', default: '11' },
    ms: { type: 'string', default: '4' },
    mib: { type: 'string', default: '512' },
    json: { type: 'string' },
    explain: { type: 'boolean', default: false },
    profile: { type: 'string' },
    seed: { type: 'string' },
  },
});

const PRECISIONS = (options.precision ? [options.precision] : ['single', 'double']) as ('single' | 'double')[];

/** Of the precisions asked for, those that the device has. */
function precisionsOf({ profile }: Pick<Device, 'profile'>): ('single' | 'double')[] {
  return PRECISIONS.filter((precision) => profile.precisions?.includes(precision) ?? true);
}

/** Bytes that 10 000 plans may cost. */
const LEAK = 10 * 2 ** 20;

/** Regions that are only timed when they are asked for. */
const LATE = ['chance', 'chance in place'];

/** Seconds from which on an attempt is said to be slow: compilers may take long over large kernels. */
const SLOW = 2;

const toolkit = findToolkit();
if (toolkit) process.env.CUDA_PATH ??= toolkit;
if (options.seed) process.env.OMNIFFT_SEED = options.seed;

const commands = { info, test, limits, bench };
const command = commands[positionals[0] as keyof typeof commands];
if (!command) {
  console.error('usage: ./node run.mjs info | test | limits | bench [options]; see the head of run.ts');
  process.exit(2);
}
await command();

async function info(): Promise<void> {
  console.log(
    `omnifft ${version}, Node ${process.version}; CUDA libraries: ${process.env.CUDA_PATH ?? 'where the loader looks'}`,
  );
  for (const { kind, name, available, reason } of await listDevices()) {
    console.log(`${available ? '+' : '-'} ${kind}: ${available ? name : reason}`);
  }
  if (!(await listDevices()).some(({ kind, available }) => available && kind === options.device)) return;
  const { backend, device } = await open();
  console.log(backend.profile);
  device.close();
}

async function open(): Promise<{ backend: Backend; device: Device }> {
  const kind = options.device as DeviceKind;
  const module = await deviceModule(kind);
  if (!module) throw new Error(`there is no device ${kind}`);
  // JSON has no way to say undefined: null takes a part of the profile away.
  const parts = Object.entries(JSON.parse(options.profile ?? '{}') as object);
  const profile = { profile: Object.fromEntries(parts.map(([name, value]) => [name, value ?? undefined])) };
  const backend = await module.create(profile as DeviceOptions);
  return { backend, device: new Device(backend) };
}

async function test(): Promise<void> {
  // Loaded late: it prints its seed, which an option may fix.
  const { randomFor } = await import('../support/random.ts');
  const random = randomFor('device/run');
  const { device } = await open();
  console.log(`${device.name}; error against 1.2 u √(1 + log2 N)`);
  const cpu = await openReference();
  let tried = 0;
  const bad: string[] = [];
  let worst = 0;
  const report = (verdicts: readonly Verdict[]) => {
    for (const verdict of verdicts) {
      tried++;
      worst = Math.max(worst, verdict.error / verdict.allowed);
      const share = (verdict.error / verdict.allowed).toFixed(2);
      const line = `${failed(verdict) ? 'FAIL' : 'ok  '} ${share} ${verdict.error.toExponential(2)}  ${verdict.what}`;
      if (failed(verdict)) bad.push([line, ...verdict.damage.slice(0, 3)].join('\n     '));
      if (failed(verdict) || !options.quick) console.log(line);
    }
  };
  const attempt = async (what: string, work: () => Promise<Verdict[]>) => {
    if (options.filter && !what.includes(options.filter)) return;
    const start = performance.now();
    try {
      report(await work());
      const seconds = (performance.now() - start) / 1000;
      if (seconds > SLOW) console.log(`slow ${seconds.toFixed(1)} s  ${what}`);
    } catch (error) {
      tried++;
      bad.push(`FAIL ${what}: ${(error as Error).message}`);
      console.log(bad.at(-1));
    }
  };
  const chosen = (problems: readonly ProblemInput[]) => problems.filter(() => !options.quick || random.unit() < 0.3);
  for (const precision of precisionsOf(device)) {
    for (const problem of [...chosen(smallProblems()), ...tunedProblems(device.kind)]) {
      const full = { ...problem, precision };
      await attempt(JSON.stringify(full), () => checkSmall(device, full, random));
    }
    for (let round = 0; round < (options.quick ? 4 : 20); round++) {
      const sample = blocksSample(random, blockSizes(), true);
      const full = { ...sample, problem: { ...sample.problem, precision } };
      for (const direction of ['forward', 'inverse'] as const) {
        await attempt(JSON.stringify(full.problem), async () => [await triedBlocks(device, full, direction, random)]);
      }
    }
    for (const length of [8, 60, 1024, 4096, 10000, 2 ** 15, 2 ** 20]) {
      await attempt(`closed forms ${length}`, () => checkClosedForms(device, length, precision, random));
    }
    if (options['no-large']) continue;
    for (const problem of chosen(largeProblems())) {
      await attempt(JSON.stringify(problem), () => checkLarge(device, cpu, problem, precision, random));
    }
  }
  for (let round = 0; round < (options.quick ? 10 : 60); round++) {
    const problem = realProblem(random, 20_000, precisionsOf(device));
    const full = round % 3 === 0 ? withBlocks(random, problem) : problem;
    for (const direction of ['forward', 'inverse'] as const) {
      await attempt(`real ${JSON.stringify(full)}`, async () => [await triedReal(device, full, direction, random)]);
    }
  }
  for (const length of [2 ** 13, 2 ** 15, 2 ** 17, 2 ** 20, 3 ** 9, 3 ** 12, 10007, 20014, 100_003, 200_006, 50_050]) {
    for (const direction of ['forward', 'inverse'] as const) {
      const problem = { size: [length], precision: random.pick(precisionsOf(device)) };
      await attempt(`real ${JSON.stringify(problem)}`, async () => [
        await triedReal(device, problem, direction, random),
      ]);
    }
  }
  for (let round = 0; round < (options.quick ? 10 : 60); round++) {
    const problem = sumsProblem(random, 20_000, precisionsOf(device));
    for (const direction of ['forward', 'inverse'] as const) {
      await attempt(`sums ${JSON.stringify(problem)}`, async () => [
        await triedSums(device, problem, direction, random),
      ]);
    }
  }
  const doubles = precisionsOf(device).includes('double');
  for (const problem of storageProblems.filter(({ precision }) => doubles || precision !== 'double')) {
    for (const direction of ['forward', 'inverse'] as const) {
      await attempt(JSON.stringify(problem), async () => [await triedStorage(device, problem, direction, random)]);
    }
  }
  cpu.close();
  device.close();
  console.log(
    `\n${bad.join('\n')}\n${tried - bad.length} passed, ${bad.length} failed; the largest error is ${worst.toFixed(2)} of what is allowed`,
  );
  if (bad.length > 0) process.exitCode = 1;
}

async function limits(): Promise<void> {
  const { randomFor } = await import('../support/random.ts');
  const { backend, device } = await open();
  const verdicts = await checkHuge(device, backend, randomFor('device/limits'));
  for (const verdict of verdicts) {
    console.log(`${failed(verdict) ? 'FAIL' : 'ok  '} ${verdict.error.toExponential(2)}  ${verdict.what}`);
  }
  const { plans, deviceBytes, hostBytes, ms } = await checkLeaks(device, backend as CudaBackend, 10_000);
  const leaked = deviceBytes > LEAK || hostBytes > LEAK;
  console.log(
    `${leaked ? 'FAIL' : 'ok  '} ${plans} plans: ${deviceBytes} bytes of the device and ${hostBytes} of the process ` +
      `are gone; ${ms.toFixed(2)} ms each`,
  );
  device.close();
  if (leaked || verdicts.some(failed)) process.exitCode = 1;
}

async function bench(): Promise<void> {
  const { backend, device } = await open();
  const webGpu = backend.kind === 'webgpu';
  // WebGPU is measured by itself: another driver beside it, with memory of its own, would disturb it.
  const gpu = backend.kind === 'cuda' ? (backend as CudaBackend) : webGpu ? undefined : await openCuda();
  const cufft = gpu && (await openCufft().catch((error: Error) => console.log(error.message)));
  const effort = { samples: Number(options.samples), sampleMs: Number(options.ms) };
  const runner = new Bench(
    device,
    backend,
    gpu,
    effort,
    cufft || undefined,
    webGpu ? await webGpuCopier(backend) : undefined,
  );
  const bytes = Number(options.mib) * 2 ** 20;
  const copy = await runner.copyMs(bytes);
  const speed = copy === undefined ? 'unknown' : `${((2 * bytes) / copy / 1e6).toFixed(0)} GB/s`;
  console.log(`${backend.kind}: ${device.name}; ${runner.peer}; copy of ${options.mib} MiB: ${speed}`);
  const results: Result[] = [];
  const wanted = (region: string) =>
    options.region
      ? options.region.split(',').includes(region)
      : !LATE.includes(region) && (region !== 'peers' || !options.filter);
  // Loaded late: it prints its seed.
  const random = wanted('chance') && (await import('../support/random.ts')).randomFor('device/bench');
  for (const precision of precisionsOf(device)) {
    const chance = random ? chanceCases(random, precision, bytes) : [];
    const cases = webGpu ? webGpuCases(backend.profile, bytes) : timedCases(precision, bytes);
    for (const timed of options.sizes ? askedCases(options.sizes, precision, bytes) : [...cases, ...chance]) {
      if (!options.sizes && !wanted(timed.region)) continue;
      if (options.filter && !options.filter.split(',').includes(timed.size.join('x'))) continue;
      try {
        const result = await runner.time(timed, precision);
        results.push(result);
        console.log(row(result));
        if (options.explain) await explain(device, timed.size, timed.batches, precision);
      } catch (error) {
        console.log(`FAIL ${timed.size.join('x')} ${precision}: ${(error as Error).message}`);
      }
    }
  }
  summary(results);
  const latencies = [];
  if (!options.region && !options.filter) {
    for (const size of [[1024], [256, 256]]) {
      const { us, deviceUs } = await runner.latency(size, 'single');
      latencies.push({ size, us, deviceUs });
      console.log(
        `one ${size.join('x')} single: ${us.toFixed(1)} µs call to result, ${deviceUs.toFixed(1)} µs in a row`,
      );
    }
  }
  const peers = webGpu && wanted('peers') ? await compare(device, backend, effort) : [];
  const { kind } = backend;
  const figures = { kind, device: device.name, version, profile: backend.profile, copy, results, latencies, peers };
  if (options.json) writeFileSync(options.json, JSON.stringify(figures, null, 1));
  runner.close();
  device.close();
  if (gpu !== backend) gpu?.close();
}

/** Lines of omnifft and its peers, of 2¹⁰ points as many times as the bytes allow, 1024 times at most. */
async function compare(device: Device, backend: Backend, effort: Effort): Promise<PeerResult[]> {
  const batches = Math.max(1, Math.min(1024, Math.floor((Number(options.mib) * 2 ** 20) / 8 / 1024)));
  const { results, failures } = await besidePeers(device, backend, batches, effort);
  for (const { name, us, error } of results) {
    const ratio = (us / results[0]!.us).toFixed(2);
    console.log(
      `1024 × ${batches} ${name.padEnd(20)} ${us.toFixed(1).padStart(10)} µs, ${ratio} of omnifft's time in one ` +
        `submit; error ${error.toExponential(1)}`,
    );
  }
  for (const failure of failures) console.log(`FAIL ${failure}`);
  return results;
}

/** For the copy and for cuFFT, where another kind of device is timed. */
async function openCuda(): Promise<CudaBackend | undefined> {
  const module = await deviceModule('cuda');
  return (await module?.availability())?.available ? ((await module!.create({})) as CudaBackend) : undefined;
}

async function explain(device: Device, size: readonly number[], batches: number, precision: 'single' | 'double') {
  const plan = await device.plan({ size, batches, precision, directions: 'forward' });
  console.log(plan.explain());
  plan.destroy();
}

function row({
  region,
  what,
  precision,
  kernels,
  planMs,
  warmPlanMs,
  ms,
  gigabytes,
  copyFraction,
  cufftMs,
  ratio,
}: Result): string {
  const peer = cufftMs === undefined ? '' : ` cuFFT ${cufftMs.toFixed(4)} ms, ratio ${ratio!.toFixed(2)}`;
  const share = copyFraction === undefined ? '' : ` ${copyFraction.toFixed(2)} of copy`;
  return (
    `${region.padEnd(16)} ${precision === 'single' ? 'f32' : 'f64'} ${what.padEnd(22)} ${kernels} kernel(s), planned in ` +
    `${planMs.toFixed(0).padStart(5)} ms, again in ${warmPlanMs.toFixed(1)} ms: ${ms.toFixed(4)} ms ${gigabytes.toFixed(0).padStart(5)} GB/s${share}${peer}`
  );
}

function summary(results: readonly Result[]): void {
  if (results.length > 0) {
    const most = (of: (result: Result) => number) => Math.max(...results.map(of)).toFixed(1);
    console.log(
      `planned in ${most(({ planMs }) => planMs)} ms at most, again in ${most(({ warmPlanMs }) => warmPlanMs)} ms`,
    );
  }
  for (const precision of PRECISIONS) {
    for (const region of new Set(results.map((result) => result.region))) {
      const own = results.filter((result) => result.region === region && result.precision === precision);
      if (own.length === 0) continue;
      const ratios = own.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]));
      const fraction = geometricMean(own.map(({ copyFraction }) => copyFraction ?? Number.NaN));
      const peer =
        ratios.length === 0
          ? ''
          : `, ${geometricMean(ratios).toFixed(2)} of cuFFT's speed, at least ${Math.min(...ratios).toFixed(2)}`;
      console.log(
        `${region.padEnd(16)} ${precision.padEnd(6)} ${own.length} cases: ${fraction.toFixed(2)} of copy${peer}`,
      );
    }
  }
}

/** Where there is no toolkit, Python packages may have brought its libraries. */
function findToolkit(): string | undefined {
  const places = ['/usr/local/cuda', '/usr/local', '/opt', '/usr/lib'];
  const found: string[] = [];
  const look = (folder: string, depth: number) => {
    let entries: string[];
    try {
      entries = readdirSync(folder);
    } catch {
      return;
    }
    if (entries.some((name) => /^libnvrtc\.so\.\d/.test(name))) found.push(folder);
    if (depth === 0) return;
    for (const name of entries) {
      if (
        /^(lib64?|targets|x86_64-linux|cuda.*|torch|\.venv|python3.*|site-packages|dist-packages|nvidia|cu1\d|cuda_nvrtc)$/.test(
          name,
        )
      ) {
        look(join(folder, name), depth - 1);
      }
    }
  };
  for (const place of places) if (existsSync(place)) look(place, 7);
  return found[0] === undefined ? undefined : dirname(found[0]);
}
