/**
 * Runs a schedule on the GPUs of this process. The whole schedule is submitted at once, rank by rank and step by step: events order the streams of
 * the GPUs, and the host waits for the result only.
 */
import type { GpuFabric } from '../../devices/fabric/gpus/fabric.ts';
import { DeviceMemory } from '../../engine/index.ts';
import type { ExchangeStep, Memory, PassStep, Step, Transfer, WorldSchedule } from '../../plan/world/index.ts';
import { FftError } from '../../problem/index.ts';
import { bricksOfRank, bytesOnWire, type SharedTensor, spanOfRank, volumeOf } from '../../problem/world/index.ts';
import { type Bound, type Rank, type RankWindows, rowsOfBlock } from './rank.ts';

type Direction = 'forward' | 'inverse';
type Side = 'input' | 'output';

/** The number of windows, which exchanges use in turn: a GPU may store into one while another GPU still reads the other. */
const WINDOWS = 2;

export interface GpuRun {
  readonly gpus: GpuFabric;
  readonly ranks: readonly Rank[];
  readonly schedule: WorldSchedule;
  readonly data: readonly Bound[];
  readonly direction: Direction;
}

/** The memory that one plan works in, allocated by the world. */
export class GpuMemory {
  /** The windows of each rank. */
  readonly windows: readonly RankWindows[];
  /** The index of the window that was written last. */
  turn = 0;
  private readonly release: () => void;
  private readonly staged = new Map<string, DeviceMemory>();

  private constructor(windows: readonly RankWindows[], release: () => void) {
    this.windows = windows;
    this.release = release;
  }

  /** @throws FftError `out-of-memory` */
  static make(gpus: GpuFabric, { slot, passes }: WorldSchedule): GpuMemory {
    if (slot === 0) return new GpuMemory([], () => undefined);
    const slotBytes = slot * bytesOnWire(passes!.problem);
    const made: ReturnType<GpuFabric['window']>[] = [];
    const release = () => {
      for (const window of made.splice(0)) window.release();
    };
    try {
      for (let n = 0; n < WINDOWS; n++) made.push(gpus.window(slotBytes));
    } catch (error) {
      release();
      throw error;
    }
    const memory = (rank: number, devicePointer: bigint, bytes: number) =>
      new DeviceMemory(gpus.backends[rank]!.adopt!({ devicePointer, bytes }, 'A window')!, 'f32');
    const windows = gpus.ranks.map((rank) =>
      made.map(({ address }) => ({
        window: memory(rank, address, slotBytes * gpus.size),
        slot: memory(rank, address + BigInt(rank * slotBytes), slotBytes),
      })),
    );
    return new GpuMemory(windows, release);
  }

  /** Device memory that stands in for a host array on a side. */
  stagingFor(bytes: number, side: Side, rank: Rank): DeviceMemory {
    const key = `${rank.schedule.rank} ${side}`;
    const known = this.staged.get(key);
    if (known && known.bytes >= bytes) return known;
    known?.free();
    const memory = rank.device.alloc(Math.max(8, bytes), rank.storage);
    this.staged.set(key, memory);
    return memory;
  }

  free(): void {
    this.release();
    for (const memory of this.staged.values()) memory.free();
    this.staged.clear();
  }
}

/**
 * Submits a call before it returns, except for copies of host arrays.
 * @returns a promise that resolves when the whole call has run. @throws FftError (as a rejection) errors of a device at work
 */
export async function runOnGpus(job: GpuRun, memory: GpuMemory): Promise<void> {
  const { gpus, ranks, direction } = job;
  const run = new Submission(job, memory);
  const passes = run.submit();
  const written: Side = direction === 'forward' ? 'output' : 'input';
  await Promise.all(passes);
  await gpus.finish();
  ranks.forEach((rank, n) => {
    const host = job.data[n]![written];
    if (ArrayBuffer.isView(host)) gpus.download(n, run.address(rank, n, written), host);
  });
}

class Submission {
  private readonly job: GpuRun;
  private readonly memory: GpuMemory;
  private readonly data: readonly Bound[];
  private readonly passes: Promise<void>[] = [];

  constructor(job: GpuRun, memory: GpuMemory) {
    this.job = job;
    this.memory = memory;
    this.data = job.data.map((bound, n) => this.onDevice(bound, n));
  }

  submit(): readonly Promise<void>[] {
    const { ranks, direction } = this.job;
    const order = [...ranks[0]!.schedule.steps.keys()];
    const forward = direction === 'forward';
    if (!forward) order.reverse();
    const steps = order.map((at) => ranks.map(({ schedule }) => schedule.steps[at]!));
    for (let n = 0; n < steps.length; n++) {
      const [own, next] = [steps[n]!, steps[n + 1]];
      const [pass, exchange] = forward ? [own, next] : [next, own];
      if (pass && exchange && arePasses(pass) && areExchanges(exchange) && isChunked(exchange[0]!)) {
        this.overlapped(pass, exchange);
        n++;
      } else if (arePasses(own)) this.pass(own);
      else if (areExchanges(own)) this.exchange(own);
    }
    return this.passes;
  }

  address(rank: Rank, n: number, memory: Memory): bigint {
    const { gpus } = this.job;
    const data = rank.memoryOf(memory, this.data[n]!, this.memory.turn) as DeviceMemory;
    return gpus.addressOf(n, DeviceMemory.bufferOf(data)!, memory);
  }

  /** Submits a pass. @param chunk the part of the pass; all parts if left out */
  private pass(steps: readonly PassStep[], chunk?: number): void {
    const { ranks, direction } = this.job;
    steps.forEach(({ parts }, n) => {
      for (const part of chunk === undefined ? parts : parts.slice(chunk, chunk + 1)) {
        const done = ranks[n]!.run(part, direction, this.data[n]!, this.memory.turn);
        // A caller who waits for all ranks gets the error.
        done.catch(() => undefined);
        this.passes.push(done);
      }
    });
  }

  /** A pass whose parts are sent while the next parts are computed; in the inverse direction parts are computed while the next ones arrive. */
  private overlapped(pass: readonly PassStep[], exchange: readonly ExchangeStep[]): void {
    const { gpus, direction } = this.job;
    const forward = direction === 'forward';
    const { chunks } = exchange[0]!;
    if (!forward) this.copies(exchange, 'unpack');
    gpus.beginSending();
    for (let chunk = 0; chunk < chunks; chunk++) {
      if (forward) this.pass(pass, chunk);
      this.send(exchange, chunk);
      if (forward) continue;
      gpus.receive();
      this.pass(pass, chunk);
    }
    if (!forward) return;
    gpus.receive();
    this.copies(exchange, 'unpack');
  }

  private exchange(steps: readonly ExchangeStep[]): void {
    const { gpus, direction } = this.job;
    const [before, after] = direction === 'forward' ? (['pack', 'unpack'] as const) : (['unpack', 'pack'] as const);
    const inWindow = steps[0]!.way === 'window';
    if (inWindow) this.memory.turn = 1 - this.memory.turn;
    this.copies(steps, before);
    // Stores of passes into the window are complete as soon as all passes are over.
    if (inWindow) {
      this.note(this.messages(steps));
      gpus.meet();
    } else {
      gpus.beginSending();
      this.send(steps);
      gpus.receive();
    }
    this.copies(steps, after);
  }

  /** Sends messages. @param chunk the chunk of the exchange; all messages if left out */
  private send(steps: readonly ExchangeStep[], chunk?: number): void {
    const messages = this.messages(steps, chunk);
    this.note(messages);
    this.job.gpus.send(messages);
  }

  private messages(steps: readonly ExchangeStep[], chunk?: number) {
    const { ranks, direction } = this.job;
    return messagesOf(steps, direction === 'forward', chunk).map(({ from, to, out, into, elements }) => {
      const elementBytes = ranks[from]!.elementBytes(steps[from]!);
      const at = (n: number, { memory, offset }: Transfer) =>
        this.address(ranks[n]!, n, memory) + BigInt(offset * elementBytes);
      return { from, to, source: at(from, out), target: at(to, into), bytes: elements * elementBytes };
    });
  }

  private note(messages: ReturnType<Submission['messages']>): void {
    const { counters } = this.job.gpus;
    for (const { from, to, bytes } of messages) {
      if (from === to) continue;
      counters.bytes += bytes;
      counters.messages++;
    }
  }

  private copies(steps: readonly ExchangeStep[], which: 'pack' | 'unpack'): void {
    const { gpus, ranks, direction } = this.job;
    steps.forEach((step, n) => {
      for (const copy of step[which]) {
        const [from, to] = direction === 'forward' ? [copy.from, copy.to] : [copy.to, copy.from];
        const ends = [from, to].map(({ memory }) => this.address(ranks[n]!, n, memory)) as [bigint, bigint];
        gpus.copyBox(n, ends[0], rowsOfBlock(from), ends[1], rowsOfBlock(to), ranks[n]!.elementBytes(step));
      }
    });
  }

  private copied(data: DeviceMemory, side: Side, n: number): DeviceMemory {
    const { gpus, ranks } = this.job;
    const copy = this.memory.stagingFor(data.bytes, side, ranks[n]!);
    const [from, to] = [data, copy].map((memory) => gpus.addressOf(n, DeviceMemory.bufferOf(memory)!, side));
    const all = { offset: 0, lengths: [data.bytes], strides: [1] };
    gpus.copyBox(n, from!, all, to!, all, 1);
    return copy;
  }

  /** The bound memory with device memory in the place of host arrays. */
  private onDevice(bound: Bound, n: number): Bound {
    const { gpus, ranks, direction, schedule } = this.job;
    const rank = ranks[n]!;
    const read: Side = direction === 'forward' ? 'input' : 'output';
    const placed = (side: Side) => {
      const data = bound[side];
      // A single step would overwrite its own input before reading all of it.
      const aliased = side === read && bound.input === bound.output && rank.schedule.steps.length === 1;
      if (!ArrayBuffer.isView(data)) return aliased ? this.copied(data, side, n) : data;
      const memory = this.memory.stagingFor(data.byteLength, side, rank);
      // Elements between bricks, and in blocks of zeros, must come back unchanged, so they are uploaded too.
      if (side === read || !isFilled(schedule, side, n))
        gpus.upload(n, gpus.addressOf(n, DeviceMemory.bufferOf(memory)!, side), data);
      return memory;
    };
    return {
      ...{ input: placed('input'), output: placed('output') },
      clear: (memory, blocks, elementBytes) => {
        const at = gpus.addressOf(n, DeviceMemory.bufferOf(memory)!, 'memory');
        for (const block of blocks) gpus.zeroBox(n, at, rowsOfBlock(block), elementBytes);
      },
    };
  }
}

/** Whether a call writes every element of a rank's memory. */
function isFilled({ input, output, passes }: WorldSchedule, side: Side, rank: number): boolean {
  const tensor: SharedTensor = side === 'input' ? input : output;
  const zeros = passes?.problem.whole.zeroPadding;
  if (zeros && [...zeros.space, ...zeros.frequency].some((block) => block !== null)) return false;
  const elements = bricksOfRank(tensor, rank).reduce((sum, brick) => sum + volumeOf(brick), 0);
  return elements === spanOfRank(tensor, rank);
}

function arePasses(steps: readonly Step[]): steps is PassStep[] {
  return steps[0]!.kind === 'pass';
}

function areExchanges(steps: readonly Step[]): steps is ExchangeStep[] {
  return steps[0]!.kind === 'exchange';
}

/** Whether messages of one part of a pass move while another part is computed. Passes that store into windows overlap in any case. */
function isChunked({ chunks, way }: ExchangeStep): boolean {
  return chunks > 1 && way !== 'window';
}

/** The messages of an exchange: each rank's sends paired with the other ranks' receives, in order for each pair of ranks. */
function messagesOf(steps: readonly ExchangeStep[], forward: boolean, chunk: number | undefined) {
  const ofChunk = (list: readonly Transfer[]) =>
    chunk === undefined ? list : list.filter((transfer) => transfer.chunk === chunk);
  const waiting = new Map<string, Transfer[]>();
  steps.forEach((step, rank) => {
    for (const transfer of ofChunk(forward ? step.received : step.sent)) {
      const key = `${transfer.peer} ${rank}`;
      const queue = waiting.get(key);
      if (queue) queue.push(transfer);
      else waiting.set(key, [transfer]);
    }
  });
  return steps.flatMap((step, from) => {
    const sent = ofChunk(forward ? step.sent : step.received);
    // Each rank begins with the rank behind it, so that no two ranks send to the same rank at once.
    const order = [...sent].sort((a, b) => distance(from, a.peer, steps.length) - distance(from, b.peer, steps.length));
    return order.map((out) => {
      const into = waiting.get(`${from} ${out.peer}`)?.shift();
      if (!into) throw new FftError('internal-error', `Rank ${out.peer} receives less of rank ${from} than it sends.`);
      return { from, to: out.peer, out, into, elements: volumeOf(out) };
    });
  });
}

function distance(from: number, to: number, size: number): number {
  return (to - from + size) % size;
}
