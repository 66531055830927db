// A low-pass filter in an AudioWorklet: frames of 1024 real samples are transformed, cut above a frequency, transformed back
// and added up. The audio thread cannot wait for anything, so it uses the synchronous calls of a plan.
//
// The plan comes as text from the page: the audio thread compiles it without planning.

import { openCpuSync } from '../../dist/browser/sync.js';

const SIZE = 1024;
/** Frames overlap by half; the square root of a Hann window on the way in and out adds up to one. */
const HOP = SIZE / 2;
const WINDOW = Float32Array.from({ length: SIZE }, (_, k) => Math.sin((Math.PI * k) / SIZE));

class LowPass extends AudioWorkletProcessor {
  constructor({ processorOptions: { problem, saved, cutoff } }) {
    super();
    this.device = openCpuSync();
    this.plan = this.device.planSync(problem, { from: saved });
    // Memory of the device, seen as arrays: calls copy nothing and allocate nothing.
    this.frame = this.device.alloc(this.plan.input.bytes).array;
    this.spectrum = this.device.alloc(this.plan.output.bytes).array;
    // Bins from here on are cut; `sampleRate` is a global of the audio thread.
    this.cut = Math.ceil((cutoff * SIZE) / sampleRate);
    this.recent = new Float32Array(SIZE);
    this.ready = new Float32Array(SIZE);
    this.filled = 0;
  }

  /** One frame: `recent` filtered and added to `ready`. */
  filter() {
    const { plan, frame, spectrum, recent, ready, cut } = this;
    for (let k = 0; k < SIZE; k++) frame[k] = recent[k] * WINDOW[k];
    plan.forwardSync(frame, spectrum);
    spectrum.fill(0, 2 * cut);
    plan.inverseSync(spectrum, frame);
    for (let k = 0; k < SIZE; k++) ready[k] += frame[k] * WINDOW[k];
  }

  /** 128 samples at a time: taken in behind the others, and given out HOP samples later. */
  process([[input]], [[output]]) {
    if (!output) return true;
    const { recent, ready, filled } = this;
    recent.set(input ?? new Float32Array(output.length), SIZE - HOP + filled);
    output.set(ready.subarray(filled, filled + output.length));
    this.filled += output.length;
    if (this.filled === HOP) {
      this.filled = 0;
      // What was given out leaves, what is complete moves to the front.
      ready.copyWithin(0, HOP);
      ready.fill(0, SIZE - HOP);
      this.filter();
      recent.copyWithin(0, HOP);
    }
    return true;
  }
}

registerProcessor('low-pass', LowPass);
