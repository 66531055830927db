/** Explanations of a world's plan, as text and as data. */
import type { ExchangeCost, WorldCost } from '../plan/world/index.ts';

/** A decomposition with its expected cost. */
export interface DecompositionFacts {
  /**
   * The axes of each stage and the axis that is distributed meanwhile, such as `slab: xy (z cut), then z (x cut)`; no two decompositions share a
   * name.
   */
  readonly name: string;
  readonly seconds: number;
  readonly computing: number;
  readonly exchanges: readonly ExchangeCost[];
  /** Bytes of message memory on a rank. */
  readonly memory: number;
}

export interface WorldFacts {
  readonly ranks: number;
  readonly perNode: number;
  readonly chosen: DecompositionFacts;
  readonly rejected: readonly DecompositionFacts[];
  readonly exchange: string;
  readonly chunks: number;
  /** Seconds that one GPU would take for the whole transform, in a world of GPUs. */
  readonly alone?: number;
}

/** The way in which GPUs with access to one another's memory exchange data, as text. */
export function exchangeOfPeers(sending: 'stores' | 'copies'): string {
  return sending === 'stores' ? 'stores into the memory of peers' : 'copies between devices';
}

const AXES = ['x', 'y', 'z', 'w'];

export function decompositionFacts({
  decomposition,
  seconds,
  computing,
  exchanges,
  memory,
}: WorldCost): DecompositionFacts {
  const { kind, ranks, stages } = decomposition;
  const count = new Set(stages.flatMap(({ axes }) => axes)).size;
  const nameOf = (axis: number) => (axis === count ? 'batches' : (AXES[axis] ?? `axis ${axis}`));
  const order = stages.map(({ axes, grid }) => {
    const cuts = grid.map(({ dimension }) => nameOf(dimension)).join(', ');
    return `${axes.map(nameOf).join('')}${cuts ? ` (${cuts} cut)` : ''}`;
  });
  const pair = kind === 'pencils' ? ` ${ranks[0]} × ${ranks[1]}` : '';
  return { name: `${kind}${pair}: ${order.join(', then ')}`, seconds, computing, exchanges, memory };
}

function timeText(seconds: number): string {
  return seconds < 1e-3 ? `${(seconds * 1e6).toFixed(1)} µs` : `${(seconds * 1e3).toFixed(3)} ms`;
}

function binaryBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
}

const REJECTED_SHOWN = 5;

export function explainWorld({ ranks, perNode, chosen, rejected, exchange, chunks, alone }: WorldFacts): string {
  const nodes = Math.ceil(ranks / perNode);
  const lines = [
    `${ranks} ranks on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    `chosen  ${chosen.name}  ${timeText(chosen.seconds)}, of which passes take ${timeText(chosen.computing)}`,
  ];
  chosen.exchanges.forEach((one, n) => {
    const way = one.copied
      ? 'packed or unpacked by copies where the caller’s bricks do not lie in stretches'
      : 'packed by the store of the pass before, unpacked by the load of the pass after';
    lines.push(
      `  exchange ${n + 1}  ${timeText(one.seconds)}: ${binaryBytes(one.worstBytes)} from the rank that sends the most, ` +
        `${binaryBytes(one.bytes)} in all, ${binaryBytes(one.leavingBytes)} between nodes, ${one.messages} messages; ${way}`,
    );
  });
  const passes = chosen.name.split(', then ').length;
  lines.push(`  sent as ${exchange}, in ${chunks === 1 ? 'one piece' : `${chunks} chunks`}`);
  lines.push(
    `  ${passes} ${passes === 1 ? 'pass' : 'passes'} over local memory, ${binaryBytes(chosen.memory)} for messages on a rank`,
  );
  if (alone !== undefined) {
    const faster = alone < chosen.seconds ? `faster than ${ranks}: take a plan of one device` : `slower than ${ranks}`;
    lines.push(`  one GPU alone  ${timeText(alone)}, ${faster}`);
  }
  for (const other of rejected.slice(0, REJECTED_SHOWN))
    lines.push(`rejected  ${other.name}  ${timeText(other.seconds)}`);
  if (rejected.length > REJECTED_SHOWN) lines.push(`          and ${rejected.length - REJECTED_SHOWN} more`);
  return lines.join('\n');
}
