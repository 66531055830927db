/** The interpreter behind `interpret`: a number, a nested array or a tuple for each value. */
import { FftError } from '../../problem/errors.ts';
import { tableEntry } from '../language/patterns.ts';
import { lengthValue, type Sizes } from '../language/sizing.ts';
import type { Type } from '../language/types.ts';
import { type Boundary, freeOf, type Lambda, type Value } from '../language/values.ts';

/** A complex number. */
export interface Pair {
  readonly re: number;
  readonly im: number;
}

/** An interpreted value: a number, a condition, the elements of an array, or the parts of a tuple. */
export type Datum = number | Pair | boolean | readonly Datum[];

const pairOf = (datum: Datum): Pair => (typeof datum === 'number' ? { re: datum, im: 0 } : (datum as Pair));

/** A value converted to its type: real numbers become complex numbers where the type has complex numbers. */
function coerced(datum: Datum, type: Type): Datum {
  if (type.kind === 'complex') return pairOf(datum);
  return type.kind === 'array' && type.text.includes('complex')
    ? (datum as Datum[]).map((element) => coerced(element, type.of))
    : datum;
}

export class Interpreter {
  private readonly sizes: Sizes;
  /** The present value of each symbol, and the time at which the symbol was bound. */
  private readonly bound = new Map<Value, { readonly datum: Datum; readonly since: number }>();
  /** Values computed before, and the time of the computation: a value is still valid if none of its symbols has been bound since. */
  private readonly known = new Map<Value, { readonly datum: Datum; readonly since: number }>();
  private readonly free = new Map<Value, readonly Value[]>();
  private clock = 0;

  constructor(sizes: Sizes) {
    this.sizes = sizes;
  }

  bind(symbol: Value, datum: Datum): void {
    this.bound.set(symbol, { datum, since: ++this.clock });
  }

  evaluate(value: Value): Datum {
    const symbol = this.bound.get(value);
    if (symbol) return symbol.datum;
    const known = this.known.get(value);
    if (known && this.freeIn(value).every((one) => this.bound.get(one)!.since <= known.since)) return known.datum;
    const datum = this.computed(value);
    this.known.set(value, { datum, since: ++this.clock });
    return datum;
  }

  private freeIn(value: Value): readonly Value[] {
    let symbols = this.free.get(value);
    if (!symbols) this.free.set(value, (symbols = [...freeOf(value)]));
    return symbols;
  }

  private call({ parameters, body }: Lambda, args: readonly Datum[]): Datum {
    parameters.forEach((parameter, n) => this.bind(parameter, coerced(args[n]!, parameter.type)));
    return this.evaluate(body);
  }

  private lengths({ details }: Value): number[] {
    return details.lengths!.map((length) => lengthValue(length, this.sizes));
  }

  private computed(value: Value): Datum {
    const { op, of, f, details, type } = value;
    const operand = (n: number) => this.evaluate(of[n]!);
    const elements = (n: number) => operand(n) as readonly Datum[];
    switch (op) {
      case 'constant':
        return details.value!;
      case 'omega':
        return rootOfUnity(details.k!, details.n!);
      case 'at':
        return elements(0)[details.index!]!;
      case 'list':
      case 'tuple':
        return of.map((_, n) => operand(n));
      case 'zip':
      case 'split':
      case 'slide':
      case 'join':
      case 'transpose':
      case 'pad':
        return this.rearranged(
          value,
          of.map((_, n) => elements(n)),
        );
      case 'array':
        return this.table(value);
      case 'map':
      case 'mapGlobal':
      case 'mapWorkgroup':
      case 'mapLocal':
      case 'mapSeq': {
        const { type: from } = of[0]!;
        const spread = from.kind === 'array' && from.of.kind === 'tuple';
        return elements(0).map((element) => this.call(f!, spread ? (element as Datum[]) : [element]));
      }
      case 'reduce':
      case 'reduceSeq': {
        const { type: from } = of[1]!;
        const spread = from.kind === 'array' && from.of.kind === 'tuple';
        const step = (sum: Datum, element: Datum) =>
          this.call(f!, [sum, ...(spread ? (element as Datum[]) : [element])]);
        return elements(1).reduce((sum, element) => coerced(step(sum, element), type), coerced(operand(0), type));
      }
      case 'iterate': {
        let datum = operand(0);
        for (let n = 0; n < details.times!; n++) datum = this.call(f!, [datum]);
        return datum;
      }
      case 'toLocal':
      case 'toGlobal':
      case 'toPrivate':
        return this.call(f!, [operand(0)]);
      case 'dft':
      case 'idft':
      case 'fft':
      case 'ifft':
      case 'rfft':
      case 'irfft':
        return transformedValue(op, elements(0).map(pairOf));
      default:
        return scalar(
          value,
          of.map((_, n) => operand(n)),
        );
    }
  }

  private rearranged(value: Value, all: readonly (readonly Datum[])[]): Datum {
    const [first] = all as [readonly Datum[]];
    switch (value.op) {
      case 'zip':
        return first.map((_, i) => all.map((_, n) => all[n]![i]!));
      case 'split':
        return windows(first, this.lengths(value)[0]!, this.lengths(value)[0]!);
      case 'slide':
        return windows(first, this.lengths(value)[0]!, this.lengths(value)[1]!);
      case 'join':
        return (first as readonly (readonly Datum[])[]).flat();
      case 'transpose': {
        const rows = first as readonly (readonly Datum[])[];
        return rows[0]!.map((_, column) => rows.map((row) => row[column]!));
      }
      default: {
        const { of: element } = value.type as Extract<Type, { kind: 'array' }>;
        return padElements(first, this.lengths(value), value.details.boundary!, (fill) => this.filled(element, fill));
      }
    }
  }

  private filled(type: Type, fill: number): Datum {
    if (type.kind === 'array') {
      return Array.from({ length: lengthValue(type.length, this.sizes) }, () => this.filled(type.of, fill));
    }
    return coerced(fill, type);
  }

  private table(value: Value): Datum {
    const shape = this.lengths(value);
    const { make } = value.details;
    const next = (at: readonly number[]): Datum => {
      const count = shape[at.length];
      if (count === undefined) return this.evaluate(tableEntry('array', make!, [...at, ...shape]));
      return Array.from({ length: count }, (_, n) => next([...at, n]));
    };
    return coerced(next([]), value.type);
  }
}

function windows(elements: readonly Datum[], size: number, step: number): Datum[] {
  const count = (elements.length - size) / step + 1;
  return Array.from({ length: count }, (_, n) => elements.slice(n * step, n * step + size));
}

function padElements(
  elements: readonly Datum[],
  [left, right]: readonly number[],
  boundary: Boundary,
  filled: (fill: number) => Datum,
): Datum[] {
  const { length } = elements;
  return Array.from({ length: left! + length + right! }, (_, n) => {
    const i = n - left!;
    if (i >= 0 && i < length) return elements[i]!;
    return typeof boundary === 'number' ? filled(boundary) : elements[placeBeyond(i, length, boundary)]!;
  });
}

/** The index of the element that stands for an index beyond the ends. */
function placeBeyond(i: number, length: number, boundary: Exclude<Boundary, number>): number {
  if (boundary === 'clamp') return i < 0 ? 0 : length - 1;
  const period = boundary === 'wrap' ? length : 2 * length;
  const place = ((i % period) + period) % period;
  return place < length ? place : 2 * length - 1 - place;
}

/** A number that depends on operands only. */
function scalar({ op, type }: Value, operands: readonly Datum[]): Datum {
  const [a, b, c] = operands as [Datum, Datum, Datum];
  const [x, y] = [a as number, b as number];
  const isComplex = type.kind === 'complex';
  switch (op) {
    case 'add':
      return isComplex ? { re: pairOf(a).re + pairOf(b).re, im: pairOf(a).im + pairOf(b).im } : x + y;
    case 'sub':
      return isComplex ? { re: pairOf(a).re - pairOf(b).re, im: pairOf(a).im - pairOf(b).im } : x - y;
    case 'mul':
      return isComplex ? complexProduct(pairOf(a), pairOf(b)) : x * y;
    case 'div':
      return isComplex ? { re: pairOf(a).re / y, im: pairOf(a).im / y } : x / y;
    case 'neg':
      return isComplex ? { re: -pairOf(a).re, im: -pairOf(a).im } : -x;
    case 'conj':
      return isComplex ? { re: pairOf(a).re, im: -pairOf(a).im } : a;
    case 're':
      return pairOf(a).re;
    case 'im':
      return pairOf(a).im;
    case 'norm2':
      return pairOf(a).re ** 2 + pairOf(a).im ** 2;
    case 'complexOf':
      return { re: x, im: y };
    case 'less':
      return x < y;
    case 'select':
      return coerced(a ? b : c, type);
    case 'min':
    case 'max':
      return Math[op](x, y);
    case 'abs':
    case 'sqrt':
    case 'log':
    case 'exp':
      return Math[op](x);
    default:
      throw new FftError('internal-error', `${op} is no arithmetic`);
  }
}

function complexProduct(a: Pair, b: Pair): Pair {
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

/** The root of unity e^(−2πi·k/n). */
function rootOfUnity(k: number, n: number): Pair {
  // Multiples of a quarter turn are exact.
  const quarters = (4 * k) / n;
  if (Number.isInteger(quarters))
    return [
      { re: 1, im: 0 },
      { re: 0, im: -1 },
      { re: -1, im: 0 },
      { re: 0, im: 1 },
    ][quarters % 4]!;
  return { re: Math.cos((2 * Math.PI * k) / n), im: -Math.sin((2 * Math.PI * k) / n) };
}

function transformedValue(op: string, given: readonly Pair[]): Datum {
  const swap = ({ re, im }: Pair): Pair => ({ re: im, im: re });
  if (op === 'rfft') return dftOf(given).slice(0, given.length / 2 + 1);
  if (op === 'irfft') {
    const n = 2 * (given.length - 1);
    // The imaginary parts of bins 0 and n/2 are ignored, because they are zero for a real signal.
    const bins = Array.from({ length: n }, (_, k) => {
      const { re, im } = k < given.length ? given[k]! : given[n - k]!;
      return { re, im: k === 0 || 2 * k === n ? 0 : k < given.length ? im : -im };
    });
    return dftOf(bins.map(swap)).map(({ im }) => im / n);
  }
  if (op === 'dft' || op === 'fft') return dftOf(given);
  const scale = op === 'ifft' ? given.length : 1;
  return dftOf(given.map(swap)).map(({ re, im }) => ({ re: im / scale, im: re / scale }));
}

/** The discrete Fourier transform by splitting into halves while the length is even, and by its defining sum for the odd factor. */
function dftOf(x: readonly Pair[]): Pair[] {
  const n = x.length;
  if (n > 1 && n % 2 === 0) {
    const [even, odd] = [0, 1].map((first) => dftOf(x.filter((_, i) => i % 2 === first))) as [Pair[], Pair[]];
    return x.map((_, k) => {
      const turn = complexProduct(odd[k % (n / 2)]!, rootOfUnity(k, n));
      return { re: even[k % (n / 2)]!.re + turn.re, im: even[k % (n / 2)]!.im + turn.im };
    });
  }
  return x.map((_, k) => {
    let [re, im] = [0, 0];
    x.forEach((each, i) => {
      const turn = complexProduct(each, rootOfUnity((i * k) % n, n));
      re += turn.re;
      im += turn.im;
    });
    return { re, im };
  });
}

/** The number that a value without operands stands for. */
export function knownNumber(value: Value): number | Pair {
  return new Interpreter(new Map()).evaluate(value) as number | Pair;
}
