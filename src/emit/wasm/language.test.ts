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

  it('a double becomes one by rounding once', () => {
    const input: ArrayRef = { name: 'input', space: 'global', type: 'f64' };
    const output: ArrayRef = { name: 'output', space: 'global', type: 'f16' };
    // Around every tie of halves, nearer to it than singles are.
    const ties = [1, 1.5, 3, 1000, 2 ** -14, 2 ** -20].flatMap((from) => {
      const step = 2 ** (Math.max(-14, Math.floor(Math.log2(from))) - 10);
      return [from + step / 2, from + 1.5 * step];
    });
    const doubles = ties.flatMap((tie) => [tie, tie * (1 + 2 ** -40), tie * (1 - 2 ** -40), -tie * (1 + 2 ** -50)]);
    const values = [...doubles, 65519.999999, 65520, Number.POSITIVE_INFINITY, Number.NaN, 1e300, 5e-324, 0];
    const x = new Expressions();
    const i = variable('i', values.length);
    const stores = [{ array: output, index: index(i), value: x.load(input, i) }];
    const kernel = onePhase('halves', 'f64', [input, output], i, stores);
    const memory = { input: Float64Array.from(values), output: new Uint16Array(values.length) };
    const result = runWasm<Float64Array | Uint16Array>(kernel, memory);
    expect(Array.from(result.output!)).toEqual(values.map(toHalf));
  });
});
