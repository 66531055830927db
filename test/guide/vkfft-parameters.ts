/** The rows of the VkFFT guide, chapter 4: calls and parameters. */
import { readFileSync } from 'node:fs';
import { openDevice, type ProblemInput, version } from '../../src/index.ts';
import {
  all,
  type Check,
  changesKernels,
  command,
  cpu,
  deviceHere,
  explained,
  fails,
  insist,
  launchesOf,
  planned,
  refused,
  right,
  rightOn,
  rowsOf,
} from './toolkit.ts';
import { savedBinaries, strided } from './vkfft-plans.ts';

const { rows, row } = rowsOf('VkFFT');
export const vkFftParameterRows = rows;

const apply = (reason: string) => `does not apply: ${reason}`;
const device = (kind: 'vulkan' | 'level-zero') => async () => (await deviceHere(kind)).close();

/** Two uses of one plan through `enqueue`, with offsets given at launch. */
const offsets: Check = async () => {
  const device = await cpu();
  const plan = await device.plan({ size: [6] });
  const [input, output] = [device.alloc(8 * 20), device.alloc(8 * 20)];
  const [x, y] = [input.array as Float32Array, output.array as Float32Array];
  x.fill(0);
  y.fill(9);
  x[2 * 5] = 1;
  await plan.enqueue('forward', { input, output, offsets: { input: 5, output: 3 } });
  insist(
    y.every((value, n) => value === (n < 6 || n >= 18 ? 9 : n % 2 === 0 ? 1 : 0)),
    `the output is ${y}`,
  );
  input.free();
  output.free();
};

/** `enqueue` with work memory beside input and output. */
const threeBuffers: Check = async () => {
  const device = await cpu();
  const plan = await device.plan({ size: [4096], tuning: { uploadSwitch: { two: 64 } } });
  const [input, output, work] = [plan.input.bytes, plan.output.bytes, plan.bytes.work].map((bytes) =>
    device.alloc(bytes || plan.output.bytes),
  );
  (input!.array as Float32Array).fill(0)[0] = 1;
  await plan.enqueue('forward', { input: input!, output: output!, work: work! });
  insist(
    (output!.array as Float32Array).every((value, n) => value === (n % 2 === 0 ? 1 : 0)),
    'not the spectrum of an impulse',
  );
  insist((input!.array as Float32Array)[0] === 1, 'the input was written');
  for (const memory of [input!, output!, work!]) memory.free();
};

/** A kernel of its own memory and spectrum, which a plan takes as it is. */
const ownKernel: Check = async () => {
  const device = await cpu();
  const plan = await device.plan({ size: [4], convolution: { kernelSpectrum: 'user' } });
  const [input, kernel, output] = [device.alloc(32), device.alloc(48), device.alloc(32)];
  (input.array as Float32Array).set([1, 0, 2, 0, 3, 0, 4, 0]);
  (kernel.array as Float32Array).set([9, 9, 9, 9, 1, 0, 1, 0, 1, 0, 1, 0]);
  await plan.enqueue('convolve', { input, kernel, output, offsets: { kernel: 2 } });
  insist(
    (output.array as Float32Array).every((value, n) => Math.abs(value - (input.array as Float32Array)[n]!) < 1e-5),
    'ones are no impulse',
  );
};

row(
  '4.1',
  'results are codes of one closed list',
  fails('invalid-size', async () => (await cpu()).plan({ size: [0] })),
);
row(
  '4.2.1',
  'planning fails without leaving anything',
  all(refused('invalid-size', { size: [] }), refused('invalid-field', { size: [4], precision: 'triple' as never })),
);
row('4.2.2', 'buffers at launch', threeBuffers);
row('4.2.2', 'offsets at launch', offsets);
row('4.2.2', 'kernelOffset', ownKernel);
row('4.2.2', 'appended to a queue of the caller’s: OpenCL', async () => {
  const device = await deviceHere('opencl');
  const plan = await device.plan({ size: [16] });
  const given = { input: device.alloc(128), output: device.alloc(128), queue: 7 } as never;
  await fails('invalid-encoder', () => plan.enqueue('forward', given))();
  device.close();
});
row('4.2.2', 'Vulkan command buffer, Level Zero list, Metal encoder', device('vulkan'));
row('4.2.3', 'delete', async () => {
  const plan = await (await cpu()).plan({ size: [8] });
  plan.destroy();
  await fails('destroyed', () => plan.forward(new Float32Array(16)))();
});
row(
  '4.2.4',
  'version',
  all(
    async () => insist(/^\d+\.\d+\.\d+/.test(version), version),
    command(['--version'], (text) => text.trim() === version),
  ),
);
row('4.3.1', 'Vulkan parameters', device('vulkan'));
row('4.3.1', 'CUDA and HIP: device, stream, num_streams', rightOn('cuda', { size: [64], tuning: { streams: 2 } }));
row('4.3.1', 'OpenCL: platform, device, context', async () => {
  await (await deviceHere('opencl')).close();
  await fails('device-unavailable', () => openDevice('opencl', { platform: 99 } as never))();
  await rightOn('opencl', { size: [16] })();
});
row('4.3.1', 'Level Zero parameters', device('level-zero'));
row('4.3.1', 'Metal device, queue', 'WebGPU runs over Metal on Apple’s systems; there is no kind of its own');
row('4.3.2', 'buffer', right({ size: [24], placement: 'in-place' }));
row('4.3.2', 'inputBuffer', right({ size: [24], placement: 'out-of-place' }));
row('4.3.2', 'outputBuffer', right({ size: [24], preserveInput: false }));
row(
  '4.3.2',
  'tempBuffer',
  explained('h200', { size: [2 ** 20] }, ({ bytes }) => bytes.temp > 0),
);
row('4.3.2', 'buffer sizes', async () => {
  const plan = await (await cpu()).plan({ size: [24], transform: 'r2c' });
  insist(
    plan.input.bytes === 96 && plan.output.bytes === 104 && plan.bytes.temp >= 0,
    `${plan.input.bytes}, ${plan.output.bytes}`,
  );
});
row('4.3.2', 'inputBufferOffset, outputBufferOffset', right({ size: [24], offsets: { input: 5, output: 3 } }));
row('4.3.2', 'bufferOffset', right({ size: [24], placement: 'in-place', offsets: { input: 4, output: 4 } }));
row('4.3.2', 'tempBufferOffset: a view as temp', async () => {
  const device = await cpu();
  const plan = await device.plan({
    size: [4096],
    placement: 'in-place',
    batches: 2,
    tuning: { uploadSwitch: { two: 64 } },
  });
  const [data, whole] = [device.alloc(plan.input.bytes), device.alloc(plan.bytes.temp + 64)];
  (data.array as Float32Array).fill(0)[0] = 1;
  (whole.array as Float32Array).fill(7);
  await plan.enqueue('forward', {
    input: data,
    output: data,
    temp: (whole.array as Float32Array).subarray(16) as never,
  });
  insist(
    (whole.array as Float32Array).subarray(0, 16).every((value) => value === 7),
    'written in front of the view',
  );
  insist((data.array as Float32Array)[2] === 1, 'not the spectrum of an impulse');
});
row('4.3.2', 'strides of buffers', strided);
row('4.3.2', 'inverseReturnToInputBuffer', right({ size: [12, 8], transform: 'r2c', directions: 'inverse' }));
row('4.3.2', 'specifyOffsetsAtLaunch', offsets);
row('4.3.2', 'kernel, kernelSize', ownKernel);
row('4.3.2', 'kernelOffset', ownKernel);
row('4.3.2', 'bufferNum', 'lists of buffers are WebGPU’s, whose tests have them');
row('4.3.3', 'FFTdim', right({ size: [2, 3, 2, 3] }));
row('4.3.3', 'size', right({ size: [12, 5] }));
row('4.3.3', 'numberBatches', right({ size: [12], batches: 7 }));
row('4.3.3', 'performR2C', right({ size: [12, 3], transform: 'r2c' }));
row('4.3.3', 'performDCT', right({ size: [12, 3], transform: 'dct4' }));
row('4.3.3', 'performDST', right({ size: [12, 3], transform: 'dst3' }));
row('4.3.3', 'normalize', right({ size: [12], normalize: true }, { size: [12], transform: 'dct1', normalize: true }));
for (const [name, more] of [
  ['doublePrecision', { precision: 'double' }],
  ['doublePrecisionFloatMemory', { precision: 'double', storage: 'single' }],
  ['quadDoubleDoublePrecisionDoubleMemory', { precision: 'double-double', storage: 'double' }],
  ['halfPrecision', { precision: 'half' }],
  ['halfPrecisionMemoryOnly', { edgeStorage: 'half' }],
  ['none (single)', {}],
] as const) {
  row(
    '4.3.4',
    name,
    right(...(['c2c', 'r2c', 'dct2'] as const).map((transform) => ({ size: [30], transform, ...more }))),
  );
}
row(
  '4.3.4',
  'quadDoubleDoublePrecision',
  command([
    'verify',
    '--precision',
    'double-double',
    '--transforms',
    'c2c',
    'r2c',
    'dct2',
    '--lengths',
    '12',
    '--rounds',
    '1',
    '--no-peers',
    '--device',
    'cpu',
  ]),
);
row(
  '4.3.4',
  'useLUT -1',
  all(
    changesKernels('h200', { twiddles: 'computed' }, { size: [1000] }),
    rightOn('opencl', { size: [100], tuning: { twiddles: 'computed' } }),
  ),
);
row('4.3.4', 'useLUT 1', right({ size: [100], tuning: { twiddles: 'table' } }));
row(
  '4.3.4',
  'useLUT_4step apart from useLUT',
  all(
    changesKernels('h200', { twiddles4Step: 'computed' }, { size: [2 ** 20] }),
    changesKernels('h200', { twiddles4Step: 'table' }, { size: [2 ** 20], tuning: { twiddles: 'computed' } }),
    rightOn('opencl', { size: [4096], tuning: { twiddles4Step: 'computed', uploadSwitch: { two: 64 } } }),
  ),
);
row(
  '4.3.5',
  'omitDimension',
  right(
    ...[1, 2, 4, 5, 6].map((bits) => ({ size: [4, 3, 5], omit: [0, 1, 2].map((axis) => (bits & (1 << axis)) > 0) })),
  ),
);
row('4.3.5', 'useUint64', apply('addresses have the width that they need'));
const some: readonly ProblemInput[] = [
  { size: [64, 64] },
  { size: [4096], batches: 8 },
  { size: [2 ** 18] },
  { size: [1000, 30] },
];
const knob = (
  name: string,
  tuning: NonNullable<ProblemInput['tuning']>,
  profile: Parameters<typeof planned>[0] = 'h200',
  problems = some,
) => row('4.3.5', name, changesKernels(profile as never, tuning, ...problems));
knob('coalescedMemory', { coalescedBytes: 64 });
knob('numSharedBanks', { banks: 1 });
knob('aimThreads', { threads: 32 });
knob('performBandwidthBoost', { performBandwidthBoost: -1 }, 'h200', [
  { size: [64, 8192] },
  { size: [2 ** 22] },
  ...some,
]);
knob('groupedBatch', { groupedBatch: 2 });
row('4.3.5', 'disableMergeSequencesR2C at every length and kind, or the table says where not', async () => {
  const merged = { mergeSequences: true } as const;
  const kinds = ['r2c', 'dct1', 'dct2', 'dct3', 'dct4', 'dst1', 'dst2', 'dst3', 'dst4'] as const;
  for (const transform of kinds) await changesKernels('h200', merged, { size: [63], batches: 64, transform })();
  for (const transform of ['dct1', 'dst1'] as const)
    await changesKernels('h200', merged, { size: [64], batches: 64, transform })();
  for (const transform of ['r2c', 'dct2', 'dct3', 'dct4', 'dst2', 'dst3', 'dst4'] as const) {
    const texts = await Promise.all(
      [{}, merged].map((tuning) =>
        planned('h200', { size: [64], batches: 64, transform, tuning }, ({ kernels }) =>
          kernels.map(({ source }) => String(source)).join(''),
        ),
      ),
    );
    insist(
      texts[0] === texts[1],
      `${transform} of 64 points has other kernels, and docs/tuning.md says that it has not`,
    );
  }
  const page = readFileSync(new URL('../../docs/tuning.md', import.meta.url), 'utf8');
  insist(/`mergeSequences`.*No effect where/.test(page), 'docs/tuning.md does not say where it has none');
});
row('4.3.5', 'forceCallbackVersionRealTransforms', apply('loads and stores do what comes before and after'));
row(
  '4.3.5',
  'disableReorderFourStep',
  explained('h200', { size: [2 ** 20], unordered: true, placement: 'in-place' }, ({ bytes }) => bytes.temp === 0),
);
row(
  '4.3.5',
  'makeForwardPlanOnly, makeInversePlanOnly',
  all(
    right({ size: [8], directions: 'forward' }, { size: [8], directions: 'inverse' }),
    fails('direction-not-planned', async () => {
      const plan = await (await cpu()).plan({ size: [8], directions: 'forward' });
      await (plan as unknown as { inverse(x: Float32Array): Promise<unknown> }).inverse(new Float32Array(16));
    }),
  ),
);
knob('considerAllAxesStrided', { considerAllAxesStrided: true }, 'h200', [
  { size: [8192] },
  { size: [4096, 4096] },
  { size: [16384] },
]);
row(
  '4.3.5',
  'keepShaderCode',
  explained('arc', { size: [64] }, ({ kernels }) => kernels.every(({ source, name }) => String(source).includes(name))),
);
row(
  '4.3.5',
  'printMemoryLayout',
  explained(
    'arc',
    { size: [64, 8] },
    (plan, facts) => plan.explain().includes('memory input[') && launchesOf(facts).length > 0,
  ),
);
row('4.3.5', 'saveApplicationToString', savedBinaries);
row(
  '4.3.5',
  'loadApplicationFromString',
  all(
    savedBinaries,
    fails('invalid-saved-plan', async () => (await cpu()).plan({ size: [48] }, { from: 'damaged' })),
  ),
);
row('4.3.5', 'disableSetLocale', apply('nothing is printed through a locale'));
