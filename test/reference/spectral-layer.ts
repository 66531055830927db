/** Spectral layers in twice the precision of doubles, over packed complex data: transforms, products at the kept bins, and back. */
import { ddMulComplex } from '../../src/numeric/double-double/doubledouble.ts';
import { rational, toDoubleDouble } from '../../src/numeric/exact.ts';
import { addComplexDd } from './complex-dd.ts';
import { type ReferenceResult, referenceTransform } from './transform.ts';

export interface LayerShape {
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly leftBatches: number;
  readonly batches: number;
  readonly channels: { readonly in: number; readonly out: number };
  readonly modes: readonly number[];
  /** Signal and result are real: the first axis has bins 0 … m − 1, which stand for those that mirror them, too. */
  readonly real: boolean;
  readonly conjugate?: 'none' | 'signal' | 'kernel';
}

/** The bins of an axis that are kept, in their order. */
function keptOf({ size, modes, real }: LayerShape, axis: number): number[] {
  const [count, length] = [modes[axis]!, size[axis]!];
  const first = Array.from({ length: count }, (_, k) => k);
  return real && axis === 0 ? first : [...first, ...first.map((k) => length - count + k)];
}

/**
 * @param x left × size × in × batches complex numbers; `h`: kept bins × in × out of them.
 * @returns left × size × out × batches complex numbers, of a real layer their real parts are the result.
 */
export function spectralLayer(shape: LayerShape, x: Float64Array, h: Float64Array): ReferenceResult {
  const { size, leftBatches, batches, channels, real, conjugate = 'none' } = shape;
  const points = size.reduce((a, b) => a * b, 1);
  const signal = referenceTransform({ size, leftBatches, coordinates: channels.in, batches }, x);
  const numbers = leftBatches * points * channels.out * batches;
  const product = { hi: new Float64Array(2 * numbers), lo: new Float64Array(2 * numbers) };
  const kept = size.map((_, axis) => keptOf(shape, axis));
  const bins = kept.reduce((all, own) => all * own.length, 1);
  const [a, b, term, sum] = [1, 2, 3, 4].map(() => new Float64Array(4)) as [Float64Array, ...Float64Array[]];
  const sign = (who: string) => (conjugate === who ? -1 : 1);
  for (let q = 0; q < bins; q++) {
    let [rest, bin, stride, twice] = [q, 0, 1, false];
    kept.forEach((own, axis) => {
      const k = own[rest % own.length]!;
      rest = Math.floor(rest / own.length);
      if (axis === 0) twice = real && k > 0 && 2 * k !== size[0];
      bin += k * stride;
      stride *= size[axis]!;
    });
    for (let out = 0; out < channels.out; out++)
      for (let batch = 0; batch < batches; batch++)
        for (let left = 0; left < leftBatches; left++) {
          sum!.fill(0);
          for (let from = 0; from < channels.in; from++) {
            const s = 2 * (left + leftBatches * (bin + points * (from + channels.in * batch)));
            const { hi, lo } = signal;
            a.set([hi[s]!, lo[s]!, sign('signal') * hi[s + 1]!, sign('signal') * lo[s + 1]!]);
            const f = 2 * (q + bins * (from + channels.in * out));
            b!.set([h[f]!, 0, sign('kernel') * h[f + 1]!, 0]);
            ddMulComplex(term!, 0, a, 0, b!, 0);
            addComplexDd(sum!, 0, sum!, 0, term!, 0);
          }
          const at = 2 * (left + leftBatches * (bin + points * (out + channels.out * batch)));
          for (const part of [0, 1]) {
            product.hi[at + part] = (twice ? 2 : 1) * sum![2 * part]!;
            product.lo[at + part] = (twice ? 2 : 1) * sum![2 * part + 1]!;
          }
        }
  }
  const scale = toDoubleDouble(rational(1n, BigInt(points)));
  const back = { size, leftBatches, coordinates: channels.out, batches, direction: 'inverse', scale } as const;
  return referenceTransform(back, product.hi, product.lo);
}
