/** Plans as source: kernels with the code in C or C++ that launches them. */
import { cudaProgram } from '../../devices/cuda/program.ts';
import { clProgram } from '../../devices/opencl/program.ts';
import type { HostFiles } from '../../emit/host/c.ts';
import { cudaHost } from '../../emit/host/cuda.ts';
import type { TransformData } from '../../emit/host/data.ts';
import { openClHost } from '../../emit/host/opencl.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import { bytesOf, type Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { dataOf, KernelNames, notBuilt, type PlannedTransform } from './transform-data.ts';

export type HostLanguage = 'cuda' | 'hip' | 'opencl';

export interface HostOptions {
  /** What the plans were made for. */
  readonly profile: DeviceProfile;
  readonly language: HostLanguage;
  /** The name of the files without its end: one includes the other. */
  readonly stem: string;
}

/** Groups in x: what every device of CUDA and of HIP launches. */
const MOST_GROUPS = { cuda: 2 ** 31 - 1, hip: 2 ** 22 - 1 };

/**
 * @param transforms by the names that their functions begin with
 * @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands
 */
export function buildHost(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, language, stem }: HostOptions,
): HostFiles {
  const kernels = new KernelNames();
  const data = new Map(
    [...transforms].map(([name, transform]): [string, TransformData] => {
      return [name, { ...dataOf(transform, profile, kernels), shared: 0 }];
    }),
  );
  const written = <T>(write: (kernel: Kernel) => T) =>
    new Map([...kernels.named].map(([name, kernel]): [string, T] => [name, write({ ...kernel, name })]));
  if (language === 'opencl') {
    const programs = written((kernel) => ({
      program: inOneLaunch(clProgram(kernel, {})),
      elementBytes: kernel.globals.map(({ type }) => bytesOf(type)),
    }));
    return openClHost(data, programs, stem);
  }
  const words = { kind: language, mostGroups: MOST_GROUPS[language] };
  return cudaHost(
    data,
    written((kernel) => inOneLaunch(cudaProgram(kernel, words, {}))),
    language,
    stem,
  );
}

function inOneLaunch(program: SpmdProgram): SpmdProgram {
  if (program.launches > 1) throw notBuilt('A transform of so many groups takes several launches');
  return program;
}
