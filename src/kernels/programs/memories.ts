/** The patterns `toLocal`, `toGlobal` and `toPrivate`, which say in which memory an array lies, in the form that lowering reads. */
import { applied, isMap, type MemoryOp, Value, withOperands } from '../../patterns/values.ts';

/**
 * A program without functions that only name a memory: toLocal(f, x) becomes toLocal of f(x), which has no function of its own, and maps of the
 * identity become their arrays. So lowering sees the stored value where it is computed.
 */
export function withPlainMemories(root: Value): Value {
  const made = new Map<Value, Value>();
  const visit = (value: Value): Value => {
    let known = made.get(value);
    if (!known) made.set(value, (known = rebuilt(value)));
    return known;
  };
  const rebuilt = (value: Value): Value => {
    const { op, of, f } = value;
    if (isMemory(op) && f) return inMemory(op, applied({ ...f, body: visit(f.body) }, of.map(visit)));
    if (isMap(value) && f!.body === f!.parameters[0]) return visit(of[0]!);
    return withOperands(value, visit);
  };
  return visit(root);
}

function isMemory(op: Value['op']): op is MemoryOp {
  return op === 'toLocal' || op === 'toGlobal' || op === 'toPrivate';
}

/** An array in a memory. Arrays of tuples are tuples of arrays. */
export function inMemory(op: MemoryOp, value: Value): Value {
  if (value.op !== 'zip') return new Value(op, value.type, [value]);
  return new Value(
    'zip',
    value.type,
    value.of.map((part) => inMemory(op, part)),
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
