/**
 * Runs the launches of a plan by the interpreter, each of their buffers memory of its own that begins poisoned: any assignment of buffers
 * can be tried, not only the one that a device would take. Where a launch reads anything but what its node of the tree expects, the
 * result is not that of the reference, which knows nothing of plans.
 */
import { arrayOver } from '../../src/devices/host-arrays.ts';
import { typeOfStorage } from '../../src/engine/arguments/memory.ts';
import { binPosition } from '../../src/engine/plans/plan-side.ts';
import { fillTable } from '../../src/engine/programs/tables.ts';
import type { Device } from '../../src/index.ts';
import { type ArrayRef, type Kernel, storageBytes } from '../../src/ir/index.ts';
import { buildKernel } from '../../src/kernels/index.ts';
import type { BufferName } from '../../src/plan/buffers/index.ts';
import type { ConvolutionPlan } from '../../src/plan/convolution.ts';
import type { DirectionPlan } from '../../src/plan/planner.ts';
import { type Problem, type Side, tensorSpan } from '../../src/problem/index.ts';
import { interpret, type RealArray } from './interpret.ts';
import { bitsOf, changed, Edge } from './trial.ts';

type Numbers = Uint16Array | Float32Array | Float64Array;
/** What a call is given: an array, or one for each part. */
type Given = Numbers | { readonly re: Numbers; readonly im: Numbers };

function partsOf(given: Given): readonly Numbers[] {
  return 're' in given ? [given.re, given.im] : [given];
}

const tables = new Map<string, RealArray>();

function filled(table: Kernel['tables'][number]): RealArray {
  let data = tables.get(table.key);
  if (!data) {
    const { type, length } = table;
    tables.set(
      table.key,
      (data = arrayOver(type, new ArrayBuffer(length! * storageBytes(type)), 0, length!) as RealArray),
    );
    fillTable(data, table);
  }
  return data;
}

/** @param operands what launches read beside their sides, by name */
function run(plan: DirectionPlan, problem: Problem, from: Given, to: Given, operands: Record<string, Numbers>): void {
  const real = storageBytes(typeOfStorage(problem.storage));
  const scratch = new Map<BufferName, Uint8Array>();
  const memoryOf = (name: BufferName): readonly Numbers[] | Uint8Array => {
    if (name === 'input' || name === 'output') return partsOf(name === 'input' ? from : to);
    let own = scratch.get(name);
    // All bits set are no number of any type.
    if (!own) scratch.set(name, (own = new Uint8Array(2 * plan.tempElements * real).fill(0xff)));
    return own;
  };
  const bound = (name: BufferName, refs: readonly ArrayRef[]): RealArray[] => {
    const memory = memoryOf(name);
    return refs.map(({ type }, part) => {
      const bytes = memory instanceof Uint8Array ? memory : memory[part]!;
      const start = memory instanceof Uint8Array ? part * plan.tempElements * real : 0;
      const length = Math.floor((bytes.byteLength - start) / storageBytes(type));
      return arrayOver(type, bytes.buffer as ArrayBuffer, bytes.byteOffset + start, length) as RealArray;
    });
  };
  for (const { leaf, from: source, to: target } of plan.launches) {
    const kernel = buildKernel(leaf);
    const sides = kernel.globals.filter(({ operand }) => !operand);
    const read = leaf.input.format === 'planar' ? 2 : 1;
    const arrays = [...bound(source, sides.slice(0, read)), ...bound(target, sides.slice(read))];
    const memory = Object.fromEntries([
      ...sides.map(({ name }, n) => [name, arrays[n]!] as const),
      ...kernel.globals.filter(({ operand }) => operand).map(({ name }) => [name, operands[name]!] as const),
      ...kernel.tables.map((table) => [table.name, filled(table)] as const),
    ]);
    interpret(kernel, memory);
  }
}

/** The same on a copy of what is read, where launches may write that: everywhere but between its elements. */
function runOnCopy(plan: DirectionPlan, problem: Problem, from: Given, to: Given, operands: Record<string, Numbers>) {
  const copies = partsOf(from).map((array) => array.slice());
  const before = bitsOf(copies);
  run(plan, problem, copies.length > 1 ? { re: copies[0]!, im: copies[1]! } : copies[0]!, to, operands);
  const own = new Edge(problem, plan.direction === 'inverse' ? 'output' : 'input', copies).owned(true);
  const damage = changed('what lies between the elements of the input', copies, before, own);
  if (damage.length > 0) throw new Error(damage.join('; '));
}

/** Stands for a device that has this plan for the problem, and no other. @param kernels how those of a convolution are prepared. */
export function executing(plan: DirectionPlan, problem: Problem, kernels?: ConvolutionPlan): Device {
  const launches = plan.launches.map(({ node, from, to }) => ({ title: node.title, from, to }));
  const side = (name: Side) => ({ length: tensorSpan(problem, name) });
  const execute = problem.placement === 'in-place' || problem.preserveInput ? run : runOnCopy;
  const call = async (from: Given, to: Given | undefined) => execute(plan, problem, from, to ?? from, {});
  const planned = {
    problem,
    input: side('input'),
    output: { ...side('output'), order: (k: number, axis: number) => binPosition(plan.tree, axis, k) },
    ...{ forward: call, inverse: call },
    prepareKernel: async (h: Given) => {
      const words = 2 * kernels!.kernel.elements;
      const spectrum = problem.precision === 'single' ? new Float32Array(words) : new Float64Array(words);
      run(kernels!.prepare, problem, h, spectrum, {});
      return Object.assign(spectrum, { free: () => undefined });
    },
    convolve: async (x: Given, kernel: Numbers, y: Given | undefined) => execute(plan, problem, x, y ?? x, { kernel }),
    toJSON: () => ({ directions: [{ direction: plan.direction, launches }] }),
    destroy: () => undefined,
  };
  return { plan: async () => planned } as unknown as Device;
}
