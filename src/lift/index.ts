/**
 * omnifft/lift: programs of parallel patterns, in the manner of LIFT, compiled for the device that they run on.
 *
 * `program` makes a program, `device.compile` makes it ready to run, `interpret` says what it means.
 * @module lift
 */
import { compileProgram } from '../engine/compiling/compile.ts';
import { noteProgram } from '../engine/compiling/registry.ts';
import { type Inputs, type Program, programOf, type Result, type ValuesOf } from '../patterns/index.ts';

export type {
  CompiledProgram,
  EnqueueProgramOptions,
  InputData,
  ProgramKernel,
} from '../engine/compiling/compiled-program.ts';
export type { CompileProgramOptions } from '../engine/compiling/registry.ts';
export {
  type Arr,
  type AsValue,
  abs,
  add,
  array,
  array2,
  array3,
  attempt,
  type Boundary,
  type Complex,
  type Condition,
  complex,
  complexOf,
  conj,
  dft,
  div,
  type Elements,
  everywhere,
  exp,
  fft,
  type Inputs,
  InputType,
  id,
  idft,
  ifft,
  im,
  interpret,
  irfft,
  iterate,
  join,
  type Length,
  less,
  log,
  type MapPattern,
  type MemoryPattern,
  map,
  mapGlobal,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  max,
  min,
  mul,
  type NumberLike,
  neg,
  norm2,
  o,
  omega,
  type Parts,
  Program,
  type Promoted,
  pad,
  pipe,
  print,
  type Real,
  type RealLike,
  type ReducePattern,
  type Result,
  type Rule,
  re,
  real,
  reduce,
  reduceSeq,
  rewrite,
  rfft,
  rules,
  Size,
  type Step,
  type Strategy,
  select,
  size,
  slide,
  split,
  sqrt,
  sub,
  type TraceEntry,
  type Tuple,
  toGlobal,
  toLocal,
  toPrivate,
  transpose,
  tuple,
  type ValuesOf,
  zip,
} from '../patterns/index.ts';

/**
 * A program: what is computed from which inputs.
 * @param inputs types by name: `{ v: real(n) }`
 * @param f is called once, with the inputs' values, and gives the result: a number or arrays of numbers
 * @throws FftError `invalid-program` where anything in it is wrong, with the pattern as `problems[0].path`
 */
export function program<I extends Inputs>(inputs: I, f: (values: ValuesOf<I>) => Result): Program<I> {
  return programOf(inputs, f, note);
}

function note(made: Program): void {
  noteProgram(made, compileProgram);
}
