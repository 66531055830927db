// The page's side of the hall: plans, and hands the plans and the impulse response to the audio thread.

import { PartitionedConvolver } from 'omnifft/signal/sync';
import { openCpuSync } from 'omnifft/sync';

/**
 * An impulse response made of noise that dies away: two rows.
 * @param {number} rate samples a second
 * @param {number} seconds
 * @param {number} decay seconds after which it is 60 dB down
 */
export function hall(rate, seconds, decay) {
  const noise = () => Math.random() + Math.random() - 1;
  const row = () =>
    Float32Array.from({ length: seconds * rate }, (_, k) => 0.1 * noise() * 10 ** ((-3 * k) / rate / decay));
  return [row(), row()];
}

/**
 * A node that convolves two channels.
 * @param {BaseAudioContext} context
 * @param {Float32Array[]} response a row for each channel
 */
export async function reverb(context, response) {
  const device = openCpuSync();
  const options = { channels: 2, blockSize: 128 };
  const planned = new PartitionedConvolver({ device, response, ...options });
  const saved = planned.serialize();
  planned.destroy();
  device.close();
  await context.audioWorklet.addModule(new URL('processor.js', import.meta.url));
  return new AudioWorkletNode(context, 'reverb', {
    channelCount: 2,
    channelCountMode: 'explicit',
    outputChannelCount: [2],
    processorOptions: { ...options, response, from: saved },
  });
}
