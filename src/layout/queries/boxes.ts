/** Boxes: sets of addresses of the form offset + Σ stride · index, which together cover every address that a layout touches. */
import type { Affine, Layout } from '../layout.ts';
import { dimensionsIn } from '../normal-form/rows.ts';

/** The addresses offset + Σ stride · index in one array, where each index runs from 0 to its count − 1. */
export interface Box {
  readonly array: string;
  readonly offset: number;
  readonly terms: readonly BoxTerm[];
}

export interface BoxTerm {
  readonly stride: number;
  readonly count: number;
  /** The dimension of the layout that this term walks, starting at index `from`; missing if it walks none alone. */
  readonly dimension?: number;
  readonly from?: number;
}

/** Boxes that contain every address of a layout. */
export function boxes(of: Layout): readonly Box[] {
  switch (of.kind) {
    case 'zeros':
      return [];
    case 'memory': {
      const { array, offset, shape, strides } = of;
      const terms = shape.map((count, d): BoxTerm => ({ stride: strides[d]!, count, dimension: d, from: 0 }));
      return [{ array, offset, terms }];
    }
    case 'alternate':
    case 'mask':
      return boxes(of.of);
    case 'map':
      // A function of complex numbers accesses both parts, whichever part of its result an element is.
      return of.part ? renamedBoxes(of.of, (d, from) => (d < of.shape.length ? [d, from] : undefined)) : boxes(of.of);
    case 'concat': {
      let begin = 0;
      return of.parts.flatMap((part) => {
        const start = begin;
        begin += part.shape[of.dimension]!;
        return renamedBoxes(part, (d, from) => [d, d === of.dimension ? from + start : from]);
      });
    }
    case 'join':
      return renamedBoxes(of.of, (d, from) => {
        if (d === of.dimension || d === of.dimension + 1) return undefined;
        return [d < of.dimension ? d : d - 1, from];
      });
    case 'gather':
      return renamedBoxes(of.of, (d, from) => (d === of.dimension ? undefined : [d, from]));
    case 'affine':
      return renamedBoxes(of.of, (k, from) => outerDimension(of, k, from));
  }
}

type WalkedDimension = readonly [dimension: number, from: number] | undefined;

function renamedBoxes(of: Layout, name: (dimension: number, from: number) => WalkedDimension): Box[] {
  return boxes(of).map((box) => ({
    ...box,
    terms: box.terms.map(({ stride, count, dimension, from }): BoxTerm => {
      const named = dimension === undefined ? undefined : name(dimension, from!);
      return named ? { stride, count, dimension: named[0], from: named[1] } : { stride, count };
    }),
  }));
}

/** The dimension of an affine layout that alone walks dimension `k` of the inner layout, with step 1, and walks nothing else. */
function outerDimension({ rows }: Affine, k: number, from: number): WalkedDimension {
  const [d, ...others] = dimensionsIn(rows[k]!);
  if (d === undefined || others.length > 0 || rows[k]!.steps[d] !== 1) return undefined;
  if (rows.some(({ steps }, other) => other !== k && steps[d] !== 0)) return undefined;
  return [d, from - rows[k]!.first];
}
