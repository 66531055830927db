/** Runs in the page, by itself: what devices do in an engine, sent to the server that the page came from. */
import { listDevices } from '../../../src/index.ts';
import { seedFor } from '../../support/random.ts';
import { type AccuracyReport, measureAccuracy } from './accuracy.ts';
import { type ThreadsReport, tryThreads } from './threads.ts';
import { tryLoss, tryRefusals, tryResizable } from './webgpu.ts';

export interface EngineReport {
  readonly agent: string;
  readonly accuracy: AccuracyReport;
  readonly threads: ThreadsReport;
  /** What the example of an AudioWorklet says. */
  readonly filter: string;
  /** Or why there is none. */
  readonly webgpu: GpuReport | { readonly missing: string };
}

interface GpuReport {
  readonly accuracy: AccuracyReport;
  readonly resizable: number;
  readonly loss: readonly string[];
  readonly refusals: readonly string[];
}

async function tryGpu(): Promise<EngineReport['webgpu']> {
  const gpu = (await listDevices()).find(({ kind }) => kind === 'webgpu')!;
  if (!gpu.available) return { missing: `${gpu.reason}` };
  return {
    accuracy: await measureAccuracy('webgpu', seedFor('browser engine webgpu')),
    resizable: await tryResizable(),
    loss: await tryLoss(),
    refusals: await tryRefusals(),
  };
}

/** What an example writes into its page when it is done. */
async function textOf(example: string, element: string, unfinished: string): Promise<string> {
  const frame = document.createElement('iframe');
  frame.src = `/examples/${example}/`;
  document.body.append(frame);
  for (;;) {
    const text = frame.contentDocument?.querySelector(element)?.textContent;
    if (text && text !== unfinished) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function tryEngine(): Promise<EngineReport> {
  return {
    agent: navigator.userAgent,
    accuracy: await measureAccuracy('cpu', seedFor('browser engine')),
    threads: await tryThreads(),
    filter: await textOf('audio-worklet', '#result', '…'),
    webgpu: await tryGpu(),
  };
}

const report = await tryEngine().catch((error) => ({ failure: `${error}\n${error.stack}` }));
await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
