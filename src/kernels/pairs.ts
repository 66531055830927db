/**
 * Complex numbers that need not be taken apart: where memory holds them as pairs, a vector may hold some whole numbers
 * instead of the real or imaginary parts of twice as many. Sums, differences and real factors treat both parts alike;
 * a turn exchanges neighbouring lanes and changes signs. The first pass of a transform is so spared the shuffles that
 * take its input apart, and has half as many values at hand.
 */
import {
  add,
  type Complex,
  coefficient,
  div,
  Expressions,
  type Index,
  mod,
  type Real,
  type Store,
  scale,
  sub,
  substitute,
  type Var,
  variable,
} from '../ir/index.ts';

type Load = Extract<Real, { op: 'load' }>;

/** Both fields of its complex values are the same node, whose neighbouring lanes are the two parts. */
export class PairExpressions extends Expressions {
  override readonly perNumber = 1;
  /** Counts parts of items, two by two, instead of items. */
  readonly part: Var;
  private readonly item: Var;
  /** The second part comes first in memory, as where an inverse transform reads its input. */
  private readonly exchanged: boolean;

  private constructor(item: Var, exchanged: boolean) {
    super();
    this.item = item;
    this.part = variable(item.name, 2 * item.count);
    this.exchanged = exchanged;
  }

  /** For numbers that every item reads as pairs, all of them, side by side with its neighbours'; undefined for others. */
  static over(item: Var, points: readonly Complex[]): PairExpressions | undefined {
    const distances = points.map(({ re, im }) => {
      if (re.op !== 'load' || im.op !== 'load' || re.array !== im.array || re.guard || im.guard) return undefined;
      // What is converted on its way is converted part by part.
      if (re.array.type === 'f16') return undefined;
      return distanceAlong(re.index, item) === 2 ? known(sub(im.index, re.index)) : undefined;
    });
    const [distance] = distances;
    if ((distance !== 1 && distance !== -1) || distances.some((other) => other !== distance)) return undefined;
    return new PairExpressions(item, distance < 0);
  }

  /** A number that `over` was given. */
  number({ re, im }: Complex): Complex {
    const { array, index: first } = (this.exchanged ? im : re) as Load;
    const place = substitute(first, new Map([[this.item, div(this.part, 2)]]));
    return both(this.load(array, add(place, mod(this.part, 2))));
  }

  /**
   * One store for both parts of a number, from two of the same value at a known distance. Undefined for others: where what
   * is stored was multiplied by a factor on its way, or where items follow each other.
   */
  whole([re, im]: readonly Store[]): Store | undefined {
    const [even, odd] = this.exchanged ? [im!, re!] : [re!, im!];
    const { item, part } = this;
    const distance = known(sub(odd.index, even.index));
    const along = coefficient(even.index, item) ?? 0;
    if (even.value !== odd.value || even.array !== odd.array || distance === undefined || along < 2) return undefined;
    if (even.guard || odd.guard) return undefined;
    const place = substitute(even.index, new Map([[item, div(part, 2)]]));
    return { ...even, index: add(place, scale(mod(part, 2), distance)) };
  }

  override quarter({ re }: Complex): Complex {
    const turned = this.conj(this.swap(re));
    return both(this.exchanged ? this.neg(turned) : turned);
  }
}

function both(value: Real): Complex {
  return { re: value, im: value };
}

/**
 * How far it is from item to item, where there is no way around: items that share a vector never come to lie at both ends of
 * what goes round.
 */
function distanceAlong({ terms }: Index, item: Var): number {
  let sum = 0;
  for (const { atom, factor } of terms) {
    if (atom === item) sum += factor;
    else if (atom.kind === 'mod') sum += factor * distanceAlong(atom.of, item);
  }
  return sum;
}

function known({ constant, terms }: Index): number | undefined {
  return terms.length === 0 ? constant : undefined;
}
