/**
 * Calls on their way: which bytes they have yet to read or will write, so that overlapping calls keep their order.
 *
 * A device runs what it is given in order and copies to it read a host array when they are submitted, but results are
 * moved into host arrays only when they have arrived. So a call that reads what an earlier one will write waits with
 * everything, and is "deferred"; one that writes what an earlier one will read or write waits with its results only.
 * Nothing is known here of calls that have ended, nor of device memory unless a deferred call uses it.
 */
import type { Stretch } from '../devices/device.ts';
import { FftError } from '../problem/index.ts';

/** Memory of the caller's that a call uses. */
export interface MemoryUse {
  readonly reads: readonly Stretch[];
  readonly writes: readonly Stretch[];
}

/** A call that has not ended, or several of them. */
export class Pending {
  private open: number;
  /** Those that this is part of. */
  private readonly wholes: Pending[] = [];
  private readonly heard: (() => void)[] = [];

  constructor(open = 1) {
    this.open = open;
  }

  /** All that have not ended; undefined where all have. */
  static all(parts: readonly (Pending | undefined)[]): Pending | undefined {
    const open = [...new Set(parts)].filter((part) => part !== undefined && !part.ended) as Pending[];
    if (open.length < 2) return open[0];
    const whole = new Pending(open.length);
    for (const part of open) part.wholes.push(whole);
    return whole;
  }

  get ended(): boolean {
    return this.open === 0;
  }

  end(): void {
    const ending: Pending[] = [this];
    // A list, because thousands of calls may hang on one another.
    for (let one = ending.pop(); one; one = ending.pop()) {
      if (--one.open > 0) continue;
      for (const hear of one.heard.splice(0)) hear();
      for (const whole of one.wholes.splice(0)) ending.push(whole);
    }
  }

  /** Resolves when all have ended, failed ones too. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.ended) resolve();
      else this.heard.push(resolve);
    });
  }
}

/** Bytes of one memory, and the calls to wait for there: a call that reads several such stretches makes one of them. */
interface AwaitedStretch {
  readonly start: number;
  readonly end: number;
  readonly writers: Pending | undefined;
  /** Deferred calls: others have read already. */
  readonly readers: Pending | undefined;
}

interface MemoryCalls {
  /** Ascending, without overlap. */
  spans: AwaitedStretch[];
  calls: number;
  /** With more spans than this it is worth while to look for those whose calls have ended. */
  most: number;
}

/** Spans that a memory may have before it is worth while to look for those whose calls have ended. */
const FEW_SPANS = 32;
const memories = new Map<unknown, MemoryCalls>();
/** Calls of each device. */
const calls = new WeakMap<object, Set<Pending>>();

/** True where no call is on its way that others might have to wait for. */
export function quiet(): boolean {
  return memories.size === 0;
}

/** The calls that have yet to write into this memory: who reads it comes after them. */
export function writersOf(stretches: readonly Stretch[]): Pending | undefined {
  return quiet() ? undefined : Pending.all(stretches.flatMap(spansIn).map(({ writers }) => writers));
}

/** The calls that have yet to read or write this memory: who writes it comes after them. */
export function usersOf(stretches: readonly Stretch[]): Pending | undefined {
  if (quiet()) return undefined;
  return Pending.all(stretches.flatMap(spansIn).flatMap(({ writers, readers }) => [writers, readers]));
}

/** The calls that come before one with such use. */
export function callsBefore({ reads, writes }: MemoryUse): Pending | undefined {
  return quiet() ? undefined : Pending.all([writersOf(reads), usersOf(writes)]);
}

/**
 * For what cannot wait: calls that do go on in the event loop.
 * @throws FftError `aliased-buffers` where others come before it.
 */
export function refusePending(use: MemoryUse): void {
  if (!callsBefore(use)) return;
  throw new FftError(
    'aliased-buffers',
    'An earlier call that has not ended has yet to write memory of this one, or to read what this one would write: ' +
      'await that call first.',
  );
}

/** The calls of a device that were entered and have not ended. */
export function callsOf(device: object): Pending | undefined {
  return Pending.all([...(calls.get(device) ?? [])]);
}

/**
 * Enters a call of a device.
 * @returns to be called when it has ended, failed or not.
 */
export function enter({ reads, writes }: MemoryUse, device: object): () => void {
  const call = new Pending();
  let others = calls.get(device);
  if (!others) calls.set(device, (others = new Set()));
  others.add(call);
  const used = new Set<unknown>();
  const note = (
    stretch: Stretch,
    span: (spans: readonly AwaitedStretch[]) => Pick<AwaitedStretch, 'writers' | 'readers'>,
  ) => {
    if (stretch.start === stretch.end) return;
    used.add(stretch.of);
    replace(stretch, span);
  };
  for (const stretch of reads) {
    note(stretch, (spans) => ({
      writers: Pending.all(spans.map(({ writers }) => writers)),
      readers: Pending.all([call, ...spans.map(({ readers }) => readers)]),
    }));
  }
  for (const stretch of writes) {
    // It stands for those before it too, because it may fail before they have ended.
    note(stretch, (spans) => ({
      writers: Pending.all([call, ...spans.flatMap(({ writers, readers }) => [writers, readers])]),
      readers: undefined,
    }));
  }
  for (const of of used) memories.get(of)!.calls++;
  return () => {
    others.delete(call);
    call.end();
    for (const of of used) if (--memories.get(of)!.calls === 0) memories.delete(of);
  };
}

function spansIn({ of, start, end }: Stretch): readonly AwaitedStretch[] {
  const spans = memories.get(of)?.spans;
  return spans && start < end ? spans.slice(...placesOf(spans, start, end)) : [];
}

/** Puts one span in place of all that a stretch touches; those at its ends keep what lies outside. */
function replace(
  { of, start, end }: Stretch,
  span: (spans: readonly AwaitedStretch[]) => Pick<AwaitedStretch, 'writers' | 'readers'>,
): void {
  let memory = memories.get(of);
  if (!memory) memories.set(of, (memory = { spans: [], calls: 0, most: FEW_SPANS }));
  const { spans } = memory;
  const [from, to] = placesOf(spans, start, end);
  const touched = spans.slice(from, to);
  const [first, last] = [touched[0], touched.at(-1)];
  const pieces = [{ start, end, ...span(touched) }];
  if (first && first.start < start) pieces.unshift({ ...first, end: start });
  if (last && last.end > end) pieces.push({ ...last, start: end });
  spans.splice(from, to - from, ...pieces);
  if (spans.length <= memory.most) return;
  memory.spans = spans.filter(({ writers, readers }) => writers?.ended === false || readers?.ended === false);
  memory.most = Math.max(FEW_SPANS, 2 * memory.spans.length);
}

/** The first span that ends behind `start`, and the first from there on that does not begin before `end`. */
function placesOf(spans: readonly AwaitedStretch[], start: number, end: number): [from: number, to: number] {
  let [from, beyond] = [0, spans.length];
  while (from < beyond) {
    const middle = (from + beyond) >> 1;
    if (spans[middle]!.end > start) beyond = middle;
    else from = middle + 1;
  }
  let to = from;
  while (to < spans.length && spans[to]!.start < end) to++;
  return [from, to];
}
