/** Rewrite rules as a type, and what makes the values of their right sides. */
import { join, pad, slide, split, transpose, zip } from '../language/layout-patterns.ts';
import { fft, ifft, map, reduce } from '../language/patterns.ts';
import type { Lambda, Value } from '../language/values.ts';

export interface Rule {
  readonly name: string;
  readonly left: string;
  readonly right: string;
  /** The condition under which the rule holds. */
  readonly where?: string;
  /**
   * The value that replaces a given one; undefined where the rule does not apply.
   * @param around names of the patterns in whose functions the value stands, outermost first
   */
  apply(value: Value, around: readonly string[]): Value | undefined;
}

/** The patterns' own functions, for arguments that are values, whatever their static type. */
export const patterns = { fft, ifft, join, map, pad, reduce, slide, split, transpose, zip } as unknown as Readonly<
  Record<string, (...given: unknown[]) => Value>
>;

/** Whether a function is one operation on just its parameters. */
export function isJust(op: string, { parameters, body }: Lambda): boolean {
  return (
    body.op === op && body.of.length === parameters.length && body.of.every((operand, n) => operand === parameters[n])
  );
}
