/** What is tried and timed on a GPU. */
import type { Callback, ProblemInput } from '../../src/index.ts';
import type { Random } from '../support/random.ts';

/** Problems small enough for the double-double reference, with everything that a plan can have. */
export function smallProblems(): ProblemInput[] {
  const powers = Array.from({ length: 17 }, (_, k) => ({ size: [2 ** (k + 1)] }));
  const smooth = [
    3, 5, 6, 7, 9, 11, 12, 13, 15, 21, 26, 30, 45, 60, 77, 100, 121, 125, 169, 210, 243, 343, 360, 1000, 1001, 1080,
    1155, 1331,
  ]
    .concat([2187, 3000, 3072, 3125, 6000, 7007, 8000, 10000, 15625, 20736, 30030, 50000, 65520, 100000, 131072 - 1072])
    .filter(isSmooth)
    .map((n) => ({ size: [n] }));
  const images = [
    [2, 2],
    [4, 8],
    [16, 16],
    [3, 5],
    [30, 42],
    [64, 64],
    [100, 60],
    [128, 128],
    [256, 256],
    [512, 128],
    [6, 2048],
    [2048, 6],
    [1080, 45],
    [100, 160],
    [32, 1000],
  ];
  const cubes = [
    [2, 3, 4],
    [8, 8, 8],
    [16, 16, 16],
    [32, 32, 32],
    [5, 12, 21],
    [64, 32, 16],
    [7, 64, 11],
    [48, 48, 48],
    [100, 16, 48],
    [32, 160, 16],
  ];
  const hypercubes = [
    [4, 6, 5, 3],
    [8, 8, 8, 8],
    [2, 3, 2, 3, 2],
  ];
  const shapes = [...images, ...cubes, ...hypercubes].map((size) => ({ size }));
  const batches: ProblemInput[] = [
    { size: [8], batches: 1000 },
    { size: [16], batches: 7 },
    { size: [60], batches: 129 },
    { size: [256], batches: 33 },
    { size: [1024], batches: 50 },
    { size: [4096], batches: 5 },
    { size: [32, 32], batches: 17 },
    { size: [128], leftBatches: 3 },
    { size: [128], leftBatches: 32, batches: 3 },
    { size: [64, 48], coordinates: 3, batches: 2 },
    { size: [2 ** 15], batches: 3 },
    { size: [2 ** 14], leftBatches: 5 },
  ];
  // Two launches that may be one, where a device has their groups take turns.
  const turns: ProblemInput[] = [
    { size: [64, 64, 20], batches: 4, normalize: true },
    { size: [64, 64, 20], batches: 3, placement: 'in-place' },
    { size: [64, 64, 20], batches: 2, layout: { input: 'planar' } },
    { size: [384, 96], batches: 4 },
    { size: [352, 144], batches: 4 },
  ];
  const layouts: ProblemInput[] = [
    { size: [512], layout: { input: 'planar', output: 'planar' }, batches: 3 },
    { size: [100, 30], layout: { input: 'planar' } },
    { size: [2 ** 15], layout: { output: 'planar' } },
    { size: [100, 48, 16], layout: { input: 'planar' }, batches: 2, normalize: true },
    { size: [48, 1000], layout: { output: 'planar' }, batches: 2 },
    { size: [30], layout: { output: 'planar' }, strides: { input: [1, 2, 60] } },
    { size: [128], strides: { input: [1, 3, 400], output: [1, 2, 256] }, batches: 4 },
    { size: [64, 20], strides: { input: [1, 1, 70, 1500], output: [1, 2, 129, 2600] }, batches: 2 },
    { size: [1024], offsets: { input: 5, output: 7 }, batches: 2 },
    { size: [2 ** 14], offsets: { input: 3, output: 9 } },
  ];
  const places: ProblemInput[] = [
    { size: [16], placement: 'in-place', batches: 9 },
    { size: [1024], placement: 'in-place', batches: 3 },
    { size: [8192], placement: 'in-place' },
    { size: [2 ** 15], placement: 'in-place' },
    { size: [2 ** 16], placement: 'in-place', layout: { input: 'planar', output: 'planar' } },
    { size: [64, 64], placement: 'in-place', batches: 2 },
    { size: [32, 24, 10], placement: 'in-place' },
    { size: [2 ** 15], preserveInput: false },
  ];
  const others: ProblemInput[] = [
    { size: [2 ** 15], unordered: true },
    { size: [2 ** 15], normalize: true },
    { size: [360], scale: { forward: 0.5, inverse: 2 } },
    { size: [16, 32, 8], omit: [false, true, false] },
    { size: [16, 32, 8], omit: [true, false, true], batches: 2 },
  ];
  // Axes with large primes: radices, convolved with one point less, or with more.
  const convolved: ProblemInput[] = [
    ...[17, 19, 61, 73, 101, 257, 1009, 2053, 4093, 2 * 23, 31 * 37, 8 * 509, 10_007, 65_537, 3 * 100_003].map((n) => ({
      size: [n],
    })),
    { size: [20_011], batches: 3 },
    { size: [3, 30_011], placement: 'in-place' },
    { size: [15_013, 4], layout: { input: 'planar' } },
    { size: [17], batches: 1000 },
    { size: [1009], batches: 7, placement: 'in-place' },
    { size: [29, 31], batches: 3 },
    { size: [64, 127], layout: { input: 'planar' } },
    { size: [127, 64], placement: 'in-place' },
    { size: [16, 67, 9], normalize: true },
    { size: [41], strides: { input: [1, 3, 130], output: [1, 2, 90] }, batches: 5 },
  ];
  return [...convolved, ...powers, ...smooth, ...shapes, ...batches, ...turns, ...layouts, ...places, ...others];
}

/** Tensors that blocks of zeros are tried on. */
export function blockSizes(): number[][] {
  return [[60], [101], [1024], [2 ** 15], [100_000], [128, 96], [256, 256], [1080, 45], [32, 24, 20], [64, 64, 64]];
}

/** Knobs that a device follows: every one that changes its kernels or how they are launched. */
export function tunedProblems(kind: string): ProblemInput[] {
  const problems: ProblemInput[] = [
    { size: [1000], batches: 3, tuning: { registerBoost: 1 } },
    { size: [1000], batches: 3, tuning: { registerBoost: 2 } },
    { size: [4096], batches: 5, tuning: { registerBoost: 4 } },
    { size: [2 ** 16], tuning: { registerBoost4Step: 2, uploadSwitch: { two: 1024 } } },
    { size: [2 ** 16], tuning: { registerBoost4Step: 4, uploadSwitch: { two: 1024 } } },
    { size: [48, 20], batches: 9, tuning: { registerBoost: 2, registerBoostNonPow2: false } },
    { size: [256], batches: 1000, tuning: { maxGroups: 9 } },
    { size: [100, 30], batches: 40, tuning: { maxGroups: 3 } },
  ];
  const computed: ProblemInput[] = [
    { size: [360], batches: 7, tuning: { twiddles: 'computed' } },
    { size: [2 ** 16], tuning: { twiddles: 'computed' } },
    // Tiles that do not divide the columns.
    { size: [16500], tuning: { twiddles: 'computed', uploadSwitch: { two: 1000 } } },
  ];
  const streams: ProblemInput[] = [
    { size: [1024], batches: 64, tuning: { streams: 3 } },
    { size: [2 ** 16], batches: 4, tuning: { streams: 4, uploadSwitch: { two: 1024 } } },
  ];
  return [...problems, ...(kind === 'webgpu' ? [] : computed), ...(kind === 'cuda' || kind === 'hip' ? streams : [])];
}

/** Problems that only the CPU device in double precision can follow. */
export function largeProblems(): ProblemInput[] {
  const powers = [18, 19, 20, 21, 22, 23, 24].map((k) => ({ size: [2 ** k] }));
  const smooth = [1000000, 3 ** 13, 5 ** 9, 7 ** 7, 10000000].map((n) => ({ size: [n] }));
  const shapes = [
    [1024, 1024],
    [4096, 1024],
    [1080, 1080],
    [128, 128, 128],
    [256, 256, 64],
    [256, 256, 256],
    [64, 512, 512],
  ].map((size) => ({ size }));
  return [
    ...powers,
    ...smooth,
    ...shapes,
    { size: [2 ** 20], placement: 'in-place' },
    { size: [1024, 512], placement: 'in-place', batches: 2 },
    { size: [1024], batches: 1000 },
    { size: [2 ** 18], batches: 3, layout: { input: 'planar', output: 'planar' } },
  ];
}

/** Convolutions along one axis and several, in one upload and more, with all that a product can be. @param most points. */
export function convolvedProblems(most: number): ProblemInput[] {
  const upper = (n: number) => ({ from: n / 2, to: n });
  const band = (n: number) => ({ from: n / 4, to: n - n / 4 });
  const micromagnetic = [64, 48, 20];
  const problems: ProblemInput[] = [
    { size: [1024], batches: 30, convolution: { kernels: 3 } },
    { size: [4096], batches: 5, transform: 'r2c', convolution: {} },
    { size: [4096], tuning: { uploadSwitch: { two: 1024 } }, convolution: { kernels: 2 }, batches: 3 },
    { size: [8192], placement: 'in-place', convolution: { conjugate: 'kernel' } },
    { size: [2 ** 14], convolution: { crossPower: true, conjugate: 'signal' } },
    { size: [2 ** 15], transform: 'r2c', batches: 2, convolution: { kernels: 2 } },
    { size: [2 ** 16], coordinates: 2, convolution: { matrix: 2 } },
    { size: [2 ** 17], zeroPadding: { space: [upper(2 ** 17)], frequency: [band(2 ** 17)] }, convolution: {} },
    { size: [2 ** 18], layout: 'planar', convolution: {} },
    { size: [2 ** 18], transform: 'r2c', placement: 'in-place', convolution: {} },
    { size: [1009], batches: 7, convolution: { kernels: 2 } },
    { size: [10_007], convolution: {} },
    { size: [20_011], transform: 'r2c', convolution: { conjugate: 'signal' } },
    { size: [100_000], convolution: {} },
    { size: [256, 256], batches: 2, convolution: {} },
    { size: [256, 64], coordinates: 3, convolution: { matrix: 3, symmetric: true } },
    { size: [512, 384], transform: 'r2c', zeroPadding: { space: [upper(512), upper(384)] }, convolution: {} },
    { size: [1024, 64], placement: 'in-place', zeroPadding: { space: [null, upper(64)] }, convolution: {} },
    { size: [60, 1000], convolution: { kernels: 2 } },
    { size: [128, 100], zeroPadding: { frequency: [band(128), band(100)] }, convolution: { crossPower: true } },
    { size: [64, 64, 64], convolution: {} },
    { size: [128, 60, 32], placement: 'in-place', transform: 'r2c', convolution: {} },
    {
      ...{ size: micromagnetic, transform: 'r2c', coordinates: 3 },
      zeroPadding: { space: micromagnetic.map(upper) },
      convolution: { matrix: 3, symmetric: true },
    },
    { size: [1024], precision: 'half', batches: 3, convolution: { kernels: 2 } },
    { size: [64, 100], precision: 'half', convolution: {} },
    { size: [2 ** 16], precision: 'half', transform: 'r2c', convolution: {} },
  ];
  return problems.filter(({ size }) => size.reduce((a, b) => a * b, 1) <= most);
}

/** Problems to be given random callbacks, in several launches or of other schemes than random ones have. */
export const longCalledProblems: Readonly<Record<'c2c' | 'r2c' | 'sums', readonly ProblemInput[]>> = {
  c2c: [
    { size: [2 ** 16] },
    { size: [2 ** 17], placement: 'in-place' },
    { size: [1009], batches: 2 },
    { size: [20_011] },
    { size: [48, 40, 20], placement: 'in-place' },
    { size: [256, 256], batches: 2 },
    { size: [4096], edgeStorage: 'half', batches: 3 },
  ],
  r2c: [
    { size: [30_030], transform: 'r2c' },
    { size: [10_007], transform: 'r2c' },
    { size: [2 ** 17], transform: 'r2c' },
    { size: [256, 100], transform: 'r2c', placement: 'in-place' },
  ],
  sums: [
    { size: [5000], transform: 'dct2' },
    { size: [2 ** 14], transform: 'dst4' },
    { size: [128, 100], transform: 'dct3' },
  ],
};

export interface Timed {
  /** A region of the table that results are compared in. */
  readonly region: string;
  readonly size: readonly number[];
  readonly batches: number;
  /** From reals. */
  readonly real?: boolean;
  readonly inPlace?: boolean;
}

/** Of the data on either side, where nothing else is said. */
const DEFAULT_BYTES = 512 * 2 ** 20;

/** Complex transforms to time, out of place, with the names of their regions. */
export function timedCases(precision: 'single' | 'double', bytes = DEFAULT_BYTES): Timed[] {
  const elementBytes = precision === 'single' ? 8 : 16;
  const oneUpload = precision === 'single' ? 13 : 12;
  const cluster = oneUpload + 4;
  const region = (k: number) => (k <= oneUpload ? '1d-pow2' : k <= cluster ? '1d-pow2-medium' : '1d-pow2-large');
  const at = (name: string, size: readonly number[]): Timed => ({
    region: name,
    size,
    batches: Math.max(1, Math.floor(bytes / elementBytes / size.reduce((a, b) => a * b, 1))),
  });
  const edge = 2 ** oneUpload;
  return [
    ...Array.from({ length: 24 }, (_, k) => at(region(k + 1), [2 ** (k + 1)])),
    ...[3, 5, 7, 9, 15, 60, 100, 125, 243, 1000, 1080, 3072, 10000, 100000, 1000000].map((n) =>
      at(n <= edge ? '1d-smooth' : '1d-smooth-large', [n]),
    ),
    ...[17, 31, 101, 251, 509, 1009, 2053, 4093].map((n) => at('1d-prime', [n])),
    ...[10007, 20011, 30011, 60013, 65537, 100003, 1000003].map((n) => at('1d-prime-large', [n])),
    ...[64, 128, 256].map((n) => at('2d-small', [n, n])),
    ...[512, 1024, 1080, 2048, 4096].map((n) => at('2d', [n, n])),
    ...[32, 64, 128, 256, 512].map((n) => at('3d', [n, n, n])),
    ...realCases(bytes / elementBytes, edge),
  ].filter(({ size }) => size.reduce((a, b) => a * b, 1) * elementBytes <= 4 * bytes);
}

/** Real transforms. @param points complex numbers that as many bytes would be. */
function realCases(points: number, edge: number): Timed[] {
  const at = (region: string, ...size: number[]): Timed => ({
    region,
    size,
    batches: Math.max(1, Math.floor((2 * points) / size.reduce((a, b) => a * b, 1))),
    real: true,
  });
  const powers = [4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22].map((k) => 2 ** k);
  return [
    ...powers.map((n) => at(n <= 2 * edge ? 'r2c-pow2' : 'r2c-pow2-large', n)),
    ...[60, 100, 243, 1000, 1001, 3125, 10000].map((n) => at('r2c-smooth', n)),
    ...[128, 512, 1024, 2048].map((n) => at('r2c-2d', n, n)),
    ...[64, 128, 256].map((n) => at('r2c-3d', n, n, n)),
  ];
}

/** Complex transforms of these sizes, in place and out of place. */
export function askedCases(sizes: string, precision: 'single' | 'double', bytes = DEFAULT_BYTES): Timed[] {
  return sizes.split(',').flatMap((text) => placed(text.split('x').map(Number), 'asked', precision, bytes));
}

function placed(size: readonly number[], region: string, precision: 'single' | 'double', bytes: number): Timed[] {
  const elements = bytes / (precision === 'single' ? 8 : 16);
  const batches = Math.max(1, Math.floor(elements / size.reduce((a, b) => a * b, 1)));
  return [
    { region, size, batches },
    { region: `${region} in place`, size, batches, inPlace: true },
  ];
}

/** Shapes that fell behind cuFFT once. */
const WEAK = [[9261], [14, 24], [14, 70, 270], [77760], [2904], [256], [6561], [50625], [8085]];

/** Complex transforms that nobody has tuned for, in place and out of place: those above, and smooth lengths by chance. */
export function chanceCases(
  random: Random,
  precision: 'single' | 'double',
  bytes = DEFAULT_BYTES,
  lengths = 60,
): Timed[] {
  const smooth = new Set<number>();
  while (smooth.size < lengths) {
    const length = Math.round(2 ** (1 + random.unit() * (Math.log2(1e6) - 1)));
    if (isSmooth(length)) smooth.add(length);
  }
  return [...WEAK, ...[...smooth].map((length) => [length])].flatMap((size) =>
    placed(size, 'chance', precision, bytes),
  );
}

function isSmooth(n: number): boolean {
  let rest = n;
  for (const prime of [2, 3, 5, 7, 11, 13]) while (rest % prime === 0) rest /= prime;
  return rest === 1;
}

/** What compilers are tried on: every kind of kernel, few of each. */
export const compiledProblems: readonly ProblemInput[] = [
  { size: [16], batches: 100 },
  { size: [1024], batches: 64 },
  { size: [4096], precision: 'double', normalize: true },
  { size: [1001], layout: { input: 'planar', output: 'planar' } },
  { size: [2 ** 16] },
  { size: [2 ** 20] },
  { size: [256, 256] },
  { size: [256, 256, 64] },
  { size: [256, 256, 64], precision: 'double', layout: { input: 'planar' } },
  { size: [10000], precision: 'double', placement: 'in-place' },
  { size: [48, 100], batches: 3 },
  { size: [32, 15, 64], strides: { input: [1, 2, 70, 1100, 71000] }, precision: 'double' },
  { size: [1009], convolution: { kernels: 2, conjugate: 'signal' } },
  { size: [256, 60], transform: 'r2c', convolution: { matrix: 3, symmetric: true } },
  { size: [2 ** 16], precision: 'double', convolution: { crossPower: true, conjugate: 'kernel' } },
  { size: [120], precision: 'double-double', batches: 9, storage: 'double' },
];

/** Callbacks that say all that callbacks can, in every kind of side. */
export function calledProblems(): ProblemInput[] {
  const everything: Callback = (x, v, at) => {
    const index = x.index.mod(x.index.add(x.index.mul(at.batch, 3), x.index.div(at.axis[0]!, 2)), 16);
    const w = x.load('w', index);
    const bounded = x.max(x.min(v.re, x.constant(2)), x.neg(x.abs(v.im)));
    return { re: x.select(x.less(v.re, w), bounded, x.div(v.re, x.sqrt(x.abs(w)))), im: x.sub(v.im, w) };
  };
  const power: Callback = (x, v) => x.add(x.mul(v.re, v.re), x.mul(v.im, v.im));
  const weighted: Callback = (x, v, at) => x.mul(x.load('w', x.index.mod(at.axis[0]!, 16)), v);
  const arrays = { w: { type: 'f32', length: 16 } } as const;
  const complex = { forward: { load: everything, store: power }, arrays };
  return [
    { size: [128], batches: 9, callbacks: complex },
    { size: [2 ** 16], precision: 'double', callbacks: { forward: { load: everything, store: everything }, arrays } },
    { size: [64, 64], placement: 'in-place', edgeStorage: 'half', callbacks: complex },
    {
      size: [100],
      transform: 'r2c',
      batches: 5,
      callbacks: { forward: { load: weighted, store: everything }, arrays },
    },
    { size: [30], transform: 'dct2', batches: 3, callbacks: { forward: { load: weighted, store: weighted }, arrays } },
    { size: [1009], callbacks: complex },
    {
      ...{ size: [400], transform: 'r2c', batches: 40, directions: 'forward' },
      bands: [5, 9, 40].map((from) => ({ from, weights: new Float64Array(from).fill(1 / from) })),
      callbacks: { forward: { load: weighted, store: (x, sum) => x.exp(x.log(sum)) }, arrays },
    },
  ];
}
