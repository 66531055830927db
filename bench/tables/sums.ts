/** Cosine transforms of each kind against real transforms of as many points, one thread. */
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import type { SumsKind, Workload } from '../subject.ts';
import { type Comparison, compare, type Figure, type Row, ratiosTo, type Table } from '../table.ts';

const REAL = 'omnifft, R2C';

/** Lengths of the real transform; a cosine transform of kind I has one point more along each axis. */
const EVEN: readonly (readonly number[])[] = [[64], [1000], [1024], [16384], [256, 256]];
const ODD: readonly (readonly number[])[] = [[63], [1001], [2187], [16807], [225, 225]];

interface Asked {
  readonly kind: SumsKind;
  readonly label: string;
  readonly sizes: readonly (readonly number[])[];
  /** How many times as long as R2C these may take. */
  readonly atMost: number;
}

const ASKED: readonly Asked[] = [
  { kind: 'dct1', label: 'DCT-I', sizes: EVEN, atMost: 1.6 },
  { kind: 'dct2', label: 'DCT-II', sizes: EVEN, atMost: 1.25 },
  { kind: 'dct3', label: 'DCT-III', sizes: EVEN, atMost: 1.25 },
  { kind: 'dct4', label: 'DCT-IV', sizes: EVEN, atMost: 1.6 },
  { kind: 'dct4', label: 'DCT-IV, odd', sizes: ODD, atMost: 1.6 },
];

export const sums: Table = {
  name: 'sums',
  title:
    'cosine transforms, single precision, one thread, against real transforms of as many points (kind I: of one less)',
  async measure(context) {
    const device = await context.device(1);
    const comparisons = ASKED.flatMap(({ kind, label, sizes }) =>
      sizes.map((size): Comparison => {
        const own: Workload = {
          size: kind === 'dct1' ? size.map((n) => n + 1) : size,
          precision: 'single',
          sums: kind,
        };
        const real: Workload = { size, precision: 'single', real: true };
        return {
          label: `${label} ${size.join('×')}`,
          entries: [
            { workload: own, open: () => omnifft(device, own) },
            { workload: real, open: () => omnifft(device, real, { name: REAL }) },
          ],
        };
      }),
    );
    const rows = await compare(context, comparisons);
    const first = (n: number) => ASKED.slice(0, n).reduce((count, { sizes }) => count + sizes.length, 0);
    const figures = ASKED.map((asked, n) => figureOf(asked, rows.slice(first(n), first(n + 1))));
    return { rows, figures, notes: [] };
  },
};

function figureOf({ label, atMost }: Asked, rows: readonly Row[]): Figure {
  const value = 1 / geometricMean(ratiosTo(REAL, rows));
  return { label: `time of a point of ${label} over R2C, geometric mean`, value, unit: '×', atMost };
}
