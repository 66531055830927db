/**
 * Lengths of arrays: numbers, or polynomials in names whose values are known when a program runs.
 *
 * A size is a sum of terms, each a rational factor times powers of names; powers may be negative, for n/4 and n/m. The terms are in
 * canonical order, so that two sizes are equal exactly where their texts are. That a quotient is a whole number is taken for granted while
 * there are names in it: `resolvedSizes` checks divisions when the names get numbers.
 */
import { gcd } from '../../numeric/primes.ts';
import { FftError, show } from '../../problem/errors.ts';

/** The length of an array: a positive whole number, or a size. */
export type Length = number | Size;

/** factor · Π name^power, the factor as a fraction in lowest terms. */
interface Term {
  readonly above: number;
  readonly below: number;
  /** Powers sorted by name; none of them is 0. */
  readonly powers: readonly (readonly [name: string, power: number])[];
}

/** A symbolic length: a name whose value is not known yet, or an expression of such names. */
export class Size {
  private readonly terms: readonly Term[];
  private readonly text: string;

  private constructor(terms: readonly Term[]) {
    this.terms = Object.freeze(terms);
    this.text = printed(terms);
    Object.freeze(this);
  }

  static of(length: Length): Size {
    if (length instanceof Size) return length;
    return new Size(length === 0 ? [] : [{ above: length, below: 1, powers: [] }]);
  }

  static named(name: string): Size {
    return new Size([{ above: 1, below: 1, powers: [[name, 1]] }]);
  }

  plus(other: Length): Size {
    return new Size(collectedTerms([...this.terms, ...Size.of(other).terms]));
  }

  minus(other: Length): Size {
    return this.plus(Size.of(other).times(-1));
  }

  times(other: Length): Size {
    const factors = Size.of(other).terms;
    return new Size(collectedTerms(this.terms.flatMap((a) => factors.map((b) => productOfTerms(a, b)))));
  }

  /** The quotient. @throws FftError `invalid-size` for a divisor that is 0, or one that is a sum with names */
  over(other: Length): Size {
    const divisor = Size.of(other);
    if (divisor.text === this.text && this.terms.length > 0) return Size.of(1);
    const [term, ...more] = divisor.terms;
    if (!term || more.length > 0) {
      const message = `size: ${this.text} cannot be divided by ${divisor.text}; divide by numbers, sizes and products of these.`;
      throw new FftError('invalid-size', message, { path: 'size' });
    }
    const inverse = productOfTerms(
      { above: term.below, below: term.above, powers: [] },
      { above: 1, below: 1, powers: term.powers.map(([name, power]) => [name, -power]) },
    );
    return this.times(new Size([inverse]));
  }

  /** The length as a number, whole or not; undefined where it contains names. */
  get known(): number | undefined {
    const [term, ...more] = this.terms;
    if (!term) return 0;
    return more.length === 0 && term.powers.length === 0 ? term.above / term.below : undefined;
  }

  /** The length as a number, for given numbers of its names; undefined if one is missing. */
  at(sizes: ReadonlyMap<string, number>): number | undefined {
    let sum = 0;
    for (const { above, below, powers } of this.terms) {
      let [numerator, denominator] = [above, below];
      for (const [name, power] of powers) {
        const value = sizes.get(name);
        if (value === undefined) return undefined;
        if (power > 0) numerator *= value ** power;
        else denominator *= value ** -power;
      }
      sum += numerator / denominator;
    }
    // The rounding error of thirds, say, is taken out of a sum that is a whole number.
    return Math.abs(sum - Math.round(sum)) < 1e-9 ? Math.round(sum) : sum;
  }

  /** The names that occur in the size. */
  names(): string[] {
    return [...new Set(this.terms.flatMap(({ powers }) => powers.map(([name]) => name)))];
  }

  /** The canonical text; sizes are equal exactly where their texts are. */
  toString(): string {
    return this.text;
  }
}

/**
 * A named length: all arrays that have it are equally long, whatever its value.
 * @throws FftError `invalid-size` for a text that is not a name
 */
export function size(name: string): Size {
  if (typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name)) return Size.named(name);
  throw new FftError('invalid-size', `size: it takes a name like 'n'; it was given ${show(name)}.`, { path: 'size' });
}

/**
 * A given length as a size.
 * @param pattern the pattern that was given the length, for messages
 * @param least the smallest length allowed
 * @throws FftError `invalid-size`
 */
export function sizeOfLength(pattern: string, given: unknown, least = 1): Size {
  if (given instanceof Size) {
    if (given.known === undefined) return given;
    return sizeOfLength(pattern, given.known, least);
  }
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= least) return Size.of(given);
  const what = least === 0 ? 'a whole number from 0 up' : 'a positive whole number';
  const message = `${pattern}: it takes ${what} or a size, size('n'), as a length; it was given ${show(given)}.`;
  throw new FftError('invalid-size', message, { path: pattern });
}

function productOfTerms(a: Term, b: Term): Term {
  const powers = new Map(a.powers);
  for (const [name, power] of b.powers) powers.set(name, (powers.get(name) ?? 0) + power);
  const left = [...powers].filter(([, power]) => power !== 0).sort(([x], [y]) => (x < y ? -1 : 1));
  return lowest(a.above * b.above, a.below * b.below, left);
}

function lowest(above: number, below: number, powers: Term['powers']): Term {
  const by = gcd(above, below) * Math.sign(below);
  return { above: above / by, below: below / by, powers };
}

function collectedTerms(terms: readonly Term[]): Term[] {
  const sums = new Map<string, Term>();
  for (const term of terms) {
    const key = term.powers.map(([name, power]) => `${name}^${power}`).join('*');
    const known = sums.get(key);
    const { above, below, powers } = term;
    sums.set(
      key,
      known
        ? lowest(known.above * below + above * known.below, known.below * below, powers)
        : lowest(above, below, powers),
    );
  }
  // Terms with names come in the order of their texts, the constant term last.
  return [...sums]
    .filter(([, { above }]) => above !== 0)
    .sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1))
    .map(([, term]) => term);
}

function printed(terms: readonly Term[]): string {
  if (terms.length === 0) return '0';
  const parts = terms.map(({ above, below, powers }, n) => {
    const over = powers.filter(([, power]) => power < 0).map(([name, power]) => [name, -power] as const);
    const factors = [
      ...(Math.abs(above) !== 1 || powers.every(([, power]) => power < 0) ? [`${Math.abs(above)}`] : []),
      ...powers.filter(([, power]) => power > 0).map(raised),
    ];
    const divisors = [...(below === 1 ? [] : [`${below}`]), ...over.map(raised)];
    const text = [factors.join('*'), ...divisors].join('/');
    return n === 0 ? (above < 0 ? `-${text}` : text) : above < 0 ? ` - ${text}` : ` + ${text}`;
  });
  return parts.join('');
}

function raised([name, power]: readonly [string, number]): string {
  return power === 1 ? name : `${name}^${power}`;
}
