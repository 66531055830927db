/**
 * Random data for tests: fresh at every run, and repeatable from the seed that is printed.
 *
 * `OMNIFFT_SEED` fixes the seed. Without it, continuous integration (`CI` set) uses the day, so that a failure can be
 * looked at again on the same day, and any other run the clock.
 */

/** A source of uniform numbers. */
export interface Random {
  /** A 32-bit unsigned integer. */
  bits(): number;
  /** Uniform in [0, 1) with 53 random bits. */
  unit(): number;
  /** Uniform integer in [low, high], both included. */
  integer(low: number, high: number): number;
  /** One of the items. */
  pick<T>(items: readonly T[]): T;
}

const SEED_RANGE = 2 ** 32;

function chooseSeed(): number {
  const given = process.env.OMNIFFT_SEED;
  if (given !== undefined && given !== '') {
    const seed = Number(given);
    if (!Number.isSafeInteger(seed)) throw new RangeError(`OMNIFFT_SEED must be an integer, but it is "${given}"`);
    return ((seed % SEED_RANGE) + SEED_RANGE) % SEED_RANGE;
  }
  const milliseconds = Date.now();
  return (process.env.CI ? Math.floor(milliseconds / 86_400_000) : milliseconds) % SEED_RANGE;
}

const baseSeed = chooseSeed();
const announced = new Set<string>();

/** Bijective mixing of 32 bits (the finaliser of MurmurHash3, by Austin Appleby). */
function mix(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * The seed for one test file or subject: made from the run's seed and the name, so that subjects are independent.
 * Prints, once per name, what to set to see the same data again.
 */
export function seedFor(name: string): number {
  if (!announced.has(name)) {
    announced.add(name);
    console.info(`random data of "${name}": OMNIFFT_SEED=${baseSeed}`);
  }
  let hash = baseSeed;
  for (const character of name) hash = mix(hash + 0x9e3779b9 + (character.codePointAt(0) as number));
  return hash;
}

/** xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021). */
export function randomFrom(seed: number): Random {
  const state = new Uint32Array(4);
  for (let i = 0; i < 4; i++) state[i] = mix(seed + Math.imul(i + 1, 0x9e3779b9));
  const rotate = (x: number, count: number): number => (x << count) | (x >>> (32 - count));

  const bits = (): number => {
    const [s0, s1, s2, s3] = state as unknown as [number, number, number, number];
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9) >>> 0;
    const third = s2 ^ s0;
    const fourth = s3 ^ s1;
    state[1] = s1 ^ third;
    state[0] = s0 ^ fourth;
    state[2] = third ^ (s1 << 9);
    state[3] = rotate(fourth, 11);
    return result;
  };
  const unit = (): number => ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) * 2 ** -53;
  const integer = (low: number, high: number): number => low + Math.floor(unit() * (high - low + 1));
  return {
    bits,
    unit,
    integer,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
  };
}

/** The generator for a subject: `randomFrom(seedFor(name))`. */
export function randomFor(name: string): Random {
  return randomFrom(seedFor(name));
}

/** `count` numbers uniform in [−1, 1): doubles, or doubles that are exactly representable as singles. */
export function uniform(random: Random, count: number, precision: 'single' | 'double' = 'double'): Float64Array {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const value = 2 * random.unit() - 1;
    values[i] = precision === 'single' ? Math.fround(value) : value;
  }
  return values;
}
