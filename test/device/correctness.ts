/** Results of a device against the double-double reference, the CPU device in double precision, and closed forms. */
import { type ComplexData, type Device, openDevice, type Plan, type ProblemInput } from '../../src/index.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import { type Random, uniform } from '../support/random.ts';
import { modesOf, tryPlan } from '../support/transforms.ts';

type Precision = 'single' | 'double';

export interface Verdict {
  readonly what: string;
  readonly error: number;
  readonly allowed: number;
  readonly damage: readonly string[];
}

export function failed({ error, allowed, damage }: Verdict): boolean {
  return !(error <= allowed) || damage.length > 0;
}

/** Both directions, in one of the ways to call each. */
export async function checkSmall(device: Device, problem: ProblemInput, random: Random): Promise<Verdict[]> {
  const plan = await device.plan(problem);
  const verdicts: Verdict[] = [];
  try {
    for (const direction of plan.directions) {
      const mode = random.pick(modesOf(device));
      const { error, allowed, damage } = await tryPlan(device, plan, random, { direction, mode });
      verdicts.push({ what: `${text(problem)} ${direction} ${mode}`, error, allowed, damage });
    }
  } finally {
    plan.destroy();
  }
  return verdicts;
}

/** Forward against the CPU device; then back again, against the input. */
export async function checkLarge(
  device: Device,
  cpu: Device,
  problem: ProblemInput,
  precision: Precision,
  random: Random,
): Promise<Verdict[]> {
  const plan = await device.plan({ ...problem, precision });
  const exact = await cpu.plan({ ...problem, precision: 'double', directions: 'forward' });
  try {
    const inPlace = plan.problem.placement === 'in-place';
    const points = plan.problem.size.reduce((a, b) => a * b, 1);
    const allowed = tolerance(precision, points);
    const input = make(plan, 'input', precision, random);
    const original = flat(input);
    const output = (await plan.forward(input, inPlace ? input : undefined)) as ComplexData;
    const wide = widened(input, original);
    const expected = (await exact.forward(wide, inPlace ? wide : undefined)) as ComplexData;
    const error = relativeError(flat(output), flat(expected));
    const back = (await plan.inverse(output, inPlace ? output : undefined)) as ComplexData;
    // Two transforms, each with an error of its own.
    const round = relativeError(
      flat(back),
      original.map((value) => value * points),
    );
    return [
      { what: `${text(problem)} ${precision} forward`, error, allowed, damage: [] },
      { what: `${text(problem)} ${precision} and back`, error: round, allowed: 2 * allowed, damage: [] },
    ];
  } finally {
    plan.destroy();
    exact.destroy();
  }
}

/** An impulse becomes an exponential and an exponential an impulse; N long, at a random place. */
export async function checkClosedForms(
  device: Device,
  length: number,
  precision: Precision,
  random: Random,
): Promise<Verdict[]> {
  const plan = await device.plan({ size: [length], precision, directions: 'forward' });
  try {
    const place = random.integer(0, length - 1);
    const wave = (sign: number) => {
      const data = array(2 * length, precision);
      for (let k = 0; k < length; k++) {
        const angle = (sign * 2 * Math.PI * ((k * place) % length)) / length;
        data[2 * k] = Math.cos(angle);
        data[2 * k + 1] = Math.sin(angle);
      }
      return data;
    };
    const impulse = array(2 * length, precision);
    impulse[2 * place] = 1;
    const peak = new Float64Array(2 * length);
    peak[2 * place] = length;
    const allowed = tolerance(precision, length);
    const verdict = async (
      what: string,
      data: Float32Array | Float64Array,
      expected: ArrayLike<number>,
      most: number,
    ) => ({
      what: `${what} of ${length} ${precision}`,
      error: relativeError(await plan.forward<Float32Array | Float64Array>(data), expected),
      allowed: most,
      damage: [],
    });
    return [
      await verdict('impulse', impulse, wave(-1), allowed),
      // The wave itself was rounded, and so were the angles it was made from.
      await verdict('exponential', wave(1), peak, 3 * allowed),
    ];
  } finally {
    plan.destroy();
  }
}

/** The CPU device that large results are compared with. */
export function openReference(): Promise<Device> {
  return openDevice('cpu', { threads: 1 });
}

function text(problem: ProblemInput): string {
  return JSON.stringify(problem).replaceAll('"', '');
}

function array(reals: number, precision: Precision): Float32Array | Float64Array {
  return precision === 'single' ? new Float32Array(reals) : new Float64Array(reals);
}

function make(plan: Plan, side: 'input' | 'output', precision: Precision, random: Random): ComplexData {
  const { length } = plan[side];
  const part = (reals: number) => {
    const data = array(reals, precision);
    data.set(uniform(random, reals, precision));
    return data;
  };
  return plan.problem.layout[side] === 'planar' ? { re: part(length), im: part(length) } : part(2 * length);
}

/** A copy of all numbers, in double precision. */
function flat(data: ComplexData): Float64Array {
  if (!('re' in data)) return Float64Array.from(data as Float32Array);
  return Float64Array.from([data.re, data.im].flatMap((plane) => [...(plane as Float32Array)]));
}

/** The numbers that `flat` has read out of `like`, as data of the same kind in double precision. */
function widened(like: ComplexData, values: Float64Array): ComplexData {
  if (!('re' in like)) return values.slice();
  const half = values.length / 2;
  return { re: values.slice(0, half), im: values.slice(half) };
}
