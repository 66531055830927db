/** What is done on the way of a transform, beside the same in steps or without it; one thread, in memory of the device. */
import {
  called,
  convolution,
  convolved,
  fftconvolved,
  halfZeros,
  inThreeSteps,
  inTwoSteps,
  linearConvolution,
  padded,
  withCallback,
} from '../fused.ts';
import { geometricMean } from '../measure.ts';
import type { Precision, Workload } from '../subject.ts';
import { type Comparison, compare, type Figure, missing, native, type Row, ratiosTo, type Table } from '../table.ts';

const PRECISIONS = ['single', 'double'] as const satisfies Precision[];

const square = (n: number) => [n, n];
const cube = (n: number) => [n, n, n];
const labelOf = (size: readonly number[], precision: Precision) => `${size.join('×')} ${precision}`;

/** The mean over a peer, with its target, and the worst. */
function figuresOf(peer: string, rows: readonly Row[], atLeast?: number, label = ''): Figure[] {
  const ratios = ratiosTo(peer, rows);
  if (ratios.length === 0) return [];
  return [
    {
      label: `geometric mean over ${peer}${label}`,
      value: geometricMean(ratios),
      unit: '×',
      ...(atLeast === undefined ? {} : { atLeast }),
    },
    { label: `worst over ${peer}${label}`, value: Math.min(...ratios), unit: '×' },
  ];
}

export const convolutions: Table = {
  name: 'convolution',
  title: 'circular convolutions of complex numbers, one thread, against forward, product and inverse',
  async measure(context) {
    const device = await context.device(1);
    const sizes = context.quick
      ? [[1024], square(512)]
      : [[256], [1024], [2 ** 14], [2 ** 16], [2 ** 18], square(256), square(1024), cube(32), cube(128)];
    const comparisons = PRECISIONS.flatMap((precision) =>
      sizes.map((size): Comparison => {
        const workload = convolution(size, precision);
        const subjects = [convolved, inThreeSteps, inTwoSteps];
        return {
          label: labelOf(size, precision),
          entries: subjects.map((open) => ({ workload, open: () => open(device, workload) })),
        };
      }),
    );
    const rows = await compare(context, comparisons);
    const figures = [...figuresOf('three steps', rows, 1.4), ...figuresOf('product as a callback', rows)];
    return { rows, figures, notes: [] };
  },
};

/** Lengths of both, fastest axis first. */
const LINEAR: readonly (readonly [readonly number[], readonly number[]])[] = [
  [[256], [256]],
  [[1000], [1000]],
  [[100_000], [1000]],
  [[100_000], [100_000]],
  [[1_000_000], [1_000_000]],
  [square(64), square(64)],
  [square(256), square(32)],
  [square(1000), square(50)],
  [square(1000), square(1000)],
  [cube(48), cube(48)],
];

export const linear: Table = {
  name: 'fftconvolve',
  title: 'fftconvolve of omnifft/signal, one thread, reals, all of the convolution',
  async measure(context) {
    const device = await context.device(1);
    const scipy = await context.scipy();
    const sizes = context.quick ? LINEAR.slice(0, 3) : LINEAR;
    const comparisons = PRECISIONS.flatMap((precision) =>
      sizes.map(([size, kernel]): Comparison => {
        const workload = linearConvolution(size, kernel, precision);
        const entries = [{ workload, open: () => fftconvolved(device, workload) }, ...native(scipy, workload)];
        return { label: `${size.join('×')} * ${kernel.join('×')} ${precision}`, entries };
      }),
    );
    const rows = await compare(context, comparisons);
    return { rows, figures: figuresOf('SciPy', rows, 2), notes: missing('SciPy', scipy) };
  },
};

export const padding: Table = {
  name: 'padding',
  title: 'the upper half of each axis zero, complex, one thread, against the same plan without blocks of zeros',
  async measure(context) {
    const device = await context.device(1);
    const sizesOf = { 2: context.quick ? [512] : [256, 512, 1024, 2048], 3: context.quick ? [64] : [32, 64, 128, 256] };
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const [axes, atLeast] of [
      [2, 1.5],
      [3, 1.8],
    ] as const) {
      const comparisons = PRECISIONS.flatMap((precision) =>
        sizesOf[axes].map((n): Comparison => {
          const size = axes === 2 ? square(n) : cube(n);
          const workload = halfZeros(size, precision);
          const entries = [true, false].map((spared) => ({ workload, open: () => padded(device, workload, spared) }));
          return { label: labelOf(size, precision), entries };
        }),
      );
      const own = await compare(context, comparisons);
      rows.push(...own);
      figures.push(...figuresOf('all of it', own, atLeast, `, ${axes} axes`));
    }
    return { rows, figures, notes: [] };
  },
};

/** The last ones do not fit a cache. */
const CALLED: readonly Omit<Workload, 'precision'>[] = [
  { size: [1024], batches: 64 },
  { size: [2 ** 16] },
  { size: [1024], batches: 4096 },
  { size: [2 ** 20] },
  { size: square(1024) },
];

export const callbacks: Table = {
  name: 'callbacks',
  title: 'a window at load or the magnitude at store, complex, one thread, against the plain transform',
  async measure(context) {
    const device = await context.device(1);
    const rows: Row[] = [];
    const figures: Figure[] = [];
    for (const kind of ['window', 'magnitude'] as const) {
      const comparisons = PRECISIONS.flatMap((precision) =>
        (context.quick ? CALLED.slice(0, 2) : CALLED).map(({ size, batches = 1 }): Comparison => {
          const plain: Workload = { size, batches, precision };
          const workload = called(plain, kind);
          const entries = [
            { workload, open: () => withCallback(device, workload, kind) },
            { workload: plain, open: () => withCallback(device, plain) },
          ];
          return { label: `${kind}, ${size.join('×')} × ${batches} ${precision}`, entries };
        }),
      );
      const own = await compare(context, comparisons);
      rows.push(...own);
      figures.push(...figuresOf('plain', own, 0.97, `, ${kind}`));
    }
    return { rows, figures, notes: [] };
  },
};
