/** Binaries of native kernels: a second device takes the binaries that a first one has kept, and compiles those that it cannot take. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { scaleKernel, steps, whole } from '../../../test/support/device-kernels.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { Shelf } from '../../../test/support/shelf.ts';
import type { CodeStore } from '../code-cache/store.ts';
import { RuntimeCompiler } from '../cuda/compiler.ts';
import type { Backend } from '../device.ts';
import { openCl } from '../opencl/api.ts';
import { create as createOpenCl } from '../opencl/index.ts';

const random = randomFor('devices/native/binaries');
const simulator = await buildSimulator();
const [GROUPS, LENGTH] = [3, 32];
const COUNT = GROUPS * LENGTH;
/** output = 3 · input. */
const kernel = scaleKernel(GROUPS, LENGTH, 2);

const opened: Backend[] = [];
afterEach(() => {
  for (const backend of opened.splice(0)) backend.close();
  vi.restoreAllMocks();
});
afterAll(() => simulator?.remove());

async function expectTripled(backend: Backend): Promise<void> {
  opened.push(backend);
  const x = new Float32Array(uniform(random, COUNT, 'single'));
  const [from, to] = [backend.allocate(4 * COUNT), backend.allocate(4 * COUNT)];
  const program = backend.bind(steps(backend, kernel, 1), [whole(from), whole(to)]);
  await backend.upload(whole(from), x);
  await program.run();
  const y = new Float32Array(COUNT).fill(Number.NaN);
  await backend.download(whole(to), y);
  expect(y).toEqual(x.map((value) => 3 * value));
}

const kinds = [
  {
    name: 'CUDA, simulated',
    missing: !simulator,
    open: (store: CodeStore) => simulator!.open({ store }),
    /** Counts what is compiled. */
    watch: async () => {
      const spies = (['compile', 'compileAside'] as const).map((name) => vi.spyOn(RuntimeCompiler.prototype, name));
      return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    },
  },
  {
    name: 'OpenCL',
    missing: noOpenCl,
    open: (store: CodeStore) => createOpenCl({ store }),
    watch: async () => {
      const spy = vi.spyOn(await openCl(), 'make');
      return () => spy.mock.calls.filter(([name]) => name === 'clCreateProgramWithSource').length;
    },
  },
];

describe.each(kinds)('binaries of $name', ({ missing, open, watch }) => {
  it.skipIf(missing)('are compiled once, and taken by devices that come later', async () => {
    const compiled = await watch();
    const shelf = new Shelf();
    await expectTripled(await open(shelf));
    expect([compiled(), shelf.entries.size]).toEqual([1, 1]);
    await expectTripled(await open(shelf));
    expect([compiled(), shelf.entries.size]).toEqual([1, 1]);
  });

  it.skipIf(missing)('are compiled anew where the driver does not take what was kept', async () => {
    const compiled = await watch();
    const shelf = new Shelf();
    shelf.get = () => Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    await expectTripled(await open(shelf));
    expect([compiled(), shelf.entries.size]).toEqual([1, 1]);
  });

  it.skipIf(missing)('come along with a kernel that is packed whole, for a device that keeps nothing', async () => {
    const compiled = await watch();
    const first = await open(new Shelf());
    opened.push(first);
    const packed = first.pack!(first.compile(kernel), true);
    const before = compiled();
    const second = await open(new Shelf());
    vi.spyOn(second, 'compile').mockImplementation(() => second.unpack!(structuredClone(packed), () => kernel));
    await expectTripled(second);
    expect(compiled()).toBe(before);
  });
});
