/**
 * Kernels of convolutions: prepared kernels are device memory that a plan has filled with the spectrum of a kernel, with the bins in the plan's
 * own order. If the problem says so, kernels are the user's own spectra instead.
 */
import { type ConvolutionPlan, kernelProblem, resultProblem } from '../../plan/convolution.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { KERNEL } from '../../plan/tree/leaf.ts';
import { convolvingCallbacks, FftError, type Problem } from '../../problem/index.ts';
import { type SideFacts, sideFacts, sideFactsOf } from './arguments.ts';
import { DeviceMemory } from './memory.ts';
import { type DirectionOperand, directionOperands } from './operands.ts';
import { givenName, readMemory } from './read-data.ts';

/** For each prepared kernel the key of the plans that it is valid for. */
const prepared = new WeakMap<DeviceMemory, string>();

/** The sides of the calls of a convolution: kernel, prepared kernel and result. */
export interface ConvolutionFacts {
  /** The user's kernel h. */
  readonly given: SideFacts;
  /** The spectrum of a kernel. */
  readonly kernel: SideFacts;
  readonly result: SideFacts;
  readonly operands: readonly DirectionOperand[];
}

export function convolutionFacts(
  problem: Problem,
  { kernel: { elements, storage } }: ConvolutionPlan,
  profile: DeviceProfile,
): ConvolutionFacts {
  const kernel: SideFacts = { layout: 'interleaved', ...sideFactsOf(storage, 2 * elements, profile) };
  return {
    given: sideFacts(kernelProblem(problem), 'input', profile),
    kernel,
    result: sideFacts(resultProblem(problem), 'input', profile),
    operands: [
      { name: KERNEL, what: KERNEL, bound: KERNEL, facts: kernel },
      ...directionOperands({ callbacks: convolvingCallbacks(problem) }, 'forward', profile),
    ],
  };
}

/** Registers memory as a prepared kernel for plans with a key, if it has one. @returns the memory */
export function noteKernel(memory: DeviceMemory, key: string | undefined): DeviceMemory {
  if (key !== undefined) prepared.set(memory, key);
  return memory;
}

/**
 * The spectrum of a kernel that belongs to the user. Its size is checked later, with the other memory of a call.
 * @param what the call, in messages.
 * @throws FftError `missing-buffer`, `wrong-array-type`; `wrong-kernel` for a prepared kernel, whose bins are in another order
 */
export function readSpectrum(value: unknown, what: string): unknown {
  if (value === undefined) throw new FftError('missing-buffer', `${what} needs a kernel: memory with its spectrum.`);
  if (DeviceMemory.bufferOf(value) && prepared.has(value as DeviceMemory)) {
    const message = `${what} was given a kernel that another plan has prepared, in an order of its own; with convolution.kernelSpectrum 'user' it takes a spectrum in natural order, as a transform forward gives it.`;
    throw new FftError('wrong-kernel', message);
  }
  return readMemory(value, KERNEL);
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
    `${what} was given ${given}; it takes what prepareKernel of this plan resolves to, or, planned with convolution.kernelSpectrum 'user', memory with a spectrum.`,
  );
}
