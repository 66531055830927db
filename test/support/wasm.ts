/** Kernels of the IR as WebAssembly, beside the interpreter. */
import { expect } from 'vitest';
import { compileModule } from '../../src/devices/cpu/relaxed.ts';
import { arrayOver, typeOfArray } from '../../src/devices/host-arrays.ts';
import { emitWasm } from '../../src/emit/wasm/lower.ts';
import type { VectorArithmetic } from '../../src/emit/wasm/multiply-adds.ts';
import { type Kernel, type NumberType, storageBytes, verify } from '../../src/ir/index.ts';
import { interpret } from './interpret.ts';
import { poison } from './poison.ts';
import { randomFor, uniform } from './random.ts';

const random = randomFor('emit/wasm');
const PAGE = 65536;

export type Numbers = Float32Array | Float64Array;
type AnyNumbers = Numbers | Uint16Array | Uint32Array;

/** Runs a kernel as WebAssembly over copies of the given arrays, at addresses that suit elements but no vectors. */
export function runWasm<T extends AnyNumbers>(
  kernel: Kernel,
  memory: Readonly<Record<string, T>>,
  { first = 0, last = kernel.group.count, reverse = false }: { first?: number; last?: number; reverse?: boolean } = {},
  vectors: VectorArithmetic = {},
): Record<string, T> {
  const pages = 16;
  const limits = { initial: pages, maximum: pages, shared: false };
  const { bytes, sharedBytes, parameters } = emitWasm(kernel, limits, vectors);
  const linear = new WebAssembly.Memory({ initial: pages, maximum: pages });
  poison(new Uint8Array(linear.buffer));
  let address = 1024 + Math.ceil(sharedBytes / 64) * 64;
  const views: Record<string, T> = {};
  const pointers = parameters.map((name) => {
    if (name === 'reverse') return reverse ? 1 : 0;
    const source = memory[name] as T;
    const type = typeOfArray(source);
    // Only whole elements are promised, not whole vectors.
    const element = storageBytes(type);
    address = element * (Math.ceil(address / element) + random.integer(1, 9));
    const view = arrayOver(type, linear.buffer, address, source.length) as T;
    view.set(source);
    views[name] = view;
    const pointer = address;
    address += source.byteLength;
    return pointer;
  });
  expect(address).toBeLessThan(pages * PAGE);
  const { run } = new WebAssembly.Instance(compileModule(bytes), { env: { memory: linear } }).exports as {
    run: (...values: number[]) => void;
  };
  run(first, last, 1024, ...pointers);
  return Object.fromEntries(Object.entries(views).map(([name, view]) => [name, view.slice() as T]));
}

export function numbers(type: NumberType, length: number): Numbers {
  const values = uniform(random, length, 'single');
  return type === 'f32' ? new Float32Array(values) : values;
}

/** The same for given memory, as it is bit by bit but for the signs of zeros. */
export function expectSameMemory(kernel: Kernel, memory: Readonly<Record<string, AnyNumbers>>): void {
  expect(verify(kernel)).toEqual([]);
  const compiled = runWasm(kernel, memory);
  interpret(kernel, memory as Record<string, Numbers>);
  for (const [name, want] of Object.entries(memory)) {
    const same = want.every((value, n) => value === compiled[name]![n]);
    if (!same) expect(Array.from(compiled[name]!), name).toEqual(Array.from(want));
  }
}

/** Expects WebAssembly and the interpreter to leave the same numbers everywhere, whichever way a kernel runs. */
export function expectSame(kernel: Kernel, lengths: Readonly<Record<string, number>>, reverse = false): void {
  expect(verify(kernel)).toEqual([]);
  const memory = Object.fromEntries(
    Object.entries(lengths).map(([name, length]) => [name, numbers(kernel.precision, length)]),
  );
  const compiled = runWasm(kernel, memory, { reverse });
  interpret(kernel, memory, reverse ? kernel.reverse : kernel.phases);
  for (const name of Object.keys(memory)) {
    const [got, want] = [compiled[name] as Numbers, memory[name] as Numbers];
    // Adding 0 makes −0 equal to 0: loads that turn out to be the same cancel to a zero without a sign.
    expect(
      Array.from(got, (value) => value + 0),
      name,
    ).toEqual(Array.from(want, (value) => value + 0));
  }
  if (kernel.reverse && !reverse) expectSame(kernel, lengths, true);
}
