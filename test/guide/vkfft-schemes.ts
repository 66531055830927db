/** The rows of the VkFFT guide, sections 4.3.6 to 4.3.11: schemes, zero padding, convolution, registers, the device. */
import type { ProblemInput } from '../../src/index.ts';
import { all, changesKernels, explained, launched, launchesOf, refused, right, rowsOf } from './toolkit.ts';

const { rows, row } = rowsOf('VkFFT');
export const vkFftSchemeRows = rows;

const apply = (reason: string) => `does not apply: ${reason}`;
const noRader = { multiply: [2, 13], convolve: [2, 13] } as const;
/** Problems of several kinds of plans. */
const some: readonly ProblemInput[] = [
  { size: [64, 64] },
  { size: [4096], batches: 8 },
  { size: [2 ** 18] },
  { size: [1000, 30] },
];

row(
  '4.3.6',
  'fixMinRaderPrimeMult from 2 on',
  changesKernels('h200', { rader: { multiply: [11, 127] } }, { size: [121] }),
);
row(
  '4.3.6',
  'fixMaxRaderPrimeMult over 127',
  changesKernels(
    'h200',
    { rader: { multiply: [17, 513], convolve: [2, 13] } },
    { size: [262], tuning: { rader: { multiply: [2, 13], convolve: [2, 13] } } },
  ),
);
row(
  '4.3.6',
  'fixMinRaderPrimeFFT',
  right({ size: [61], tuning: { rader: { multiply: [2, 13], convolve: [17, 127] } } }),
);
row(
  '4.3.6',
  'fixMaxRaderPrimeFFT: primes over 127 inside of lengths',
  launched('h200', { size: [8072], tuning: { rader: { convolve: [17, 16384] } } }, 1),
);
const padded = (length: number, bluestein: object): ProblemInput => ({
  size: [length],
  tuning: { rader: noRader, bluestein },
});
row(
  '4.3.7',
  'fixMaxRadixBluestein',
  all(
    right(padded(37, { maxRadix: 2 }), padded(37, { maxRadix: 5 })),
    explained('h200', padded(37, { maxRadix: 2 }), (plan) => /\b(128|256)\b/.test(plan.explain())),
  ),
);
row(
  '4.3.7',
  'forceBluesteinSequenceSize',
  all(
    right(padded(37, { length: 91 })),
    explained('h200', padded(1009, { length: 2197 }), (plan) => plan.explain().includes('2197')),
    refused('invalid-field', padded(37, { length: 85 })),
  ),
);
row(
  '4.3.7',
  'a custom padding pattern',
  all(
    ...(
      [
        [17, 42],
        [23, 60],
        [31, 64],
      ] as const
    ).map(([n, length]) =>
      explained(
        'h200',
        padded(n, {
          pattern: [
            { from: 17, length: 42 },
            { from: 23, length: 60 },
            { from: 31, length: 64 },
          ],
        }),
        (plan) => plan.explain().includes(String(length)),
      ),
    ),
  ),
);
row('4.3.7', 'autoCustomBluesteinPaddingPattern', apply('the price decides, there is no table of defaults'));
const half = (n: number) => ({ from: Math.ceil(n / 2), to: n });
row(
  '4.3.8',
  'performZeropadding of each axis',
  right(
    ...(['c2c', 'r2c', 'dct2'] as const).map(
      (transform): ProblemInput => ({ size: [12, 10], transform, zeroPadding: { space: [half(12), half(10)] } }),
    ),
  ),
);
row(
  '4.3.8',
  'blocks anywhere, and empty ones',
  right(
    { size: [12], zeroPadding: { space: [{ from: 3, to: 7 }] } },
    { size: [12], zeroPadding: { space: [{ from: 4, to: 4 }] } },
  ),
);
row(
  '4.3.8',
  'frequencyZeroPadding',
  right(
    { size: [12, 10], zeroPadding: { frequency: [{ from: 2, to: 9 }, null] } },
    { size: [12], zeroPadding: { space: [half(12)], frequency: [half(12)] } },
  ),
);
row(
  '2.5.7',
  'zero padding in convolutions',
  right({
    size: [12, 10],
    transform: 'r2c',
    zeroPadding: { space: [half(12), half(10)] },
    convolution: { matrix: 3, symmetric: true },
  }),
);
const convolved = (
  convolution: NonNullable<ProblemInput['convolution']>,
  more: Partial<ProblemInput> = {},
): ProblemInput => ({ size: [8, 6], ...more, convolution });
row(
  '4.3.9',
  'performConvolution',
  right(convolved({}), convolved({}, { transform: 'r2c' }), convolved({}, { placement: 'in-place' })),
);
row('4.3.9', 'conjugateConvolution', right(convolved({ conjugate: 'signal' }), convolved({ conjugate: 'kernel' })));
row(
  '4.3.9',
  'crossPowerSpectrumNormalization, of matrices too',
  right(convolved({ crossPower: true }), convolved({ crossPower: true, matrix: 2 }, { coordinates: 2 })),
);
row(
  '4.3.9',
  'coordinateFeatures: a kernel for each coordinate',
  right(
    convolved({ kernels: 'per-coordinate' }, { coordinates: 3 }),
    convolved({ kernels: 'per-batch' }, { coordinates: 2, batches: 2 }),
  ),
);
row(
  '4.3.9',
  'matrixConvolution',
  right(convolved({ matrix: 2 }, { coordinates: 2 }), convolved({ matrix: 3 }, { coordinates: 3, batches: 2 })),
);
row(
  '4.3.9',
  'symmetricKernel',
  right(convolved({ matrix: 2, symmetric: true }), convolved({ matrix: 3, symmetric: true })),
);
row(
  '4.3.9',
  'numberKernels',
  all(
    right(convolved({ kernels: 2 }), convolved({ kernels: 3 }, { batches: 2 })),
    refused('unsupported-feature', convolved({ kernels: 2 }, { placement: 'in-place' })),
  ),
);
row('4.3.9', 'kernelConvolution', right(convolved({}, { transform: 'r2c', coordinates: 2 })));
row(
  '4.3.10',
  'registerBoost 2',
  all(
    launched('arc', { size: [16384], batches: 256, tuning: { registerBoost: 1 } }, 2),
    launched('arc', { size: [16384], batches: 256, tuning: { registerBoost: 2 } }, 1),
  ),
);
row('4.3.10', 'registerBoost 4', launched('m2', { size: [16384], batches: 256, tuning: { registerBoost: 4 } }, 1));
row(
  '4.3.10',
  'registerBoostNonPow2',
  launched('arc', { size: [12000], tuning: { registerBoost: 2, registerBoostNonPow2: false } }, 2),
);
row(
  '4.3.10',
  'registerBoost4Step',
  all(
    launched('arc', { size: [2 ** 22], tuning: { registerBoost4Step: 1 } }, 3),
    launched('arc', { size: [2 ** 22], tuning: { registerBoost4Step: 2 } }, 2),
  ),
);
row('4.3.11', 'computeCapability', apply('the device knows it and compiles for it'));
row(
  '4.3.11',
  'maxComputeWorkGroupCount',
  changesKernels('h200', { maxGroups: 7 }, { size: [64], batches: 4096 }, ...some),
);
row(
  '4.3.11',
  'maxComputeWorkGroupSize, maxThreadsNum',
  all(
    changesKernels('h200', { maxThreads: 64 }, ...some),
    explained('h200', { size: [8192], tuning: { maxThreads: 64 } }, (_, facts) =>
      launchesOf(facts).every(({ threads }) => threads <= 64),
    ),
  ),
);
row('4.3.11', 'sharedMemorySize', changesKernels('h200', { sharedBytes: 8192 }, ...some));
row('4.3.11', 'sharedMemorySizePow2', apply('nothing is rounded to powers of two'));
row(
  '4.3.11',
  'warpSize',
  changesKernels('h200', { warpSize: 8 }, { size: [60] }, { size: [100], batches: 9 }, ...some),
);
row('4.3.11', 'halfThreads', changesKernels('h200', { halfThreads: true }, ...some));
row(
  '4.3.11',
  'maxCodeLength, maxTempLength, useRaderUintLUT, vendorID',
  apply('text grows, tables are part of schemes, the planner reads numbers'),
);
row(
  '4.3 struct',
  'swapTo2Stage4Step, swapTo3Stage4Step',
  all(
    launched('h200', { size: [4096], tuning: { uploadSwitch: { two: 4096 } } }, 2),
    launched('h200', { size: [4096], tuning: { uploadSwitch: { two: 512, three: 4096 } } }, 3),
  ),
);
row('4.3 struct', 'devicePageSize, localPageSize', apply('VkFFT does not use them either'));
