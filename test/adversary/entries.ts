/** Every door of the library, each called with something that is not right. */

import {
  type Device,
  type DeviceProfile,
  formatDescriptor,
  openDevice,
  openProfile,
  type Plan,
  type ProblemInput,
  parseDescriptor,
} from '../../src/index.ts';
import * as numpy from '../../src/numpy/index.ts';
import * as numpySync from '../../src/numpy/sync.ts';
import {
  coherence,
  correlate,
  correlationLags,
  csd,
  czt,
  cztPoints,
  featureExtractor,
  fftconvolve,
  hilbert,
  hzToMel,
  istft,
  logMel,
  melFilterBank,
  mixDown,
  oaconvolve,
  planCzt,
  planZoomFft,
  readWav,
  StftStream,
  spectrogram,
  stft,
  welch,
  windowFunction,
  zoomFft,
} from '../../src/signal/index.ts';
import { openCpuSync } from '../../src/sync.ts';
import { poison } from '../support/poison.ts';
import type { Random } from '../support/random.ts';
import { hostile, lying, spoiled, spoiledBytes, spoiledText } from './hostile.ts';

/** What one call is: nothing of it has happened yet. */
export interface Attempt {
  readonly name: string;
  readonly run: () => unknown;
  /** Memory of the caller's that a call which is refused leaves alone. */
  readonly outputs?: readonly Uint8Array[];
}

const N = 8;
/** A function of anything: what is under test is what happens where types are not heeded. */
// biome-ignore lint/suspicious/noExplicitAny: bad input is what this is about
type Anything = any;

const problems: readonly ProblemInput[] = [
  { size: [N] },
  { size: [N, 4], batches: 3, precision: 'double', normalize: true },
  { size: [N], layout: 'planar', directions: 'forward', scale: { forward: 2 } },
  { size: [N], placement: 'in-place', omit: [false], transform: ['c2c'] },
  { size: [4, 4], strides: { input: [1, 2, 8, 32], output: [1, 2, 8, 32] }, offsets: { input: 1, output: 2 } },
  { size: [N], layout: { input: 'interleaved', output: 'planar' }, leftBatches: 2, coordinates: 2, debug: true },
  { size: [16], tuning: { sharedBytes: 8192, coalescedBytes: 64, groupedBatch: [2], uploadSwitch: { two: 8 } } },
  { size: [16], storage: 'single', edgeStorage: 'single', unordered: true, preserveInput: false },
  {
    size: [N],
    callbacks: {
      forward: { load: (x, v, at) => ({ re: x.mul(x.load('w', at.axis[0]!), v.re), im: v.im }), store: (_, v) => v.re },
      arrays: { w: { type: 'f32', length: N } },
    },
  },
  { size: [16, 17], zeroPadding: { space: [{ from: 8, to: 16 }, null], frequency: [null, { from: 3, to: 5 }] } },
];

const profile: Omit<DeviceProfile, never> = {
  name: 'mine',
  lockstep: 'threads',
  lockstepBytes: 128,
  sharedBytes: 16384,
  residentBytes: 65536,
  crowded: 0.5,
  cluster: { blocks: 8, sharedBytes: 16384, above: { single: 0, double: 0 } },
  maxBytes: 2 ** 34,
  coalescedBytes: 64,
  distant: { above: 1024, axes: 64, uploads: 64 },
  cutRuns: [0.5, 0.25],
  reorderFirst: true,
  chunks: { bytes: 65536, most: 2 ** 20, ahead: 2 ** 18 },
  registers: 64,
  registerFile: 65536,
  maxThreads: 128,
  multiprocessors: 4,
  doubleBuffered: false,
  sharedFormat: 'pairs',
  banks: 32,
  groupPoints: 1024,
  precisions: ['single', 'double'],
  passCost: 20,
  radixCosts: { 2: 1, 4: 1 },
  firstLevel: { bytes: 32768, beyond: 1 },
};

/** A WAV file of 8-bit samples, and NumPy's files. */
const wav = new Uint8Array([
  ...[...'RIFF'].map((c) => c.charCodeAt(0)),
  44,
  0,
  0,
  0,
  ...[...'WAVEfmt '].map((c) => c.charCodeAt(0)),
  16,
  0,
  0,
  0,
  1,
  0,
  1,
  0,
  0x40,
  0x1f,
  0,
  0,
  0x40,
  0x1f,
  0,
  0,
  1,
  0,
  8,
  0,
  ...[...'data'].map((c) => c.charCodeAt(0)),
  8,
  0,
  0,
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
]);
const npy = numpy.writeNpy(new Float32Array(16));
const npz = await numpy.writeNpz({ a: new Float32Array(64), b: new Uint8Array(8) }, { compressed: true });

/** For a look at it that does not ask the array, which may lie by then. */
function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** What calls are made on; a bystander's memory is nobody's to write. */
export class Scene {
  readonly bystander: Float32Array;
  private readonly device: Device;
  private readonly profiled: Device;
  private readonly plans: readonly Plan[];
  private readonly random: Random;

  private constructor(random: Random, device: Device, profiled: Device, plans: readonly Plan[]) {
    this.random = random;
    this.device = device;
    this.profiled = profiled;
    this.plans = plans;
    this.bystander = poison(device.alloc(4096, 'single').float32);
  }

  static async open(random: Random): Promise<Scene> {
    const device = await openDevice('cpu', { threads: 1 });
    const plans: Plan[] = [];
    for (const problem of problems) plans.push(await device.plan(problem));
    // As a device that could do more: everything is called.
    return new Scene(random, device, (await openProfile('h200')) as Device, plans);
  }

  close(): void {
    this.device.close();
    this.profiled.close();
  }

  /** The next call. */
  next(): Attempt {
    const { random } = this;
    const makers = [
      () => this.transform(),
      () => this.transform(),
      () => this.appended(),
      () => this.planned(),
      () => this.planned(),
      () => this.opened(),
      () => this.small(),
      () => this.numpy(),
      () => this.numpy(),
      () => this.files(),
      () => this.signals(),
      () => this.frames(),
    ];
    return random.pick(makers)();
  }

  private planned(): Attempt {
    const { random } = this;
    const device = random.pick([this.device, this.profiled]);
    const problem = spoiled(random, random.pick(problems));
    const options = random.unit() < 0.7 ? undefined : spoiled(random, { from: 'x' });
    const how = random.pick(['plan', 'planSync'] as const);
    const run = async () => {
      const plan = await device[how](problem as Anything, options as Anything);
      plan.explain();
      plan.destroy();
    };
    return { name: `${device.kind} ${how}`, run };
  }

  /** Data for a side of a plan, and the memory it lies in. */
  private data(plan: Plan, side: 'input' | 'output'): { good: unknown; memory: Uint8Array[] } {
    const { length } = plan[side];
    const make = (count: number) =>
      poison(plan.problem.precision === 'single' ? new Float32Array(count) : new Float64Array(count));
    if (plan.problem.layout[side] === 'planar') {
      const [re, im] = [make(length), make(length)];
      return { good: { re, im }, memory: [bytesOf(re), bytesOf(im)] };
    }
    const all = make(2 * length);
    return { good: all, memory: [bytesOf(all)] };
  }

  private wrong(good: unknown): unknown {
    const { random } = this;
    if (ArrayBuffer.isView(good) && random.unit() < 0.3) return lying(random, good as Float32Array);
    return spoiled(random, good);
  }

  private transform(): Attempt {
    const { random } = this;
    const plan = random.pick(this.plans);
    const direction = plan.problem.directions === 'forward' ? 'forward' : random.pick(['forward', 'inverse'] as const);
    const how = random.pick([direction, `${direction}Sync`] as const);
    const [from, to] = [this.data(plan, 'input'), this.data(plan, 'output')];
    const isInput = random.unit() < 0.5;
    const input = isInput ? this.wrong(from.good) : from.good;
    const output = isInput && random.unit() < 0.7 ? to.good : this.wrong(to.good);
    const call = () => (plan[how] as Anything).call(plan, input, output) as unknown;
    // Twice: the second call may be taken for one like the first.
    const run = random.unit() < 0.5 ? call : async () => [await call(), await call()];
    return { name: how, run, outputs: run === call ? to.memory : [] };
  }

  private appended(): Attempt {
    const { random, device } = this;
    const plan = random.pick(this.plans);
    const good = {
      input: device.alloc(4096, 'single'),
      output: device.alloc(4096, 'single'),
      ...(random.unit() < 0.5 ? { work: device.alloc(4096, 'single'), temp: device.alloc(4096, 'single') } : {}),
      ...(random.unit() < 0.5 ? { offsets: { input: 1, output: 2 } } : {}),
    };
    const isMeasure = random.unit() < 0.2;
    const asked = spoiled(random, isMeasure ? { ...good, repeats: 2 } : good);
    const direction = random.unit() < 0.1 ? hostile(random) : 'forward';
    const run = async () => {
      try {
        await plan[isMeasure ? 'measure' : 'enqueue'](direction as Anything, asked as Anything);
      } finally {
        for (const memory of [good.input, good.output, good.work, good.temp]) memory?.free();
      }
    };
    return { name: isMeasure ? 'measure' : 'enqueue', run };
  }

  private opened(): Attempt {
    const { random } = this;
    const closed = async (opening: unknown) => ((await opening) as Device).close();
    const kind = random.pick(['cpu', 'cuda', 'webgpu', 'opencl']);
    const options: Readonly<Record<string, unknown>> = {
      cpu: { threads: 1, precision: 'single' },
      cuda: { device: 0 },
    };
    switch (random.integer(0, 3)) {
      case 0: {
        const asked = spoiled(random, options[kind] ?? { device: 1, powerPreference: 'low-power', software: false });
        const name = random.unit() < 0.2 ? hostile(random) : kind;
        return { name: `openDevice ${kind}`, run: () => closed(openDevice(name as Anything, asked as Anything)) };
      }
      case 1:
        return { name: 'openCpuSync', run: () => closed(openCpuSync(hostile(random) as Anything)) };
      default: {
        const from = spoiled(random, profile);
        const asked = random.unit() < 0.8 ? undefined : spoiled(random, { language: 'cuda' });
        const size = random.pick([[16], [4096], [64, 48], [2 ** 16]]);
        const run = async () => {
          const device = await openProfile(from as Anything, asked as Anything);
          (await device.plan({ size, batches: 4 })).explain();
        };
        return { name: 'openProfile', run };
      }
    }
  }

  private small(): Attempt {
    const { random, device } = this;
    const plan = random.pick(this.plans);
    const bad = () => hostile(random) as Anything;
    // As many numbers as memory may well hold are a good wish, and a long one.
    const most = (value: Anything) => (value === 2 ** 31 || value === 2 ** 32 ? 2 ** 40 : value);
    const pairs: Readonly<Record<string, () => unknown>> = {
      alloc: () => device.alloc(bad(), random.unit() < 0.5 ? bad() : undefined).free(),
      order: () => plan.output.order(bad(), random.unit() < 0.5 ? bad() : undefined),
      parseDescriptor: () => parseDescriptor(spoiledText(random, 'scfo2.16x4*32i1,2,32,128o1,2,32,128') as Anything),
      formatDescriptor: () => formatDescriptor(spoiled(random, random.pick(problems)) as Anything),
      nextFastLength: () =>
        numpy.nextFastLength(random.pick<Anything>([8, bad()]), spoiled(random, { real: true }) as Anything),
      fftfreq: () => numpy.fftfreq(most(random.pick<Anything>([8, bad()])), spoiled(random, { d: 2 }) as Anything),
      rfftfreq: () => numpy.rfftfreq(most(random.pick<Anything>([8, bad()])), spoiled(random, { d: 2 }) as Anything),
      windowFunction: () => windowFunction(random.pick<Anything>(['hann', bad()]), most(bad())),
      windowOptions: () => {
        const good = random.pick<Anything>([{ beta: 8, sym: true }, { a: [0.5, 0.5] }, { tau: 2, center: 3 }]);
        const name = 'beta' in good ? 'kaiser' : 'a' in good ? 'generalCosine' : 'exponential';
        return (windowFunction as Anything)(name, 8, spoiled(random, good));
      },
      hzToMel: () => hzToMel(bad(), random.unit() < 0.5 ? bad() : undefined),
      cztPoints: () => {
        // As many points as memory may well hold take their time.
        const m = bad();
        return cztPoints(
          typeof m === 'number' && m > 1e6 ? 2 ** 52 : m,
          spoiled(random, { w: { re: 0.5, im: 1 }, a: 2 }) as Anything,
        );
      },
    };
    const name = random.pick(Object.keys(pairs));
    return { name, run: pairs[name]! };
  }

  private numpy(): Attempt {
    const { random } = this;
    const real = { data: new Float32Array(16), shape: [4, 4], dtype: 'float32' };
    const complex = { data: new Float32Array(32), shape: [4, 4], dtype: 'complex64' };
    const array = random.pick<unknown>([
      real,
      complex,
      [
        [1, 2],
        [3, 4],
      ],
    ]);
    const x = random.unit() < 0.6 ? spoiled(random, array) : random.pick([array, hostile(random)]);
    const one = { n: 4, axis: 0, norm: 'ortho' };
    const many = { s: [2, 2], axes: [0, 1], norm: 'ortho' };
    const lines = { fft: one, ifft: one, rfft: one, irfft: one, hfft: one, ihfft: one };
    const planes = { fft2: many, ifft2: many, rfft2: many, irfft2: many, hfft2: many, ihfft2: many };
    const spaces = { fftn: many, ifftn: many, rfftn: many, irfftn: many, hfftn: many, ihfftn: many };
    const sum = { ...one, type: 3, orthogonalize: true };
    const sums = { ...many, type: 1, orthogonalize: false };
    const cosines = { dct: sum, idct: sum, dctn: sums, idctn: sums };
    const sines = { dst: sum, idst: sum, dstn: sums, idstn: sums };
    const transforms: Readonly<Record<string, object>> = { ...lines, ...planes, ...spaces, ...cosines, ...sines };
    const shifts = { fftshift: { axes: [0] }, ifftshift: { axes: 1 } };
    const hankels = { fht: { offset: 0.1, bias: 0.5 }, ifht: { offset: 0.1, bias: 0.5 } };
    const all: Readonly<Record<string, object>> = { ...transforms, ...hankels, ...shifts };
    const name = random.pick(Object.keys(all));
    const face = random.pick([numpy, numpySync]) as Readonly<Record<string, (...given: unknown[]) => unknown>>;
    const isAsync = face === (numpy as object) && !(name in shifts);
    const good = isAsync ? { ...all[name], device: this.device } : all[name];
    const options = spoiled(random, good);
    const grid = name in hankels ? [random.pick([0.1, hostile(random)]), random.pick([1, -0.5, hostile(random)])] : [];
    return { name, run: () => face[name]!(x, ...grid, options) };
  }

  private signals(): Attempt {
    const { random, device } = this;
    const array = { data: new Float32Array(32), shape: [4, 4], dtype: 'complex64' };
    const x =
      random.unit() < 0.5 ? spoiled(random, array) : random.pick<unknown>([new Float32Array(8), hostile(random)]);
    const chirp = { m: 3, w: { re: 0, im: 1 }, a: 1.1, axis: 0, device };
    const zoom = { m: 3, fs: 8, endpoint: true, axis: -1, device };
    const plan = { n: 4, m: 3, precision: 'single', batches: 2, device };
    const range = random.pick<unknown>([[1, 2], 1, spoiled(random, [1, 2]), hostile(random)]);
    const mel = { fs: 8000, fMin: 20, fMax: 3000, melScale: 'htk', norm: 2 };
    const sizes = [{ nFft: 64, nMels: 4 }, { nFft: 2 ** 52 }, { nFft: 8, nMels: -1 }];
    const features = { fs: 8000, nFft: 64, hopLength: 16, nMels: 4, fMin: 20, topDb: 60, window: 'hann', device };
    const planned = async (making: Promise<Anything>) => {
      const made = await making;
      try {
        await made.transform(x, spoiled(random, { axis: 0 }));
      } finally {
        made.destroy();
      }
    };
    const all: Readonly<Record<string, () => unknown>> = {
      czt: () => czt(x as Anything, spoiled(random, chirp) as Anything),
      zoomFft: () => zoomFft(x as Anything, range as Anything, spoiled(random, zoom) as Anything),
      planCzt: () => planned(planCzt(spoiled(random, plan) as Anything)),
      planZoomFft: () => planned(planZoomFft(range as Anything, spoiled(random, plan) as Anything)),
      logMel: () => logMel(x as Anything, spoiled(random, features) as Anything),
      featureExtractor: () => featureExtractor('librosa', spoiled(random, features) as Anything).extract(x as Anything),
      melFilterBank: () => {
        const asked = spoiled(random, mel) as Anything;
        try {
          // As many bins as memory may well hold are a good wish, and a long one.
          if (Object.getPrototypeOf(asked) === Object.prototype) Object.assign(asked, random.pick(sizes));
        } catch {}
        return melFilterBank(asked);
      },
    };
    const name = random.pick(Object.keys(all));
    return { name, run: all[name]! };
  }

  /** Short-time transforms, and what convolves. */
  private frames(): Attempt {
    const { random, device } = this;
    const plain = [new Float32Array(40), new Float64Array(40), this.wrong(new Float32Array(40)), hostile(random)];
    const array = { data: new Float32Array(48), shape: [4, 6], dtype: 'complex64' };
    const signal = () => (random.unit() < 0.5 ? spoiled(random, array) : random.pick<unknown>(plain)) as Anything;
    const frames = { fs: 10, window: 'kaiser', windowOptions: { beta: 2 }, nperseg: 4, noverlap: 2, nfft: 8, device };
    const whole = { ...frames, window: new Float32Array(4).fill(1), windowOptions: undefined };
    const given = (more: object) => spoiled(random, { ...random.pick([frames, whole]), ...more }) as Anything;
    const mode = () => spoiled(random, { mode: random.pick(['full', 'same', 'valid']), device }) as Anything;
    const zxx = () => spoiled(random, { data: new Float32Array(60), shape: [5, 6], dtype: 'complex64' }) as Anything;
    const stream = {
      device,
      nperseg: 4,
      hopLength: 3,
      nfft: 6,
      fs: 8000,
      window: 'hann',
      precision: 'double',
      from: undefined,
    };
    const lengths = [3, 4, -1, 2 ** 52, hostile(random)] as Anything[];
    const all: Readonly<Record<string, () => unknown>> = {
      stft: () =>
        stft(signal(), given({ boundary: 'zeros', padded: true, detrend: 'linear', axis: -1, scaling: 'psd' })),
      istft: () => istft(zxx(), given({ inputOnesided: true, boundary: true, timeAxis: -1, freqAxis: 0 })),
      welch: () => welch(signal(), given({ average: 'median', scaling: 'spectrum', returnOnesided: true })),
      csd: () => csd(signal(), signal(), given({ average: 'mean' })),
      coherence: () => coherence(signal(), signal(), given({ detrend: false, axis: 0 })),
      fftconvolve: () => fftconvolve(signal(), signal(), mode()),
      oaconvolve: () => oaconvolve(signal(), signal(), mode()),
      correlate: () => correlate(signal(), signal(), mode()),
      correlationLags: () => correlationLags(random.pick(lengths), random.pick(lengths), hostile(random) as Anything),
      hilbert: () => hilbert(signal(), spoiled(random, { n: 5, axis: 0, device }) as Anything),
      StftStream: () => {
        const made = new StftStream(spoiled(random, stream) as Anything);
        try {
          // What a function throws that it calls, it throws.
          return made.push(signal(), random.pick<unknown>([() => undefined, {}, null]) as Anything);
        } finally {
          made.destroy();
        }
      },
    };
    const name = random.pick(Object.keys(all));
    return { name, run: all[name]! };
  }

  private files(): Attempt {
    const { random, device } = this;
    const samples = random.pick<unknown>([new Float32Array(64), this.wrong(new Float32Array(64)), hostile(random)]);
    const shown = { decibels: { ref: 'max', amin: 1e-9, topDb: 60 }, center: true, padMode: 'edge', scaling: null };
    const options = {
      fs: 8000,
      device,
      window: 'kaiser',
      windowOptions: { beta: 2 },
      nperseg: 16,
      hopLength: 8,
      ...shown,
    };
    const recording = { sampleRate: 1, channels: [new Float32Array(4), new Float32Array(4)], format: 'x' };
    const all: Readonly<Record<string, () => unknown>> = {
      readNpy: () => numpy.readNpy(spoiledBytes(random, npy) as Anything),
      writeNpy: () =>
        numpy.writeNpy(spoiled(random, { data: new Float32Array(4), shape: [4], dtype: 'float32' }) as Anything),
      readNpz: () => numpy.readNpz(spoiledBytes(random, npz) as Anything),
      writeNpz: () =>
        numpy.writeNpz(
          spoiled(random, {
            a: new Float32Array(4),
            b: { data: new Float32Array(4), shape: [4], dtype: 'float32' },
          }) as Anything,
          spoiled(random, { compressed: true }) as Anything,
        ),
      readWav: () => readWav(spoiledBytes(random, wav) as Anything),
      mixDown: () => mixDown(spoiled(random, recording) as Anything),
      spectrogram: () => spectrogram(samples as Anything, spoiled(random, options) as Anything),
    };
    const name = random.pick(Object.keys(all));
    return { name, run: all[name]! };
  }
}
