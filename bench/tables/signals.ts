/** Functions of signals against SciPy's, one thread, from host array to new host array: both are called as their users call them, in turns. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { loadLibrary, loadSignalLibrary } from '../library.ts';
import { geometricMean } from '../measure.ts';
import { findPython } from '../peers/scipy.ts';
import type { Context, Figure, Table } from '../table.ts';

type SignalLibrary = typeof import('../../src/signal/index.ts');
type Call = () => unknown;

/** What is timed of ours, by the names of SciPy; peers/scipy_signals.py has the same. */
function cases(signal: SignalLibrary, x: Float64Array, device: unknown): Readonly<Record<string, Call>> {
  const chosen = { device } as never as object;
  const taps = x.slice(0, 1000);
  const { b, a } = signal.butter(4, 0.2);
  const sos = signal.butter(6, 0.2, { output: 'sos' });
  return {
    stft: () => signal.stft(x, { nperseg: 512, noverlap: 384, ...chosen }),
    welch: () => signal.welch(x, { nperseg: 512, ...chosen }),
    resample: () => signal.resample(x, Math.floor((x.length * 3) / 4), chosen),
    fftconvolve: () => signal.fftconvolve(x, taps, chosen),
    lfilter: () => signal.lfilter(b, a, x),
    sosfilt: () => signal.sosfilt(sos, x),
    filtfilt: () => signal.filtfilt(b, a, x),
  };
}

const FILTERS = ['lfilter', 'sosfilt', 'filtfilt'];

/** Times of SciPy, asked for one after another. */
class SignalPeer {
  private readonly child: ChildProcess;
  private readonly answers: AsyncIterator<string>;

  constructor(python: string) {
    const program = fileURLToPath(new URL('../peers/scipy_signals.py', import.meta.url));
    const env = { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' };
    this.child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.answers = createInterface(this.child.stdout!)[Symbol.asyncIterator]();
  }

  async time(request: object): Promise<number> {
    this.child.stdin!.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error('the process with SciPy has ended');
    return Number(value);
  }

  close(): void {
    this.child.stdin!.end();
  }
}

async function timeOf(call: Call, calls: number): Promise<number> {
  const start = performance.now();
  for (let k = 0; k < calls; k++) await call();
  return ((performance.now() - start) * 1e3) / calls;
}

async function ratios(
  context: Context,
  python: string,
): Promise<{ readonly name: string; readonly ratio: number; readonly label: string }[]> {
  const [{ openDevice }, signal] = await Promise.all([loadLibrary(), loadSignalLibrary()]);
  const device = await openDevice('cpu', { threads: 1 });
  const peer = new SignalPeer(python);
  const found = [];
  try {
    for (const single of [true, false]) {
      for (const samples of context.quick ? [16_000] : [16_000, 160_000]) {
        const values = Float64Array.from({ length: samples }, () => 2 * Math.random() - 1);
        const x = single ? Float32Array.from(values) : values;
        for (const [name, call] of Object.entries(
          cases(signal as unknown as SignalLibrary, x as Float64Array, device),
        )) {
          const calls = samples > 20_000 ? 10 : 60;
          await timeOf(call, 3 * calls);
          let [ours, theirs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
          for (let turn = 0; turn < (context.quick ? 3 : 8); turn++) {
            ours = Math.min(ours, await timeOf(call, calls));
            theirs = Math.min(theirs, await peer.time({ name, samples, single, calls }));
          }
          const label = `${name}, ${samples} ${single ? 'singles' : 'doubles'}: ${ours.toFixed(0)} µs, SciPy ${theirs.toFixed(0)} µs`;
          found.push({ name, ratio: theirs / ours, label });
        }
      }
    }
  } finally {
    peer.close();
    await device.close();
  }
  return found;
}

export const signals: Table = {
  name: 'signals',
  title: 'functions of signals against SciPy, one thread',
  async measure(context) {
    const python = findPython();
    if (python === undefined) return { rows: [], figures: [], notes: ['without SciPy: no python3 on the path has it'] };
    const all = await ratios(context, python);
    const of = (isFilter: boolean) =>
      all.filter(({ name }) => FILTERS.includes(name) === isFilter).map(({ ratio }) => ratio);
    const figures: readonly Figure[] = [
      ...all.map(({ label, ratio }) => ({ label, value: ratio, unit: '×' }) as const),
      { label: 'transforms, geometric mean over SciPy', value: geometricMean(of(false)), unit: '×', atLeast: 2 },
      { label: 'transforms, worst over SciPy', value: Math.min(...of(false)), unit: '×', atLeast: 0.5 },
      {
        label: 'filters with state, geometric mean over SciPy',
        value: geometricMean(of(true)),
        unit: '×',
        atLeast: 0.5,
      },
    ];
    return { rows: [], figures, notes: [] };
  },
};
