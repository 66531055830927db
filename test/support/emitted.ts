/** Kernels that an emitter's text ran, held against the interpreter. */
import { expect } from 'vitest';
import type { Backend, CompileOptions } from '../../src/devices/device.ts';
import {
  type ArrayRef,
  add,
  Expressions,
  type Kernel,
  type Phase,
  type StorageType,
  type Store,
  scale,
  type Var,
  variable,
  verify,
} from '../../src/ir/index.ts';
import { fixed, whole } from './device-kernels.ts';
import { fromHalf, toHalf } from './halves.ts';
import { interpret } from './interpret.ts';
import type { LanguageSample, Memory } from './language.ts';
import { type Random, uniform } from './random.ts';

/** Relative to the largest number of an array; a product and a sum may have been one operation. */
const TOLERANCE: Readonly<Record<StorageType, number>> = {
  f16: 2 ** -9,
  f32: 2 ** -19,
  f64: 2 ** -48,
  dd: 2 ** -98,
  u32: 0,
};

/** A copy, with the same types. */
export function copied(memory: Memory): Memory {
  return Object.fromEntries(Object.entries(memory).map(([name, values]) => [name, values.slice()]));
}

/**
 * Runs the kernel of a sample on a device, and holds the arrays that it leaves against the interpreter.
 * @returns the language that the device compiled
 */
export async function expectOnDevice(
  backend: Backend,
  sample: LanguageSample,
  options?: CompileOptions,
): Promise<string> {
  const { kernel } = sample;
  const memory = copied(sample.memory);
  const compiled = backend.compile(kernel, options);
  const arrays = [...kernel.globals, ...kernel.tables].map(({ name }) => memory[name]!);
  const places = arrays.map((array) => whole(backend.allocate(array.byteLength)));
  for (const [n, array] of arrays.entries()) await backend.upload(places[n]!, array);
  const bound = backend.bind([{ kernel: compiled, arguments: places.map(fixed) }], []);
  await bound.run();
  for (const n of kernel.globals.keys()) await backend.download(places[n]!, arrays[n]!);
  bound.release();
  const { language } = compiled;
  backend.discard(compiled);
  for (const { buffer } of places) buffer.free();
  expectAsInterpreted(sample, memory, isExact(sample));
  return language;
}

/**
 * @param got what the text left, by name of each global.
 * @param exact every number has to be the same one; zeros may differ in their signs.
 */
export function expectAsInterpreted({ name, kernel, memory }: LanguageSample, got: Memory, exact: boolean): void {
  expect(verify(kernel)).toEqual([]);
  const wanted = copied(memory);
  interpret(kernel, wanted);
  for (const array of kernel.globals) {
    const read = (values: Memory[string]) =>
      Array.from(values, (value) => (array.type === 'f16' ? fromHalf(value) : value));
    const [want, have] = [read(wanted[array.name]!), read(got[array.name]!)];
    const most = want.reduce((a, b) => (Number.isFinite(b) ? Math.max(a, Math.abs(b)) : a), 0);
    const bound = exact ? 0 : most * TOLERANCE[array.type];
    const bad = want.findIndex((value, n) => {
      const other = have[n]!;
      return value !== other && !(Math.abs(value - other) <= bound) && !(Number.isNaN(value) && Number.isNaN(other));
    });
    expect(bad, `${name}: ${array.name}[${bad}] is ${have[bad]}, should be ${want[bad]}`).toBe(-1);
  }
}

/** Random numbers for the globals of a kernel. @param lengths of each, in reals. */
export function dataFor(random: Random, kernel: Kernel, lengths: Readonly<Record<string, number>>): Memory {
  return Object.fromEntries(
    kernel.globals.map(({ name, type }) => {
      const values = uniform(random, lengths[name]!, 'single');
      if (type === 'f16') return [name, Uint16Array.from(values, toHalf)];
      return [name, type === 'f32' ? new Float32Array(values) : new Float64Array(values)];
    }),
  );
}

/** A kernel of one phase, whose items are those of one loop. */
export function onePhase(
  name: string,
  precision: Kernel['precision'],
  globals: readonly ArrayRef[],
  loop: Var,
  stores: readonly Store[],
  { group = variable('group', 1), threads = 1, ...phase }: Partial<Phase & Pick<Kernel, 'group' | 'threads'>> = {},
): Kernel {
  return {
    name,
    precision,
    group,
    threads,
    globals,
    tables: [],
    shared: [],
    phases: [{ loops: [{ variable: loop }], lanes: loop, stores, repeatable: true, exchange: 'group', ...phase }],
  };
}

/** Copies numbers of one type to another, in pairs or each for itself, so that neighbours' halves share words. */
function copies(
  name: string,
  kernelType: 'f32' | 'f64',
  from: ArrayRef,
  to: ArrayRef,
  count: number,
  pairs: boolean,
): Kernel {
  const x = new Expressions();
  const [group, i] = [variable('group', 4), variable('i', count / 4 / (pairs ? 2 : 1))];
  const place = add(i, scale(group, i.count));
  const parts = pairs ? [add(scale(place, 2)), add(scale(place, 2), 1)] : [place];
  const stores = parts.map((index) => ({ array: to, index, value: x.load(from, index) }));
  return onePhase(name, kernelType, [from, to], i, stores, { group, threads: 64 });
}

/** Every half is read and written back; and numbers near the middle between two halves, tiny and huge ones are rounded. */
export function halfSamples(random: Random, precision: 'f32' | 'f64'): LanguageSample[] {
  const all = Uint16Array.from({ length: 65536 }, (_, n) => n);
  const near = Float64Array.from({ length: 4096 }, () => {
    const half = fromHalf(random.integer(0, 65535));
    const step = 2 ** Math.max(-24, Math.floor(Math.log2(Math.abs(half) || 1)) - 10);
    const value = half + step * random.pick([0.5, -0.5, 0.25, 0.5 + 2 ** -11, 0.5 - 2 ** -11, 1.5]);
    return random.integer(0, 9) > 0
      ? value
      : random.pick([65519, 65520, 1e30, -1e9, 2 ** -25, 2 ** -26, 3e-8, -1e-20, 0]);
  });
  const array = (name: string, type: StorageType): ArrayRef => ({ name, space: 'global', type });
  return [true, false].flatMap((pairs) =>
    (
      [
        ['halves as numbers', 'f16', precision, all],
        ['halves as halves', 'f16', 'f16', all],
        ['numbers as halves', precision, 'f16', precision === 'f32' ? Float32Array.from(near) : near],
      ] as const
    ).map(([name, from, to, values]) => {
      const kernel = copies('halves', precision, array('input', from), array('output', to), values.length, pairs);
      const types = { f16: Uint16Array, f32: Float32Array, f64: Float64Array };
      return {
        name: `${name}, ${pairs ? 'pairs' : 'each'}`,
        kernel,
        memory: { input: values, output: new types[to](values.length) },
      };
    }),
  );
}

/** Whether no compiler may change a bit: nothing else than what is exact by itself is computed. */
export function isExact({ name }: LanguageSample): boolean {
  return name === 'error-free transforms' || name.startsWith('halves as') || name.startsWith('numbers as');
}
