/** Inner products ⟨x, y⟩ over the real numbers of tensors, which adjoints are held against. */
import { blocksOf, type Problem, type Side, tensorShape } from '../../src/problem/index.ts';
import { memoryPlace } from '../../src/problem/layout/split-axis.ts';
import { fromHalf, toHalf } from './halves.ts';
import { type Random, uniform } from './random.ts';

export type Numbers = Float32Array | Float64Array | Uint16Array;
export type Arrays = Numbers | { readonly re: Numbers; readonly im: Numbers };

interface PlanSide {
  readonly length: number;
  readonly bytes: number;
}

/** A side of a problem, and what a plan says of its memory. */
export interface Tensor {
  readonly problem: Problem;
  readonly side: Side;
  readonly memory: PlanSide;
}

const REAL_BYTES = { half: 2, single: 4, double: 8, 'double-double': 16 } as const;

function isComplex({ problem, memory }: Tensor): boolean {
  return memory.bytes / memory.length === 2 * REAL_BYTES[problem.edgeStorage];
}

/** Arrays for one side, of what `fill` makes of the count of their numbers. */
function arraysFor(tensor: Tensor, fill: (count: number) => Numbers): Arrays {
  const { problem, side, memory } = tensor;
  const words = problem.edgeStorage === 'double-double' ? 2 : 1;
  const complex = isComplex(tensor);
  if (complex && problem.layout[side] === 'planar') {
    return { re: fill(words * memory.length), im: fill(words * memory.length) };
  }
  return fill(words * memory.length * (complex ? 2 : 1));
}

/** Random numbers everywhere, in gaps and blocks of zeros too. */
export function randomArrays(random: Random, tensor: Tensor): Arrays {
  return arraysFor(tensor, (count) => {
    const values = uniform(random, count);
    switch (tensor.problem.edgeStorage) {
      case 'half':
        return Uint16Array.from(values, toHalf);
      case 'single':
        return Float32Array.from(values);
      case 'double':
        return values;
      default:
        return values.map((value, n) => (n % 2 ? value * 2 ** -54 : value));
    }
  });
}

/** Arrays of NaN. */
export function poisonedArrays(tensor: Tensor): Arrays {
  return arraysFor(tensor, (count) => {
    switch (tensor.problem.edgeStorage) {
      case 'half':
        return new Uint16Array(count).fill(0x7e00);
      case 'single':
        return new Float32Array(count).fill(Number.NaN);
      default:
        return new Float64Array(count).fill(Number.NaN);
    }
  });
}

export function copyOf(data: Arrays): Arrays {
  return 're' in data ? { re: data.re.slice(), im: data.im.slice() } : data.slice();
}

/** The reals of a tensor, each as the words that make it up; those in blocks of zeros are left out. */
export function realsOf(data: Arrays, tensor: Tensor): number[][] {
  const { problem, side } = tensor;
  const complex = isComplex(tensor);
  const words = problem.edgeStorage === 'double-double' ? 2 : 1;
  const value = (array: Numbers, at: number) =>
    array instanceof Uint16Array
      ? [fromHalf(array[at]!)]
      : Array.from({ length: words }, (_, n) => array[words * at + n]!);
  return placesOf(problem, side).flatMap((at) => {
    if ('re' in data) return [value(data.re, at), value(data.im, at)];
    return complex ? [value(data, 2 * at), value(data, 2 * at + 1)] : [value(data, at)];
  });
}

/** Where the elements of a side lie that are in no block of zeros. */
function placesOf(problem: Problem, side: Side): number[] {
  const shape = tensorShape(problem, side);
  const blocks = blocksOf(problem, side);
  let all: number[][] = [[]];
  for (const [d, count] of shape.entries()) {
    const block = blocks[d - 1];
    const indices = Array.from({ length: count }, (_, n) => n).filter((n) => !block || n < block.from || n >= block.to);
    all = all.flatMap((index) => indices.map((n) => [...index, n]));
  }
  return all.map((index) => memoryPlace(problem, side, index));
}

/** Fixed point, 200 bits behind the point: no double-double that a test makes is rounded. */
const POINT = 200n;

function fixed(value: number): bigint {
  if (value === 0) return 0n;
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no number to sum up`);
  const exponent = Math.floor(Math.log2(Math.abs(value))) - 60;
  const shift = POINT + BigInt(exponent);
  const digits = BigInt(Math.round(value * 2 ** -exponent));
  return shift >= 0n ? digits << shift : digits >> -shift;
}

type Reals = readonly (readonly number[])[];

/** ⟨a, b⟩; of double-doubles in fixed point. */
export function innerProduct(a: Reals, b: Reals): bigint | number {
  if (a.length !== b.length) throw new RangeError(`${a.length} numbers and ${b.length}`);
  if (a[0]!.length === 1) return a.reduce((sum, [value], n) => sum + value! * b[n]![0]!, 0);
  const exact = (words: readonly number[]) => words.reduce((sum, word) => sum + fixed(word), 0n);
  return a.reduce((sum, words, n) => sum + exact(words) * exact(b[n]!), 0n);
}

/** |⟨Ax, y⟩ − ⟨x, A*y⟩| over |Ax|·|y|. */
export function adjointError(image: Reals, y: Reals, x: Reals, cotangent: Reals): number {
  const size = (all: Reals) => Math.sqrt(toNumber(innerProduct(all, all)));
  const [one, other] = [innerProduct(image, y), innerProduct(x, cotangent)];
  const difference = typeof one === 'bigint' ? one - (other as bigint) : one - (other as number);
  return Math.abs(toNumber(difference)) / Math.max(size(image) * size(y), Number.MIN_VALUE);
}

function toNumber(value: bigint | number): number {
  if (typeof value === 'number') return value;
  // Of the bits behind the first 200 none counts that a double has.
  return Number(value >> POINT) * 2 ** -200 + Number(value & ((1n << POINT) - 1n)) * 2 ** -400;
}
