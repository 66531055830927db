/**
 * How long a plan for n = 1024 takes to make: cold on a fresh device and in a fresh process, once it has been seen, and in a fresh process
 * where an earlier one has kept it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runChild, timeProcess } from '../children/run.ts';
import { libraryUrl, loadLibrary, numpySyncUrl, numpyUrl } from '../library.ts';
import { median } from '../measure.ts';
import type { Figure, Table } from '../table.ts';

const problem = { size: [1024], precision: 'single' } as const;

/** What children/create.mjs prints, in milliseconds. */
interface Created {
  readonly load: number;
  readonly open: number;
  readonly cold: number;
  readonly warm: number;
  readonly again: number;
}

export const create: Table = {
  name: 'create',
  title: 'making a plan for n = 1024, warm-up of its kernels included',
  async measure({ quick }) {
    const repeats = quick ? 3 : 9;
    const { openDevice } = await loadLibrary();
    const coldHere: number[] = [];
    const warmHere: number[] = [];
    for (let i = 0; i < repeats; i++) {
      const device = await openDevice('cpu', { threads: 1 });
      const timed = async (into: number[]) => {
        const start = performance.now();
        const plan = await device.plan(problem);
        into.push(performance.now() - start);
        plan.destroy();
      };
      await timed(coldHere);
      for (let j = 0; j < repeats; j++) await timed(warmHere);
      await device.close();
    }
    const fresh: Created[] = [];
    for (let i = 0; i < repeats; i++) fresh.push(await runChild<Created>('create.mjs', [libraryUrl]));
    const first = await firstTransforms(repeats);
    const kept = await whereKept(repeats);
    const middle = (label: string, values: readonly number[], atMost?: number): Figure => ({
      label,
      value: median(values),
      unit: 'ms',
      ...(atMost === undefined ? {} : { atMost }),
    });
    const of = (key: keyof Created) => fresh.map((times) => times[key]);
    return {
      rows: [],
      figures: [
        middle('fresh process: loading the library', of('load')),
        middle('fresh process: openDevice', of('open')),
        middle('fresh process: first plan', of('cold'), 20),
        middle('fresh process: the same plan while the first lives', of('warm'), 1),
        middle('fresh process: the same plan after all were destroyed', of('again'), 1),
        middle("fresh process: a first rfft of omnifft/numpy/sync, over Node's own time", first.sync, 60),
        middle("fresh process: a first rfft of omnifft/numpy, over Node's own time", first.async, 60),
        middle('fresh process: first plan, kept by an earlier one', kept.cpu, 3),
        middle("fresh process: a first rfft of omnifft/numpy/sync, kept, over Node's own time", kept.sync),
        ...(kept.cuda.length === 0
          ? []
          : [
              middle('fresh process: first plan on CUDA', kept.cudaCold),
              middle('fresh process: first plan on CUDA, kept by an earlier one', kept.cuda, 8),
            ]),
        middle('this process: first plan on a fresh device', coldHere, 20),
        middle('this process: the same plan after it was destroyed', warmHere, 1),
      ],
      notes: [`medians of ${repeats} processes and ${repeats} devices`],
    };
  },
};

/** Milliseconds of first plans that are in a folder of their own already; none on CUDA where there is no such device. */
async function whereKept(repeats: number) {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-bench-'));
  const environment = { OMNIFFT_CACHE: folder };
  const planned = (kind: string) => runChild<Created | null>('create.mjs', [libraryUrl, kind], environment);
  const times = { cpu: [] as number[], sync: [] as number[], cuda: [] as number[], cudaCold: [] as number[] };
  try {
    await planned('cpu');
    await timeProcess(['first.mjs', numpySyncUrl], environment);
    const cold = await planned('cuda');
    if (cold) times.cudaCold.push(cold.cold);
    for (let i = 0; i < repeats; i++) {
      times.cpu.push((await planned('cpu'))!.cold);
      const bare = await timeProcess(['-e', '0']);
      times.sync.push((await timeProcess(['first.mjs', numpySyncUrl], environment)) - bare);
      if (cold) times.cuda.push((await planned('cuda'))!.cold);
    }
    return times;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds of whole processes that make a first transform, less those of one beside it that does nothing. */
async function firstTransforms(repeats: number): Promise<{ readonly sync: number[]; readonly async: number[] }> {
  const times: { readonly sync: number[]; readonly async: number[] } = { sync: [], async: [] };
  for (let i = 0; i < repeats; i++) {
    const bare = await timeProcess(['-e', '0']);
    times.sync.push((await timeProcess(['first.mjs', numpySyncUrl])) - bare);
    times.async.push((await timeProcess(['first.mjs', numpyUrl])) - bare);
  }
  return times;
}
