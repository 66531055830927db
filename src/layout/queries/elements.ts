/** The element at one coordinate of a layout. */
import type { Layout, Row, RowBound } from '../layout.ts';
import { orderIndices } from '../normal-form/normal-form.ts';
import { floorModulus } from '../normal-form/rows.ts';

/** A number in memory; or, without `array` and `place`, a zero that a function is called for. */
export interface Element {
  readonly array?: string;
  readonly place?: number;
  /** Whether the number in memory has the other sign. */
  readonly negated: boolean;
  /** The functions that are called for it, the last one first. */
  readonly calls: readonly ElementCall[];
}

export interface ElementCall {
  readonly by: string;
  /** The coordinates that the function asks for. */
  readonly at: readonly number[];
  /** Whether its result is negated. */
  readonly negated: boolean;
}

/** The element at a coordinate; undefined for a zero. */
export function elementOfLayout(of: Layout, at: readonly number[]): Element | undefined {
  switch (of.kind) {
    case 'zeros':
      return undefined;
    case 'memory': {
      const place = at.reduce((sum, index, d) => sum + index * of.strides[d]!, of.offset);
      return { array: of.array, place, negated: of.negated ?? false, calls: [] };
    }
    case 'affine':
      return elementOfLayout(
        of.of,
        of.rows.map((row) => rowAt(row, at)),
      );
    case 'concat': {
      const inPart = at.slice();
      for (const part of of.parts) {
        if (inPart[of.dimension]! < part.shape[of.dimension]!) return elementOfLayout(part, inPart);
        inPart[of.dimension]! -= part.shape[of.dimension]!;
      }
      return undefined;
    }
    case 'join': {
      const index = at[of.dimension]!;
      const by = of.of.shape[of.dimension + 1]!;
      const digits = [Math.floor(index / by), index % by];
      return elementOfLayout(of.of, [...at.slice(0, of.dimension), ...digits, ...at.slice(of.dimension + 1)]);
    }
    case 'gather': {
      const entry = orderIndices(of.order)[at[of.dimension]!]!;
      return elementOfLayout(
        of.of,
        at.map((index, d) => (d === of.dimension ? entry : index)),
      );
    }
    case 'map': {
      const inside = of.part ? [...at, rowAt(of.part, at)] : at;
      const { calls = [], ...inner } = elementOfLayout(of.of, inside) ?? { negated: false };
      const call = { by: of.by, at: of.at.map((row) => rowAt(row, at)), negated: of.negated ?? false };
      return { ...inner, calls: [call, ...calls] };
    }
    case 'mask':
      return of.bounds.every((bound) => boundHolds(bound, at)) ? elementOfLayout(of.of, at) : undefined;
    case 'alternate': {
      const element = elementOfLayout(of.of, at);
      return element && floorModulus(rowAt(of.row, at), 2) === 1 ? negatedElement(element) : element;
    }
  }
}

function negatedElement(element: Element): Element {
  const [call, ...others] = element.calls;
  if (call) return { ...element, calls: [{ ...call, negated: !call.negated }, ...others] };
  return { ...element, negated: !element.negated };
}

export function rowAt({ first, steps }: Row, at: readonly number[]): number {
  return steps.reduce((sum, step, d) => sum + step * at[d]!, first);
}

function boundHolds({ row, modulo, from, to, outside }: RowBound, at: readonly number[]): boolean {
  const value = modulo === undefined ? rowAt(row, at) : floorModulus(rowAt(row, at), modulo);
  return (value >= from && value < to) !== (outside ?? false);
}
