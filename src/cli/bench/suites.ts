/**
 * The problem sets of VkFFT's benchmark samples 0 to 10, 50 to 52, 100, 101 and 1000 to 1004 (VkFFT API guide 1.3.3, section 5, and the programs that
 * it names), as data: the same lengths and precisions, in place, and as many systems as fill the same buffer. Systems that VkFFT runs for warming up
 * are left out.
 */
import type { ProblemInput } from '../../index.ts';
import type { Storage, TransformKind } from '../../problem/problem.ts';

/** One transform of a suite. */
export interface System {
  /** Lengths of the axes, fastest first. */
  readonly size: readonly number[];
  readonly transform: TransformKind;
}

export interface BenchSuite {
  readonly name: string;
  /** The number of VkFFT's sample, which names the suite, too. */
  readonly sample: number;
  /** A description of the suite. */
  readonly about: string;
  readonly precision: Storage;
  readonly systems: readonly System[];
  /** The number of points that fill a buffer with systems side by side; absent if one system is transformed at a time. */
  readonly points?: number;
  /** Whether the number of systems is rounded to a power of two. */
  readonly evenly?: true;
  /** Whether the second half of each axis is zero. */
  readonly padded?: true;
  readonly unordered?: true;
  /** The number of buffers that the systems are spread over. */
  readonly buffers?: number;
  /** The convolution to time instead of a forward and an inverse transform. */
  readonly convolution?: NonNullable<ProblemInput['convolution']>;
  readonly coordinates?: number;
}

const c2c = (sizes: readonly (readonly number[])[]): System[] => sizes.map((size) => ({ size, transform: 'c2c' }));
const cosines = (sizes: readonly (readonly number[])[]): System[] =>
  (['dct1', 'dct2', 'dct3', 'dct4'] as const).flatMap((transform) => sizes.map((size) => ({ size, transform })));
const powersOfTwoUpTo = (to: number): number[][] => Array.from({ length: to - 2 }, (_, n) => [2 ** (n + 3)]);
const lengthsFromTo = (from: number, to: number, axes = 1): number[][] =>
  Array.from({ length: to - from + 1 }, (_, n) => Array.from({ length: axes }, () => from + n));
/** Sizes with `axes` axes: starting from a power of two, one axis after another is doubled, the fastest first, until the last size is reached. */
const doubled = (axes: number, from: number, last: readonly number[]): number[][] => {
  const sizes = [Array.from({ length: axes }, () => 2 ** from)];
  for (let size = sizes[0]!; size.some((n, axis) => n < last[axis]!); ) {
    const next = size.indexOf(Math.min(...size));
    size = size.map((n, axis) => (axis === next ? 2 * n : n));
    sizes.push(size);
  }
  return sizes;
};

const SCREENS = [
  [720, 480],
  [1280, 720],
  [1920, 1080],
  [2560, 1440],
  [3840, 2160],
];
const CUBES = doubled(3, 4, [512, 512, 512]);
const IMAGES_AND_CUBES = [...SCREENS, [7680, 4320], ...doubled(2, 6, [2 ** 14, 2 ** 13]), ...CUBES];
const REALS = [
  ...[64, 256].map((n) => [n, n]),
  ...[
    [1024, 256],
    [512, 512],
    [1024, 1024],
    [4096, 256],
    [2048, 1024],
    [4096, 2048],
    [4096, 4096],
  ],
  ...SCREENS,
  ...[
    [32, 32, 32],
    [64, 64, 64],
    [256, 256, 32],
    [1024, 256, 32],
    [256, 256, 256],
  ],
  ...[
    [2048, 1024, 8],
    [512, 512, 128],
    [2048, 256, 256],
    [4096, 512, 8],
  ],
];
const SMALL_PRIMES = [17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97];
const LARGE_PRIMES = [179, 283, 419, 547, 661, 811, 947, 1087, 1229, 1381, 1523, 2909, 4241, 6841, 7727];
const PRIMES = [
  ...SMALL_PRIMES.map((n) => [n, n]),
  ...SMALL_PRIMES.map((n) => [n, n, n]),
  ...LARGE_PRIMES.map((n) => [n, n]),
];
const SMALL_IMAGES = doubled(2, 6, [1024, 1024]);
const SINGLE_COSINES = [
  ...[
    [720, 480],
    [1280, 720],
    [300, 300],
    [300, 300, 300],
    [500, 500],
    [500, 500, 500],
    [700, 700],
    [700, 700, 100],
  ],
  ...[...SMALL_IMAGES, [2048, 1024], [4096, 1024]],
  ...CUBES,
];
const DOUBLE_COSINES = [
  ...[
    [720, 480],
    [300, 300],
    [300, 300, 300],
    [500, 500],
    [500, 500, 100],
    [700, 700, 100],
  ],
  ...[...SMALL_IMAGES.slice(0, -1), [2048, 512], [4096, 512]],
  ...CUBES.slice(0, -1),
];

export const benchSuites: readonly BenchSuite[] = [
  {
    name: 'single-1d',
    sample: 0,
    about: 'powers of two',
    precision: 'single',
    systems: c2c(powersOfTwoUpTo(27)),
    points: 2 ** 27,
  },
  {
    name: 'double-1d',
    sample: 1,
    about: 'powers of two',
    precision: 'double',
    systems: c2c(powersOfTwoUpTo(25)),
    points: 2 ** 26,
  },
  {
    name: 'half-1d',
    sample: 2,
    about: 'powers of two',
    precision: 'half',
    systems: c2c(powersOfTwoUpTo(26)),
    points: 2 ** 27,
  },
  { name: 'single-nd', sample: 3, about: 'images and cubes', precision: 'single', systems: c2c(IMAGES_AND_CUBES) },
  {
    ...{ name: 'single-nd-padded', sample: 4, about: 'images and cubes, half of each axis zero', precision: 'single' },
    ...{ systems: c2c(IMAGES_AND_CUBES), padded: true },
  },
  {
    ...{ name: 'single-1d-unordered', sample: 5, about: 'powers of two, bins not reordered', precision: 'single' },
    ...{ systems: c2c(powersOfTwoUpTo(27)), points: 2 ** 27, unordered: true },
  },
  {
    ...{ name: 'single-nd-real', sample: 6, about: 'images and cubes of reals', precision: 'single' },
    systems: REALS.map((size): System => ({ size, transform: 'r2c' })),
  },
  { name: 'single-nd-primes', sample: 7, about: 'axes of prime length', precision: 'single', systems: c2c(PRIMES) },
  { name: 'double-nd-primes', sample: 8, about: 'axes of prime length', precision: 'double', systems: c2c(PRIMES) },
  {
    ...{ name: 'double-double-1d', sample: 9, about: 'powers of two', precision: 'double-double' },
    ...{ systems: c2c(powersOfTwoUpTo(24)), points: 2 ** 24 },
  },
  {
    ...{ name: 'single-1d-split', sample: 10, about: 'powers of two, in four buffers', precision: 'single' },
    ...{ systems: c2c(powersOfTwoUpTo(27)), points: 2 ** 27, buffers: 4 },
  },
  {
    ...{ name: 'single-convolution-matrix', sample: 50, about: '3 × 3 kernels, long lines', precision: 'single' },
    ...{ systems: c2c([[2 ** 23]]), coordinates: 3, convolution: { matrix: 3 } },
  },
  {
    ...{ name: 'single-convolution-padded', sample: 51, about: '3 × 3 kernels, cubes half zero', precision: 'single' },
    ...{
      systems: [{ size: [32, 32, 32], transform: 'r2c' }],
      coordinates: 3,
      convolution: { matrix: 3 },
      padded: true,
    },
  },
  {
    ...{ name: 'single-convolution-kernels', sample: 52, about: 'two kernels for one image', precision: 'single' },
    ...{ systems: [{ size: [32, 32], transform: 'r2c' }], coordinates: 2, convolution: { kernels: 2 } },
  },
  {
    ...{ name: 'single-nd-cosines', sample: 100, about: 'images and cubes, DCT I to IV', precision: 'single' },
    systems: cosines(SINGLE_COSINES),
  },
  {
    ...{ name: 'double-nd-cosines', sample: 101, about: 'images and cubes, DCT I to IV', precision: 'double' },
    systems: cosines(DOUBLE_COSINES),
  },
  {
    ...{ name: 'single-lengths', sample: 1000, about: 'every length up to 4096', precision: 'single' },
    ...{ systems: c2c(lengthsFromTo(2, 4096)), points: 2 ** 27, evenly: true },
  },
  {
    ...{ name: 'double-lengths', sample: 1001, about: 'every length up to 4096', precision: 'double' },
    ...{ systems: c2c(lengthsFromTo(2, 4096)), points: 2 ** 26, evenly: true },
  },
  {
    ...{ name: 'half-lengths', sample: 1002, about: 'every length up to 4096', precision: 'half' },
    ...{ systems: c2c(lengthsFromTo(2, 4096)), points: 2 ** 27, evenly: true },
  },
  {
    name: 'single-cubes',
    sample: 1003,
    about: 'cubes of every length up to 512',
    precision: 'single',
    systems: c2c(lengthsFromTo(2, 512, 3)),
  },
  {
    ...{ name: 'double-double-lengths', sample: 1004, about: 'every length up to 4096', precision: 'double-double' },
    ...{ systems: c2c(lengthsFromTo(2, 4096)), points: 2 ** 25, evenly: true },
  },
];

export function findSuite(name: string): BenchSuite | undefined {
  return benchSuites.find((one) => one.name === name || String(one.sample) === name);
}

/** `count` of the systems, spread evenly over the list. */
export function spread<T>(systems: readonly T[], count = systems.length): T[] {
  const most = Math.min(count, systems.length);
  const step = most > 1 ? (systems.length - 1) / (most - 1) : 0;
  return Array.from({ length: most }, (_, n) => systems[Math.round(n * step)]!);
}

/** The number of systems that fill a buffer of `points` points: a multiple of the number of buffers if they are spread over several. */
export function systemsIn({ points, evenly, buffers = 1 }: BenchSuite, { size }: System, most: number): number {
  if (points === undefined) return 1;
  const count = Math.min(points, most) / size.reduce((product, n) => product * n, 1);
  return Math.max(buffers, evenly ? 2 ** Math.floor(Math.log2(count)) : Math.floor(count));
}

/** The problem of a batch of systems. */
export function benchProblem(
  { precision, padded, unordered, convolution, coordinates }: BenchSuite,
  { size, transform }: System,
  batches: number,
): ProblemInput {
  const second = size.map((n) => ({ from: Math.ceil(n / 2), to: n }));
  return {
    ...{ size, transform, precision, batches },
    // In place, one signal has no room for several results.
    placement: typeof convolution?.kernels === 'number' ? 'out-of-place' : 'in-place',
    ...(convolution ? { convolution } : {}),
    ...(coordinates ? { coordinates } : {}),
    ...(padded ? { zeroPadding: { space: second } } : {}),
    ...(unordered ? { unordered } : {}),
  };
}
