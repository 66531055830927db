/** What programs of patterns need of the device that they are compiled for. */
import type { Backend } from '../../devices/device.ts';
import type { ProblemInput } from '../../problem/index.ts';
import type { KernelCache } from '../programs/cache.ts';
import type { DirectionProgram } from '../programs/program.ts';
import type { TransformTask } from './transforms.ts';

/** What a device lends to the programs that are compiled for it. */
export interface ProgramHost {
  readonly backend: Backend;
  readonly cache: KernelCache;
  /** @throws FftError `device-closed` */
  check(): void;
  /** @throws FftError (as a rejection) `unsupported-precision` */
  requirePrecision(precision: 'single' | 'double'): Promise<void>;
  /** Complex numbers of a spectrum that is prepared for a convolution, which `transform` has planned. */
  preparedLength(problem: ProblemInput): number;
  /** A plan's direction, or what it does to convolve. @throws FftError (as a rejection) what planning throws */
  transform(problem: ProblemInput, task: TransformTask): Promise<DirectionProgram>;
  /** Destroys it with the device, until it is let go. */
  keep(program: { destroy(): void }): void;
  letGo(program: { destroy(): void }): void;
}
