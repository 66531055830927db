/** The patterns `toLocal`, `toGlobal` and `toPrivate`, which say in which memory an array lies, in the form that lowering reads. */
import {
  applied,
  isMap,
  type Lambda,
  type MemoryOp,
  reachableValues,
  replaceOperands,
  Value,
} from '../../../patterns/language/values.ts';
import type { Work } from './work.ts';

/** The most patterns and operations for an element in all steps of a repetition that is written out in a work-group. */
const MOST_WRITTEN = 1024;

/**
 * A program without functions that only name a memory: toLocal(f, x) becomes toLocal of f(x), which has no function of its own, and maps of the
 * identity become their arrays. So lowering sees the stored value where it is computed. Repetitions in work-groups are written out, so that their
 * steps stay in the memory of the group; long ones are launches.
 */
export function withPlainMemories(root: Value, work: Work): Value {
  const visitor = (isInGroup: boolean): ((value: Value) => Value) => {
    const made = new Map<Value, Value>();
    const visit = (value: Value): Value => {
      let known = made.get(value);
      if (!known) made.set(value, (known = rebuilt(value)));
      return known;
    };
    const rebuilt = (value: Value): Value => {
      const { op, of, f, details } = value;
      if (isMemoryPattern(op) && f) return arrayInMemory(op, applied({ ...f, body: visit(f.body) }, of.map(visit)));
      if (isMap(value) && f!.parameters.length === 1 && f!.body === f!.parameters[0]) return visit(of[0]!);
      if (isInGroup && op === 'iterate' && details.times! * workOfStep(f!, work) <= MOST_WRITTEN) {
        const step = { ...f!, body: visit(f!.body) };
        return Array.from({ length: details.times! }).reduce<Value>((state) => applied(step, [state]), visit(of[0]!));
      }
      return replaceOperands(value, visit, op === 'mapWorkgroup' && !isInGroup ? visitor(true) : visit);
    };
    return visit;
  };
  return visitor(false)(root);
}

function workOfStep({ body }: Lambda, work: Work): number {
  return reachableValues(body).reduce((sum, { f }) => sum + 1 + (f ? work.of(f.body) : 0), 0);
}

function isMemoryPattern(op: Value['op']): op is MemoryOp {
  return op === 'toLocal' || op === 'toGlobal' || op === 'toPrivate';
}

/** An array in a memory. Arrays of tuples are tuples of arrays. */
export function arrayInMemory(op: MemoryOp, value: Value): Value {
  if (value.op !== 'zip') return new Value(op, value.type, [value]);
  return new Value(
    'zip',
    value.type,
    value.of.map((part) => arrayInMemory(op, part)),
  );
}

const local = new WeakMap<Value, boolean>();

/** Whether a value depends on an array in the memory of a work-group, leaving out groups inside the value itself. */
export function hasLocal(value: Value): boolean {
  let known = local.get(value);
  if (known === undefined) {
    const { op, of, f } = value;
    known = op === 'toLocal' || of.some(hasLocal) || (op !== 'mapWorkgroup' && f !== undefined && hasLocal(f.body));
    local.set(value, known);
  }
  return known;
}
