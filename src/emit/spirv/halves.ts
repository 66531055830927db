/**
 * Conversions of halves by integer operations, because not every device has instructions for them, and existing instructions may lose
 * subnormals or round differently.
 */
import type { ElementType } from '../../ir/index.ts';
import { conversionFunction, involvesHalf, partConversion } from '../spmd/conversions.ts';
import { type Conversion, conversionName } from '../spmd/lowering/memory.ts';
import {
  type BinaryWord,
  binary,
  call,
  cast,
  declareConstant,
  type Expression,
  type FunctionTree,
  integer,
  name,
  type Statement,
  type ValueType,
} from '../spmd/tree/tree.ts';

/** Functions that bit-cast a single to an integer and back. */
export const BITS = 'bits_of_float';
export const FLOAT = 'float_of_bits';

const HALF: ValueType = { type: 'f16', pair: false };
const SINGLE: ValueType = { type: 'f32', pair: false };
const DOUBLE: ValueType = { type: 'f64', pair: false };

/** All functions that a kernel's conversions call. */
export function conversionFunctions(conversions: readonly Conversion[]): FunctionTree[] {
  const found = new Map<string, FunctionTree>();
  const add = (each: FunctionTree) => found.set(each.name, each);
  for (const conversion of conversions) {
    if (involvesHalf(conversion)) {
      const { from, to } = partConversion(conversion);
      add(halfToSingle());
      add(toHalf());
      if (to.type === 'f64') add(doubleFromHalf());
      if (from.type === 'f64') add(halfFromDouble());
    }
    if (conversion.from.pair || !involvesHalf(conversion)) add(conversionFunction(conversion));
  }
  return [...found.values()];
}

const unsignedWord = (value: number): Expression => integer(value, 'unsigned');
const of = (text: BinaryWord, a: Expression, b: Expression | number): Expression =>
  binary(text, a, typeof b === 'number' ? unsignedWord(b) : b);
const selection = (...operands: [condition: Expression, then: Expression, otherwise: Expression]): Expression => {
  return { op: 'select', of: operands };
};

function converter(from: ValueType, to: ValueType, own: string, body: Statement[], value: Expression): FunctionTree {
  return {
    name: conversionName(from, to),
    parameters: [{ name: own, type: from }],
    result: to,
    body: [...body, { op: 'return', value }],
  };
}

/** Half → single. Subnormals are integers times 2⁻²⁴, which singles represent exactly. */
function halfToSingle(): FunctionTree {
  const [bits, size, small, normal] = ['bits', 'size', 'small', 'normal'].map(name) as [
    Expression,
    Expression,
    Expression,
    Expression,
  ];
  const multiple: Expression = { op: 'real', value: 2 ** -24, type: 'f32' };
  const lifted = selection(of('>=', size, 0x7c00), unsignedWord(0x70000000), unsignedWord(0x38000000));
  const sign = of('<<', of('&', bits, 0x8000), 16);
  const body = [
    declareConstant('size', 'unsigned', of('&', bits, 0x7fff)),
    declareConstant('small', 'unsigned', call(BITS, binary('*', cast(SINGLE, size), multiple))),
    declareConstant('normal', 'unsigned', of('+', of('<<', size, 13), lifted)),
  ];
  const value = call(FLOAT, of('|', sign, selection(of('<', size, 0x400), small, normal)));
  return converter(HALF, SINGLE, 'bits', body, value);
}

/** Single → half, rounded to nearest even according to the bits that are shifted out. Numbers that are too large become infinity. */
function toHalf(): FunctionTree {
  const names = ['value', 'bits', 'size', 'exponent', 'tiny', 'shift', 'lost', 'whole', 'half', 'odd', 'near'] as const;
  const [value, bits, size, exponent, tiny, shift, lost, whole, half, odd, near] = names.map(name) as Expression[];
  const least = (a: Expression, most: number) => selection(of('<', a, most), a, unsignedWord(most));
  const mantissa = of('|', of('&', size!, 0x7fffff), 0x800000);
  const body = [
    declareConstant('bits', 'unsigned', call(BITS, value!)),
    declareConstant('size', 'unsigned', of('&', bits!, 0x7fffffff)),
    declareConstant('exponent', 'unsigned', least(of('>>', size!, 23), 126)),
    declareConstant('tiny', 'bool', of('<', size!, 0x38800000)),
    declareConstant('shift', 'unsigned', of('-', unsignedWord(126), exponent!)),
    declareConstant('lost', 'unsigned', selection(tiny!, least(shift!, 25), unsignedWord(13))),
    declareConstant('whole', 'unsigned', selection(tiny!, mantissa, of('-', size!, 0x38000000))),
    declareConstant('half', 'unsigned', of('<<', unsignedWord(1), of('-', lost!, 1))),
    declareConstant('odd', 'unsigned', of('&', of('>>', whole!, lost!), 1)),
    declareConstant('near', 'unsigned', of('>>', of('+', of('+', whole!, of('-', half!, 1)), odd!), lost!)),
  ];
  const finite = selection(of('>=', size!, 0x477ff000), unsignedWord(0x7c00), near!);
  const any = selection(of('>', size!, 0x7f800000), unsignedWord(0x7e00), finite);
  return converter(SINGLE, HALF, 'value', body, of('|', of('&', of('>>', bits!, 16), 0x8000), any));
}

function doubleFromHalf(): FunctionTree {
  return converter(HALF, DOUBLE, 'bits', [], cast(DOUBLE, call(conversionName(HALF, SINGLE), name('bits'))));
}

/** Double → half by way of a single that is truncated, with its last bit set if a bit was lost, so that only the second step rounds. */
function halfFromDouble(): FunctionTree {
  const [value, nearest, back, bits, cut, odd] = ['value', 'nearest', 'back', 'bits', 'cut', 'odd'].map(
    name,
  ) as Expression[];
  const size = (e: Expression): Expression => ({ op: 'math', name: 'abs', type: 'f64' as ElementType, of: [e] });
  const body = [
    declareConstant('nearest', SINGLE, cast(SINGLE, value!)),
    declareConstant('back', DOUBLE, cast(DOUBLE, nearest!)),
    declareConstant('bits', 'unsigned', call(BITS, nearest!)),
    declareConstant('cut', 'unsigned', selection(binary('>', size(back!), size(value!)), of('-', bits!, 1), bits!)),
    declareConstant('odd', 'unsigned', selection(binary('!=', back!, value!), of('|', cut!, 1), cut!)),
  ];
  return converter(DOUBLE, HALF, 'value', body, call(conversionName(SINGLE, HALF), call(FLOAT, odd!)));
}
