/**
 * Lines: layouts of one dimension by itself, which say what a transform sees there (the Hermitian half of a spectrum, the even extension
 * of a DCT, a chirp's zeros), and how a tensor is seen through one.
 *
 * A line is a layout over `line(n)`, the n reals along that dimension, or over `numbers(n)`, as many complex numbers. Its first dimension is
 * the dimension that takes the place of those n; others, which hold parts or lines, go behind all dimensions of the tensor.
 */
import { permute } from './constructors.ts';
import type { Layout, Memory, Row, RowBound } from './layout.ts';
import { zerosNode } from './nodes.ts';
import * as normal from './normal-form.ts';
import { memory } from './plain.ts';
import { alternated, negated } from './signs.ts';

const REALS = 'line';
const NUMBERS = 'numbers';

/** The elements along one dimension: n. */
export function line(count: number): Layout {
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
 * A tensor whose dimension `d` is seen through a line, which is not all zeros. n → the first dimension of the line; the other dimensions of the line follow those of
 * the tensor. A line over complex numbers takes the last dimension of the tensor for their parts.
 */
export function through(of: Layout, d: number, by: Layout): Layout {
  const parts = isOverNumbers(by);
  return new Tensor(of, d, parts).seen(by);
}

class Tensor {
  private readonly of: Layout;
  private readonly d: number;
  private readonly parts: boolean;
  /** Its dimensions, without the parts of numbers that the line takes. */
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
        return this.ofTensor(by, shape);
      case 'affine': {
        const inner = this.seen(by.of);
        const rows = inner.shape.map((_, k) => {
          const j = this.ofLine(k);
          return j === undefined ? this.other(k, shape.length) : this.row(by.rows[j]!, shape.length);
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

  /** Where dimension `j` of a line goes. */
  private place(j: number): number {
    return j === 0 ? this.d : this.rank + j - 1;
  }

  /** Which dimension of a line is dimension `k` of the result, if it is one. */
  private ofLine(k: number): number | undefined {
    if (k === this.d) return 0;
    return k < this.rank ? undefined : k - this.rank + 1;
  }

  private shape(own: readonly number[]): number[] {
    const others = this.of.shape.slice(0, this.rank);
    return [...others.map((count, k) => (k === this.d ? own[0]! : count)), ...own.slice(1)];
  }

  private row({ first, steps }: Row, rank: number): Row {
    const own = new Array<number>(rank).fill(0);
    steps.forEach((step, j) => {
      own[this.place(j)] = step;
    });
    return { first, steps: own };
  }

  private other(k: number, rank: number): Row {
    return { first: 0, steps: Array.from({ length: rank }, (_, own) => (own === k ? 1 : 0)) };
  }

  /** Elements of the line at first + Σ step · coordinate; of complex numbers, two reals each. */
  private ofTensor({ offset, strides, negated: isNegated }: Memory, shape: readonly number[]): Layout {
    const rank = shape.length;
    const place: Row = { first: offset, steps: strides };
    const by = (divided: (value: number) => number) =>
      this.row({ first: divided(place.first), steps: place.steps.map(divided) }, rank);
    const own = this.parts ? by((value) => Math.floor(value / 2)) : this.row(place, rank);
    const rows = this.of.shape.map((_, k) => {
      if (k === this.d) return own;
      return this.parts && k === this.rank ? by((value) => ((value % 2) + 2) % 2) : this.other(k, rank);
    });
    const seen = normal.affine(this.of, shape, rows);
    return isNegated ? negated(seen) : seen;
  }

  /** Dimensions `j` and `j` + 1 of a line as one. The first two do not lie side by side. */
  private joined(j: number, of: Layout): Layout {
    if (j > 0) return normal.joined(this.place(j), of);
    const second = this.place(1);
    const order = of.shape.map((_, k) => k).filter((k) => k !== second);
    order.splice(this.d + 1, 0, second);
    return normal.joined(this.d, permute(of, order));
  }
}
