// Spectra of what goes through, computed on the audio thread as it goes on, and handed to the page.

import { StftStream } from '../../dist/browser/signal-sync.js';
import { openCpuSync } from '../../dist/browser/sync.js';

class Analyser extends AudioWorkletProcessor {
  constructor({ processorOptions: { size, hop } }) {
    super();
    this.stream = new StftStream({ device: openCpuSync(), nperseg: size, hopLength: hop });
  }

  process([[samples]], [[through]]) {
    if (!samples) return true;
    through?.set(samples);
    this.stream.push(samples, (bins) => {
      const levels = new Float32Array(bins.length / 2);
      for (let k = 0; k < levels.length; k++)
        levels[k] = 20 * Math.log10(Math.hypot(bins[2 * k], bins[2 * k + 1]) + 1e-9);
      this.port.postMessage(levels, [levels.buffer]);
    });
    return true;
  }
}

registerProcessor('analyser', Analyser);
