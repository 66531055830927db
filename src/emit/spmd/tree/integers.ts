/**
 * Indices as integer expressions. Quotients and remainders get names, so that they are computed once, and indices are split into a named
 * base and a constant, which is free in addresses.
 */
import {
  type Atom,
  type Index,
  type IntegerTable,
  indexKey,
  type Lookup,
  range,
  tablesOf,
  variablesOf,
} from '../../../ir/index.ts';
import type { NamedValue, NameScope, Names } from './scope.ts';
import { binary, cast, chain, declareConstant, type Expression, type IntegerType, integer, name } from './tree.ts';

/** The ends of the ranges of 32-bit integers, signed and unsigned. */
const SIGNED_END = 2 ** 31;
const UNSIGNED_END = 2 ** 32;

const indexType = (wide: boolean): IntegerType => (wide ? 'long' : 'int');

export class Integers {
  /** Whether there are integers of 64 bits. Without them, indices are unsigned and end at 2³² − 1. */
  private readonly wideIntegers: boolean;
  private readonly names: Names;
  private readonly entry: (table: IntegerTable, at: Expression) => Expression;

  /** @param entry makes the expression that reads a table. */
  constructor(wideIntegers: boolean, names: Names, entry: (table: IntegerTable, at: Expression) => Expression) {
    this.wideIntegers = wideIntegers;
    this.names = names;
    this.entry = entry;
  }

  /** An index into memory: a name plus a constant. */
  address(value: Index, scope: NameScope): Expression {
    this.check(value);
    const wide = this.isWide(value);
    if (value.terms.length === 0) return integer(value.constant, indexType(wide));
    const base = this.base({ constant: 0, terms: value.terms }, scope, wide);
    if (value.constant === 0) return base;
    return binary(value.constant < 0 ? '-' : '+', base, integer(Math.abs(value.constant), indexType(wide)));
  }

  /** Whether value > 0. */
  positive(value: Index, scope: NameScope): Expression {
    const sides = [-1, 1].map((sign) => ({
      constant: Math.max(0, sign * value.constant),
      terms: value.terms.filter(({ factor }) => factor * sign > 0).map((t) => ({ ...t, factor: t.factor * sign })),
    }));
    // The comparison is unsigned, so both sides are raised until neither can be negative.
    const lift = Math.max(0, ...sides.map((side) => -range(side)[0]));
    for (const side of sides) side.constant += lift;
    const wide = sides.some((side) => this.isWide(side));
    const [low, high] = sides.map((side) => this.sum(side, scope, wide));
    return binary('<', low!, high!);
  }

  private base(value: Index, scope: NameScope, wide: boolean): Expression {
    const [only] = value.terms;
    if (value.terms.length === 1 && only!.factor === 1) return this.operand(this.atom(only!.atom, scope), wide);
    const key = `${wide ? 'wide' : ''}${indexKey(value)}`;
    const base =
      scope.find(key) ?? this.declare(key, 'at', homeOf(value, scope), wide, (home) => this.sum(value, home, wide));
    return name(base.name);
  }

  private operand(named: NamedValue, wide: boolean): Expression {
    return wide && !named.wide ? cast('long', name(named.name)) : name(named.name);
  }

  private declare(
    key: string,
    prefix: string,
    home: NameScope,
    wide: boolean,
    value: (home: NameScope) => Expression,
  ): NamedValue {
    const whole = value(home);
    const fresh = this.names.fresh(prefix);
    home.statements.push(declareConstant(fresh, indexType(wide), whole));
    return home.remember(key, { name: fresh, wide });
  }

  private sum(value: Index, scope: NameScope, wide: boolean): Expression {
    const terms = value.terms.map(({ atom, factor }) => {
      const named = this.atom(atom, scope);
      const operand = this.operand(named, wide);
      const size = Math.abs(factor);
      const product = size === 1 ? operand : binary('*', operand, integer(size, indexType(wide)));
      return { size, negative: factor < 0, named, product };
    });
    // Sorted by size and name, because the order of ids depends on earlier kernels, and equal kernels should have equal text.
    terms.sort(
      (a, b) =>
        b.size - a.size || Number(a.named.wide) - Number(b.named.wide) || (a.named.name < b.named.name ? -1 : 1),
    );
    const added = terms.filter(({ negative }) => !negative).map(({ product }) => product);
    const taken = terms.filter(({ negative }) => negative).map(({ product }) => product);
    if (value.constant !== 0)
      (value.constant > 0 ? added : taken).push(integer(Math.abs(value.constant), indexType(wide)));
    if (added.length === 0) added.push(integer(0, indexType(wide)));
    return chain('-', [chain('+', added), ...taken]);
  }

  private atom(atom: Atom, scope: NameScope): NamedValue {
    if (atom.kind === 'var') return { name: scope.variable(atom), wide: false };
    const key = `atom${atom.id}`;
    if (atom.kind === 'lookup') return scope.find(key) ?? this.lookup(atom, key, scope);
    const { kind, by } = atom;
    // Integer division rounds towards zero, so operands that can be negative are raised by multiples of the divisor.
    const lift = Math.max(0, Math.ceil(-range(atom.argument)[0] / by));
    const of: Index = { constant: atom.argument.constant + lift * by, terms: atom.argument.terms };
    this.check(of);
    const wide = this.isWide(of);
    const narrow = wide && !this.isWide({ constant: lift, terms: [{ atom, factor: 1 }] });
    const known = scope.find(key);
    if (known) return known;
    return this.declare(key, kind === 'div' ? 'q' : 'r', homeOf(of, scope), wide && !narrow, (home) => {
      const quotient = this.quotient(kind, this.sum(of, home, wide), by, wide);
      const value = narrow ? cast('int', quotient) : quotient;
      return kind === 'mod' || lift === 0 ? value : binary('-', value, integer(lift, indexType(wide && !narrow)));
    });
  }

  private lookup({ argument: of, table }: Lookup, key: string, scope: NameScope): NamedValue {
    const wide = this.wideIntegers && table.below > SIGNED_END;
    return this.declare(key, 'l', scope, wide, (home) => {
      const entry = this.entry(table, this.address(of, home));
      return this.wideIntegers ? cast(indexType(wide), entry) : entry;
    });
  }

  /** The quotient or the remainder of an operand that is not negative. */
  private quotient(kind: 'div' | 'mod', operand: Expression, by: number, wide: boolean): Expression {
    const type = indexType(wide);
    if (Number.isInteger(Math.log2(by))) {
      return kind === 'div'
        ? binary('>>', operand, integer(Math.log2(by)))
        : binary('&', operand, integer(by - 1, type));
    }
    const word = kind === 'div' ? '/' : '%';
    const divisor = integer(by, 'unsigned');
    if (!this.wideIntegers) return binary(word, operand, divisor);
    // Compilers turn an unsigned division by a constant into a multiplication and a shift.
    return cast(type, binary(word, cast(wide ? 'unsigned long' : 'unsigned', operand), divisor));
  }

  /** Whether a sum, or a part of it, can exceed signed 32-bit integers. */
  private isWide({ constant, terms }: Index): boolean {
    if (!this.wideIntegers) return false;
    let size = Math.abs(constant);
    for (const { atom, factor } of terms) {
      const [low, high] = range({ constant: 0, terms: [{ atom, factor: 1 }] });
      size += Math.abs(factor) * Math.max(Math.abs(low), Math.abs(high));
    }
    return size >= SIGNED_END;
  }

  private check(value: Index): void {
    const high = range(value)[1];
    if (!this.wideIntegers && high >= UNSIGNED_END) {
      throw new RangeError(`an index of the kernel can be ${high}, but the language has integers of 32 bits only`);
    }
  }
}

/** The scope in which an index is computed: the outermost that knows its variables; for an index that reads a table, the scope of the item. */
function homeOf(value: Index, scope: NameScope): NameScope {
  return tablesOf(value).size > 0 ? scope : scope.home(variablesOf(value));
}
