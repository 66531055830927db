/** How exact and how fast: errors against double precision, times beside fft.js. */
import FFT from 'fft.js';
import type { Plan } from 'omnifft';
import { leastMilliseconds, repeatUntilLong } from '../../src/devices/clock.ts';
import { nextFastLength } from '../../src/engine/fast-length.ts';
import { logicalLength } from '../../src/problem/index.ts';
import type { Planned, Session } from './session.ts';
import { type Arrays, arraysFor, doubled, fill, isReal, listOf } from './tensor.ts';

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
  const roundoff = single ? 2 ** -24 : 2 ** -53;
  const bound = (isConvolved(plan) ? 5 : 1) * 1.2 * roundoff * Math.sqrt(1 + Math.log2(transformedPoints(plan)));
  // Numbers that are put in for bins are not the bins of real numbers: there is no way back to them.
  if (single || (direction === 'inverse' && isReal(plan, 'input'))) {
    const reference = await session.reference(plan, direction);
    try {
      const expected = await reference[direction](doubled(input));
      const against = single ? 'a double-precision plan' : 'another plan';
      return { error: relative(listOf(result), listOf(expected as Arrays)), bound, against };
    } finally {
      reference.destroy();
    }
  }
  const back = await session.reference(plan, 'both');
  try {
    const again = await back[direction === 'forward' ? 'inverse' : 'forward'](doubled(result));
    const { scale, normalize } = plan.problem;
    const factor = scale.forward * scale.inverse * (normalize ? 1 : transformedPoints(plan));
    const there = isReal(plan, 'input') ? elementsOf(plan) : undefined;
    const scaled = listOf(again as Arrays).map((values) =>
      values.map((value, k) => (there?.[k] === 0 ? 0 : value / factor)),
    );
    return { error: relative(scaled, listOf(input)), bound: 2 * bound, against: 'itself, there and back' };
  } finally {
    back.destroy();
  }
}

/** 1 where a real input has an element, 0 in between: in place, there is room for bins behind each line. */
function elementsOf(plan: Plan): Float64Array {
  const marks = arraysFor(plan, 'input', 'double') as Float64Array;
  fill(plan, 'input', marks, { samples: () => 1, separable: false, window: () => undefined });
  return marks;
}

/** ‖actual − expected‖ / ‖expected‖. Gaps between strided elements are zeros on both sides. */
function relative(actual: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): number {
  let error = 0;
  let norm = 0;
  expected.forEach((values, part) => {
    for (let k = 0; k < values.length; k++) {
      const wanted = values[k] ?? 0;
      error += ((actual[part]?.[k] ?? Number.NaN) - wanted) ** 2;
      norm += wanted ** 2;
    }
  });
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
  const real = isReal(plan, 'input');
  // Real numbers take half the work.
  const operations = (real ? 2.5 : 5) * total * Math.log2(points);
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
  const hasPeer = ['c2c', 'r2c'].includes(problem.transform[0] ?? '') && problem.size.length === 1 && !problem.omit[0];
  if (hasPeer && length >= 2 && Number.isInteger(Math.log2(length))) {
    const fft = new FFT(length);
    const target: number[] = fft.createComplexArray();
    const source: number[] = target.slice(0, real ? length : 2 * length).fill(0.5);
    const peer = await medianOf(async (repeats) => {
      for (let n = 0; n < repeats * (total / length); n++) {
        if (real) fft.realTransform(target, source);
        else fft.transform(target, source);
      }
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
    const sample = await repeatUntilLong(repeats, least, elapsed);
    repeats = sample.repeats;
    samples.push(sample.milliseconds);
    // The page lives meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return samples.sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
}
