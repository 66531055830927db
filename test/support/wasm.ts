/** Kernels of the IR as WebAssembly, beside the interpreter. */
import { expect } from 'vitest';
import { compileModule } from '../../src/devices/cpu/relaxed.ts';
import { emitWasm } from '../../src/emit/wasm/lower.ts';
import type { VectorArithmetic } from '../../src/emit/wasm/multiply-adds.ts';
import { type ElementType, type Kernel, verify } from '../../src/ir/index.ts';
import { interpret } from './interpret.ts';
import { poison } from './poison.ts';
import { randomFor, uniform } from './random.ts';

const random = randomFor('emit/wasm');
const PAGE = 65536;

export type Numbers = Float32Array | Float64Array;

/** Runs a kernel as WebAssembly over copies of the given arrays, at addresses that suit elements but no vectors. */
export function runWasm(
  kernel: Kernel,
  memory: Readonly<Record<string, Numbers>>,
  { first = 0, last = kernel.group.count, reverse = false }: { first?: number; last?: number; reverse?: boolean } = {},
  vectors: VectorArithmetic = {},
): Record<string, Numbers> {
  const pages = 16;
  const limits = { initial: pages, maximum: pages, shared: false };
  const { bytes, sharedBytes, parameters } = emitWasm(kernel, limits, vectors);
  const linear = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const element = kernel.precision === 'f32' ? 4 : 8;
  poison(new Uint8Array(linear.buffer));
  let address = 1024 + Math.ceil(sharedBytes / 64) * 64;
  const views: Record<string, Numbers> = {};
  const pointers = parameters.map((name) => {
    if (name === 'reverse') return reverse ? 1 : 0;
    const source = memory[name] as Numbers;
    // Only whole elements are promised, not whole vectors.
    address += element * random.integer(1, 9);
    const Numbers = kernel.precision === 'f32' ? Float32Array : Float64Array;
    const view = new Numbers(linear.buffer, address, source.length);
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
  return Object.fromEntries(Object.entries(views).map(([name, view]) => [name, view.slice()]));
}

export function numbers(type: ElementType, length: number): Numbers {
  const values = uniform(random, length, 'single');
  return type === 'f32' ? new Float32Array(values) : values;
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
