/** The room's entry: kernels in number types that a device lacks. */
import type { ElementType, Kernel, NumberType } from '../../ir/index.ts';
import type { DoubleWordForm } from './arithmetic.ts';
import { inDoubleWords } from './expansion.ts';

export type { DoubleWordForm } from './arithmetic.ts';
export { inDoubleWords } from './expansion.ts';

/** The type of the two parts of a double-word number; undefined if the device computes in the type itself. @param doubles whether the device has doubles */
export function doubleWordPart(type: NumberType, doubles: boolean): ElementType | undefined {
  return type === 'dd' ? 'f64' : type === 'f64' && !doubles ? 'f32' : undefined;
}

/** The kernel in number types that the device computes in. */
export function computable(
  kernel: Kernel,
  {
    profile,
    pairForm = {},
  }: { readonly profile: { readonly precisions?: readonly string[] | undefined }; readonly pairForm?: DoubleWordForm },
): Kernel {
  const part = doubleWordPart(kernel.precision, profile.precisions?.includes('double') !== false);
  return part ? inDoubleWords(kernel, part, pairForm) : kernel;
}
