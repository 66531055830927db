/**
 * The trials of `omnifft verify`: a suite with all kinds of lengths, or one of VkFFT's samples 11 to 19, up to the sizes that a reference can
 * compute.
 */
import { realTransforms, type Storage, type TransformKind, transformKinds } from '../../problem/problem.ts';

export function pointsOfSize(size: readonly number[]): number {
  return size.reduce((product, n) => product * n, 1);
}

/** Transforms of one kind, of some sizes. */
export interface PrecisionSet {
  readonly name: string;
  readonly transform: TransformKind;
  /** Lengths of the axes, fastest first. */
  readonly sizes: readonly (readonly number[])[];
}

/** The precisions in the order in which they are tried, with the fewest digits first. */
export const suitePrecisions = ['half', 'single', 'double', 'double-double'] as const satisfies readonly Storage[];
export type SuitePrecision = (typeof suitePrecisions)[number];

/** Lengths with all kinds of prime factors, large ones included. */
const OTHERS = [3, 5, 6, 7, 9, 10, 11, 12, 13, 15, 17, 21, 25, 30, 49, 60, 97, 100, 121, 127, 210, 243, 343, 360, 1000];
const MORE = [1009, 2187, 2310, 3125, 4000, 5040, 10_007, 30_030, 59_049, 100_000, 1_000_003];

/** The sets of the suite. @param most the most points of a transform */
export function precisionSets(most: number): PrecisionSet[] {
  const fitting = (lengths: readonly number[]) => lengths.filter((n) => n <= most).map((n) => [n]);
  const mixed = fitting([2, 4, ...OTHERS, 16, 64, 256, 1024, ...MORE].sort((a, b) => a - b));
  return [
    { name: 'c2c, powers of two', transform: 'c2c' as const, sizes: fitting(powersFromTo(1, 30)) },
    { name: 'c2c, other lengths', transform: 'c2c' as const, sizes: fitting([...OTHERS, ...MORE]) },
    { name: 'r2c and c2r', transform: 'r2c' as const, sizes: mixed },
    ...realTransforms.map((transform) => ({ name: transform, transform, sizes: mixed })),
  ].filter(({ sizes }) => sizes.length > 0);
}

/** The user's choice of transforms and sizes; missing fields are taken from the suite. */
export function wantedSets(
  most: number,
  wanted: {
    readonly transforms?: readonly TransformKind[];
    readonly lengths?: readonly (readonly number[])[];
  },
): PrecisionSet[] {
  const { transforms = transformKinds, lengths } = wanted;
  if (!lengths) return precisionSets(most).filter(({ transform }) => transforms.includes(transform));
  return transforms.map((transform) => ({ name: transform, transform, sizes: lengths }));
}

/** One of VkFFT's precision samples (VkFFT API guide 1.3.3, section 5): its sizes over one, two and three axes. */
export interface PrecisionSample {
  readonly sample: number;
  readonly about: string;
  readonly precision: SuitePrecision;
  readonly transforms: readonly TransformKind[];
  readonly sizes: readonly (readonly number[])[];
}

function powersFromTo(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => 2 ** (from + n));
}

/** Every power of a prime with an exponent in a range. */
function primePowers(...ranges: readonly (readonly [prime: number, from: number, to: number])[]): number[] {
  return ranges.flatMap(([prime, from, to]) => Array.from({ length: to - from + 1 }, (_, n) => prime ** (from + n)));
}

const SHORT = [
  3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 21, 22, 24, 25, 26, 27, 28, 30, 33, 35, 39, 44, 45, 49, 52, 56, 60,
];
const SMOOTH = [...SHORT, 42, 55, 65, 66, 81, 121, 125, 143, 169, 243, 286, 343, 429, 572, 625, 720, 1080, 1001, 1287];
const LONG = [1400, 1440, 1920, 2160, 3024, 3500, 3840, 4000, 4050, 4320, 7000, 7680, 9000, 38_400];
const ODD_POWERS = primePowers([3, 10, 15], [5, 5, 9], [7, 4, 8], [11, 3, 6], [13, 3, 6]);
const WITH_PRIMES = [
  8, 16, 17, 23, 29, 31, 32, 34, 37, 38, 41, 46, 58, 64, 128, 146, 256, 283, 512, 1024, 1229, 1676, 2048,
];
const SCREENS = [
  [720, 480],
  [1280, 720],
  [1920, 1080],
  [2560, 1440],
  [3840, 2160],
];

const lines = (lengths: readonly number[]) => lengths.map((n) => [n]);
/** Sizes of batches of eight columns for each length. */
const columns = (lengths: readonly number[]) => lengths.map((n) => [8, n]);
const squareSizes = (lengths: readonly number[]) => lengths.map((n) => [n, n]);
const cubes = (lengths: readonly number[]) => lengths.map((n) => [n, n, n]);

const POWERS_OF_TWO = [
  ...lines(powersFromTo(5, 26)),
  ...columns(powersFromTo(3, 24)),
  ...squareSizes(powersFromTo(3, 13)),
  ...cubes(powersFromTo(3, 9)),
];
const OTHER_SIZES = [
  ...lines([...SMOOTH, ...LONG, ...ODD_POWERS]),
  ...columns([...SMOOTH, ...LONG, ...ODD_POWERS]),
  ...[...SCREENS, [7680, 4320]],
  ...cubes([...SHORT, 42, 81, 121, 125, 143, 169, 243]),
];
const REAL_SIZES = [
  ...POWERS_OF_TWO,
  ...SCREENS,
  ...lines([...SMOOTH, ...LONG]),
  ...[...SMOOTH, ...LONG].map((n) => [n, 8]),
];
const COSINE_SIZES = [
  ...lines([...SMOOTH, ...WITH_PRIMES, ...LONG.filter((n) => n <= 4050), 4096]),
  ...columns([...SMOOTH, ...WITH_PRIMES].filter((n) => n <= 1024)),
  ...SCREENS.slice(0, 2),
  ...cubes([...SHORT, ...WITH_PRIMES.filter((n) => n <= 256), 42, 81, 121, 125, 143, 169, 243]),
];

const COSINES = ['dct1', 'dct2', 'dct3', 'dct4'] as const;
const sample = (
  number: number,
  about: string,
  precision: SuitePrecision,
  transforms: readonly TransformKind[],
  sizes: readonly (readonly number[])[],
): PrecisionSample => ({ sample: number, about, precision, transforms, sizes });

export const precisionSamples: readonly PrecisionSample[] = [
  sample(11, 'powers of two', 'single', ['c2c'], POWERS_OF_TWO),
  sample(12, 'powers of two', 'double', ['c2c'], POWERS_OF_TWO),
  sample(13, 'powers of two', 'half', ['c2c'], POWERS_OF_TWO),
  sample(14, 'other lengths', 'single', ['c2c'], OTHER_SIZES),
  sample(15, 'reals', 'single', ['r2c'], REAL_SIZES),
  sample(16, 'DCT I to IV', 'single', COSINES, COSINE_SIZES),
  sample(17, 'DCT I to IV', 'double', COSINES, COSINE_SIZES),
  sample(18, 'other lengths', 'double', ['c2c'], OTHER_SIZES),
  sample(19, 'other lengths', 'double-double', ['c2c'], OTHER_SIZES),
];

/** The trials of a sample up to a number of points: a set for each kind of transform and number of axes. */
export function sampleSets({ transforms, sizes }: PrecisionSample, most: number): PrecisionSet[] {
  const axes = ['one axis', 'two axes', 'three axes'];
  return transforms
    .flatMap((transform) =>
      axes.map((name, n) => ({
        ...{ name: `${transform}, ${name}`, transform },
        sizes: sizes.filter((size) => size.length === n + 1 && pointsOfSize(size) <= most),
      })),
    )
    .filter((set) => set.sizes.length > 0);
}
