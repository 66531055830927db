/** Runs a schedule: passes of the ranks held here, and exchanges between all ranks. */
import type { Exchange, Fabric, Part } from '../../devices/fabric/fabric.ts';
import { copyRows } from '../../devices/fabric/rows.ts';
import {
  type Copy,
  type ExchangeStep,
  fillsItsMemory,
  type PassStep,
  type Step,
  type Transfer,
} from '../../plan/world/index.ts';
import type { HostArray } from '../../problem/index.ts';
import { type Bound, type Rank, rowsOfBlock } from './rank.ts';
import { readHalves, writeHalves } from './wire.ts';

type Direction = 'forward' | 'inverse';

export interface Run {
  readonly fabric: Fabric;
  readonly ranks: readonly Rank[];
  /** The caller's memory of each rank held here. */
  readonly data: readonly Bound[];
  readonly direction: Direction;
  readonly halves: boolean;
  /** Resolves when all ranks are known to take part; before, nothing is sent and the caller's memory is not written. */
  readonly agreed: Promise<void>;
}

/** Runs a call. @throws FftError (as a rejection) errors of the agreement; `rank-lost`; errors of a device at work */
export async function runSchedule(job: Run): Promise<void> {
  const { ranks, direction } = job;
  const count = ranks[0]!.schedule.steps.length;
  const order = [...Array(count).keys()];
  if (direction === 'inverse') order.reverse();
  for (let n = 0; n < count; n++) {
    const at = order[n]!;
    const next = order[n + 1];
    // The first pass writes messages only, unless it is also the last step.
    if (n > 0 || count === 1 || scheduleStep(job, at).kind === 'exchange') await job.agreed;
    if (next !== undefined && overlaps(job, at, next)) {
      await overlapped(job, at, next);
      n++;
    } else await runWholeStep(job, at);
  }
}

function scheduleStep({ ranks }: Run, at: number): Step {
  return ranks[0]!.schedule.steps[at]!;
}

function stepsOf<K extends Step['kind']>({ ranks }: Run, at: number): Extract<Step, { kind: K }>[] {
  return ranks.map(({ schedule }) => schedule.steps[at] as Extract<Step, { kind: K }>);
}

/** Whether an exchange is split into chunks, one for each part of the preceding pass of the forward direction. */
function overlaps(job: Run, at: number, next: number): boolean {
  const [first, second] = [scheduleStep(job, Math.min(at, next)), scheduleStep(job, Math.max(at, next))];
  return first.kind === 'pass' && second.kind === 'exchange' && second.chunks > 1;
}

async function overlapped(job: Run, at: number, next: number): Promise<void> {
  const forward = job.direction === 'forward';
  const [pass, exchange] = forward ? [at, next] : [next, at];
  const { chunks } = stepsOf<'exchange'>(job, exchange)[0]!;
  if (forward) {
    const sent: Promise<void>[] = [];
    for (let chunk = 0; chunk < chunks; chunk++) {
      await runPasses(job, pass, chunk);
      await job.agreed;
      copies(job, exchange, 'before', chunk);
      const moved = moveChunk(job, exchange, chunk);
      // The wait below reports the error; a chunk that fails earlier must not end the process as an unhandled rejection.
      moved.catch(() => undefined);
      sent.push(moved);
    }
    await Promise.all(sent);
    copies(job, exchange, 'after');
  } else {
    await job.agreed;
    copies(job, exchange, 'before');
    const received = Array.from({ length: chunks }, (_, chunk) => moveChunk(job, exchange, chunk));
    for (const moved of received) moved.catch(() => undefined);
    for (let chunk = 0; chunk < chunks; chunk++) {
      await received[chunk];
      copies(job, exchange, 'after', chunk);
      await runPasses(job, pass, chunk);
    }
  }
}

async function runWholeStep(job: Run, at: number): Promise<void> {
  if (scheduleStep(job, at).kind === 'pass') return runPasses(job, at);
  const { chunks } = stepsOf<'exchange'>(job, at)[0]!;
  copies(job, at, 'before');
  for (let chunk = 0; chunk < chunks; chunk++) await moveChunk(job, at, chunk);
  copies(job, at, 'after');
}

async function runPasses({ ranks, direction, data }: Run, at: number, chunk?: number): Promise<void> {
  const running = ranks.flatMap((rank, n) => {
    const { parts } = rank.schedule.steps[at] as PassStep;
    const own = chunk === undefined ? parts : parts.slice(chunk, chunk + 1);
    return own.map((part) => rank.run(part, direction, data[n]!));
  });
  await Promise.all(running);
}

/** Copies before or after an exchange; all copies are made with the first chunk. */
function copies(job: Run, at: number, when: 'before' | 'after', chunk = 0): void {
  if (chunk > 0) return;
  const forward = job.direction === 'forward';
  job.ranks.forEach((rank, n) => {
    const step = rank.schedule.steps[at] as ExchangeStep;
    const list: readonly Copy[] = (when === 'before') === forward ? step.pack : step.unpack;
    const bytes = rank.elementBytes(step);
    for (const copy of list) {
      const [from, to] = forward ? [copy.from, copy.to] : [copy.to, copy.from];
      const [source, target] = [rank.view(from.memory, job.data[n]!), rank.view(to.memory, job.data[n]!)];
      copyRows(source, rowsOfBlock(from), target, rowsOfBlock(to), bytes);
    }
  });
}

function partOfTransfer(transfer: Transfer): Part {
  return { ...rowsOfBlock(transfer), peer: transfer.peer, contiguous: fillsItsMemory(transfer) };
}

async function moveChunk(job: Run, at: number, chunk: number): Promise<void> {
  const { fabric, ranks, data, direction } = job;
  // A fabric knows nothing of streams: device memory that it sends must have been written, and memory that it overwrites must have been read.
  for (const { device, onDevice } of ranks) if (onDevice) await device.finish();
  const first = ranks[0]!.schedule.steps[at] as ExchangeStep;
  const ends = ranks.map((rank, n) => {
    const step = rank.schedule.steps[at] as ExchangeStep;
    const [out, into] = direction === 'forward' ? [step.sent, step.received] : [step.received, step.sent];
    const own = (list: readonly Transfer[]) => {
      const parts = list.filter((transfer) => transfer.chunk === chunk);
      const memory = list[0]?.memory;
      return { parts: parts.map(partOfTransfer), memory: memory ? rank.messages(memory, data[n]!) : EMPTY };
    };
    return { rank: rank.schedule.rank, words: rank.wordsOf(step.elements), out: own(out), into: own(into) };
  });
  // Data in the caller's memory is converted to halves here; elsewhere the passes convert it.
  const converts = job.halves && !first.halves;
  const exchange: Exchange = {
    elementBytes: converts ? 2 * ends[0]!.words : ranks[0]!.elementBytes(first),
    way: first.way as Exchange['way'],
    ranks: ends.map(({ rank, out, into }) => ({
      ...{ rank, sentParts: out.parts, receivedParts: into.parts },
      sent: converts ? new Uint16Array((out.memory as HostArray).length) : out.memory,
      received: converts ? new Uint16Array((into.memory as HostArray).length) : into.memory,
    })),
  };
  if (!converts) return fabric.exchange(exchange);
  ends.forEach(({ out, words }, n) => {
    const [from, to] = [out.memory as HostArray, exchange.ranks[n]!.sent as Uint16Array];
    for (const part of out.parts) convert(writeHalves, from, to, part, words);
  });
  await fabric.exchange(exchange);
  ends.forEach(({ into, words }, n) => {
    const convertBack = (from: HostArray, to: HostArray, start: number, end: number) =>
      readHalves(from as Uint16Array, to, start, end);
    for (const part of into.parts)
      convert(convertBack, exchange.ranks[n]!.received as Uint16Array, into.memory as HostArray, part, words);
  });
}

const EMPTY = new Uint8Array(0) as never as HostArray;

/** Converts a part of an array. Halves keep the positions of the original numbers, so that parts may be boxes with gaps. */
function convert<F extends HostArray, T extends HostArray>(
  of: (from: F, to: T, start: number, end: number) => void,
  from: F,
  to: T,
  { offset, lengths, strides, contiguous }: Part,
  words: number,
): void {
  const count = lengths.reduce((a, b) => a * b, 1);
  if (contiguous) return of(from, to, offset * words, (offset + count) * words);
  for (let n = 0; n < count; n++) {
    let [rest, place] = [n, offset];
    lengths.forEach((length, d) => {
      place += (rest % length) * strides[d]!;
      rest = Math.floor(rest / length);
    });
    of(from, to, place * words, (place + 1) * words);
  }
}
