/** Double-doubles, one thread, out of place, against FFTW in quadruple precision and our own doubles. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import type { Workload } from '../subject.ts';
import { compare, lengthLabel, missing, native, powersOfTwo, ratiosTo, type Table } from '../table.ts';

const doubles = 'omnifft, double';

export const quad: Table = {
  name: 'quad',
  title: 'double-double precision, one thread, out of place, each library on its own buffers',
  async measure(context) {
    const device = await context.device(1);
    const fftw = await context.fftwQuad();
    const comparisons = [...powersOfTwo(6, 16, context.quick), 1000].map((n) => {
      const workload: Workload = { size: [n], precision: 'double-double' };
      const narrow: Workload = { size: [n], precision: 'double' };
      const entries = [
        { workload, open: () => omnifft(device, workload) },
        ...native(fftw, workload),
        { workload: narrow, open: () => omnifft(device, narrow, { name: doubles }) },
      ];
      return { label: lengthLabel(n), entries };
    });
    const rows = await compare(context, comparisons);
    const ratios = ratiosTo('FFTW quad', rows);
    const figures = [
      { label: 'geometric mean over doubles', value: geometricMean(ratiosTo(doubles, rows)), unit: '×' as const },
    ];
    if (ratios.length === 0) return { rows, figures, notes: missing('FFTW in quadruple precision', fftw) };
    return {
      rows,
      figures: [
        { label: 'geometric mean over FFTW quad', value: geometricMean(ratios), unit: '×' },
        { label: 'worst over FFTW quad', value: Math.min(...ratios), unit: '×', atLeast: 8 },
        ...figures,
      ],
      notes: [],
    };
  },
};
