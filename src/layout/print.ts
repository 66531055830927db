/**
 * Layouts as text, for people and as keys: two texts are equal if and only if the normal forms are equal.
 *
 * `input+511[256, 2]:[-2, 1]` is memory with an offset, a shape and strides; a minus before it means negated. Constructors follow their
 * operand, with their dimension: `… |> join(0)`. Rows are sums of coordinates i0, i1, …
 */
import type { Layout, Order, Row, RowBound } from './layout.ts';

/** The normal form of a layout as text. */
export function printLayout(of: Layout): string {
  switch (of.kind) {
    case 'memory': {
      const { array, shape, strides, offset, negated } = of;
      const at = offset === 0 ? '' : offset > 0 ? `+${offset}` : `${offset}`;
      return `${negated ? '-' : ''}${array}${at}[${shape.join(', ')}]:[${strides.join(', ')}]`;
    }
    case 'zeros':
      return `zeros[${of.shape.join(', ')}]`;
    case 'concat':
      return `concat(${of.dimension})(${of.parts.map(printLayout).join(', ')})`;
    case 'affine':
      return `${printLayout(of.of)} |> at[${of.shape.join(', ')}](${of.rows.map(printRow).join(', ')})`;
    case 'join':
      return `${printLayout(of.of)} |> join(${of.dimension})`;
    case 'gather':
      return `${printLayout(of.of)} |> gather(${of.dimension}, ${printOrder(of.order)})`;
    case 'map':
      return `${of.negated ? '-' : ''}${of.by}(${[printLayout(of.of), ...of.at.map(printRow)].join('; ')})${of.part ? `[${printRow(of.part)}]` : ''}`;
    case 'mask':
      return `${printLayout(of.of)} |> mask(${of.bounds.map(printBound).join(' and ')})`;
    case 'alternate':
      return `${printLayout(of.of)} |> alternate(${printRow(of.row)})`;
  }
}

function printRow({ first, steps }: Row): string {
  let text = '';
  steps.forEach((step, d) => {
    if (step === 0) return;
    const size = Math.abs(step) === 1 ? '' : `${Math.abs(step)}·`;
    text += `${step < 0 ? (text ? ' - ' : '-') : text ? ' + ' : ''}${size}i${d}`;
  });
  if (first === 0 && text) return text;
  return text ? `${text} ${first < 0 ? '-' : '+'} ${Math.abs(first)}` : `${first}`;
}

function printBound({ row, modulo, from, to, outside }: RowBound): string {
  const value = modulo === undefined ? printRow(row) : `(${printRow(row)}) mod ${modulo}`;
  return `${value} ${outside ? 'not ' : ''}in ${from}..${to - 1}`;
}

function printOrder(order: Order): string {
  return 'entries' in order
    ? `[${order.entries.join(', ')}]`
    : `${order.inverse ? 'inverse ' : ''}powers modulo ${order.powersOf}`;
}
