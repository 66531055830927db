/**
 * The geometry of a stage: relates elements of a tile to the element and column numbers of a stage, which runs the passes along one
 * dimension of the tile.
 */
import { add, coordinates, div, type Index, type IndexLike, index, mod, scale, sub, type Var } from '../../ir/index.ts';
import type { Leaf, PassesStep } from '../../plan/tree/leaf.ts';
import type { Carried } from './stage.ts';

/** An element of a tile: one coordinate for each dimension, then the transform of the tile. */
export type TileElement = readonly Index[];

/** The elements of a tile that a block holds during a stage, and the numbering of its columns. */
export class Geometry {
  readonly length: number;
  readonly columns: number;
  private readonly stage: PassesStep;
  private readonly leaf: Leaf;
  private readonly rank: Var;
  /** The length of each column dimension in one block. */
  private readonly counts: readonly number[];
  /** The number of elements along the split dimension in one block. */
  private readonly share: number;

  constructor(leaf: Leaf, stage: PassesStep, rank: Var) {
    this.leaf = leaf;
    this.stage = stage;
    this.rank = rank;
    this.length = leaf.lengths[stage.dimension]!;
    this.share = stage.split === undefined ? 0 : leaf.lengths[stage.split]! / leaf.blocks;
    this.counts = stage.columns.map((d) => (d === -1 ? leaf.tile : d === stage.split ? this.share : leaf.lengths[d]!));
    this.columns = this.counts.reduce((a, b) => a * b, 1);
  }

  /** The element of the tile that is element n of column c. */
  element(n: IndexLike, c: IndexLike): TileElement {
    const element: Index[] = [...this.leaf.lengths.map(() => index(0)), index(0)];
    element[this.stage.dimension] = index(n);
    const digits = coordinates(c, this.counts);
    this.stage.columns.forEach((d, place) => {
      const digit = digits[place]!;
      if (d === -1) element[this.leaf.lengths.length] = digit;
      else element[d] = d === this.stage.split ? add(scale(this.rank, this.share), digit) : digit;
    });
    return element;
  }

  /**
   * The column of the mirrored bins of column c: every coordinate k becomes −k, except the coordinate that counts transforms of the tile.
   */
  opposite(c: IndexLike): Index {
    const digits = coordinates(c, this.counts);
    let opposite: Index = index(0);
    let step = 1;
    this.stage.columns.forEach((d, place) => {
      const [digit, count] = [digits[place]!, this.counts[place]!];
      opposite = add(opposite, scale(d === -1 ? digit : mod(sub(count, digit), count), step));
      step *= count;
    });
    return opposite;
  }

  coordinate(d: number, c: IndexLike): Index {
    return this.element(0, c)[d]!;
  }

  /** The place in this stage of an element that the stage before has computed. */
  placeOf(element: TileElement, before: Geometry): Carried {
    const { dimension, split, columns } = this.stage;
    let c: Index = index(0);
    let step = 1;
    columns.forEach((d, place) => {
      const at = d === -1 ? element.at(-1)! : d === split ? mod(element[d]!, this.share) : element[d]!;
      c = add(c, scale(at, step));
      step *= this.counts[place]!;
    });
    const place = { n: element[dimension]!, c };
    if (this.leaf.blocks === 1 || before.stage.split === split) return place;
    return { ...place, block: div(element[split!]!, this.share) };
  }
}
