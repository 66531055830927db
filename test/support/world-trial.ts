/** Random transforms by the ranks of a world, against the result of one device. Runs in every rank, with the same random numbers. */
import type { Device } from '../../src/engine/index.ts';
import {
  bricksOfRank,
  normalizeWorldProblem,
  type SharedTensor,
  type WorldProblemInput,
} from '../../src/problem/world/index.ts';
import type { World, WorldPlan } from '../../src/world/index.ts';
import { tolerance } from './accuracy.ts';
import type { Random } from './random.ts';
import { eachElement } from './world.ts';

type Numbers = Float32Array | Float64Array;

/** What is wrong with the result of a transform: nothing, mostly. */
export interface Trial {
  readonly what: string;
  readonly error: number;
  readonly allowed: number;
  /** Elements that were written outside of bricks, or not written at all. */
  readonly damage: readonly string[];
}

const POISON = 12345.678;

/** Numbers of a rank out of a whole tensor; what is in no brick is poisoned. */
function partOf(whole: Numbers, tensor: SharedTensor, rank: number, length: number): Numbers {
  const part = new (whole.constructor as Float64ArrayConstructor)(length).fill(POISON);
  const words = tensor.elements === 'real' ? 1 : 2;
  for (const brick of bricksOfRank(tensor, rank)) {
    eachElement(brick, tensor.shape, (index, place) => {
      for (let k = 0; k < words; k++) part[place * words + k] = whole[index * words + k]!;
    });
  }
  return part;
}

/** The difference of what a rank has from a whole tensor: its square, and that of the tensor. */
function compare(
  part: Numbers,
  whole: Numbers,
  tensor: SharedTensor,
  rank: number,
): { square: number; damage: string[] } {
  const words = tensor.elements === 'real' ? 1 : 2;
  const inBricks = new Uint8Array(part.length);
  let square = 0;
  for (const brick of bricksOfRank(tensor, rank)) {
    eachElement(brick, tensor.shape, (index, place) => {
      for (let k = 0; k < words; k++) {
        square += (part[place * words + k]! - whole[index * words + k]!) ** 2;
        inBricks[place * words + k] = 1;
      }
    });
  }
  const poison = part instanceof Float32Array ? Math.fround(POISON) : POISON;
  const damage = [...part.keys()].filter((n) => !inBricks[n] && part[n] !== poison);
  return { square, damage: damage.slice(0, 3).map((n) => `rank ${rank} has written ${n}, which is in no brick`) };
}

function squareOf(whole: Numbers): number {
  let sum = 0;
  for (const value of whole) sum += value * value;
  return sum;
}

/** How a plan is called with host arrays, one for each rank held here. */
export type Call = (
  plan: WorldPlan,
  direction: 'forward' | 'inverse',
  read: readonly Numbers[],
  written: readonly Numbers[],
) => Promise<unknown>;

/** Both directions of a problem, whose input is the same on all ranks. */
export async function triedOnWorld(
  world: World,
  input: WorldProblemInput,
  random: Random,
  alone: Device,
  call: Call = (plan, direction, read, written) => plan[direction](read, written),
): Promise<Trial[]> {
  const problem = normalizeWorldProblem(input, world.size);
  const { size, transform, batches, normalize, precision, zeroPadding, scale } = input;
  const one = await alone.plan({ size, transform, batches, normalize, precision, zeroPadding, scale } as never);
  const Class = precision === 'double' ? Float64Array : Float32Array;
  const wholeOf = (side: 'input' | 'output') => {
    const { length } = one[side];
    const reals = transform === 'r2c' && side === 'input' ? length : 2 * length;
    const whole = new Class(reals);
    for (let n = 0; n < reals; n++) whole[n] = 2 * random.unit() - 1;
    return whole;
  };
  const plan = await world.plan(input);
  const output = problem.output === 'any' ? undefined : problem.output;
  const trials: Trial[] = [];
  for (const direction of ['forward', 'inverse'] as const) {
    const [from, to] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    const tensors = { input: problem.input, output: output ?? plan.outputTensor };
    const whole = wholeOf(from);
    // Bins of reals that have no counterpart would make results of one device ambiguous: take those of real numbers.
    if (direction === 'inverse' && transform === 'r2c') {
      whole.set(
        (await (one.forward as unknown as (x: Numbers) => Promise<unknown>).call(one, wholeOf('input'))) as Numbers,
      );
    }
    // What one device does not touch, ranks do not either.
    const expected = new Class(wholeOf(to).length).fill(POISON);
    await (one[direction] as unknown as (x: Numbers, y: Numbers) => Promise<unknown>).call(
      one,
      whole.slice(),
      expected,
    );
    const read = plan[from].parts.map(({ rank, length }) => partOf(whole, tensors[from], rank, length));
    const kept = read.map((part) => part.slice());
    const written = plan[to].parts.map(({ length }) => new Class(length).fill(POISON));
    await call(plan, direction, read, written);
    let square = 0;
    const damage: string[] = [];
    plan[to].parts.forEach(({ rank }, n) => {
      const difference = compare(written[n]!, expected, tensors[to], rank);
      square += difference.square;
      damage.push(...difference.damage);
      if (read[n]!.some((value, k) => value !== kept[n]![k])) damage.push(`rank ${rank} has changed what it read`);
    });
    const points = size.reduce((a, b) => a * b, 1);
    const unit = input.wire === 'half' ? 2 ** -11 * 4 : 0;
    const allowed = 12 * tolerance(precision === 'double' ? 'double' : 'single', points) + unit;
    const name = `${direction} of ${world.size} ranks ${JSON.stringify(input)} by ${plan.toJSON().chosen.name}`;
    trials.push({ what: name, error: Math.sqrt(square / Math.max(squareOf(expected), 1e-300)), allowed, damage });
  }
  one.destroy();
  plan.destroy();
  return trials;
}
