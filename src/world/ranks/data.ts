/** Callers' data: one array or memory for each rank held here, and the side of a plan that describes its layout. */
import { checkBuffer } from '../../devices/fabric/fabric.ts';
import { backendOf } from '../../engine/arguments/options.ts';
import { type Device, DeviceMemory } from '../../engine/index.ts';
import { show, typeName } from '../../problem/errors.ts';
import { FftError, type HostArray, realBytes, type Storage, wordsOf } from '../../problem/index.ts';
import { type Brick, bricksOfRank, type SharedTensor, spanOfRank } from '../../problem/world/index.ts';

/** Numbers of one rank: a host array, or memory of the rank's device. */
export type RankData = HostArray | DeviceMemory;
/** Numbers of all ranks held here: the data of the only rank, or a list with one entry for each rank. */
export type LocalData = RankData | readonly RankData[];

/** A side (input or output) of a plan, with the sizes for allocating its arrays. */
export interface WorldSide {
  /** Bricks (boxes of the tensor) that the ranks held here hold. */
  readonly bricks: readonly Brick[];
  /** Bytes of memory for the ranks held here, all together. */
  readonly bytes: number;
  /** Sizes for each rank held here: bytes of its memory, and `length`, the numbers of a host array. */
  readonly parts: readonly { readonly rank: number; readonly bytes: number; readonly length: number }[];
}

/** The tensor and the storage behind a side, for functions that take a side. */
export interface SideFacts {
  readonly tensor: SharedTensor;
  readonly storage: Storage;
}

const facts = new WeakMap<object, SideFacts>();

export function worldSide(tensor: SharedTensor, storage: Storage, ranks: readonly number[]): WorldSide {
  const reals = tensor.elements === 'real' ? 1 : 2;
  const parts = ranks.map((rank) => {
    const numbers = spanOfRank(tensor, rank) * reals;
    return Object.freeze({ rank, bytes: numbers * realBytes(storage), length: numbers * wordsOf(storage) });
  });
  const side = Object.freeze({
    bricks: Object.freeze(ranks.flatMap((rank) => bricksOfRank(tensor, rank))),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    parts: Object.freeze(parts),
  });
  facts.set(side, { tensor, storage });
  return side;
}

/** The facts behind a side. @throws FftError `invalid-argument` for anything but a side of a plan of a world */
export function factsOfSide(side: unknown, what: string): SideFacts {
  const known = facts.get(side as object);
  if (known) return known;
  const message = `${what} takes a side of a plan, plan.input or plan.output; it was given ${show(side)}.`;
  throw new FftError('invalid-argument', message);
}

const CLASSES = { half: Uint16Array, single: Float32Array, double: Float64Array, 'double-double': Float64Array };

export function rankArray(storage: Storage, length: number): HostArray {
  return new CLASSES[storage](length);
}

/**
 * The caller's data for a side, one entry for each rank held here.
 * @throws FftError `invalid-argument`, `wrong-array-type`, `wrong-length`, `buffer-too-small`, `detached-array`
 */
export function readLocal(given: unknown, side: WorldSide, name: string): RankData[] {
  const { storage } = facts.get(side)!;
  const list = Array.isArray(given) ? given : [given];
  if (list.length !== side.parts.length) {
    const message = `${name} has data of ${list.length} ranks; ${side.parts.length} are held here: give a list with one entry for each.`;
    throw new FftError('invalid-argument', message);
  }
  return side.parts.map(({ rank, bytes, length }, n) => {
    const data: unknown = list[n];
    const where = side.parts.length > 1 ? `${name}[${n}]` : name;
    if (data instanceof DeviceMemory) {
      if (data.bytes >= bytes) return data;
      const message = `${where} has ${data.bytes} bytes; rank ${rank} needs ${bytes} (plan.${name}.bytes).`;
      throw new FftError('buffer-too-small', message);
    }
    const Class = CLASSES[storage];
    if (!(data instanceof Class)) {
      const message = `${where} is ${typeName(data)}; a ${Class.name} or device memory is needed for ${storage} storage.`;
      throw new FftError('wrong-array-type', message);
    }
    if ((data.buffer as { detached?: boolean }).detached === true)
      throw new FftError(
        'detached-array',
        `The memory of ${where} was transferred elsewhere; give an array that has it.`,
      );
    if (data.length === length) return data;
    throw new FftError(
      'wrong-length',
      `${where} has ${data.length} numbers; the bricks of rank ${rank} have ${length}.`,
    );
  });
}

/** Checks that memory given for a rank belongs to the rank's own device. @throws FftError `foreign-buffer`, `destroyed` */
export function checkMemory(data: RankData, device: Device, rank: number, name: string): void {
  if (data instanceof DeviceMemory) checkBuffer(backendOf(device), rank, DeviceMemory.bufferOf(data)!, name);
}

/** A host array filled with the contents of device memory. */
export async function downloaded(memory: DeviceMemory, device: Device, array: HostArray): Promise<HostArray> {
  if (array.length === 0) return array;
  await device.finish();
  await backendOf(device).download({ buffer: DeviceMemory.bufferOf(memory)!, byteOffset: 0 }, array);
  return array;
}

/** Copies a host array into device memory; resolves when the copy is complete. */
export async function uploaded(array: HostArray, memory: DeviceMemory, device: Device): Promise<void> {
  if (array.length > 0)
    await backendOf(device).upload({ buffer: DeviceMemory.bufferOf(memory)!, byteOffset: 0 }, array);
}

/** The numbers of a rank as an array of this thread. @throws FftError `unsupported-feature` for memory that this thread does not see */
export function hostView(data: RankData, storage: Storage): HostArray {
  if (!(data instanceof DeviceMemory)) return data;
  // Device memory has the precision that it was allocated for, which may differ from the plan's.
  const { array } = data;
  return beginningOf(array, array.byteLength, storage);
}

/** The first bytes of an array as numbers of a storage. */
export function beginningOf({ buffer, byteOffset }: HostArray, bytes: number, storage: Storage): HostArray {
  const Class = CLASSES[storage];
  return new Class(buffer as ArrayBuffer, byteOffset, Math.floor(bytes / Class.BYTES_PER_ELEMENT));
}
