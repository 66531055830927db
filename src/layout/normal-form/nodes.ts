/** Makes frozen nodes of normal forms from their fields; nothing is checked or simplified here. */
import type {
  Affine,
  Alternating,
  Concat,
  Gather,
  Join,
  Layout,
  Mapped,
  Masked,
  Memory,
  Order,
  Row,
  RowBound,
  Zeros,
} from '../layout.ts';

const freeze = Object.freeze;

export function memoryNode(
  array: string,
  shape: readonly number[],
  strides: readonly number[],
  offset: number,
  negated: true | undefined,
): Memory {
  freeze(shape);
  freeze(strides);
  return freeze(
    negated
      ? { kind: 'memory', array, shape, strides, offset, negated }
      : { kind: 'memory', array, shape, strides, offset },
  );
}

export function zerosNode(shape: readonly number[]): Zeros {
  return freeze({ kind: 'zeros', shape: freeze(shape) });
}

export function affineNode(shape: readonly number[], rows: readonly Row[], of: Affine['of']): Affine {
  return freeze({ kind: 'affine', shape: freeze(shape), rows: frozenRows(rows), of });
}

export function concatNode(dimension: number, parts: readonly Layout[]): Concat {
  const total = parts.reduce((sum, { shape }) => sum + shape[dimension]!, 0);
  const shape = parts[0]!.shape.map((count, d) => (d === dimension ? total : count));
  return freeze({ kind: 'concat', shape: freeze(shape), dimension, parts: freeze(parts) });
}

export function joinNode(dimension: number, of: Layout): Join {
  return freeze({ kind: 'join', shape: freeze(joinedShape(of.shape, dimension)), dimension, of });
}

/** The shape after dimensions `d` and `d` + 1 became one. */
export function joinedShape(shape: readonly number[], d: number): number[] {
  return [...shape.slice(0, d), shape[d]! * shape[d + 1]!, ...shape.slice(d + 2)];
}

export function gatherNode(dimension: number, order: Order, count: number, of: Layout): Gather {
  const shape = of.shape.map((length, d) => (d === dimension ? count : length));
  if ('entries' in order) freeze(order.entries);
  return freeze({ kind: 'gather', shape: freeze(shape), dimension, order: freeze(order), of });
}

export function mapNode({ by, at, of, part, negated }: Omit<Mapped, 'kind' | 'shape'>): Mapped {
  const shape = part ? freeze(of.shape.slice(0, -1)) : of.shape;
  const base = { kind: 'map', shape, by, at: frozenRows(at), of, ...(part ? { part: frozenRow(part) } : {}) } as const;
  return freeze(negated ? { ...base, negated } : base);
}

export function maskNode(bounds: readonly RowBound[], of: Masked['of']): Masked {
  for (const bound of bounds) {
    frozenRow(bound.row);
    freeze(bound);
  }
  return freeze({ kind: 'mask', shape: of.shape, bounds: freeze(bounds), of });
}

export function alternateNode(row: Row, of: Alternating['of']): Alternating {
  return freeze({ kind: 'alternate', shape: of.shape, row: frozenRow(row), of });
}

function frozenRow(row: Row): Row {
  freeze(row.steps);
  return freeze(row);
}

function frozenRows(rows: readonly Row[]): readonly Row[] {
  rows.forEach(frozenRow);
  return freeze(rows);
}
