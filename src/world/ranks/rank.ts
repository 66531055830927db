/** One rank held here: a device, plans of its passes, and memory for messages. */
import { addressOf, type FabricMemory } from '../../devices/fabric/fabric.ts';
import { bytesOfView, type Rows } from '../../devices/fabric/rows.ts';
import { backendOf } from '../../engine/arguments/options.ts';
import { type Device, DeviceMemory } from '../../engine/index.ts';
import {
  type Block,
  type ExchangeStep,
  elementsCounted,
  isOwn,
  type LocalPass,
  localPass,
  type Memory,
  memories,
  type PassPart,
  type PassStep,
  type RankSchedule,
  rankSchedule,
  type WorldSchedule,
} from '../../plan/world/index.ts';
import type { HostArray, Storage } from '../../problem/index.ts';
import { FftError, realBytes, storageOfSide, wordsOf } from '../../problem/index.ts';
import { isEmptyBox, lengthsOf } from '../../problem/world/index.ts';
import { beginningOf, hostView, type RankData, rankArray } from './data.ts';

/** A plan of one pass on the rank's device. */
type DevicePlan = Awaited<ReturnType<Device['planPass']>>;

interface Pass {
  /** Plans for each window: a plan is bound to the memory of its last call, and windows are used in turn. */
  readonly plans: readonly DevicePlan[];
  readonly nothing: LocalPass['nothing'];
}

/** Windows that passes write and read in turn: the whole window and the rank's own slot, as memory of the rank's device. */
export type RankWindows = readonly Readonly<Record<'window' | 'slot', DeviceMemory>>[];

/** The parts of a rank other than its schedule. */
export interface RankParts {
  readonly device: Device;
  readonly storage: Storage;
  readonly plans: PassPlans;
  /** Whether messages lie in device memory that this thread does not see. */
  readonly onDevice: boolean;
  /** The most elements that an exchange can count. */
  readonly mostElements: number;
  readonly windows?: RankWindows | undefined;
}

/**
 * Whether this thread sees the memory of a device. If it does not, messages lie in host memory, which passes read and write through the engine's own
 * copies; boxes then lie in one block, and MPI datatypes describe the elements to send.
 */
export function isVisible({ kind }: Device): boolean {
  return kind === 'cpu';
}

/** Plans of passes by their problems: equal passes of several ranks on one device share one plan. */
export type PassPlans = Map<Device, Map<string, Promise<DevicePlan>>>;

export class Rank {
  readonly device: Device;
  readonly schedule: RankSchedule;
  readonly storage: Storage;
  /** Whether messages lie in device memory that this thread does not see. */
  readonly onDevice: boolean;
  private readonly passes = new Map<PassPart, Pass>();
  private readonly own: Partial<Record<Memory, RankData>> = {};

  private readonly windows: RankWindows;

  private constructor({ device, storage, onDevice, windows = [] }: RankParts, schedule: RankSchedule) {
    this.device = device;
    this.onDevice = onDevice;
    this.schedule = schedule;
    this.storage = storage;
    this.windows = windows;
  }

  /** A rank with its plans and memory. @throws FftError (as a rejection) `device-limit`, and as `device.plan` and `device.alloc` */
  static async make(world: WorldSchedule, rank: number, parts: RankParts): Promise<Rank> {
    const { device, storage, onDevice } = parts;
    const made = new Rank(parts, rankSchedule(world, rank));
    checkMessageCounts(made.schedule, parts.mostElements);
    for (const step of made.schedule.steps) {
      if (step.kind === 'pass') for (const part of step.parts) await made.plan(world, step, part, parts.plans);
    }
    for (const memory of memories) {
      const reals = made.schedule.reals[memory];
      if (!isOwn(memory) || reals === 0) continue;
      made.own[memory] =
        onDevice || isVisible(device)
          ? device.alloc(reals * realBytes(storage), storage)
          : rankArray(storage, reals * wordsOf(storage));
    }
    return made;
  }

  private async plan(world: WorldSchedule, step: PassStep, part: PassPart, plans: PassPlans): Promise<void> {
    if (isEmptyBox(part.output.box)) return;
    const { problem, decomposition } = world.passes!;
    const local = localPass(problem, decomposition, step, part);
    const known = plans.get(this.device) ?? new Map<string, Promise<DevicePlan>>();
    plans.set(this.device, known);
    const made: DevicePlan[] = [];
    for (let turn = 0; turn < Math.max(1, this.windows.length); turn++) {
      const key = `${turn} ${JSON.stringify(local.problem)}`;
      let plan = known.get(key);
      if (!plan) {
        known.set(key, (plan = this.device.planPass(local.problem)));
        plan.catch(() => known.delete(key));
      }
      made.push(await plan);
    }
    this.passes.set(part, { plans: made, nothing: local.nothing });
  }

  /** Bytes of the rank's messages, and of the temporary memory of its passes. */
  get bytes(): number {
    const temps = [...this.passes.values()].map(({ plans }) => plans[0]!.bytes.temp);
    const bytesOf = (data: RankData) => (ArrayBuffer.isView(data) ? data.byteLength : data.bytes);
    const all = [...Object.values(this.own), ...this.windows.map(({ slot }) => slot)];
    return all.reduce((sum, memory) => sum + bytesOf(memory), 0) + Math.max(0, ...temps);
  }

  /** The number of entries of a host array in one element. */
  wordsOf(elements: 'real' | 'complex'): number {
    return (elements === 'real' ? 1 : 2) * wordsOf(this.storage);
  }

  /** Bytes of an element of an exchange, in message memory. */
  elementBytes({ elements, halves }: ExchangeStep): number {
    return (elements === 'real' ? 1 : 2) * realBytes(halves ? 'half' : this.storage);
  }

  /** A memory of the schedule; input and output are the caller's. @param turn the index of the window */
  memoryOf(memory: Memory, data: Bound, turn = 0): RankData {
    if (memory === 'window' || memory === 'slot') return this.windows[turn]![memory];
    return memory === 'input' || memory === 'output' ? data[memory] : this.own[memory]!;
  }

  view(memory: Memory, data: Bound): HostArray {
    return hostView(this.memoryOf(memory, data), this.storage);
  }

  /** Message memory as a fabric takes it: an array, or an address where this thread does not see the memory. */
  messages(memory: Memory, data: Bound): FabricMemory {
    const own = this.memoryOf(memory, data);
    if (!(own instanceof DeviceMemory) || isVisible(this.device)) return hostView(own, this.storage);
    return addressOf(backendOf(this.device), this.schedule.rank, DeviceMemory.bufferOf(own)!, memory);
  }

  /** Runs one part of a pass. @param turn the window that is read; the pass writes the other one */
  async run(part: PassPart, direction: 'forward' | 'inverse', data: Bound, turn = 0): Promise<void> {
    const pass = this.passes.get(part);
    if (!pass) return;
    const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    // The whole output of the part is a block of zeros, which is not touched.
    if (pass.nothing === written) return;
    const from = this.memoryOf(part[read].memory, data, turn);
    const to = this.memoryOf(part[written].memory, data, 1 - turn);
    const plan = pass.plans[turn % pass.plans.length]!;
    if (pass.nothing === read) {
      const isReal = written === 'input' && plan.problem.transform[0] === 'r2c';
      const clear =
        data.clear ??
        ((memory, blocks, bytes) => zeroBlocks(bytesOfView(hostView(memory, this.storage)), blocks, bytes));
      return clear(to, part[written].blocks, (isReal ? 1 : 2) * realBytes(storageOfSide(plan.problem, written)));
    }
    const exactly = (data: RankData, side: 'input' | 'output') =>
      ArrayBuffer.isView(data) ? beginningOf(data, plan[side].bytes, storageOfSide(plan.problem, side)) : data;
    await plan[direction](exactly(from, read) as never, exactly(to, written) as never);
  }

  destroy(): void {
    for (const memory of Object.values(this.own)) if (!ArrayBuffer.isView(memory)) memory.free();
  }
}

/** @throws FftError `device-limit` where a message has more elements than can be counted */
function checkMessageCounts(schedule: RankSchedule, most: number): void {
  const counted = elementsCounted(schedule);
  if (counted <= most) return;
  const message = `An exchange of this fabric counts ${most} elements at most, and rank ${schedule.rank} has ${counted} of them to be counted: take more ranks, or exchange: 'types', which says where messages lie.`;
  throw new FftError('device-limit', message);
}

/** The caller's memory of one rank, for one call. */
export interface Bound {
  readonly input: RankData;
  readonly output: RankData;
  /** Zeroes blocks of memory that this thread does not see. @param bytes bytes of an element */
  readonly clear?: (memory: RankData, blocks: PassPart['output']['blocks'], bytes: number) => void;
}

/** A block of a tensor as rows of its memory. */
export function rowsOfBlock(block: Block): Rows {
  return { offset: block.offset, lengths: lengthsOf(block), strides: block.strides };
}

function zeroBlocks(view: Uint8Array, blocks: PassPart['output']['blocks'], bytes: number): void {
  if (view.length === 0) return;
  for (const { from, to, offset, strides } of blocks) {
    const lengths = from.map((first, d) => to[d]! - first);
    const count = lengths.reduce((a, b) => a * b, 1);
    for (let n = 0; n < count; n++) {
      let [rest, place] = [n, offset];
      lengths.forEach((length, d) => {
        place += (rest % length) * strides[d]!;
        rest = Math.floor(rest / length);
      });
      view.fill(0, place * bytes, (place + 1) * bytes);
    }
  }
}
