/** The rows of the VkFFT guide, chapters 1 to 3: what is transformed, how it lies, how it is done. */
import type { Callback, ProblemInput } from '../../src/index.ts';
import { complexProblem } from '../support/complex.ts';
import { sumsProblem } from '../support/sums.ts';
import {
  all,
  changesKernels,
  command,
  cpu,
  explained,
  fails,
  insist,
  launched,
  planned,
  right,
  rightOften,
  rightOn,
  rowsOf,
} from './toolkit.ts';

const { rows, row } = rowsOf('VkFFT');
export const vkFftPlanRows = rows;

const uploads = { uploadSwitch: { two: 64, three: 1024 } };
const strided = rightOften(10, (random) => complexProblem(random, 300, ['single', 'double']));

row(
  '1',
  'the definition, beside other libraries',
  command(
    ['verify', '--transforms', 'c2c', '--lengths', '12', '--rounds', '1', '--precision', 'double', '--device', 'cpu'],
    (text) => /FFTW|SciPy/.test(text),
  ),
);
row('2.1', 'any number of axes', right({ size: Array.from({ length: 9 }, () => 2) }));
row('2.1', 'Vulkan backend', rightOn('vulkan', { size: [64] }));
row('2.1', 'CUDA backend', rightOn('cuda', { size: [64] }));
row('2.1', 'HIP backend', rightOn('hip', { size: [64] }));
row(
  '2.1',
  'OpenCL backend: c2c, r2c, r2r, convolution, Bluestein',
  rightOn(
    'opencl',
    { size: [60], batches: 3 },
    { size: [64], transform: 'r2c' },
    { size: [16], transform: 'dct2' },
    { size: [32], convolution: {} },
  ),
);
row('2.1', 'Level Zero backend', rightOn('level-zero', { size: [64] }));
row('2.1', 'Metal backend', 'WebGPU runs over Metal on Apple’s systems; there is no kind of its own');
row(
  '2.2',
  'one problem object for all',
  all(
    right({ size: [6] }, { size: [6], transform: 'r2c' }, { size: [6], transform: 'dct3' }),
    explained('h200', { size: [6] }, ({ kernels }) => kernels.length > 0),
  ),
);
row('2.2', 'destroy frees; then calls are refused', async () => {
  const plan = await (await cpu()).plan({ size: [8] });
  plan.destroy();
  plan.destroy();
  const code = await plan.forward(new Float32Array(16)).then(
    () => 'none',
    (error) => error.code,
  );
  insist(code === 'destroyed', `the code is ${code}`);
});
row(
  '2.3',
  'axes, coordinates and batches, one to seven axes',
  right({ size: [5], coordinates: 2, batches: 3 }, { size: [2, 3, 2, 3, 2, 2, 2], coordinates: 2, leftBatches: 2 }),
);
row('2.3.1', 'signs, and the inverse unnormalised', right({ size: [7] }, { size: [16], precision: 'double' }));
row(
  '2.3.2',
  'r2c of odd and even lengths, in place and not',
  right(
    ...[[8], [9], [6, 5], [7, 4, 3]].flatMap((size) =>
      (['in-place', 'out-of-place'] as const).map(
        (placement): ProblemInput => ({ size, placement, transform: 'r2c', precision: 'double' }),
      ),
    ),
  ),
);
for (const kind of ['dct1', 'dct2', 'dct3', 'dct4', 'dst1', 'dst2', 'dst3', 'dst4'] as const) {
  row(
    '2.3.3',
    `${kind} and its inverse`,
    right(
      ...[2, 5, 8, 17, 30].flatMap((n) =>
        (['single', 'double'] as const).map((precision): ProblemInput => ({ size: [n], transform: kind, precision })),
      ),
    ),
  );
}
row(
  '2.3.3',
  'several axes, kinds mixed',
  all(
    right({ size: [6, 5], transform: ['dct2', 'dst4'] }, { size: [4, 3, 5], transform: ['dct1', 'dst2', 'dct3'] }),
    rightOften(6, (random) => sumsProblem(random, 200, ['double'])),
  ),
);
row(
  '2.4.1',
  'input, output and work apart; the input stays',
  right({ size: [64], batches: 2 }, { size: [512], tuning: uploads }),
);
row('2.4.1', 'a temp of the caller; a small one is refused', async () => {
  const device = await cpu();
  const plan = await device.plan({ size: [4096], batches: 2, placement: 'in-place', tuning: uploads });
  insist(plan.bytes.temp > 0, 'no temp is needed');
  const data = device.alloc(plan.input.bytes);
  const [temp, small] = [device.alloc(plan.bytes.temp), device.alloc(16)];
  (data.array as Float32Array).fill(0);
  (data.array as Float32Array)[0] = 1;
  await plan.enqueue('forward', { input: data, output: data, temp });
  insist((data.array as Float32Array)[2] === 1, 'not the spectrum of an impulse');
  await fails('buffer-too-small', () => plan.enqueue('forward', { input: data, output: data, temp: small }))();
  for (const memory of [data, temp, small]) memory.free();
});
row('2.4.1', 'the user’s own spectrum as the kernel', async () => {
  const device = await cpu();
  const plan = await device.plan({ size: [8], convolution: { kernelSpectrum: 'user' } });
  const kernel = device.alloc(64);
  (kernel.array as Float32Array).set(Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? 1 : 0)));
  const x = Float32Array.from({ length: 16 }, (_, n) => n);
  const y = await plan.convolve(x, kernel);
  insist(
    y.every((value, n) => Math.abs(value - n) < 1e-4),
    'a spectrum of ones is no impulse',
  );
});
row('2.4.2', 'strides of each side, in its elements', strided);
row(
  '2.4.2',
  'innermost batches, by left batches and by omit',
  right({ size: [12], leftBatches: 5 }, { size: [5, 12], omit: [true, false] }),
);
row('2.4.2', 'default strides of r2c in place', right({ size: [9, 4], transform: 'r2c', placement: 'in-place' }));
row(
  '2.4.2',
  'c2r of several axes out of place leaves the bins',
  right({ size: [10, 6, 4], transform: 'r2c', directions: 'inverse' }),
);
row(
  '2.5',
  'radices to 13',
  all(
    right(...[2, 3, 5, 7, 11, 13].map((prime) => ({ size: [prime ** 2 * 2] }))),
    explained('h200', { size: [2 * 3 * 5 * 7 * 11 * 13] }, (plan) => /13/.test(plan.explain())),
  ),
);
row(
  '2.5',
  'register blocking, transposition in shared memory, in the kernel',
  explained(
    'h200',
    { size: [2 ** 20] },
    ({ kernels }, { directions }) =>
      /__shared__/.test(String(kernels[0]!.source)) && JSON.stringify(directions).includes('reordering'),
  ),
);
row(
  '2.5',
  'Rader by multiplication',
  right({ size: [61 * 4], tuning: { rader: { multiply: [17, 127], convolve: [2, 13] } } }),
);
row(
  '2.5',
  'Rader by transforms',
  right(
    { size: [61 * 4], tuning: { rader: { multiply: [2, 13], convolve: [17, 127] } } },
    { size: [257], tuning: { rader: { multiply: [2, 13], convolve: [17, 1000] } } },
  ),
);
const noRader = { rader: { multiply: [2, 13], convolve: [2, 13] } } as const;
row(
  '2.5.1',
  'Bluestein with two axes, reals, sums, planes, halves',
  right(
    { size: [37, 41], tuning: noRader },
    { size: [101], transform: 'r2c', tuning: noRader },
    { size: [53], transform: 'dct2', tuning: noRader },
    { size: [59], layout: 'planar', tuning: noRader },
    { size: [61], edgeStorage: 'half', tuning: noRader },
  ),
);
row(
  '2.5.2',
  'two and three uploads',
  all(
    right({ size: [512], tuning: uploads }, { size: [4096], tuning: uploads }),
    launched('h200', { size: [2 ** 20] }, 2),
    launched('m2', { size: [2 ** 24] }, 3),
  ),
);
row('2.5.2', 'without reordering no temp', async () => {
  const problem: ProblemInput = { size: [2 ** 20], placement: 'in-place', unordered: true };
  await planned('h200', problem, ({ bytes }) => insist(bytes.temp === 0, `${bytes.temp} bytes of temp`));
  const device = await cpu();
  const plan = await device.plan({ size: [512], unordered: true, tuning: uploads });
  const x = new Float32Array(1024);
  x.set([1, 0], 2);
  const y = (await plan.forward(x)) as Float32Array;
  for (let k = 0; k < 512; k++)
    insist(Math.abs(y[2 * plan.output.order(k)]! - Math.cos((2 * Math.PI * k) / 512)) < 1e-5, `bin ${k} is elsewhere`);
});
row('2.5.2', 'unordered r2c and sums of several uploads', async () => {
  const device = await cpu();
  for (const transform of ['r2c', 'dct2', 'dst3'] as const) {
    const plan = await device.plan({ size: [512], transform, unordered: true, tuning: uploads });
    const y = (await plan.forward(Float32Array.from({ length: 512 }, (_, n) => (n === 0 ? 1 : 0)))) as Float32Array;
    const z = (await (
      await device.plan({ size: [512], transform })
    ).forward(new Float32Array(512).fill(1, 0, 1))) as Float32Array;
    const words = transform === 'r2c' ? 2 : 1;
    for (let k = 0; k < y.length / words; k++)
      insist(Math.abs(y[words * plan.output.order(k)]! - z[words * k]!) < 1e-5, `bin ${k} is elsewhere`);
  }
  await planned('h200', { size: [2 ** 20], transform: 'r2c', unordered: true, placement: 'in-place' }, ({ bytes }) =>
    insist(bytes.temp === 0, `${bytes.temp} bytes of temp`),
  );
});
row(
  '2.5.3',
  'reals of one upload: zeros, or pairs of lines',
  right(
    { size: [15], transform: 'r2c', batches: 4 },
    { size: [15], transform: 'r2c', batches: 4, tuning: { mergeSequences: true } },
  ),
);
row(
  '2.5.4',
  'reals of even length in several uploads as half as many complex numbers',
  all(
    right({ size: [1024], transform: 'r2c', tuning: uploads }),
    launched('h200', { size: [2 ** 20], transform: 'r2c' }, 2),
  ),
);
row('2.5.4', 'reals of odd length in several uploads', right({ size: [729], transform: 'r2c', tuning: uploads }));
row(
  '2.5.5',
  'sums in one and several uploads',
  right(
    ...(['dct1', 'dct2', 'dct3', 'dct4', 'dst1', 'dst4'] as const).map(
      (transform): ProblemInput => ({ size: [512], transform, tuning: uploads }),
    ),
  ),
);
row('2.5.5', 'callbacks', async () => {
  const twice: Callback = (x, value) => ({ re: x.mul(value.re, x.constant(2)), im: x.mul(value.im, x.constant(2)) });
  const plan = await (await cpu()).plan({ size: [4], callbacks: { forward: { load: twice } } });
  const y = (await plan.forward(Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0))) as Float32Array;
  insist(y[0] === 2, `bin 0 is ${y[0]}`);
});
row('2.5.6', 'registers hold four times as much', async () => {
  const count = (registerBoost: number) =>
    planned(
      'm2',
      { size: [16384], batches: 256, tuning: { registerBoost } },
      (_, { directions }) => directions[0]!.launches.length,
    );
  insist((await count(4)) < (await count(2)), 'no fewer launches than with 2');
});
row('2.5.7', 'zero padding moves fewer bytes', async () => {
  const moved = (zeroPadding: ProblemInput['zeroPadding']) =>
    planned('h200', { size: [128, 128, 128], ...(zeroPadding ? { zeroPadding } : {}) }, (_, { directions }) =>
      directions[0]!.launches.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
    );
  const half = { from: 64, to: 128 };
  insist((await moved({ space: [half, half, half] })) < 0.7 * (await moved(undefined)), 'as many bytes');
});
row(
  '2.5.8',
  'convolution and correlation; the middle is one launch',
  all(
    right(
      ...(['none', 'signal', 'kernel'] as const).flatMap((conjugate) =>
        (['c2c', 'r2c'] as const).map(
          (transform): ProblemInput => ({ size: [24], transform, convolution: { conjugate } }),
        ),
      ),
    ),
    launched('h200', { size: [1024], convolution: {} }, 1),
    launched('h200', { size: [2 ** 20], convolution: {} }, 3),
  ),
);
row(
  '2.6',
  'accuracy samples in all precisions',
  command(['verify', '--suite', 'precision', '--most', '16', '--rounds', '1', '--no-peers', '--device', 'cpu']),
);
row(
  '2.6',
  'twiddles from tables and computed',
  all(
    right({ size: [64], tuning: { twiddles: 'table' } }),
    changesKernels('h200', { twiddles: 'computed' }, { size: [1000] }),
    rightOn('opencl', { size: [100], precision: 'double', tuning: { twiddles: 'computed' } }),
  ),
);
row('2.6', 'half is a matter of memory', right({ size: [64], precision: 'half' }));
row(
  '2.6',
  'mixed: stored in single, computed in double',
  right(
    { size: [60], precision: 'double', storage: 'single' },
    { size: [60], precision: 'double', edgeStorage: 'single', transform: 'r2c' },
    { size: [512], precision: 'single', storage: 'half', tuning: uploads },
  ),
);
row('2.7.1', 'both directions and equal axes share tables', async () => {
  const tables = (problem: ProblemInput) => planned('h200', problem, ({ bytes }) => bytes.tables);
  insist(
    (await tables({ size: [2 ** 20] })) === (await tables({ size: [2 ** 20], directions: 'forward' })),
    'both directions have more',
  );
  insist((await tables({ size: [256, 256] })) < 3 * (await tables({ size: [256] })), 'two axes have as many again');
});
row(
  '2.7.2',
  'a temp is as large as the data',
  explained('h200', { size: [2 ** 20] }, ({ bytes }) => bytes.temp === 2 ** 23),
);
row(
  '2.7.3',
  'the temp of Bluestein is that of the largest axis',
  explained('h200', { size: [100003, 8] }, ({ bytes }) => bytes.temp > 0 && bytes.temp < 8 * 8 * 100003 * 6),
);
row(
  '2.8',
  'double-double, and stored as doubles',
  all(
    right({ size: [24], precision: 'double-double', storage: 'double', edgeStorage: 'double' }),
    command([
      'verify',
      '--precision',
      'double-double',
      '--transforms',
      'c2c',
      '--lengths',
      '8',
      '15',
      '--rounds',
      '1',
      '--no-peers',
      '--device',
      'cpu',
    ]),
  ),
);
row(
  '3.1-3.3',
  'profiles, generated code, folding, measuring',
  all(
    explained('mi250x', { size: [4096] }, ({ kernels }) => kernels.length > 0),
    async () => {
      const plan = await (await cpu()).plan({ size: [64], strategy: 'measure', directions: 'forward' });
      insist(
        plan.toJSON().candidates.list.some(({ milliseconds }) => milliseconds !== undefined),
        'nothing was timed',
      );
    },
  ),
);
row('3.2', 'plans are kept: the second one takes less', async () => {
  const device = await cpu();
  const time = async () => {
    const start = performance.now();
    await device.plan({ size: [2310, 26] });
    return performance.now() - start;
  };
  const [first, second] = [await time(), await time()];
  insist(second < first, `${first} ms, then ${second} ms`);
});
const saved = async () => {
  const device = await cpu();
  const problem: ProblemInput = { size: [48] };
  const plan = await device.plan(problem);
  const binaries = plan.serialize({ binaries: true });
  insist(binaries instanceof Uint8Array && binaries.length > 1000, 'no binaries');
  const again = await device.plan(problem, { from: binaries } as never);
  const x = Float32Array.from({ length: 96 }, (_, n) => Math.sin(n));
  const [a, b] = [(await plan.forward(x)) as Float32Array, (await again.forward(x)) as Float32Array];
  insist(
    a.every((value, n) => value === b[n]),
    'another result',
  );
};
row('3.2', 'binaries are saved and loaded', saved);

export { saved as savedBinaries, strided };
