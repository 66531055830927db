/** A side of reals: they are taken for the parts of complex numbers, or continue to more points than there are (sums.ts of the plan). */
import {
  type ArrayRef,
  add,
  type ComplexView,
  type Expressions,
  type Guard,
  type Index,
  type IndexLike,
  mod,
  type Real,
  realParts,
  type Store,
  scale,
  sub,
} from '../ir/index.ts';
import type { FacingSide, LeafSide, OutsideOf } from '../plan/tree/leaf.ts';
import { type CallbackMap, calledView, type PlaceOf } from './callbacks.ts';
import { type Coordinates, type Elements, type Move, outside, placeOf, placesOf } from './places.ts';

/** Whether reals share words of memory with others that other items write: all but pairs of neighbours do. */
export function sharesWords({ beside, axes, batch, offset }: LeafSide): boolean {
  const even = [...axes, ...batch].every((stride) => typeof stride === 'number' && stride % 2 === 0);
  return beside?.apart !== 1 || !even || offset % 2 !== 0;
}

/** Reals as the parts of complex numbers: the imaginary ones beside the others, or zero. */
export function realsView(
  array: ArrayRef,
  side: LeafSide,
  element: Elements,
  coordinates: Coordinates,
  called: CallbackMap | undefined,
): ComplexView {
  const { absent = [], beside, cropped } = side;
  const there = (absent: readonly OutsideOf[], at: readonly IndexLike[], guard: Guard = []) =>
    outside(absent, coordinates(at), guard);
  const second = (at: readonly IndexLike[]) => add(element(at), beside!.apart);
  const reals = calledReals(array, called);
  const points = side.extended ? continued(reals, side, coordinates) : plain(reals, side, coordinates);
  return {
    load: (x, at, guard) => ({
      re: points.load(x, { at, place: element(at) }, there(absent, at, guard)),
      im: beside
        ? points.load(x, { at, place: second(at), second: true }, there(beside.absent ?? [], at, guard))
        : x.constant(0),
    }),
    store: (x, at, { re, im }, guard = []) => {
      const within: Guard = cropped
        ? [...guard, { index: placeOf(cropped.terms, coordinates(at)), from: cropped.from, to: cropped.to }]
        : guard;
      return [
        ...points.store(x, { at, place: element(at) }, re, there(absent, at, within)),
        ...(beside
          ? points.store(x, { at, place: second(at), second: true }, im, there(beside.absent ?? [], at, within))
          : []),
      ];
    },
  };
}

/** Numbers both parts of which are reals of one line; and, where lines come two by two, those of the second one. */
export function facingView(
  array: ArrayRef,
  side: LeafSide,
  element: Elements,
  coordinates: Coordinates,
  called: CallbackMap | undefined,
): { readonly view: ComplexView; readonly beside?: ComplexView } {
  const reals = calledReals(array, called);
  const { swapped, negated, within, count, terms } = side.facing!;
  const numbers = (by: number, absent: readonly OutsideOf[], second?: true): ComplexView => {
    const places = facingPlaces(side, coordinates, stepped(side, second));
    const parts = (at: readonly IndexLike[], own: Guard = []): Record<'re' | 'im', Reached> => {
      const there = outside(absent, coordinates(at), own);
      const guard = count ? [...there, { index: placeOf(terms, coordinates(at)), from: 0, to: count }] : there;
      const proper = within && { ...within, index: placeOf(within.terms, coordinates(at)) };
      const imaginary = proper ? [...guard, { index: proper.index, from: proper.from, to: proper.to }] : guard;
      const place = add(element(at), by);
      const [near, far] = [swapped ? imaginary : guard, swapped ? guard : imaginary];
      const both = [places.near(place, at, near), places.far(place, at, far)] as const;
      return { re: both[swapped ? 1 : 0], im: both[swapped ? 0 : 1] };
    };
    const signed = (x: Expressions, value: Real) => (negated ? x.neg(value) : value);
    return {
      load: (x, at, guard) => {
        const { re, im } = parts(at, guard);
        return { re: reals.load(x, ...re), im: signed(x, reals.load(x, ...im)) };
      },
      store: (x, at, value, guard) => {
        const { re, im } = parts(at, guard);
        return [...put(x, reals, re, value.re), ...put(x, reals, im, signed(x, value.im))];
      },
    };
  };
  const { absent = [], beside } = side;
  return {
    view: numbers(0, absent),
    ...(beside ? { beside: numbers(beside.apart, beside.absent ?? [], true) } : {}),
  };
}

/** Where the two reals of a number are, seen from where it would be in memory were it one real. */
function facingPlaces(side: LeafSide, coordinates: Coordinates, move: Move | undefined) {
  const { first, last, step = 1, stride, terms, of, absent = [] } = side.facing!;
  const reached = (at: readonly IndexLike[], place: Index, real: Index, guard: Guard): Reached => [
    place,
    placesOf(side, coordinates(at), { of, to: real }, move),
    [...guard, ...blocksAt(absent, real)],
  ];
  const number = (at: readonly IndexLike[]) => placeOf(terms, coordinates(at));
  return {
    near: (place: Index, at: readonly IndexLike[], guard: Guard) => {
      const n = number(at);
      const own = add(place, first * stride, scale(n, (step - 1) * stride));
      return reached(at, own, add(first, scale(n, step)), guard);
    },
    far: (place: Index, at: readonly IndexLike[], guard: Guard) => {
      const n = number(at);
      const own = add(place, last * stride, scale(n, -(step + 1) * stride));
      return reached(at, own, sub(last, scale(n, step)), guard);
    },
  };
}

/** A guard that keeps a real out of blocks of its dimension. */
function blocksAt(absent: NonNullable<FacingSide['absent']>, real: Index): Guard {
  return absent.map(({ from, to }) => ({ index: real, from, to, outside: true }));
}

/** Where a real is in memory and in the tensor, and whether it is there. */
type Reached = readonly [Index, PlaceOf, Guard];

function put(x: Expressions, reals: Reals, [place, of, guard]: Reached, value: Real): Store[] {
  return reals.store(x, place, of, value, guard);
}

/** Reals in memory, each at some place in the tensor. */
interface Reals {
  load(x: Expressions, place: Index, of: PlaceOf, guard: Guard): Real;
  store(x: Expressions, place: Index, of: PlaceOf, value: Real, guard: Guard): Store[];
}

function calledReals(array: ArrayRef, called: CallbackMap | undefined): Reals {
  const at = (place: Index, of: PlaceOf): ComplexView => {
    const view = realParts(array, () => place);
    return called ? calledView(view, called, () => of) : view;
  };
  return {
    load: (x, place, of, guard) => at(place, of).load(x, [], guard).re,
    store: (x, place, of, value, guard) => at(place, of).store(x, [], { re: value, im: x.constant(0) }, guard),
  };
}

/** A point of a tile, or the one beside it. */
interface Point {
  readonly at: readonly IndexLike[];
  /** Where it would be, were all of them in memory. */
  readonly place: Index;
  readonly second?: true;
}

/** The reals of points. */
interface Points {
  load(x: Expressions, point: Point, guard: Guard): Real;
  store(x: Expressions, point: Point, value: Real, guard: Guard): Store[];
}

/** The second of two is a step further on in the tensor. */
function stepped({ callback }: LeafSide, second: true | undefined): Move | undefined {
  return second && callback?.beside && { of: callback.beside.of, by: callback.beside.step };
}

function plain(reals: Reals, side: LeafSide, coordinates: Coordinates): Points {
  const of = (point: Point) => placesOf(side, coordinates(point.at), stepped(side, point.second));
  return {
    load: (x, point, guard) => reals.load(x, point.place, of(point), guard),
    store: (x, point, value, guard) => reals.store(x, point.place, of(point), value, guard),
  };
}

/** A real that a point may be, and whether it has the other sign then. */
interface ContinuedReal {
  readonly reached: Reached;
  readonly negated: boolean;
}

/** Where the real of a point is, if it is in the first half, or in the second one, or has come round. */
function continuedPlaces(side: LeafSide, coordinates: Coordinates) {
  const {
    count,
    shift,
    mirror,
    sign,
    stride,
    terms,
    step = 1,
    beside = 0,
    absent = [],
    around,
    twice,
  } = side.extended!;
  const period = mirror - shift + 1;
  /** Where a real of that number is there. */
  const within = (real: Index): Guard => [{ index: real, from: 0, to: count }, ...blocksAt(absent, real)];
  return ({ at, place, second }: Point, guard: Guard): ContinuedReal[] => {
    const number = add(placeOf(terms, coordinates(at)), second ? beside : 0);
    const direct = add(scale(number, step), -shift);
    // The real in the middle of an odd number of points is its own mirror image: halves of points are as long without it.
    const switchover = mirror === 2 * (count - 1) && !twice ? count - 1 : count;
    const mirrored: Guard = twice
      ? [...guard, { index: placeOf(twice.terms, coordinates(at)), from: twice.from, to: twice.to }]
      : guard;
    const others = placesOf(side, coordinates(at), stepped(side, second));
    const piece = (real: Index, from: number, to: number, negated = false, own = guard): ContinuedReal => {
      const of: PlaceOf = (d) => (d === side.callback?.extended ? real : others(d));
      const there = add(place, scale(sub(real, number), stride));
      return { reached: [there, of, [...own, ...within(real), { index: direct, from, to }]], negated };
    };
    return [
      piece(direct, 0, switchover),
      piece(sub(period - 1, direct), switchover, period, sign < 0, mirrored),
      ...(around ? [piece(add(direct, -period), period, period + count, true)] : []),
    ];
  };
}

/** Points that continue the reals of a dimension; and the way back, where every point is a real. */
function continued(reals: Reals, side: LeafSide, coordinates: Coordinates): Points {
  const pieces = continuedPlaces(side, coordinates);
  const { terms, around } = side.extended!;
  const alternating = (x: Expressions, { at }: Point, value: Real) =>
    around ? x.where(evenNumber(placeOf(terms, coordinates(at))), value, x.neg(value)) : value;
  return {
    load: (x, point, guard) => {
      const [first, ...others] = pieces(point, guard);
      // What is not read is 0.
      const value = others.reduce(
        (sum, { reached, negated }) => {
          const real = reals.load(x, ...reached);
          return negated ? x.sub(sum, real) : x.add(sum, real);
        },
        reals.load(x, ...first!.reached),
      );
      return alternating(x, point, value);
    },
    store: (x, point, value, guard) => {
      const own = alternating(x, point, value);
      return pieces(point, guard).flatMap(({ reached, negated }) => put(x, reals, reached, negated ? x.neg(own) : own));
    },
  };
}

function evenNumber(number: Index): Guard {
  return [{ index: mod(number, 2), from: 0, to: 1 }];
}
