/** Short real transforms through NumPy's names, a new array for each result, beside fft.js, which writes into one that it is given. */
import { fill } from '../data.ts';
import { loadNumpySync, type NumpySync, omnifft } from '../library.ts';
import { fftjsReal } from '../peers/fftjs.ts';
import { pick, type Subject, type Workload } from '../subject.ts';
import { compare, type Figure, ratiosTo, type Table } from '../table.ts';

/** Points, and how long a call may take at most: of fft.js's time. */
const LENGTHS: readonly (readonly [points: number, atMost?: number])[] = [[64], [512, 1], [1024, 0.6]];
/** At 64 points, where the result costs more than the transform. */
const MOST_MICROSECONDS = 1.2;

export const short: Table = {
  name: 'short',
  title: 'rfft of omnifft/numpy/sync, doubles; beside it forwardSync into an array that is there, and fft.js',
  async measure(context) {
    const device = await context.device(1);
    const numpy = await loadNumpySync();
    const rows = await compare(
      context,
      LENGTHS.map(([n]) => {
        const workload: Workload = { size: [n], precision: 'double', real: true };
        return {
          label: `${n} points`,
          entries: [
            { workload, open: () => rfft(numpy, n) },
            { workload, open: () => rfft(numpy, n, true) },
            { workload, open: () => omnifft(device, workload, { name: 'forwardSync', buffers: 'host' as const }) },
            { workload, open: () => fftjsReal(n) },
          ],
        };
      }),
    );
    const ratios = ratiosTo('fft.js', rows);
    const figures = LENGTHS.map(([n, atMost], k): Figure => {
      const label = `${n} points, time over fft.js`;
      return { label, value: 1 / ratios[k]!, unit: '×', ...(atMost === undefined ? {} : { atMost }) };
    });
    const shortest = { label: 'microseconds at 64 points', value: rows[0]!.timings[0]!.minimum, unit: '' as const };
    return { rows, figures: [{ ...shortest, atMost: MOST_MICROSECONDS }, ...figures], notes: [] };
  },
};

/** @param shaped whether it is given an array with a shape, and a norm */
function rfft(numpy: NumpySync, n: number, shaped = false): Subject {
  const data = new Float64Array(n);
  const x = shaped ? { data, shape: [n], dtype: 'float64' as const } : data;
  const call = shaped ? () => numpy.rfft(x, { axis: -1, norm: 'backward' }) : () => numpy.rfft(x);
  return {
    name: shaped ? 'rfft({ data, … }, { … })' : 'rfft',
    load: (seed) => fill(data, seed),
    bins: (indices) => pick(call().data, indices),
    time(calls) {
      const start = performance.now();
      for (let i = 0; i < calls; i++) call();
      return ((performance.now() - start) * 1000) / calls;
    },
    close() {},
  };
}
