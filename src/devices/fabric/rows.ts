/** Copies of boxes between memories that this thread sees, row by row. */
import type { Part } from './fabric.ts';

/** A box in memory; offset and strides are counted in elements. */
export type Rows = Pick<Part, 'offset' | 'lengths' | 'strides'>;

interface Walk {
  readonly lengths: readonly number[];
  /** Bytes from one row to the next in each dimension but the first. */
  readonly steps: readonly number[];
  readonly start: number;
  /** Bytes from one element of a row to the next. */
  readonly step: number;
}

/** Copies a box between two memories. @param elementBytes bytes of an element in both. The boxes have the same lengths */
export function copyRows(
  from: ArrayBufferView,
  source: Rows,
  to: ArrayBufferView,
  target: Rows,
  elementBytes: number,
): void {
  const [read, write] = [bytesOfView(from), bytesOfView(to)];
  const { lengths } = source;
  const merged = mergedDimensions(source, target);
  if (lengths.some((length) => length === 0)) return;
  const a = walkOf(merged.lengths, merged.source, source.offset, elementBytes);
  const b = walkOf(merged.lengths, merged.target, target.offset, elementBytes);
  const copyRow = a.step === elementBytes && b.step === elementBytes ? copyStretch : copyRowOfElements;
  const count = a.lengths[0]!;
  walkRows(a, b, (x, y) => copyRow(read, x, a.step, write, y, b.step, count, elementBytes));
}

/** Rows of bytes at equal distances in two memories. */
export interface RowPair {
  /** Bytes before the first row in the memory that is read. */
  readonly read: number;
  readonly write: number;
  readonly rowBytes: number;
  readonly rows: number;
  /** Bytes from one row to the next in the memory that is read. */
  readonly readPitch: number;
  readonly writePitch: number;
}

/** Divides the copy of a box into calls that each copy rows at equal distances. */
export function eachRowPair(source: Rows, target: Rows, elementBytes: number, take: (pair: RowPair) => void): void {
  if (source.lengths.some((length) => length === 0)) return;
  const merged = mergedDimensions(source, target);
  // Elements that do not follow one another are copied as rows of one element.
  if (merged.source[0] !== 1 || merged.target[0] !== 1)
    for (const [list, first] of [
      [merged.lengths, 1],
      [merged.source, 1],
      [merged.target, 1],
    ] as const)
      list.unshift(first);
  const [count, rows = 1, ...outer] = merged.lengths;
  const walk = (strides: readonly number[], offset: number): Walk => {
    const steps = strides.slice(2).map((stride) => stride * elementBytes);
    return { lengths: [1, ...outer], steps, start: offset * elementBytes, step: 0 };
  };
  const pair = {
    ...{ rowBytes: count! * elementBytes, rows },
    readPitch: (merged.source[1] ?? 0) * elementBytes,
    writePitch: (merged.target[1] ?? 0) * elementBytes,
  };
  walkRows(walk(merged.source, source.offset), walk(merged.target, target.offset), (read, write) =>
    take({ ...pair, read, write }),
  );
}

/** The memory of a view, as bytes. */
export function bytesOfView(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength);
}

/** The dimensions of a copy, where dimensions that follow one another in both memories are merged into one. */
function mergedDimensions(source: Rows, target: Rows) {
  const merged = { lengths: [1], source: [1], target: [1] };
  source.lengths.forEach((length, d) => {
    if (length === 1) return;
    const last = merged.lengths.length - 1;
    const [a, b] = [source.strides[d]!, target.strides[d]!];
    const follows = (strides: number[], stride: number) => strides[last]! * merged.lengths[last]! === stride;
    if (merged.lengths[last] === 1) [merged.lengths[last], merged.source[last], merged.target[last]] = [length, a, b];
    else if (follows(merged.source, a) && follows(merged.target, b)) merged.lengths[last]! *= length;
    else {
      merged.lengths.push(length);
      merged.source.push(a);
      merged.target.push(b);
    }
  });
  return merged;
}

function walkOf(lengths: readonly number[], strides: readonly number[], offset: number, bytes: number): Walk {
  return {
    lengths,
    step: strides[0]! * bytes,
    steps: strides.slice(1).map((stride) => stride * bytes),
    start: offset * bytes,
  };
}

function walkRows(a: Walk, b: Walk, take: (a: number, b: number) => void): void {
  const outer = a.lengths.slice(1);
  const rows = outer.reduce((x, y) => x * y, 1);
  const at = outer.map(() => 0);
  let [x, y] = [a.start, b.start];
  for (let row = 0; row < rows; row++) {
    take(x, y);
    for (let d = 0; d < outer.length; d++) {
      x += a.steps[d]!;
      y += b.steps[d]!;
      if (++at[d]! < outer[d]!) break;
      x -= a.steps[d]! * outer[d]!;
      y -= b.steps[d]! * outer[d]!;
      at[d] = 0;
    }
  }
}

type CopyRow = (
  ...row: [
    read: Uint8Array,
    x: number,
    stepX: number,
    write: Uint8Array,
    y: number,
    stepY: number,
    count: number,
    bytes: number,
  ]
) => void;

const copyStretch: CopyRow = (read, x, _, write, y, __, count, bytes) => {
  write.set(read.subarray(x, x + count * bytes), y);
};

const copyRowOfElements: CopyRow = (read, x, stepX, write, y, stepY, count, bytes) => {
  for (let n = 0; n < count; n++) {
    const [from, to] = [x + n * stepX, y + n * stepY];
    for (let k = 0; k < bytes; k++) write[to + k] = read[from + k]!;
  }
};
