/** Prepared kernels of convolutions: device memory that a plan has filled with the spectrum of a convolution kernel. */
import { type ConvolutionPlan, kernelProblem, resultProblem } from '../../plan/convolution.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { KERNEL } from '../../plan/tree/leaf.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { factsOf, type SideFacts, sideFactsOf } from './arguments.ts';
import { DeviceMemory } from './memory.ts';
import type { DirectionOperand } from './operands.ts';
import { givenName } from './read-data.ts';

/** For each prepared kernel the key of the plans that it is valid for. */
const prepared = new WeakMap<DeviceMemory, string>();

/** The sides of the calls of a convolution: kernel, prepared kernel and result. */
export interface ConvolutionFacts {
  /** The user's kernel h. */
  readonly given: SideFacts;
  /** The memory of a prepared kernel. */
  readonly kernel: SideFacts;
  readonly result: SideFacts;
  readonly operands: readonly DirectionOperand[];
}

export function convolutionFacts(
  problem: Problem,
  { kernel: { elements } }: ConvolutionPlan,
  profile: DeviceProfile,
): ConvolutionFacts {
  const memory = sideFactsOf(problem.precision, 2 * elements, profile);
  return {
    given: factsOf(kernelProblem(problem), 'input', profile),
    kernel: { layout: 'interleaved', ...memory },
    result: factsOf(resultProblem(problem), 'input', profile),
    operands: [{ name: KERNEL, bound: KERNEL, facts: { layout: 'real', ...memory } }],
  };
}

/** Registers memory as a prepared kernel for plans with a key. @returns the memory */
export function noteKernel(memory: DeviceMemory, key: string): DeviceMemory {
  prepared.set(memory, key);
  return memory;
}

/**
 * A kernel that was prepared for plans with a key.
 * @param what the call, in messages.
 * @throws FftError `missing-buffer`, `wrong-kernel`
 */
export function readKernel(value: unknown, key: string, what: string): DeviceMemory {
  if (value === undefined) {
    throw new FftError('missing-buffer', `${what} needs a kernel: what prepareKernel of this plan resolves to.`);
  }
  const memory = DeviceMemory.bufferOf(value) ? (value as DeviceMemory) : undefined;
  const known = memory && prepared.get(memory);
  if (known === key) return memory!;
  const given =
    known === undefined ? `${givenName([value])}, which no plan has prepared` : 'one that another plan has prepared';
  throw new FftError(
    'wrong-kernel',
    `${what} was given ${given}; it takes what prepareKernel of this plan resolves to.`,
  );
}
