/** The probe detects devices that break double-word arithmetic. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { Device } from '../../engine/device.ts';
import { Expressions, type Kernel, type Real, reachable, Substitution } from '../../ir/index.ts';
import type { Backend } from '../device.ts';
import { create as createWebGpuBackend } from './index.ts';
import { pairErrors, pairsSurvive, TRIED } from './probe.ts';

type Rule = (node: Real) => Real | undefined;

/** (a + b) − a is b. */
const reordered: Rule = (node) => {
  if (node.op !== 'exactSub' || node.a.op !== 'exactAdd') return undefined;
  const { a, b } = node.a;
  return node.b === a ? b : node.b === b ? a : undefined;
};

/** The kernel after a rewrite by a compiler that assumes exact arithmetic. */
function rewritten(kernel: Kernel, rule: Rule): Kernel {
  const phases = kernel.phases.map((phase) => {
    const x = new Expressions();
    const made = new Map<Real, Real>();
    const same = new Substitution(new Map());
    for (const node of reachable(phase.stores.map(({ value }) => value))) {
      const again = x.rebuilt(node, (operand) => made.get(operand)!, same);
      made.set(node, rule(again) ?? again);
    }
    return { ...phase, stores: phase.stores.map((store) => ({ ...store, value: made.get(store.value)! })) };
  });
  return { ...kernel, phases };
}

/** The device with a compiler that rewrites kernels. */
function behind(backend: Backend, rule: Rule): Backend {
  return new Proxy(backend, {
    get(target, name) {
      if (name === 'compile') return (kernel: Kernel) => target.compile(rewritten(kernel, rule));
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe.skipIf(noWebGpu)('doubles of two singles', { timeout: 60_000 }, () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createWebGpuBackend({ software: true });
  });
  afterAll(() => backend?.close());

  it('have 44 bits after each operation, whichever operand is constant', async () => {
    const own = await createWebGpuBackend({ software: true });
    await own.probePairs?.();
    const errors = await pairErrors(own);
    own.close();
    // Operands and results are at most 8, so errors are counted in units in the last place of 8.
    const off = TRIED.map(({ name }, n) => [name, errors[n]! * 2 ** 44] as const).filter(([, units]) => !(units <= 4));
    expect(off).toEqual([]);
  });

  it('survive where operations are left as they are, and not where they are reordered', async () => {
    expect(await pairsSurvive(backend)).toBe(true);
    expect(await pairsSurvive(behind(backend, reordered))).toBe(false);
  });

  it('are refused where they do not', async () => {
    const broken = new Proxy(backend, {
      get(target, name) {
        if (name === 'pairsBroken') return 'sums are reordered';
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const refused = new Device(broken).plan({ size: [8], precision: 'double' });
    await expect(refused).rejects.toMatchObject({ code: 'unsupported-precision' });
    await expect(refused).rejects.toThrow(/sums are reordered/);
  });

  it('are tried once, and not by those who cannot wait', async () => {
    const device = new Device(await createWebGpuBackend({ software: true }));
    expect(() => device.planSync({ size: [8], precision: 'double' })).toThrow(/yet to be tried/);
    await device.plan({ size: [8], precision: 'double' });
    device.planSync({ size: [8], precision: 'double' }).destroy();
    device.close();
  });
});
