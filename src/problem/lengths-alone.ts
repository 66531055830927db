/** Problems as people type them first: nothing but lengths, and perhaps how many transforms. */
import type { AnyProblemInput } from './problem.ts';

const LENGTHS = /^(\d+(?:\s*[x×]\s*\d+)*)(?:\s*\*\s*(\d+))?$/;

/**
 * Reads `1024`, `256x256`, `64 x 64 * 10`: complex numbers in single precision.
 * @returns undefined for any other text; whether it is a good problem is not judged
 */
export function lengthsAlone(text: string): Pick<AnyProblemInput, 'size' | 'batches'> | undefined {
  const [, size, batches = '1'] = LENGTHS.exec(text.trim()) ?? [];
  return size === undefined ? undefined : { size: size.split(/[x×]/).map(Number), batches: Number(batches) };
}
