/**
 * Lines: layouts of a single dimension, which say what a transform sees there (the Hermitian half of a spectrum, the even extension
 * of a DCT, a chirp's zeros), and the application of a line to a dimension of a tensor.
 *
 * A line is a layout over `wholeLine(n)`, the n reals along that dimension, or over `numbers(n)`, n complex numbers. In the result, the first
 * dimension of the line replaces the dimension of the tensor; further dimensions of the line, which hold parts or the two lines of a
 * pair, follow all dimensions of the tensor.
 */

import type { Layout, Memory, Row, RowBound } from '../layout.ts';
import { permute } from '../normal-form/constructors.ts';
import { zerosNode } from '../normal-form/nodes.ts';
import * as normal from '../normal-form/normal-form.ts';
import { memory, normalMemory } from '../normal-form/plain.ts';
import { floorModulus } from '../normal-form/rows.ts';
import { alternated, negated } from '../normal-form/signs.ts';

const REALS = 'line';
const NUMBERS = 'numbers';

/** The elements along one dimension: n. */
export function wholeLine(count: number): Layout {
  return memory(REALS, [count], [1]);
}

/** The complex numbers along one dimension: n, 2. */
export function numbers(count: number): Layout {
  return memory(NUMBERS, [count, 2], [2, 1]);
}

/** Whether a line is over complex numbers. */
export function isOverNumbers(of: Layout): boolean {
  if (of.kind === 'memory') return of.array === NUMBERS;
  if (of.kind === 'concat') return of.parts.some(isOverNumbers);
  return 'of' in of && isOverNumbers(of.of);
}

/**
 * A tensor whose dimension `d` is seen through a line. The line is not all zeros. If it is over complex numbers, the last dimension of
 * the tensor holds their parts.
 */
export function seenThrough(of: Layout, d: number, by: Layout): Layout {
  const parts = isOverNumbers(by);
  return new Tensor(of, d, parts).seen(by);
}

class Tensor {
  private readonly of: Layout;
  private readonly d: number;
  private readonly parts: boolean;
  /** Number of dimensions of the tensor, without the dimension of parts that a line over complex numbers uses. */
  private readonly rank: number;

  constructor(of: Layout, d: number, parts: boolean) {
    this.of = of;
    this.d = d;
    this.parts = parts;
    this.rank = parts ? of.shape.length - 1 : of.shape.length;
  }

  seen(by: Layout): Layout {
    const shape = this.shape(by.shape);
    switch (by.kind) {
      case 'zeros':
        return zerosNode(shape);
      case 'memory':
        return this.elementsOfTensor(by, shape);
      case 'affine': {
        const inner = this.seen(by.of);
        const rows = inner.shape.map((_, k) => {
          const j = this.lineDimension(k);
          return j === undefined ? this.coordinateRow(k, shape.length) : this.row(by.rows[j]!, shape.length);
        });
        return normal.affine(inner, shape, rows);
      }
      case 'concat':
        return normal.concatenated(
          this.place(by.dimension),
          by.parts.map((part) => this.seen(part)),
        );
      case 'join':
        return this.joined(by.dimension, this.seen(by.of));
      case 'gather':
        return normal.gathered(this.place(by.dimension), by.order, this.seen(by.of));
      case 'mask': {
        const bounds = by.bounds.map((bound): RowBound => ({ ...bound, row: this.row(bound.row, shape.length) }));
        return normal.masked(bounds, this.seen(by.of));
      }
      case 'alternate':
        return alternated(this.row(by.row, shape.length), this.seen(by.of));
      case 'map':
        throw new RangeError('through a line that calls a function: functions are called for elements of tensors');
    }
  }

  /** The dimension of the result that dimension `j` of a line becomes. */
  private place(j: number): number {
    return j === 0 ? this.d : this.rank + j - 1;
  }

  /** The dimension of the line that dimension `k` of the result is; undefined if it is one of the tensor. */
  private lineDimension(k: number): number | undefined {
    if (k === this.d) return 0;
    return k < this.rank ? undefined : k - this.rank + 1;
  }

  private shape(line: readonly number[]): number[] {
    const others = this.of.shape.slice(0, this.rank);
    return [...others.map((count, k) => (k === this.d ? line[0]! : count)), ...line.slice(1)];
  }

  /** A row over the dimensions of a line as a row over the dimensions of the result. */
  private row({ first, steps }: Row, rank: number): Row {
    const placed = new Array<number>(rank).fill(0);
    steps.forEach((step, j) => {
      placed[this.place(j)] = step;
    });
    return { first, steps: placed };
  }

  private coordinateRow(k: number, rank: number): Row {
    return { first: 0, steps: Array.from({ length: rank }, (_, d) => (d === k ? 1 : 0)) };
  }

  /** The elements of the tensor at the places of a line's memory; a complex number takes two places. */
  private elementsOfTensor(line: Memory, shape: number[]): Layout {
    if (this.of.kind === 'memory') return this.elementsInMemory(this.of, line, shape);
    const { offset, strides, negated: isNegated } = line;
    const rank = shape.length;
    const place: Row = { first: offset, steps: strides };
    const by = (divided: (value: number) => number) =>
      this.row({ first: divided(place.first), steps: place.steps.map(divided) }, rank);
    const along = this.parts ? by((value) => Math.floor(value / 2)) : this.row(place, rank);
    const rows = this.of.shape.map((_, k) => {
      if (k === this.d) return along;
      return this.parts && k === this.rank ? by((value) => ((value % 2) + 2) % 2) : this.coordinateRow(k, rank);
    });
    const seen = normal.affine(this.of, shape, rows);
    return isNegated ? negated(seen) : seen;
  }

  /** `elementsOfTensor` for a tensor that is memory. */
  private elementsInMemory(of: Memory, { offset, strides, negated: isNegated }: Memory, shape: number[]): Layout {
    const step = of.strides[this.d]!;
    const ofPart = this.parts ? of.strides[this.rank]! : 0;
    const distance = (places: number) =>
      this.parts ? Math.floor(places / 2) * step + floorModulus(places, 2) * ofPart : places * step;
    const placed = shape.map((_, k) => {
      const j = this.lineDimension(k);
      return (j === undefined ? of.strides[k]! : distance(strides[j]!)) + 0;
    });
    const isEither = isNegated !== of.negated ? true : undefined;
    return normalMemory(of.array, shape, placed, of.offset + distance(offset), isEither);
  }

  /** Joins dimensions `j` and `j` + 1 of a line. In the result, dimensions 0 and 1 of the line are not neighbours, so they are moved first. */
  private joined(j: number, of: Layout): Layout {
    if (j > 0) return normal.joinedDimensions(this.place(j), of);
    const second = this.place(1);
    const order = of.shape.map((_, k) => k).filter((k) => k !== second);
    order.splice(this.d + 1, 0, second);
    return normal.joinedDimensions(this.d, permute(of, order));
  }
}
