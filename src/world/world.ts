/** A world: ranks that hold parts of tensors and transform them together. */
import type { Fabric } from '../devices/fabric/fabric.ts';
import type { GpuFabric } from '../devices/fabric/gpus/fabric.ts';
import type { Device } from '../engine/index.ts';
import {
  type Decomposition,
  exchangeChunks,
  type Machine,
  movesAsItIs,
  rankDecompositions,
  redistributionSchedule,
  type ScheduleChoice,
  scheduleOf,
  sendingOfPeers,
  usualMachine,
  type WorldCost,
  type WorldSchedule,
} from '../plan/world/index.ts';
import { show } from '../problem/errors.ts';
import { FftError, type HostArray, type Storage } from '../problem/index.ts';
import {
  bytesOnWire,
  normalizeRedistribution,
  normalizeWorldProblem,
  type Redistribution,
  type RedistributionInput,
  sharedShape,
  type WorldProblem,
  type WorldProblemInput,
  wholeBox,
} from '../problem/world/index.ts';
import { exchangeOfPeers } from './explain.ts';
import { type MoveParts, WorldMove, WorldPlan } from './plan.ts';
import { measureMachine } from './pricing/measure.ts';
import { measureGpus } from './pricing/measure-gpus.ts';
import { pricesOf } from './pricing/pricing.ts';
import { agree, type Opinion, type WorldHost } from './ranks/agreement.ts';
import { factsOfSide, type LocalData, rankArray, type SideFacts, type WorldSide } from './ranks/data.ts';
import { GpuMemory } from './ranks/gpus.ts';
import { isVisible, type PassPlans, Rank } from './ranks/rank.ts';

export interface WorldPlanOptions {
  /** Text from `plan.serialize()` in a world with the same number of ranks: its decisions are used again. */
  readonly from?: string;
}

/** The most decompositions that `strategy: 'measure'` times, the cheapest ones first. */
const MOST_TIMED = 3;
const TIMED_RUNS = 3;

export class World {
  /** Kind of the world: `mpi`, `workers` or `gpus`. */
  readonly kind: Fabric['kind'];
  /** Number of ranks in the world. */
  readonly size: number;
  /** The first rank held here. */
  readonly rank: number;
  /** All ranks held here: exactly one where ranks are processes. */
  readonly ranks: readonly number[];
  /** The library that carries the messages, with its version. */
  readonly library: string;
  /** Devices of the ranks held here, for `alloc`. */
  readonly devices: readonly Device[];
  private readonly host: WorldHost;
  private readonly passPlans: PassPlans = new Map();
  private machine: Machine;
  private tail: Promise<unknown> = Promise.resolve();
  private broken: unknown;
  private closed = false;
  private made = 0;

  /** @internal Made by `openWorld`. @param devices one for each rank held here. */
  constructor(fabric: Fabric, devices: readonly Device[], perNode: number) {
    this.kind = fabric.kind;
    this.size = fabric.size;
    this.ranks = fabric.ranks;
    this.rank = fabric.ranks[0]!;
    this.library = fabric.library;
    this.devices = devices;
    this.machine = usualMachine(devices[0]!.profile);
    this.host = {
      ...{ fabric, perNode },
      gpus: fabric.kind === 'gpus' ? (fabric as GpuFabric) : undefined,
      inOrder: (call) => this.inOrder(call),
      agree: (what, opinions) => agree(fabric, what, opinions),
    };
  }

  /** Bytes and messages that the ranks held here have sent to others so far. */
  get counters(): { readonly bytes: number; readonly messages: number } {
    return { ...this.host.fabric.counters };
  }

  /**
   * Plans a transform on all ranks, each of which calls it with the same problem.
   *
   * @throws FftError (as a rejection) on every rank: what is wrong with the problem, `overlapping-bricks`, `incomplete-bricks`,
   * `too-few-points`, `mismatched-plans`, `rank-failed`, `rank-lost`, `world-broken`, and as `device.plan`
   */
  plan(problem: WorldProblemInput, options: WorldPlanOptions = {}): Promise<WorldPlan> {
    return this.inOrder(async () => {
      const number = this.made++;
      const normal = await this.agreed('plan', () => normalizeWorldProblem(problem, this.size), JSON.stringify);
      const chunks = exchangeChunks(normal, this.host.fabric.beside, this.host.gpus ? LEAST_CHUNK_OF_GPUS : 0);
      const ranked = await this.agreed(
        'plan',
        () => this.rankedDecompositions(normal, chunks, options.from),
        () => '',
      );
      const costs = await this.sameOnAll(ranked);
      const make = (cost: WorldCost) => {
        const choice = { decomposition: cost.decomposition, chunks, ...this.wayOf(normal, cost.decomposition) };
        return this.makePlan(normal, choice, [cost, ...costs.filter((one) => one !== cost)], number);
      };
      if (normal.strategy !== 'measure') return make(costs[0]!);
      return this.fastest(costs.slice(0, MOST_TIMED), make);
    });
  }

  private wayOf(problem: WorldProblem, decomposition: Decomposition): Pick<ScheduleChoice, 'way' | 'slotUnit'> {
    const { gpus } = this.host;
    if (gpus) return wayOfGpus(gpus, problem, decomposition);
    return { way: problem.exchange === 'auto' ? 'blocks' : problem.exchange };
  }

  /** The decompositions in order of increasing price, or the saved one alone. */
  private rankedDecompositions(problem: WorldProblem, chunks: number, from: string | undefined): WorldCost[] {
    const { machine } = this;
    const priceOfPass = pricesOf(problem.whole, machine.profile);
    const { gpus, perNode } = this.host;
    const sending =
      gpus && ((one: Decomposition) => (wayOfGpus(gpus, problem, one).way === 'window' ? 'stores' : 'copies'));
    const ranked = rankDecompositions({ problem, machine, perNode, chunks, priceOfPass, sending });
    if (from === undefined) return ranked;
    const saved = savedDecomposition(from, this.size);
    const found = ranked.filter(({ decomposition }) => JSON.stringify(decomposition) === saved);
    if (found.length > 0) return found;
    throw new FftError('invalid-saved-plan', 'The saved plan was made for another problem.');
  }

  /** Rank 0's ranking, on all ranks: devices of ranks may differ, and with them prices. */
  private async sameOnAll(ranked: WorldCost[]): Promise<WorldCost[]> {
    const text = JSON.stringify(ranked[0]!.decomposition);
    const bytes = new Uint8Array(1024);
    bytes.set(new TextEncoder().encode(text).subarray(0, 1023));
    const all = await this.host.fabric.gather(this.ranks.map(() => bytes));
    const first = new TextDecoder().decode(all[0]!.subarray(0, all[0]!.indexOf(0)));
    const chosen = ranked.find(({ decomposition }) => JSON.stringify(decomposition) === first) ?? ranked[0]!;
    return [chosen, ...ranked.filter((one) => one !== chosen)];
  }

  private async makePlan(
    problem: WorldProblem,
    choice: ScheduleChoice,
    costs: readonly WorldCost[],
    number: number,
  ): Promise<WorldPlan> {
    const { gpus } = this.host;
    let schedule = scheduleOf(problem, choice);
    let exchange: string = gpus ? exchangeOfGpus(gpus, choice) : choice.way;
    let onDevice = gpus !== undefined;
    if (!gpus && !this.devices.every(isVisible)) {
      onDevice = await this.areMovedOnDevices(schedule);
      // In host memory boxes keep the layout of the passes, and the MPI library packs them.
      if (!onDevice) schedule = scheduleOf(problem, { ...choice, way: 'types' });
      exchange = onDevice ? `${choice.way}, straight between devices` : 'types, through host memory';
    }
    const parts = await this.partsOf(schedule, { storage: problem.whole.edgeStorage, number, onDevice });
    const facts = gpus ? { exchange, alone: this.secondsAlone(problem) } : { exchange };
    return new WorldPlan(parts, costs, { ...facts, chunks: choice.chunks });
  }

  /** Seconds that one device would take for the whole transform. */
  private secondsAlone({ whole }: WorldProblem): number {
    const { profile, unit } = this.machine;
    const lengths = [...sharedShape(whole, 'input')];
    const axes = [...whole.size.keys()];
    const reals = whole.transform[0] === 'r2c' ? 2 : 1;
    return (lengths.reduce((a, b) => a * b, 1) / reals) * pricesOf(whole, profile)(lengths, axes) * unit;
  }

  /**
   * Whether messages lie in device memory that no thread sees: on all ranks the library has to support memory of the device, and messages must need
   * no conversion on the way.
   */
  private async areMovedOnDevices(schedule: WorldSchedule): Promise<boolean> {
    const { fabric } = this.host;
    const own = this.ranks.map((rank, n) =>
      Number(fabric.reaches.includes(this.devices[n]!.kind) && movesAsItIs(schedule, rank)),
    );
    const all = await fabric.gather(own.map((one) => Uint8Array.of(one)));
    return all.every(([one]) => one === 1);
  }

  private partsOf(
    schedule: WorldSchedule,
    { storage, number, onDevice }: { storage: Storage; number: number; onDevice: boolean },
  ): Promise<MoveParts> {
    const { host, passPlans: plans } = this;
    return this.agreed(
      'plan',
      async () => {
        const memory = host.gpus && GpuMemory.make(host.gpus, schedule);
        const made = await Promise.allSettled(
          this.ranks.map((rank, n) => {
            const windows = memory?.windows[n];
            const parts = {
              device: this.devices[n]!,
              storage,
              plans,
              onDevice,
              mostElements: host.fabric.mostElements,
              windows,
            };
            return Rank.make(schedule, rank, parts);
          }),
        );
        const ranks = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        const failed = made.find((one) => one.status === 'rejected');
        if (failed) {
          for (const rank of ranks) rank.destroy();
          memory?.free();
          throw failed.reason;
        }
        return { host, schedule, ranks, number, memory };
      },
      () => '',
    );
  }

  /** The fastest plan, timed on all ranks together: the slowest rank's time counts. */
  private async fastest(
    costs: readonly WorldCost[],
    make: (cost: WorldCost) => Promise<WorldPlan>,
  ): Promise<WorldPlan> {
    let best: { plan: WorldPlan; seconds: number } | undefined;
    for (const cost of costs) {
      const plan = await make(cost);
      const data = (side: WorldSide) =>
        this.ranks.map((_, n) => this.devices[n]!.alloc(Math.max(8, side.parts[n]!.bytes)));
      const [input, output] = [data(plan.input), data(plan.output)];
      let seconds = Number.POSITIVE_INFINITY;
      for (let n = 0; n < TIMED_RUNS; n++)
        seconds = Math.min(seconds, await this.slowest(() => plan.moveNow('forward', input, output)));
      for (const memory of [...input, ...output]) memory.free();
      if (!best || seconds < best.seconds) {
        best?.plan.destroy();
        best = { plan, seconds };
      } else plan.destroy();
    }
    return best!.plan;
  }

  private async slowest(call: () => Promise<unknown>): Promise<number> {
    const start = performance.now();
    await call();
    const own = new Uint8Array(Float64Array.of((performance.now() - start) / 1e3).buffer);
    const all = await this.host.fabric.gather(this.ranks.map(() => own));
    return Math.max(...all.map((bytes) => new Float64Array(bytes.slice().buffer)[0]!));
  }

  /**
   * Plans the redistribution of a tensor among the ranks, without a transform.
   * @param move the distribution before and after
   * @throws FftError (as a rejection) as `plan`
   */
  redistribute(move: RedistributionInput): Promise<WorldMove> {
    return this.inOrder(() => this.moving(() => normalizeRedistribution(move, this.size)));
  }

  private async moving(read: () => Redistribution): Promise<WorldMove> {
    const number = this.made++;
    const { input, output, storage } = await this.agreed('redistribute', read, JSON.stringify);
    const schedule = redistributionSchedule(input, output, this.size, 'blocks');
    const isSeen = this.devices.every(isVisible);
    const onDevice = this.host.gpus !== undefined || (!isSeen && (await this.areMovedOnDevices(schedule)));
    return new WorldMove(await this.partsOf(schedule, { storage, number, onDevice }));
  }

  /**
   * Collects a distributed tensor in the memory of one rank, packed, last axis fastest. Every rank calls it.
   * @param side the side that `local` belongs to: `plan.input` or `plan.output`
   * @param local data of the ranks held here, as for `plan.forward`
   * @returns the tensor on the rank `root` (default 0), undefined on the others
   * @throws FftError (as a rejection) as `redistribute` and `forward`; `invalid-argument` for a `root` that is not a rank
   */
  async gather(
    side: WorldSide,
    local: LocalData,
    options: { readonly root?: number } = {},
  ): Promise<HostArray | undefined> {
    const move = await this.between('gather', side, options);
    try {
      const whole = await move.forward(local);
      return this.ofRoot(whole, options);
    } finally {
      move.destroy();
    }
  }

  /**
   * Distributes a packed tensor from one rank to the ranks that hold its parts. Every rank calls it.
   * @param side the side of a plan that the parts are for: `plan.input` or `plan.output`
   * @param whole the tensor on the rank `root` (default 0); ignored on the others
   * @returns new arrays for the ranks held here
   * @throws FftError (as a rejection) as `redistribute` and `inverse`; `invalid-argument` for a `root` that is not a rank
   */
  async scatter(
    side: WorldSide,
    whole: HostArray | undefined,
    options: { readonly root?: number } = {},
  ): Promise<LocalData> {
    const move = await this.between('scatter', side, options);
    try {
      const { storage } = factsOfSide(side, 'scatter');
      const parts = move.output.parts.map(({ length }) => (length > 0 ? whole : rankArray(storage, 0)));
      return await move.inverse((parts.length === 1 ? parts[0] : parts) as LocalData);
    } finally {
      move.destroy();
    }
  }

  private between(what: string, side: WorldSide, { root = 0 }: { readonly root?: number }): Promise<WorldMove> {
    return this.inOrder(() =>
      this.moving(() => {
        const { tensor, storage } = factsOfSide(side, what);
        if (!Number.isSafeInteger(root) || root < 0 || root >= this.size)
          throw new FftError('invalid-argument', `root is ${show(root)}; ranks are 0 to ${this.size - 1}.`);
        return { storage, ranks: this.size, input: tensor, output: atRoot({ tensor, storage }, root) };
      }),
    );
  }

  private ofRoot(whole: LocalData, { root = 0 }: { readonly root?: number }): HostArray | undefined {
    const at = this.ranks.indexOf(root);
    if (at < 0) return undefined;
    return (Array.isArray(whole) ? whole[at] : whole) as HostArray;
  }

  /** Resolves when all ranks have called it. */
  barrier(): Promise<void> {
    return this.inOrder(() => this.agreedOn('barrier'));
  }

  /**
   * Measures latencies (seconds), bandwidths (bytes per second) and the speed of passes, on all ranks together. Plans made afterwards are chosen by
   * these values.
   * @returns plain data, for `simulateWorld` and for later runs
   */
  measure(): Promise<Machine> {
    return this.inOrder(async () => {
      await this.agreedOn('measure');
      const { gpus } = this.host;
      this.machine = gpus
        ? await measureGpus(gpus, this.devices, this.machine)
        : await measureMachine(this.host, this.devices[0]!, this.machine);
      return this.machine;
    });
  }

  /** Ends the world, on all ranks together; its devices are closed. A second call does nothing. */
  async close(): Promise<void> {
    if (this.closed) return;
    try {
      if (this.broken === undefined) {
        await this.inOrder(() => this.agreedOn('close'));
        this.closed = true;
        // Contexts and streams of GPUs belong to the fabric: objects that live in them are destroyed first.
        if (this.host.gpus) await this.closeDevices();
        await this.host.fabric.close();
      }
    } finally {
      this.closed = true;
      await this.closeDevices();
    }
  }

  private async closeDevices(): Promise<void> {
    await this.host.gpus?.finish().catch(() => undefined);
    for (const device of new Set(this.devices)) device.close();
  }

  private agreedOn(what: string): Promise<void> {
    return this.host.agree(
      what,
      this.ranks.map((): Opinion => ({ about: '' })),
    );
  }

  /**
   * A result that every rank makes by itself; if one rank cannot make it, all ranks throw. @param about the properties that must be the same on all
   * ranks
   */
  private async agreed<T>(what: string, make: () => T | Promise<T>, about: (made: T) => string): Promise<T> {
    let made: T | undefined;
    let failure: unknown;
    try {
      made = await make();
    } catch (error) {
      failure = error;
    }
    const text = failure === undefined ? about(made as T) : '';
    await this.host.agree(
      what,
      this.ranks.map(() => ({ about: text, failure })),
    );
    return made as T;
  }

  private inOrder<T>(call: () => Promise<T>): Promise<T> {
    const started = this.tail.then(async () => {
      if (this.closed)
        throw new FftError('world-unavailable', 'This world has been closed; open another with openWorld().');
      if (this.broken !== undefined) {
        const message = 'This world has lost a rank, and cannot go on: start the program again.';
        throw new FftError('world-broken', message, { cause: this.broken });
      }
      try {
        return await call();
      } catch (error) {
        if (error instanceof FftError && error.code === 'rank-lost') this.broken = error;
        throw error;
      }
    });
    this.tail = started.catch(() => undefined);
    return started;
  }
}

/** The least bytes of a chunk on GPUs: its submission takes some 50 µs, and its transfer over a link of 370 GB/s takes no less. */
const LEAST_CHUNK_OF_GPUS = 2 ** 25;

/** @throws FftError `unsupported-feature` for ways of exchange that GPUs of one process do not have */
function wayOfGpus(
  gpus: GpuFabric,
  problem: WorldProblem,
  decomposition: Decomposition,
): Pick<ScheduleChoice, 'way' | 'slotUnit'> {
  const { exchange } = problem;
  if (exchange === 'types') {
    const message =
      "exchange 'types' is one of MPI; GPUs exchange as openWorld('gpus', { exchange }) says, or by 'pairs'.";
    throw new FftError('unsupported-feature', message, { path: 'exchange' });
  }
  const areCopies = !gpus.demanded && sendingOfPeers(problem, decomposition) === 'copies';
  if (gpus.way !== 'peer' || exchange !== 'auto' || areCopies) return { way: 'blocks' };
  return { way: 'window', slotUnit: gpus.slotUnit / bytesOnWire(problem) };
}

function exchangeOfGpus({ way: own }: GpuFabric, { way }: ScheduleChoice): string {
  return own === 'nccl' ? 'messages of NCCL' : exchangeOfPeers(way === 'window' ? 'stores' : 'copies');
}

/** The distribution that holds the whole tensor on one rank. */
function atRoot({ tensor }: SideFacts, root: number): Redistribution['output'] {
  const { shape, elements } = tensor;
  const whole = wholeBox(shape);
  let next = 1;
  const strides = shape.map((length) => {
    const stride = next;
    next *= length;
    return stride;
  });
  return { shape, elements, sharing: { by: 'bricks', bricks: [{ ...whole, rank: root, offset: 0, strides }] } };
}

function savedDecomposition(from: string, ranks: number): string {
  try {
    const saved = JSON.parse(from) as { format: string; ranks: number; decomposition: Decomposition };
    if (saved.format === 'omnifft-world-plan-1' && saved.ranks === ranks) return JSON.stringify(saved.decomposition);
  } catch (cause) {
    throw new FftError('invalid-saved-plan', 'The saved plan of a world cannot be read.', { cause });
  }
  throw new FftError('invalid-saved-plan', `The saved plan is not one of a world of ${ranks} ranks.`);
}
