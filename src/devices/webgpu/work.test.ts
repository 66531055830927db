/** What waits for a GPUDevice, where the device's own promises come in an order that a test chooses. */
import { describe, expect, it } from 'vitest';
import { FftError } from '../../problem/errors.ts';
import { refusal, Work } from './work.ts';

/** A device that is lost when a test says so. */
function fakeDevice(): { work: Work; lose: () => void } {
  let lose: (info: { reason: string; message: string }) => void = () => undefined;
  const lost = new Promise((resolve) => (lose = resolve));
  const work = new Work({ lost } as unknown as GPUDevice);
  return { work, lose: () => lose({ reason: 'destroyed', message: '' }) };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error) => (error instanceof FftError ? error.code : error),
  );
const verdict = (message: string) => refusal({ message } as GPUError, 'launch-failed', 'The GPU refused a launch');

describe('a failure shortly before the news that the device is lost', () => {
  it.each([
    ['of WebGPU', new Error('the operation was aborted')],
    ['that is a verdict', verdict('something went wrong')],
  ])('%s is that loss', async (_, error) => {
    const { work, lose } = fakeDevice();
    const code = codeOf(work.track(Promise.reject(error)));
    setTimeout(lose, 10);
    expect(await code).toBe('device-lost');
  });

  it('stays what it is where its reason is known, or no loss follows', async () => {
    const { work, lose } = fakeDevice();
    const unknown = codeOf(work.track(Promise.reject(verdict('something went wrong'))));
    expect(await unknown).toBe('launch-failed');
    const known = codeOf(work.track(Promise.reject(verdict('buffer was destroyed'))));
    setTimeout(lose, 10);
    expect(await known).toBe('destroyed');
  });
});
