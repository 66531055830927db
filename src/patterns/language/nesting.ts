/** The nesting rules of low-level patterns: which pattern may stand in the function of which other. */
import type { Op, Value } from './values.ts';

const LOW_LEVEL_MAPS = ['mapGlobal', 'mapWorkgroup', 'mapLocal', 'mapSeq'];

/** The nesting error of a pattern; undefined where its place is allowed. @param around names of the surrounding patterns, outermost first */
export function nestingProblem(op: Op, around: readonly string[]): string | undefined {
  if ((op === 'mapLocal' || op === 'toLocal') && !around.includes('mapWorkgroup')) {
    return 'it stands in the function of a mapWorkgroup; here is none around it.';
  }
  if (op === 'mapLocal' && around.includes('mapLocal')) {
    return 'it stands in no other mapLocal; here is one around it.';
  }
  if (op !== 'mapGlobal' && op !== 'mapWorkgroup') return undefined;
  const outer = around.find((pattern) => LOW_LEVEL_MAPS.includes(pattern));
  return outer && `it stands in no other low-level map; here is a ${outer} around it.`;
}

/**
 * The first nesting error of low-level patterns in a value; undefined where there is none. @param around names of the surrounding patterns, outermost
 * first
 */
export function nestingProblemIn(root: Value, around: readonly string[] = []): string | undefined {
  const seen = new Set<string>();
  const numbers = new Map<Value, number>();
  const visit = (value: Value, outer: readonly string[]): string | undefined => {
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    const key = `${numbers.get(value)} ${outer.join(' ')}`;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const own = nestingProblem(value.op, outer);
    if (own) return `${value.op}: ${own}`;
    for (const operand of value.of) {
      const problem = visit(operand, outer);
      if (problem) return problem;
    }
    // Only low-level patterns restrict the patterns inside them.
    const isPlain = value.op === 'map' || value.op === 'reduce' || value.op === 'iterate' || outer.includes(value.op);
    return value.f && visit(value.f.body, isPlain ? outer : [...outer, value.op]);
  };
  return visit(root, around);
}
