/** Files cut short and changed at random: whatever is made of them, a reader answers with data or an `FftError`. */
import { expect } from 'vitest';
import { FftError } from '../../src/problem/errors.ts';
import { type Random, randomFor } from './random.ts';

/** Numbers that sizes, counts and tags are likely to trip over. */
const NUMBERS = [0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff];

function damaged(whole: Uint8Array, random: Random): Uint8Array {
  const bytes = whole.slice(0, random.pick([whole.length, whole.length, random.integer(0, whole.length)]));
  for (let changes = random.integer(0, 4); changes > 0 && bytes.length > 0; changes--) {
    const at = random.integer(0, bytes.length - 1);
    const run = random.pick([1, 1, 2, 4, 8]);
    const same = random.pick(NUMBERS);
    const other = random.integer(0, bytes.length - 1);
    const kind = random.integer(0, 3);
    for (let k = at; k < Math.min(at + run, bytes.length); k++) {
      if (kind === 0) bytes[k] = random.integer(0, 255);
      else if (kind === 1) bytes[k] = same;
      else if (kind === 2) bytes[k] = bytes[k]! ^ (1 << random.integer(0, 7));
      else bytes[k] = bytes[Math.min(bytes.length - 1, other + k - at)]!;
    }
  }
  return bytes;
}

/**
 * @param name of the random data
 * @returns how many of the files were refused.
 */
export async function damage(
  name: string,
  files: readonly Uint8Array[],
  rounds: number,
  read: (bytes: Uint8Array) => unknown,
): Promise<number> {
  const random = randomFor(name);
  let refused = 0;
  for (let round = 0; round < rounds; round++) {
    const bytes = damaged(random.pick(files), random);
    const before = Uint8Array.from(bytes);
    try {
      await read(bytes);
    } catch (error) {
      if (!(error instanceof FftError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      expect(error.message.length, error.message.slice(0, 200)).toBeLessThan(2000);
      expect(error.message).not.toMatch(/[\n\r]/);
      refused++;
    }
    expect(Buffer.from(bytes).equals(before)).toBe(true);
  }
  return refused;
}
