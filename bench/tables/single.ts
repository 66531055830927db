/** Single precision, powers of two, one thread, out of place, against PFFFT: each on its own memory, and on host arrays. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import { pffft } from '../peers/pffft.ts';
import { webfft, webfftLargest } from '../peers/webfft.ts';
import type { Workload } from '../subject.ts';
import {
  type Context,
  compare,
  type Entry,
  type Figure,
  lengthLabel,
  missing,
  native,
  powersOfTwo,
  type Row,
  ratiosTo,
  type Table,
} from '../table.ts';

const lengths = ({ quick }: Context) => powersOfTwo(6, 20, quick);

function measureRows(context: Context, entriesOf: (workload: Workload, n: number) => Entry[]): Promise<Row[]> {
  const comparisons = lengths(context).map((n) => ({
    label: lengthLabel(n),
    entries: entriesOf({ size: [n], precision: 'single' }, n),
  }));
  return compare(context, comparisons);
}

function targets(peer: string, rows: readonly Row[], mean: number, worst: number): Figure[] {
  const ratios = ratiosTo(peer, rows);
  return [
    { label: `geometric mean over ${peer}`, value: geometricMean(ratios), unit: '×', atLeast: mean },
    { label: `worst over ${peer}`, value: Math.min(...ratios), unit: '×', atLeast: worst },
  ];
}

export const alloc: Table = {
  name: 'alloc',
  title: 'single precision, one thread, out of place, each library on its own buffers',
  async measure(context) {
    const device = await context.device(1);
    const fftw = await context.fftw();
    const rows = await measureRows(context, (workload, n) => [
      { workload, open: () => omnifft(device, workload) },
      { workload, open: () => pffft(n) },
      ...native(fftw, workload),
    ]);
    return { rows, figures: targets('pffft', rows, 1.4, 1.15), notes: missing('FFTW', fftw) };
  },
};

export const copied: Table = {
  name: 'copied',
  title: 'single precision, one thread, host arrays copied in and out on both sides',
  async measure(context) {
    const device = await context.device(1);
    const rows = await measureRows(context, (workload, n) => [
      { workload, open: () => omnifft(device, workload, { buffers: 'host' }) },
      { workload, open: () => pffft(n, { copied: true }) },
      ...(n <= webfftLargest ? [{ workload, open: () => webfft(n) }] : []),
    ]);
    return { rows, figures: targets('pffft + copies', rows, 1.3, 1.1), notes: [] };
  },
};
