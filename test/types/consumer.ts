/**
 * What the types of the package promise, and what they refuse. Only compiled, never run: by the compiler of this repository
 * here, and by the oldest and the newest one as a user of the package (types.test.ts).
 */
import {
  type CallbackIndex,
  type Device,
  type DeviceFunction,
  type DeviceMemory,
  listDevices,
  openDevice,
  openProfile,
  type Plan,
  type PlanarData,
  type ProblemInput,
  parseDescriptor,
} from '../../src/index.ts';
import {
  dct,
  fft,
  fftfreq,
  fftn,
  fftshift,
  fht,
  fhtoffset,
  hfftn,
  irfft,
  type NumpyArray,
  prevFastLength,
  rfft,
  rfftfreq,
  rfftn,
} from '../../src/numpy/index.ts';
import { hfft, idstn, ifft, ifht, ihfft, ihfft2, irfftn } from '../../src/numpy/sync.ts';
import {
  czt,
  fftconvolve,
  hilbert,
  istft,
  mixDown,
  planCzt,
  type Recording,
  stft,
  welch,
  windowFunction,
  zoomFft,
} from '../../src/signal/index.ts';
import { StftStream } from '../../src/signal/sync.ts';
import { openCpuSync } from '../../src/sync.ts';

export async function using(device: Device): Promise<void> {
  const plan = await device.plan({ size: [8] });
  const disposables: { [Symbol.dispose](): void }[] = [device, plan, device.alloc(64), openCpuSync()];
  const stream = new StftStream({ device });
  disposables.push(stream, await planCzt({ n: 8 }), await openProfile('h200'));
  for (const one of disposables) one[Symbol.dispose]();
  await device[Symbol.asyncDispose]();
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles where the value has exactly the type that is named. */
function exactly<Wanted>() {
  return <Found>(_value: Found, _same: Same<Found, Wanted>): void => undefined;
}

/** Of new arrays: what `of` makes. */
type Singles = ReturnType<typeof Float32Array.of>;
type Doubles = ReturnType<typeof Float64Array.of>;

const [single, double] = [new Float32Array(16), new Float64Array(16)];
const planes = { re: new Float32Array(8), im: new Float32Array(8) };

export async function precision(device: Device): Promise<void> {
  const plan = await device.plan({ size: [8] });
  exactly<Singles>()(await plan.forward(single), true);
  exactly<Singles>()(plan.inverseSync(single), true);
  exactly<Float64Array>()(
    await (await device.plan({ size: [8], precision: 'double' })).forward(double, double as Float64Array),
    true,
  );
  const doubles = await device.plan({ size: [8], precision: 'double' });
  exactly<Doubles>()(await doubles.inverse(double), true);
  // @ts-expect-error: singles for a double plan
  await doubles.forward(single);
  // @ts-expect-error: doubles for a single plan
  await plan.forward(double);
  // @ts-expect-error: also to write to
  await plan.forward(single, double);
  // @ts-expect-error: also at once
  plan.forwardSync(double);
  const halves = await device.plan({ size: [8], edgeStorage: 'half' });
  exactly<ReturnType<typeof Uint16Array.of>>()(await halves.forward(new Uint16Array(16)), true);
  exactly<'single'>()((await device.plan({ size: [8], precision: 'half' })).problem.precision, true);
  // @ts-expect-error: singles for halves
  await halves.forward(single);
  const asked = 'double' as 'single' | 'double';
  const either = await device.plan({ size: [8], precision: asked });
  exactly<Singles | Doubles>()(await either.forward(asked === 'double' ? double : single), true);
}

export async function layout(device: Device): Promise<void> {
  const planar = await device.plan({ size: [8], layout: 'planar' });
  const spectrum = await planar.forward(planes);
  exactly<PlanarData<Singles>>()(spectrum, true);
  // @ts-expect-error: two planes have no length
  void spectrum.length;
  // @ts-expect-error: one array for two planes
  await planar.forward(single);
  const mixed = await device.plan({ size: [8], layout: { input: 'planar' } });
  exactly<Singles>()(await mixed.forward(planes), true);
  exactly<PlanarData<Singles>>()(await mixed.inverse(single), true);
  // @ts-expect-error: its input is planar
  await mixed.forward(single);
}

export async function placement(device: Device): Promise<void> {
  const inPlace = await device.plan({ size: [8], placement: 'in-place' });
  const memory = device.alloc(64);
  exactly<DeviceMemory>()(await inPlace.forward(memory), true);
  const apart = await device.plan({ size: [8] });
  exactly<Singles>()(await apart.forward(memory), true);
  exactly<DeviceMemory>()(await apart.forward(single, memory), true);
}

export async function directions(device: Device): Promise<void> {
  const forward = await device.plan({ size: [8], directions: 'forward' });
  exactly<'forward'[]>()(forward.directions, true);
  // @ts-expect-error: not planned
  await forward.inverse(single);
  // @ts-expect-error: not planned
  await forward.measure('inverse');
  const memory = device.alloc(64);
  await forward.enqueue('forward', { input: memory, output: memory });
  // @ts-expect-error: planes for interleaved data
  await forward.enqueue('forward', { input: { re: memory, im: memory }, output: memory });
}

export async function descriptors(device: Device, text: string): Promise<void> {
  exactly<Doubles>()(await (await device.plan('dcfo8*2')).forward(double), true);
  const backward = await device.plan('SCBI8');
  exactly<'inverse'[]>()(backward.directions, true);
  exactly<Float32Array>()(await backward.inverse(single as Float32Array), true);
  // @ts-expect-error: a backward transform
  await backward.forward(single);
  const unknown = await device.plan(text);
  await unknown.forward(single, single);
  await unknown.forward(double, double);
  await device.plan({ ...parseDescriptor('scfo8'), batches: 2 });
  await device.plan({ ...parseDescriptor(text), batches: 2 });
  const real = await device.plan('srfo8');
  exactly<Singles>()(await real.forward(single), true);
  const both = await device.plan({ size: [8], transform: 'r2c', layout: { output: 'planar' } });
  const { re, im } = await both.forward(single);
  exactly<Singles>()(await both.inverse({ re, im }), true);
}

export async function problems(device: Device, problem: ProblemInput): Promise<void> {
  const sums = await device.plan({ size: [8, 4], transform: ['dct2', 'dst1'] });
  exactly<Singles>()(await sums.forward(single), true);
  exactly<Singles>()(await sums.inverse(single), true);
  const pairs = await device.plan({ size: [8], precision: 'double-double' });
  exactly<Doubles>()(await pairs.forward(new Float64Array(32)), true);
  // @ts-expect-error: a misspelt field
  await device.plan({ size: [8], batch: 2 });
  // @ts-expect-error: a misspelt field in a field
  await device.plan({ size: [8], tuning: { thread: 2 } });
  const any: Plan = await device.plan({ size: [8], precision: 'double', layout: 'planar', directions: 'forward' });
  let plan = await device.plan({ size: [8] });
  plan = await device.plan({ size: [16], batches: 3, tuning: { threads: 64 } });
  const named: Plan<{ precision: 'double' }> = await device
    .plan('dcfo8')
    .then(() => device.plan({ size: [8], precision: 'double' }));
  await device.plan(plan.problem);
  await device.plan({ ...named.problem, batches: 2 });
  exactly<'double'>()(named.problem.precision, true);
  const wide: Plan = await device.plan(problem);
  void [any, wide];
}

export async function devices(): Promise<void> {
  await openDevice('level-zero', { context: 4096n });
  for (const info of await listDevices()) {
    if (info.available) await openDevice(info.kind);
    else exactly<string>()(info.reason, true);
  }
  const device = await openDevice('cpu');
  exactly<Float64Array>()(device.alloc(8, 'double').array, true);
  const profiled = await (await openProfile('h200')).plan('scfo8');
  profiled.explain();
  // @ts-expect-error: nothing runs there
  await profiled.forward(single);
  exactly<Singles>()(
    openCpuSync()
      .planSync({ size: [8] })
      .forwardSync(single),
    true,
  );
}

export async function numpy(recording: Recording): Promise<void> {
  const spectrum = await fft(single);
  exactly<'complex64'>()(spectrum.dtype, true);
  exactly<Float32Array>()(spectrum.data, true);
  exactly<'complex128'>()((await fft(new Int16Array(4))).dtype, true);
  exactly<'complex64'>()(ifft(spectrum).dtype, true);
  exactly<'complex64'>()(fftshift(spectrum).dtype, true);
  exactly<Float64Array>()(fftfreq(8).data, true);
  exactly<'complex128'>()((await fft({ data: double, shape: [8], dtype: 'complex128' })).dtype, true);
  exactly<Singles>()(mixDown(recording), true);
  const bins = await rfft(single);
  exactly<'complex64'>()(bins.dtype, true);
  exactly<Float32Array>()((await irfft(bins, { n: 8, norm: null })).data, true);
  exactly<'float32'>()(hfft(single).dtype, true);
  exactly<Float64Array>()(irfftn(await rfftn([[1, 2, 3]])).data, true);
  exactly<'complex128'>()(ihfft(new BigInt64Array(4)).dtype, true);
  exactly<Float64Array>()(rfftfreq(8, 0.1).data, true);
  exactly<Float32Array>()((await dct(single, { type: 2, norm: 'ortho', orthogonalize: null })).data, true);
  exactly<'complex64'>()((await dct(bins, { axis: 0 })).dtype, true);
  exactly<'float64'>()(idstn([[1, 2]], { s: [4], axes: [-1] }).dtype, true);
  // @ts-expect-error: there are four types
  await dct(single, { type: 5 });
  exactly<'complex64'>()((await fftn(single, { s: 8, axes: 0 })).dtype, true);
  exactly<'float32'>()((await hfftn(bins, { axes: [0] })).dtype, true);
  exactly<'complex128'>()(ihfft2([[1, 2]], { s: [2, 4] }).dtype, true);
  fftshift(single, null);
  exactly<'float32'>()(
    (await fht(single, 0.1, 2, { offset: fhtoffset(0.1, 2, { initial: 1 }), bias: 0.5 })).dtype,
    true,
  );
  exactly<'float64'>()(ifht([1, 2], 0.1, 2).dtype, true);
  exactly<number>()(prevFastLength(100, { real: true }), true);
  // @ts-expect-error: complex numbers for reals
  await fht(bins, 0.1, 2);
  // @ts-expect-error: a grid needs its spacing and order
  ifht(double, 0.1);
  const unknown: NumpyArray = { data: single, shape: [8], dtype: 'float32' };
  await rfft(unknown);
  // @ts-expect-error: complex numbers for reals
  await rfft(bins);
  // @ts-expect-error: texts for numbers
  await rfft(['1']);
}

export async function signals(): Promise<void> {
  exactly<'complex64'>()((await czt(single)).dtype, true);
  exactly<'complex128'>()(
    (await zoomFft({ data: double, shape: [16], dtype: 'float64' }, [0, 1], { fs: 4 })).dtype,
    true,
  );
  const [half, whole] = [await planCzt({ n: 16 }), await planCzt({ n: 16, w: { re: 0, im: 1 }, precision: 'double' })];
  exactly<'complex64'>()((await half.transform(single)).dtype, true);
  exactly<'complex128'>()((await whole.transform(single, { axis: 0 })).dtype, true);
  exactly<Doubles>()(windowFunction('hann', 8), true);
  windowFunction('kaiser', 8, { beta: 8, sym: true });
  windowFunction('exponential', 8, { center: 2 });
  // @ts-expect-error beta has to be given
  windowFunction('kaiser', 8, { sym: true });
  // @ts-expect-error hann has no parameter
  windowFunction('hann', 8, { beta: 8 });
  // @ts-expect-error there is no such option
  await czt(single, { n: 8 });
  exactly<'complex64'>()((await stft(single)).zxx.dtype, true);
  exactly<'float32' | 'complex64'>()((await istft((await stft(single)).zxx)).x.dtype, true);
  // As many axes as are known: of a bare array one, so two of its frames and bins.
  exactly<readonly [number, number]>()((await stft(single)).zxx.shape, true);
  const [bins, frames] = (await stft(single)).zxx.shape;
  exactly<number>()(bins, true);
  exactly<number>()(frames, true);
  exactly<readonly [number]>()((await istft((await stft(single)).zxx)).x.shape, true);
  exactly<readonly [number]>()((await hilbert(single)).shape, true);
  const image = { data: single, shape: [4, 2], dtype: 'float32' } as const;
  exactly<readonly [number, number, number]>()((await stft(image)).zxx.shape, true);
  exactly<readonly [number, number]>()((await welch(image)).pxx.shape, true);
  // @ts-expect-error there is no third axis
  (await stft(single)).zxx.shape[2];
  exactly<'float64'>()((await welch(double, { average: 'median' })).pxx.dtype, true);
  exactly<'complex64'>()((await hilbert(single)).dtype, true);
  exactly<'float32'>()((await fftconvolve(single, single)).dtype, true);
  exactly<'float64'>()((await fftconvolve(single, double)).dtype, true);
  const pairs = { data: single, shape: [8], dtype: 'complex64' } as const;
  exactly<'complex64'>()((await fftconvolve(pairs, single)).dtype, true);
  exactly<'complex128'>()((await fftconvolve(pairs, double)).dtype, true);
  // @ts-expect-error there is no such mode
  await fftconvolve(single, single, { mode: 'circular' });
  const device = openCpuSync();
  new StftStream({ device }).push(double, (spectrum) => exactly<Float32Array>()(spectrum, true));
  new StftStream({ device, precision: 'double' }).push(single, (spectrum) => exactly<Float64Array>()(spectrum, true));
  // @ts-expect-error w is a number, or its two parts
  await czt(single, { w: [1, 0] });
}

/** What a store leaves is what a side has. */
export async function callbacks(device: Device): Promise<void> {
  const power = await device.plan({
    size: [8],
    layout: 'planar',
    callbacks: {
      forward: {
        load: (x, value, at) => {
          const w = x.load('w', at.axis[0] as CallbackIndex);
          return { re: x.mul(w, value.re), im: x.mul(w, value.im) };
        },
        store: (x, value) => x.add(x.mul(value.re, value.re), x.mul(value.im, value.im)),
      },
      arrays: { w: { type: 'f32', length: 8 } },
    },
  });
  const arrays = { w: single };
  const powers = await power.forward(planes, undefined, { arrays });
  exactly<Singles>()(powers, true);
  exactly<Singles>()(power.forwardSync(planes, undefined, { arrays }), true);
  exactly<PlanarData<Singles>>()(await power.inverse(powers), true);
  // @ts-expect-error: the output is real
  await power.inverse(planes);
  // @ts-expect-error: no such option
  await power.forward(planes, undefined, { array: arrays });
  const whole = await device.plan({
    size: [8],
    layout: 'planar',
    callbacks: { forward: { store: (_, value) => value } },
  });
  exactly<PlanarData<Singles>>()(await whole.forward(planes), true);
  const backwards = await device.plan({
    size: [8],
    layout: 'planar',
    directions: 'inverse',
    callbacks: { forward: { store: (x, value) => x.abs(value.re) } },
  });
  exactly<PlanarData<Singles>>()(await backwards.inverse(planes), true);
  const again = await device.plan(power.problem);
  exactly<Singles>()(await again.forward(planes, undefined, { arrays }), true);
  // @ts-expect-error: a number is no value
  await device.plan({ size: [8], callbacks: { forward: { load: (_, value) => ({ re: 1, im: value.im }) } } });
  // @ts-expect-error: no such direction
  await device.plan({ size: [8], callbacks: { backward: {} } });
  // @ts-expect-error: no such type of numbers
  await device.plan({ size: [8], callbacks: { arrays: { w: { type: 'f16', length: 8 } } } });
}

/** Convolutions: results are what the signal is; a plan without one has none. */
export async function convolutions(device: Device): Promise<void> {
  const reals = await device.plan({ size: [8], transform: 'r2c', precision: 'double', convolution: { kernels: 2 } });
  const kernel = await reals.prepareKernel(new Float64Array(16));
  exactly<DeviceMemory>()(kernel, true);
  exactly<Doubles>()(await reals.convolve(new Float64Array(8), kernel), true);
  await reals.enqueue('convolve', { input: device.alloc(64), output: device.alloc(128), kernel });
  const planar = await device.plan({ size: [8], layout: { output: 'planar' }, convolution: {} });
  exactly<PlanarData<Singles>>()(planar.convolveSync(new Float32Array(16), kernel), true);
  // @ts-expect-error a plan of doubles takes no singles
  await reals.convolve(new Float32Array(8), kernel);
  const layer = await device.plan({
    ...{ size: [8], transform: 'r2c', precision: 'double' },
    convolution: { channels: { in: 2, out: 3 }, modes: [4] },
  });
  // Both sides of a spectral layer are of the kind of its signal.
  exactly<Doubles>()(await layer.convolve(new Float64Array(16), kernel), true);
  // @ts-expect-error and it has no directions
  await layer.forward(new Float64Array(16));
  const plain = await device.plan({ size: [8] });
  // @ts-expect-error it does not convolve
  await plain.convolve(new Float32Array(16), kernel);
  // @ts-expect-error nor can that be enqueued
  await plain.enqueue('convolve', {});
}

/** Device functions: for plans of devices, and of profiles. */
export async function deviceFunctions(device: Device): Promise<void> {
  const plan = await device.plan({ size: [8] });
  const fft: DeviceFunction = plan.deviceFunction({ language: 'wgsl', lines: 2, shared: 'memory' });
  const element: number | undefined = fft.output.elements[0]?.[0];
  const text: string = fft.source + fft.call + fft.requirements.join() + element;
  const profiled = await (await openProfile('h200')).plan({ size: [8], transform: 'r2c' });
  const { tables } = profiled.deviceFunction({ language: 'cuda', direction: 'inverse', name: text });
  const data: Float32Array | Float64Array | Uint32Array | undefined = tables[0]?.data;
  // @ts-expect-error there is no such language
  plan.deviceFunction({ language: 'glsl', name: String(data) });
  // @ts-expect-error a language is needed
  plan.deviceFunction({});
}

/** Adjoints: they take what the call gives, and give what it takes. */
export async function adjoints(device: Device): Promise<void> {
  const reals = await device.plan({ size: [8], transform: 'r2c', layout: 'planar', convolution: {} });
  const planes = { re: new Float32Array(5), im: new Float32Array(5) };
  const forward = await reals.adjoint('forward');
  exactly<Singles>()(await forward.forward(planes), true);
  const inverse = await reals.adjoint('inverse');
  exactly<PlanarData<Singles>>()(inverse.forwardSync(new Float32Array(8)), true);
  exactly<PlanarData<Singles>>()(await (await forward.adjoint('forward')).forward(new Float32Array(8)), true);
  const kernel = await reals.prepareKernel(new Float32Array(8));
  const signal = await reals.adjoint('convolve', { of: 'signal' });
  exactly<Singles>()(await signal.forward(new Float32Array(8), undefined, { kernel }), true);
  const ofKernel = await reals.adjoint('convolve', { of: 'kernel' });
  exactly<Singles>()(await ofKernel.convolve(new Float32Array(8), new Float32Array(8)), true);
  // @ts-expect-error it reads the spectrum
  await forward.forward(new Float32Array(8));
  // @ts-expect-error an adjoint has no inverse
  await forward.inverse(planes);
  // @ts-expect-error with respect to what?
  await reals.adjoint('convolve');
  const one = await device.plan({ size: [8], directions: 'forward' });
  // @ts-expect-error it has no inverse, and so no adjoint of that
  await one.adjoint('inverse');
}
