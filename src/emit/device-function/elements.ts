/**
 * The element that a register holds, as an expression for kernels that load and store by themselves. Common orders of elements have such an
 * expression. Other orders, such as the order of powers after Rader's algorithm, have a table only.
 */
import { binary, type Expression, type IntegerType, integer, name } from '../spmd/tree/tree.ts';
import type { RegisterSide } from './registers.ts';

/** An order of elements: the element of register j of thread t, also for registers beyond the end of the line. */
interface ElementOrder {
  readonly at: (t: number, j: number) => number;
  /** Whether the register holds an element of the line. */
  readonly within: (t: number, j: number) => boolean;
  readonly expression: (type: IntegerType) => readonly [element: Expression, within: Expression];
}

/**
 * The element of a register as an expression in `t` and `j`, which is −1 (in WGSL 2³² − 1) if there is none; undefined if the order of
 * elements has no expression.
 * @param inParts whether a register holds hi and lo of a real number; neighbouring registers are then a complex number, or two packed reals
 */
export function elementExpression(
  { elements, isReal }: RegisterSide,
  inParts: boolean,
  type: IntegerType,
): Expression | undefined {
  const order = ordersOf(elements, isReal || inParts).find(({ at, within }) =>
    elements.every((own, t) => own.every((element, j) => element === (within(t, j) ? at(t, j) : -1))),
  );
  if (!order) return undefined;
  const [element, within] = order.expression(type);
  const none = integer(type === 'unsigned' ? 2 ** 32 - 1 : -1, type);
  return elements.every((own) => own.every((held) => held >= 0))
    ? element
    : { op: 'select', of: [within, element, none] };
}

function ordersOf(elements: RegisterSide['elements'], isReal: boolean): readonly ElementOrder[] {
  const [threads, registers] = [elements.length, elements[0]!.length];
  const most = Math.max(...elements.flat());
  const [t, j] = [name('t'), name('j')];
  const strided = (n: Expression, number: (value: number) => Expression) =>
    binary('+', t, binary('*', number(threads), n));
  if (isReal) {
    const at = (t: number, j: number) => 2 * (t + threads * (j >> 1)) + (j & 1);
    return [
      {
        ...{ at, within: (t, j) => at(t, j) <= most },
        expression(type) {
          const number = (value: number) => integer(value, type);
          const pair = strided(binary('/', j, number(2)), number);
          const element = binary('+', binary('*', number(2), pair), binary('%', j, number(2)));
          return [element, binary('<=', element, number(most))];
        },
      },
      stridedOrder(threads, most, strided),
    ];
  }
  // Bin k is stored beside bin M − k, where M is the last bin.
  const half = Math.ceil(registers / 2);
  const lesser = (t: number, j: number) => t + threads * Math.min(j, registers - 1 - j);
  const mirrored: ElementOrder = {
    at: (t, j) => (j < half ? lesser(t, j) : most - lesser(t, j)),
    within: (t, j) => 2 * lesser(t, j) <= most,
    expression(type) {
      const number = (value: number) => integer(value, type);
      const isFirst = binary('<', j, number(half));
      const nearest: Expression = { op: 'select', of: [isFirst, j, binary('-', number(registers - 1), j)] };
      const bin = strided(nearest, number);
      const element: Expression = { op: 'select', of: [isFirst, bin, binary('-', number(most), bin)] };
      return [element, binary('<=', binary('*', number(2), bin), number(most))];
    },
  };
  return [stridedOrder(threads, most, strided), mirrored];
}

function stridedOrder(
  threads: number,
  most: number,
  strided: (n: Expression, number: (value: number) => Expression) => Expression,
): ElementOrder {
  const at = (t: number, j: number) => t + threads * j;
  return {
    ...{ at, within: (t, j) => at(t, j) <= most },
    expression(type) {
      const number = (value: number) => integer(value, type);
      const element = strided(name('j'), number);
      return [element, binary('<=', element, number(most))];
    },
  };
}
