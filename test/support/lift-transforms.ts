/** What a plan of a program does, number by number: its callbacks, its strides, and the transform as the interpreter of programs has it. */
import {
  type BuiltCallback,
  nameOfRead,
  type PlannedTransform,
  rowShape,
  type TransformLaunch,
} from '../../src/kernels/programs/index.ts';
import {
  type Arr,
  type Complex,
  complex,
  conj,
  fft,
  ifft,
  interpret,
  irfft,
  map,
  mul,
  program,
  real,
  rfft,
  zip,
} from '../../src/lift/index.ts';

type Numbers = Float32Array | Float64Array;

/** What a plan does to packed rows. */
function rowsOf({ op, size, batches, times }: PlannedTransform) {
  const bins = op === 'rfft' || op === 'irfft' ? size / 2 + 1 : size;
  const [reals, numbers] = [real(batches, size), complex(batches, bins)];
  if (times) {
    const { conjugate, spectra } = times;
    const spectrum = complex(spectra === 'each' ? batches : 1, bins);
    const product = (a: Complex, b: Complex) =>
      mul(conjugate === 'signal' ? conj(a) : a, conjugate === 'kernel' ? conj(b) : b);
    const all = (s: Arr<Arr<Complex>>, x: Arr<Arr<Complex>>, there: never, back: never) => {
      const convolved = (row: Arr<Complex>, own: Arr<Complex>) =>
        (back as typeof ifft)(map(product, zip((there as typeof fft)(row), own)));
      return spectra === 'each' ? map(convolved, zip(x, s)) : map((row) => convolved(row, s[0]), x);
    };
    return op === 'rfft'
      ? program({ x: reals, s: spectrum }, ({ x, s }) => all(s, x as never, rfft as never, irfft as never))
      : program({ x: numbers, s: spectrum }, ({ x, s }) => all(s, x, fft as never, ifft as never));
  }
  if (op === 'rfft') return program({ x: reals }, ({ x }) => map(rfft, x));
  if (op === 'irfft') return program({ x: numbers }, ({ x }) => map(irfft, x));
  return program({ x: numbers }, ({ x }) => map(op === 'fft' ? fft : ifft, x));
}

/** @returns the parts of what a callback gives for an element */
function called(
  { nodes, result }: BuiltCallback,
  value: readonly number[],
  places: Readonly<Record<number, number>>,
  load: (array: string, at: number) => number,
): number[] {
  const made: number[] = [];
  for (const node of nodes) {
    const of = (n: number) => made[n]!;
    if (node.op === 're' || node.op === 'im') made.push(value[node.op === 're' ? 0 : 1]!);
    else if (node.op === 'constant' || node.op === 'integer') made.push(node.value);
    else if (node.op === 'place') made.push(places[node.dimension]!);
    else if (node.op === 'load') made.push(load(node.array, of(node.index)));
    else if (node.op === 'select') made.push(of(node.less[0]) < of(node.less[1]) ? of(node.a) : of(node.b));
    else if (node.op === 'where') {
      made.push(of(node.index) >= node.from && of(node.index) < node.to ? of(node.a) : of(node.b));
    } else if ('by' in node) {
      const whole = Math.floor(of(node.a) / node.by);
      const results = {
        'index-mul': of(node.a) * node.by,
        'index-div': whole,
        'index-mod': of(node.a) - node.by * whole,
      };
      made.push(results[node.op]);
    } else if ('b' in node) {
      const [a, b] = [of(node.a), of(node.b)];
      const results = { add: a + b, 'index-add': a + b, sub: a - b, mul: a * b, div: a / b };
      made.push(node.op === 'min' || node.op === 'max' ? Math[node.op](a, b) : results[node.op]);
    } else {
      const { op, a } = node as { readonly op: 'neg' | 'sqrt' | 'abs'; readonly a: number };
      made.push(op === 'neg' ? -of(a) : Math[op](of(a)));
    }
  }
  return result.map((n) => made[n]!);
}

/** @param tables arrays of callbacks that are tables of kernels */
export function runTransform(
  { transform: asked, reads, writes }: TransformLaunch,
  buffer: (name: string) => Numbers,
  tables: Readonly<Record<string, Numbers>>,
): void {
  const { op, size, times: product } = asked;
  const own = { op, size, batches: product?.spectra === 'one' ? 1 : asked.batches };
  // A spectrum is prepared in an order that is nobody else's business.
  const transform: PlannedTransform = asked.prepares ? own : asked;
  const { batches, load, store, times } = transform;
  const arrays = reads.slice(1, times ? -1 : undefined);
  const loaded = (name: string, at: number) => {
    const array = tables[name] ?? buffer(arrays.find((_, n) => nameOfRead(n + 1) === name)!);
    if (!(at >= 0 && at < array.length)) throw new RangeError(`${name}[${at}]`);
    return array[at]!;
  };
  const [read, written] = [rowShape(transform, 'input'), rowShape(transform, 'output')];
  const source = buffer(reads[0]!);
  const words = read.isComplex ? 2 : 1;
  const { offset, step, apart } = transform.input ?? { offset: 0, step: 1, apart: read.count };
  const given = new Float64Array(words * read.count * batches);
  for (let row = 0; row < batches; row++) {
    for (let k = 0; k < read.count; k++) {
      const place = words * (offset + step * k + apart * row);
      const value = [source[place]!, source[place + 1]!];
      const own = load ? called(load, value, { 1: k, 3: row }, loaded) : value;
      for (let part = 0; part < words; part++) given[words * (k + read.count * row) + part] = own[part]!;
    }
  }
  const spectrum = times && buffer(reads.at(-1)!);
  const inputs = spectrum ? { x: given, s: spectrum.slice(0, spectraLength(transform)) } : { x: given };
  const result = interpret(rowsOf(transform) as never, inputs as never);
  const target = buffer(writes);
  const parts = store ? store.result.length : written.isComplex ? 2 : 1;
  const to = transform.output ?? { offset: 0, step: 1, apart: written.count };
  for (let row = 0; row < batches; row++) {
    for (let k = 0; k < written.count; k++) {
      const at = (written.isComplex ? 2 : 1) * (k + written.count * row);
      const value = [result[at]!, result[at + 1]!];
      const own = store ? called(store, value, { 1: k, 3: row }, loaded) : value;
      const place = parts * (to.offset + to.step * k + to.apart * row);
      for (let part = 0; part < parts; part++) target[place + part] = own[part]!;
    }
  }
}

function spectraLength({ op, size, batches, times }: PlannedTransform): number {
  return 2 * (op === 'rfft' ? size / 2 + 1 : size) * (times!.spectra === 'each' ? batches : 1);
}
