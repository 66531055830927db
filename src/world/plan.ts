/** Plans over many ranks, as users hold them. */
import type { WorldCost, WorldSchedule } from '../plan/world/index.ts';
import { FftError } from '../problem/index.ts';
import { sendsHalves, type WorldProblem } from '../problem/world/index.ts';
import { type LocalData, newArray, type RankData, readLocal, viewOf, type WorldSide, worldSide } from './data.ts';
import { explainWorld, factsOf, type WorldFacts } from './explain.ts';
import { checkMemory, type GpuMemory, runOnGpus } from './gpus.ts';
import type { WorldHost } from './host.ts';
import type { Rank } from './rank.ts';
import { run } from './runner.ts';

/** @internal What moves are made of. */
export interface MoveParts {
  readonly host: WorldHost;
  readonly schedule: WorldSchedule;
  readonly ranks: readonly Rank[];
  /** Counts what the world has made. */
  readonly number: number;
  /** Of a world of GPUs. */
  readonly memory: GpuMemory | undefined;
}

/** Something that all ranks run together: a transform, or a redistribution. */
export class WorldMove {
  /** What `forward` reads and `inverse` writes, of the ranks held here. */
  readonly input: WorldSide;
  /** The other side. */
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

  /** Bytes of the ranks held here, for messages and the temporary memory of passes. */
  get bytes(): number {
    return this.ranks.reduce((sum, rank) => sum + rank.bytes, 0);
  }

  /**
   * Every rank calls it, in the same order as all else in the world. The memory belongs to the call until its promise settles.
   *
   * @param input what the ranks held here hold: one array or device memory, or a list with one for each. Numbers lie as `plan.input.bricks`
   * says, complex ones interleaved.
   * @param output where to write; new arrays when left out; `input` itself where both sides have the same bytes.
   * @throws FftError (as a rejection) for arguments as `device.plan(…).forward`, before anything is sent; `rank-failed`,
   * `mismatched-plans`, `rank-lost`, `world-broken`, `destroyed`
   */
  forward<O extends LocalData>(input: LocalData, output: O): Promise<O>;
  forward(input: LocalData): Promise<LocalData>;
  forward(input: LocalData, output?: LocalData): Promise<LocalData> {
    return this.move('forward', input, output);
  }

  /** The other way round, like `forward`. */
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
    // GPUs do what they are given in order: the next call is submitted while this one is at work.
    const submitted = await this.host.inOrder(async () => {
      const done = this.moveNow(direction, from, to);
      if (!this.host.gpus) await done;
      done.catch(() => undefined);
      return { done };
    });
    return submitted.done;
  }

  /** @internal Without waiting for the calls before it: for who has waited for them. */
  async moveNow(direction: 'forward' | 'inverse', from: LocalData, to: LocalData | undefined): Promise<LocalData> {
    const { fabric, gpus } = this.host;
    const [source, target] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    let failure: unknown;
    let read: RankData[] = [];
    let written: RankData[] = [];
    try {
      if (this.destroyed) throw new FftError('destroyed', 'This plan has been destroyed; make a new one.');
      read = readLocal(from, this[source], source);
      written = to === undefined ? this.fresh(target) : readLocal(to, this[target], target);
      if (gpus)
        for (const [data, name] of [
          [read, source],
          [written, target],
        ] as const)
          checkMemory(gpus, data, name);
      else read = read.map((data, n) => apart(data, written[n]!, this.ranks[n]!));
    } catch (error) {
      failure = error;
    }
    const opinion = { about: `${direction} of plan ${this.number}`, failure };
    const agreed = this.host.agree(
      'A call',
      fabric.ranks.map(() => opinion),
    );
    if (failure !== undefined) await agreed;
    // The first pass may be at work when the others turn out to have failed.
    agreed.catch(() => undefined);
    const data = read.map((own, n) => {
      return direction === 'forward' ? { input: own, output: written[n]! } : { input: written[n]!, output: own };
    });
    if (gpus) await runOnGpus({ gpus, ranks: this.ranks, schedule: this.schedule, data, direction }, this.memory!);
    else await run({ fabric, ranks: this.ranks, data, direction, halves: this.halves, agreed });
    if (to !== undefined) return to;
    return Array.isArray(from) || this.ranks.length > 1 ? written : written[0]!;
  }

  private fresh(side: 'input' | 'output'): RankData[] {
    return this[side].parts.map(({ length }) => newArray(this.ranks[0]!.storage, length));
  }
}

/** What is read, or a copy where the same memory is written before all of it has been read. @throws FftError `aliased-buffers` */
function apart(read: RankData, written: RankData, { schedule }: Rank): RankData {
  if (read !== written && !isView(read, written)) return read;
  const keepsRead = schedule.steps.length > 1 && schedule.steps[0]!.kind === 'pass';
  if (keepsRead && schedule.steps.at(-1)!.kind === 'pass') return read;
  return viewOf(read).slice();
}

/** Whether two arrays begin at the same byte. @throws FftError `aliased-buffers` where they overlap otherwise */
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
    const [chosen, ...rejected] = costs.map(factsOf);
    this.facts = { ranks: host.fabric.size, perNode: host.perNode, chosen: chosen!, rejected, ...facts };
  }

  /** What the plan does, for people: the decomposition and those that were rejected, and what every exchange sends. */
  explain(): string {
    return explainWorld(this.facts);
  }

  /** The same as data. */
  toJSON(): WorldFacts {
    return this.facts;
  }

  /** What was decided, for `world.plan(problem, { from })` in a world of as many ranks. */
  serialize(): string {
    const { decomposition } = this.schedule.passes!;
    const { way, ranks } = this.schedule;
    return JSON.stringify({ format: 'omnifft-world-plan-1', ranks, decomposition, chunks: this.facts.chunks, way });
  }
}
