/**
 * Test data that three languages can make alike: a hash of seed and index (a 32-bit finaliser of the kind MurmurHash3
 * ends with), spread over [−1, 1). No generator state, so that it vectorises in NumPy. peers/fftw.c and
 * peers/scipy_peer.py hold the same few lines.
 */
export function sample(seed: number, index: number): number {
  let h = (Math.imul(index, 0x9e3779b9) + seed) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 31 - 1;
}

export function fill(array: { length: number; [index: number]: number }, seed: number): void {
  for (let j = 0; j < array.length; j++) array[j] = sample(seed, j);
}

/** A new seed for every run; printed with the results. */
export function freshSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}
