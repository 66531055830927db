/** Double precision, powers of two, one thread, out of place, against fft.js; numpy-ts and FFTW for orientation. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import { fftjs } from '../peers/fftjs.ts';
import { numpyts } from '../peers/numpyts.ts';
import type { Workload } from '../subject.ts';
import { compare, lengthLabel, missing, native, powersOfTwo, ratiosTo, type Table } from '../table.ts';

export const double: Table = {
  name: 'double',
  title: 'double precision, one thread, out of place, each library on its own buffers',
  async measure(context) {
    const device = await context.device(1);
    const fftw = await context.fftw();
    const comparisons = powersOfTwo(8, 20, context.quick).map((n) => {
      const workload: Workload = { size: [n], precision: 'double' };
      const entries = [
        { workload, open: () => omnifft(device, workload) },
        { workload, open: () => fftjs(n) },
        { workload, open: () => numpyts(n) },
        { workload, open: () => omnifft(device, workload, { name: 'omnifft, host arrays', buffers: 'host' }) },
        ...native(fftw, workload),
      ];
      return { label: lengthLabel(n), entries };
    });
    const rows = await compare(context, comparisons);
    const ratios = ratiosTo('fft.js', rows);
    return {
      rows,
      figures: [
        { label: 'geometric mean over fft.js', value: geometricMean(ratios), unit: '×' },
        { label: 'worst over fft.js', value: Math.min(...ratios), unit: '×', atLeast: 4 },
      ],
      notes: missing('FFTW', fftw),
    };
  },
};
