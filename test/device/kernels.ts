/** The kernels of a list of problems, built for a device that need not be there. */
import { inPairs, partsOf } from '../../src/emit/pairs/index.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { buildKernel } from '../../src/kernels/index.ts';
import { planDirection } from '../../src/plan/planner.ts';
import type { DeviceProfile } from '../../src/plan/profile.ts';
import { normalizeProblem, type ProblemInput } from '../../src/problem/index.ts';

/** Each kernel once. */
export function kernelsOf(problems: readonly ProblemInput[], profile: DeviceProfile): Kernel[] {
  const kernels = new Map<string, Kernel>();
  for (const problem of problems) {
    for (const { leaf } of planDirection(normalizeProblem(problem), 'forward', profile, false).launches) {
      const key = JSON.stringify(leaf);
      if (kernels.has(key)) continue;
      const kernel = buildKernel(leaf);
      const part = partsOf(kernel.precision, true);
      kernels.set(key, part ? inPairs(kernel, part, { fused: true }) : kernel);
    }
  }
  return [...kernels.values()];
}
