/** Plans over many ranks: the objects that users hold. */
import { DeviceMemory } from '../engine/index.ts';
import type { WorldCost, WorldSchedule } from '../plan/world/index.ts';
import { FftError, type HostArray } from '../problem/index.ts';
import { sendsHalves, type WorldProblem } from '../problem/world/index.ts';
import { decompositionFacts, explainWorld, type WorldFacts } from './explain.ts';
import type { WorldHost } from './ranks/agreement.ts';
import {
  checkMemory,
  downloaded,
  hostView,
  type LocalData,
  type RankData,
  rankArray,
  readLocal,
  uploaded,
  type WorldSide,
  worldSide,
} from './ranks/data.ts';
import { type GpuMemory, runOnGpus } from './ranks/gpus.ts';
import { isVisible, type Rank } from './ranks/rank.ts';
import { runSchedule } from './ranks/runner.ts';

/** @internal Parts of a move. */
export interface MoveParts {
  readonly host: WorldHost;
  readonly schedule: WorldSchedule;
  readonly ranks: readonly Rank[];
  /** The number of the plan among all plans of the world. */
  readonly number: number;
  /** The memory of a plan in a world of GPUs. */
  readonly memory: GpuMemory | undefined;
}

/** An operation that all ranks run together: a transform, or a redistribution of a tensor. */
export class WorldMove {
  /** The side that `forward` reads and `inverse` writes, for the ranks held here. */
  readonly input: WorldSide;
  /** The side that `forward` writes and `inverse` reads, for the ranks held here. */
  readonly output: WorldSide;
  protected readonly host: WorldHost;
  protected readonly schedule: WorldSchedule;
  private readonly ranks: readonly Rank[];
  private readonly number: number;
  private readonly halves: boolean;
  private readonly memory: GpuMemory | undefined;
  private destroyed = false;

  /** @internal Made by `world.plan` and `world.redistribute`. */
  constructor({ host, schedule, ranks, number, memory }: MoveParts, halves = false) {
    this.host = host;
    this.schedule = schedule;
    this.ranks = ranks;
    this.number = number;
    this.halves = halves;
    this.memory = memory;
    const { storage } = ranks[0]!;
    this.input = worldSide(schedule.input, storage, host.fabric.ranks);
    this.output = worldSide(schedule.output, storage, host.fabric.ranks);
  }

  /** @internal How the ranks share the output. */
  get outputTensor(): WorldSchedule['output'] {
    return this.schedule.output;
  }

  /** Bytes of messages and of the temporary memory of passes, for the ranks held here. */
  get bytes(): number {
    return this.ranks.reduce((sum, rank) => sum + rank.bytes, 0);
  }

  /**
   * Transforms forward. Every rank calls it, in the same order as all other calls in the world. The arrays and memory belong to the call until its
   * promise settles.
   *
   * @param input data of the ranks held here: one array or device memory, or a list with one entry for each rank. Numbers lie as `plan.input.bricks`
   *   says, complex ones interleaved.
   * @param output arrays or memory for the result; new arrays when left out; `input` itself where both sides have the same bytes
   * @returns the output, when the ranks held here have their results
   * @throws FftError (as a rejection) for arguments as `device.plan(…).forward`, before anything is sent; `rank-failed`, `mismatched-plans`,
   *   `rank-lost`, `world-broken`, `destroyed`
   */
  forward<O extends LocalData>(input: LocalData, output: O): Promise<O>;
  forward(input: LocalData): Promise<LocalData>;
  forward(input: LocalData, output?: LocalData): Promise<LocalData> {
    return this.move('forward', input, output);
  }

  /** Transforms back, from the output side to the input side; otherwise like `forward`. */
  inverse<O extends LocalData>(output: LocalData, input: O): Promise<O>;
  inverse(output: LocalData): Promise<LocalData>;
  inverse(output: LocalData, input?: LocalData): Promise<LocalData> {
    return this.move('inverse', output, input);
  }

  /** Frees memory and plans of the ranks held here. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const rank of this.ranks) rank.destroy();
    this.memory?.free();
  }

  private async move(direction: 'forward' | 'inverse', from: LocalData, to: LocalData | undefined): Promise<LocalData> {
    // GPUs run submitted work in order, so the next call is submitted while this one is running.
    const submitted = await this.host.inOrder(async () => {
      const done = this.moveNow(direction, from, to);
      if (!this.host.gpus) await done;
      done.catch(() => undefined);
      return { done };
    });
    return submitted.done;
  }

  /** @internal Moves without waiting for earlier calls; its caller has waited for them. */
  async moveNow(direction: 'forward' | 'inverse', from: LocalData, to: LocalData | undefined): Promise<LocalData> {
    const { fabric, gpus } = this.host;
    const [source, target] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    let failure: unknown;
    let read: RankData[] = [];
    let written: RankData[] = [];
    /** Memory for the results: `written`, or arrays in its place. */
    let placed: RankData[] = [];
    try {
      if (this.destroyed) throw new FftError('destroyed', 'This plan has been destroyed; make a new one.');
      read = readLocal(from, this[source], source);
      written = to === undefined ? this.fresh(target) : readLocal(to, this[target], target);
      this.ranks.forEach((rank, n) => {
        checkMemory(read[n]!, rank.device, rank.schedule.rank, source);
        checkMemory(written[n]!, rank.device, rank.schedule.rank, target);
      });
      if (!gpus) {
        placed = await Promise.all(written.map((data, n) => this.received(data, n, target)));
        read = await Promise.all(read.map((data, n) => this.sent(data, written[n]!, n, source)));
      }
    } catch (error) {
      failure = error;
    }
    const opinion = { about: `${direction} of plan ${this.number}`, failure };
    const agreed = this.host.agree(
      'A call',
      fabric.ranks.map(() => opinion),
    );
    if (failure !== undefined) await agreed;
    // The first pass may be running when another rank turns out to have failed.
    agreed.catch(() => undefined);
    const bound = (own: RankData, other: RankData) =>
      direction === 'forward' ? { input: own, output: other } : { input: other, output: own };
    if (gpus) {
      const data = read.map((own, n) => bound(own, written[n]!));
      await runOnGpus({ gpus, ranks: this.ranks, schedule: this.schedule, data, direction }, this.memory!);
    } else {
      const data = read.map((own, n) => bound(own, placed[n]!));
      await runSchedule({ fabric, ranks: this.ranks, data, direction, halves: this.halves, agreed });
      await Promise.all(placed.map((array, n) => this.putBack(array, written[n]!, n)));
    }
    if (to !== undefined) return to;
    return Array.isArray(from) || this.ranks.length > 1 ? written : written[0]!;
  }

  /**
   * The memory that a rank reads, or a copy of it: where messages pass through the host, or where the memory is overwritten before all of it has been
   * read.
   */
  private async sent(read: RankData, written: RankData, n: number, side: 'input' | 'output'): Promise<RankData> {
    const rank = this.ranks[n]!;
    if (!isStaged(read, rank) && !mustBeApart(read, written, rank)) return read;
    return read instanceof DeviceMemory && !isVisible(rank.device)
      ? this.onHost(read, n, side)
      : hostView(read, rank.storage).slice();
  }

  /** The memory that a rank writes its results to first. Elements between its bricks keep their values. */
  private async received(written: RankData, n: number, side: 'input' | 'output'): Promise<RankData> {
    return isStaged(written, this.ranks[n]!) ? this.onHost(written as DeviceMemory, n, side) : written;
  }

  private onHost(memory: DeviceMemory, n: number, side: 'input' | 'output'): Promise<HostArray> {
    const { device, storage } = this.ranks[n]!;
    return downloaded(memory, device, rankArray(storage, this[side].parts[n]!.length));
  }

  private async putBack(placed: RankData, written: RankData, n: number): Promise<void> {
    if (placed !== written) await uploaded(placed as HostArray, written as DeviceMemory, this.ranks[n]!.device);
  }

  private fresh(side: 'input' | 'output'): RankData[] {
    return this[side].parts.map(({ length }) => rankArray(this.ranks[0]!.storage, length));
  }
}

/** Whether a host array stands in for device memory, because messages pass through the host. */
function isStaged(data: RankData, { device, onDevice }: Rank): boolean {
  return data instanceof DeviceMemory && !onDevice && !isVisible(device);
}

/** Whether input and output are the same memory and it is overwritten before all of it has been read. @throws FftError `aliased-buffers` */
function mustBeApart(read: RankData, written: RankData, { schedule }: Rank): boolean {
  if (read !== written && !isView(read, written)) return false;
  const keepsRead = schedule.steps.length > 1 && schedule.steps[0]!.kind === 'pass';
  return !keepsRead || schedule.steps.at(-1)!.kind !== 'pass';
}

/** Whether two arrays begin at the same byte. @throws FftError `aliased-buffers` where they overlap in any other way */
function isView(read: RankData, written: RankData): boolean {
  const [a, b] = [read, written];
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.buffer !== b.buffer) return false;
  if (a.byteOffset === b.byteOffset) return a.length > 0;
  if (a.byteOffset + a.byteLength <= b.byteOffset || b.byteOffset + b.byteLength <= a.byteOffset) return false;
  const message =
    'input and output overlap, but are not the same memory; give memory of its own to each, or the same to both.';
  throw new FftError('aliased-buffers', message);
}

/** A transform that many ranks do together. */
export class WorldPlan extends WorldMove {
  /** The problem in normal form. */
  readonly problem: WorldProblem;
  private readonly facts: WorldFacts;

  /** @internal Made by `world.plan`. @param costs the chosen decomposition first. */
  constructor(parts: MoveParts, costs: readonly WorldCost[], facts: Pick<WorldFacts, 'chunks' | 'exchange' | 'alone'>) {
    const { host, schedule } = parts;
    const { problem } = schedule.passes!;
    super(parts, sendsHalves(problem));
    this.problem = problem;
    const [chosen, ...rejected] = costs.map(decompositionFacts);
    this.facts = { ranks: host.fabric.size, perNode: host.perNode, chosen: chosen!, rejected, ...facts };
  }

  /** A description of the plan as text: the chosen and the rejected decompositions, and the messages of every exchange. */
  explain(): string {
    return explainWorld(this.facts);
  }

  /** The facts of `explain()` as data. */
  toJSON(): WorldFacts {
    return this.facts;
  }

  /** The plan's decisions as text, for `world.plan(problem, { from })` in a world with the same number of ranks. */
  serialize(): string {
    const { decomposition } = this.schedule.passes!;
    const { way, ranks } = this.schedule;
    return JSON.stringify({ format: 'omnifft-world-plan-1', ranks, decomposition, chunks: this.facts.chunks, way });
  }
}
