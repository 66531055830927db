/** Lengths with large primes over the next length that has none: whether there is a length that one had better not meet. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chart } from '../../src/cli/picture/chart.ts';
import { nextFastLength } from '../../src/engine/fast-length.ts';
import { isPrime, primeFactors } from '../../src/numeric/primes.ts';
import { sample } from '../data.ts';
import { omnifft } from '../library.ts';
import type { Effort } from '../measure.ts';
import type { Precision, Workload } from '../subject.ts';
import { type Comparison, type Context, compare, type Result, type Row, type Table } from '../table.ts';

const precisions: readonly Precision[] = ['single', 'double'];
const [LEAST, MOST] = [17, 10 ** 5];
/** Lengths of each precision; with `quick` an eighth of them. */
const COUNT = 480;
/** Rows that are open at once. */
const TOGETHER = 32;
/** Rows that are shown. */
const SHOWN = 10;
const WORST = 8;

const effort: Effort = { sweeps: 3, time: 12, rounds: 3, slice: 1, warmUp: 12 };
const picture = new URL('../../docs/pictures/cliff.svg', import.meta.url);

/** Of which lengths one is drawn in each interval. */
const kinds: readonly ((length: number) => boolean)[] = [
  () => true,
  isPrime,
  (length) => {
    const factors = primeFactors(length);
    return factors.length === 2 && factors[0]! > 13;
  },
];

/** Evenly spread by their logarithms, at random within: any, primes, and products of two large primes. */
function lengths({ quick, seed }: Context): number[] {
  const count = quick ? COUNT / 8 : COUNT;
  const drawn = Array.from({ length: count }, (_, n) => {
    const at = (n + (sample(seed, n) + 1) / 2) / count;
    const start = Math.floor(LEAST * (MOST / LEAST) ** at);
    const wanted = kinds[n % kinds.length]!;
    // Short intervals have none of some kinds.
    const found = Array.from({ length: 100 }, (_, d) => start + d).find((length) => length <= MOST && wanted(length));
    return found ?? start;
  });
  return [...new Set(drawn)].filter((length) => nextFastLength(length) !== length);
}

interface Point {
  readonly precision: Precision;
  readonly length: number;
  readonly row: Row;
  /** The time over that of the next length. */
  readonly times: number;
}

async function measure(context: Context): Promise<Point[]> {
  const device = await context.device(1);
  const asked = precisions.flatMap((precision) => lengths(context).map((length) => ({ precision, length })));
  const points: Point[] = [];
  for (let first = 0; first < asked.length; first += TOGETHER) {
    const some = asked.slice(first, first + TOGETHER);
    const comparisons = some.map(({ precision, length }): Comparison => {
      const next = nextFastLength(length);
      const [workload, smooth]: Workload[] = [length, next].map((n) => ({ size: [n], precision }));
      return {
        label: `${length} ${precision}, ${next}`,
        entries: [
          { workload: workload!, open: () => omnifft(device, workload!) },
          { workload: smooth!, open: () => omnifft(device, smooth!, { name: 'next length' }) },
        ],
      };
    });
    const rows = await compare({ ...context, effort }, comparisons);
    rows.forEach((row, n) => {
      const [own, other] = row.timings;
      points.push({ ...some[n]!, row, times: own!.minimum / other!.minimum });
    });
  }
  return points;
}

function draw(points: readonly Point[]): void {
  const drawn = precisions.map((precision) => {
    const own = points.filter((point) => point.precision === precision);
    return { name: precision, dots: true, points: own.map(({ length, times }) => [length, times] as const) } as const;
  });
  const allowed = [LEAST, MOST].map((length) => [length, WORST] as const);
  const svg = chart({
    title: 'Time over that of the next length without large primes',
    about: 'complex, one thread of a CPU; any length, primes, products of two primes',
    across: 'Length',
    up: 'Times as long',
    fromZero: true,
    lines: [...drawn, { name: 'allowed', bound: true, points: allowed }],
  });
  writeFileSync(picture, `${svg}\n`);
}

export const cliff: Table = {
  name: 'cliff',
  title: 'lengths with primes over 13 up to 10⁵ against the next length without; those that take the most',
  async measure(context): Promise<Result> {
    const points = await measure(context);
    if (!context.quick) draw(points);
    const sorted = points.toSorted((one, other) => other.times - one.times);
    const figures = precisions.map((precision) => {
      const { length, times } = sorted.find((point) => point.precision === precision)!;
      return { label: `${precision}: the most, at ${length}`, value: times, unit: '×', atMost: WORST } as const;
    });
    const notes = [`${points.length} lengths${context.quick ? '' : `, drawn in ${fileURLToPath(picture)}`}`];
    return { rows: sorted.slice(0, SHOWN).map(({ row }) => row), figures, notes };
  },
};
