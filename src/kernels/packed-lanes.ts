/**
 * Complex numbers that need not be taken apart: where memory holds them as pairs, a vector may hold some whole numbers
 * instead of the real or imaginary parts of twice as many. Sums, differences and real factors treat both parts alike;
 * a quarter turn exchanges neighbouring lanes and changes signs. The first pass of a transform is so spared the shuffles that
 * take its input apart, and has half as many values at hand.
 */
import {
  add,
  type Complex,
  coefficient,
  div,
  Expressions,
  type Index,
  isComputed,
  type LoadNode,
  mod,
  type Real,
  type Store,
  scale,
  sub,
  substitute,
  type Var,
  variable,
} from '../ir/index.ts';

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

  /**
   * For numbers that every item reads as pairs, all of them, side by side with its neighbours'; a single item may have the parts of
   * each anywhere in one array. Undefined for others.
   */
  static over(item: Var, points: readonly Complex[]): PairExpressions | undefined {
    const distances = points.map(({ re, im }) => {
      if (re.op !== 'load' || im.op !== 'load' || re.array !== im.array || re.guard || im.guard) return undefined;
      // What is converted on its way is converted part by part.
      if (!isComputed(re.array.type)) return undefined;
      return item.count === 1 || distanceAlong(re.index, item) === 2 ? known(sub(im.index, re.index)) : undefined;
    });
    if (distances.some((distance) => distance === undefined)) return undefined;
    const all = (distance: number) => distances.every((other) => other === distance);
    if (item.count > 1 && !all(1) && !all(-1)) return undefined;
    return new PairExpressions(item, all(-1));
  }

  /** A number that `over` was given. */
  number({ re, im }: Complex): Complex {
    const [first, second] = (this.exchanged ? [im, re] : [re, im]) as [LoadNode, LoadNode];
    const place = substitute(first.index, new Map([[this.item, div(this.part, 2)]]));
    return both(this.load(first.array, add(place, this.secondAt(known(sub(second.index, first.index))!))));
  }

  /** 0 in the first lane of a number, in the second one how far it is to its place. */
  private secondAt(distance: number): Index {
    return scale(mod(this.part, 2), distance);
  }

  /**
   * One store for both parts of a number, where `put` would store them at a known distance and has the same done to both. Undefined
   * for others, and where items follow each other.
   */
  whole({ re: value }: Complex, put: (value: Complex) => readonly Store[]): Store | undefined {
    const [first, second] = put(both(value));
    if (!first || !second || first.value !== second.value || first.array !== second.array) return undefined;
    // Which of them is which: views may exchange the parts, or compute one of both.
    const apart = put({ re: value, im: this.swap(value) });
    const own = apart.findIndex((store) => store.value === first.value);
    if (own < 0 || apart[1 - own]?.value !== this.swap(first.value)) return undefined;
    const [even, odd] = (own === 1) === this.exchanged ? [first, second] : [second, first];
    const { item, part } = this;
    const distance = known(sub(odd.index, even.index));
    const disjoint = item.count === 1 || (coefficient(even.index, item) ?? 0) >= 2;
    if (distance === undefined || !disjoint || even.guard || odd.guard || !isComputed(even.array.type))
      return undefined;
    const place = substitute(even.index, new Map([[item, div(part, 2)]]));
    return { ...even, index: add(place, this.secondAt(distance)) };
  }

  /** @param by the same in both lanes. */
  override cmul(a: Complex, by: Complex): Complex {
    return this.csub(this.cscale(a, by.re), this.quarter(this.cscale(a, by.im)));
  }

  override quarter({ re }: Complex): Complex {
    const rotated = this.conj(this.swap(re));
    return both(this.exchanged ? this.neg(rotated) : rotated);
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
    else if (atom.kind === 'mod') sum += factor * distanceAlong(atom.argument, item);
  }
  return sum;
}

function known({ constant, terms }: Index): number | undefined {
  return terms.length === 0 ? constant : undefined;
}
