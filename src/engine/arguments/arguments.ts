/**
 * The data of a call, checked before anything is written: host arrays or device memory, one array or two planes.
 */
import type { Backend, Binding, DeviceBuffer, ForeignMemory, RealArray, Stretch } from '../../devices/device.ts';
import { arrayNameOf } from '../../devices/host-arrays.ts';
import { type StorageType, storageBytes } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { SideFormat } from '../../plan/tree/leaf.ts';
import {
  blocksOf,
  type ElementRuns,
  elementKind,
  elementRuns,
  FftError,
  type HostArray,
  type PlanarData,
  type Problem,
  type Side,
  type Storage,
  storageOfSide,
  tensorShape,
  tensorSpan,
  wordsOf,
} from '../../problem/index.ts';
import { arrayClass, arrayLength, plainView, refuseDetached, type UsualClass } from '../../problem/input/bytes.ts';
import { DeviceMemory, typeOfArrays } from './memory.ts';
import { type Given, givenName, unreadable } from './read-data.ts';

/** An array of real numbers, device memory, or memory that the caller made with the device's own API. */
export type Data = HostArray | DeviceMemory | ForeignMemory;
/** The data of any plan: one array, of reals or interleaved complex numbers, or two planes. */
export type ComplexData = Data | PlanarData<Data>;

/** The arrays that one side of a problem needs: layout, length and type. */
export interface SideFacts {
  readonly layout: SideFormat;
  readonly type: StorageType;
  /** Numbers that each array needs. */
  readonly length: number;
  /** Numbers that make up one real: 2 for a double-double, else 1. */
  readonly words: 1 | 2;
  /** Bytes of one number. */
  readonly bytes: number;
  /** Whether the device stores each double as two singles, hi and lo. */
  readonly pairs: boolean;
  /** Runs of elements that belong to the tensor; undefined if the arrays hold nothing else. */
  readonly runs: ElementRuns | undefined;
}

/** One array or plane: its place on the device, or the host array that has to be copied. */
export interface Part {
  readonly device: Binding | undefined;
  readonly host: RealArray | undefined;
  /** The caller's own object, for comparison with the next call. */
  readonly given: unknown;
}

/** The facts of a contiguous array of `reals` reals. */
export function sideFactsOf(storage: Storage, reals: number, { precisions }: DeviceProfile): Omit<SideFacts, 'layout'> {
  const words = wordsOf(storage);
  const type = typeOfArrays(storage);
  const pairs = type === 'f64' && precisions?.includes('double') === false;
  return { type, length: words * reals, words, bytes: storageBytes(type), pairs, runs: undefined };
}

export function sideFacts(problem: Problem, side: Side, profile: DeviceProfile): SideFacts {
  const span = tensorSpan(problem, side);
  const layout = elementKind(problem, side) === 'real' ? 'real' : problem.layout[side];
  const elements = tensorShape(problem, side).reduce((product, count) => product * count, 1);
  return {
    layout,
    ...sideFactsOf(storageOfSide(problem, side), layout === 'interleaved' ? 2 * span : span, profile),
    runs: span === elements && !blocksOf(problem, side).some((block) => block) ? undefined : elementRuns(problem, side),
  };
}

/**
 * The one or two parts of an argument, checked.
 * @param offset elements of this side to skip in each array: complex numbers, reals of planes, or reals of a real side.
 */
export function checkedParts(given: Given, facts: SideFacts, what: string, backend: Backend, offset = 0): Part[] {
  if (facts.layout === 'planar') {
    if (given.length !== 2) {
      throw wrongArgument(
        what,
        given,
        `{ re, im }, two ${arrayNameOfSide(facts)}s, because this side's layout is planar`,
      );
    }
    const [re, im] = given;
    const skip = numbersPerElement(facts) * offset;
    return [checkedPart(re, facts, `${what}.re`, backend, skip), checkedPart(im, facts, `${what}.im`, backend, skip)];
  }
  if (given.length !== 1) {
    const why = facts.layout === 'real' ? 'this side is real' : "this side's layout is interleaved";
    const wanted = facts.layout === 'real' ? 'reals' : 'interleaved re, im';
    throw wrongArgument(what, given, `one ${arrayNameOfSide(facts)} of ${wanted}, because ${why}`);
  }
  return [checkedPart(given[0], facts, what, backend, numbersPerElement(facts) * offset)];
}

/** Numbers of each array that belong to one element. */
export function numbersPerElement({ layout, words }: Pick<SideFacts, 'layout' | 'words'>): number {
  return words * (layout === 'interleaved' ? 2 : 1);
}

/** @param skip numbers before the data. */
function checkedPart(value: unknown, facts: SideFacts, what: string, backend: Backend, skip: number): Part {
  const needed = (skip + facts.length) * facts.bytes;
  const isArray = isArrayOf(value, facts);
  const memory = isArray ? undefined : deviceBuffer(value, what, backend);
  if (memory) {
    if (memory.bytes < needed) throw tooSmall(what, memory.bytes, needed);
    return { device: { buffer: memory, byteOffset: skip * facts.bytes }, host: undefined, given: value };
  }
  if (!isArray)
    throw wrongArgument(
      what,
      [value],
      `a ${arrayNameOfSide(facts)} of ${facts.length} numbers${otherPrecision(value)}`,
    );
  refuseDetached(value, what);
  const length = skip + facts.length;
  const there = arrayLength(value);
  if (skip === 0 ? there !== length : there < length) {
    // Device memory may be longer, since the caller decides what lies behind the data; a longer host array is a mistake.
    const wanted =
      skip === 0 ? `exactly ${length}${meaning(facts, there)}` : `${length}, ${skip} of them before the data`;
    throw new FftError('wrong-length', `${what} has ${there} numbers; this plan needs ${wanted}.`);
  }
  const { array, device } = located(value, what, backend);
  if (skip === 0) return { device, host: array, given: value };
  const data = array.subarray(skip, length);
  return { device: backend.locate(data), host: data, given: value };
}

/** A genuine view of a host array, and its place on the device if it is a view of device memory. */
function located(value: RealArray, what: string, backend: Backend): { array: RealArray; device: Binding | undefined } {
  const array = plainView(value, arrayClass(value) as UsualClass);
  const device = backend.locate(array);
  if (device && array !== value) {
    const message = `${what} shows memory of the device, but has fields or a class of its own; pass the memory's array itself.`;
    throw new FftError('wrong-array-type', message);
  }
  return { array, device };
}

/** The device's buffer behind a value: memory of the device or of the caller; undefined for anything else. */
function deviceBuffer(value: unknown, what: string, backend: Backend): DeviceBuffer | undefined {
  const buffer = DeviceMemory.bufferOf(value) ?? adoptedBuffer(value, what, backend);
  if (buffer?.failure) throw buffer.failure;
  if (buffer?.freed) throw new FftError('destroyed', `${what} has been freed.`);
  if (buffer && !backend.owns(buffer)) {
    throw new FftError(
      'foreign-buffer',
      `${what} was allocated by another device; use memory of this device or a host array.`,
    );
  }
  return buffer;
}

/** The caller's own memory as a buffer of the device. @throws FftError also if reading the value throws something else */
export function adoptedBuffer(value: unknown, what: string, backend: Backend): DeviceBuffer | undefined {
  try {
    return backend.adopt?.(value, what);
  } catch (cause) {
    throw isOurs(cause) ? cause : unreadable(what, cause);
  }
}

/** Whether a caught value is an `FftError`. It may be anything, even a proxy that throws when it is inspected. */
function isOurs(cause: unknown): cause is FftError {
  try {
    return cause instanceof FftError;
  } catch {
    return false;
  }
}

/** Whether a value is an array of the class that a side needs. Classes are compared by name, since arrays may come from another window. */
function isArrayOf(value: unknown, facts: SideFacts): value is RealArray {
  return arrayClass(value) === arrayNameOfSide(facts);
}

function arrayNameOfSide(facts: SideFacts): string {
  return arrayNameOf(facts.type);
}

function wrongArgument(what: string, given: Given, wanted: string): FftError {
  return new FftError('wrong-array-type', `${what} is ${givenName(given)}; this plan takes ${wanted}.`);
}

/** The meaning of the numbers of an interleaved array, for messages about a wrong length. */
function meaning(facts: SideFacts, there: number): string {
  if (facts.layout !== 'interleaved') return '';
  const elements = facts.length / numbersPerElement(facts);
  const reals = there === elements * facts.words ? `; ${elements} reals are for transform 'r2c'` : '';
  return `, re and im of ${elements} complex numbers${reals}`;
}

/** A hint on which plans take an array of the class given. */
function otherPrecision(value: unknown): string {
  const name = arrayClass(value);
  const precision = name === 'Float32Array' ? 'single' : name === 'Float64Array' && 'double';
  return precision ? `; plan with precision '${precision}' for a ${name}` : '';
}

function tooSmall(what: string, given: number, needed: number): FftError {
  return new FftError('buffer-too-small', `${what} has ${given} bytes; this plan needs ${needed}.`);
}

/** The binding of the caller's scratch memory, checked. */
export function scratchBinding(value: unknown, needed: number, what: string, backend: Backend): Binding {
  const isArray = arrayClass(value) === 'Float32Array' || arrayClass(value) === 'Float64Array';
  if (isArray) refuseDetached(value as RealArray, what);
  const shown = isArray ? located(value as RealArray, what, backend) : undefined;
  const view = shown?.device;
  const buffer = shown ? view?.buffer : deviceBuffer(value, what, backend);
  if (!buffer) {
    throw new FftError('foreign-buffer', `${what} must be memory of this device, for instance from device.alloc.`);
  }
  const bytes = shown ? shown.array.byteLength : buffer.bytes;
  if (bytes < needed) throw tooSmall(what, bytes, needed);
  return view ?? { buffer, byteOffset: 0 };
}

/** A stretch of memory, for overlap checks. */
export interface MemoryExtent extends Stretch {
  readonly what: string;
}

/** The bytes from the first to the last element of each array. Elements before the problem's offset do not count. */
export function extentsOf(parts: readonly Part[], facts: SideFacts, what: string): MemoryExtent[] {
  return parts.flatMap(({ device, host }, n) => {
    const name = parts.length === 2 ? `${what}.${n === 0 ? 're' : 'im'}` : what;
    if (!host) return sideExtents(device!, facts, name);
    const { before, bytes } = elementBytesOf(facts);
    const start = host.byteOffset + before;
    return [{ of: host.buffer, start, end: start + bytes, what: name }];
  });
}

/** The bytes from the first to the last element of one array in device memory. */
export function sideExtents({ buffer, byteOffset }: Binding, facts: SideFacts, what: string): MemoryExtent[] {
  const { before, bytes } = elementBytesOf(facts);
  return deviceExtents({ buffer, byteOffset: byteOffset + before }, bytes, what);
}

function elementBytesOf({ length, bytes, runs }: SideFacts): { before: number; bytes: number } {
  const before = (runs?.start ?? 0) * bytes;
  return { before, bytes: length * bytes - before };
}

export function deviceExtents({ buffer, byteOffset }: Binding, bytes: number, what: string): MemoryExtent[] {
  if (buffer.stretches) return buffer.stretches(byteOffset, bytes).map((stretch) => ({ ...stretch, what }));
  const view = buffer.view?.('f32');
  const start = (view?.byteOffset ?? 0) + byteOffset;
  return [{ of: view?.buffer ?? buffer, start, end: start + bytes, what }];
}

/** @throws FftError `aliased-buffers` where two stretches share a byte. */
export function refuseOverlap(extents: readonly MemoryExtent[]): void {
  for (let a = 0; a < extents.length; a++) {
    for (let b = a + 1; b < extents.length; b++) {
      const x = extents[a]!;
      const y = extents[b]!;
      if (x.of !== y.of || x.end <= y.start || y.end <= x.start) continue;
      // The hint is for an input and an output: two planes of one side, or an operand and a result, may not overlap in place either.
      const [one, other] = [x, y].map(({ what }) => what.split('.')[0]);
      const apart = one !== other && other !== 'arrays' && other !== 'kernel';
      const hint = apart ? ", or plan with placement 'in-place'" : '';
      throw new FftError(
        'aliased-buffers',
        `${x.what} and ${y.what} share memory; give them memory of their own${hint}.`,
      );
    }
  }
}
