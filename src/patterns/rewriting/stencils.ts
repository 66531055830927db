/** Periodic stencils as Fourier transforms. */
import { array } from '../language/patterns.ts';
import { conj, mul, omega, re } from '../language/scalars.ts';
import { freeOf, type Lambda, type Value } from '../language/values.ts';
import { isJust, patterns, type Rule } from './rule.ts';

export const stencilToFft: Rule = {
  name: 'stencilToFft',
  left: 'map(λ(w => reduce(+, 0) <<: map(*) <<: zip(w, h))) <<: slide(k, 1) <<: pad(l, r, wrap) <<: xs',
  right:
    'map(re) <<: ifft <<: map(λ((a, b, c) => a * conj(b) * c)) <<: zip(fft <<: xs, fft <<: pad(0, n - k, 0) <<: h, array(n, λ((q, n) => omega(l*q, n))))',
  where: 'l + r = k - 1, h is the same for all windows and not longer than xs, all numbers are real',
  apply({ op, of: [windows], f }) {
    const padded = windows?.of[0];
    if (op !== 'map' || windows?.op !== 'slide' || padded?.op !== 'pad' || padded.details.boundary !== 'wrap')
      return undefined;
    const [k, step] = windows.details.lengths!;
    const [l, r] = padded.details.lengths!;
    const [xs] = padded.of;
    const h = kernelOf(f!);
    if (!h || step!.known !== 1 || `${l!.plus(r!)}` !== `${k!.minus(1)}` || xs!.type.kind !== 'array') return undefined;
    const n = xs!.type.length;
    const left = l!.known;
    const isReal = h.type.text === `[real]_${k}` && xs!.type.of.kind === 'real';
    if (!isReal || left === undefined || (n.minus(k!).known ?? 0) < 0) return undefined;
    const spectrum = patterns.fft!(patterns.pad!(0, n.minus(k!), 0, h));
    // A window begins l elements before its own element.
    const shift = array(n, function shift(q, length) {
      return omega(left * q, length);
    });
    const product = patterns.map!(
      (a: never, b: never, c: never) => mul(mul(a, conj(b)), c),
      patterns.zip!(patterns.fft!(xs), spectrum, shift),
    );
    return patterns.map!((a: never) => re(a), patterns.ifft!(product));
  },
};

/** The array by which all windows are multiplied before they are summed; undefined for a function that does anything else. */
function kernelOf({ parameters: [window], body: sum }: Lambda): Value | undefined {
  const [first, products] = sum.of;
  const isSum = (sum.op === 'reduce' || sum.op === 'reduceSeq') && isJust('add', sum.f!) && first!.details.value === 0;
  if (!isSum || products!.op !== 'map' || !isJust('mul', products!.f!)) return undefined;
  const zipped = products!.of[0]!;
  const [w, h] = zipped.of;
  return zipped.op === 'zip' && zipped.of.length === 2 && w === window && !freeOf(h!).has(window!) ? h : undefined;
}
