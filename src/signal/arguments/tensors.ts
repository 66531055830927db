/** Rows of blocks in dense arrays. Shapes have the slowest axis first. */

/** A box in an array, by its first index along each axis. */
export interface BoxPlace {
  readonly shape: readonly number[];
  readonly origin: readonly number[];
}

/**
 * Calls `visit` for each row, along the last axis, of a block that lies in two arrays.
 *
 * @param block lengths of the block, none of them 0
 * @param visit gets the row's first element in each array
 */
export function eachRowOfBlock(
  block: readonly number[],
  a: BoxPlace,
  b: BoxPlace,
  visit: (a: number, b: number) => void,
): void {
  const stepsOf = ({ shape }: BoxPlace) => {
    let stride = 1;
    return shape.map((_, d) => (stride *= shape[shape.length - d] ?? 1)).reverse();
  };
  const [inA, inB] = [stepsOf(a), stepsOf(b)];
  const startIn = ({ origin }: BoxPlace, steps: readonly number[]) =>
    origin.reduce((sum, index, d) => sum + index * steps[d]!, 0);
  const outer = block.length - 1;
  const index = Array.from({ length: outer }, () => 0);
  let [atA, atB] = [startIn(a, inA), startIn(b, inB)];
  for (;;) {
    visit(atA, atB);
    let d = outer - 1;
    for (; d >= 0; d--) {
      atA += inA[d]!;
      atB += inB[d]!;
      if (++index[d]! < block[d]!) break;
      atA -= index[d]! * inA[d]!;
      atB -= index[d]! * inB[d]!;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}
