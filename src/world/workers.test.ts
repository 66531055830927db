import { afterAll, expect, it } from 'vitest';
import { randomFor } from '../../test/support/random.ts';
import { randomWorldProblem, withZeros } from '../../test/support/world.ts';
import { type Call, triedOnWorld } from '../../test/support/world-trial.ts';
import { openDevice } from '../engine/index.ts';
import { openWorld, simulateWorld, type WorldProblemInput } from './index.ts';

const random = randomFor('world/workers');
const alone = await openDevice('cpu', { threads: 1 });
afterAll(() => alone.close());

it.each([1, 2, 3, 4, 6])('%i ranks transform what one device transforms, however they share it', async (ranks) => {
  const world = await openWorld('workers', { ranks });
  try {
    for (let round = 0; round < 8; round++) {
      const plain = randomWorldProblem(random, ranks, random.pick([60, 400, 1500]));
      const problem = round % 2 === 0 ? plain : withZeros(random, plain);
      for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
        expect(damage, what).toEqual([]);
        expect(error, what).toBeLessThanOrEqual(allowed);
      }
    }
  } finally {
    await world.close();
  }
});

it('memory of their device holds what host arrays do, whatever numbers it was allocated for', async () => {
  const world = await openWorld('workers', { ranks: 2 });
  const [device] = world.devices;
  const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
    new Uint8Array(buffer, byteOffset, byteLength);
  const called: Call = async (plan, direction, read, written) => {
    const memory = [read, written].map((arrays) =>
      arrays.map((array) => {
        const one = device!.alloc(array.byteLength, 'single');
        bytesOf(one.array).set(bytesOf(array));
        return one;
      }),
    );
    await plan[direction](memory[0]!, memory[1]!);
    [read, written].forEach((arrays, side) =>
      arrays.forEach((array, n) => bytesOf(array).set(bytesOf(memory[side]![n]!.array).subarray(0, array.byteLength))),
    );
  };
  try {
    // The caller's numbers are converted to halves at one end of the plan for either order of the axes.
    const swapped = { bricks: [2, 0].map((y) => ({ from: [0, y], to: [6, y + 2] })) };
    const sides = { input: swapped, output: swapped, decomposition: 'slab' } as const;
    const problem = { ...sides, size: [6, 4], precision: 'double', wire: 'half' } as const;
    for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone, called)) {
      expect(damage, what).toEqual([]);
      expect(error, what).toBeLessThanOrEqual(allowed);
    }
  } finally {
    await world.close();
  }
});

it.each<[WorldProblemInput]>([
  [{ size: [2 ** 17, 5], transform: 'r2c', precision: 'double' }],
  [{ size: [4, 10007], precision: 'single' }],
])('numbers of %j are rounded to halves once, by the pass that sends them', async (problem) => {
  const world = await openWorld('workers', { ranks: 3 });
  try {
    const slab = { ...problem, wire: 'half', output: 'any', decomposition: 'slab' } as const;
    for (const { what, error } of await triedOnWorld(world, slab, random, alone)) {
      // Rounding to 11 bits of mantissa changes each number by between 2^-13 and 2^-12 of it, on average.
      expect(error, what).toBeGreaterThan(2 ** -13);
      expect(error, what).toBeLessThan(2 ** -12);
    }
  } finally {
    await world.close();
  }
});

it('halves are sent as they are where halves are stored', async () => {
  const world = await openWorld('workers', { ranks: 2 });
  try {
    const x = [0, 1].map(() => Uint16Array.from({ length: 2 * 48 }, () => 0x3800 + random.integer(0, 2047)));
    const [y, z] = await Promise.all(
      (['half', 'storage'] as const).map(async (wire) => {
        const plan = await world.plan({ size: [6, 4, 4], storage: 'half', wire, decomposition: 'slab', output: 'any' });
        return plan.forward(x);
      }),
    );
    expect(y).toEqual(z);
  } finally {
    await world.close();
  }
});

it('what a plan decided is taken from its text, in a world of as many ranks only', async () => {
  const [three, two] = [await openWorld('workers', { ranks: 3 }), await openWorld('workers', { ranks: 2 })];
  try {
    const problem = { size: [12, 9, 6], decomposition: 'auto', output: 'any' } as const;
    const plan = await three.plan(problem);
    const again = await three.plan(problem, { from: plan.serialize() });
    expect(again.toJSON().chosen).toEqual(plan.toJSON().chosen);
    await expect(two.plan(problem, { from: plan.serialize() })).rejects.toMatchObject({ code: 'invalid-saved-plan' });
    const timed = await three.plan({ ...problem, strategy: 'measure' });
    expect(timed.explain()).toMatch(/chosen/);
  } finally {
    await three.close();
    await two.close();
  }
});

const size4096 = [512, 512, 512];
const columns = Array.from({ length: 4096 }, (_, rank) => {
  const [y, z] = [8 * (rank % 64), 8 * Math.floor(rank / 64)];
  return { from: [0, y, z], to: [512, y + 8, z + 8] };
});
it.each<[string, WorldProblemInput, number]>([
  ['on nodes of 8', { size: size4096 }, 8],
  ['on one node', { size: size4096 }, 4096],
  ['with bricks of their own', { size: size4096, input: { bricks: columns } }, 64],
])(
  '4 096 ranks %s are simulated in seconds, and send no less than what has to move',
  async (_, problem, perNode) => {
    const told = await simulateWorld({ ...problem, output: 'any' }, { ranks: 4096, perNode });
    const all = size4096.reduce((a, b) => a * b) * 8;
    for (const { bytes, leavingBytes } of told.chosen.exchanges) {
      expect(leavingBytes).toBeLessThanOrEqual(perNode === 4096 ? 0 : bytes);
      expect(bytes).toBeGreaterThan(0.9 * all);
    }
    expect(told.explain()).toContain(`4096 ranks on ${4096 / perNode} node`);
  },
  10_000,
);

it.each<[WorldProblemInput, number, string[]]>([
  [{ size: [16, 16, 16], output: 'any' }, 4, ['slab: xy (z cut), then z (x cut)', 'slab: xy (z cut), then z (y cut)']],
  [{ size: [8, 8, 8, 8], batches: 3 }, 6, ['none: xyzw (batches cut)']],
])('no two decompositions of %j by %i ranks have the same name', async (problem, ranks, expected) => {
  const { chosen, rejected } = await simulateWorld(problem, { ranks });
  const names = [chosen, ...rejected].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(expected));
});

it.each([
  ['a world of another kind', () => openWorld('cluster' as 'workers', { ranks: 2 }), 'invalid-argument'],
  ['no ranks', () => openWorld('workers', { ranks: 0 }), 'invalid-argument'],
  ['a misspelt option', () => openWorld('workers', { rank: 2 } as never), 'unknown-field'],
  ['half a rank', () => simulateWorld({ size: [8, 8] }, { ranks: 1.5 }), 'invalid-argument'],
] as const)('%s is refused', async (_, call, code) => {
  await expect(call()).rejects.toMatchObject({ code });
});

it('arrays of the wrong kind, length or number are refused, and what overlaps is', async () => {
  const world = await openWorld('workers', { ranks: 2 });
  try {
    const plan = await world.plan({ size: [4, 4], precision: 'double' });
    const good = () => plan.input.parts.map(({ length }) => new Float64Array(length));
    const codeOf = (input: unknown, output?: unknown) =>
      plan.forward(input as never, output as never).then(
        () => 'nothing',
        (error: { code: string }) => error.code,
      );
    expect(await codeOf(good()[0])).toBe('invalid-argument');
    expect(await codeOf([good()[0], new Float32Array(16)])).toBe('wrong-array-type');
    expect(await codeOf([good()[0], new Float64Array(15)])).toBe('wrong-length');
    const both = new Float64Array(64);
    expect(await codeOf([both.subarray(0, 16), good()[1]], [both.subarray(8, 24), good()[1]])).toBe('aliased-buffers');
    expect(await codeOf(good())).toBe('nothing');
    await world.close();
    expect(await codeOf(good())).toBe('world-unavailable');
  } finally {
    await world.close();
  }
});
