/** Plans that were saved with their code: they need no compiler, and say what does not fit. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { randomFor } from '../../../test/support/random.ts';
import { create as createCpu } from '../../devices/cpu/index.ts';
import { RuntimeCompiler } from '../../devices/cuda/compiler.ts';
import type { Backend } from '../../devices/device.ts';
import { openCl } from '../../devices/opencl/api.ts';
import { create as createOpenCl } from '../../devices/opencl/index.ts';
import { Device } from '../device.ts';
import { openProfile } from '../open-profile.ts';

const random = randomFor('engine/kept/binaries');
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

const opened: Pick<Device, 'close'>[] = [];
afterEach(() => {
  for (const device of opened.splice(0)) device.close();
  vi.restoreAllMocks();
});

async function held(backend: Promise<Backend>): Promise<Device> {
  const device = new Device(await backend);
  opened.push(device);
  return device;
}

const problem = { size: [random.pick([48, 60, 100])], batches: 2, precision: 'single' } as const;
const signal = new Float32Array(4 * problem.size[0]!).map(() => random.unit() - 0.5);

async function saved(device: Device) {
  const plan = await device.plan(problem);
  const bytes = plan.serialize({ binaries: true });
  return { bytes, spectrum: await plan.forward(signal), back: await plan.inverse(signal) };
}

const kinds = [
  {
    name: 'the CPU',
    missing: false,
    open: () => createCpu({ threads: 1 }),
    later: () => createCpu({ threads: 1 }),
    watch: async () => () => 0,
  },
  {
    name: 'CUDA, simulated',
    missing: !simulator,
    open: () => simulator!.open(),
    later: () => simulator!.open({}, false),
    watch: async () => {
      const spies = (['compile', 'compileAside'] as const).map((name) => vi.spyOn(RuntimeCompiler.prototype, name));
      return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    },
  },
  {
    name: 'OpenCL',
    missing: noOpenCl,
    open: () => createOpenCl(),
    later: () => createOpenCl(),
    watch: async () => {
      const spy = vi.spyOn(await openCl(), 'make');
      return () => spy.mock.calls.filter(([name]) => name === 'clCreateProgramWithSource').length;
    },
  },
];

describe.each(kinds)('a plan saved with its binaries, on $name', ({ missing, open, later, watch }) => {
  it.skipIf(missing)('computes the same without a compiler', async () => {
    const first = await saved(await held(open()));
    const compiled = await watch();
    const backend = await later();
    const written = vi.spyOn(backend, 'compile');
    const device = await held(Promise.resolve(backend));
    for (const plan of [
      await device.plan(problem, { from: first.bytes }),
      device.planSync(problem, { from: Buffer.from(first.bytes) }),
    ]) {
      expect(await plan.forward(signal)).toEqual(first.spectrum);
      expect(await plan.inverse(signal)).toEqual(first.back);
      const again = await device.plan(problem, { from: plan.serialize({ binaries: true }) });
      expect(await again.forward(signal)).toEqual(first.spectrum);
      expect(plan.serialize()).toMatch(/omnifft-plan/);
    }
    expect([written.mock.calls.length, compiled()]).toEqual([0, 0]);
  });

  it.skipIf(missing)('says by name what of the system is another', async () => {
    const { bytes } = await saved(await held(open()));
    const backend = await later();
    const own = backend.codeFacts!;
    const name = Object.keys(own).find((fact) => fact !== 'compiler')!;
    vi.spyOn(backend, 'codeFacts', 'get').mockReturnValue({ ...own, [name]: 'another', compiler: 'another' });
    const device = await held(Promise.resolve(backend));
    const refusal = expect.objectContaining({ code: 'invalid-saved-plan', message: expect.stringContaining(name) });
    await expect(device.plan(problem, { from: bytes })).rejects.toEqual(refusal);
  });
});

describe('a plan saved with its binaries', () => {
  it('is refused where it does not fit, and says why', async () => {
    const device = await held(createCpu({ threads: 1 }));
    const { bytes } = await saved(device);
    const refused = (from: unknown, of: object = problem, on = device) =>
      expect(on.plan(of as typeof problem, { from: from as Uint8Array })).rejects;
    const says = (text: string) =>
      expect.objectContaining({ code: 'invalid-saved-plan', message: expect.stringContaining(text) });
    await refused(bytes, { ...problem, normalize: true }).toEqual(says('another problem'));
    const other = await held(createCpu({ threads: 1, profile: { sharedBytes: 1 << 14 } }));
    await refused(bytes, problem, other).toEqual(says('sharedBytes'));
    const profile = await openProfile('h100');
    opened.push(profile);
    await refused(bytes, problem, profile as unknown as Device).toEqual(says("'cpu'"));
    for (const from of [
      null,
      {},
      [],
      7,
      new Float32Array(4),
      new Uint8Array(),
      new Uint8Array(64).fill(255),
      new Uint8Array(999),
    ]) {
      await refused(from).toEqual(says('saved plan'));
    }
  });

  it('is refused where a bit has changed, or a byte is missing', async () => {
    const device = await held(createCpu({ threads: 1 }));
    const { bytes } = await saved(device);
    for (let n = 0; n < 60; n++) {
      const damaged = n % 6 === 0 ? bytes.slice(0, random.integer(0, bytes.length - 9)) : bytes.slice();
      if (n % 6 !== 0) damaged[random.integer(0, bytes.length - 9)]! ^= 1 << random.integer(0, 7);
      const plan = await device.plan(problem, { from: damaged }).catch((error) => error);
      // Bytes between the parts are padding, and belong to no part.
      if (plan instanceof Error) expect(plan).toMatchObject({ code: 'invalid-saved-plan' });
      else expect(await plan.forward(signal)).toEqual((await saved(device)).spectrum);
    }
  });

  it('is not had of what cannot be saved so', async () => {
    const device = await held(createCpu({ threads: 1 }));
    const unsupported = expect.objectContaining({ code: 'unsupported-feature' });
    const convolving = await device.plan({ size: [8], convolution: {} });
    expect(() => convolving.serialize({ binaries: true })).toThrow(unsupported);
    const profile = await openProfile('h100');
    opened.push(profile);
    const planned = await profile.plan(problem);
    expect(() => planned.serialize({ binaries: true })).toThrow(unsupported);
    const plan = await device.plan(problem);
    expect(() => plan.serialize({ binaries: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    expect(() => plan.serialize({ more: true } as never)).toThrow(expect.objectContaining({ code: 'unknown-field' }));
    plan.destroy();
    expect(() => plan.serialize({ binaries: true })).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });
});
