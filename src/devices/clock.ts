/** Timing by coarse clocks: browsers round their clocks to steps of 5 µs to 100 ms, so that pages cannot mount timing attacks. */

/** The fewest steps of the clock that a measured time spans, so that the rounding changes it by a few percent only. */
const LEAST_STEPS = 40;
/** The number of reads without an advance after which a clock is taken to stand still. */
const MOST_READS = 2e6;
/** The number of repetitions grows by this factor at most, because short times are unreliable. */
const MOST_GROWTH = 10;

/**
 * The shortest time in milliseconds that `performance.now()` measures well enough; 0 for a clock that stands still. It watches three steps of the
 * clock.
 */
export function leastMilliseconds(): number {
  let step = Number.POSITIVE_INFINITY;
  for (let seen = 0; seen < 3; seen++) {
    const before = performance.now();
    let now = before;
    for (let look = 0; now === before; look++) {
      if (look === MOST_READS) return 0;
      now = performance.now();
    }
    step = Math.min(step, now - before);
  }
  return LEAST_STEPS * step;
}

/**
 * Repeats some work until the whole takes long enough to be measured.
 * @param repeats the first number of repetitions.
 * @param least the shortest time to accept, in milliseconds.
 * @param elapsed runs the given number of repetitions and resolves to their time in milliseconds.
 * @returns the number of repetitions that was accepted, and the milliseconds of one repetition.
 */
export async function repeatUntilLong(
  repeats: number,
  least: number,
  elapsed: (repeats: number) => Promise<number>,
): Promise<{ readonly repeats: number; readonly milliseconds: number }> {
  for (let runs = repeats; ; ) {
    const time = await elapsed(runs);
    if (time >= least) return { repeats: runs, milliseconds: time / runs };
    runs = Math.ceil(runs * Math.min(MOST_GROWTH, Math.max(1.5, (1.2 * least) / time)));
  }
}
