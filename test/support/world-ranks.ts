/**
 * What each rank of an `mpirun` runs: a scene by its name. It prints what went wrong, one line for each thing, and `done` at the end of a
 * scene that has one.
 */

import { loadKoffi } from '../../src/devices/native/library.ts';
import { openDevice } from '../../src/engine/index.ts';
import { FftError } from '../../src/problem/index.ts';
import type { WorldProblemInput } from '../../src/problem/world/index.ts';
import { openWorld, simulateWorld, type World } from '../../src/world/index.ts';
import { downloaded, uploaded } from '../../src/world/ranks/data.ts';
import { randomFor } from './random.ts';
import { randomBricks, randomSide, randomSize, randomWorldProblem } from './world.ts';
import { type Call, triedOnWorld } from './world-trial.ts';

const random = randomFor('world/mpi');

function complain(fault: string): void {
  process.stdout.write(`fault: ${fault}\n`);
}

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'nothing';
  } catch (error) {
    return error instanceof FftError ? error.code : String(error);
  }
}

function expectCode(code: string, expected: string, what: string): void {
  if (code !== expected) complain(`${what}: ${code} instead of ${expected}`);
}

async function transforms(world: World, count: number): Promise<void> {
  const alone = await openDevice('cpu', { threads: 1 });
  for (let round = 0; round < count; round++) {
    const problem = randomWorldProblem(random, world.size, random.pick([60, 400, 2000]));
    for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
      if (!(error <= allowed) || damage.length > 0) complain(`${error} of ${allowed} ${damage} ${what}`);
    }
  }
  alone.close();
}

async function movements(world: World): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const size = randomSize(random, 300);
    const root = random.integer(0, world.size - 1);
    const side = randomBricks(random, [...size, 1], world.size);
    const move = await world.redistribute({
      size,
      precision: 'double',
      input: side,
      output: randomSide(random, [...size, 1], world.size),
    });
    const whole = Float64Array.from({ length: 2 * size.reduce((a, b) => a * b, 1) }, (_, n) => n);
    const local = await world.scatter(move.input, whole, { root });
    const moved = await move.forward(local);
    const back = await world.gather(move.output, moved, { root });
    if ((back !== undefined) !== (world.rank === root))
      complain('gather returns something on another rank than the root');
    if (back?.some((value, n) => value !== whole[n])) complain(`moved wrongly: ${JSON.stringify([size, side])}`);
    move.destroy();
  }
}

async function agreements(world: World): Promise<void> {
  const problem = { size: [8, 8, 8], precision: 'double' } as const;
  const odd = world.rank === world.size - 1;
  expectCode(
    await codeOf(() => world.plan({ ...problem, size: odd ? [8, 8, 4] : problem.size })),
    'mismatched-plans',
    'another size',
  );
  expectCode(
    await codeOf(() => world.plan({ ...problem, size: odd ? [8, 0, 8] : problem.size })),
    odd ? 'invalid-size' : 'rank-failed',
    'a bad problem',
  );
  const long = { size: [2 ** 12, 2 ** 12, 2 ** 12], decomposition: 'slab' } as const;
  const refusal = await world.plan(long).catch((error: FftError) => `${error.code}: ${error.message}`);
  if (!/^device-limit: An exchange .* counts 2147483647/.test(String(refusal))) complain(`long messages: ${refusal}`);
  const plan = await world.plan(problem);
  const data = () => new Float64Array(plan.input.parts[0]!.length);
  const bad = () => plan.forward(odd ? new Float32Array(3) : data());
  expectCode(await codeOf(bad), odd ? 'wrong-array-type' : 'rank-failed', 'a bad array');
  const mixed = () => (odd ? plan.inverse(data()) : plan.forward(data()));
  expectCode(await codeOf(mixed), 'mismatched-plans', 'another direction');
  const x = data().fill(1);
  await plan.inverse(await plan.forward(x, x), x);
  if (x.some((value) => Math.abs(value - 512) > 1e-9))
    complain('in place, the world does not come back to what it was');
  const order = await Promise.all([plan.forward(data()), world.barrier(), plan.forward(data())]);
  if (order.length !== 3) complain('calls that overlap do not end');
  plan.destroy();
  expectCode(await codeOf(() => plan.forward(data())), 'destroyed', 'after destroy');
}

/** What is told without ranks is what ranks send. */
async function predictions(world: World): Promise<void> {
  const machine = await world.measure();
  for (const more of [
    { decomposition: 'slab' },
    { decomposition: 'slab', output: 'any' },
    { decomposition: 'slab', transform: 'r2c' },
    ...(world.size % 2 === 0 ? [{ decomposition: [2, world.size / 2] }] : []),
  ] as Partial<WorldProblemInput>[]) {
    const problem: WorldProblemInput = { size: [24, 20, 18], precision: 'double', ...more };
    const plan = await world.plan(problem);
    const told = await simulateWorld(problem, { ranks: world.size, machine });
    const before = world.counters;
    await plan.forward(new (problem.precision === 'double' ? Float64Array : Float32Array)(plan.input.parts[0]!.length));
    const own = [world.counters.bytes - before.bytes, world.counters.messages - before.messages];
    const all = await world.redistribute({
      ...{ size: [2, world.size], type: 'real', precision: 'double' },
      ...{ input: { split: 'slab' }, output: { bricks: [{ from: [0, 0], to: [2, world.size] }] } },
    });
    const counted = (await all.forward(Float64Array.from(own))) as Float64Array;
    if (world.rank === 0) {
      const sum = (k: number) => counted.reduce((total, value, n) => total + (n % 2 === k ? value : 0), 0);
      const expected = told.chosen.exchanges.reduce(([b, m], one) => [b! + one.bytes, m! + one.messages], [0, 0]);
      const name = plan.toJSON().chosen.name;
      if (name !== told.chosen.name) complain(`${name} is planned, ${told.chosen.name} was told`);
      if (sum(0) !== expected[0] || sum(1) !== expected[1]) {
        complain(`${name} sends ${sum(0)} bytes in ${sum(1)} messages, ${expected} were told`);
      }
    }
    all.destroy();
    plan.destroy();
  }
}

/** A trap of WebAssembly: memory is read beyond its end. */
function trap(): string {
  const bytes = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 102, 0, 0, 10, 11, 1, 9,
    0, 65, 128, 128, 8, 40, 2, 0, 11,
  ];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)));
  try {
    (exports.f as () => number)();
    return 'no trap';
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError ? 'caught' : String(error);
  }
}

/** What a device computes whose memory no thread sees. */
async function staged(world: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const alone = await openDevice('cpu', { threads: 1 });
    const problem = { ...randomWorldProblem(random, world.size, 200), precision: 'single' } as const;
    for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
      if (!(error <= allowed) || damage.length > 0) complain(`${error} of ${allowed} ${damage} ${what}`);
    }
    alone.close();
  }
}

/** Simulated GPUs, whose driver counts what goes between them and the host; the MPI library is made to say that it reaches their memory. */
async function onDevices(world: World): Promise<void> {
  const koffi = await loadKoffi();
  const bytesByHost = koffi.load('libcuda.so.1').func('sim_host_bytes', 'int64_t', []) as () => number;
  const alone = await openDevice('cpu', { threads: 1 });
  const [device] = world.devices;
  const other = alone.alloc(2 ** 16);
  const padded = { from: [0, 0, 0], to: [4, 6, 4], strides: [2, 8, 48] };
  const slab = { size: [4, 6, 6], output: 'any', decomposition: 'slab' } as const;
  for (const [problem, isDirect] of [
    [{ ...slab, exchange: 'pairs', chunks: 2 }, true],
    [{ ...slab, transform: 'r2c' }, true],
    [{ ...slab, input: { bricks: [padded, { from: [0, 0, 4], to: [4, 6, 6] }] } }, false],
    [{ ...slab, wire: 'half' }, true],
  ] as [WorldProblemInput, boolean][]) {
    const called: Call = async (plan, direction, [read], [written]) => {
      const memory = [read!, written!].map((array) => device!.alloc(array.byteLength));
      await uploaded(read!, memory[0]!, device!);
      await uploaded(written!, memory[1]!, device!);
      const before = bytesByHost();
      await plan[direction](memory[0]!, memory[1]!);
      const bytes = bytesByHost() - before;
      const { exchange } = plan.toJSON();
      if ((bytes === 0) !== isDirect || /straight between devices/.test(exchange) !== isDirect)
        complain(`${bytes} bytes passed through the host: ${exchange} ${JSON.stringify(problem)}`);
      expectCode(await codeOf(() => plan[direction](other, memory[1]!)), 'foreign-buffer', 'memory of another device');
      await downloaded(memory[0]!, device!, read!);
      await downloaded(memory[1]!, device!, written!);
      for (const one of memory) one.free();
    };
    for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone, called)) {
      if (!(error <= allowed) || damage.length > 0) complain(`${error} of ${allowed} ${damage} ${what}`);
    }
  }
  alone.close();
  await turned(world);
}

/**
 * What a rank has goes to the next one: memory that the device has yet to write when the call is made, and again in place, where a rank
 * sends a copy.
 */
async function turned(world: World): Promise<void> {
  const [device] = world.devices;
  const bricks = Array.from({ length: world.size }, (_, n) => ({ from: [0, n], to: [3, n + 1] }));
  const next = bricks.map((brick, n) => ({ ...brick, rank: (n + 1) % world.size }));
  const move = await world.redistribute({
    ...{ size: [3, world.size], type: 'real', precision: 'double' },
    ...{ input: { bricks }, output: { bricks: next } },
  });
  const memory = device!.alloc(move.input.bytes, 'double');
  const other = device!.alloc(move.input.bytes, 'double');
  const writing = uploaded(new Float64Array(3).fill(world.rank + 1), memory, device!);
  await move.forward(memory, other);
  await writing;
  const [once] = await downloaded(other, device!, new Float64Array(3));
  await move.forward(other, other);
  const [twice] = await downloaded(other, device!, new Float64Array(3));
  const before = (steps: number) => ((world.rank + world.size - steps) % world.size) + 1;
  if (once !== before(1) || twice !== before(2)) complain(`a rank holds ${once}, then ${twice}, of its neighbours`);
  move.destroy();
  for (const one of [memory, other]) one.free();
}

const scenes: Record<string, (world: World) => Promise<void>> = {
  everything: async (world) => {
    if (trap() !== 'caught') complain(`a trap is ${trap()}`);
    await transforms(world, 6);
    await movements(world);
    await agreements(world);
    if (world.size === 4) await predictions(world);
  },
  staged,
  'on devices': onDevices,
  'ends early': async (world) => {
    if (world.rank === 1) process.exit(0);
    await world.barrier();
  },
  'is killed': async (world) => {
    if (world.rank === 1) process.kill(process.pid, 'SIGKILL');
    await world.barrier();
  },
  throws: async (world) => {
    if (world.rank === 1) throw new Error('this rank has had enough');
    await world.barrier();
  },
};

const name = process.argv[2] ?? 'everything';
const library = process.env.OMNIFFT_TEST_MPI;
const devices = { staged: { device: 'opencl' }, 'on devices': { device: 'cuda' } } as const;
const device = name in devices ? devices[name as keyof typeof devices] : {};
const world = await openWorld('mpi', { ...device, ...(library ? { library } : {}) }).catch((error: unknown) => {
  process.stdout.write(`refused: ${error instanceof FftError ? error.code : String(error)}\n`);
  process.exit(3);
});
await scenes[name]!(world);
await world.close();
process.stdout.write(`done ${world.library}\n`);
