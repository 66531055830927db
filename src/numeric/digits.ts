/** Digits of mixed radix. */

/** Where bin k lies along an axis whose uploads of these lengths left out the last reordering. */
export function unorderedPlace(k: number, factors: readonly number[]): number {
  let place = 0;
  let size = factors.reduce((a, b) => a * b, 1);
  for (const n of factors) {
    size /= n;
    place += (k % n) * size;
    k = Math.floor(k / n);
  }
  return place;
}
