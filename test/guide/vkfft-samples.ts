/** The rows of the VkFFT guide, chapters 5 and 6: benchmark and precision samples, examples. */
import { readFileSync } from 'node:fs';
import { openDevice, type ProblemInput } from '../../src/index.ts';
import { all, command, insist, right, rowsOf } from './toolkit.ts';
import { savedBinaries, strided } from './vkfft-plans.ts';

const { rows, row } = rowsOf('VkFFT');
export const vkFftSampleRows = rows;

/** A suite is timed: its shortest problems, and there is a figure for each. */
const bench = (sample: number, megabytes = 8) =>
  command(
    [
      'bench',
      '--suite',
      String(sample),
      '--count',
      '1',
      '--megabytes',
      String(megabytes),
      '--device',
      'cpu',
      '--threads',
      '2',
      '--json',
    ],
    (text) => JSON.stringify(JSON.parse(text)).includes('"size"'),
  );
const verify = (...args: string[]) => command(['verify', '--rounds', '1', '--no-peers', '--device', 'cpu', ...args]);

row('4.3 struct', 'every parameter is in docs/vkfft-parity.md', async () => {
  const page = readFileSync(new URL('../../docs/vkfft-parity.md', import.meta.url), 'utf8');
  const named = new Set([...page.matchAll(/`([A-Za-z0-9_]+)`/g)].map(([, name]) => name));
  for (const name of PARAMETERS) insist(named.has(name), `${name} is not there`);
});
row(
  '5',
  'user_benchmark',
  command(['bench', 'scfo64*4', '--device', 'cpu', '--json'], (text) => JSON.parse(text)[0].seconds > 0),
);
for (const sample of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 101, 1000, 1001, 1002, 1004])
  row('5', `benchmark sample ${sample}`, bench(sample));
row('5', 'benchmark sample 1003: cubes', bench(1003));
row(
  '5',
  'precision samples by number',
  all(...[11, 14].map((sample) => verify('--suite', String(sample), '--most', '16'))),
);
row(
  '5',
  'precision samples: several axes',
  verify('--transforms', 'c2c', 'r2c', '--lengths', '8x6', '--precision', 'double'),
);
row(
  '5',
  'precision samples 11 to 19, what they hold',
  all(...[12, 13, 15, 16, 17, 18, 19].map((sample) => verify('--suite', String(sample), '--most', '8'))),
);
row('5', 'samples 50, 51, 52', all(bench(50, 256), bench(51), bench(52)));
row(
  '5.1',
  'a list of devices',
  command(['devices', '--json'], (text) => JSON.parse(text).some(({ kind }: { kind: string }) => kind === 'cpu')),
);
row('6.1', 'initialisation', async () => {
  const device = await openDevice('cpu', { threads: 1 });
  insist(device.kind === 'cpu', 'no device');
  device.close();
});
row('6.2', 'c2c of one axis in single precision', right({ size: [128] }));
row(
  '6.3',
  'axes, transforms, precisions and batches',
  right(
    ...(['c2c', 'r2c', 'dct2', 'dst4'] as const).flatMap((transform) =>
      (['single', 'double'] as const).map(
        (precision): ProblemInput => ({ size: [6, 5], transform, precision, batches: 3 }),
      ),
    ),
  ),
);
row(
  '6.4',
  'r2c out of place with strides',
  all(strided, right({ size: [6, 5], transform: 'r2c', strides: { input: [1, 1, 8, 48], output: [1, 1, 5, 30] } })),
);
row('6.5', 'innermost batches', right({ size: [8, 12], omit: [true, false] }));
row(
  '6.6',
  'three axes with zeros',
  right({
    size: [8, 6, 5],
    transform: 'r2c',
    zeroPadding: {
      space: [
        { from: 4, to: 8 },
        { from: 3, to: 6 },
        { from: 3, to: 5 },
      ],
    },
  }),
);
row('6.7', 'a 3 × 3 matrix and vectors', right({ size: [20], coordinates: 3, convolution: { matrix: 3 } }));
row(
  '6.8',
  'two sets of images of three coordinates, pair by pair',
  right({
    size: [8, 6],
    transform: 'r2c',
    coordinates: 3,
    batches: 2,
    convolution: { kernels: 'per-both', conjugate: 'kernel' },
  }),
);
row('6.9', 'binaries used again', savedBinaries);

/** Of `VkFFTConfiguration`, in the guide's order. */
const PARAMETERS =
  `physicalDevice device queue commandPool fence isCompilerInitialized stream num_streams platform context commandQueue
  buffer isInputFormatted inputBuffer isOutputFormatted outputBuffer tempBuffer userTempBuffer kernel bufferSize inputBufferSize outputBufferSize
  tempBufferSize kernelSize bufferNum inputBufferNum outputBufferNum tempBufferNum kernelNum inputBufferOffset outputBufferOffset bufferOffset
  tempBufferOffset kernelOffset specifyOffsetsAtLaunch bufferStride inputBufferStride outputBufferStride inverseReturnToInputBuffer FFTdim size
  numberBatches performR2C performDCT performDST normalize doublePrecision doublePrecisionFloatMemory quadDoubleDoublePrecision
  quadDoubleDoublePrecisionDoubleMemory halfPrecision halfPrecisionMemoryOnly useLUT useLUT_4step omitDimension useUint64 coalescedMemory
  numSharedBanks aimThreads performBandwidthBoost groupedBatch disableMergeSequencesR2C forceCallbackVersionRealTransforms
  disableReorderFourStep makeForwardPlanOnly makeInversePlanOnly considerAllAxesStrided keepShaderCode printMemoryLayout
  saveApplicationToString loadApplicationFromString loadApplicationString disableSetLocale fixMinRaderPrimeMult fixMaxRaderPrimeMult
  fixMinRaderPrimeFFT fixMaxRaderPrimeFFT fixMaxRadixBluestein forceBluesteinSequenceSize useCustomBluesteinPaddingPattern primeSizes paddedSizes
  performZeropadding fft_zeropad_left fft_zeropad_right frequencyZeroPadding performConvolution conjugateConvolution
  crossPowerSpectrumNormalization coordinateFeatures matrixConvolution symmetricKernel numberKernels kernelConvolution registerBoost
  registerBoostNonPow2 registerBoost4Step computeCapabilityMajor computeCapabilityMinor maxComputeWorkGroupCount maxComputeWorkGroupSize
  maxThreadsNum sharedMemorySizeStatic sharedMemorySize sharedMemorySizePow2 warpSize halfThreads maxCodeLength maxTempLength
  autoCustomBluesteinPaddingPattern useRaderUintLUT vendorID swapTo2Stage4Step swapTo3Stage4Step devicePageSize localPageSize`.split(
    /\s+/,
  );
