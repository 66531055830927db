/** Counts bank conflicts of a kernel whose shared memory holds pairs, from its phases alone. */
import { evaluate, type Index, type Kernel, type Phase, reachable, type Var } from '../../src/ir/index.ts';

/** Cycles that waves of neighbouring threads wait for a 4-byte bank, over all accesses of one group, or block of a cluster. */
export function conflictsOf(kernel: Kernel, banks = 32, rank = 0): number {
  const wave = (4 * banks) / (kernel.precision === 'f32' ? 8 : 16);
  let conflicts = 0;
  for (const phase of kernel.phases) {
    const { stores } = phase;
    const shared = [
      ...reachable(stores.map(({ value }) => value)).flatMap((node) =>
        node.op === 'load' && node.array.space === 'shared' ? [node.index] : [],
      ),
      ...stores.filter(({ array }) => array.space === 'shared').map(({ index }) => index),
    ];
    const pairs = shared.filter(({ constant }) => constant % 2 === 0);
    for (const threads of wavesOf(kernel, phase, wave, rank)) {
      for (const index of pairs) conflicts += waits(index, threads, wave);
    }
  }
  return conflicts;
}

/** What the variables of a phase are for neighbouring items, so many at a time, in one block of the first group. */
export function* wavesOf(
  { group, cluster }: Kernel,
  { loops }: Phase,
  wave: number,
  rank: number,
): Iterable<Map<Var, number>[]> {
  const items = loops.reduce((product, { variable }) => product * variable.count, 1);
  const placeOf = (item: number): Map<Var, number> => {
    const at = new Map<Var, number>([[group, 0]]);
    if (cluster) at.set(cluster.rank, rank);
    for (const { variable } of [...loops].reverse()) {
      at.set(variable, item % variable.count);
      item = Math.floor(item / variable.count);
    }
    return at;
  };
  for (let start = 0; start < items; start += wave) {
    yield Array.from({ length: Math.min(wave, items - start) }, (_, t) => placeOf(start + t));
  }
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
