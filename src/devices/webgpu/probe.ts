/**
 * Whether doubles that are two singles keep their digits on a device. Compilers behind WGSL may contract and reorder, and which do
 * nobody says: a kernel tells, whose results have less than half of their digits where that breaks what pairs rest on.
 */
import { inPairs } from '../../emit/pairs/index.ts';
import { type ArrayRef, Expressions, type Kernel, type Real, variable } from '../../ir/index.ts';
import type { Backend, Binding } from '../device.ts';

/** Items: more than a group of threads in lockstep. */
const ITEMS = 128;

const VALUES = ['a', 'b', 'c'] as const;

/** What is computed of three values; none of it cancels by more than a few bits. */
const TRIED: readonly (readonly [
  of: (x: Expressions, a: Real, b: Real, c: Real) => Real,
  is: (a: number, b: number, c: number) => number,
])[] = [
  [(x, a, b, c) => x.sub(x.add(x.mul(a, b), c), x.mul(a, c)), (a, b, c) => a * b + c - a * c],
  [(x, a, b) => x.add(x.sub(a, b), x.mul(a, x.constant(1 / 3))), (a, b) => a - b + a * (1 / 3)],
  [(x, a, b, c) => x.add(x.mul(x.add(a, b), x.sub(b, c)), x.mul(c, c)), (a, b, c) => (a + b) * (b - c) + c * c],
  [(x, a, b, c) => x.div(x.add(a, c), b), (a, b, c) => (a + c) / b],
  [(x, a) => x.sqrt(a), (a) => Math.sqrt(a)],
];

/** Results are some units large. Where something breaks they are off by 2^−24 of that. */
const ALLOWED = 2 ** -41;

/** In doubles. */
function probeKernel(): Kernel {
  const array = (name: string): ArrayRef => ({ name, space: 'global', type: 'f64' });
  const [values, results] = [array('values'), array('results')];
  const x = new Expressions();
  const item = variable('item', ITEMS);
  const at = (n: number, count: number) => ({ constant: n, terms: [{ atom: item, factor: count }] });
  const [a, b, c] = VALUES.map((_, n) => x.load(values, at(n, VALUES.length))) as [Real, Real, Real];
  const stores = TRIED.map(([of], n) => ({ array: results, index: at(n, TRIED.length), value: of(x, a, b, c) }));
  return {
    ...{ name: 'pairs', precision: 'f64', group: variable('group', 1), threads: 64 },
    ...{ globals: [values, results], tables: [], shared: [] },
    phases: [{ loops: [{ variable: item }], lanes: item, stores, repeatable: true, exchange: 'group' }],
  };
}

/** Numbers of many bits from 1 to 2, as hi + lo, in an order that has nothing to do with them. */
function sample(count: number): { readonly doubles: Float64Array; readonly pairs: Float32Array } {
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
  const kernel = backend.compile(inPairs(probeKernel(), 'f32', backend.pairForm ?? {}));
  const { doubles, pairs } = sample(VALUES.length * ITEMS);
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
  return found.every((_, place) => {
    const [item, n] = [Math.floor(place / 2 / TRIED.length), Math.floor(place / 2) % TRIED.length];
    const [a, b, c] = doubles.subarray(VALUES.length * item) as unknown as [number, number, number];
    const got = found[2 * (TRIED.length * item + n)]! + found[2 * (TRIED.length * item + n) + 1]!;
    return Math.abs(got - TRIED[n]![1](a, b, c)) <= ALLOWED;
  });
}
