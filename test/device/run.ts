/**
 * Tests and benchmarks on a GPU host, out of the archive that `npm run bundle` makes. It needs nothing that is not in
 * the archive but the GPU's driver and its run-time compiler.
 *
 *   ./node run.mjs info                              what there is
 *   ./node run.mjs test  [--device cuda] [--quick] [--only GROUP,…] [--filter TEXT] [--precision single|double] [--no-large]
 *   ./node run.mjs limits                            transforms over 4 GiB, and 10 000 plans (CUDA)
 *   ./node run.mjs bench [--device cuda] [--precision single|double|double-double] [--region NAME,…] [--filter 1024,256x256]
 *                        [--sizes 1000,24x14] [--chance 60] [--samples 11] [--ms 4] [--mib 512] [--json FILE] [--explain]
 *
 * Groups of tests are small, blocks, large, real, sums, pairs, storage, convolution and callbacks; `--only vulkan` is all of them on the
 * Vulkan device. `VK_DRIVER_FILES` names its driver where that is not NVIDIA's or not in its usual place.
 *
 * On WebGPU the regions are pow2, smooth, larger, 1024x1024 and peers: the last is omnifft beside TensorFlow.js and jax-js.
 * The regions `chance` and `chance in place`, of so many lengths that nobody has tuned for, are timed when they are asked for.
 * So are `convolution`, `padding` and `callbacks`, each beside the same in steps or without it; `--sizes` are their sizes, too.
 * A precision that the device has not is left out, unless a benchmark is asked for it: doubles are pairs of singles then. `--profile JSON` replaces parts of the profile that the planner sees, `--seed N` fixes the random data.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CudaBackend } from '../../src/devices/cuda/backend.ts';
import { cuda } from '../../src/devices/cuda/index.ts';
import { openVendorFft } from '../../src/devices/cuda/vendor-fft.ts';
import type { Backend } from '../../src/devices/device.ts';
import { deviceModule } from '../../src/devices/registry.ts';
import { Device } from '../../src/engine/device.ts';
import { type DeviceKind, type DeviceOptions, listDevices, type Precision, version } from '../../src/index.ts';
import { Bench, type Effort, geometricMean, type Result } from './benchmark.ts';
import { askedCases, chanceCases, timedCases } from './cases.ts';
import { failed, type Verdict } from './correctness.ts';
import { fusedCases } from './fused.ts';
import { groups } from './groups.ts';
import { checkHuge, checkLeaks } from './limits.ts';
import { Report } from './report.ts';
import { prepareVulkan } from './vulkan.ts';
import { besidePeers, type PeerResult, webGpuCases, webGpuCopier } from './webgpu.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: 'string', default: 'cuda' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    'no-large': { type: 'boolean', default: false },
    filter: { type: 'string' },
    precision: { type: 'string' },
    region: { type: 'string' },
    sizes: { type: 'string' },
    chance: { type: 'string', default: '60' },
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

/** What is timed: where somebody asks for it, also in numbers that the device makes pairs for. */
function timedPrecisions(device: Device): readonly Precision[] {
  return options.precision ? [options.precision as Precision] : precisionsOf(device);
}

/** Of the precisions asked for, those that the device has. */
function precisionsOf({ profile }: Pick<Device, 'profile'>): ('single' | 'double')[] {
  return PRECISIONS.filter((precision) => profile.precisions?.includes(precision) ?? true);
}

/** Bytes that 10 000 plans may cost. */
const LEAK = 10 * 2 ** 20;

/** Regions that are only timed when they are asked for. */
const LATE = ['chance', 'chance in place'];
const FUSED = ['convolution', 'padding', 'callbacks'];

const toolkit = findToolkit();
if (toolkit) process.env.CUDA_PATH ??= toolkit;
if (options.seed) process.env.OMNIFFT_SEED = options.seed;

// All groups on the Vulkan device.
if (options.only === 'vulkan') {
  options.device = 'vulkan';
  delete options.only;
}
await prepareVulkan();

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
  const asked =
    options.only?.split(',') ?? Object.keys(groups).filter((name) => name !== 'large' || !options['no-large']);
  const unknown = asked.filter((name) => !(name in groups));
  if (unknown.length > 0)
    throw new Error(`no group ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
  // Loaded late: it prints its seed, which an option may fix.
  const { randomFor } = await import('../support/random.ts');
  const { device } = await open();
  console.log(`${device.name}; error against 1.2 u √(1 + log2 N)`);
  const report = new Report(options.filter ?? '', options.quick);
  const trials = {
    ...{ device, random: randomFor('device/run'), precisions: precisionsOf(device), quick: options.quick },
    attempt: (what: string, work: () => Promise<Verdict[]>) => report.attempt(what, work),
  };
  for (const name of asked as (keyof typeof groups)[]) {
    const start = performance.now();
    await groups[name](trials);
    console.log(`group ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
  device.close();
  report.end();
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
  const cufft = gpu && (await openVendorFft(cuda.driver.fft).catch((error: Error) => console.log(error.message)));
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
  const attempt = async (size: readonly number[], precision: Precision, time: () => Promise<Result>) => {
    if (options.filter && !options.filter.split(',').includes(size.join('x'))) return;
    try {
      const result = await time();
      results.push(result);
      console.log(row(result));
    } catch (error) {
      console.log(`FAIL ${size.join('x')} ${precision}: ${(error as Error).message}`);
    }
  };
  // Loaded late: it prints its seed.
  const random = wanted('chance') && (await import('../support/random.ts')).randomFor('device/bench');
  for (const precision of timedPrecisions(device)) {
    const like = precision === 'single' ? precision : 'double';
    const chance = random ? chanceCases(random, like, bytes, Number(options.chance)) : [];
    const cases = webGpu ? webGpuCases(backend.profile, bytes) : timedCases(like, bytes);
    const fused = options.region?.split(',').some((region) => FUSED.includes(region));
    for (const timed of options.sizes && !fused ? askedCases(options.sizes, like, bytes) : [...cases, ...chance]) {
      if ((options.sizes && !fused) || wanted(timed.region)) {
        await attempt(timed.size, precision, () => runner.time(timed, precision));
        if (options.explain) await explain(device, timed.size, timed.batches, precision);
      }
    }
    if (!fused || precision !== like) continue;
    for (const { group, size, time } of fusedCases(like, bytes, options.sizes)) {
      if (wanted(group)) await attempt(size, precision, () => time(runner, like));
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

async function explain(device: Device, size: readonly number[], batches: number, precision: Precision) {
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
  peer,
  peerMs,
  ratio,
}: Result): string {
  const beside = peerMs === undefined ? '' : ` ${peer} ${peerMs.toFixed(4)} ms, ratio ${ratio!.toFixed(2)}`;
  const share = copyFraction === undefined ? '' : ` ${copyFraction.toFixed(2)} of copy`;
  return (
    `${region.padEnd(16)} ${precision === 'single' ? 'f32' : 'f64'} ${what.padEnd(22)} ${kernels} kernel(s), planned in ` +
    `${planMs.toFixed(0).padStart(5)} ms, again in ${warmPlanMs.toFixed(1)} ms: ${ms.toFixed(4)} ms ${gigabytes.toFixed(0).padStart(5)} GB/s${share}${beside}`
  );
}

function summary(results: readonly Result[]): void {
  if (results.length > 0) {
    const most = (of: (result: Result) => number) => Math.max(...results.map(of)).toFixed(1);
    console.log(
      `planned in ${most(({ planMs }) => planMs)} ms at most, again in ${most(({ warmPlanMs }) => warmPlanMs)} ms`,
    );
  }
  for (const precision of new Set(results.map((result) => result.precision))) {
    for (const region of new Set(results.map((result) => result.region))) {
      const own = results.filter((result) => result.region === region && result.precision === precision);
      if (own.length === 0) continue;
      const ratios = own.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]));
      const fractions = own.flatMap(({ copyFraction }) => (copyFraction === undefined ? [] : [copyFraction]));
      const share = fractions.length === 0 ? '' : `: ${geometricMean(fractions).toFixed(2)} of copy`;
      const peer =
        ratios.length === 0
          ? ''
          : `, ${geometricMean(ratios).toFixed(2)} of the speed of ${own[0]!.peer}, at least ${Math.min(...ratios).toFixed(2)}`;
      console.log(`${region.padEnd(16)} ${precision.padEnd(6)} ${own.length} cases${share}${peer}`);
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
