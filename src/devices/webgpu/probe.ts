/**
 * The probe of double-word arithmetic: whether doubles stored as two singles keep their digits on a device. Compilers of WGSL may contract and
 * reorder operations and do not say so. A kernel shows it: its results lose more than half of their digits if double-word arithmetic breaks.
 */
import { inDoubleWords } from '../../emit/double-word/index.ts';
import { type ArrayRef, Expressions, type Kernel, type Real, variable } from '../../ir/index.ts';
import type { Backend, Binding } from '../device.ts';

/** The number of items, one for each thread, so that operations are in no loop: some compilers optimize less inside a loop. */
const ITEMS = 64;

const VALUES = ['a', 'b', 'c'] as const;

/** An operation on pairs, and the same operation on doubles. */
interface TriedOperation {
  readonly name: string;
  readonly of: (x: Expressions, a: Real, b: Real, c: Real) => Real;
  readonly is: (a: number, b: number, c: number) => number;
}

type Binary = readonly [
  name: string,
  of: (x: Expressions, a: Real, b: Real) => Real,
  is: (a: number, b: number) => number,
];

/** The operations on two numbers that callbacks can use. */
const BINARY: readonly Binary[] = [
  ['add', (x, a, b) => x.add(a, b), (a, b) => a + b],
  ['sub', (x, a, b) => x.sub(a, b), (a, b) => a - b],
  ['mul', (x, a, b) => x.mul(a, b), (a, b) => a * b],
  ['div', (x, a, b) => x.div(a, b), (a, b) => a / b],
  ['min', (x, a, b) => x.min(a, b), Math.min],
  ['max', (x, a, b) => x.max(a, b), Math.max],
  ['select', (x, a, b) => x.select('less', a, b, x.neg(a), b), (a, b) => (a < b ? -a : b)],
];

/** Constant operands: 5 and 1.5 are singles, 5 too far from the values for an exact difference and 1.5 among them; 4/3 has a low part. */
const CONSTANTS = [5, 1.5, 4 / 3] as const;

/** The operations with the first, the second or no operand constant. */
const ONE_BY_ONE: readonly TriedOperation[] = BINARY.flatMap(([name, of, is]) => [
  { name, of: (x, a, b) => of(x, a, b), is: (a, b) => is(a, b) },
  ...CONSTANTS.flatMap((value): TriedOperation[] => [
    { name: `${name} of ${value} and a`, of: (x, a) => of(x, x.constant(value), a), is: (a) => is(value, a) },
    { name: `${name} of a and ${value}`, of: (x, a) => of(x, a, x.constant(value)), is: (a) => is(a, value) },
  ]),
]);

/** All probed operations on three values. None cancels more than a few bits. */
export const TRIED: readonly TriedOperation[] = [
  ...ONE_BY_ONE,
  { name: 'neg', of: (x, a, b) => x.mul(x.neg(a), b), is: (a, b) => -a * b },
  {
    name: 'abs',
    of: (x, a) => x.add(x.constant(0.5), x.abs(x.sub(a, x.constant(1.5)))),
    is: (a) => 0.5 + Math.abs(a - 1.5),
  },
  { name: 'sqrt', of: (x, a) => x.sqrt(a), is: (a) => Math.sqrt(a) },
  {
    name: 'sub of div',
    of: (x, a, b) => x.sub(x.div(a, x.constant(3)), x.div(x.constant(3), b)),
    is: (a, b) => a / 3 - 3 / b,
  },
  {
    name: 'a b + c − a c',
    of: (x, a, b, c) => x.sub(x.add(x.mul(a, b), c), x.mul(a, c)),
    is: (a, b, c) => a * b + c - a * c,
  },
  {
    name: 'a − b + a / 3',
    of: (x, a, b) => x.add(x.sub(a, b), x.mul(a, x.constant(1 / 3))),
    is: (a, b) => a - b + a * (1 / 3),
  },
  {
    name: '(a + b) (b − c) + c²',
    of: (x, a, b, c) => x.add(x.mul(x.add(a, b), x.sub(b, c)), x.mul(c, c)),
    is: (a, b, c) => (a + b) * (b - c) + c * c,
  },
  { name: '(a + c) / b', of: (x, a, b, c) => x.div(x.add(a, c), b), is: (a, b, c) => (a + c) / b },
];

/** The largest allowed error. Results and intermediate values are a few units large, so broken arithmetic is off by about 2^−24. */
const ALLOWED = 2 ** -41;

/** The kernel of the probe, in doubles. */
function probeKernel(): Kernel {
  const array = (name: string): ArrayRef => ({ name, space: 'global', type: 'f64' });
  const [values, results] = [array('values'), array('results')];
  const x = new Expressions();
  const item = variable('item', ITEMS);
  const at = (n: number, count: number) => ({ constant: n, terms: [{ atom: item, factor: count }] });
  const [a, b, c] = VALUES.map((_, n) => x.load(values, at(n, VALUES.length))) as [Real, Real, Real];
  const stores = TRIED.map(({ of }, n) => ({ array: results, index: at(n, TRIED.length), value: of(x, a, b, c) }));
  return {
    ...{ name: 'pairs', precision: 'f64', group: variable('group', 1), threads: ITEMS },
    ...{ globals: [values, results], tables: [], shared: [] },
    phases: [{ loops: [{ variable: item }], lanes: item, stores, repeatable: true, exchange: 'group' }],
  };
}

/** Numbers of many bits from 1 to 2, as hi + lo, in an unrelated order. */
function probeNumbers(count: number): { readonly doubles: Float64Array; readonly pairs: Float32Array } {
  const doubles = Float64Array.from({ length: count }, (_, n) => 1 + (((n + 1) * Math.SQRT1_2 * 61.8) % 1));
  const pairs = new Float32Array(2 * count);
  doubles.forEach((value, n) => {
    pairs[2 * n] = value;
    pairs[2 * n + 1] = value - pairs[2 * n]!;
    doubles[n] = pairs[2 * n]! + pairs[2 * n + 1]!;
  });
  return { doubles, pairs };
}

/** Whether the results of a kernel in pairs have all the digits of a double of two singles. @throws FftError as launches do */
export async function pairsSurvive(backend: Backend): Promise<boolean> {
  return (await pairErrors(backend)).every((error) => error <= ALLOWED);
}

/** The largest error of each probed operation; NaN if a result is no number. @throws FftError as launches do */
export async function pairErrors(backend: Backend): Promise<number[]> {
  const kernel = backend.compile(inDoubleWords(probeKernel(), 'f32', backend.pairForm ?? {}));
  const { doubles, pairs } = probeNumbers(VALUES.length * ITEMS);
  const found = new Float32Array(2 * TRIED.length * ITEMS);
  const [input, output] = [backend.allocate(pairs.byteLength), backend.allocate(found.byteLength)];
  try {
    await backend.warmUp([kernel]);
    const [from, to] = [input, output].map((buffer): Binding => ({ buffer, byteOffset: 0 })) as [Binding, Binding];
    const slots = [0, 1].map((slot) => ({ slot, byteOffset: 0 }));
    const program = backend.bind([{ kernel, arguments: slots }], [from, to]);
    await Promise.all([backend.upload(from, pairs), program.run(), backend.download(to, found)]);
    program.release();
  } finally {
    input.free();
    output.free();
    backend.discard(kernel);
  }
  return TRIED.map(({ is }, n) => {
    const errors = Array.from({ length: ITEMS }, (_, item) => {
      const [a, b, c] = doubles.subarray(VALUES.length * item) as unknown as [number, number, number];
      const at = 2 * (TRIED.length * item + n);
      return Math.abs(found[at]! + found[at + 1]! - is(a, b, c));
    });
    return Math.max(...errors);
  });
}
