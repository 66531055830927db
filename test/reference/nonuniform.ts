/** Non-uniform transforms by direct sums. The angles are exact to 2⁻⁵³ of a turn, however large the products of coordinates are. */
import { ddAdd, ddMul, productError } from '../../src/numeric/double-double/doubledouble.ts';

/** 1/(2π), as hi and lo. */
const TURN = [0.15915494309189535, -9.839338337591243e-18] as const;

/** What a transform of some type reads and writes. Points and frequencies by axis, modes of each axis. */
export interface DirectProblem {
  readonly type: 1 | 2 | 3;
  readonly modes: readonly number[];
  readonly sign: 1 | -1;
  readonly modeOrd: 0 | 1;
  readonly x: readonly ArrayLike<number>[];
  readonly s: readonly ArrayLike<number>[];
}

/** @param input complex numbers, re, im … */
export function directSums(problem: DirectProblem, input: ArrayLike<number>): Float64Array {
  const { type, modes, x, s, sign } = problem;
  const all = modes.reduce((product, count) => product * count, 1);
  const points = vectorsOf(x);
  const others = type === 3 ? vectorsOf(s) : Array.from({ length: all }, (_, n) => frequencyOf(n, problem));
  const [from, to] = type === 2 ? [others, points] : [points, others];
  const output = new Float64Array(2 * to.length);
  to.forEach((goal, n) => {
    let [re, im] = [0, 0];
    from.forEach((source, m) => {
      const angle = 2 * Math.PI * sign * turnsOf(source, goal);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      re += input[2 * m]! * cos - input[2 * m + 1]! * sin;
      im += input[2 * m]! * sin + input[2 * m + 1]! * cos;
    });
    output[2 * n] = re;
    output[2 * n + 1] = im;
  });
  return output;
}

function vectorsOf(axes: readonly ArrayLike<number>[]): number[][] {
  return Array.from(axes[0] ?? [], (_, n) => axes.map((axis) => axis[n]!));
}

function frequencyOf(mode: number, { modes, modeOrd }: DirectProblem): number[] {
  let rest = mode;
  return modes.map((count) => {
    const at = rest % count;
    rest = (rest - at) / count;
    const below = Math.floor(count / 2);
    return modeOrd === 0 ? at - below : at < count - below ? at : at - count;
  });
}

const sum = new Float64Array(2);
const term = new Float64Array(2);

/** Their scalar product in turns, between −½ and ½. */
function turnsOf(a: readonly number[], b: readonly number[]): number {
  sum.fill(0);
  for (let axis = 0; axis < a.length; axis++) {
    const product = a[axis]! * b[axis]!;
    ddMul(term, 0, product, productError(a[axis]!, b[axis]!, product), TURN[0], TURN[1]);
    ddAdd(sum, 0, sum[0]!, sum[1]!, term[0]!, term[1]!);
  }
  const whole = Math.round(sum[0]!);
  return sum[0]! - whole + sum[1]!;
}
