/**
 * The right half of a plan's picture: a vertical lane for each buffer, thick while the buffer holds data that is still to be read; and for each
 * launch an arrow from the lane that it reads to the lane that it writes.
 */

import type { LaunchFacts } from '../../engine/explaining/launch-facts.ts';
import { bytesText } from '../../engine/index.ts';
import { badge, type TreeRow } from './plan-tree.ts';
import { box, INK, type Rectangle, type TextStyle, text } from './svg.ts';

/** The lanes from left to right, in the same order in every picture. */
const LANES = ['input', 'temp', 'temp2', 'work', 'output'] as const;
const COLOURS: Readonly<Record<string, string>> = {
  input: '#2f6db5',
  temp: '#c4791a',
  temp2: '#a5552a',
  work: '#7a56b3',
  output: '#2d8a57',
};
export const LANE_WIDTH = 200;
const HEAD: Pick<Rectangle, 'width' | 'height'> = { width: 176, height: 50 };
const LABEL: TextStyle = { size: 14 };

interface Launched {
  readonly y: number;
  readonly number: number;
  readonly facts: LaunchFacts;
}

export interface Lane {
  readonly buffer: string;
  /** The names of the buffers in a lane: two if input and output are the same memory. */
  readonly names: string;
  readonly x: number;
}

/**
 * The lanes of a direction. @param inPlace whether input and output are the same memory, and share a lane. @param left the left edge of the first
 * lane
 */
export function lanesOf(launches: readonly LaunchFacts[], inPlace: boolean, left: number): Lane[] {
  const used = new Set(launches.flatMap(({ from, to }) => [laneOf(from, inPlace), laneOf(to, inPlace)]));
  return LANES.filter((buffer) => used.has(buffer)).map((buffer, n) => ({
    buffer,
    names: inPlace && buffer === 'output' ? 'input, output' : buffer,
    x: left + LANE_WIDTH * (n + 0.5),
  }));
}

function laneOf(buffer: string, inPlace: boolean): string {
  return inPlace && buffer === 'input' ? 'output' : buffer;
}

/** Draws lanes. @param area from the lanes' headings down to their ends */
export function drawLanes(
  lanes: readonly Lane[],
  rows: readonly TreeRow[],
  inPlace: boolean,
  area: Rectangle,
): string[] {
  const launched = rows.flatMap(({ launch, box: { y, height } }) => (launch ? [{ ...launch, y: y + height / 2 }] : []));
  const bands = rows.flatMap(({ launch, box: { y, height } }) =>
    launch ? [box({ x: area.x, y, width: area.width, height }, { kind: 'band', fill: '#f6f7fa', radius: 10 })] : [],
  );
  const at = (buffer: string) => lanes.find((lane) => lane.buffer === laneOf(buffer, inPlace))!.x;
  return [
    ...bands,
    ...lanes.flatMap((lane) => drawLane(lane, launched, inPlace, area)),
    ...launched.flatMap((launch) => arrow(launch, at(launch.facts.from), at(launch.facts.to), area)),
  ];
}

function drawLane(
  { buffer, names, x }: Lane,
  launched: readonly Launched[],
  inPlace: boolean,
  area: Rectangle,
): string[] {
  const top = area.y + HEAD.height;
  const bottom = area.y + area.height;
  const colour = COLOURS[buffer]!;
  const head = { x: x - HEAD.width / 2, y: area.y, ...HEAD };
  const style = { anchor: 'middle', fill: '#ffffff' } as const;
  const idle = `<path class="lane" d="M${x} ${top}V${bottom}" stroke="${colour}" stroke-width="2" stroke-dasharray="3 6" opacity="0.7"/>`;
  return [
    idle,
    ...liveRangesOf(buffer, launched, inPlace, top, bottom).map(
      ([from, to]) =>
        `<path class="held" d="M${x} ${from.toFixed(1)}V${to.toFixed(1)}" stroke="${colour}" stroke-width="5"/>`,
    ),
    box(head, { kind: 'buffer', fill: colour, radius: 8 }),
    text(x, area.y + 22, names, { ...style, size: 17, weight: 600 }),
    text(x, area.y + 41, contentsOf(buffer, launched, inPlace), { ...style, size: 14 }),
  ];
}

/** The layout of the numbers in a buffer, taken from the launches that use it. */
function contentsOf(buffer: string, launched: readonly Launched[], inPlace: boolean): string {
  const uses = launched.flatMap(({ facts }) => Object.values(facts.operands));
  const own = uses.filter((operand) => laneOf(operand.buffer, inPlace) === buffer);
  return [...new Set(own.map(({ layout, storage }) => `${layout}, ${storage}`))].join('; ');
}

/** The rows between which a buffer holds data that a later launch, or the caller at the end, reads. */
export function liveRangesOf(
  buffer: string,
  launched: readonly Pick<Launched, 'y' | 'facts'>[],
  inPlace: boolean,
  top: number,
  bottom: number,
): [number, number][] {
  const held: [number, number][] = [];
  const isHere = (name: string) => laneOf(name, inPlace) === buffer;
  let since: number | undefined = buffer === 'input' || (inPlace && buffer === 'output') ? top : undefined;
  let until: number | undefined;
  for (const { y, facts } of launched) {
    if (isHere(facts.from)) until = y;
    if (!isHere(facts.to)) continue;
    if (since !== undefined && until !== undefined) held.push([since, until]);
    since = y;
    until = undefined;
  }
  if (buffer === 'output') until = bottom;
  if (since !== undefined && until !== undefined) held.push([since, until]);
  return held;
}

function arrow({ y, number, facts }: Launched, from: number, to: number, area: Rectangle): string[] {
  const reads = `reads ${bytesText(facts.bytesRead)}`;
  const writes = `writes ${bytesText(facts.bytesWritten)}`;
  const line = (path: string) => `<path class="flow" d="${path}" fill="none" stroke="${INK}" stroke-width="2.2"/>`;
  const head = (path: string) => `<path class="head" d="${path}" fill="${INK}"/>`;
  if (from === to) {
    // The arrow's number stands on the side that has room: the first lane has none on its left, the last one none on its right.
    const isFirst = from - area.x < LANE_WIDTH;
    const label = { ...LABEL, anchor: isFirst ? 'start' : 'end' } as const;
    const start = isFirst ? from + 38 : from - 20;
    return [
      line(`M${from} ${y - 16}h14a16 16 0 0 1 0 32h-6`),
      head(`M${from + 2} ${y + 16}l12 -6v12z`),
      badge(from, y - 16, number),
      text(start, y - 5, reads, label),
      text(start, y + 17, writes, label),
    ];
  }
  const way = Math.sign(to - from);
  const label = { ...LABEL, anchor: 'middle' } as const;
  const half = (way * LANE_WIDTH) / 2;
  return [
    line(`M${from} ${y}H${to - 12 * way}`),
    head(`M${to} ${y}l${-13 * way} -6.5v13z`),
    badge(from, y, number),
    text(from + half, y - 9, reads, label),
    text(to - half, y + 20, writes, label),
  ];
}
