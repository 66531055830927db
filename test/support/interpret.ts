/** Runs kernels of the IR one item after another, in plain JavaScript: what every emitter has to agree with exactly. */
import { type ArrayRef, evaluate, type Kernel, type Real, reachable, type Var } from '../../src/ir/index.ts';
import * as exact from '../../src/numeric/exact.ts';
import type { RealArray } from './strided.ts';

/** @param memory one array for each of the kernel's globals and tables, by name; those that are stored to change. */
export function interpret(kernel: Kernel, memory: Readonly<Record<string, RealArray>>): void {
  const single = kernel.precision === 'f32';
  const round = (value: number): number => (single ? Math.fround(value) : value);
  const constant = new Map<Real, number>();
  const known = (node: Extract<Real, { op: 'const' }>): number => {
    let value = constant.get(node);
    if (value === undefined) {
      value = single ? exact.toSingle(node.value) : exact.toNumber(node.value);
      constant.set(node, value);
    }
    return value;
  };
  for (let group = 0; group < kernel.group.count; group++) {
    const shared = new Map(
      kernel.shared.map((array) => [
        array,
        (single ? new Float32Array(array.length as number) : new Float64Array(array.length as number)).fill(Number.NaN),
      ]),
    );
    const arrayOf = (array: ArrayRef): RealArray => shared.get(array) ?? (memory[array.name] as RealArray);
    for (const phase of kernel.phases) {
      const nodes = reachable(phase.stores.map((store) => store.value));
      const late: (() => void)[] = [];
      const item = (at: ReadonlyMap<Var, number>): void => {
        const values = new Map<Real, number>();
        for (const node of nodes) {
          if (node.op === 'const') values.set(node, known(node));
          else if (node.op === 'load') values.set(node, arrayOf(node.array)[evaluate(node.index, at)] as number);
          else {
            const a = values.get(node.a) as number;
            if (node.op === 'neg') values.set(node, -a);
            else {
              const b = values.get(node.b) as number;
              values.set(node, round(node.op === 'add' ? a + b : node.op === 'sub' ? a - b : a * b));
            }
          }
        }
        for (const { array, index, value } of phase.stores) {
          const place = evaluate(index, at);
          const result = values.get(value) as number;
          const store = () => {
            arrayOf(array)[place] = result;
          };
          if (phase.readsFirst) late.push(store);
          else store();
        }
      };
      const nest = (depth: number, at: Map<Var, number>): void => {
        const loop = phase.loops[depth];
        if (!loop) return item(at);
        const limit = loop.limit ? evaluate(loop.limit, at) : Number.POSITIVE_INFINITY;
        for (let i = 0; i < Math.min(loop.variable.count, limit); i++) nest(depth + 1, at.set(loop.variable, i));
      };
      nest(0, new Map([[kernel.group, group]]));
      for (const store of late) store();
    }
  }
}
