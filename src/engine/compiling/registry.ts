/**
 * The registry of programs of patterns and their compilers. `omnifft/lift` registers each program that it makes with its compiler, so that
 * pages without programs load no compiler.
 */
import type { Inputs, Program } from '../../patterns/language/program.ts';
import type { CompiledProgram } from './compiled-program.ts';
import type { ProgramHost } from './host.ts';

/** See `Device.compile`. */
export interface CompileProgramOptions {
  /** Numbers for the program's sizes: `{ n: 4096 }`. */
  readonly sizes?: { readonly [name: string]: number };
  /** The precision of arithmetic and of arrays. Default: `single`. */
  readonly precision?: 'single' | 'double';
  /** `fast`, the default, chooses by estimates; `measure` takes the fastest of up to eight ways, timed on the device, which takes a few seconds. */
  readonly strategy?: 'fast' | 'measure';
}

export type ProgramCompiler = (
  host: ProgramHost,
  program: Program,
  options: CompileProgramOptions,
) => Promise<CompiledProgram>;

const compilers = new WeakMap<object, ProgramCompiler>();

export function noteProgram(program: object, compiler: ProgramCompiler): void {
  compilers.set(program, compiler);
}

export function compilerOf(program: unknown): ProgramCompiler | undefined {
  return compilers.get(program as object);
}

export type { Inputs, Program, ProgramHost };
