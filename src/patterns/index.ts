/** The room's door: the language of patterns, its text, its meaning, and its rewriting. */
export { interpret } from './interpret.ts';
export { join, pad, slide, split, transpose, zip } from './layout-patterns.ts';
export {
  array,
  array2,
  array3,
  dft,
  fft,
  idft,
  ifft,
  irfft,
  iterate,
  type MapPattern,
  type MemoryPattern,
  map,
  mapGlobal,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  o,
  pipe,
  type ReducePattern,
  reduce,
  reduceSeq,
  rfft,
  toGlobal,
  toLocal,
  toPrivate,
} from './patterns.ts';
export { print } from './print.ts';
export { type Inputs, Program, programOf, type ValuesOf } from './program.ts';
export { attempt, everywhere, rewrite, type Step, type Strategy, type TraceEntry } from './rewrite.ts';
export type { Rule } from './rule.ts';
export { rules } from './rules.ts';
export {
  abs,
  add,
  complexOf,
  conj,
  div,
  exp,
  id,
  im,
  less,
  log,
  max,
  min,
  mul,
  neg,
  norm2,
  omega,
  re,
  select,
  sqrt,
  sub,
  tuple,
} from './scalars.ts';
export { type Length, Size, size } from './sizes.ts';
export type {
  Arr,
  AsValue,
  Complex,
  Condition,
  Elements,
  NumberLike,
  Parts,
  Promoted,
  Real,
  RealLike,
  Result,
  Tuple,
} from './static-types.ts';
export { complex, InputType, real } from './types.ts';
export type { Boundary } from './values.ts';
