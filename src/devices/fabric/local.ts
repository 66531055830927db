/** The fabric of ranks in one thread, which sees the memory of all ranks: an exchange copies arrays. */
import { count, type Exchange, type Fabric, type Part } from './fabric.ts';
import { copyRows } from './rows.ts';

export function localFabric(kind: Fabric['kind'], size: number, library: string): Fabric {
  const counters = { bytes: 0, messages: 0 };
  return {
    ...{ kind, library, size, counters, beside: false, reaches: [], mostElements: Number.MAX_SAFE_INTEGER },
    ranks: Array.from({ length: size }, (_, rank) => rank),
    exchange: async ({ elementBytes, ranks }) => {
      for (const { rank, sentParts } of ranks) count(counters, rank, sentParts, elementBytes);
      copyAll({ elementBytes, ranks: ranks as Exchange<ArrayBufferView>['ranks'], way: 'blocks' });
    },
    gather: async (own) => own.map((bytes) => bytes.slice()),
    abort: () => undefined,
    close: async () => undefined,
  };
}

/** Pairs the parts that ranks send with the parts that other ranks receive, in order. */
export function pairedParts<Memory>({ ranks }: Exchange<Memory>, take: (pair: PairedParts<Memory>) => void): void {
  const waiting = new Map<number, Part[]>();
  for (const { rank, receivedParts } of ranks) {
    for (const part of receivedParts) {
      const key = part.peer * ranks.length + rank;
      const queue = waiting.get(key);
      if (queue) queue.push(part);
      else waiting.set(key, [part]);
    }
  }
  const memories = new Map(ranks.map((own) => [own.rank, own]));
  for (const own of ranks) {
    for (const from of own.sentParts) {
      const to = waiting.get(own.rank * ranks.length + from.peer)?.shift();
      if (to) take({ source: own, from, target: memories.get(from.peer)!, to });
    }
  }
}

export interface PairedParts<Memory> {
  readonly source: Exchange<Memory>['ranks'][number];
  readonly from: Part;
  readonly target: Exchange<Memory>['ranks'][number];
  readonly to: Part;
}

function copyAll(exchange: Exchange<ArrayBufferView>): void {
  pairedParts(exchange, ({ source, from, target, to }) => {
    copyRows(source.sent, from, target.received, to, exchange.elementBytes);
  });
}
