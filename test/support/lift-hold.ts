/** Compares lowered programs of patterns, on interpreted devices of both kinds, with the interpreter of programs. */
import { expect } from 'vitest';
import { USUALLY } from '../../src/kernels/programs/index.ts';
import { interpret, type Program, print } from '../../src/lift/index.ts';
import { graphics, processor, runLowered } from './lift-interpreted.ts';

export const targets = { processor, graphics };

/** Holds what a program is lowered to against the interpreter of programs. @returns launches on each kind of device */
export function hold(
  given: Program,
  inputs: { readonly [name: string]: Float64Array },
  sizes: { readonly [name: string]: number } = {},
  within = 1e-11,
  way = USUALLY,
): number[] {
  const expected = interpret(given, inputs, sizes);
  const scale = expected.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  return Object.values(targets).map((target) => {
    const { result, pieces, problems } = runLowered(given, inputs, target, sizes, 'f64', way);
    expect(problems, print(given)).toEqual([]);
    expect(result).toHaveLength(expected.length);
    const worst = result.reduce((most, each, i) => Math.max(most, Math.abs(each - expected[i]!) / scale), 0);
    expect(worst, print(given)).toBeLessThan(within);
    return pieces.launches.length;
  });
}
