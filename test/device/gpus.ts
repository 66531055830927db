/**
 * Worlds of GPUs on a host that has several:
 * `./node gpus.mjs [--gpus 4] [--only check,link,bench] [--sizes 256,512,1024] [--ways peer,copy,nccl] [--wires storage,half]`
 * of the archive. Every way to exchange is held against the processor; then times of streams of transforms, beside one GPU and beside cuFFT
 * over the same GPUs, and what the links carry.
 */
import { parseArgs } from 'node:util';
import { cuda } from '../../src/devices/cuda/index.ts';
import { type NativeLibrary, openLibrary } from '../../src/devices/native/library.ts';
import { type DeviceMemory, listDevices, openDevice } from '../../src/index.ts';
import { type GpusWorldOptions, openWorld, type World, type WorldProblemInput } from '../../src/world/index.ts';
import { randomFor } from '../support/random.ts';
import { triedOnWorld } from '../support/world-trial.ts';

const { values: options } = parseArgs({
  options: {
    gpus: { type: 'string' },
    only: { type: 'string', default: 'check,link,bench' },
    sizes: { type: 'string', default: '32,256,512,1024' },
    precisions: { type: 'string', default: 'single,double' },
    ways: { type: 'string', default: 'peer,copy,nccl' },
    wires: { type: 'string', default: 'storage,half' },
    chunks: { type: 'string' },
    explain: { type: 'boolean', default: false },
    'no-peer-library': { type: 'boolean', default: false },
  },
});
type Way = NonNullable<GpusWorldOptions['exchange']>;
const info = (await listDevices()).find(({ kind }) => kind === 'cuda');
const found = info?.available ? (info.devices?.length ?? 1) : 0;
const count = options.gpus === undefined ? found : Number(options.gpus);
const ways = options.ways.split(',') as Way[];
const wanted = (name: string) => options.only.split(',').includes(name);
const devices = [...Array(count).keys()];
const random = randomFor('worlds of GPUs');
const begun = performance.now();
const say = (text: string) => console.log(`[${((performance.now() - begun) / 1e3).toFixed(1)} s] ${text}`);
say(`${found} GPUs are there (${info?.name}), ${count} of them are used`);

if (wanted('check')) for (const way of ways) await checked(way);
if (wanted('link')) await withWorld('copy', async (world) => say(`link ${JSON.stringify(await linkOf(world))}`));
if (wanted('bench')) {
  for (const precision of options.precisions.split(',') as ('single' | 'double')[])
    for (const size of options.sizes.split(',').map(Number)) {
      const alone = await besideOneGpu(size, precision);
      const peer = options['no-peer-library']
        ? undefined
        : await cufftXt(size, precision).catch((error: Error) => error);
      if (peer instanceof Error) say(`cufftXt: ${peer.message}`);
      const told = `one GPU ${alone.toFixed(3)} ms, cufftXt ${typeof peer === 'number' ? peer.toFixed(3) : '-'} ms`;
      say(`${size}³ ${precision}: ${told}`);
      for (const way of ways) await timed(way, size, precision, alone, typeof peer === 'number' ? peer : undefined);
    }
}

async function withWorld(exchange: Way, act: (world: World) => Promise<void>): Promise<void> {
  let world: World;
  try {
    world = await openWorld('gpus', { devices, exchange });
  } catch (error) {
    say(`${exchange}: ${(error as Error).message}`);
    return;
  }
  try {
    await act(world);
  } catch (error) {
    say(`${exchange}: FAILED ${(error as Error).stack}`);
    process.exitCode = 1;
  } finally {
    await world.close();
  }
}

async function checked(way: Way): Promise<void> {
  const grids: WorldProblemInput['decomposition'][] = count === 4 ? ['slab', [2, 2]] : ['slab'];
  const problems = grids.flatMap((decomposition): WorldProblemInput[] => [
    { size: [64, 48, 40], output: 'any', decomposition },
    { size: [61, 50, 43], precision: 'double', normalize: true, decomposition },
    { size: [64, 30, 52], transform: 'r2c', batches: 3, output: 'any', decomposition },
    { size: [128, 128, 128], precision: 'double', output: 'any', decomposition },
    { size: [33, 34, 35], input: { split: [1, count, 1] }, decomposition },
    { size: [64, 48, 40], wire: 'half', output: 'any', decomposition },
    { size: [61, 50, 43], precision: 'double', wire: 'half', decomposition },
  ]);
  const alone = await openDevice('cpu');
  await withWorld(way, async (world) => {
    say(`${way}: ${world.library}`);
    for (const problem of problems) {
      for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
        const good = error <= allowed && damage.length === 0;
        if (!good) process.exitCode = 1;
        say(`  ${good ? 'right' : 'WRONG'} ${error.toExponential(2)} (${allowed.toExponential(1)}) ${what} ${damage}`);
      }
    }
  });
  alone.close();
}

async function linkOf(world: World): Promise<unknown> {
  const { latency, bandwidth, memory } = await world.measure();
  return { latency: latency.inside, bandwidth: bandwidth.inside, memory };
}

/** Milliseconds of one of many calls, which are submitted without waiting; the least of several rounds. */
async function streamed(call: () => Promise<unknown>, each: number): Promise<number> {
  await call();
  const calls = Math.max(5, Math.min(200, Math.round(40 / each)));
  let ms = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++) {
    const start = performance.now();
    await Promise.all(Array.from({ length: calls }, call));
    ms = Math.min(ms, (performance.now() - start) / calls);
  }
  return ms;
}

function guessed(size: number, precision: 'single' | 'double'): number {
  return (size ** 3 * (precision === 'single' ? 8 : 16) * 8) / 4e9;
}

async function besideOneGpu(size: number, precision: 'single' | 'double'): Promise<number> {
  const device = await openDevice('cuda', { device: 0 });
  try {
    const plan = await device.plan({ size: [size, size, size], precision, placement: 'in-place' });
    const memory = device.alloc(plan.input.bytes, precision);
    return await streamed(() => plan.forward(memory as never, memory as never), guessed(size, precision));
  } finally {
    device.close();
  }
}

async function timed(way: Way, size: number, precision: 'single' | 'double', alone: number, peer: number | undefined) {
  await withWorld(way, async (world) => {
    const chunks = options.chunks === undefined ? {} : { chunks: Number(options.chunks) };
    const wires = options.wires.split(',') as ('storage' | 'half')[];
    for (const [transform, wire] of wires.flatMap((wire) => [['c2c', wire] as const, ['r2c', wire] as const])) {
      const problem: WorldProblemInput = {
        ...{ size: [size, size, size], precision, transform, wire, output: 'any', decomposition: 'slab' },
        ...chunks,
      };
      const plan = await world.plan(problem);
      if (options.explain) say(plan.explain());
      const memoryOf = (side: 'input' | 'output') =>
        plan[side].parts.map(({ bytes }, n): DeviceMemory => world.devices[n]!.alloc(bytes, precision));
      const input = memoryOf('input');
      const output = transform === 'c2c' ? input : memoryOf('output');
      const forward = await streamed(() => plan.forward(input, output), guessed(size, precision) / count);
      const inverse = await streamed(() => plan.inverse(output, input), guessed(size, precision) / count);
      const beside = peer === undefined || transform === 'r2c' ? '' : `, ${(peer / forward).toFixed(2)} × cufftXt`;
      say(
        `  ${way} ${transform} ${wire}: forward ${forward.toFixed(3)} ms, inverse ${inverse.toFixed(3)} ms, ` +
          `priced ${(1e3 * plan.toJSON().chosen.seconds).toFixed(3)} ms, ` +
          `${(alone / forward).toFixed(2)} × one GPU${beside}`,
      );
      for (const memory of new Set([...input, ...output])) memory.free();
      plan.destroy();
    }
  });
}

/** cuFFT over the same GPUs, in place, in its own order. */
async function cufftXt(size: number, precision: 'single' | 'double'): Promise<number> {
  const library = await openLibrary(cuda.driver.fft.library());
  const driver = await openLibrary(cuda.driverLibrary);
  const call = (from: NativeLibrary, name: string, parameters: string[], ...values: unknown[]) => {
    const status = from.func(name, 'int', parameters)(...values) as number;
    if (status !== 0) throw new Error(`${name} gave ${status}`);
  };
  const P = 'void *';
  const contexts = devices.map((ordinal) => {
    const out = new BigUint64Array(1);
    call(driver, 'cuDevicePrimaryCtxRetain', [P, 'int'], out, ordinal);
    return out[0]!;
  });
  const synchronize = () => {
    for (const context of contexts) {
      call(driver, 'cuCtxSetCurrent', [P], context);
      call(driver, 'cuCtxSynchronize', []);
    }
    call(driver, 'cuCtxSetCurrent', [P], contexts[0]);
  };
  synchronize();
  const handle = new Int32Array(1);
  call(library, 'cufftCreate', [P], handle);
  const plan = handle[0]!;
  const [type, name] = precision === 'single' ? [0x29, 'C2C'] : [0x69, 'Z2Z'];
  const run = library.func(`cufftXtExecDescriptor${name}`, 'int', ['int', P, P, 'int']);
  const descriptor = new BigUint64Array(1);
  try {
    call(library, 'cufftXtSetGPUs', ['int', 'int', P], plan, count, Int32Array.from(devices));
    const work = new BigUint64Array(count);
    call(library, 'cufftMakePlan3d', ['int', 'int', 'int', 'int', 'int', P], plan, size, size, size, type, work);
    call(library, 'cufftXtMalloc', ['int', P, 'int'], plan, descriptor, 2);
    const calls = Math.max(5, Math.min(100, Math.round((40 * count) / guessed(size, precision))));
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 6; round++) {
      synchronize();
      const start = performance.now();
      for (let n = 0; n < calls; n++) {
        const status = run(plan, descriptor[0], descriptor[0], n % 2 === 0 ? -1 : 1) as number;
        if (status !== 0) throw new Error(`cufftXtExecDescriptor${name} gave ${status}`);
      }
      synchronize();
      least = Math.min(least, (performance.now() - start) / calls);
    }
    return least;
  } finally {
    if (descriptor[0]) library.func('cufftXtFree', 'int', [P])(descriptor[0]);
    library.func('cufftDestroy', 'int', ['int'])(plan);
    for (const ordinal of devices) driver.func('cuDevicePrimaryCtxRelease_v2', 'int', ['int'])(ordinal);
  }
}
