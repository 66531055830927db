/** Arrays of numbers known at compile time: they become tables that kernels read, or constants if the index is known, too. */
import { type Expressions, evaluate, type Index, type TableBuilder } from '../../../ir/index.ts';
import { NearestRoots } from '../../../numeric/nearest-roots.ts';
import { knownNumber } from '../../../patterns/interpreter/interpreter.ts';
import { tableEntry } from '../../../patterns/language/patterns.ts';
import { numbersOf, type Sizes } from '../../../patterns/language/sizing.ts';
import { scalarOf } from '../../../patterns/language/types.ts';
import { refusePattern, type Value } from '../../../patterns/language/values.ts';
import { knownScalar, numberExpression } from './arithmetic.ts';
import type { KnownNumbers, NumberExpression } from './pulled.ts';

/** The most numbers of an array, as they are computed one by one. */
const MOST_ENTRIES = 2 ** 24;

/** The largest order n whose n-th roots of unity are all computed at once. */
const MOST_ROOTS = 2 ** 20;

/** The numbers of an `array`. */
export function knownNumbersOf(value: Value, sizes: Sizes): KnownNumbers {
  return new Numbers(value, sizes);
}

class Numbers implements KnownNumbers {
  readonly shape: readonly number[];
  readonly isComplex: boolean;
  private readonly make: (...at: number[]) => unknown;
  private filled: { readonly key: string; readonly values: Float64Array } | undefined;
  private readonly entries = new Map<string, Value>();

  constructor(value: Value, sizes: Sizes) {
    this.shape = numbersOf(value.type, sizes);
    this.isComplex = scalarOf(value.type).kind === 'complex';
    this.make = value.details.make!;
  }

  private entry(at: readonly number[]): Value {
    const key = at.join();
    let entry = this.entries.get(key);
    if (!entry) this.entries.set(key, (entry = tableEntry('array', this.make, [...at, ...this.shape])));
    return entry;
  }

  constant(x: Expressions, at: readonly Index[]): NumberExpression {
    const entry = this.entry(at.map((index) => evaluate(index, new Map())));
    if (entry.op === 'omega') return knownScalar(x, entry);
    const [re, im] = tableParts(entry);
    return numberExpression(x.constant(re!), im === undefined ? undefined : x.constant(im));
  }

  place(tables: TableBuilder): number {
    const { key, values } = (this.filled ??= this.fill());
    return tables.appendValues(key, values.length, () => values);
  }

  valueAt(place: number): number | undefined {
    return (this.filled ??= this.fill()).values[place];
  }

  private fill(): { key: string; values: Float64Array } {
    const count = this.shape.reduce((product, length) => product * length, 1);
    if (count > MOST_ENTRIES)
      refusePattern('array', `it has ${count} numbers; ${MOST_ENTRIES} are the most. Give them as an input.`);
    const words = this.isComplex ? 2 : 1;
    const values = new Float64Array(words * count);
    const roots = new Map<number, Float64Array>();
    const at = this.shape.map(() => 0);
    for (let n = 0; n < count; n++) {
      const entry = tableEntry('array', this.make, [...at, ...this.shape]);
      const { k, n: order } = entry.details;
      const parts = entry.op === 'omega' && order! <= MOST_ROOTS ? tableRoot(roots, k!, order!) : tableParts(entry);
      for (let part = 0; part < words; part++) values[words * n + part] = parts[part] ?? 0;
      for (let d = at.length - 1; d >= 0 && ++at[d]! === this.shape[d]; d--) at[d] = 0;
    }
    return { key: `values ${this.shape} ${digest(values)}`, values };
  }
}

function tableParts(value: Value): readonly number[] {
  const number = knownNumber(value);
  return typeof number === 'number' ? [number] : [number.re, number.im];
}

function tableRoot(known: Map<number, Float64Array>, k: number, n: number): readonly number[] {
  let roots = known.get(n);
  if (!roots) {
    known.set(n, (roots = new Float64Array(2 * n)));
    new NearestRoots(n).fill(roots, { p: 0, step: 1, q: n, count: n, re: 0, im: 1, stride: 2, block: n, skip: 0 });
  }
  return [roots[2 * k]!, roots[2 * k + 1]!];
}

/** A hash of the bits of numbers: equal for equal numbers; different numbers collide with probability 2⁻⁶⁴ (two sums by FNV-1a and its like). */
function digest(values: Float64Array): string {
  const words = new Uint32Array(values.buffer);
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (const word of words) {
    a = Math.imul(a ^ word, 0x01000193) ^ (a >>> 15);
    b = Math.imul(b ^ (b >>> 13) ^ word, 0x5bd1e995);
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}
