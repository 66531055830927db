/**
 * What vectors of two doubles leave room for: fft.js against the additions that a transform needs at least, which a
 * kernel could only come near if loads, stores, shuffles and multiplications cost nothing.
 */
import { omnifft } from '../library.ts';
import { interleave, speedup } from '../measure.ts';
import { additions } from '../peers/additions.ts';
import { fftjs } from '../peers/fftjs.ts';
import type { Subject, Workload } from '../subject.ts';
import { lengthLabel, powersOfTwo, type Row, ratiosTo, type Table } from '../table.ts';

/** Of fft.js's speed, asked of omnifft in double precision. */
const ASKED = 4;

export const bound: Table = {
  name: 'bound',
  title: 'double precision: the additions of a split-radix transform alone, on vectors of two; (×) is over those',
  async measure(context) {
    const device = await context.device(1);
    const rows: Row[] = [];
    for (const n of powersOfTwo(8, 15, context.quick)) {
      const workload: Workload = { size: [n], precision: 'double' };
      const subjects = [await additions(n), await omnifft(device, workload), fftjs(n)] as Subject[];
      for (const subject of subjects.slice(1)) await subject.load(context.seed);
      const timings = await interleave(subjects, context.effort);
      const ratios = timings.slice(1).map((peer) => {
        const value = speedup(timings[0]!, peer);
        return { peer: peer.name, value, paired: value };
      });
      rows.push({ label: lengthLabel(n), timings, ratios });
      for (const subject of subjects) await subject.close();
    }
    const least = Math.min(...ratiosTo('fft.js', rows));
    return {
      rows,
      figures: [
        { label: 'fft.js over additions alone, at the least', value: least, unit: '×' },
        { label: `of the adders' time, what ${ASKED} × fft.js would take there`, value: least / ASKED, unit: '' },
        {
          label: 'omnifft over additions alone, at the least',
          value: Math.min(...ratiosTo('omnifft', rows)),
          unit: '×',
        },
      ],
      notes: [],
    };
  },
};
