/**
 * Interleaved complex numbers in vectors: a vector holds whole complex numbers, real and imaginary parts in neighbouring lanes, instead
 * of the real or the imaginary parts of twice as many numbers. Sums, differences and products with real factors treat both parts alike; a
 * quarter turn exchanges neighbouring lanes and changes signs. The first pass of a transform then needs no shuffles to separate the parts
 * of its input, and half as many registers.
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
} from '../../ir/index.ts';

/** Expressions on packed numbers: both fields of a complex value are the same node, whose neighbouring lanes hold the two parts. */
export class PackedExpressions extends Expressions {
  override readonly perNumber = 1;
  /** The loop variable that replaces the item: it counts the parts of all items, two for each. */
  readonly part: Var;
  private readonly item: Var;
  /** Whether the imaginary part comes first in memory, as in the input of an inverse transform. */
  private readonly exchanged: boolean;

  private constructor(item: Var, exchanged: boolean) {
    super();
    this.item = item;
    this.part = variable(item.name, 2 * item.count);
    this.exchanged = exchanged;
  }

  /**
   * Expressions for points that are pairs of reals in memory, adjacent to the pairs of neighbouring items. With a single item, the two
   * parts of a point may lie anywhere in one array. Undefined for other points.
   */
  static over(item: Var, points: readonly Complex[]): PackedExpressions | undefined {
    const distances = points.map(({ re, im }) => {
      if (re.op !== 'load' || im.op !== 'load' || re.array !== im.array || re.guard || im.guard) return undefined;
      // Converted loads handle single parts only.
      if (!isComputed(re.array.type)) return undefined;
      return item.count === 1 || stepAlong(re.index, item) === 2 ? constantIndex(sub(im.index, re.index)) : undefined;
    });
    if (distances.some((distance) => distance === undefined)) return undefined;
    const all = (distance: number) => distances.every((other) => other === distance);
    if (item.count > 1 && !all(1) && !all(-1)) return undefined;
    return new PackedExpressions(item, all(-1));
  }

  /** The packed value of a point that was given to `over`. */
  number({ re, im }: Complex): Complex {
    const [first, second] = (this.exchanged ? [im, re] : [re, im]) as [LoadNode, LoadNode];
    const place = substitute(first.index, new Map([[this.item, div(this.part, 2)]]));
    return packedNumber(
      this.load(first.array, add(place, this.secondAt(constantIndex(sub(second.index, first.index))!))),
    );
  }

  /** The distance of a lane's place from the place of the number's first lane: 0 in the first lane, `distance` in the second. */
  private secondAt(distance: number): Index {
    return scale(mod(this.part, 2), distance);
  }

  /**
   * A single store for both parts of a number; undefined unless `put` stores both parts, computed in the same way, at a known distance from
   * each other and from the parts of neighbouring items.
   */
  whole({ re: value }: Complex, put: (value: Complex) => readonly Store[]): Store | undefined {
    const [first, second] = put(packedNumber(value));
    if (!first || !second || first.value !== second.value || first.array !== second.array) return undefined;
    // A view may exchange the parts or compute one part from both. Distinguishable values for the parts reveal that.
    const apart = put({ re: value, im: this.swap(value) });
    const real = apart.findIndex((store) => store.value === first.value);
    if (real < 0 || apart[1 - real]?.value !== this.swap(first.value)) return undefined;
    const [even, odd] = (real === 1) === this.exchanged ? [first, second] : [second, first];
    const { item, part } = this;
    const distance = constantIndex(sub(odd.index, even.index));
    const disjoint = item.count === 1 || (coefficient(even.index, item) ?? 0) >= 2;
    if (distance === undefined || !disjoint || even.guard || odd.guard || !isComputed(even.array.type))
      return undefined;
    const place = substitute(even.index, new Map([[item, div(part, 2)]]));
    return { ...even, index: add(place, this.secondAt(distance)) };
  }

  /** @param by a factor whose parts are the same in both lanes, such as a root from a table */
  override cmul(a: Complex, by: Complex): Complex {
    return this.csub(this.cscale(a, by.re), this.quarter(this.cscale(a, by.im)));
  }

  override quarter({ re }: Complex): Complex {
    const rotated = this.conj(this.swap(re));
    return packedNumber(this.exchanged ? this.neg(rotated) : rotated);
  }
}

/** A packed number: both fields are the same node. */
function packedNumber(value: Real): Complex {
  return { re: value, im: value };
}

/**
 * The step of an index from item to item. Remainders count like their arguments, because items that share a vector never lie on both sides
 * of a wrap-around.
 */
function stepAlong({ terms }: Index, item: Var): number {
  let sum = 0;
  for (const { atom, factor } of terms) {
    if (atom === item) sum += factor;
    else if (atom.kind === 'mod') sum += factor * stepAlong(atom.argument, item);
  }
  return sum;
}

/** The value of an index without variables; undefined for others. */
function constantIndex({ constant, terms }: Index): number | undefined {
  return terms.length === 0 ? constant : undefined;
}
