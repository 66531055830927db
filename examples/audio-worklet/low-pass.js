// The page's side of the low-pass filter: plans, and hands the plan to the audio thread.

import { openDevice } from 'omnifft';

const problem = { size: [1024], transform: 'r2c', precision: 'single', normalize: true };

/** Samples by which the filter is late. */
export const DELAY = 1024;

/**
 * A node that lets through what is below a frequency.
 * @param {BaseAudioContext} context
 * @param {number} cutoff in hertz
 */
export async function lowPass(context, cutoff) {
  // The audio thread has one thread, and a plan fits the device that it was made for.
  const device = await openDevice('cpu', { threads: 1 });
  const plan = await device.plan(problem);
  const saved = plan.serialize();
  device.close();
  await context.audioWorklet.addModule(new URL('processor.js', import.meta.url));
  return new AudioWorkletNode(context, 'low-pass', {
    channelCount: 1,
    channelCountMode: 'explicit',
    outputChannelCount: [1],
    processorOptions: { problem, saved, cutoff },
  });
}
