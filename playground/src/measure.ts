/** How exact and how fast: errors against double precision, times beside fft.js. */
import FFT from 'fft.js';
import { leastMilliseconds, repeated } from '../../src/devices/clock.ts';
import { nextFastLength } from '../../src/engine/fast-length.ts';
import type { Plan } from '../../src/index.ts';
import { logicalLength } from '../../src/problem/index.ts';
import type { Planned, Session } from './session.ts';
import { type Arrays, arraysFor, doubled, gathered } from './tensor.ts';

export interface Accuracy {
  /** Relative, in the L2 norm. */
  readonly error: number;
  /**
   * What the accuracy suite allows (test/support/accuracy.ts): 1.2·u·√(1 + log2 N), five times that where an axis is
   * convolved, and twice as much there and back.
   */
  readonly bound: number;
  readonly against: string;
}

/** Points of each transformed axis, over which rounding errors add up: of cosines and sines the logical ones. */
function lengths({ problem }: Plan): number[] {
  return problem.size.flatMap((length, axis) =>
    problem.omit[axis] ? [] : [logicalLength(problem.transform[axis] ?? 'c2c', length)],
  );
}

function transformedPoints(plan: Plan): number {
  return lengths(plan).reduce((product, length) => product * length, 1);
}

/** Axes with large primes are convolved, which is less exact. */
function isConvolved(plan: Plan): boolean {
  return lengths(plan).some((length) => nextFastLength(length) !== length);
}

/** Compares a single-precision result with a double-precision plan; a double-precision one goes there and back. */
export async function accuracy(session: Session, planned: Planned, input: Arrays, result: Arrays): Promise<Accuracy> {
  const { plan, direction } = planned;
  const single = plan.problem.precision === 'single';
  const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
  const roundoff = single ? 2 ** -24 : 2 ** -53;
  const bound = (isConvolved(plan) ? 5 : 1) * 1.2 * roundoff * Math.sqrt(1 + Math.log2(transformedPoints(plan)));
  if (single) {
    const reference = await session.reference(plan, direction);
    try {
      const expected = await reference[direction](doubled(input));
      const [actual, wanted] = [result, expected as Arrays].map((arrays) => gathered(plan, written, arrays));
      return { error: relative(actual, wanted), bound, against: 'a double-precision plan' };
    } finally {
      reference.destroy();
    }
  }
  const back = await session.reference(plan, 'both');
  try {
    const again = await back[direction === 'forward' ? 'inverse' : 'forward'](doubled(result));
    const { scale, normalize } = plan.problem;
    const factor = scale.forward * scale.inverse * (normalize ? 1 : transformedPoints(plan));
    const scaled = gathered(plan, read, again as Arrays).map((value) => value / factor);
    return {
      error: relative(scaled, gathered(plan, read, input)),
      bound: 2 * bound,
      against: 'itself, there and back',
    };
  } finally {
    back.destroy();
  }
}

/** ‖actual − expected‖ / ‖expected‖. */
function relative(actual: ArrayLike<number> = [], expected: ArrayLike<number> = []): number {
  let error = 0;
  let norm = 0;
  for (let k = 0; k < expected.length; k++) {
    const wanted = expected[k] ?? 0;
    error += ((actual[k] ?? Number.NaN) - wanted) ** 2;
    norm += wanted ** 2;
  }
  return error === 0 ? 0 : Math.sqrt(error / norm);
}

export interface Speed {
  readonly what: string;
  readonly note: string;
  /** Milliseconds of one execution: the median. */
  readonly milliseconds: number;
  readonly gigaflops: number;
}

/** How long one thing is measured. */
const BUDGET_MILLISECONDS = 300;
/** Times the plan, then fft.js on the same number of transforms where it has that length. */
export async function* speeds({ device, plan, direction }: Planned): AsyncGenerator<Speed> {
  const { problem } = plan;
  const points = transformedPoints(plan);
  const total = plan.input.shape.reduce((a, b) => a * b, 1);
  const operations = (problem.transform[0] === 'c2c' ? 5 : 2.5) * total * Math.log2(points);
  const row = (what: string, note: string, milliseconds: number): Speed => {
    return { what, note, milliseconds, gigaflops: operations / milliseconds / 1e6 };
  };

  const inPlace = problem.placement === 'in-place';
  // Zeros: in place every execution would multiply other data by √N, until it overflows.
  const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
  const from = arraysFor(plan, read, precisionOf(plan));
  const to = inPlace ? from : arraysFor(plan, written, precisionOf(plan));
  const host = await medianOf(async (repeats) => {
    for (let n = 0; n < repeats; n++) await plan[direction](from, to);
  });
  yield row(`omnifft, ${device.kind}`, 'with copies of the data in and out', host);

  const measured = await onDevice(plan, direction);
  if (measured !== undefined) yield row(`omnifft, ${device.kind}`, 'on the device alone', measured);

  const [length = 0] = problem.size;
  if (
    problem.transform[0] === 'c2c' &&
    problem.size.length === 1 &&
    length >= 2 &&
    Number.isInteger(Math.log2(length)) &&
    !problem.omit[0]
  ) {
    const fft = new FFT(length);
    const source: number[] = fft.createComplexArray().fill(0.5);
    const target: number[] = fft.createComplexArray();
    const peer = await medianOf(async (repeats) => {
      for (let n = 0; n < repeats * (total / length); n++) fft.transform(target, source);
    });
    yield row('fft.js', 'double precision, one thread', peer);
  }
}

function precisionOf({ problem }: Plan): 'single' | 'double' {
  return problem.precision === 'single' ? 'single' : 'double';
}

/** Milliseconds that the launches of a plan take, as the device itself counts them. */
async function onDevice(plan: Plan, direction: 'forward' | 'inverse'): Promise<number | undefined> {
  const { measure } = plan as { measure?: (direction: string, options: { repeats: number }) => Promise<number> };
  return measure?.call(plan, direction, { repeats: 20 });
}

/** Median milliseconds of one execution; each sample as long as the page's clock asks for. */
async function medianOf(run: (repeats: number) => Promise<void>): Promise<number> {
  const least = leastMilliseconds();
  const elapsed = async (repeats: number) => {
    const start = performance.now();
    await run(repeats);
    return performance.now() - start;
  };
  const samples: number[] = [];
  let repeats = 1;
  for (const end = performance.now() + BUDGET_MILLISECONDS; samples.length < 5 || performance.now() < end; ) {
    const sample = await repeated(repeats, least, elapsed);
    repeats = sample.repeats;
    samples.push(sample.milliseconds);
    // The page lives meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return samples.sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
}
