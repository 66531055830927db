/**
 * What the planner knows of devices from measurements: shares, powers and thresholds that prices are made of. Here is what each
 * number means, and what was measured on the devices that there were; a profile may have numbers of its own.
 *
 * A *share* is the part of a device's copy bandwidth that is left. A *group* is a block of threads on a GPU, and what one
 * thread works on at a time on a CPU. An *odd butterfly* has prime factors over 3.
 */

type ByPrecision = Readonly<Record<'single' | 'double', number>>;

export interface Calibration {
  /** Trips to memory beside passes over what is near. */
  readonly trip: {
    /** Passes of radix 4 that take as long as a trip to memory and back. */
    readonly passes: number;
    /** Trips that it is worth to do without a temp buffer. */
    readonly temp: number;
  };
  /** Launches: what it takes to start one, and those that leave multiprocessors idle. */
  readonly launch: {
    /** Bytes that a multiprocessor moves, at its part of the bandwidth, in the time that it takes to start one. */
    readonly bytes: number;
    /** How many times its part of the bandwidth a multiprocessor reaches while others are idle. */
    readonly reach: number;
  };
  /** Groups side by side on a multiprocessor. */
  readonly occupancy: {
    /** Share with one group, with one that has as many threads as there are, and with several groups. */
    readonly alone: number;
    readonly fullThreads: number;
    readonly several: number;
    /** To what power the share of the registers counts that there are, where one group wants more. */
    readonly spill: number;
    /** Groups that shared memory has room for, below which caches get too little of it, and the share then. */
    readonly fullShared: { readonly below: number; readonly share: number };
    /** Groups that shared memory has room for, below which the profile's `crowded` is what is left. */
    readonly crowdedBelow: number;
    /** How many times as long the passes of a group take that leaves no threads for a second one, where memory would do. */
    readonly excludes: number;
    /** Groups side by side from which on barriers cost more than the shared memory that they save is worth. */
    readonly roomy: number;
    /** Threads outside clusters that hold more points than this in a pass cost so many times as much: there are too few of them. */
    readonly burdened: { readonly above: number; readonly times: number };
  };
  /** Registers of a thread, in reals of its precision where it does not say otherwise. */
  readonly registers: {
    /** For addresses and the like: always, and for each butterfly that a thread has in hand. */
    readonly always: number;
    readonly butterfly: number;
    /** 32-bit registers more for an odd butterfly, as prices reckon. */
    readonly odd: number;
    /** 32-bit registers more, with which compilers have many loads under way at once. */
    readonly spare: number;
    /** Values of a butterfly beside its points, and additions that each costs which has no register. */
    readonly working: number;
    readonly spill: number;
  };
  /** Groups side by side that a compiler is held to. */
  readonly residency: {
    /** At most: blocks of clusters, small ones of them, and others. */
    readonly cluster: number;
    readonly smallCluster: number;
    readonly block: number;
    /** Groups that shared memory has room for, from which on memory does not decide how many there are. */
    readonly free: number;
    /** There, bytes that all of them have to hold for each pass, to be under way in others while one waits. */
    readonly passBytes: number;
    /** … and by how much more than the points of the largest butterfly a thread may hold of several. */
    readonly held: number;
  };
  /** Neighbouring columns that a group moves. */
  readonly columns: {
    /** To what power the share of a group counts that moves columns on one side only. */
    readonly oneSided: number;
    /** Share with halves, quarters, … of runs, where the profile has no `cutRuns`. */
    readonly cutRuns: readonly number[];
    /** Sectors in a run: one that does not begin at a sector touches one more. */
    readonly sectors: number;
    /** Into how many parts runs may be cut: of a whole axis, and of one of several uploads. */
    readonly parts: { readonly strided: number; readonly upload: number };
    /** Passes of radix 4 that columns cost a vector's upload that do not fill their last tile. */
    readonly ragged: number;
    /** What each point over four of a butterfly adds to a vector's pass over columns: near, and where it goes to memory. */
    readonly rows: { readonly cached: number; readonly memory: number };
    /** Shorter axes do not fill the lanes of a vector along them. */
    readonly shortAxis: number;
  };
  /** Uploads of one axis, and axes that share two launches. */
  readonly uploads: {
    /** What each doubling of the ratio between the uploads' lengths costs, in the device's unit. */
    readonly unbalanced: number;
    /** Passes of radix 4 that each doubling costs away from the best length of a first upload that reorders. */
    readonly firstBalance: number;
    /** Passes of radix 4 that it costs to copy a tile which its first pass cannot transpose. */
    readonly copied: number;
    /** Length of a second upload from which on it need not be longer. */
    readonly second: number;
    /** Trips that each doubling costs of what the first of two launches takes of an axis between them. */
    readonly lean: number;
    /**
     * By what columns of reals multiply all that uploads by threads cost beyond their trips, where their rows take one upload, and several:
     * they pair bins, and the mirror images of rows are out of step with sectors.
     */
    readonly ofReals: { readonly one: ByPrecision; readonly several: number };
  };
  /** Tiles of blocks that store into one another's shared memory. */
  readonly cluster: {
    /** Share with two blocks of the size that the profile says is best. */
    readonly two: number;
    /** By what each doubling of their number, and of their size, multiplies it. */
    readonly moreBlocks: number;
    readonly largerBlocks: number;
    /** By what odd butterflies multiply it. */
    readonly odd: number;
    /** By what pieces that are no whole runs multiply it where radices have factors other than 2, between more blocks than `few`. */
    readonly ragged: ByPrecision;
    readonly few: number;
    /** By what more than two passes of a digit multiply it whose radices are no powers of two. */
    readonly deep: number;
    /** By what odd butterflies multiply it, in single precision, where blocks exchange after the first pass. */
    readonly oddEarly: number;
    /** Times that threads may take over what they would if none were idle: usually, and where a block would do nearly as well. */
    readonly idle: { readonly most: number; readonly little: number };
    /** Blocks that have to fit on a multiprocessor, butterflies of a pass that a thread may have, registers for its points. */
    readonly sideBySide: number;
    readonly butterflies: number;
    readonly registers: number;
    /** By how much longer an axis has to be for a cluster that memory runs along. */
    readonly contiguous: number;
    /** The choice between cuts, in halvings of the speed: each doubling of blocks, and of their size … */
    readonly choice: {
      readonly moreBlocks: number;
      readonly largerBlocks: number;
      /** … and in passes of radix 4: a halving, a factor of two between digits, a block's share shorter than a run. */
      readonly halving: number;
      readonly unequal: number;
      readonly shortShare: number;
    };
  };
  /** By what the passes of a convolution in one launch multiply those of a transform as long, on threads … */
  readonly exposure: {
    /** … where fewer groups than this fit on a multiprocessor side by side, or at least as many, or in a cluster. */
    readonly fewBelow: number;
    readonly few: number;
    readonly several: number;
    readonly cluster: number;
  };
  /** Passes of vectors, in passes of radix 4. */
  readonly passes: {
    /** What it costs to store a complex number lane by lane. */
    readonly scatter: number;
    /** What it costs where vectors straddle the blocks of lanes. */
    readonly unaligned: number;
    /** By what twiddles multiply a wide butterfly of two factors, over what was measured. */
    readonly wideTwiddled: number;
    /** The same in a pass that is the only one. */
    readonly wideAlone: number;
  };
  /** Rader's algorithm, in passes of radix 4. */
  readonly rader: {
    /** What it costs that points come from memory in the order of powers, and go back so. */
    readonly permuted: number;
    /** The same in a pass of several, which goes from shared memory to shared memory. */
    readonly pass: number;
  };
}

/**
 * For threads fitted to some thousand kernels timed on an H200 (docs/performance-gpu.md): right to a fifth or so there, which is
 * enough to choose between plans. Other GPUs are weighed by it, too, but were not measured. For vectors measured on a Zen 4, a
 * Zen 5 and two Xeons (docs/performance-notes.md says what on which). `npm run calibrate` says how good choices are.
 */
const MEASURED: Calibration = {
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
    odd: 2,
    spare: 22,
    working: 4,
    spill: 6,
  },
  residency: { cluster: 5, smallCluster: 6, block: 2, free: 4, passBytes: 22e3, held: 1.25 },
  columns: {
    oneSided: 0.62,
    cutRuns: [0.85, 0.62, 0.17],
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
    lean: 0.03,
    // There and back, lines of 2¹⁸ to 2²⁴ reals, 1.97 to 2.26 in single and 1.3 to 2.2 in double precision; lines of 2²² to 2²⁶ in three uploads 0.9 to 1.8.
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
    idle: { most: 1.13, little: 1.06 },
    sideBySide: 2,
    butterflies: 4,
    registers: 64,
    contiguous: 1.6,
    choice: { moreBlocks: 0.2, largerBlocks: 0.5, halving: 5, unequal: 0.2, shortShare: 1 },
  },
  // Measured on an H100, as what points in the order of powers cost.
  exposure: { fewBelow: 4, few: 3, several: 0.8, cluster: 1.3 },
  passes: { scatter: 0.3, unaligned: 0.1, wideTwiddled: 1.08, wideAlone: 0.9 },
  rader: { permuted: 65, pass: 1 },
};

/** What may have numbers of its own: a profile. */
interface Calibrated {
  readonly calibration?: Partial<Calibration>;
}

const known = new WeakMap<Calibrated, Calibration>();

/** The numbers of a profile: its own, and for the rest what is known of others. */
export function calibrationOf(profile: Calibrated): Calibration {
  let own = known.get(profile);
  if (!own) known.set(profile, (own = { ...MEASURED, ...profile.calibration }));
  return own;
}

/** Whether a value is a calibration, or some groups of one: numbers from 0 up, by the names above. */
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
