/** Against SciPy's pocketfft with one worker: lines, an image and a cube, both precisions. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import type { Precision, Workload } from '../subject.ts';
import { type Context, compare, lengthLabel, native, powersOfTwo, ratiosTo, type Table } from '../table.ts';

const sizes = ({ quick }: Context): number[][] => [
  ...powersOfTwo(8, 20, quick).map((n) => [n]),
  [1024, 1024],
  [128, 128, 128],
];

export const scipy: Table = {
  name: 'scipy',
  title: 'against SciPy (workers=1), one thread, out of place',
  async measure(context) {
    const peer = await context.scipy();
    if (typeof peer === 'string') return { rows: [], figures: [], notes: [`without SciPy: ${peer}`] };
    const device = await context.device(1);
    const comparisons = (['single', 'double'] satisfies Precision[]).flatMap((precision) =>
      sizes(context).map((size) => {
        const workload: Workload = { size, precision };
        const entries = [
          { workload, open: () => omnifft(device, workload) },
          ...native(peer, workload),
          { workload, open: () => omnifft(device, workload, { name: 'omnifft, host arrays', buffers: 'host' }) },
        ];
        return { label: `${size.length > 1 ? size.join(' × ') : lengthLabel(size[0]!)} ${precision}`, entries };
      }),
    );
    const rows = await compare(context, comparisons);
    const ratios = ratiosTo('SciPy', rows);
    return {
      rows,
      figures: [
        { label: 'geometric mean over SciPy', value: geometricMean(ratios), unit: '×' },
        { label: 'worst over SciPy', value: Math.min(...ratios), unit: '×', atLeast: 1 },
      ],
      notes: [],
    };
  },
};
