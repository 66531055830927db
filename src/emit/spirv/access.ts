/** Loads and stores of array elements in SPIR-V. */
import type { ArrayElement, Expression } from '../spmd/tree.ts';
import { KIND_BYTES, type Kind, type SpirvModule, type Value } from './assembly.ts';
import { ALIGNED, type Op, SCOPE, type Storage } from './opcodes.ts';

/** The interface of a function under construction, for writing instructions. */
export interface Instructions {
  readonly context: {
    readonly module: SpirvModule;
    readonly flavour: 'vulkan' | 'opencl';
    readonly arrays: ReadonlyMap<string, MemoryAccess>;
  };
  run(op: Op, ...operands: number[]): void;
  /** Writes an instruction with a result. */
  emit(op: Op, kind: Kind, ...operands: number[]): Value;
  /** `emit` for a result type given by its id. */
  typed(op: Op, type: number, ...operands: number[]): number;
  value(e: Expression): Value;
  /** A number converted to another kind. */
  converted(value: Value, to: Kind): Value;
}

/** An array in memory that a function may access. */
export interface MemoryAccess {
  readonly pointer: number;
  readonly storage: Storage;
  /** The kind of an element in memory. */
  readonly element: Exclude<Kind, 'bool'>;
  /** Whether two halves share a word, and one of them is written at a time. */
  readonly lone: boolean;
  /** The indices before the index of an element. */
  readonly path: readonly number[];
}

export function readElement(body: Instructions, e: ArrayElement): Value {
  const access = accessOf(body, e);
  const at = body.value(e.of[1]!);
  if (!access.lone) {
    const value = load(body, access, at);
    return access.element === 'short' ? body.converted(value, 'unsigned') : value;
  }
  const { place, shift } = halfPlace(body, access, at);
  const word = body.emit('Load', 'unsigned', place, ...memoryOperands(access));
  const low = body.emit('ShiftRightLogical', 'unsigned', word.id, shift);
  return body.emit('BitwiseAnd', 'unsigned', low.id, body.context.module.integer(0xffff));
}

export function writeElement(body: Instructions, e: ArrayElement, value: Value): void {
  const access = accessOf(body, e);
  const at = body.value(e.of[1]!);
  if (!access.lone) {
    body.run('Store', pointerTo(body, access, at), body.converted(value, access.element).id, ...memoryOperands(access));
    return;
  }
  const { module } = body.context;
  const { place, shift } = halfPlace(body, access, at);
  // Neither atomic step touches the other half of the word, which another thread may write.
  const others = body.emit('ShiftRightLogical', 'unsigned', module.integer(0xffff0000), shift);
  const own = body.emit('ShiftLeftLogical', 'unsigned', value.id, shift);
  const scope = module.integer(access.storage === 'Workgroup' ? SCOPE.group : SCOPE.device);
  body.emit('AtomicAnd', 'unsigned', place, scope, module.integer(0), others.id);
  body.emit('AtomicOr', 'unsigned', place, scope, module.integer(0), own.id);
}

function accessOf(body: Instructions, { of }: ArrayElement): MemoryAccess {
  const [array] = of;
  const access = array!.op === 'name' ? body.context.arrays.get(array!.name) : undefined;
  if (!access) throw new RangeError('SPIR-V knows no such array');
  return access;
}

function load(body: Instructions, access: MemoryAccess, at: Value): Value {
  return body.emit('Load', access.element, pointerTo(body, access, at), ...memoryOperands(access));
}

/** The word that holds a half, and the number of bits that the half is shifted there. */
function halfPlace(body: Instructions, access: MemoryAccess, at: Value): { place: number; shift: number } {
  const { module } = body.context;
  const word = body.emit('ShiftRightLogical', at.kind, at.id, module.integer(1, at.kind as 'int'));
  const narrow = body.converted(at, 'unsigned');
  const odd = body.emit('BitwiseAnd', 'unsigned', narrow.id, module.integer(1));
  const { id: shift } = body.emit('ShiftLeftLogical', 'unsigned', odd.id, module.integer(4));
  return { place: pointerTo(body, access, word), shift };
}

function pointerTo(body: Instructions, { pointer, storage, element, path }: MemoryAccess, at: Value): number {
  const { module, flavour } = body.context;
  const type = module.pointer(storage, module.type(element));
  const op = flavour === 'opencl' && storage === 'CrossWorkgroup' ? 'InBoundsPtrAccessChain' : 'InBoundsAccessChain';
  return body.typed(op, type, pointer, ...path, at.id);
}

/** The alignment of an access, which only memory behind an address requires. */
function memoryOperands({ storage, element }: MemoryAccess): number[] {
  return storage === 'PhysicalStorageBuffer' || storage === 'CrossWorkgroup' ? [ALIGNED, KIND_BYTES[element]] : [];
}
