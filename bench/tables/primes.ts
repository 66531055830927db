/** Prime lengths against SciPy's pocketfft and FFTW, which know Rader's and Bluestein's algorithms, too. */
import { isPrime } from '../../src/numeric/primes.ts';
import { omnifft } from '../library.ts';
import { geometricMean } from '../measure.ts';
import type { Precision, Workload } from '../subject.ts';
import { type Context, compare, type Figure, missing, native, ratiosTo, type Table } from '../table.ts';

const precisions: readonly Precision[] = ['single', 'double'];
const COUNT = 40;
const [LEAST, MOST] = [17, 10 ** 6];

/** Evenly spread by their logarithms; with `quick` every fourth. */
function lengths({ quick }: Context): number[] {
  const spread = Array.from({ length: COUNT }, (_, n) => primeUpTo(LEAST * (MOST / LEAST) ** (n / (COUNT - 1))));
  return spread.filter((_, n) => !quick || n % 4 === 0);
}

function primeUpTo(most: number): number {
  let candidate = Math.floor(most);
  while (!isPrime(candidate)) candidate--;
  return candidate;
}

export const primes: Table = {
  name: 'primes',
  title: `${COUNT} primes from ${LEAST} to 10⁶, one thread, out of place, each library on its own buffers`,
  async measure(context) {
    const device = await context.device(1);
    const [scipy, fftw] = [await context.scipy(), await context.fftw()];
    const comparisons = precisions.flatMap((precision) =>
      lengths(context).map((length) => {
        const workload: Workload = { size: [length], precision };
        const ours = { workload, open: () => omnifft(device, workload) };
        return {
          label: `${length} ${precision}`,
          entries: [ours, ...native(scipy, workload), ...native(fftw, workload)],
        };
      }),
    );
    const rows = await compare(context, comparisons);
    const figures = precisions.flatMap((precision): Figure[] => {
      const own = rows.filter(({ label }) => label.endsWith(precision));
      const [overScipy, overFftw] = [ratiosTo('SciPy', own), ratiosTo('FFTW', own)];
      const figure = (label: string, value: number, atLeast: number): Figure => {
        return { label: `${precision}: ${label}`, value, unit: '×', atLeast };
      };
      return [
        figure('geometric mean over SciPy', geometricMean(overScipy), 1.5),
        figure('worst over SciPy', Math.min(...overScipy), 0.9),
        figure('geometric mean over FFTW', geometricMean(overFftw), 0.8),
      ];
    });
    return {
      rows,
      // Those of a peer that is missing are no numbers.
      figures: figures.filter(({ value }) => Number.isFinite(value)),
      notes: [...missing('SciPy', scipy), ...missing('FFTW', fftw)],
    };
  },
};
