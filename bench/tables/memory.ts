/** 10 000 plans made and destroyed: what the process holds afterwards. */

import { runChild } from '../children/run.ts';
import { libraryUrl } from '../library.ts';
import type { Table } from '../table.ts';

/** What children/memory.mjs prints: resident bytes, and milliseconds for each plan. */
interface Held {
  readonly opened: number;
  readonly first: number;
  /** Of what the first plans added, V8's space for new objects. */
  readonly young: number;
  readonly last: number;
  readonly each: number;
}

export const memory: Table = {
  name: 'memory',
  title: 'plans made and destroyed on one device: resident memory of the process',
  async measure({ quick }) {
    const count = quick ? 1000 : 10_000;
    const { opened, first, young, last, each } = await runChild<Held>('memory.mjs', [libraryUrl, String(count)]);
    const megabytes = (bytes: number) => bytes / 1e6;
    return {
      rows: [],
      figures: [
        { label: 'after openDevice', value: megabytes(opened), unit: 'MB' },
        { label: 'grown by the first plan of each problem', value: megabytes(first - opened), unit: 'MB' },
        { label: '… of that, V8’s space for new objects', value: megabytes(young), unit: 'MB' },
        { label: `grown by ${count} more plans`, value: megabytes(last - first), unit: 'MB', atMost: 10 },
        { label: 'mean time to make and destroy a plan', value: each, unit: 'ms' },
      ],
      notes: [
        'The first plans make V8 compile the planner and enlarge its space for new objects, once; what plans leave ' +
          'behind is counted from there.',
      ],
    };
  },
};
