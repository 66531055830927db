/** For tests: a small kernel with everything a kernel has but tables, and ways to bind it. */

import type { Backend, Binding, ProgramStep } from '../../src/devices/device.ts';
import { type ArrayRef, add, Expressions, type Kernel, scale, variable, verify } from '../../src/ir/index.ts';
import { FftError, type FftErrorCode } from '../../src/problem/errors.ts';

/** output = factor · input + input, over `groups` groups of `length` elements, by way of a shared array. */
export function scaleKernel(groups: number, length: number, factor: number, type: 'f32' | 'f64' = 'f32'): Kernel {
  const input: ArrayRef = { name: 'input', space: 'global', type };
  const output: ArrayRef = { name: 'output', space: 'global', type };
  const shared: ArrayRef = { name: 'shared', space: 'shared', type, length };
  const group = variable('group', groups);
  const at = (item: ReturnType<typeof variable>) => add(scale(group, length), item);
  const x = new Expressions();
  const y = new Expressions();
  const first = variable('item', length);
  const second = variable('item', length);
  const kernel: Kernel = {
    name: `scale${factor}`,
    precision: type,
    group,
    threads: 1,
    globals: [input, output],
    tables: [],
    shared: [shared],
    phases: [
      {
        loops: [{ variable: first }],
        lanes: first,
        stores: [{ array: shared, index: add(first), value: x.mul(x.constant(factor), x.load(input, at(first))) }],
        repeatable: true,
        exchange: 'group',
      },
      {
        loops: [{ variable: second }],
        lanes: second,
        stores: [{ array: output, index: at(second), value: y.add(y.load(shared, second), y.load(input, at(second))) }],
        repeatable: false,
        exchange: 'group',
      },
    ],
  };
  const problems = verify(kernel);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return kernel;
}

/** Memory that is known when a program is bound. */
export const fixed = (binding: Binding) => ({ fixed: binding });
/** A buffer from its beginning. */
export const whole = (buffer: Binding['buffer']): Binding => ({ buffer, byteOffset: 0 });

/** The same kernel `times` times from slot 0 to slot 1. */
export function steps(device: Backend, kernel: Kernel, times = 1): ProgramStep[] {
  const compiled = device.compile(kernel);
  const step: ProgramStep = {
    kernel: compiled,
    arguments: [
      { slot: 0, byteOffset: 0 },
      { slot: 1, byteOffset: 0 },
    ],
  };
  return Array.from({ length: times }, () => step);
}

/** The code of the FftError that a call ends with. */
export async function codeOf(work: () => unknown): Promise<FftErrorCode | undefined> {
  try {
    await work();
  } catch (error) {
    if (error instanceof FftError) return error.code;
    throw error;
  }
  return undefined;
}
