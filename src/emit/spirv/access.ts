/** Loads and stores of array elements in SPIR-V. */
import type { ArrayElement, Expression } from '../spmd/tree/tree.ts';
import { KIND_BYTES, type SpirvModule, type SpirvValue, type ValueKind } from './assembly.ts';
import { ALIGNED, type Opcode, SCOPE, type StorageClass } from './opcodes.ts';

/** The interface of a function under construction, for writing instructions. */
export interface Instructions {
  readonly context: {
    readonly module: SpirvModule;
    readonly flavour: 'vulkan' | 'opencl';
    readonly arrays: ReadonlyMap<string, ArrayMemory>;
  };
  run(op: Opcode, ...operands: number[]): void;
  /** Writes an instruction with a result. */
  emit(op: Opcode, kind: ValueKind, ...operands: number[]): SpirvValue;
  /** `emit` for a result type given by its id. */
  typed(op: Opcode, type: number, ...operands: number[]): number;
  value(e: Expression): SpirvValue;
  /** A number converted to another kind. */
  converted(value: SpirvValue, to: ValueKind): SpirvValue;
}

/** An array in memory that a function may access. */
export interface ArrayMemory {
  readonly pointer: number;
  readonly storage: StorageClass;
  /** The kind of an element in memory. */
  readonly element: Exclude<ValueKind, 'bool'>;
  /** Whether two halves share a word, and one of them is written at a time. */
  readonly lone: boolean;
  /** The indices before the index of an element. */
  readonly path: readonly number[];
}

export function readElement(body: Instructions, e: ArrayElement): SpirvValue {
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

export function writeElement(body: Instructions, e: ArrayElement, value: SpirvValue): void {
  const access = accessOf(body, e);
  const at = body.value(e.of[1]!);
  if (!access.lone) {
    body.run(
      'Store',
      elementPointer(body, access, at),
      body.converted(value, access.element).id,
      ...memoryOperands(access),
    );
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

function accessOf(body: Instructions, { of }: ArrayElement): ArrayMemory {
  const [array] = of;
  const access = array!.op === 'name' ? body.context.arrays.get(array!.name) : undefined;
  if (!access) throw new RangeError('SPIR-V knows no such array');
  return access;
}

function load(body: Instructions, access: ArrayMemory, at: SpirvValue): SpirvValue {
  return body.emit('Load', access.element, elementPointer(body, access, at), ...memoryOperands(access));
}

/** The word that holds a half, and the number of bits that the half is shifted there. */
function halfPlace(body: Instructions, access: ArrayMemory, at: SpirvValue): { place: number; shift: number } {
  const { module } = body.context;
  const word = body.emit('ShiftRightLogical', at.kind, at.id, module.integer(1, at.kind as 'int'));
  const narrow = body.converted(at, 'unsigned');
  const odd = body.emit('BitwiseAnd', 'unsigned', narrow.id, module.integer(1));
  const { id: shift } = body.emit('ShiftLeftLogical', 'unsigned', odd.id, module.integer(4));
  return { place: elementPointer(body, access, word), shift };
}

function elementPointer(body: Instructions, { pointer, storage, element, path }: ArrayMemory, at: SpirvValue): number {
  const { module, flavour } = body.context;
  const type = module.pointer(storage, module.type(element));
  const op = flavour === 'opencl' && storage === 'CrossWorkgroup' ? 'InBoundsPtrAccessChain' : 'InBoundsAccessChain';
  return body.typed(op, type, pointer, ...path, at.id);
}

/** The alignment of an access, which only memory behind an address requires. */
function memoryOperands({ storage, element }: ArrayMemory): number[] {
  return storage === 'PhysicalStorageBuffer' || storage === 'CrossWorkgroup' ? [ALIGNED, KIND_BYTES[element]] : [];
}
