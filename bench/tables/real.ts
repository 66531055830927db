/** Real data, powers of two, one thread, out of place: bins and sums of cosines, and the frame of audio. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import { fourierTransform } from '../peers/fouriertransform.ts';
import type { NativePeer } from '../peers/native.ts';
import { pffft } from '../peers/pffft.ts';
import type { Precision, Workload } from '../subject.ts';
import {
  type Comparison,
  type Context,
  compare,
  type Figure,
  lengthLabel,
  missing,
  native,
  powersOfTwo,
  type Row,
  ratiosTo,
  type Table,
} from '../table.ts';

const COMPLEX = 'omnifft, complex';
const SCIPY_DCT = 'SciPy dct';
const FRAME = 'kernel alone';
/** Frames of a call in which the call itself hardly counts: they stay in the first-level cache. */
const FRAMES = 4;

/** Means and worst ratios that are asked for. From 2⁸ points on of SciPy, whose calls cost more than shorter transforms. */
const TARGETS: Readonly<Record<string, { readonly mean: number; readonly worst?: number; readonly from?: number }>> = {
  [COMPLEX]: { mean: 1.6 },
  pffft: { mean: 1.2, worst: 0.9 },
  SciPy: { mean: 1.5, worst: 0.9, from: 8 },
  [SCIPY_DCT]: { mean: 1.5, worst: 0.9, from: 8 },
  'fourier-transform': { mean: 4 },
};

export const real: Table = {
  name: 'real',
  title: 'real data, one thread, out of place, each library on its own buffers',
  async measure(context) {
    const scipy = await context.scipy();
    const rows = await compare(context, await comparisons(context, scipy));
    const figures = [
      ...Object.keys(TARGETS).flatMap((peer) => figuresOf(peer, rows)),
      {
        label: 'a frame of 1024, host arrays, over the kernel alone',
        value: 1 / ratiosTo(FRAME, rows)[0]!,
        unit: '×' as const,
        atMost: 1.5,
      },
    ];
    return { rows, figures, notes: missing('SciPy', scipy) };
  },
};

async function comparisons(context: Context, scipy: NativePeer | string): Promise<Comparison[]> {
  const device = await context.device(1);
  const each = (['single', 'double'] satisfies Precision[]).flatMap((precision) =>
    powersOfTwo(6, 20, context.quick).flatMap((n): Comparison[] => {
      const workload: Workload = { size: [n], precision, real: true };
      const complex: Workload = { size: [n], precision };
      const cosines: Workload = { size: [n], precision, sums: 'dct2' };
      const entries = [
        { workload, open: () => omnifft(device, workload) },
        { workload: complex, open: () => omnifft(device, complex, { name: COMPLEX }) },
        ...(precision === 'single'
          ? [{ workload, open: () => pffft(n, { real: true }) }]
          : [{ workload, open: () => fourierTransform(n) }]),
        ...native(scipy, workload),
      ];
      const sums = [
        { workload: cosines, open: () => omnifft(device, cosines) },
        ...native(scipy, cosines).map((entry) => ({
          ...entry,
          open: async () => ({ ...(await entry.open()), name: SCIPY_DCT }),
        })),
      ];
      const label = `${lengthLabel(n)} ${precision}`;
      return [
        { label, entries },
        { label: `${label}, DCT-II`, entries: sums },
      ];
    }),
  );
  const frame: Workload = { size: [1024], precision: 'single', real: true };
  const frames: Workload = { ...frame, batches: FRAMES };
  const entries = [
    { workload: frame, open: () => omnifft(device, frame, { buffers: 'host' }) },
    { workload: frames, open: () => omnifft(device, frames, { name: FRAME }) },
  ];
  return [...each, { label: 'frame of 1024', entries }];
}

function figuresOf(peer: string, rows: readonly Row[]): Figure[] {
  const { mean, worst, from = 0 } = TARGETS[peer]!;
  const long = rows.filter(({ label }) => Number(/\^(\d+)/.exec(label)?.[1]) >= from);
  const ratios = ratiosTo(peer, long);
  if (ratios.length === 0) return [];
  const unit = '×' as const;
  return [
    { label: `geometric mean over ${peer}`, value: geometricMean(ratios), unit, atLeast: mean },
    { label: `worst over ${peer}`, value: Math.min(...ratios), unit, ...(worst ? { atLeast: worst } : {}) },
  ];
}
