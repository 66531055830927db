/** What the arguments of a step stand for once memory is bound to its slots: the same on every device. */
import { FftError } from '../problem/errors.ts';
import type { Binding, Step } from './device.ts';

export interface BoundArgument extends Binding {
  /** For messages. */
  readonly what: string;
  /** It was known when the program was made. */
  readonly fixed: boolean;
}

/**
 * The memory of a step's arrays: its globals, then its tables.
 * @throws FftError `internal-error` for another number of arguments than the kernel has arrays, `missing-buffer`
 */
export function boundArguments(
  { kernel: { kernel }, arguments: given }: Step,
  slots: readonly (Binding | undefined)[],
): BoundArgument[] {
  const { globals, tables, name } = kernel;
  const arrays = [...globals, ...tables];
  if (given.length !== arrays.length) {
    throw new FftError('internal-error', `Kernel ${name} takes ${arrays.length} arrays, ${given.length} were bound.`);
  }
  return given.map((argument, position) => {
    const what = `array ${arrays[position]!.name} of kernel ${name}`;
    if ('fixed' in argument) return { ...argument.fixed, what, fixed: true };
    const slot = slots[argument.slot];
    if (!slot) throw new FftError('missing-buffer', `Nothing is bound for ${what}.`);
    return { buffer: slot.buffer, byteOffset: slot.byteOffset + argument.byteOffset, what, fixed: false };
  });
}
