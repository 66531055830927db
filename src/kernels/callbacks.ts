/**
 * Callbacks of users as parts of views: what one built of symbols (problem/record.ts) is built again of the values and indices of
 * a kernel, for an element whose place in the tensor is known.
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
  type Real,
  scale,
} from '../ir/index.ts';
import type { SideCallback } from '../plan/tree/leaf.ts';

/**
 * What a callback makes of a value.
 * @param at where the element is in the tensor, along each dimension that the callback asks for
 * @param guard where the value is wanted: elsewhere nothing may be read for it
 */
export type CallbackMap = (x: Expressions, value: Complex, at: readonly Index[], guard: Guard) => Complex;

/** @param operands the arrays that a kernel reads beside its sides. */
export function callOf({ built, arrays, asks }: SideCallback, operands: ReadonlyMap<string, ArrayRef>): CallbackMap {
  const array = (name: string) => operands.get(arrays[name]!)!;
  return (x, value, places, guard) => {
    const at = (dimension: number) => places[asks.indexOf(dimension)]!;
    const made: (Real | Index)[] = [];
    for (const node of built.nodes) made.push(nodeOf(node, { x, value, at, guard, array, made }));
    const [re, im] = built.result.map((n) => made[n] as Real);
    return { re: re!, im: im ?? x.constant(0) };
  };
}

type CallbackNode = SideCallback['built']['nodes'][number];

/** One call of a callback. */
interface Calling {
  readonly x: Expressions;
  readonly value: Complex;
  readonly at: (dimension: number) => Index;
  readonly guard: Guard;
  readonly array: (name: string) => ArrayRef;
  /** What the nodes before have become. */
  readonly made: readonly (Real | Index)[];
}

function nodeOf(node: CallbackNode, { x, value, at, guard, array, made }: Calling): Real | Index {
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
    case 'select': {
      const [left, right] = node.less;
      return x.select('less', real(left), real(right), real(node.a), real(node.b));
    }
    case 'load':
      return x.load(array(node.array), integer(node.index), guard);
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
