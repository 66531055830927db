/** C functions that convert between storage types and arithmetic types. */
import type { ElementType } from '../../ir/index.ts';
import { type Conversion, conversionName } from './lowering/memory.ts';
import { binary, call, cast, type Expression, type FunctionTree, integer, name, type ValueType } from './tree/tree.ts';

const HALF: ValueType = { type: 'f16', pair: false };

/** How a language converts a half-precision number: bodies of functions between the names `bits` and `value`. */
export interface HalfWords {
  fromHalf(type: ElementType): readonly string[];
  toHalf(type: ElementType): readonly string[];
}

/** The conversion of a single value. Conversions of pairs call it twice. */
export function partConversion({ from, to }: Conversion): Conversion {
  return { from: { ...from, pair: false }, to: { ...to, pair: false } };
}

export function involvesHalf({ from, to }: Conversion): boolean {
  return from.type === 'f16' || to.type === 'f16';
}

/** A conversion function other than those that read or write a single half. */
export function conversionFunction(conversion: Conversion): FunctionTree {
  const { from, to } = conversion;
  const value = name('value');
  const each = (part: Expression): Expression => {
    if (!involvesHalf(conversion)) return cast({ ...to, pair: false }, part);
    const one = partConversion(conversion);
    return call(conversionName(one.from, one.to), part);
  };
  const parts = from.pair ? halvesOfWord(value, from).map(each) : [each(value)];
  return {
    name: conversionName(from, to),
    parameters: [{ name: 'value', type: from }],
    result: to,
    body: [{ op: 'return', value: to.pair ? joinedParts(parts as [Expression, Expression], to) : parts[0]! }],
  };
}

/** The two half-precision numbers in one word. */
function halvesOfWord(value: Expression, { type }: ValueType): Expression[] {
  if (type !== 'f16') return (['x', 'y'] as const).map((member) => ({ op: 'member', member, of: [value] }));
  const low = binary('&', value, integer(0xffff, 'unsigned'));
  return [low, binary('>>', value, integer(16))].map((part) => cast(HALF, part));
}

function joinedParts([re, im]: readonly [Expression, Expression], { type }: ValueType): Expression {
  if (type !== 'f16') return { op: 'pair', type: type as ElementType, of: [re, im] };
  const high = binary('<<', cast('unsigned', im), integer(16));
  return binary('|', cast('unsigned', re), high);
}
