/**
 * Views: how a tensor of complex numbers lies in arrays of reals.
 *
 * A view answers "where is the element at these coordinates"; it is a composition of small index maps (LIFT's data
 * layout patterns, section 2.1), so a kernel is always `store view ∘ passes ∘ load view` and never knows about strides,
 * planes, blocks or direction.
 */

import type { ArrayRef } from './arrays.ts';
import { type Guard, simplified } from './guard.ts';
import { add, div, type Index, type IndexLike, index, mod, scale } from './integer.ts';
import type { Store } from './kernel.ts';
import type { Complex, Expressions, Real } from './real.ts';

export interface ComplexView {
  /** @param guard condition under which memory is read; otherwise the value is 0. */
  load(x: Expressions, at: readonly IndexLike[], guard?: Guard): Complex;
  /** @param guard condition under which memory is written. */
  store(x: Expressions, at: readonly IndexLike[], value: Complex, guard?: Guard): Store[];
}

/** Where the two parts of one complex element lie. */
export interface Format {
  re(element: Index): readonly [ArrayRef, Index];
  im(element: Index): readonly [ArrayRef, Index];
  /** The places of both parts for an element number known at plan time, for filling tables. */
  at(element: number): readonly [re: number, im: number];
}

/** re, im, re, im … */
export function interleaved(array: ArrayRef): Format {
  return {
    re: (e) => [array, scale(e, 2)],
    im: (e) => [array, add(scale(e, 2), 1)],
    at: (e) => [2 * e, 2 * e + 1],
  };
}

/** Real and imaginary parts in two arrays. */
export function planar(re: ArrayRef, im: ArrayRef): Format {
  return { re: (e) => [re, e], im: (e) => [im, e], at: (e) => [e, e] };
}

/** One array, all real parts first; `plane` is the distance to the imaginary parts. */
export function stackedPlanes(array: ArrayRef, plane: number): Format {
  return { re: (e) => [array, e], im: (e) => [array, add(e, plane)], at: (e) => [e, e + plane] };
}

/**
 * Blocks of `lanes` real parts followed by their imaginary parts: both parts of neighbouring elements are whole
 * vectors in one cache line (the fastest layout between passes on a vector unit, design §4).
 */
export function blocked(array: ArrayRef, lanes: number): Format {
  let last: Index | undefined;
  let place: Index;
  // Both parts of an element are asked for, one after the other.
  const re = (e: Index) => {
    if (e !== last) place = add(scale(div(e, lanes), 2 * lanes), mod(e, lanes));
    last = e;
    return place;
  };
  return {
    re: (e) => [array, re(e)],
    im: (e) => [array, add(re(e), lanes)],
    at: (e) => [e + lanes * Math.floor(e / lanes), e + lanes * Math.floor(e / lanes) + lanes],
  };
}

/**
 * A view at coordinates [element, run]. Every run has the same format and begins at a place of its own.
 * @param begin the place of a run, in reals
 */
export function runsView(format: Format, begin: (run: IndexLike) => Index): ComplexView {
  const viewOf = (run: IndexLike): ComplexView => {
    const start = begin(run);
    const from = ([array, place]: readonly [ArrayRef, Index]) => [array, add(start, place)] as const;
    return formatView({ ...format, re: (e) => from(format.re(e)), im: (e) => from(format.im(e)) }, ([e]) => index(e!));
  };
  return {
    load: (x, [e, run], guard) => viewOf(run!).load(x, [e!], guard),
    store: (x, [e, run], value, guard) => viewOf(run!).store(x, [e!], value, guard),
  };
}

/** A view of a format whose element index is an affine map of the coordinates. */
export function strided(format: Format, strides: readonly number[], offset: IndexLike = 0): ComplexView {
  return formatView(format, (at) => add(offset, ...at.map((coordinate, d) => scale(coordinate, strides[d]!))));
}

/** A view of a format through any index map. */
export function formatView(format: Format, element: (at: readonly IndexLike[]) => Index): ComplexView {
  return {
    load(x, at, guard) {
      const e = element(at);
      const re = format.re(e);
      const im = format.im(e);
      return { re: x.load(re[0], re[1], guard), im: x.load(im[0], im[1], guard) };
    },
    store(_, at, value, guard) {
      const needed = guard && simplified(guard);
      if (guard && !needed) return [];
      const e = element(at);
      return [storeAt(format.re(e), value.re, needed), storeAt(format.im(e), value.im, needed)];
    },
  };
}

/** A view of real parts alone, through any index map. Imaginary parts are loaded as zeros and not stored. */
export function realParts(array: ArrayRef, element: (at: readonly IndexLike[]) => Index): ComplexView {
  return {
    load: (x, at, guard) => ({ re: x.load(array, element(at), guard), im: x.constant(0) }),
    store: (_, at, { re }, guard) => {
      const needed = guard && simplified(guard);
      return guard && !needed ? [] : [storeAt([array, element(at)], re, needed)];
    },
  };
}

function storeAt([array, index]: readonly [ArrayRef, Index], value: Real, guard: Guard | undefined): Store {
  return { array, index, value, ...(guard && guard.length > 0 ? { guard } : {}) };
}

/**
 * Exchanges real and imaginary parts. The inverse transform is `swap ∘ forward ∘ swap`, so both directions share
 * butterflies and twiddle tables (VkFFT guide 2.7.1 shares the tables; here it costs no instruction at all).
 */
export function swapped(view: ComplexView): ComplexView {
  const swap = ({ re, im }: Complex): Complex => ({ re: im, im: re });
  return {
    load: (x, at, guard) => swap(view.load(x, at, guard)),
    store: (x, at, value, guard) => view.store(x, at, swap(value), guard),
  };
}

/** Computes on a value that passes through a view at some coordinates. */
export type ViewMap = (x: Expressions, value: Complex, at: readonly IndexLike[]) => Complex;

/** Applies a function to what is loaded. */
export function mappedLoad(view: ComplexView, map: ViewMap): ComplexView {
  return { load: (x, at, guard) => map(x, view.load(x, at, guard), at), store: view.store };
}

/** Applies a function to what is stored. */
export function mappedStore(view: ComplexView, map: ViewMap): ComplexView {
  return { load: view.load, store: (x, at, value, guard) => view.store(x, at, map(x, value, at), guard) };
}

/** Splits a flat number into coordinates with the given counts, fastest first. The last coordinate is the remaining quotient. */
export function coordinates(flat: IndexLike, counts: readonly number[]): Index[] {
  let rest = index(flat);
  return counts.map((count, d) => {
    if (d === counts.length - 1) return rest;
    const coordinate = mod(rest, count);
    rest = div(rest, count);
    return coordinate;
  });
}
