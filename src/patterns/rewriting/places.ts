/** Places of a program where a rule matches, and what it puts there. */
import { FftError } from '../../problem/errors.ts';
import { reachableValues, replaced, replaceOperands, type Value } from '../language/values.ts';
import type { Rule } from './rule.ts';

/** The value that a rule puts in the place of another; it has to have the same type. */
function answerOf(rule: Rule, value: Value, around: readonly string[]): Value | undefined {
  const made = rule.apply(value, around);
  if (!made || made.type.text === value.type.text) return made;
  throw new FftError('internal-error', `${rule.name} has made ${made.type.text} of ${value.type.text}`);
}

/** Values together with the patterns around them: the same value may stand at several places. */
class Places<T> {
  private readonly known = new Map<Value, Map<string, T>>();

  of(value: Value, around: readonly string[], make: () => T): T {
    let own = this.known.get(value);
    if (!own) this.known.set(value, (own = new Map()));
    const key = around.join(' ');
    if (!own.has(key)) own.set(key, make());
    return own.get(key)!;
  }
}

/** The value with its outermost, leftmost match rewritten; undefined where nothing matches. */
export function firstPlace(root: Value, rule: Rule): Value | undefined {
  const places = new Places<readonly [Value, Value] | undefined>();
  const find = (value: Value, around: readonly string[]): readonly [Value, Value] | undefined =>
    places.of(value, around, () => {
      const made = answerOf(rule, value, around);
      if (made) return [value, made];
      const inside = value.f && find(value.f.body, [...around, value.op]);
      if (inside) return inside;
      for (const operand of value.of) {
        const found = find(operand, around);
        if (found) return found;
      }
      return undefined;
    });
  const found = find(root, []);
  return found && replaced(root, ...found);
}

/** The value with all of its original matches rewritten; undefined where nothing matches. */
export function throughout(root: Value, rule: Rule): Value | undefined {
  const original = new Set(reachableValues(root));
  const places = new Places<Value>();
  const visit = (value: Value, around: readonly string[]): Value =>
    places.of(value, around, () => {
      const made = (original.has(value) && answerOf(rule, value, around)) || value;
      return replaceOperands(
        made,
        (operand) => visit(operand, around),
        (body) => visit(body, [...around, made.op]),
      );
    });
  const result = visit(root, []);
  return result === root ? undefined : result;
}
