/** What the precision suite tries: VkFFT's samples 11 to 19, as far as lengths go that a reference can follow. */
import { realTransforms, type Storage, type TransformKind, transformKinds } from '../../problem/problem.ts';

/** Transforms of one kind, of some lengths. */
export interface PrecisionSet {
  readonly name: string;
  readonly transform: TransformKind;
  readonly lengths: readonly number[];
}

/** Lengths of all kinds of primes, those that are large as well. */
const OTHERS = [3, 5, 6, 7, 9, 10, 11, 12, 13, 15, 17, 21, 25, 30, 49, 60, 97, 100, 121, 127, 210, 243, 343, 360, 1000];
const MORE = [1009, 2187, 2310, 3125, 4000, 5040, 10_007, 30_030, 59_049, 100_000, 1_000_003];

/** @param most points of the longest transform */
export function precisionSets(most: number): PrecisionSet[] {
  const fitting = (lengths: readonly number[]) => lengths.filter((n) => n <= most);
  const powers: number[] = [];
  for (let n = 2; n <= most; n *= 2) powers.push(n);
  const mixed = fitting([2, 4, ...OTHERS, 16, 64, 256, 1024, ...MORE].sort((a, b) => a - b));
  return [
    { name: 'c2c, powers of two', transform: 'c2c' as const, lengths: powers },
    { name: 'c2c, other lengths', transform: 'c2c' as const, lengths: fitting([...OTHERS, ...MORE]) },
    { name: 'r2c and c2r', transform: 'r2c' as const, lengths: mixed },
    ...realTransforms.map((transform) => ({ name: transform, transform, lengths: mixed })),
  ].filter(({ lengths }) => lengths.length > 0);
}

/** Transforms and lengths of one's own: what is not named is what the suite has. */
export function wantedSets(
  most: number,
  wanted: { readonly transforms?: readonly TransformKind[]; readonly lengths?: readonly number[] },
): PrecisionSet[] {
  const { transforms = transformKinds, lengths } = wanted;
  if (!lengths) return precisionSets(most).filter(({ transform }) => transforms.includes(transform));
  return transforms.map((transform) => ({ name: transform, transform, lengths }));
}

/** In the order in which they are tried; the first ones have the fewest digits. */
export const suitePrecisions = ['half', 'single', 'double', 'double-double'] as const satisfies readonly Storage[];
export type SuitePrecision = (typeof suitePrecisions)[number];
