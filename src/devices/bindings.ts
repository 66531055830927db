/** What the arguments of a step stand for once memory is bound to its slots: the same on every device. */
import type { ArrayRef, Table } from '../ir/index.ts';
import { FftError } from '../problem/errors.ts';
import type { Binding, Step } from './device.ts';

export interface BoundArgument extends Binding {
  readonly array: ArrayRef | Table;
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
    const array = arrays[position]!;
    const what = `array ${array.name} of kernel ${name}`;
    if ('fixed' in argument) return { ...argument.fixed, array, what, fixed: true };
    const slot = slots[argument.slot];
    if (!slot) throw new FftError('missing-buffer', `Nothing is bound for ${what}.`);
    return { buffer: slot.buffer, byteOffset: slot.byteOffset + argument.byteOffset, array, what, fixed: false };
  });
}
