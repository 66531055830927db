/** Where the arrays of a kernel may begin: those that are read in pairs, only at whole pairs. */
import { bytesOf, type Kernel } from '../ir/index.ts';
import { FftError } from '../problem/errors.ts';

/** Of what a kernel's emitted text needs the beginning of each global to be a multiple, in reals (`SpmdProgram`). */
export interface Aligned {
  readonly alignments: readonly number[];
}

/**
 * @param position of the array among the kernel's globals and tables.
 * @param at byte at which it begins: in its buffer, or as an address.
 * @throws FftError `misaligned-buffer`
 */
export function requireAligned(kernel: Kernel, { alignments }: Aligned, position: number, at: number | bigint): void {
  const { name, globals, tables } = kernel;
  const array = [...globals, ...tables][position]!;
  // Tables begin where the device puts them.
  const multiple = (alignments[position] ?? 1) * bytesOf(array.type);
  if (BigInt(at) % BigInt(multiple) === 0n) return;
  throw new FftError(
    'misaligned-buffer',
    `Array ${array.name} of kernel ${name} begins at byte ${at}; here that must be a multiple of ${multiple}.`,
  );
}
