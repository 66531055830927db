/** What makes a transform a Fourier transform, with no reference at all. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, Direction, Plan } from '../../src/index.ts';
import { unitRoot } from '../reference/roots.ts';
import { elementsOf } from '../reference/transform.ts';
import { relativeError, tolerance } from '../support/accuracy.ts';
import { variedDevices } from '../support/devices.ts';
import { type Configuration, configurations } from '../support/problems.ts';
import { randomFor, seedFor, uniform } from '../support/random.ts';
import { exhaustive, precisionsOf, transformedPoints, tryPlan } from '../support/transforms.ts';

const random = randomFor('properties/algebra');
const runs = exhaustive ? 4000 : 40;
const patience = exhaustive ? 3_600_000 : 60_000;

let devices: Device[];
beforeAll(async () => {
  devices = await variedDevices(random, exhaustive ? 12 : 5);
});
afterAll(() => {
  for (const device of devices) device.close();
});

/** A plan with what the properties need. */
interface Subject {
  readonly plan: Plan;
  readonly direction: Direction;
  readonly elements: number;
  readonly points: number;
  /** Error of one transform that is allowed. */
  readonly allowed: number;
  apply(packed: Float64Array, direction?: Direction): Promise<Float64Array>;
  signal(): Float64Array;
}

/** Checks a property of problems without factors on their results, planned for both directions. */
async function holds(name: string, property: (subject: Subject) => Promise<void>): Promise<void> {
  const unscaled = configurations(2500).map(({ input, ...rest }): Configuration => {
    return { ...rest, input: { ...input, directions: 'both', normalize: false, scale: { forward: 1, inverse: 1 } } };
  });
  await fc.assert(
    fc.asyncProperty(unscaled, fc.boolean(), async ({ input, device, mode }, forward) => {
      const chosen = devices[device % devices.length] as Device;
      fc.pre(precisionsOf(chosen).some((precision) => precision === input.precision));
      const plan = await chosen.plan(input);
      const { problem } = plan;
      const precision = problem.precision === 'single' ? 'single' : 'double';
      const elements = elementsOf(problem);
      const points = transformedPoints(problem);
      const direction = forward ? 'forward' : 'inverse';
      const unknown = { hi: new Float64Array(2 * elements), lo: new Float64Array(2 * elements) };
      await property({
        plan,
        direction,
        elements,
        points,
        allowed: tolerance(precision, points),
        apply: async (data, way = direction) =>
          (await tryPlan(chosen, plan, random, { direction: way, mode, data, expected: unknown })).result,
        signal: () => uniform(random, 2 * elements, precision),
      });
      plan.destroy();
    }),
    { seed: seedFor(`properties/algebra/${name}`) | 0, numRuns: runs },
  );
}

/** The sum of all squares, with what each addition loses added up too (Neumaier). */
function energy(values: Float64Array): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const square = value * value;
    const next = sum + square;
    lost += sum >= square ? sum - next + square : square - next + sum;
    sum = next;
  }
  return sum + lost;
}

/** The coordinates of a packed element along the axes. */
function coordinatesOf({ problem }: Plan, element: number): number[] {
  let rest = Math.floor(element / problem.leftBatches);
  return problem.size.map((length) => {
    const k = rest % length;
    rest = Math.floor(rest / length);
    return k;
  });
}

/** e^{∓2πi·Σ j_a·k_a/N_a} over the transformed axes. */
function wave({ plan, direction }: Subject): (j: readonly number[], k: readonly number[]) => [number, number] {
  const { size, omit } = plan.problem;
  const all = size.reduce((product, length, axis) => (omit[axis] ? product : product * length), 1);
  const roots = unitRoot(all);
  const out = new Float64Array(4);
  return (j, k) => {
    let turn = 0;
    size.forEach((length, axis) => {
      if (!omit[axis]) turn += (((j[axis] as number) * (k[axis] as number)) % length) * (all / length);
    });
    roots.at(turn % all, out);
    return [out[0] as number, direction === 'forward' ? (out[2] as number) : -(out[2] as number)];
  };
}

describe('every transform', () => {
  it(
    'is linear',
    async () => {
      await holds('linearity', async ({ apply, signal, allowed }) => {
        const [x, y] = [signal(), signal()];
        // Powers of two scale without rounding, so that the sum is what the sum of the signals is.
        const sum = x.map((value, i) => (value + (y[i] as number)) / 2);
        const exact = sum
          .map((value, i) => value * 2 - (x[i] as number) - (y[i] as number))
          .every((rest) => rest === 0);
        const [ofX, ofY, ofSum] = [await apply(x), await apply(y), await apply(sum)];
        const combined = ofX.map((value, i) => (value + (ofY[i] as number)) / 2);
        // Each of three transforms has its error, relative to itself; the signals are of the same size.
        const size = (values: Float64Array) => Math.sqrt(energy(values));
        const error = relativeError(ofSum, combined) * size(combined);
        const rounding = exact ? 0 : allowed;
        const most = allowed * (size(ofSum) + size(ofX) / 2 + size(ofY) / 2) + rounding * size(ofSum);
        expect(error).toBeLessThanOrEqual(most);
      });
    },
    patience,
  );

  it(
    'turns an impulse into a wave, in its own batch only',
    async () => {
      await holds('impulse', async (subject) => {
        const { plan, apply, elements, allowed } = subject;
        const at = random.integer(0, elements - 1);
        const impulse = new Float64Array(2 * elements);
        impulse[2 * at] = 1;
        const result = await apply(impulse);
        const { omit } = plan.problem;
        const place = coordinatesOf(plan, at);
        const waveAt = wave(subject);
        const expected = new Float64Array(2 * elements);
        const { leftBatches } = plan.problem;
        const inside = leftBatches * place.length > 0 ? elementsOf({ size: plan.problem.size, leftBatches }) : 0;
        for (let element = 0; element < elements; element++) {
          const sameBatch =
            element % leftBatches === at % leftBatches && Math.floor(element / inside) === Math.floor(at / inside);
          const k = coordinatesOf(plan, element);
          if (!sameBatch || k.some((value, axis) => omit[axis] && value !== place[axis])) continue;
          [expected[2 * element], expected[2 * element + 1]] = waveAt(place, k);
        }
        expect(relativeError(result, expected)).toBeLessThanOrEqual(allowed);
        // Zeros stay zeros: nothing leaks from one transform into another.
        expect(
          result.every((value, i) => expected[i - (i % 2)] !== 0 || expected[i - (i % 2) + 1] !== 0 || value === 0),
        ).toBe(true);
      });
    },
    patience,
  );

  it(
    'turns a shift into a wave',
    async () => {
      await holds('shift', async (subject) => {
        const { plan, apply, signal, elements, allowed } = subject;
        const { size, omit, leftBatches } = plan.problem;
        const shift = size.map((length, axis) => (omit[axis] ? 0 : random.integer(0, length - 1)));
        const x = signal();
        const shifted = new Float64Array(x.length);
        for (let element = 0; element < elements; element++) {
          let to = element;
          let stride = leftBatches;
          coordinatesOf(plan, element).forEach((k, axis) => {
            const length = size[axis] as number;
            to += (((k + (shift[axis] as number)) % length) - k) * stride;
            stride *= length;
          });
          shifted[2 * to] = x[2 * element] as number;
          shifted[2 * to + 1] = x[2 * element + 1] as number;
        }
        const waveAt = wave(subject);
        const expected = await apply(x);
        for (let element = 0; element < elements; element++) {
          const [c, s] = waveAt(shift, coordinatesOf(plan, element));
          const [re, im] = [expected[2 * element] as number, expected[2 * element + 1] as number];
          expected[2 * element] = re * c - im * s;
          expected[2 * element + 1] = re * s + im * c;
        }
        // Both transforms err, and in double precision so does the product here.
        expect(relativeError(await apply(shifted), expected)).toBeLessThanOrEqual(2 * allowed + 2 ** -52);
      });
    },
    patience,
  );

  it(
    'keeps energy (Parseval)',
    async () => {
      await holds('parseval', async ({ apply, signal, points, allowed }) => {
        const x = signal();
        const ratio = Math.sqrt(energy(await apply(x)) / energy(x) / points);
        expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(allowed + 2 ** -51);
      });
    },
    patience,
  );

  it(
    'is undone by the other direction',
    async () => {
      await holds('round trip', async ({ apply, signal, points, direction, allowed }) => {
        const x = signal();
        const back = await apply(await apply(x), direction === 'forward' ? 'inverse' : 'forward');
        expect(
          relativeError(
            back,
            x.map((value) => value * points),
          ),
        ).toBeLessThanOrEqual(2 * allowed + 2 ** -52);
      });
    },
    patience,
  );
});
