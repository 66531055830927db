/**
 * Signals that are made up: real numbers, each from its place in time. Frequencies are in hertz at SAMPLE_RATE.
 */

/** Samples a second of everything that is shown: recordings are resampled to it. */
export const SAMPLE_RATE = 48_000;

export interface Parameter {
  readonly name: string;
  readonly label: string;
  readonly value: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | 'any';
}

/** The sample at a place; `length` is what an axis of the transform spans. */
export type Samples = (at: number, length: number) => number;

export interface Source {
  readonly title: string;
  readonly parameters: readonly Parameter[];
  /** True where an image is the product of one signal along each axis; otherwise samples fill it one after another. */
  readonly separable: boolean;
  readonly make: (values: Readonly<Record<string, number>>) => Samples;
}

/** What goes into a transform. */
export interface Signal {
  readonly samples: Samples;
  /** As a source's. */
  readonly separable: boolean;
  /** Factors along an axis, or none. */
  readonly window: (length: number) => ArrayLike<number> | undefined;
}

const nyquist = SAMPLE_RATE / 2;
const hertz = (name: string, label: string, value: number): Parameter => ({
  name,
  label: `${label} (Hz)`,
  value,
  min: 0,
  max: nyquist,
  step: 'any',
});

export const syntheticSources = {
  tones: {
    title: 'Two tones',
    separable: true,
    parameters: [
      hertz('first', 'First', 4687.5),
      hertz('second', 'Second', 12000),
      { name: 'level', label: 'Level of the second (dB)', value: -30, min: -120, max: 0, step: 'any' },
    ],
    make: ({ first = 0, second = 0, level = 0 }) => {
      const [a, b] = [(2 * Math.PI * first) / SAMPLE_RATE, (2 * Math.PI * second) / SAMPLE_RATE];
      const gain = 10 ** (level / 20);
      const total = 1 + gain;
      return (at) => (Math.cos(a * at) + gain * Math.cos(b * at)) / total;
    },
  },
  chirp: {
    title: 'Chirp',
    separable: true,
    parameters: [hertz('from', 'From', 500), hertz('to', 'To', 8000)],
    make:
      ({ from = 0, to = 0 }) =>
      (at, length) => {
        const place = at % length;
        // The integral of a frequency that grows linearly over the length.
        const turns = (from + ((to - from) * place) / (2 * length)) * (place / SAMPLE_RATE);
        return Math.cos(2 * Math.PI * turns);
      },
  },
  noise: {
    title: 'White noise',
    separable: false,
    parameters: [{ name: 'seed', label: 'Seed', value: 1, min: 0, max: 2 ** 32 - 1, step: 1 }],
    make:
      ({ seed = 0 }) =>
      (at) =>
        hashed(at, seed) / 2 ** 31 - 1,
  },
  impulse: {
    title: 'Impulse',
    separable: true,
    parameters: [{ name: 'at', label: 'At sample', value: 3, min: 0, step: 1 }],
    make:
      ({ at: place = 0 }) =>
      (at, length) =>
        at % length === place % length ? 1 : 0,
  },
} as const satisfies Record<string, Source>;

/** 32 mixed bits of a place and a seed (the finaliser of MurmurHash3, by Austin Appleby). */
function hashed(at: number, seed: number): number {
  let x = (Math.imul(at, 0x9e3779b9) + seed) | 0;
  for (let round = 0; round < 2; round++) {
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    x ^= x >>> 16;
  }
  return x >>> 0;
}

/** A recording as a source: it starts again where it ends. */
export function recordingSource(title: string, samples: Float32Array): Source {
  return {
    title,
    separable: false,
    parameters: [],
    make: () => (at) => samples[at % samples.length] ?? 0,
  };
}
