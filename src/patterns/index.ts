/** The room's door: the language of patterns, its text, its meaning, and its rewriting. */
export { interpret } from './interpreter/interpret.ts';
export { join, pad, slide, split, transpose, zip } from './language/layout-patterns.ts';
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
} from './language/patterns.ts';
export { print } from './language/print.ts';
export { type Inputs, Program, programOf, type ValuesOf } from './language/program.ts';
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
} from './language/scalars.ts';
export { type Length, Size, size } from './language/sizes.ts';
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
} from './language/static-types.ts';
export { complex, InputType, real } from './language/types.ts';
export type { Boundary } from './language/values.ts';
export { attempt, everywhere, rewrite, type Step, type Strategy, type TraceEntry } from './rewriting/rewrite.ts';
export type { Rule } from './rewriting/rule.ts';
export { rules } from './rewriting/rules.ts';
