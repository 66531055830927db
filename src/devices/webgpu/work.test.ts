/** Promises that wait for a `GPUDevice`, when the device's own promises settle in an order that the test chooses. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FftError } from '../../problem/errors.ts';
import { GpuWork, refusal } from './work.ts';

/** A device that the test can lose. */
function fakeDevice(): { work: GpuWork; lose: () => void } {
  let lose: (info: { reason: string; message: string }) => void = () => undefined;
  const lost = new Promise((resolve) => (lose = resolve));
  const work = new GpuWork({ lost } as unknown as GPUDevice);
  return { work, lose: () => lose({ reason: 'destroyed', message: '' }) };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error) => (error instanceof FftError ? error.code : error),
  );
const judged = (message: string) => Promise.resolve({ message } as GPUError);
const verdict = (message: string) => refusal({ message } as GPUError, 'launch-failed', 'The GPU refused a launch');

describe('a failure shortly before the news that the device is lost', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['of WebGPU', (work: GpuWork) => work.track(Promise.reject(new Error('the operation was aborted')))],
    ['that is a verdict', (work: GpuWork) => work.track(Promise.reject(verdict('something went wrong')))],
    ['that is a verdict about a copy', (work: GpuWork) => work.accepted(judged('something went wrong'), 'No copy')],
    ['that knows it already', (work: GpuWork) => work.accepted(judged('Parent device is lost'), 'No copy')],
  ])('%s is that loss', async (_, call) => {
    const { work, lose } = fakeDevice();
    const code = codeOf(call(work));
    // Firefox checks for the loss every 100 ms, if it is otherwise idle.
    setTimeout(lose, 1000);
    await vi.runAllTimersAsync();
    expect(await code).toBe('device-lost');
  });

  it('stays what it is where its reason is known, or no loss follows', async () => {
    const { work, lose } = fakeDevice();
    const unknown = codeOf(work.track(Promise.reject(verdict('something went wrong'))));
    await vi.runAllTimersAsync();
    expect(await unknown).toBe('launch-failed');
    expect(await codeOf(work.accepted(Promise.resolve(null), 'No copy'))).toBe('resolved');
    const known = codeOf(work.track(Promise.reject(verdict('buffer was destroyed'))));
    setTimeout(lose, 10);
    await vi.runAllTimersAsync();
    expect(await known).toBe('destroyed');
  });
});
