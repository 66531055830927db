/**
 * The part of the profile that all CPUs share: WebAssembly's vectors, the part of the second-level cache that a core can count on, and measured costs
 * of passes. A device adds its threads and memory.
 */
import type { DeviceProfile } from '../../plan/device/profile.ts';

/**
 * Costs of passes by primes from 17 up, relative to radix 4, measured on a Zen 4 in columns with 16 times as many points as for `RADIX_COSTS`. Long
 * butterflies cost more because their code has to be fetched.
 */
const PRIME_COSTS = {
  17: 4.2,
  19: 5.5,
  23: 8.3,
  29: 7,
  31: 7.6,
  37: 7.5,
  41: 10.5,
  43: 9.7,
  47: 29,
  53: 13,
  59: 38,
  61: 12,
  67: 17,
  71: 18,
  73: 14,
  79: 20.5,
  83: 44,
  89: 19.5,
  97: 17,
  101: 23.5,
  103: 30.5,
  107: 51,
  109: 24.5,
  113: 25.5,
  127: 30,
};

/**
 * Passes over cached data, timed in column transforms of about 1500 points and divided by radix 4. The engines' register
 * allocation spills wide butterflies, so small radices win although they read and write more often.
 */
const RADIX_COSTS = {
  2: 0.69,
  3: 0.97,
  4: 1,
  5: 1.48,
  6: 1.48,
  7: 2.1,
  8: 1.68,
  9: 2.05,
  10: 2.07,
  11: 3.05,
  12: 1.95,
  13: 3.3,
  14: 2.65,
  15: 2.7,
  16: 3.3,
  ...PRIME_COSTS,
};

export const cpuProfile = {
  lockstep: 'vector',
  lockstepBytes: 16,
  sharedBytes: 2 ** 20,
  /** One page less than WebAssembly can address; a device may be granted less. */
  maxBytes: 2 ** 32 - 2 ** 16,
  coalescedBytes: 256,
  /** Measured on a Xeon and a Zen 5, with one, two and four threads (docs/performance-notes.md). */
  distant: { above: 2 ** 22, axes: 1024, uploads: 512 },
  registers: 16,
  maxThreads: 1,
  doubleBuffered: true,
  sharedFormat: 'blocked',
  banks: 1,
  groupPoints: 1024,
  passCost: 6,
  radixCosts: RADIX_COSTS,
  /**
   * Measured on Xeons with 48 KiB of first-level cache: with more data than that, two passes of radix 3 take longer than one of radix 9, with less
   * data they do not.
   */
  firstLevel: { bytes: 2 ** 16, beyond: 1.1 },
  reorderFirst: true,
  /** A page has 4096 bytes, and so has a way of a first-level cache. Steps of a quarter of that are slow, too (docs/performance-notes.md). */
  padding: { multiple: 1024, count: 64, by: 64 },
  /** Measured: a batch of 4 MiB still gains, less than smaller ones do; a batch of 8 MiB gains nothing. */
  chunks: { bytes: 2 ** 20, most: 2 ** 22 },
  calibration: {
    trip: { passes: 16, temp: 4 },
    // In single precision, four or more threads share single transforms from some 30 000 points on, two threads from twice as many.
    launch: { bytes: 600_000, reach: 1 },
    rader: { permuted: 1, pass: 0.5 },
  },
} as const satisfies Partial<DeviceProfile>;
