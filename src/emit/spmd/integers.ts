/**
 * Index arithmetic as text. Quotients and remainders get names, so that no text grows with the number of its uses, and
 * indices are split into a named base and a constant, which addressing takes for free.
 */
import { type Atom, type Index, indexKey, range, variablesOf } from '../../ir/index.ts';
import type { Dialect } from './dialect.ts';
import type { Named, Names, Scope } from './scope.ts';

const NARROW = 2 ** 31;
const UNSIGNED = 2 ** 32;

export class Integers {
  private readonly dialect: Dialect;
  private readonly names: Names;

  constructor(dialect: Dialect, names: Names) {
    this.dialect = dialect;
    this.names = names;
  }

  /** An index that memory is accessed at: a name plus a constant. */
  address(value: Index, scope: Scope): string {
    this.check(value);
    const wide = this.isWide(value);
    if (value.terms.length === 0) return this.dialect.integer(value.constant, wide);
    const base = this.base({ constant: 0, terms: value.terms }, scope, wide);
    if (value.constant === 0) return base.text;
    const constant = this.dialect.integer(Math.abs(value.constant), wide);
    return `${base.text} ${value.constant < 0 ? '-' : '+'} ${constant}`;
  }

  /** Whether value > 0, or undefined where that is known to be so. */
  positive(value: Index, scope: Scope): string | undefined {
    if (range(value)[0] > 0) return undefined;
    const sides = [-1, 1].map((sign) => ({
      constant: Math.max(0, sign * value.constant),
      terms: value.terms.filter(({ factor }) => factor * sign > 0).map((t) => ({ ...t, factor: t.factor * sign })),
    }));
    // Compared without a sign: both sides are moved until neither can be negative.
    const lift = Math.max(0, ...sides.map((side) => -range(side)[0]));
    for (const side of sides) side.constant += lift;
    const wide = sides.some((side) => this.isWide(side));
    const [low, high] = sides.map((side) => this.sum(side, scope, wide));
    return `${low} < ${high}`;
  }

  private base(value: Index, scope: Scope, wide: boolean): Named {
    const [only] = value.terms;
    if (value.terms.length === 1 && only!.factor === 1) {
      const atom = this.atom(only!.atom, scope);
      return wide && !atom.wide ? { text: this.dialect.widen(atom.text), wide } : atom;
    }
    const key = `${wide ? 'wide' : ''}${indexKey(value)}`;
    return (
      scope.find(key) ??
      this.declare(key, 'at', scope.home(variablesOf(value)), wide, (home) => this.sum(value, home, wide))
    );
  }

  private declare(key: string, prefix: string, home: Scope, wide: boolean, text: (home: Scope) => string): Named {
    const value = text(home);
    const name = this.names.fresh(prefix);
    home.lines.push(this.dialect.declareInteger(name, value, wide));
    return home.remember(key, { text: name, wide });
  }

  private sum(value: Index, scope: Scope, wide: boolean): string {
    const terms = value.terms.map(({ atom, factor }) => {
      const named = this.atom(atom, scope);
      const operand = wide && !named.wide ? this.dialect.widen(named.text) : named.text;
      const size = Math.abs(factor);
      return {
        size,
        negative: factor < 0,
        text: size === 1 ? operand : `${operand} * ${this.dialect.integer(size, wide)}`,
      };
    });
    // By size and text: the order of ids depends on what was built before.
    terms.sort((a, b) => b.size - a.size || (a.text < b.text ? -1 : 1));
    if (value.constant !== 0) {
      const size = Math.abs(value.constant);
      terms.push({ size, negative: value.constant < 0, text: this.dialect.integer(size, wide) });
    }
    const added = terms.filter(({ negative }) => !negative).map(({ text }) => text);
    const taken = terms.filter(({ negative }) => negative).map(({ text }) => ` - ${text}`);
    return `${added.length > 0 ? added.join(' + ') : this.dialect.integer(0, wide)}${taken.join('')}`;
  }

  private atom(atom: Atom, scope: Scope): Named {
    if (atom.kind === 'var') return { text: scope.variable(atom), wide: false };
    if (atom.kind === 'lookup') throw new RangeError('kernels for threads cannot look indices up');
    const key = `atom${atom.id}`;
    const { kind, by } = atom;
    // Integer division rounds towards zero: operands that can be negative are lifted by whole multiples.
    const lift = Math.max(0, Math.ceil(-range(atom.of)[0] / by));
    const of: Index = { constant: atom.of.constant + lift * by, terms: atom.of.terms };
    this.check(of);
    const wide = this.isWide(of);
    const narrow = wide && !this.isWide({ constant: lift, terms: [{ atom, factor: 1 }] });
    const known = scope.find(key);
    if (known) return known;
    return this.declare(key, kind === 'div' ? 'q' : 'r', scope.home(variablesOf(of)), wide && !narrow, (home) => {
      const operand = this.sum(of, home, wide);
      const simple = /^\w+$/.test(operand) ? operand : `(${operand})`;
      const text = this.dialect.quotient(kind, simple, by, wide, narrow);
      if (kind === 'mod' || lift === 0) return text;
      return `(${text}) - ${this.dialect.integer(lift, wide && !narrow)}`;
    });
  }

  /** Whether a sum, or a part of it, can leave 32 bits with a sign. */
  private isWide({ constant, terms }: Index): boolean {
    if (!this.dialect.wideIntegers) return false;
    let size = Math.abs(constant);
    for (const { atom, factor } of terms) {
      const [low, high] = range({ constant: 0, terms: [{ atom, factor: 1 }] });
      size += Math.abs(factor) * Math.max(Math.abs(low), Math.abs(high));
    }
    return size >= NARROW;
  }

  private check(value: Index): void {
    const high = range(value)[1];
    if (!this.dialect.wideIntegers && high >= UNSIGNED) {
      throw new RangeError(`an index of the kernel can be ${high}, but the language has integers of 32 bits only`);
    }
  }
}
