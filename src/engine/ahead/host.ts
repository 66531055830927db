/** Plans as source files: kernels with the C or C++ code that launches them. */
import { cudaProgram } from '../../devices/cuda/program.ts';
import { clProgram } from '../../devices/opencl/program.ts';
import type { HostFiles } from '../../emit/host/c.ts';
import { cudaHost } from '../../emit/host/cuda.ts';
import type { TransformData } from '../../emit/host/data.ts';
import { openClHost } from '../../emit/host/opencl.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import { type Kernel, storageBytes } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { KernelNames, notBuilt, type PlannedTransform, transformData } from './transform-data.ts';

export type HostLanguage = 'cuda' | 'hip' | 'opencl';

export interface HostOptions {
  /** The profile that the plans were made for. */
  readonly profile: DeviceProfile;
  readonly language: HostLanguage;
  /** The name of both files without extension: one file includes the other. */
  readonly stem: string;
}

/** The most groups in x that every device of CUDA, or of HIP, launches. */
const MOST_GROUPS = { cuda: 2 ** 31 - 1, hip: 2 ** 22 - 1 };

/**
 * @param transforms the plans, by the names that their functions begin with
 * @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands
 */
export function buildHost(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, language, stem }: HostOptions,
): HostFiles {
  const kernels = new KernelNames();
  const data = new Map(
    [...transforms].map(([name, transform]): [string, TransformData] => {
      return [name, { ...transformData(transform, profile, kernels), shared: 0 }];
    }),
  );
  const written = <T>(write: (kernel: Kernel) => T) =>
    new Map([...kernels.named].map(([name, kernel]): [string, T] => [name, write({ ...kernel, name })]));
  if (language === 'opencl') {
    const programs = written((kernel) => ({
      program: requireOneLaunch(clProgram(kernel, {})),
      elementBytes: kernel.globals.map(({ type }) => storageBytes(type)),
    }));
    return openClHost(data, programs, stem);
  }
  const words = { kind: language, mostGroups: MOST_GROUPS[language] };
  return cudaHost(
    data,
    written((kernel) => requireOneLaunch(cudaProgram(kernel, words, {}))),
    language,
    stem,
  );
}

function requireOneLaunch(program: SpmdProgram): SpmdProgram {
  if (program.launches > 1) throw notBuilt('A transform of so many groups takes several launches');
  return program;
}
