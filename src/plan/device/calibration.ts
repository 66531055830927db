/**
 * The numbers about devices that prices are made of: shares, powers and thresholds, all found by measurement. This file says what each
 * number means, and holds the values that were measured on the devices at hand; a profile may have numbers of its own.
 *
 * A *share* is the fraction of a device's copy bandwidth that a launch reaches. A *group* is a block of threads on a GPU, and on a CPU the points
 * that one thread works on at a time. An *odd butterfly* has prime factors over 3. A *trip* reads a point from memory and writes it back.
 */

type ByPrecision = Readonly<Record<'single' | 'double', number>>;

export interface Calibration {
  /** Memory trips, as they compare with passes over data in caches or shared memory. */
  readonly trip: {
    /** The number of passes of radix 4 that take as long as one trip. */
    readonly passes: number;
    /** The price of a temp buffer, in trips: a plan without one may cost this much more. */
    readonly temp: number;
  };
  /** Launches: the time to start one, and the bandwidth of one that leaves multiprocessors idle. */
  readonly launch: {
    /** Bytes that a multiprocessor moves, at its part of the bandwidth, while a launch starts. */
    readonly bytes: number;
    /** A factor: how much more than its part of the bandwidth a multiprocessor reaches while others are idle. */
    readonly reach: number;
  };
  /** Occupancy: the groups that run side by side on a multiprocessor. */
  readonly occupancy: {
    /** Shares: of one group alone, of one group with the most threads that the device allows, and of several groups. */
    readonly alone: number;
    readonly fullThreads: number;
    readonly several: number;
    /** A power: a group that needs more registers than there are has the share (registers there are / registers needed) to this power. */
    readonly spill: number;
    /** A lower share for groups that leave the cache little room: it holds where shared memory has room for fewer groups than `below`. */
    readonly fullShared: { readonly below: number; readonly share: number };
    /** The number of groups that fit in shared memory below which the share is the profile's `crowded`. */
    readonly crowdedBelow: number;
    /** A factor on the passes of a group whose threads leave none for a second group, though shared memory has room for it. */
    readonly soleGroup: number;
    /** The number of groups side by side from which on barriers cost more than the shared memory that they save is worth. */
    readonly barriersCostMore: number;
    /** A factor `times` on the passes of threads outside clusters that hold more points than `above`: there are too few of these threads. */
    readonly heavyThreads: { readonly above: number; readonly times: number };
  };
  /** Registers of a thread, counted in reals of its precision unless stated otherwise. */
  readonly registers: {
    /** Registers for addresses and the like: a constant, and a number for each butterfly that a thread computes at the same time. */
    readonly always: number;
    readonly butterfly: number;
    /** Further 32-bit registers for an odd butterfly, in prices only. */
    readonly odd: number;
    /** Further 32-bit registers that let a compiler keep many loads in flight. */
    readonly spare: number;
  };
  /** Residency: the number of groups side by side for which the compiler has to leave registers. */
  readonly residency: {
    /** The most groups: blocks of a cluster, blocks of a small cluster, and blocks outside clusters. */
    readonly cluster: number;
    readonly smallCluster: number;
    readonly block: number;
    /** The number of groups that fit in shared memory from which on memory no longer limits how many run. */
    readonly free: number;
    /** Where memory does not limit them: bytes per pass that all groups together have to hold, so that some move data while others wait. */
    readonly passBytes: number;
    /** Where memory does not limit them: the most points that a thread may hold, as a multiple of those of its largest butterfly. */
    readonly held: number;
  };
  /** Columns: groups that move neighbouring columns. */
  readonly columns: {
    /** The number of sectors in a run: a run that does not begin at a sector touches one more. */
    readonly sectors: number;
    /** Shares of groups whose runs are halves, quarters, … of whole runs, where the profile has no `cutRuns`. */
    readonly cutRuns: readonly number[];
    /** The most parts that runs may be cut into: for a whole axis, and for one of several uploads. */
    readonly parts: { readonly strided: number; readonly upload: number };
    /** The price of columns that do not fill the last tile of a vector's upload, in passes of radix 4. */
    readonly ragged: number;
    /** The price, in a vector's pass over columns, of each point that a butterfly has over four: in a cache, and in memory. */
    readonly rows: { readonly cached: number; readonly memory: number };
    /** The length below which an axis does not fill the lanes of a vector along it. */
    readonly shortAxis: number;
  };
  /** Uploads of one axis, and two launches that share axes. */
  readonly uploads: {
    /** The price of each doubling of the ratio between the uploads' lengths, in the device's unit. */
    readonly unbalanced: number;
    /** The price, in passes of radix 4, of each doubling between a first upload that reorders and its best length. */
    readonly firstBalance: number;
    /** The price, in trips, of each doubling of the part of the middle axis that the first of two launches takes. */
    readonly middlePart: number;
    /**
     * A factor for columns of reals on threads: it multiplies the cost of all uploads beyond their trips. `one` is for rows in one upload,
     * `several` for rows in several. They cost more because they pair bins, and because the mirror images of rows are out of step with
     * sectors.
     */
    readonly ofReals: { readonly one: ByPrecision; readonly several: number };
  };
  /** Clusters: tiles of blocks that store into one another's shared memory. */
  readonly cluster: {
    /** The share of two blocks of the size that the profile says is best. */
    readonly two: number;
    /** Factors on the share: for each doubling of the number of blocks, and of their size. */
    readonly moreBlocks: number;
    readonly largerBlocks: number;
    /** A factor on the share for odd butterflies. */
    readonly odd: number;
    /** A factor on the share where radices have factors other than 2 and more blocks than `few` exchange pieces that are not whole runs. */
    readonly ragged: ByPrecision;
    readonly few: number;
    /** A factor on the share of a digit with more than two passes whose radices are not powers of two. */
    readonly deep: number;
    /** A factor on the share of odd butterflies, in single precision, where blocks exchange after the first pass. */
    readonly oddEarly: number;
    /** The most time that the passes of a cluster may take, as a multiple of the time without idle threads. */
    readonly idle: number;
    /** Limits: blocks that have to fit on a multiprocessor, butterflies of a pass that a thread may have, registers for its points. */
    readonly sideBySide: number;
    readonly butterflies: number;
    readonly registers: number;
    /** A factor on the length from which on an axis that memory runs along is given to a cluster. */
    readonly contiguous: number;
    /** The choice between cuts. Prices in halvings of the speed: each doubling of the number of blocks, and of their size. */
    readonly choice: {
      readonly moreBlocks: number;
      readonly largerBlocks: number;
      /** Prices in passes of radix 4: a halving, a factor of two between digits, a block's part that is shorter than a run. */
      readonly halving: number;
      readonly unequal: number;
      readonly shortShare: number;
    };
  };
  /** Exposure: a factor on the passes of a convolution in one launch of threads, relative to a plain transform of the same length. */
  readonly exposure: {
    /** The factors: `few` where fewer groups than `fewBelow` fit on a multiprocessor side by side, else `several`; `cluster` in a cluster. */
    readonly fewBelow: number;
    readonly few: number;
    readonly several: number;
    readonly cluster: number;
  };
  /** Spectral layers on threads, in bytes of the full bandwidth. */
  readonly layers: {
    /** The price of a byte of the matrices that a group reads again, most of the time from a cache. */
    readonly again: number;
    /** The price of one product of complex numbers: in a launch of its own, and in one with transforms. */
    readonly product: { readonly alone: number; readonly inside: number };
    /** A factor on the transforms of a launch for the last of several axes, whose groups have all channels at a bin of the other axes. */
    readonly ofSeveralAxes: number;
  };
  /** Passes of vectors: prices in passes of radix 4, and factors on the price of a butterfly. */
  readonly passes: {
    /** The price of storing complex numbers lane by lane. */
    readonly scatter: number;
    /** The price of vectors that straddle the blocks of lanes. */
    readonly unaligned: number;
    /** A factor on the measured price of a wide butterfly of two factors, where it has twiddles. */
    readonly wideTwiddled: number;
  };
  /** Rader's algorithm: prices in passes of radix 4. */
  readonly rader: {
    /** The price of reading points from memory in the order of powers, and of writing them so. */
    readonly permuted: number;
    /** The price of the same order in one of several passes, which goes from shared memory to shared memory. */
    readonly pass: number;
  };
}

/**
 * The measured values. The numbers for threads are fitted to some thousand kernels timed on an H200 (docs/performance-gpu.md): prices are right to
 * a fifth or so there, which is enough to choose between plans. Other GPUs are priced by the same numbers, but were not measured. The numbers for
 * vectors were measured on a Zen 4, a Zen 5 and two Xeons (docs/performance-notes.md says which on what). `npm run calibrate` says how good the
 * choices are.
 */
const MEASURED: Calibration = {
  trip: { passes: 27, temp: 0.25 },
  // 766 random problems on an H100 and an H200: the plan takes 1.04 of the time of the fastest candidate in the mean; without these two, 1.13.
  launch: { bytes: 30_500, reach: 2 },
  occupancy: {
    alone: 0.78,
    fullThreads: 0.87,
    several: 0.95,
    spill: 1.4,
    fullShared: { below: 1.18, share: 0.85 },
    crowdedBelow: 10 / 3,
    soleGroup: 1.3,
    barriersCostMore: 12,
    heavyThreads: { above: 12, times: 1.15 },
  },
  registers: {
    always: 4,
    butterfly: 4,
    odd: 2,
    spare: 22,
  },
  residency: { cluster: 5, smallCluster: 6, block: 2, free: 4, passBytes: 22e3, held: 1.25 },
  columns: {
    cutRuns: [0.85, 0.62, 0.17],
    sectors: 4,
    parts: { strided: 4, upload: 2 },
    ragged: 1,
    // Rows that lie a power of two apart share few places in a cache: columns of 2048 points take half the time if a radix of 2 comes at the
    // end instead of a radix of 8 at the beginning.
    rows: { cached: 0.005, memory: 0.01 },
    shortAxis: 48,
  },
  uploads: {
    unbalanced: 0.05,
    // 2048 · 64 takes 0.88 and 0.96 of the time of 256 · 512, 2500 · 40 takes 0.92 and 0.89 of that of 200 · 500 (two machines).
    firstBalance: 0.15,
    middlePart: 0.03,
    // Forward and inverse, lines of 2¹⁸ to 2²⁴ reals: 1.97 to 2.26 in single and 1.3 to 2.2 in double precision; lines of 2²² to 2²⁶ in
    // three uploads: 0.9 to 1.8.
    ofReals: { one: { single: 2.4, double: 2.2 }, several: 1.6 },
  },
  cluster: {
    two: 0.95,
    moreBlocks: 0.9,
    largerBlocks: 0.78,
    odd: 0.85,
    ragged: { single: 0.7, double: 0.82 },
    few: 5,
    deep: 0.75,
    oddEarly: 0.85,
    idle: 1.13,
    sideBySide: 2,
    butterflies: 4,
    registers: 64,
    contiguous: 1.6,
    choice: { moreBlocks: 0.2, largerBlocks: 0.5, halving: 5, unequal: 0.2, shortShare: 1 },
  },
  // Measured on an H100, like the price of the order of powers.
  exposure: { fewBelow: 4, few: 3, several: 0.8, cluster: 1.3 },
  // 66 layers on an H200 (256 to 4096 reals, 4 to 64 channels, 1 to 64 batches): choices take 1.014 of the better of both, and three launches 1.095.
  // Of 11 layers of two and three axes in one launch, which take 0.93 to 2.6 of the time of three, choices are the two that gain.
  layers: { again: 0.5, product: { alone: 1, inside: 2 }, ofSeveralAxes: 3 },
  passes: { scatter: 0.3, unaligned: 0.1, wideTwiddled: 1.08 },
  rader: { permuted: 65, pass: 1 },
};

/** A profile, as far as it may have numbers of its own. */
interface Calibrated {
  readonly calibration?: Partial<Calibration>;
}

const known = new WeakMap<Calibrated, Calibration>();

/** The numbers of a profile: its own groups, and the measured ones for the rest. */
export function calibrationOf(profile: Calibrated): Calibration {
  let own = known.get(profile);
  if (!own) known.set(profile, (own = { ...MEASURED, ...profile.calibration }));
  return own;
}

/** Whether a value is a calibration, or some groups of one: numbers from 0 up, under the names above. */
export function isCalibration(value: unknown): value is Partial<Calibration> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(([name, group]) => {
      return Object.hasOwn(MEASURED, name) && isLike(group, MEASURED[name as keyof Calibration]);
    })
  );
}

function isLike(value: unknown, example: unknown): boolean {
  if (typeof example === 'number') return Number.isFinite(value) && (value as number) >= 0;
  if (Array.isArray(example)) return Array.isArray(value) && value.every((one) => isLike(one, 0));
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(example as object);
  return (
    Object.keys(value).length === names.length &&
    names.every((name) => isLike((value as Record<string, unknown>)[name], (example as Record<string, unknown>)[name]))
  );
}
