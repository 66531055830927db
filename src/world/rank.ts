/** What one rank held here has to run its part of a schedule: a device, plans of its passes, and memory for messages. */
import type { Device } from '../engine/index.ts';
import {
  type LocalPass,
  localPass,
  type Memory,
  memories,
  type PassPart,
  type PassStep,
  type RankSchedule,
  rankSchedule,
  type WorldSchedule,
} from '../plan/world/index.ts';
import type { HostArray, Storage } from '../problem/index.ts';
import { realBytes, wordsOf } from '../problem/index.ts';
import { isEmptyBox } from '../problem/world/index.ts';
import { newArray, type RankData, viewOf } from './data.ts';

/** A plan of the engine, as passes are run. */
type DevicePlan = Awaited<ReturnType<Device['planPass']>>;

interface Pass {
  readonly plan: DevicePlan;
  readonly nothing: LocalPass['nothing'];
}

/**
 * Whether this thread sees the memory of a device. Messages of another one are in host memory, which its passes read and write through
 * the engine's own copies; boxes lie in one block then, and MPI is told by types what to send of them.
 */
export function isVisible({ kind }: Device): boolean {
  return kind === 'cpu';
}

/** Plans of passes by their problems: equal passes of several ranks on one device share one. */
export type PassPlans = Map<Device, Map<string, DevicePlan>>;

export class Rank {
  readonly device: Device;
  readonly schedule: RankSchedule;
  readonly storage: Storage;
  private readonly passes = new Map<PassPart, Pass>();
  private readonly own: Partial<Record<Memory, RankData>> = {};

  private constructor(device: Device, schedule: RankSchedule, storage: Storage) {
    this.device = device;
    this.schedule = schedule;
    this.storage = storage;
  }

  /** @throws FftError (as a rejection) as `device.plan` and `device.alloc` */
  static async make(
    world: WorldSchedule,
    rank: number,
    device: Device,
    storage: Storage,
    plans: PassPlans,
  ): Promise<Rank> {
    const made = new Rank(device, rankSchedule(world, rank), storage);
    for (const step of made.schedule.steps) {
      if (step.kind === 'pass') for (const part of step.parts) await made.plan(world, step, part, plans);
    }
    for (const memory of memories) {
      const reals = made.schedule.reals[memory];
      if (memory === 'input' || memory === 'output' || reals === 0) continue;
      made.own[memory] = isVisible(device)
        ? device.alloc(reals * realBytes(storage), storage)
        : newArray(storage, reals * wordsOf(storage));
    }
    return made;
  }

  private async plan(world: WorldSchedule, step: PassStep, part: PassPart, plans: PassPlans): Promise<void> {
    if (isEmptyBox(part.output.box)) return;
    const { problem, decomposition } = world.passes!;
    const local = localPass(problem, decomposition, step, part);
    const known = plans.get(this.device) ?? new Map<string, DevicePlan>();
    plans.set(this.device, known);
    const key = JSON.stringify(local.problem);
    let plan = known.get(key);
    if (!plan) known.set(key, (plan = await this.device.planPass(local.problem)));
    this.passes.set(part, { plan, nothing: local.nothing });
  }

  /** Bytes of its messages, and of the temporary memory of its passes. */
  get bytes(): number {
    const temps = [...this.passes.values()].map(({ plan }) => plan.bytes.temp);
    const bytesOf = (data: RankData) => (ArrayBuffer.isView(data) ? data.byteLength : data.bytes);
    return Object.values(this.own).reduce((sum, memory) => sum + bytesOf(memory), 0) + Math.max(0, ...temps);
  }

  /** Numbers of a host array that make up an element. */
  wordsOf(elements: 'real' | 'complex'): number {
    return (elements === 'real' ? 1 : 2) * wordsOf(this.storage);
  }

  /** A memory, where the caller's is given for input and output. */
  memoryOf(memory: Memory, data: Bound): RankData {
    return memory === 'input' || memory === 'output' ? data[memory] : this.own[memory]!;
  }

  view(memory: Memory, data: Bound): HostArray {
    return viewOf(this.memoryOf(memory, data));
  }

  /** One part of a pass. */
  async run(part: PassPart, direction: 'forward' | 'inverse', data: Bound): Promise<void> {
    const pass = this.passes.get(part);
    if (!pass) return;
    const [input, output] = [this.memoryOf(part.input.memory, data), this.memoryOf(part.output.memory, data)];
    const [read, written] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    // What is written lies in a block of zeros, which is not touched.
    if (pass.nothing === written) return;
    const [from, to] = direction === 'forward' ? [input, output] : [output, input];
    if (pass.nothing === read) {
      const view = viewOf(to);
      return zero(
        view,
        part[written].blocks,
        view.length > 0
          ? this.wordsOf(written === 'input' && pass.plan.problem.transform[0] === 'r2c' ? 'real' : 'complex')
          : 0,
      );
    }
    const exactly = (data: RankData, side: 'input' | 'output') =>
      ArrayBuffer.isView(data) ? data.subarray(0, pass.plan[side].bytes / data.BYTES_PER_ELEMENT) : data;
    await pass.plan[direction](exactly(from, read) as never, exactly(to, written) as never);
  }

  destroy(): void {
    for (const memory of Object.values(this.own)) if (!ArrayBuffer.isView(memory)) memory.free();
  }
}

/** The caller's memory of one rank, for one call. */
export interface Bound {
  readonly input: RankData;
  readonly output: RankData;
}

function zero(view: HostArray, blocks: PassPart['output']['blocks'], words: number): void {
  for (const { from, to, offset, strides } of blocks) {
    const lengths = from.map((first, d) => to[d]! - first);
    const count = lengths.reduce((a, b) => a * b, 1);
    for (let n = 0; n < count; n++) {
      let [rest, place] = [n, offset];
      lengths.forEach((length, d) => {
        place += (rest % length) * strides[d]!;
        rest = Math.floor(rest / length);
      });
      view.fill(0, place * words, (place + 1) * words);
    }
  }
}
