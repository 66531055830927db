/** Checks of a problem before it is planned: whether the device can compute it, and whether its plan can be kept for later processes. */
import type { Backend } from '../../devices/device.ts';
import { isInPairs } from '../../plan/device/capacity.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { elementBytes, FftError, type FftProblem, type Problem, type Side, tensorSpan } from '../../problem/index.ts';
import type { LazyGroup } from '../lazy/lazy-modules.ts';

/** Whether plans of a problem are kept: the caller's functions cannot be written to a cache, and debugging has to make a plan anew. */
export function isKept({ bands, callbacks, convolution, debug }: Problem, { store, unpack }: Backend): boolean {
  return store !== undefined && unpack !== undefined && !bands && !callbacks && !convolution && !debug;
}

/** `unsupported-precision` where the device cannot compute in the precision of a problem. */
export function precisionProblems({ precision }: Pick<Problem, 'precision'>, { name, profile }: Backend): FftProblem[] {
  // A double-double is a pair of doubles; a double may be computed as a pair of singles.
  const needed = precision === 'double-double' ? 'double' : 'single';
  const { precisions } = profile;
  if (!precisions || precisions.includes(needed)) return [];
  const message =
    `${name} computes in ${precisions.join(' and ')} precision only, and pairs of ${needed}s were asked for: '${precision}'. ` +
    `openDevice('auto', { precision: '${needed}' }) finds a device that does, if only the CPU.`;
  return [{ code: 'unsupported-precision', path: 'precision', message }];
}

/** Whether the device still has to be probed: double-word arithmetic fails if a compiler reorders floating-point operations. */
export function mustProbe(
  { precision }: Pick<Problem, 'precision'>,
  { probePairs, pairsBroken, profile }: Backend,
): boolean {
  return isInPairs(precision, profile) && probePairs !== undefined && pairsBroken === undefined;
}

/** @throws FftError `unsupported-precision` where a probe has shown that double-word arithmetic is not exact on the device */
export function refuseBrokenPairs(
  { precision }: Pick<Problem, 'precision'>,
  { name, pairsBroken, profile }: Backend,
): void {
  if (!pairsBroken || !isInPairs(precision, profile)) return;
  throw new FftError(
    'unsupported-precision',
    `${name} cannot compute in '${precision}' precision: ${pairsBroken}. openDevice('auto', { precision: 'double' }) ` +
      'finds a device that does, if only the CPU.',
    { path: 'precision' },
  );
}

/** @throws FftError `device-limit` where the buffers of a problem exceed what the device can address. */
export function refuseTooLarge(problem: Problem, temp: number, { name, maxBytes }: DeviceProfile): void {
  if (maxBytes === undefined) return;
  const bytesOf = (side: Side) => tensorSpan(problem, side) * elementBytes(problem, side);
  const [input, output] = [bytesOf('input'), bytesOf('output')];
  const inPlace = problem.placement === 'in-place';
  const bytes = (inPlace ? Math.max(input, output) : input + output) + temp;
  if (bytes <= maxBytes) return;
  const sides = inPlace ? `data ${input}` : `input ${input}, output ${output}`;
  throw new FftError(
    'device-limit',
    `This problem needs ${bytes} bytes of device memory (${sides}${temp > 0 ? `, temp ${temp}` : ''}); ` +
      `${name} can address ${maxBytes}. Fewer or shorter transforms at a time would fit.`,
    { path: 'size' },
  );
}

/** The groups of modules that `normalizeProblem` needs to read a problem. They follow from the fields that are present, whatever they hold. */
export function readingGroupsOf(problem: unknown): LazyGroup[] {
  const has = (field: string) => {
    try {
      return Object.hasOwn(problem as object, field);
    } catch {
      return false;
    }
  };
  return [
    ...(has('bands') ? (['bands'] as const) : []),
    ...(has('callbacks') ? (['callbacks'] as const) : []),
    ...(has('convolution') ? (['convolutions'] as const) : []),
  ];
}
