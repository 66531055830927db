/**
 * Loops over complex double-doubles as text of JavaScript, with every addition and product of doubles written out in line.
 * The reference transform spends all its time in them, and calls (of functions that return two numbers) would take several
 * times as long as the arithmetic. The formulas are those of `src/numeric/double-double/doubledouble.ts`.
 */

/** A double-double: the names of two constants, or other expressions without side effects. */
export type Double2 = readonly [hi: string, lo: string];

/** A complex double-double. */
export interface ComplexDd {
  readonly re: Double2;
  readonly im: Double2;
}

/** 2^27 + 1 splits a significand into two halves whose products are exact. */
const SPLITTER = '134217729';

/** Statements in a row, each of which names one value. */
export class Straight {
  private readonly statements: string[] = [];
  private readonly halves = new Map<string, Double2>();
  private readonly prefix: string;
  private count = 0;

  /** @param prefix names start with it: constants of an inner loop must not be called like those around it. */
  constructor(prefix: string) {
    this.prefix = prefix;
  }

  toString(): string {
    return this.statements.join('\n');
  }

  private named(expression: string): string {
    const name = `${this.prefix}${this.count++}`;
    this.statements.push(`const ${name} = ${expression};`);
    return name;
  }

  /** The complex double-double at a place, an expression, of a Float64Array. */
  load(array: string, place: string): ComplexDd {
    const at = this.named(place);
    const [a, b, c, d] = [0, 1, 2, 3].map((part) => this.named(`${array}[${at} + ${part}]`)) as [
      string,
      string,
      string,
      string,
    ];
    return { re: [a, b], im: [c, d] };
  }

  store(array: string, place: string, { re, im }: ComplexDd): void {
    const at = this.named(place);
    [...re, ...im].forEach((value, part) => {
      this.statements.push(`${array}[${at} + ${part}] = ${value};`);
    });
  }

  assign(variables: Double2, [hi, lo]: Double2): void {
    this.statements.push(`${variables[0]} = ${hi};`, `${variables[1]} = ${lo};`);
  }

  /** a + b, or a − b. */
  add([aHi, aLo]: Double2, [bHi, bLo]: Double2, sign: '+' | '-' = '+'): Double2 {
    const exactSum = (a: string, b: string): Double2 => {
      const sum = this.named(`${a} ${sign} ${b}`);
      // What was really added of b.
      const added = this.named(`${sum} - ${a}`);
      return [sum, this.named(`(${a} - (${sum} - ${added})) + (${sign === '+' ? '' : '-'}${b} - ${added})`)];
    };
    const [high, highError] = exactSum(aHi, bHi);
    const [low, lowError] = exactSum(aLo, bLo);
    const carry = this.named(`${highError} + ${low}`);
    const sum = this.named(`${high} + ${carry}`);
    return this.normal(sum, this.named(`${carry} - (${sum} - ${high}) + ${lowError}`));
  }

  mul([aHi, aLo]: Double2, [bHi, bLo]: Double2): Double2 {
    const product = this.named(`${aHi} * ${bHi}`);
    const [[aHigh, aLow], [bHigh, bLow]] = [this.halvesOf(aHi), this.halvesOf(bHi)];
    const near = `${product} - ${aHigh} * ${bHigh} - ${aLow} * ${bHigh} - ${aHigh} * ${bLow}`;
    const error = `${aLow} * ${bLow} - (${near})`;
    return this.normal(product, this.named(`${error} + (${aHi} * ${bLo} + ${aLo} * ${bHi})`));
  }

  private normal(high: string, rest: string): Double2 {
    const hi = this.named(`${high} + ${rest}`);
    return [hi, this.named(`${rest} - (${hi} - ${high})`)];
  }

  private halvesOf(value: string): Double2 {
    let halves = this.halves.get(value);
    if (!halves) {
      const scaled = this.named(`${SPLITTER} * ${value}`);
      const high = this.named(`${scaled} - (${scaled} - ${value})`);
      halves = [high, this.named(`${value} - ${high}`)];
      this.halves.set(value, halves);
    }
    return halves;
  }

  /** a + b, or a − b. */
  addComplexDd(a: ComplexDd, b: ComplexDd, sign: '+' | '-' = '+'): ComplexDd {
    return { re: this.add(a.re, b.re, sign), im: this.add(a.im, b.im, sign) };
  }

  /** a + i·b, or a − i·b. */
  addTurned(a: ComplexDd, b: ComplexDd, sign: '+' | '-'): ComplexDd {
    return { re: this.add(a.re, b.im, sign === '+' ? '-' : '+'), im: this.add(a.im, b.re, sign) };
  }

  mulComplexDd(a: ComplexDd, b: ComplexDd): ComplexDd {
    const re = this.add(this.mul(a.re, b.re), this.mul(a.im, b.im), '-');
    return { re, im: this.add(this.mul(a.re, b.im), this.mul(a.im, b.re)) };
  }
}

/** A function of a text. @param parameters their names */
export function compiled<F extends (...values: never[]) => void>(parameters: string, body: string): F {
  return new Function(parameters, `'use strict';\n${body}`) as F;
}
