/**
 * Short calls of functions of signals beside the calls of the plans that they consist of, as their users would write them: awaited, of host arrays, with
 * a new array for each result. All take turns; the fastest turns count.
 */
import { type Device, loadLibrary, loadSignalLibrary } from '../library.ts';
import { type Effort, interleave } from '../measure.ts';
import type { Subject } from '../subject.ts';
import type { Figure, Table } from '../table.ts';

/** What callbacks of plans are. */
type Callback = import('../../src/index.ts').Callback;
type SignalLibrary = typeof import('../../src/signal/index.ts');
type Call = () => unknown;

/** A function, the calls of plans in one of its calls, and the most that it may take of their time. */
interface Case {
  readonly name: string;
  readonly call: Call;
  readonly plans: readonly Call[];
}

const LENGTHS = [256, 1024, 4096];
/** Samples in a frame. */
const FRAME = 256;
const BINS = FRAME / 2 + 1;
const MOST = 2;

/** Calls of plans with new results. */
class PlanCalls {
  private readonly device: Device;

  constructor(device: Device) {
    this.device = device;
  }

  async of(
    direction: 'forward' | 'inverse',
    problem: object,
    numbers: readonly [read: number, written: number],
    options?: object,
  ): Promise<Call> {
    const plan = (await this.device.plan({ ...problem, directions: direction })) as unknown as Record<
      string,
      (x: Float32Array, y: Float32Array, options?: object) => Promise<unknown>
    >;
    const x = noise(numbers[0]);
    return () => plan[direction]!(x, new Float32Array(numbers[1]), options);
  }

  /** The frames of a line, with a window, and their spectra or powers. */
  frames(count: number, power: boolean): Promise<Call> {
    const callbacks = { forward: { load: windowed, ...(power ? { store: powers } : {}) } };
    const problem = { ...this.windowed(count, callbacks), strides: { input: [1, 1, FRAME / 2] } };
    const numbers = [(count + 1) * (FRAME / 2), (power ? 1 : 2) * BINS * count] as const;
    return this.of('forward', problem, numbers, this.window());
  }

  /** Frames of spectra, times a window. */
  waves(count: number): Promise<Call> {
    const problem = this.windowed(count, { inverse: { store: windowed } });
    return this.of('inverse', problem, [2 * BINS * count, FRAME * count], this.window());
  }

  private windowed(batches: number, callbacks: object): object {
    const arrays = { window: { type: 'f32', length: FRAME } };
    return { size: [FRAME], batches, transform: 'r2c', callbacks: { ...callbacks, arrays } };
  }

  private window(): object {
    const window = this.device.alloc(4 * FRAME, 'single');
    window.array.fill(0.5);
    return { arrays: { window } };
  }
}

const windowed: Callback = (x, value, { axis }) => x.mul(x.load('window', axis[0]!), value as never);
const powers: Callback = (x, { re, im }) => x.add(x.mul(re, re), x.mul(im, im));

function noise(n: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: n }, () => 2 * Math.random() - 1);
}

async function casesOf(n: number, device: Device, signal: SignalLibrary): Promise<Case[]> {
  const x = noise(n);
  const on = { device } as never as object;
  const plans = new PlanCalls(device);
  const reals = (points: number) => ({ size: [points], transform: 'r2c' });
  const there = await plans.of('forward', reals(n), [n, n + 2]);
  const back = await plans.of('inverse', reals(n), [n + 2, n]);
  const half = await plans.of('inverse', reals(n / 2), [n / 2 + 2, n / 2]);
  const analytic = await plans.of('inverse', { size: [n] }, [2 * n, 2 * n]);
  // A short-time transform has half a frame of zeros before and behind the signal, Welch's method has not.
  const [more, fewer] = [(2 * n) / FRAME + 1, (2 * n) / FRAME - 1];
  const [spectra, power, some] = [
    await plans.frames(more, false),
    await plans.frames(fewer, true),
    await plans.frames(fewer, false),
  ];
  const waves = await plans.waves(more);
  const { zxx } = await signal.stft(x, on);
  const window = signal.windowFunction('hann', FRAME);
  const slices = new signal.ShortTimeFFT(window, FRAME / 2, 1, on);
  const y = noise(n);
  const chirp = await plans.of('forward', { size: [2 * n] }, [4 * n, 4 * n]);
  return [
    { name: 'periodogram', call: () => signal.periodogram(x, on), plans: [there] },
    { name: 'hilbert', call: () => signal.hilbert(x, on), plans: [there, analytic] },
    { name: 'resample to half', call: () => signal.resample(x, n / 2, on), plans: [there, half] },
    { name: 'envelope', call: () => signal.envelope(x, on), plans: [there, analytic, back] },
    { name: 'czt', call: () => signal.czt(x, on), plans: [chirp, chirp] },
    { name: 'welch', call: () => signal.welch(x, on), plans: [power] },
    { name: 'csd', call: () => signal.csd(x, y, on), plans: [some, some] },
    { name: 'coherence', call: () => signal.coherence(x, y, on), plans: [some, some] },
    { name: 'spectrogram', call: () => signal.spectrogram(x, { noverlap: FRAME / 2, ...on }), plans: [power] },
    { name: 'stft', call: () => signal.stft(x, on), plans: [spectra] },
    { name: 'istft', call: () => signal.istft(zxx, on), plans: [waves] },
    { name: 'ShortTimeFFT', call: () => slices.stft(x), plans: [spectra] },
  ];
}

function subject(name: string, calls: readonly Call[]): Subject {
  return {
    name,
    load() {},
    bins: () => new Float64Array(0),
    async time(count) {
      const start = performance.now();
      for (let k = 0; k < count; k++) for (const call of calls) await call();
      return ((performance.now() - start) * 1000) / count;
    },
    close() {},
  };
}

export const shortCalls: Table = {
  name: 'short-calls',
  title: `functions of signals over the calls of their plans, singles, frames of ${FRAME}`,
  async measure({ effort, quick }) {
    const [{ openDevice }, signal] = await Promise.all([loadLibrary(), loadSignalLibrary()]);
    const device = await openDevice('cpu', { threads: 1 });
    const own: Effort = quick ? effort : { ...effort, time: 100 };
    const figures: Figure[] = [];
    for (const n of LENGTHS) {
      const cases = await casesOf(n, device, signal as unknown as SignalLibrary);
      const rows = cases.map(({ name, call, plans }) => [subject(name, [call]), subject('plans', plans)]);
      const timings = await interleave(rows, own);
      timings.forEach(([ours, theirs], k) => {
        const [time, base] = [ours!.minimum, theirs!.minimum];
        const label = `${cases[k]!.name}, ${n} samples: ${time.toFixed(1)} µs, plans ${base.toFixed(1)} µs`;
        figures.push({ label, value: time / base, unit: '×', atMost: MOST });
      });
    }
    await device.close();
    return { rows: [], figures, notes: [] };
  },
};
