/** Times by clocks that move in steps: pages have ones of 5 µs to 100 ms, so that no page can time another's secrets. */

/** A measured time spans at least so many steps of the clock, so that the steps change it by a few percent only. */
const LEAST_STEPS = 40;
/** A clock that does not advance in so many reads is taken to stand still. */
const MOST_LOOKS = 2e6;
/** The number of repetitions grows by this factor at most, because short times are unreliable. */
const MOST_GROWTH = 10;

/** Milliseconds that `performance.now()` has to move for a time to be a measurement. Takes three of its steps. */
export function leastMilliseconds(): number {
  let step = Number.POSITIVE_INFINITY;
  for (let seen = 0; seen < 3; seen++) {
    const before = performance.now();
    let now = before;
    for (let look = 0; now === before; look++) {
      if (look === MOST_LOOKS) return 0;
      now = performance.now();
    }
    step = Math.min(step, now - before);
  }
  return LEAST_STEPS * step;
}

/**
 * Repeats something until it takes long enough.
 * @param repeats to begin with.
 * @param least milliseconds.
 * @param elapsed runs it so many times and says how many milliseconds that took.
 * @returns how many repetitions that were, and the milliseconds of one.
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
