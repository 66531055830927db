/** Plans that are kept: a later device neither plans nor compiles them, and they compute the same, bit for bit. */
import { createHash } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, randomFrom } from '../../../test/support/random.ts';
import { Shelf } from '../../../test/support/shelf.ts';
import { callModes, complaints } from '../../../test/support/transforms.ts';
import type { CodeStore } from '../../devices/code-cache/store.ts';
import { create as createCpu } from '../../devices/cpu/index.ts';
import type { Backend } from '../../devices/device.ts';
import { create as createOpenCl } from '../../devices/opencl/index.ts';
import type { ProblemInput } from '../../problem/index.ts';
import { Device } from '../device.ts';
import { packedContents, unpacked } from './container.ts';

const random = randomFor('engine/kept');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

const opened: Device[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
});

interface Watched {
  readonly device: Device;
  /** Kernels that were written since it was opened. */
  written(): number;
}

function watched(backend: Backend): Watched {
  const spy = vi.spyOn(backend, 'compile');
  const device = new Device(backend);
  opened.push(device);
  return { device, written: () => spy.mock.calls.length };
}

const cpu = async (store: CodeStore, threads = 1) => watched(await createCpu({ store, threads }));

/** What a plan says of itself. */
async function shown(device: Device, problem: ProblemInput) {
  const plan = await device.plan(problem);
  const facts = {
    json: plan.toJSON(),
    bytes: plan.bytes,
    kernels: plan.kernels,
    text: plan.explain(),
    saved: plan.serialize(),
  };
  plan.destroy();
  return facts;
}

/** Digests of what both directions make of random data. */
async function results(device: Device, problem: ProblemInput, seed: number): Promise<string[]> {
  const plan = await device.plan(problem);
  const fresh = randomFrom(seed);
  const digests: string[] = [];
  for (const direction of plan.directions) {
    const [read, written] = direction === 'forward' ? [plan.input, plan.output] : [plan.output, plan.input];
    const { edgeStorage, layout, placement } = plan.problem;
    const planar = layout[direction === 'forward' ? 'input' : 'output'] === 'planar';
    const bytes = Math.max(read.bytes, placement === 'in-place' ? written.bytes : 0) / (planar ? 2 : 1);
    const make = () => {
      if (edgeStorage === 'half') return new Uint16Array(bytes / 2).map(() => fresh.integer(0, 0x3c00));
      const count = bytes / (edgeStorage === 'single' ? 4 : 8);
      return (edgeStorage === 'single' ? new Float32Array(count) : new Float64Array(count)).map(
        () => fresh.unit() - 0.5,
      );
    };
    const data = planar ? { re: make(), im: make() } : make();
    const result = (await (direction === 'forward'
      ? plan.forward(data as never)
      : plan.inverse(data as never))) as never;
    const parts: Float32Array[] = ArrayBuffer.isView(result) ? [result] : Object.values(result);
    digests.push(...parts.map((part) => createHash('sha256').update(part).digest('hex')));
  }
  plan.destroy();
  return digests;
}

const problems: ProblemInput[] = [
  { size: [random.pick([64, 1000, 1024])], batches: random.integer(1, 5) },
  { size: [random.pick([4096, 16384])], precision: 'double', placement: 'in-place' },
  { size: [random.integer(2, 60), random.integer(2, 60)], transform: 'r2c', normalize: true },
  { size: [2 * random.integer(20, 200)], transform: 'r2c', directions: 'forward' },
  { size: [random.pick([1009, 2003])], directions: 'inverse' },
  { size: [random.integer(3, 40)], transform: random.pick(['dct1', 'dct2', 'dst3', 'dct4', 'dht'] as const) },
  {
    size: [random.pick([30, 128])],
    layout: { input: 'planar', output: 'planar' },
    batches: 3,
    scale: { forward: 0.5 },
  },
  { size: [40], precision: 'double-double' },
  { size: [2 ** 16], unordered: true, tuning: { uploadSwitch: { two: 1024 } } },
  { size: [16, 8, 5], storage: 'half', omit: [false, true, false] },
];

describe('a plan that was kept', () => {
  it.each(problems)('computes %j right without being planned or compiled anew', async (problem) => {
    const shelf = new Shelf();
    const first = await cpu(shelf);
    const facts = await shown(first.device, problem);
    expect(first.written()).toBeGreaterThan(0);
    expect(shelf.keys('plan')).toHaveLength(1);
    const second = await cpu(shelf);
    const seed = random.bits();
    expect(await results(second.device, problem, seed)).toEqual(await results(first.device, problem, seed));
    expect(second.written()).toBe(0);
    expect(await shown(second.device, problem)).toEqual(facts);
  });

  it.each(callModes)('is called like any other: %s', async (mode) => {
    const shelf = new Shelf();
    const problem = {
      size: [random.pick([30, 4096])],
      batches: 2,
      precision: random.pick(['single', 'double'] as const),
    };
    await shown((await cpu(shelf)).device, problem);
    const { device, written } = await cpu(shelf);
    expect(await complaints(device, problem, random, [mode])).toEqual([]);
    // Through memory of the caller's other launches are planned, as ever.
    if (mode !== 'work') expect(written()).toBe(0);
  });

  it('gives the same numbers, bit for bit, on one thread and on several', async () => {
    const shelf = new Shelf();
    const problem = { size: [2 ** 15], batches: 4, precision: 'single' } as const;
    const seed = random.bits();
    for (const threads of [1, 2]) {
      const first = await results((await cpu(shelf, threads)).device, problem, seed);
      const later = await cpu(shelf, threads);
      expect(await results(later.device, problem, seed)).toEqual(first);
      expect(later.written()).toBe(0);
    }
  });

  it('is found by what the caller has written, plain or not', async () => {
    const shelf = new Shelf();
    const descriptor = 'scfo60*3';
    const spread = Object.assign(Object.create(null), { size: [60], batches: 3 });
    for (const problem of [descriptor, { size: [60], batches: 3 }, spread] as ProblemInput[]) {
      const first = await (await cpu(shelf)).device.plan(problem);
      const later = await cpu(shelf);
      for (const plan of [await later.device.plan(problem), later.device.planSync(problem)]) {
        expect(plan.problem).toStrictEqual(first.problem);
        expect(Object.isFrozen(plan.problem.scale)).toBe(true);
      }
      expect(later.written()).toBe(0);
    }
    const { device } = await cpu(shelf);
    await expect(device.plan({ size: [60], batches: 3, more: 1 } as never)).rejects.toThrow(/more/);
    await expect(device.plan({ size: [60], batches: 3 }, { more: 1 } as never)).rejects.toThrow(/more/);
    device.close();
    await expect(device.plan({ size: [60], batches: 3 })).rejects.toMatchObject({ code: 'device-closed' });
  });

  it('shares kernels and tables with plans that were not', async () => {
    const shelf = new Shelf();
    await shown((await cpu(shelf)).device, { size: [512] });
    const { device, written } = await cpu(shelf);
    const one = await device.plan({ size: [512] });
    const other = await device.plan({ size: [512], batches: 2, directions: 'forward' });
    const again = await device.plan({ size: [512], normalize: true });
    expect(written()).toBeGreaterThan(0);
    one.destroy();
    const x = new Float32Array(1024).map(() => random.unit());
    const y = await again.inverse(await again.forward(x));
    expect(Math.max(...y.map((value, n) => Math.abs(value - x[n]!)))).toBeLessThan(1e-5);
    other.destroy();
    again.destroy();
    expect(device.alloc(64).bytes).toBeGreaterThanOrEqual(64);
  });

  it('is of one problem on one device: no other one takes it', async () => {
    const shelf = new Shelf();
    await shown((await cpu(shelf)).device, { size: [60] });
    const others: ProblemInput[] = [
      { size: [60], scale: { forward: 2 } },
      { size: [60], precision: 'double' },
    ];
    for (const problem of others) {
      const { device, written } = await cpu(shelf);
      expect(await complaints(device, problem, random, ['host'])).toEqual([]);
      expect(written()).toBeGreaterThan(0);
    }
    const less = watched(await createCpu({ store: shelf, threads: 1, profile: { sharedBytes: 4096 } }));
    await less.device.plan({ size: [60] });
    expect(less.written()).toBeGreaterThan(0);
  });

  it('is not kept where it has functions of the caller, is a convolution, or came from a text', async () => {
    const shelf = new Shelf();
    const { device } = await cpu(shelf);
    await device.plan({
      size: [8],
      callbacks: { forward: { load: (x, value) => ({ re: x.neg(value.re), im: value.im }) } },
    });
    await device.plan({ size: [8], convolution: {} });
    await device.plan({ size: [8], debug: true });
    expect(shelf.keys('plan')).toEqual([]);
    const saved = (await device.plan({ size: [12] })).serialize();
    shelf.entries.clear();
    await device.plan({ size: [12] }, { from: saved });
    expect(shelf.keys('plan')).toEqual([]);
  });

  it('is made anew where what was kept is of no use', async () => {
    const shelf = new Shelf();
    await shown((await cpu(shelf)).device, { size: [100] });
    const [[key, sound]] = [...shelf.entries] as [[string, Uint8Array]];
    const { data, stretches } = unpacked(sound);
    const useless = [
      new Uint8Array(),
      sound.subarray(0, sound.length - 8),
      Uint8Array.from(sound, () => 255),
      // Sound as far as it goes, but an engine refuses the code.
      packedContents({ data, stretches: stretches.map((part, n) => (n === 0 ? part.map((byte) => byte ^ 1) : part)) }),
    ];
    for (const bytes of useless) {
      shelf.entries.set(key, bytes);
      const { device, written } = await cpu(shelf);
      expect(await complaints(device, { size: [100] }, random, ['host'])).toEqual([]);
      expect(written()).toBeGreaterThan(0);
    }
  });

  it('of candidates that were timed is the fastest one, and is not timed again', async () => {
    const shelf = new Shelf();
    const problem = { size: [2 ** 12], strategy: 'measure' } as const;
    const first = await cpu(shelf);
    const facts = (await first.device.plan(problem)).toJSON();
    const second = await cpu(shelf);
    const plan = second.device.planSync(problem);
    expect(second.written()).toBe(0);
    expect(plan.toJSON()).toEqual(facts);
    // The winner is known without the plan, too.
    for (const key of shelf.keys('plan')) shelf.entries.delete(key);
    const third = await cpu(shelf);
    expect(third.device.planSync(problem).toJSON()).toEqual(facts);
  });
});

const kinds = [
  { name: 'CUDA, simulated', missing: !simulator, open: (store: CodeStore) => simulator!.open({ store }) },
  { name: 'OpenCL', missing: noOpenCl, open: (store: CodeStore) => createOpenCl({ store }) },
];

describe.each(kinds)('a plan that was kept on $name', ({ missing, open }) => {
  it.skipIf(missing)('is neither planned nor written anew', async () => {
    const shelf = new Shelf();
    const problem = { size: [random.pick([48, 60, 64])], batches: 3 };
    const first = watched(await open(shelf));
    const facts = await shown(first.device, problem);
    const binaries = shelf.keys('binary').length;
    expect(binaries).toBeGreaterThan(0);
    const second = watched(await open(shelf));
    expect(await complaints(second.device, problem, random, ['host'])).toEqual([]);
    expect(second.written()).toBe(0);
    expect(shelf.keys('binary')).toHaveLength(binaries);
    expect(await shown(second.device, problem)).toEqual(facts);
  });
});

describe('data with stretches of bytes', () => {
  it('come back as they were, from wherever they lie', () => {
    const contents = {
      data: { a: [1, 'ü', null] },
      stretches: [Uint8Array.of(1, 2, 3), new Uint8Array(), new Uint8Array(16).fill(7)],
    };
    const bytes = packedContents(contents);
    expect(unpacked(bytes)).toEqual(contents);
    const shifted = Buffer.alloc(bytes.length + 3);
    shifted.set(bytes, 3);
    const { data, stretches } = unpacked(shifted.subarray(3));
    expect(data).toEqual(contents.data);
    expect(stretches.map((part) => [...part])).toEqual(contents.stretches.map((part) => [...part]));
    for (const part of stretches) expect(part.byteOffset % 8).toBe(0);
  });
});
