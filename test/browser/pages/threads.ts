/** Runs in the page: a transform that is worth several threads, on whatever the page allows. */
import { FftError, listDevices, openDevice } from '../../../src/index.ts';

export interface ThreadsReport {
  readonly isolated: boolean;
  readonly available: boolean | undefined;
  readonly reason: string | undefined;
  /** Where the device cannot be opened. */
  readonly refused?: { readonly code: string; readonly message: string };
  readonly threads?: number;
  /** Largest distance of a bin from what it has to be. */
  readonly worst?: number;
}

const LENGTH = 65536;
const BATCHES = 4;

export async function tryThreads(): Promise<ThreadsReport> {
  const cpu = (await listDevices()).find(({ kind }) => kind === 'cpu');
  const page = { isolated: crossOriginIsolated, available: cpu?.available, reason: cpu?.reason };
  try {
    const device = await openDevice('cpu', { threads: 2 });
    const plan = await device.plan({ size: [LENGTH], batches: BATCHES });
    const data = new Float32Array(2 * LENGTH * BATCHES);
    // In each batch an impulse at 1, of another height: bin k is its height times e^(−2πik/LENGTH).
    for (let b = 0; b < BATCHES; b++) data[2 * (LENGTH * b + 1)] = b + 1;
    let worst = 0;
    for (let run = 0; run < 20; run++) worst = Math.max(worst, distance(await plan.forward(data)));
    const threads = device.profile.multiprocessors;
    device.close();
    return { ...page, threads, worst };
  } catch (error) {
    if (!(error instanceof FftError)) throw error;
    return { ...page, refused: { code: error.code, message: error.message } };
  }
}

function distance(spectrum: Float32Array): number {
  let worst = 0;
  for (let b = 0; b < BATCHES; b++) {
    for (let k = 0; k < LENGTH; k += 97) {
      const at = 2 * (LENGTH * b + k);
      const angle = (2 * Math.PI * k) / LENGTH;
      const [re, im] = [(spectrum[at] ?? Number.NaN) / (b + 1), (spectrum[at + 1] ?? Number.NaN) / (b + 1)];
      worst = Math.max(worst, Math.hypot(re - Math.cos(angle), im + Math.sin(angle)));
    }
  }
  return worst;
}

/** What the test finds in the page. */
export interface ThreadsPage {
  tryThreads: typeof tryThreads;
}

Object.assign(globalThis, { tryThreads } satisfies ThreadsPage);
