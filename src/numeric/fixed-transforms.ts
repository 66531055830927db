/**
 * Single results of transforms by their definitions, in fixed point with 256 bits after the point: what numbers are held against
 * that have more digits than anything computes quickly.
 */
import { cosTurn, FRACTION_BITS, sinTurn } from './exact.ts';

/** Σ weight(n) · x(n) · e^(−2πi · point(n) · bin(k) / length), or a part of it where values are reals. */
interface Definition {
  readonly length: number;
  readonly point: (n: number) => number;
  readonly bin: (k: number) => number;
  readonly weight: (n: number) => bigint;
  /** Of reals: the cosines, the sines, or the sum of both. */
  readonly part?: 'cosine' | 'sine' | 'both';
}

const same = (n: number) => n;
const next = (n: number) => n + 1;
const oddNumber = (n: number) => 2 * n + 1;

/** Transforms of n values, those of reals as FFTW defines them. */
function definitionOf(kind: string, n: number): Definition {
  const twice = () => 2n;
  const but =
    (...once: readonly number[]) =>
    (at: number) =>
      once.includes(at) ? 1n : 2n;
  const [cosine, sine] = [{ part: 'cosine' }, { part: 'sine' }] as const;
  switch (kind) {
    case 'dct1':
      return { length: 2 * (n - 1), point: same, bin: same, weight: but(0, n - 1), ...cosine };
    case 'dct2':
      return { length: 4 * n, point: oddNumber, bin: same, weight: twice, ...cosine };
    case 'dct3':
      return { length: 4 * n, point: same, bin: oddNumber, weight: but(0), ...cosine };
    case 'dct4':
      return { length: 8 * n, point: oddNumber, bin: oddNumber, weight: twice, ...cosine };
    case 'dst1':
      return { length: 2 * (n + 1), point: next, bin: next, weight: twice, ...sine };
    case 'dst2':
      return { length: 4 * n, point: oddNumber, bin: next, weight: twice, ...sine };
    case 'dst3':
      return { length: 4 * n, point: next, bin: oddNumber, weight: but(n - 1), ...sine };
    case 'dst4':
      return { length: 8 * n, point: oddNumber, bin: oddNumber, weight: twice, ...sine };
    case 'dht':
      return { length: n, point: same, bin: same, weight: () => 1n, part: 'both' };
    default:
      return { length: n, point: same, bin: same, weight: () => 1n };
  }
}

const SHIFT = BigInt(FRACTION_BITS);

/**
 * Result k of the forward transform.
 * @param kind of transform; anything but a sum of cosines or sines is a Fourier transform
 * @param re, im `Exact.fixed` of each value; no `im`: they are reals
 * @returns the same of the result; reals have no second part
 */
export function fixedResult(
  kind: string,
  re: readonly bigint[],
  im: readonly bigint[] | undefined,
  k: number,
): readonly [re: bigint, im: bigint] {
  const { length, point, bin, weight, part } = definitionOf(kind, re.length);
  let [sum, other] = [0n, 0n];
  re.forEach((value, n) => {
    const turn = (point(n) * bin(k)) % length;
    const [a, b] = [weight(n) * value, weight(n) * (im?.[n] ?? 0n)];
    const cosine = part === 'sine' ? 0n : cosTurn(turn, length).fixed;
    const sine = part === 'cosine' ? 0n : sinTurn(turn, length).fixed;
    if (part) sum += a * (cosine + sine);
    else {
      sum += a * cosine + b * sine;
      other += b * cosine - a * sine;
    }
  });
  return [sum >> SHIFT, other >> SHIFT];
}
