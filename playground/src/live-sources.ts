/** Signals that go on: at any time, the samples up to now. */
import { listenMicrophone, readRecording } from './recording.ts';
import { SAMPLE_RATE } from './signals.ts';

export interface LiveSource {
  /** Writes the latest samples. @param seconds since the page began to show it */
  latest(into: Float32Array, seconds: number): void;
  /** Lets go of what it listens to. */
  close(): void;
}

/** Samples that are kept, and so the most that a spectrum can be of. */
export const MOST_SAMPLES = 2 ** 17;

/** What the sliders say. */
export interface Tones {
  /** Hertz. */
  readonly tone: number;
  /** Hertz that a second tone goes up and down by, around three times the first. */
  readonly sweep: number;
  /** Amplitude of the noise. */
  readonly noise: number;
}

/** A tone with overtones, one that wanders, and noise. @param read asked anew for every sample that is due */
export function slidingTones(read: () => Tones): LiveSource {
  let [first, second] = [0, 0];
  let made = 0;
  const past = new Float32Array(MOST_SAMPLES);
  return {
    latest(into, seconds) {
      const { tone, sweep, noise } = read();
      const until = Math.floor(seconds * SAMPLE_RATE);
      // After a rest there is no use in catching up with more than is shown.
      made = Math.max(made, until - into.length);
      for (; made < until; made++) {
        const wander = 3 * tone + sweep * Math.sin((2 * Math.PI * made) / (4 * SAMPLE_RATE));
        first = (first + tone / SAMPLE_RATE) % 1;
        second = (second + wander / SAMPLE_RATE) % 1;
        const harmonic = (order: number) => Math.sin(2 * Math.PI * first * order) / order ** 2;
        const value = 0.4 * (harmonic(1) + harmonic(2)) + 0.2 * Math.sin(2 * Math.PI * second);
        past[made % past.length] = value + noise * (2 * Math.random() - 1);
      }
      for (let n = 0; n < into.length; n++) into[n] = past[(made - into.length + n + past.length) % past.length] ?? 0;
    },
    close: () => undefined,
  };
}

/** A recording, again and again. */
export function recordingSource(samples: Float32Array): LiveSource {
  return {
    latest(into, seconds) {
      const end = Math.floor(seconds * SAMPLE_RATE);
      for (let n = 0; n < into.length; n++) {
        const at = end - into.length + n;
        into[n] = at < 0 ? 0 : (samples[at % samples.length] ?? 0);
      }
    },
    close: () => undefined,
  };
}

/** @throws Error where the file cannot be had or decoded */
export async function fetchedSource(url: string): Promise<LiveSource> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be had (${response.status}).`);
  return recordingSource(await readRecording(new File([await response.blob()], url)));
}

/** @throws DOMException where there is none, or the user does not allow it */
export async function microphoneSource(): Promise<LiveSource> {
  const past = new Float32Array(MOST_SAMPLES);
  let count = 0;
  const stop = await listenMicrophone((block) => {
    for (const value of block) past[count++ % past.length] = value;
  });
  return {
    latest(into) {
      for (let n = 0; n < into.length; n++) into[n] = past[(count - into.length + n + past.length) % past.length] ?? 0;
    },
    close: () => void stop(),
  };
}
