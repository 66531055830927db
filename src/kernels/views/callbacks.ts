/**
 * The user's callbacks inside kernels: a callback is recorded once as an expression of symbols (problem/recording/record.ts), and rebuilt here with
 * the values and indices of one element of the tensor.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  div,
  type Expressions,
  type Guard,
  type Index,
  index,
  mod,
  type NumberType,
  type Real,
  scale,
} from '../../ir/index.ts';
import type { SideCallback } from '../../plan/tree/leaf.ts';
import { exponentialOf, logarithm } from './logarithms.ts';

/**
 * Applies a callback to a value.
 * @param at coordinates of the element in the tensor, for each dimension that the callback asks for
 * @param guard condition under which the value is needed; the loads of the callback take place under it only
 */
export type CallbackMap = (x: Expressions, value: Complex, at: readonly Index[], guard: Guard) => Complex;

/** @param operands the arrays that a kernel reads beside its input and output @param type the type that the kernel computes in */
export function callbackMapOf(
  { built, arrays, asks }: SideCallback,
  operands: ReadonlyMap<string, ArrayRef>,
  type: NumberType,
): CallbackMap {
  const array = (name: string) => operands.get(arrays[name]!)!;
  return (x, value, places, guard) => {
    const at = (dimension: number) => places[asks.indexOf(dimension)]!;
    const made: (Real | Index)[] = [];
    for (const node of built.nodes) made.push(nodeOf(node, { x, type, value, at, guard, array, made }));
    const [re, im] = built.result.map((n) => made[n] as Real);
    return { re: re!, im: im ?? x.constant(0) };
  };
}

type CallbackNode = SideCallback['built']['nodes'][number];

/** One call of a callback. */
interface Calling {
  readonly x: Expressions;
  readonly type: NumberType;
  readonly value: Complex;
  readonly at: (dimension: number) => Index;
  readonly guard: Guard;
  readonly array: (name: string) => ArrayRef;
  /** The nodes that are rebuilt so far. */
  readonly made: readonly (Real | Index)[];
}

function nodeOf(node: CallbackNode, { x, type, value, at, guard, array, made }: Calling): Real | Index {
  const real = (n: number) => made[n] as Real;
  const integer = (n: number) => made[n] as Index;
  switch (node.op) {
    case 're':
    case 'im':
      return value[node.op];
    case 'constant':
      return x.constant(node.value);
    case 'neg':
    case 'sqrt':
    case 'abs':
      return x[node.op](real(node.a));
    case 'log':
    case 'exp': {
      const series = node.op === 'log' ? logarithm : exponentialOf;
      return series(x, real(node.a), type);
    }
    case 'select': {
      const [left, right] = node.less;
      return x.select('less', real(left), real(right), real(node.a), real(node.b));
    }
    case 'load':
      return x.load(array(node.array), integer(node.index), guard);
    case 'where': {
      const { index: of, from, to, a, b } = node;
      return x.where([{ index: integer(of), from, to }], real(a), real(b));
    }
    case 'place':
      return at(node.dimension);
    case 'integer':
      return index(node.value);
    case 'index-add':
      return add(integer(node.a), integer(node.b));
    case 'index-mul':
      return scale(integer(node.a), node.by);
    case 'index-div':
      return div(integer(node.a), node.by);
    case 'index-mod':
      return mod(integer(node.a), node.by);
    default:
      return x[node.op](real(node.a), real(node.b));
  }
}
