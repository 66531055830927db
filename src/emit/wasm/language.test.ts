/** Everything that the kernel language can say, as WebAssembly and by the interpreter: every number agrees exactly. */
import { describe, expect, it } from 'vitest';
import { onePhase } from '../../../test/support/emitted.ts';
import { fromHalf, toHalf } from '../../../test/support/halves.ts';
import { type LanguageSample, languageSamples } from '../../../test/support/language.ts';
import { randomFor } from '../../../test/support/random.ts';
import { expectSameMemory, runWasm } from '../../../test/support/wasm.ts';
import { type ArrayRef, Expressions, index, variable } from '../../ir/index.ts';

const ROUNDS = 40;

describe.each(['f32', 'f64'] as const)('the kernel language in %s', (precision) => {
  const random = randomFor(`emit/wasm/language ${precision}`);
  const rounds = Array.from({ length: ROUNDS }, () => languageSamples(random, precision));
  const names = rounds[0]!.map(({ name }) => name);

  it.each(names.map((name, n) => [name, n] as const))('%s', (_, n) => {
    for (const samples of rounds) {
      const { kernel, memory } = samples[n] as LanguageSample;
      expectSameMemory(kernel, memory);
    }
  });
});

describe('halves', () => {
  it('every one of them is read as IEEE has it, and written back', () => {
    const count = 65536;
    const input: ArrayRef = { name: 'input', space: 'global', type: 'f16' };
    const output: ArrayRef = { name: 'output', space: 'global', type: 'f16' };
    const singles: ArrayRef = { name: 'singles', space: 'global', type: 'f32' };
    const x = new Expressions();
    const i = variable('i', count);
    const value = x.load(input, i);
    const stores = [output, singles].map((array) => ({ array, index: index(i), value }));
    const kernel = onePhase('halves', 'f32', [input, output, singles], i, stores);
    const bits = Uint16Array.from({ length: count }, (_, n) => n);
    const memory = { input: bits, output: new Uint16Array(count), singles: new Float32Array(count) };
    const result = runWasm(kernel, memory);
    for (let n = 0; n < count; n++) {
      const expected = fromHalf(n);
      if (!Object.is(result.singles![n], expected)) expect(result.singles![n], `half ${n}`).toBe(expected);
      const back = Number.isNaN(expected) ? 0x7e00 | (n & 0x8000) : n;
      if (result.output![n] !== back) expect(result.output![n], `half ${n}`).toBe(back);
    }
    expect(toHalf(fromHalf(1))).toBe(1);
  });

  it('of doubles are rounded once', () => {
    const bits = Array.from({ length: 0x7c00 / 8 }, (_, n) => 8 * n + (n % 8));
    // Between two halves, and so little beside that a single would not tell.
    const values = Float64Array.from(
      bits.flatMap((n) => {
        const half = fromHalf(n);
        const middle = (half + (n + 1 < 0x7c00 ? fromHalf(n + 1) : 65536)) / 2;
        return [half, middle, middle * (1 + 2 ** -40), middle * (1 - 2 ** -40), -middle * (1 + 2 ** -52)];
      }),
    );
    const numbers: ArrayRef = { name: 'numbers', space: 'global', type: 'f64' };
    const output: ArrayRef = { name: 'output', space: 'global', type: 'f16' };
    const x = new Expressions();
    const i = variable('i', values.length);
    const stores = [{ array: output, index: index(i), value: x.load(numbers, i) }];
    const kernel = onePhase('rounded', 'f64', [numbers, output], i, stores);
    const result = runWasm(kernel, { numbers: values, output: new Uint16Array(values.length) });
    expect(Array.from(result.output!)).toEqual(Array.from(values, toHalf));
  });
});
