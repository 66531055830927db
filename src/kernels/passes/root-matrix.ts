/** Roots of unity as tables of rows and columns. */

import type { Complex, Expressions, IndexLike, TableBuilder } from '../../ir/index.ts';
import { add, blocked, type Format, interleaved, scale, stackedPlanes } from '../../ir/index.ts';

/** A complex constant table of `rows` × `columns`, the columns along the lanes, in the format that suits the lanes. */
export class RootMatrix {
  private readonly format: Format;
  private readonly start: number;
  private readonly columns: number;

  /**
   * @param shape rows r, r + cycle, r + 2·cycle … continue one run of roots; by default each row is a run.
   * @param step increment of p in e^{−2πi·p/q} from root to root of a run, which begins at p = 0: an integer below 2^53
   * @param fourStep the roots are twiddles of the four-step algorithm
   */
  constructor(
    tables: TableBuilder,
    key: string,
    shape: { rows: number; columns: number; cycle?: number },
    kind: 'blocked' | 'planes' | 'pairs',
    q: number,
    step: (run: number) => number,
    lanes: number,
    fourStep = false,
  ) {
    const { rows, columns, cycle = rows } = shape;
    this.columns = columns;
    const array = tables.ref;
    const plane = rows * columns;
    this.format =
      kind === 'blocked' ? blocked(array, lanes) : kind === 'planes' ? stackedPlanes(array, plane) : interleaved(array);
    const { format } = this;
    const stride = kind === 'pairs' ? 2 : 1;
    // Rows consist of whole blocks; if runs continue in other rows, each row is one block.
    const block = kind === 'blocked' ? lanes : columns;
    const between = cycle === rows ? 0 : (cycle - 1) * columns;
    const skip = kind === 'blocked' ? lanes + 2 * between : stride * between;
    this.start = tables.append(
      `${key}:${rows}x${columns}:${kind}${kind === 'blocked' ? lanes : ''}`,
      2 * plane,
      (start, runs) => {
        const own = fourStep ? { fourStep } : {};
        const common = { q, count: (rows / cycle) * columns, stride, block, skip, ...own };
        for (let run = 0; run < cycle; run++) {
          const [re, im] = format.at(run * columns);
          runs.push({ ...common, p: 0, step: step(run), re: start + re, im: start + im });
        }
      },
    );
  }

  load(x: Expressions, row: IndexLike, column: IndexLike): Complex {
    const element = add(scale(row, this.columns), column);
    const [re, atRe] = this.format.re(element);
    const [im, atIm] = this.format.im(element);
    return { re: x.load(re, add(atRe, this.start)), im: x.load(im, add(atIm, this.start)) };
  }
}
