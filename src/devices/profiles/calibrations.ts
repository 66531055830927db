/** What was measured on devices: data, in the terms of `plan/calibration.ts`. `npm run calibrate` says how good choices are. */
import type { Calibration } from '../../plan/calibration.ts';

/**
 * Fitted to some thousand kernels timed on an H200 (docs/performance-gpu.md): right to a fifth or so there, which is enough to
 * choose between plans. Other GPUs are weighed by it, too, but were not measured.
 */
export const h200Calibration = {
  trip: { passes: 27, temp: 0.25 },
  // 766 random problems on an H100 and an H200: the plan takes 1.04 of the fastest candidate in the mean; without these two, 1.13.
  launch: { bytes: 30_500, reach: 2 },
  occupancy: {
    alone: 0.78,
    fullThreads: 0.87,
    several: 0.95,
    spill: 1.4,
    fullShared: { below: 1.18, share: 0.85 },
    crowdedBelow: 10 / 3,
    excludes: 1.3,
    roomy: 12,
    burdened: { above: 12, times: 1.15 },
  },
  registers: {
    always: 4,
    butterfly: 4,
    fewest: { single: 40, double: 62 },
    oddPriced: 2,
    oddGranted: 7,
    spare: 22,
    working: 4,
    spill: 7,
  },
  residency: { cluster: 5, smallCluster: 6, block: 2, free: 4, passBytes: 22e3, held: 1.25 },
  columns: {
    oneSided: 0.62,
    cutRuns: [0.85, 0.62, 0.17],
    sectors: 4,
    parts: { strided: 4, upload: 2 },
    ragged: 0,
    rows: { cached: 0, memory: 0 },
    shortAxis: 48,
  },
  uploads: { unbalanced: 0.05, firstBalance: 0, copied: 0, second: 48, lean: 0.03 },
  cluster: {
    two: 0.95,
    moreBlocks: 0.9,
    largerBlocks: 0.78,
    odd: 0.85,
    ragged: { single: 0.7, double: 0.82 },
    few: 5,
    deep: 0.75,
    oddEarly: 0.85,
    idle: { most: 1.13, little: 1.06 },
    sideBySide: 2,
    butterflies: 4,
    registers: 64,
    contiguous: 1.6,
    choice: { moreBlocks: 0.2, largerBlocks: 0.5, halving: 5, unequal: 0.2, shortShare: 1 },
  },
  // Measured on an H100, as what points in the order of powers cost.
  exposure: { fewBelow: 4, few: 3, several: 0.8, cluster: 1.3 },
  passes: { scatter: 0.3, unaligned: 0.1, wideTwiddled: 1, wideAlone: 1, permuted: 65 },
} as const satisfies Partial<Calibration>;

/** Measured on a Zen 4, a Zen 5 and two Xeons (docs/performance-notes.md says what on which). */
export const cpuCalibration = {
  trip: { passes: 16, temp: 4 },
  // Four threads and more share out single transforms of some 30 000 points and more, in single precision; two those of twice as many.
  launch: { bytes: 600_000, reach: 1 },
  registers: {
    always: 4,
    butterfly: 4,
    fewest: { single: 0, double: 0 },
    oddPriced: 0,
    oddGranted: 0,
    spare: 0,
    working: 4,
    spill: 7,
  },
  columns: {
    oneSided: 1,
    cutRuns: [],
    sectors: 4,
    parts: { strided: 4, upload: 2 },
    ragged: 1,
    // Rows that lie a power of two apart share few places in a cache: columns of 2048 points take half the time with a radix of
    // 2 at the end instead of 8 at the beginning.
    rows: { cached: 0.005, memory: 0.01 },
    shortAxis: 48,
  },
  uploads: {
    unbalanced: 0.05,
    // 2048 · 64 takes 0.88 and 0.96 of the time of 256 · 512, 2500 · 40 takes 0.92 and 0.89 of that of 200 · 500 (two machines).
    firstBalance: 0.15,
    copied: 1.5,
    second: 48,
    lean: 0,
  },
  passes: { scatter: 0.3, unaligned: 0.1, wideTwiddled: 1.08, wideAlone: 0.9, permuted: 1 },
} as const satisfies Partial<Calibration>;
