/** The kernels of a list of problems, built for a device that need not be there. */

import { doubleWordPart, inDoubleWords } from '../../src/emit/double-word/index.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { buildKernel } from '../../src/kernels/index.ts';
import { planBands } from '../../src/plan/bands.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { targetOf } from '../../src/plan/device/target.ts';
import type { Launch } from '../../src/plan/launch/launches.ts';
import { normalizeProblem, type Problem, type ProblemInput } from '../../src/problem/index.ts';
import { planConvolution, planDirection } from '../support/planned.ts';

/** Each kernel once. */
export function kernelsOf(problems: readonly ProblemInput[], profile: DeviceProfile): Kernel[] {
  const kernels = new Map<string, Kernel>();
  for (const problem of problems) {
    for (const { leaf } of launchesOf(normalizeProblem(problem), profile)) {
      const key = JSON.stringify(leaf);
      if (kernels.has(key)) continue;
      const kernel = buildKernel(leaf);
      const part = doubleWordPart(kernel.precision, true);
      kernels.set(key, part ? inDoubleWords(kernel, part, { fused: true }) : kernel);
    }
  }
  return [...kernels.values()];
}

/** Of the forward transform; or of a convolution, and what it needs. */
function launchesOf(problem: Problem, profile: DeviceProfile): readonly Launch[] {
  if (problem.bands) return planBands(problem, targetOf(profile, problem.precision)).launches;
  if (!problem.convolution) return planDirection(problem, 'forward', profile, false).launches;
  const { convolve, prepare } = planConvolution(problem, profile, false);
  return [...prepare.launches, ...convolve.launches];
}
