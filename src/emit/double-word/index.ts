/** The room's door: what computes in numbers that a device has not. */
import type { ElementType, Kernel, NumberType } from '../../ir/index.ts';
import type { PairForm } from './arithmetic.ts';
import { inPairs } from './expansion.ts';

export type { PairForm } from './arithmetic.ts';
export { inPairs } from './expansion.ts';

/** What pairs of a type are made of; undefined where a device computes in it. @param doubles whether it has them. */
export function doubleWordPart(type: NumberType, doubles: boolean): ElementType | undefined {
  return type === 'dd' ? 'f64' : type === 'f64' && !doubles ? 'f32' : undefined;
}

/** The kernel in numbers that a device computes in. */
export function computable(
  kernel: Kernel,
  {
    profile,
    pairForm = {},
  }: { readonly profile: { readonly precisions?: readonly string[] | undefined }; readonly pairForm?: PairForm },
): Kernel {
  const part = doubleWordPart(kernel.precision, profile.precisions?.includes('double') !== false);
  return part ? inPairs(kernel, part, pairForm) : kernel;
}
