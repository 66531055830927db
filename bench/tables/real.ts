/** Real data, powers of two, one thread, out of place, against pffft, SciPy and the complex transform of as many points. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import { pffft } from '../peers/pffft.ts';
import type { Precision, Workload } from '../subject.ts';
import { compare, lengthLabel, missing, native, powersOfTwo, ratiosTo, type Table } from '../table.ts';

export const real: Table = {
  name: 'real',
  title: 'real data, one thread, out of place, each library on its own buffers',
  async measure(context) {
    const device = await context.device(1);
    const scipy = await context.scipy();
    const comparisons = (['single', 'double'] satisfies Precision[]).flatMap((precision) =>
      powersOfTwo(6, 20, context.quick).map((n) => {
        const workload: Workload = { size: [n], precision, real: true };
        const complex: Workload = { size: [n], precision };
        const entries = [
          { workload, open: () => omnifft(device, workload) },
          { workload: complex, open: () => omnifft(device, complex, { name: 'omnifft, complex' }) },
          ...(precision === 'single' ? [{ workload, open: () => pffft(n, { real: true }) }] : []),
          ...native(scipy, workload),
        ];
        return { label: `${lengthLabel(n)} ${precision}`, entries };
      }),
    );
    const rows = await compare(context, comparisons);
    const figures = (['omnifft, complex', 'pffft', 'SciPy'] as const).flatMap((peer) => {
      const ratios = ratiosTo(peer, rows);
      if (ratios.length === 0) return [];
      return [
        { label: `geometric mean over ${peer}`, value: geometricMean(ratios), unit: '×' as const },
        { label: `worst over ${peer}`, value: Math.min(...ratios), unit: '×' as const },
      ];
    });
    return { rows, figures, notes: missing('SciPy', scipy) };
  },
};
