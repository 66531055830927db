/**
 * What the vectors of WebAssembly leave room for: peers against the arithmetic that a transform needs, which a kernel could
 * only come near if loads, stores and shuffles cost nothing.
 */
import { omnifft } from '../library.ts';
import { interleave, speedup } from '../measure.ts';
import { additionsAlone, arithmeticAlone, type Bound } from '../peers/arithmetic.ts';
import { fftjs } from '../peers/fftjs.ts';
import { kissfft } from '../peers/kissfft.ts';
import type { Subject, Workload } from '../subject.ts';
import { type Context, type Figure, lengthLabel, powersOfTwo, type Row, ratiosTo, type Table } from '../table.ts';
import { lengthsToMeasure } from './lengths.ts';

/** What a bound is compared with. */
interface Against {
  readonly precision: 'single' | 'double';
  readonly alone: (n: number) => Promise<Bound>;
  readonly peer: { readonly name: string; open(n: number): Subject | Promise<Subject> };
  /** How many times as fast as the peer omnifft is asked to be. */
  readonly asked: number;
}

async function measure(context: Context, lengths: readonly number[], { precision, alone, peer, asked }: Against) {
  const device = await context.device(1);
  const contenders: Subject[][] = [];
  for (const n of lengths) {
    const workload: Workload = { size: [n], precision };
    const subjects = [await alone(n), await omnifft(device, workload), await peer.open(n)] as Subject[];
    for (const subject of subjects.slice(1)) await subject.load(context.seed);
    contenders.push(subjects);
  }
  const rows = (await interleave(contenders, context.effort)).map((timings, i): Row => {
    const ratios = timings.slice(1).map((other) => {
      const value = speedup(timings[0]!, other);
      return { peer: other.name, value, paired: value };
    });
    return { label: lengthLabel(lengths[i]!), timings, ratios };
  });
  for (const subject of contenders.flat()) await subject.close();
  const least = Math.min(...ratiosTo(peer.name, rows));
  const { name } = rows[0]!.timings[0]!;
  const figures: Figure[] = [
    { label: `${peer.name} over ${name}, at the least`, value: least, unit: '×' },
    { label: `of the time for these, what ${asked} × ${peer.name} would take there`, value: least / asked, unit: '' },
    { label: `omnifft over ${name}, at the least`, value: Math.min(...ratiosTo('omnifft', rows)), unit: '×' },
  ];
  return { rows, figures, notes: [] };
}

export const bound: Table = {
  name: 'bound',
  title: 'double precision: the additions of a split-radix transform alone, on vectors of two; (×) is over those',
  measure: (context) =>
    measure(context, powersOfTwo(8, 15, context.quick), {
      precision: 'double',
      alone: additionsAlone,
      peer: { name: 'fft.js', open: fftjs },
      asked: 4,
    }),
};

export const arithmetic: Table = {
  name: 'arithmetic',
  title:
    'single precision: the additions and multiplications of the cheapest passes alone, one by one; (×) is over those',
  measure: (context) =>
    measure(context, lengthsToMeasure, {
      precision: 'single',
      alone: arithmeticAlone,
      peer: { name: 'kissfft-wasm', open: kissfft },
      asked: 6,
    }),
};
