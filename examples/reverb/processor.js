// A hall in an AudioWorklet. The audio thread cannot wait for anything; planning has been done by the page.

import { PartitionedConvolver } from '../../dist/browser/signal-sync.js';
import { openCpuSync } from '../../dist/browser/sync.js';

class Reverb extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.convolver = new PartitionedConvolver({ device: openCpuSync(), ...processorOptions });
    // Another hall, while this one sounds.
    this.port.onmessage = ({ data }) => this.convolver.setResponse(data);
  }

  /** Where nothing is connected, there are no channels: silence. */
  process([input], [output]) {
    this.convolver.process(input, output);
    return true;
  }
}

registerProcessor('reverb', Reverb);
