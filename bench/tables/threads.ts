/** Two worker threads against one: `plan.forward` on buffers of the device, one long transform and batches over 4 MB. */
import { availableParallelism } from 'node:os';
import { omnifft } from '../library.ts';
import type { Precision, Workload } from '../subject.ts';
import { compare, lengthLabel, ratiosTo, type Table } from '../table.ts';

/** [length, batches]; every one of them is 8 MB in single precision and 16 MB in double. */
const shapes = [
  [2 ** 20, 1],
  [2 ** 14, 2 ** 6],
  [2 ** 10, 2 ** 10],
  [2 ** 6, 2 ** 14],
] as const;

const oneThread = 'one thread';

export const threads: Table = {
  name: 'threads',
  title: 'two threads over one, out of place, buffers of the device',
  async measure(context) {
    const [one, two] = [await context.device(1), await context.device(2)];
    const comparisons = (['single', 'double'] satisfies Precision[]).flatMap((precision) =>
      shapes.map(([n, batches]) => {
        const workload: Workload = { size: [n], batches, precision };
        const entries = [
          { workload, open: () => omnifft(two, workload, { name: 'two threads', asynchronous: true }) },
          { workload, open: () => omnifft(one, workload, { name: oneThread, asynchronous: true }) },
        ];
        return { label: `${batches > 1 ? `${lengthLabel(batches)} of ` : ''}${lengthLabel(n)} ${precision}`, entries };
      }),
    );
    const rows = await compare(context, comparisons);
    const cores = availableParallelism();
    return {
      rows,
      figures: [
        { label: 'worst over one thread', value: Math.min(...ratiosTo(oneThread, rows)), unit: '×', atLeast: 1.6 },
      ],
      notes: cores < 2 ? [`this machine gives the process ${cores} core: two threads cannot be faster`] : [],
    };
  },
};
