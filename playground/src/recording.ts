/** Sound from outside: the microphone and files that the browser can decode. One channel at SAMPLE_RATE. */
import { SAMPLE_RATE } from './signals.ts';

/** Hands every block of samples to the page. Runs in the AudioWorklet, so it is text. */
const TAP = `registerProcessor('tap', class extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel) this.port.postMessage(channel.slice());
    return true;
  }
});`;

/**
 * Hands on what the microphone hears, block by block.
 * @returns what ends it
 * @throws DOMException where there is none, or the user does not allow it
 */
export async function listenMicrophone(hear: (block: Float32Array) => void): Promise<() => Promise<void>> {
  if (!navigator.mediaDevices) throw new Error('This browser gives pages no microphone (it needs https or localhost).');
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  });
  const context = new AudioContext({ sampleRate: SAMPLE_RATE });
  const stop = async () => {
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  };
  const url = URL.createObjectURL(new Blob([TAP], { type: 'text/javascript' }));
  try {
    await context.audioWorklet.addModule(url);
    await context.resume();
    const options = { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' } as const;
    const tap = new AudioWorkletNode(context, 'tap', options);
    tap.port.onmessage = ({ data }: MessageEvent<Float32Array>) => hear(data);
    context.createMediaStreamSource(stream).connect(tap);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Records the microphone.
 * @throws DOMException where there is none, or the user does not allow it
 */
export async function recordMicrophone(seconds: number): Promise<Float32Array> {
  const recorded = new Float32Array(Math.ceil(seconds * SAMPLE_RATE));
  let filled = 0;
  let heard = (): void => undefined;
  const stop = await listenMicrophone((block) => {
    const room = Math.min(block.length, recorded.length - filled);
    recorded.set(block.subarray(0, room), filled);
    filled += room;
    heard();
  });
  try {
    await new Promise<void>((done, fail) => {
      const patience = setTimeout(() => fail(new Error('The microphone gives no samples.')), seconds * 1000 + 5000);
      heard = () => {
        if (filled < recorded.length) return;
        clearTimeout(patience);
        done();
      };
      heard();
    });
    return recorded;
  } finally {
    await stop();
  }
}

/**
 * Decodes an audio file and mixes its channels down.
 * @throws Error where the browser cannot decode it
 */
export async function readRecording(file: File): Promise<Float32Array> {
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE);
  let decoded: AudioBuffer;
  try {
    decoded = await context.decodeAudioData(await file.arrayBuffer());
  } catch (cause) {
    throw new Error(`The browser cannot decode '${file.name}' as sound.`, { cause });
  }
  const mixed = new Float32Array(decoded.length);
  for (let channel = 0; channel < decoded.numberOfChannels; channel++) {
    const samples = decoded.getChannelData(channel);
    for (let k = 0; k < mixed.length; k++) mixed[k] = (mixed[k] ?? 0) + (samples[k] ?? 0) / decoded.numberOfChannels;
  }
  if (mixed.length === 0) throw new Error(`'${file.name}' holds no samples.`);
  return mixed;
}
