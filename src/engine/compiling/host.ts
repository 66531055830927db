/** The interface through which programs of patterns use the device that they are compiled for. */
import type { Backend } from '../../devices/device.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { KernelCache } from '../programs/cache.ts';
import type { DirectionProgram } from '../programs/program.ts';
import type { TransformTask } from './transforms.ts';

/** Services of a device for the programs that are compiled for it. */
export interface ProgramHost {
  readonly backend: Backend;
  readonly cache: KernelCache;
  /** @throws FftError `device-closed` */
  check(): void;
  /** @throws FftError (as a rejection) `unsupported-precision` */
  requirePrecision(precision: 'single' | 'double'): Promise<void>;
  /** The length, in complex numbers, of a prepared spectrum for a convolution that `transform` has planned. */
  preparedLength(problem: ProblemInput): number;
  /** The program of one task of a problem. @throws FftError (as a rejection) the errors of planning */
  transform(problem: ProblemInput, task: TransformTask): Promise<DirectionProgram>;
  /** Registers a program to be destroyed with the device; `letGo` ends that. */
  keep(program: { destroy(): void }): void;
  letGo(program: { destroy(): void }): void;
}
