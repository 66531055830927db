/** Worlds of GPUs on a host with simulated ones, which delay work as long as the rules of streams and contexts allow. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { randomFor } from '../../../test/support/random.ts';
import { triedOnWorld } from '../../../test/support/world-trial.ts';
import { openDevice } from '../../engine/index.ts';
import type { Brick, WorldProblemInput } from '../../problem/world/index.ts';
import { type GpusWorldOptions, openGpusWorld } from '../open.ts';

const random = randomFor('world/gpus');
const simulator = await buildSimulator();
const alone = await openDevice('cpu', { threads: 1 });
afterAll(() => {
  alone.close();
  simulator?.remove();
});

describe.runIf(simulator)('on simulated GPUs', () => {
  const sim = simulator as Simulator;
  const open = (options: GpusWorldOptions) => openGpusWorld(options, { kind: sim.kind, nccl: sim.library });

  beforeEach(() => sim.setDevices(4));
  afterEach(() => {
    sim.setDevices(1);
    const { memory, host, streams, events, modules, graphs, contexts, faults } = sim.counts();
    expect({ memory, host, streams, events, modules, graphs, contexts, faults }).toEqual({
      ...{ memory: 0, host: 0, streams: 0, events: 0, modules: 0, graphs: 0, contexts: 0, faults: 0 },
    });
  });

  const tried = async (options: GpusWorldOptions, problems: readonly WorldProblemInput[]) => {
    const world = await open(options);
    try {
      for (const problem of problems) {
        for (const { what, error, allowed, damage } of await triedOnWorld(world, problem, random, alone)) {
          expect(damage, what).toEqual([]);
          expect(error, what).toBeLessThanOrEqual(allowed);
        }
      }
    } finally {
      await world.close();
    }
  };
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'nothing',
      ({ code }: { code: string }) => code,
    );

  const uneven: WorldProblemInput = { size: [8, 6, 10], output: 'any', normalize: true, decomposition: 'slab' };
  it.each(['peer', 'copy', 'nccl'] as const)('they exchange by %s what one device computes', async (exchange) => {
    const before = sim.ncclMessages();
    await tried({ devices: [2, 0, 3], exchange }, [
      uneven,
      { ...uneven, size: [6, 9, 7], transform: 'r2c', precision: 'double', chunks: 2 },
    ]);
    expect(sim.ncclMessages() > before).toBe(exchange === 'nccl');
  });

  it.each(['peer', 'copy'] as const)('they send halves by %s where passes can make them', async (exchange) => {
    const counted = async (wire: 'half' | 'storage') => {
      const world = await open({ devices: [0, 1, 2], exchange });
      const plan = await world.plan({ ...uneven, wire });
      await plan.forward(plan.input.parts.map(({ length }) => new Float32Array(length)));
      await world.close();
      const [told] = plan.toJSON().chosen.exchanges;
      return { told: told!.bytes, sent: world.counters.bytes };
    };
    const { told, sent } = await counted('storage');
    expect(await counted('half')).toEqual({ told: told / 2, sent: sent / 2 });
    await tried({ devices: [0, 1, 2], exchange }, [{ ...uneven, wire: 'half', output: 'as-input' }]);
  });

  it('they take two windows in turn where axes are cut twice, and copy where bricks of the caller are no stages', async () => {
    const bricks = [
      { from: [0, 0, 0], to: [4, 5, 6], rank: 1, strides: [1, 5, 25] },
      { from: [4, 0, 0], to: [8, 5, 6], rank: 3 },
      { from: [0, 5, 0], to: [8, 6, 6], rank: 3 },
    ];
    const zeroPadding = { space: [null, { from: 3, to: 6 }, null] };
    await tried({ exchange: 'peer' }, [
      { size: [8, 6, 6], output: 'any', decomposition: [2, 2] },
      { size: [8, 6, 6], input: { bricks }, decomposition: 'slab', zeroPadding },
    ]);
  });

  it('they compute a stream of calls in place, none of which is awaited before the next one', async () => {
    for (const exchange of ['peer', 'copy'] as const) {
      const world = await open({ exchange });
      const plan = await world.plan(uneven);
      const most = (n: number) => Math.max(plan.input.parts[n]!.bytes, plan.output.parts[n]!.bytes);
      const memory = world.ranks.map((n) => world.devices[n]!.alloc(most(n)));
      const x = plan.input.parts.map(({ length }) => new Float32Array(length).map(() => 2 * random.unit() - 1));
      const y = plan.output.parts.map(({ length }) => new Float32Array(length).fill(Number.NaN));
      const direct = (await plan.forward(x)) as Float32Array[];
      const copy = await world.redistribute({ ...moved(plan.input.bricks), size: [8, 6, 10] });
      await copy.forward(x, memory);
      const calls = [plan.forward(memory, memory), plan.inverse(memory, memory), plan.forward(memory, memory)];
      const back = await world.redistribute({ ...moved(plan.output.bricks), size: [8, 6, 10] });
      calls.push(back.forward(memory, y) as never);
      await Promise.all(calls);
      y.forEach((part, n) => {
        const worst = part.reduce((most, value, k) => Math.max(most, Math.abs(value - direct[n]![k]!)), 0);
        expect(worst).toBeLessThan(1e-4);
      });
      expect((await world.gather(plan.output, y, { root: 2 }))?.length).toBe(2 * 480);
      await world.close();
      await world.close();
    }
  });

  it('they say how they exchange, and send as much as the plan has told', async () => {
    const world = await open({ devices: [0, 1] });
    const plan = await world.plan({ ...uneven, size: [16, 4, 4] });
    expect(plan.explain()).toMatch(/stores into the memory of peers/);
    expect(plan.explain()).toMatch(/one GPU alone .*, (faster|slower) than 2/);
    const before = world.counters.bytes;
    await plan.forward(plan.input.parts.map(({ length }) => new Float32Array(length)));
    expect(world.counters.bytes - before).toBe(plan.toJSON().chosen.exchanges[0]!.bytes);
    const pairs = await world.plan({ size: [16, 4, 4], exchange: 'pairs', output: 'any', decomposition: 'slab' });
    expect(pairs.toJSON().exchange).toMatch(/copies between devices/);
    // Rows of two bins in single precision are shorter than the least store of a kernel.
    expect((await world.plan({ size: [4, 4], output: 'any', decomposition: 'slab' })).toJSON().exchange).toMatch(
      /copies/,
    );
    await world.close();
    sim.setDevices(2, false);
    const apart = await open({});
    expect((await apart.plan({ size: [4, 4], output: 'any', decomposition: 'slab' })).toJSON().exchange).toMatch(
      /NCCL/,
    );
    expect(apart.library).toMatch(/ 2\.28\.3$/);
    await apart.close();
  });

  it('what cannot be done is refused by name', async () => {
    await expect(open({ devices: [0, 7] })).rejects.toMatchObject({
      code: 'world-unavailable',
      message: expect.stringMatching(/GPU 7 .* sees 4/),
    });
    expect(await codeOf(open({ devices: [1, 1] }))).toBe('invalid-argument');
    expect(await codeOf(open({ exchange: 'fax' as never }))).toBe('invalid-argument');
    const absent = { names: ['libnccl-of-nobody.so'], what: 'NCCL', install: '' };
    const without = (exchange: 'nccl') => openGpusWorld({ exchange }, { kind: sim.kind, nccl: absent });
    expect(await codeOf(without('nccl'))).toBe('world-unavailable');
    sim.setDevices(4, false);
    expect(await codeOf(open({ exchange: 'peer' }))).toBe('world-unavailable');
    sim.setDevices(4);
    const world = await open({ devices: [0, 1] });
    const plan = await world.plan(uneven);
    const memory = [1, 0].map((n) => world.devices[n]!.alloc(plan.input.bytes));
    expect(await codeOf(plan.forward(memory))).toBe('foreign-buffer');
    expect(await codeOf(world.plan({ ...uneven, exchange: 'types' }))).toBe('unsupported-feature');
    sim.setMemory(2 ** 16);
    expect(await codeOf(world.plan({ ...uneven, size: [32, 32, 32] }))).toBe('out-of-memory');
    sim.setMemory(2 ** 32);
    await world.close();
    expect(await codeOf(plan.forward(memory))).toBe('world-unavailable');
  });
});

/** A redistribution that moves nothing. */
function moved(held: readonly Brick[]) {
  const bricks = held.map(({ from, to, rank, strides }) => ({ from, to, rank, strides }));
  return { input: { bricks }, output: { bricks } };
}
