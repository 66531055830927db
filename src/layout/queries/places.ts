/**
 * Queries about the addresses that a layout touches. Answers are conservative: `extent` may be too large, `mayMeet` may be true for
 * layouts that share no address, and `separate`, `injective` and `aligned` are true only if they surely hold.
 */

import type { Layout } from '../layout.ts';
import { type Box, type BoxTerm, boxes } from './boxes.ts';
import { reaches, type Summand } from './combinations.ts';

/** The least and the greatest place in an array. */
export interface Extent {
  readonly array: string;
  readonly least: number;
  readonly most: number;
}

/** The range of addresses in each array that a layout touches. */
export function extent(of: Layout): readonly Extent[] {
  const found = new Map<string, Extent>();
  for (const { array, offset, terms } of boxes(of)) {
    const ends = terms.map(({ stride, count }) => stride * (count - 1));
    const least = ends.reduce((sum, end) => sum + Math.min(0, end), offset);
    const most = ends.reduce((sum, end) => sum + Math.max(0, end), offset);
    const other = found.get(array);
    found.set(
      array,
      other ? { array, least: Math.min(least, other.least), most: Math.max(most, other.most) } : { array, least, most },
    );
  }
  return [...found.values()];
}

/** Whether every address is a multiple of `by`, as addresses of pairs of reals are multiples of 2. */
export function aligned(of: Layout, by: number): boolean {
  return boxes(of).every(
    ({ offset, terms }) => offset % by === 0 && terms.every(({ stride, count }) => count === 1 || stride % by === 0),
  );
}

/** Whether two layouts may have an address in common. */
export function mayMeet(a: Layout, b: Layout): boolean {
  const others = boxes(b);
  return boxes(a).some((box) => others.some((other) => meets(box, other) !== false));
}

function meets(a: Box, b: Box): boolean | undefined {
  if (a.array !== b.array) return false;
  const term = ({ stride, count }: BoxTerm, sign: 1 | -1): Summand => ({
    stride: stride * sign,
    least: 0,
    most: count - 1,
  });
  const terms = [...a.terms.map((each) => term(each, 1)), ...b.terms.map((each) => term(each, -1))];
  return reaches(terms, b.offset - a.offset);
}

/** Whether no two elements have the same address. @returns undefined if that is unknown */
export function injective(of: Layout): boolean | undefined {
  switch (of.kind) {
    case 'zeros':
      return true;
    case 'memory':
      return isInjective(of.shape, of.strides);
    case 'alternate':
    case 'join':
      return injective(of.of);
    case 'map':
      return of.part ? injective(of.of) || undefined : injective(of.of);
    case 'mask':
    case 'gather':
      return injective(of.of) || undefined;
    case 'affine': {
      // The coordinates of the inner layout are packed into one number, so that distinct coordinates are distinct numbers.
      let next = 1;
      const packed = of.of.shape.map((count) => {
        const stride = next;
        next *= count;
        return stride;
      });
      const strides = of.shape.map((_, d) => of.rows.reduce((sum, { steps }, k) => sum + steps[d]! * packed[k]!, 0));
      return (isInjective(of.shape, strides) && injective(of.of)) || undefined;
    }
    case 'concat': {
      const parts = of.parts.map(injective);
      if (parts.includes(false)) return false;
      const apart = of.parts.every((part, n) => of.parts.slice(n + 1).every((other) => !mayMeet(part, other)));
      if (apart) return parts.includes(undefined) ? undefined : true;
      const plain = of.parts.filter(({ kind }) => kind === 'memory');
      const met = plain.some((part, n) =>
        plain.slice(n + 1).some((other) => meets(boxes(part)[0]!, boxes(other)[0]!) === true),
      );
      return met ? false : undefined;
    }
  }
}

function isInjective(shape: readonly number[], strides: readonly number[]): boolean | undefined {
  const twice = reaches(
    strides.map((stride, d) => ({ stride, least: 1 - shape[d]!, most: shape[d]! - 1, counted: true })),
    0,
  );
  return twice === undefined ? undefined : !twice;
}

/**
 * Whether no transform writes where another one reads, so that a launch may work in place.
 * @param batch the dimensions that count transforms, in both layouts; all others are coordinates of one transform
 */
export function separate(input: Layout, output: Layout, batch: readonly number[]): boolean {
  const several = batch.filter((d) => input.shape[d]! > 1 || output.shape[d]! > 1);
  const written = boxes(output);
  return boxes(input).every((box) => written.every((other) => isSeparate(box, other, several)));
}

function isSeparate(read: Box, written: Box, batch: readonly number[]): boolean {
  if (read.array !== written.array || meets(read, written) === false) return true;
  let target = written.offset - read.offset;
  const summands: Summand[] = [];
  const term = (box: Box, d: number) => box.terms.find(({ dimension }) => dimension === d);
  for (const d of batch) {
    const [reads, writes] = [term(read, d), term(written, d)];
    if (!reads || !writes || reads.stride !== writes.stride) return false;
    // The counted integer is the number of the reading transform minus that of the writing one: 0 if they are one transform.
    const shift = reads.from! - writes.from!;
    target += reads.stride * shift;
    const [least, most] = [shift - (writes.count - 1), shift + reads.count - 1];
    summands.push({ stride: reads.stride, least, most, counted: true });
  }
  const isInTransform = ({ dimension }: BoxTerm) => dimension === undefined || !batch.includes(dimension);
  for (const { stride, count } of read.terms.filter(isInTransform))
    summands.push({ stride, least: 0, most: count - 1 });
  for (const { stride, count } of written.terms.filter(isInTransform))
    summands.push({ stride: -stride, least: 0, most: count - 1 });
  return batch.length === 0 || reaches(summands, target) === false;
}
