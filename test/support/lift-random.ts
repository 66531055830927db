/** Random programs over the language of patterns, for tests that hold two ways to run one against each other. */
import {
  type Arr,
  abs,
  add,
  array,
  type Complex,
  complex,
  conj,
  dft,
  fft,
  ifft,
  im,
  irfft,
  iterate,
  join,
  less,
  map,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  max,
  min,
  mul,
  neg,
  norm2,
  omega,
  type Program,
  pad,
  program,
  type Real,
  re,
  real,
  reduce,
  rfft,
  select,
  slide,
  split,
  sub,
  toGlobal,
  toLocal,
  toPrivate,
  transpose,
  zip,
} from '../../src/lift/index.ts';
import { Value } from '../../src/patterns/language/values.ts';
import type { Random } from './random.ts';

/** Numbers are real or complex when a program runs; what is complex is one kind more for TypeScript. */
export type Numbers = Arr<Complex>;

const isComplex = (value: unknown) => !(value instanceof Value) || value.type.kind === 'complex';
export const lengthOf = (xs: Numbers): number => {
  const { type } = xs as unknown as Value;
  return type.kind === 'array' ? type.length.known! : 1;
};

export class RandomPrograms {
  readonly random: Random;
  /** Elements of an array at most. */
  private readonly most: number;

  constructor(random: Random, most = 120) {
    this.random = random;
    this.most = most;
  }

  /** A number computed from others, of a magnitude about as theirs. */
  number(given: readonly Complex[], depth: number): Complex {
    const pick = () => this.random.pick(given);
    if (depth === 0) return this.random.unit() < 0.2 ? (0.25 as never) : pick();
    const [a, b] = [this.number(given, depth - 1), this.number(given, depth - 1)];
    const reals = [a, b].map((each) => (typeof each === 'number' ? each : isComplex(each) ? re(each) : each)) as Real[];
    const [x, y] = reals as [Real, Real];
    const made = [
      () => mul(0.5, add(a, b)),
      () => mul(0.5, sub(a, b)),
      () => mul(a, b),
      () => neg(conj(a)),
      () => max(x, y),
      () => min(x, abs(y)),
      () => select(less(x, y), a, b),
      () => sub(mul(0.5, norm2(a)), im(b)),
      () => ({ re: x, im: y }),
    ];
    return this.random.pick(made)() as Complex;
  }

  private divisor(n: number): number {
    const all = Array.from({ length: n }, (_, k) => k + 1).filter((k) => n % k === 0 && k <= 16);
    return this.random.pick(all);
  }

  /** An array of numbers made of one. */
  array(xs: Numbers, depth: number): Numbers {
    let made = xs;
    for (let n = 0; n < depth; n++) {
      const next = this.step(made, depth - 1);
      if (lengthOf(next) <= this.most) made = next;
    }
    return made;
  }

  private step(xs: Numbers, depth: number): Numbers {
    const n = lengthOf(xs);
    const m = this.divisor(n);
    const { random } = this;
    const window = random.integer(1, Math.min(n, 5));
    const by = this.divisor(Math.max(1, n - window));
    const steps: (() => unknown)[] = [
      () => map((a) => this.number([a], 2), xs),
      () => map((a, b) => this.number([a, b], 2), zip(xs, this.sameLength(xs, depth))),
      () =>
        map(
          (a, b) => mul(a, b),
          zip(
            xs,
            array(n, (i, count) => omega(i * 3, count)),
          ),
        ),
      () => join(map((row) => this.array(row, Math.min(depth, 2)), split(m, xs))),
      () => join(transpose(split(m, xs))),
      () => join(transpose(map((row) => map((a) => this.number([a], 1), row), transpose(split(m, xs))))),
      () => pad(random.integer(0, 3), random.integer(0, 3), random.pick(['wrap', 'clamp', 'mirror', 0.5] as const), xs),
      () =>
        map(
          (w) =>
            mul(
              1 / window,
              reduce((s, a) => add(s, a), 0, w),
            ),
          slide(window, 1, xs),
        ),
      () => {
        const total = reduce(
          (s, a, b) => add(mul(0.5, s as never), this.number([a, b], 1)) as never,
          0.25,
          zip(xs, xs),
        );
        return map((a) => mul(0.5, add(a, total as never)), xs);
      },
      () => join(slide(window, (n - window) % by === 0 ? by : 1, xs)),
      () => iterate(2, (each) => map((a) => mul(0.5, add(a, 0.25)) as Complex, each), xs),
      () => map((a) => mul(1 / m, a), join(map((row) => dft(row), split(m, xs)))),
      () => map((a) => this.number([n <= 64 ? xs[0] : a, a], 2), xs),
      () => join(map((row) => [row[0], this.number([row[0]], 1)], split(m, xs))),
    ];
    return random.pick(steps)() as Numbers;
  }

  private sameLength(xs: Numbers, depth: number): Numbers {
    const other = depth > 0 ? this.array(xs, depth - 1) : xs;
    return lengthOf(other) === lengthOf(xs) ? other : xs;
  }

  /** Rows of an array, each of which a work-group computes, with arrays in its memory. */
  grouped(xs: Numbers): Numbers {
    const { random } = this;
    const n = lengthOf(xs);
    const m = this.divisor(n);
    const rows = (random.unit() < 0.5 ? split(m, xs) : transpose(split(n / m, xs))) as Arr<Numbers>;
    const steps = random.integer(1, 4);
    const result = mapWorkgroup((row) => {
      let made = row as Numbers;
      for (let step = 0; step < steps; step++) made = this.inGroup(made);
      return made;
    }, rows) as unknown as Arr<Numbers>;
    return join(random.unit() < 0.5 ? transpose(result) : result) as Numbers;
  }

  private inGroup(xs: Numbers): Numbers {
    const { random } = this;
    const each = (a: Complex) => this.number([a], 1);
    const chunks = split(
      Math.min(8, this.divisor(lengthOf(xs))) === 8 ? 1 : this.divisor(lengthOf(xs)),
      xs,
    ) as Arr<Numbers>;
    const kept = toLocal((x: Numbers) => x, xs) as Numbers;
    const steps: (() => unknown)[] = [
      () => toLocal((x: Numbers) => mapLocal(each, x), xs),
      () => toLocal((x: Numbers) => this.array(x, 2), xs),
      () => toGlobal((x: Numbers) => mapLocal(each, x), kept),
      () => map((a, b) => this.number([a, b], 1), zip(kept, join(transpose(split(this.divisor(lengthOf(xs)), kept))))),
      () => join(mapLocal((chunk) => toPrivate((x: Numbers) => map(each, x), chunk as Numbers), chunks)),
      () => join(mapLocal((chunk) => mapSeq(each, chunk as Numbers), chunks)),
      () => join(transpose(map((chunk) => toLocal((x: Numbers) => this.array(x, 1), chunk as Numbers), chunks))),
      () => map((a) => mul(1 / lengthOf(xs), a), join(map((row) => toLocal(dft, row as Numbers), chunks))),
      () => this.array(kept, 2),
      () => this.array(xs, 1),
    ];
    const made = random.pick(steps)() as Numbers;
    return lengthOf(made) <= this.most ? made : xs;
  }

  /** A planned transform of the rows of an array, with work on single numbers before and behind it, and perhaps a product and a way back. */
  transformed(xs: Numbers): Numbers {
    const { random } = this;
    const n = lengthOf(xs);
    const m = random.pick([n, this.divisor(n)]);
    const each = (row: Numbers) => map((a) => this.number([a], random.integer(0, 2)), row) as Numbers;
    const known = (count: number) => array(count, (i, of) => omega(i * 5 + 1, of)) as Numbers;
    const reals = (row: Numbers) => map((a) => re(a), row) as unknown as Arr<Real>;
    const product = (row: Numbers, by: Numbers) => map((a, b) => this.product(a, b), zip(row, by)) as Numbers;
    const complexRow = (row: Numbers) => map((a) => add(a, { re: 0, im: 0 }), row) as Numbers;
    const ways: ((row: Numbers) => Numbers)[] = [
      (row) => each(fft(each(row))),
      (row) => each(ifft(product(fft(each(row)), known(m)))),
      (row) => ifft(product(fft(row), fft(each(row)))),
      (row) =>
        each(
          ifft(
            product(
              fft(complexRow(row)),
              toGlobal((y: Numbers) => y, complexRow(row)),
            ),
          ),
        ),
      (row) => product(each(fft(row)), known(m)),
    ];
    if (m % 2 === 0) {
      ways.push(
        (row) => each(rfft(reals(each(row)))),
        (row) => irfft(product(rfft(reals(row)), each(rfft(reals(row))))) as never,
      );
    }
    const way = random.pick(ways);
    const rows = random.unit() < 0.3 ? transpose(split(n / m, xs)) : split(m, xs);
    const result = map((row) => map((a) => mul(1 / m, a), way(row)), rows) as unknown as Arr<Numbers>;
    return join(random.unit() < 0.3 ? transpose(result) : result) as Numbers;
  }

  /** a · b, perhaps with a conjugate. */
  private product(a: Complex, b: Complex): Complex {
    return this.random.pick([() => mul(a, b), () => mul(b, conj(a)), () => mul(a, conj(b)), () => mul(neg(a), b)])();
  }

  /** A program of one input of `n` numbers. @param around what to do with the array that it makes */
  program(
    n: number,
    depth: number,
    around: (xs: Numbers) => unknown = (xs) => xs,
  ): Program<{ x: ReturnType<typeof real> }> {
    const type = this.random.unit() < 0.5 ? real(n) : complex(n);
    return program({ x: type as never }, ({ x }) => around(this.array(x as never, depth)) as never);
  }

  /** Numbers for its input. */
  numbers(p: Pick<Program, 'type'>, n: number): Float64Array {
    const count = p.type.startsWith('[complex]') ? 2 * n : n;
    return Float64Array.from({ length: count }, () => 2 * this.random.unit() - 1);
  }
}
