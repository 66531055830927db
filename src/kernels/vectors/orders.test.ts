import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomFor, seedFor } from '../../../test/support/random.ts';
import { evaluate, type Var } from '../../ir/index.ts';
import { autosort, type Butterflies, digitReversed, samePlaces } from './orders.ts';

const random = randomFor('kernels/orders/data');
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const radices = fc
  .array(fc.constantFrom(2, 3, 4, 5, 7, 8), { minLength: 1, maxLength: 5 })
  .filter((sequence) => product(sequence) <= 600);

type Pass = (radix: number, stride: number) => Butterflies;
type Complex = readonly [re: number, im: number];

/** Every butterfly of a pass: its number in its block, the elements it takes and those it leaves. */
function butterfliesOf(
  { slices, blocks, i, point, output }: Butterflies,
  radix: number,
): { i: number; points: number[]; outputs: number[] }[] {
  const found: { i: number; points: number[]; outputs: number[] }[] = [];
  const visit = ([v, ...inner]: readonly Var[], at: ReadonlyMap<Var, number>): void => {
    if (v) {
      for (let n = 0; n < v.count; n++) visit(inner, new Map(at).set(v, n));
      return;
    }
    const all = (of: (m: number) => Parameters<typeof evaluate>[0]) =>
      Array.from({ length: radix }, (_, m) => evaluate(of(m), at));
    found.push({ i: at.get(i)!, points: all(point), outputs: all(output) });
  };
  visit([...(slices ? [slices] : []), ...blocks, i], new Map());
  return found;
}

function times([a, b]: Complex, turns: number): Complex {
  const [c, s] = [Math.cos(2 * Math.PI * turns), Math.sin(2 * Math.PI * turns)];
  return [a * c + b * s, b * c - a * s];
}

/** The transform of some numbers as its definition has it. */
function dft(values: readonly Complex[]): Complex[] {
  return values.map((_, k) =>
    values.reduce<Complex>(
      ([re, im], value, n) => {
        const [a, b] = times(value, ((n * k) % values.length) / values.length);
        return [re + a, im + b];
      },
      [0, 0],
    ),
  );
}

function transform(values: readonly Complex[], sequence: readonly number[], pass: Pass): Complex[] {
  let data = [...values];
  let stride = 1;
  for (const radix of sequence) {
    const next = [...data];
    for (const { i, points, outputs } of butterfliesOf(pass(radix, stride), radix)) {
      const twiddled = points.map((at, m) => times(data[at]!, (i * m) / (radix * stride)));
      dft(twiddled).forEach((value, k) => {
        next[outputs[k]!] = value;
      });
    }
    data = next;
    stride *= radix;
  }
  return data;
}

/** @param slice how many of the first passes a slice goes through. */
function placed(sequence: readonly number[], far: boolean, slice = 0): Pass {
  const length = product(sequence);
  const part = product(sequence.slice(0, slice));
  return (radix, stride) =>
    stride === 1
      ? digitReversed(length, sequence, far)
      : samePlaces(length, radix, stride, stride * radix <= part ? part : length);
}

describe('passes', () => {
  const forms: Record<string, (sequence: readonly number[]) => Pass> = {
    'in autosort form': (sequence) => (radix, stride) => autosort(product(sequence), radix, stride),
    'in place after the first one': (sequence) => placed(sequence, false),
    'in place after one that writes far away': (sequence) => placed(sequence, true),
    'in place and in slices': (sequence) => placed(sequence, true, sequence.length - 1),
  };

  it.each(Object.keys(forms))('%s transform, and take and leave each element once', (form) => {
    fc.assert(
      fc.property(radices, (sequence) => {
        const length = product(sequence);
        const pass = forms[form]!(sequence);
        const values = Array.from({ length }, (): Complex => [random.unit() - 0.5, random.unit() - 0.5]);
        const [got, wanted] = [transform(values, sequence, pass), dft(values)];
        const error = got.map(([re, im], k) => Math.hypot(re - wanted[k]![0], im - wanted[k]![1]));
        expect(Math.max(...error)).toBeLessThan(1e-12 * length);
        let stride = 1;
        for (const radix of sequence) {
          const all = butterfliesOf(pass(radix, stride), radix);
          for (const side of ['points', 'outputs'] as const) {
            expect(new Set(all.flatMap((butterfly) => butterfly[side])).size).toBe(length);
          }
          stride *= radix;
        }
      }),
      { seed: seedFor(`kernels/orders/${form}`) | 0, numRuns: 100 },
    );
  });

  it('in place leave outputs where points were, and read the input of a first pass side by side', () => {
    for (const { points, outputs } of butterfliesOf(samePlaces(120, 5, 6), 5)) expect(outputs).toEqual(points);
    for (const far of [false, true]) {
      const { blocks, point, output } = digitReversed(240, [4, 3, 5, 4], far);
      const at = (n: number) => new Map([[blocks.at(-1)!, n]]);
      expect([0, 1, 2, 3].map((n) => evaluate(point(1), at(n)))).toEqual([60, 61, 62, 63]);
      // The numbers of blocks with their digits reversed: the last one counts most.
      expect([0, 1, 2, 3].map((n) => evaluate(output(2), at(n)) / 2)).toEqual([1, 31, 61, 91]);
      expect(blocks.map(({ count }) => count)).toEqual(far ? [5, 3, 4] : [3, 5, 4]);
    }
  });
});
