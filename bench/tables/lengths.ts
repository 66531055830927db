/** Other lengths: points per second against the neighbouring power of two in the same run, and against KISS FFT. */
import { omnifft } from '../library.ts';
import { kissfft } from '../peers/kissfft.ts';
import type { Precision, Workload } from '../subject.ts';
import { compare, missing, native, ratiosTo, type Table } from '../table.ts';

export const lengthsToMeasure = [1000, 1536, 2187, 10000, 100000];
const neighbour = 'power of two';

export const lengths: Table = {
  name: 'lengths',
  title:
    'other lengths, one thread, out of place: points per second over the neighbouring power of two and kissfft-wasm',
  async measure(context) {
    const device = await context.device(1);
    const fftw = await context.fftw();
    const comparisons = (['single', 'double'] satisfies Precision[]).flatMap((precision) =>
      lengthsToMeasure.map((n) => {
        const workload: Workload = { size: [n], precision };
        const power: Workload = { size: [2 ** Math.round(Math.log2(n))], precision };
        const entries = [
          { workload, open: () => omnifft(device, workload) },
          { workload: power, open: () => omnifft(device, power, { name: neighbour }) },
          ...(precision === 'single' ? [{ workload, open: () => kissfft(n) }] : []),
          ...native(fftw, workload),
        ];
        return { label: `${n} ${precision}`, entries };
      }),
    );
    const rows = await compare(context, comparisons);
    return {
      rows,
      figures: [
        {
          label: 'worst points/s over the power of two',
          value: Math.min(...ratiosTo(neighbour, rows)),
          unit: '×',
          atLeast: 0.7,
        },
        {
          label: 'worst over kissfft-wasm',
          value: Math.min(...ratiosTo('kissfft-wasm', rows)),
          unit: '×',
          atLeast: 6,
        },
      ],
      notes: missing('FFTW', fftw),
    };
  },
};
