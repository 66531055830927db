/**
 * Callbacks of users as parts of views: what one built of symbols (problem/record.ts) is built again of the values and indices of
 * a kernel, for an element whose place in the tensor is known.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  div,
  type Expressions,
  type Guard,
  type Index,
  type IndexLike,
  index,
  mod,
  type Real,
  range,
  scale,
  simplified,
} from '../ir/index.ts';
import type { SideCallback, TensorPlace } from '../plan/tree/leaf.ts';

/** Where an element is in the tensor, along a dimension. */
export type PlaceOf = (dimension: number) => Index;

/** What a callback makes of a value. @param guard where the value is wanted: elsewhere nothing may be read for it. */
export type CallbackMap = (x: Expressions, value: Complex, at: PlaceOf, guard: Guard) => Complex;

/** @param operands the arrays that a kernel reads beside its sides. */
export function callOf({ built, arrays }: SideCallback, operands: ReadonlyMap<string, ArrayRef>): CallbackMap {
  const array = (name: string) => operands.get(arrays[name]!)!;
  return (x, value, at, guard) => {
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
  readonly at: PlaceOf;
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

/** A view whose numbers are what a callback makes of them. What is not read is 0, and no call of it. */
export function calledView(
  view: ComplexView,
  call: CallbackMap,
  placeOf: (at: readonly IndexLike[]) => PlaceOf,
): ComplexView {
  return {
    load: (x, at, guard = []) => {
      const zero = x.constant(0);
      const needed = simplified(guard);
      if (!needed) return { re: zero, im: zero };
      const { re, im } = call(x, view.load(x, at, needed), placeOf(at), needed);
      return { re: x.where(needed, re, zero), im: x.where(needed, im, zero) };
    },
    store: (x, at, value, guard = []) => {
      const needed = simplified(guard);
      return needed ? view.store(x, at, call(x, value, placeOf(at), needed), needed) : [];
    },
  };
}

/** A place along a dimension of the tensor, from coordinates of a leaf. */
export function tensorIndex({ first, terms }: TensorPlace, coordinates: readonly IndexLike[]): Index {
  return add(
    first,
    ...terms.map(({ dimension, step, gap }) => {
      const at = coordinates[dimension]!;
      return scale(gap ? beyond(at, gap) : at, step);
    }),
  );
}

/** A number that counts what is outside a gap as one that counts all. */
function beyond(at: IndexLike, { from, to }: { readonly from: number; readonly to: number }): Index {
  if (from === 0) return add(at, to);
  return add(at, scale(reached(at, from, range(at)[1] + 1), to - from));
}

/** Whether an index below `count` has come to a number, as a quotient that is 0 or 1. */
export function reached(at: IndexLike, number: number, count: number): Index {
  const most = 2 ** Math.ceil(Math.log2(Math.max(number, count - number)));
  return div(add(at, most - number), most);
}
