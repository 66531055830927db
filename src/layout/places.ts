/**
 * What can be asked of the places in memory that a layout touches. All answers are careful: boxes hold at least the places of the layout, layouts
 * that meet are said to meet, and what is said to be separate, injective or aligned is so.
 */
import { type Box, type BoxTerm, boxes } from './boxes.ts';
import { reaches, type Summand } from './combinations.ts';
import type { Layout } from './layout.ts';

/** The least and the greatest place in an array. */
export interface Extent {
  readonly array: string;
  readonly least: number;
  readonly most: number;
}

/** Between which places of each array a layout lies. */
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

/** Whether every place is a multiple of a number, as places of pairs of reals are of 2. */
export function aligned(of: Layout, by: number): boolean {
  return boxes(of).every(
    ({ offset, terms }) => offset % by === 0 && terms.every(({ stride, count }) => count === 1 || stride % by === 0),
  );
}

/** Whether two layouts may have a place in common. */
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
  const terms = [...a.terms.map((own) => term(own, 1)), ...b.terms.map((own) => term(own, -1))];
  return reaches(terms, b.offset - a.offset);
}

/** Whether no two elements have the same place. @returns undefined where nobody knows */
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
      // Coordinates of the inner layout, counted in one.
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
    const [one, other] = [term(read, d), term(written, d)];
    if (!one || !other || one.stride !== other.stride) return false;
    // The distance of two transforms: 0 for a transform and itself.
    const shift = one.from! - other.from!;
    target += one.stride * shift;
    const [least, most] = [shift - (other.count - 1), shift + one.count - 1];
    summands.push({ stride: one.stride, least, most, counted: true });
  }
  const own = ({ dimension }: BoxTerm) => dimension === undefined || !batch.includes(dimension);
  for (const { stride, count } of read.terms.filter(own)) summands.push({ stride, least: 0, most: count - 1 });
  for (const { stride, count } of written.terms.filter(own))
    summands.push({ stride: -stride, least: 0, most: count - 1 });
  return batch.length === 0 || reaches(summands, target) === false;
}
