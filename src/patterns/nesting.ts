/** Which low-level patterns may stand in the functions of which others. */
import type { Op, Value } from './values.ts';

const LOW_LEVEL_MAPS = ['mapGlobal', 'mapWorkgroup', 'mapLocal', 'mapSeq'];

/** What is wrong with a pattern where it stands; undefined where nothing is. @param around it, outermost first */
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

/** The first thing that is wrong with low-level patterns in a value; undefined where nothing is. @param around it, outermost first */
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
    // Only low-level patterns restrict what may stand inside them.
    const isPlain = value.op === 'map' || value.op === 'reduce' || value.op === 'iterate' || outer.includes(value.op);
    return value.f && visit(value.f.body, isPlain ? outer : [...outer, value.op]);
  };
  return visit(root, around);
}
