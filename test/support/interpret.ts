/** Runs kernels of the IR one item after another, in plain JavaScript: what every emitter has to agree with exactly. */
import {
  type ArrayRef,
  evaluate,
  joined,
  type Kernel,
  type Loop,
  type Phase,
  type Real,
  reachable,
  type Var,
} from '../../src/ir/index.ts';
import * as exact from '../../src/numeric/exact.ts';
import type { RealArray } from './strided.ts';

/**
 * @param memory one array for each of the kernel's globals and tables, by name; those that are stored to change.
 * @param phases those of the way to run.
 */
export function interpret(
  kernel: Kernel,
  memory: Readonly<Record<string, RealArray>>,
  phases: readonly Phase[] = kernel.phases,
): void {
  const single = kernel.precision === 'f32';
  const round = (value: number): number => (single ? Math.fround(value) : value);
  const constant = new Map<Real, number>();
  const known = (node: Extract<Real, { value: exact.Exact }>): number => {
    let value = constant.get(node);
    if (value === undefined) {
      value = single ? exact.toSingle(node.value) : exact.toNumber(node.value);
      constant.set(node, value);
    }
    return value;
  };
  for (let group = 0; group < kernel.group.count; group++) {
    const blocks = kernel.cluster?.blocks ?? 1;
    const shared = Array.from(
      { length: blocks },
      () =>
        new Map(
          kernel.shared.map((array) => {
            const length = array.length as number;
            return [array, (single ? new Float32Array(length) : new Float64Array(length)).fill(Number.NaN)];
          }),
        ),
    );
    const arrayOf = (array: ArrayRef, block: number): RealArray =>
      shared[block]!.get(array) ?? (memory[array.name] as RealArray);
    /** @param slice the value of the outermost variable, where only its items are to run. */
    const run = (phase: Phase, slice?: number): void => {
      const nodes = reachable(phase.stores.map((store) => store.value));
      const late: (() => void)[] = [];
      const { inPlace: together = 1 } = phase;
      const paired = nodes.some(({ op }) => op === 'swap');
      /** Loads and computes; what it returns stores. */
      const item = (at: ReadonlyMap<Var, number>, rank: number): (() => void)[] => {
        // Where items come in pairs, what the other one has is computed beside.
        const sides = paired ? [at, new Map(at).set(phase.lanes, at.get(phase.lanes)! ^ 1)] : [at];
        const results = sides.map(() => new Map<Real, number>());
        for (const node of nodes) {
          for (let side = 0; side < sides.length; side++) {
            const here = sides[side]!;
            const of = results[side]!;
            if (node.op === 'const') of.set(node, known(node));
            else if (node.op === 'conj') of.set(node, here.get(phase.lanes)! % 2 === 0 ? known(node) : -known(node));
            else if (node.op === 'load') of.set(node, arrayOf(node.array, rank)[evaluate(node.index, here)] as number);
            else if (node.op === 'swap') continue;
            else {
              const a = of.get(node.a) as number;
              if (node.op === 'neg') of.set(node, -a);
              else {
                const b = of.get(node.b) as number;
                of.set(node, round(node.op === 'add' ? a + b : node.op === 'sub' ? a - b : a * b));
              }
            }
          }
          if (node.op === 'swap') results.forEach((of, side) => of.set(node, results[1 - side]!.get(node.a)!));
        }
        const values = results[0]!;
        return phase.stores.map(({ array, index, value, block }) => {
          const place = evaluate(index, at);
          const result = values.get(value) as number;
          const target = arrayOf(array, block ? evaluate(block, at) : rank);
          return () => {
            target[place] = result;
          };
        });
      };
      /** One item; or, when the first one's turn comes, all that load before any of them stores. */
      const items = (at: ReadonlyMap<Var, number>, rank: number): void => {
        const first = at.get(phase.lanes)!;
        if (first % together !== 0) return;
        const own = Array.from({ length: together }, (_, n) => new Map(at).set(phase.lanes, first + n));
        const stores = (together > 1 ? own : [at]).flatMap((each) => item(each, rank));
        if (phase.readsFirst) late.push(...stores);
        else for (const store of stores) store();
      };
      const nest = (depth: number, at: Map<Var, number>, rank: number): void => {
        const loop = phase.loops[depth];
        if (!loop) return items(at, rank);
        const end = trips(loop, at);
        for (let i = 0; i < end; i++) nest(depth + 1, at.set(loop.variable, i), rank);
      };
      for (let rank = 0; rank < blocks; rank++) {
        const at = new Map([[kernel.group, group]]);
        if (kernel.cluster) at.set(kernel.cluster.rank, rank);
        if (slice === undefined) nest(0, at, rank);
        else nest(1, at.set(phase.loops[0]!.variable, slice), rank);
      }
      for (const store of late) store();
    };
    for (const together of joined(phases)) {
      const slices = together.length > 1 ? trips(together[0]!.loops[0]!, new Map([[kernel.group, group]])) : 0;
      if (together.length === 1) run(together[0]!);
      for (let slice = 0; slice < slices; slice++) for (const phase of together) run(phase, slice);
    }
  }
}

/** How often a loop runs, with the variables of those around it given. */
function trips({ variable, limit }: Loop, at: ReadonlyMap<Var, number>): number {
  return limit ? Math.min(variable.count, evaluate(limit, at)) : variable.count;
}
