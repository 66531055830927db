/** Counts bank conflicts of a kernel whose shared memory holds pairs, from its phases alone. */
import { evaluate, type Index, type Kernel, reachable, type Var } from '../../src/ir/index.ts';

/** Turns that waves of neighbouring threads wait for a 4-byte bank, over all accesses of one group. */
export function conflictsOf(kernel: Kernel, banks = 32): number {
  const wave = (4 * banks) / (kernel.precision === 'f32' ? 8 : 16);
  let conflicts = 0;
  for (const { loops, stores } of kernel.phases) {
    const shared = [
      ...reachable(stores.map(({ value }) => value)).flatMap((node) =>
        node.op === 'load' && node.array.space === 'shared' ? [node.index] : [],
      ),
      ...stores.filter(({ array }) => array.space === 'shared').map(({ index }) => index),
    ];
    const pairs = shared.filter(({ constant }) => constant % 2 === 0);
    const items = loops.reduce((product, { variable }) => product * variable.count, 1);
    for (let start = 0; start < items; start += wave) {
      const threads = Array.from({ length: Math.min(wave, items - start) }, (_, t) => placeOf(start + t));
      for (const index of pairs) conflicts += waits(index, threads, wave);
    }
    function placeOf(item: number): Map<Var, number> {
      const at = new Map<Var, number>();
      for (const { variable } of [...loops].reverse()) {
        at.set(variable, item % variable.count);
        item = Math.floor(item / variable.count);
      }
      return at;
    }
  }
  return conflicts;
}

function waits(index: Index, threads: readonly Map<Var, number>[], wave: number): number {
  const banks = new Map<number, Set<number>>();
  for (const at of threads) {
    const element = evaluate(index, at) / 2;
    const bank = element % wave;
    banks.set(bank, (banks.get(bank) ?? new Set()).add(element));
  }
  return Math.max(0, ...[...banks.values()].map(({ size }) => size - 1));
}
