/** Signs in normal forms. Negation of all elements moves to the memory nodes; an alternating sign is the outermost node. */
import type { Affine, Layout, Masked, Row } from '../layout.ts';
import { affineNode, alternateNode, concatNode, gatherNode, joinNode, mapNode, maskNode, memoryNode } from './nodes.ts';
import { dimensionsIn, normalRow, remainderRow } from './rows.ts';

/** A layout with elements negated where `row` is odd. */
export function alternated(row: Row, of: Layout): Layout {
  if (of.kind === 'zeros') return of;
  const sum =
    of.kind === 'alternate'
      ? { first: row.first + of.row.first, steps: row.steps.map((step, d) => step + of.row.steps[d]!) }
      : row;
  const parity = normalRow(remainderRow(sum, 2), of.shape);
  const inner = of.kind === 'alternate' ? of.of : of;
  const signed = (parity.first === 1 ? negated(inner) : inner) as typeof inner;
  return dimensionsIn(parity).length > 0 ? alternateNode({ first: 0, steps: parity.steps }, signed) : signed;
}

/** A layout with all elements negated. */
export function negated(of: Layout): Layout {
  switch (of.kind) {
    case 'zeros':
      return of;
    case 'memory':
      return memoryNode(of.array, of.shape, of.strides, of.offset, of.negated ? undefined : true);
    case 'map': {
      const { negated: other, ...map } = of;
      return mapNode(other ? map : { ...map, negated: true });
    }
    case 'affine':
      return affineNode(of.shape, of.rows, negated(of.of) as Affine['of']);
    case 'concat':
      return concatNode(of.dimension, of.parts.map(negated));
    case 'join':
      return joinNode(of.dimension, negated(of.of));
    case 'gather':
      return gatherNode(of.dimension, of.order, of.shape[of.dimension]!, negated(of.of));
    case 'mask':
      return maskNode(of.bounds, negated(of.of) as Masked['of']);
    case 'alternate':
      return alternateNode(of.row, negated(of.of) as Exclude<Layout, { kind: 'alternate' }>);
  }
}
