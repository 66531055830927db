/**
 * A plan as a picture: its tree on the left, one row for each node; on the right the memory it uses, one line for each
 * buffer, with an arrow for each launch from what it reads to what it writes.
 */

import type { Plan } from 'omnifft';
import { bytesText } from '../../src/engine/explaining/explain.ts';
import { svg } from './dom.ts';

type Facts = ReturnType<Plan['toJSON']>['directions'][number];
type Node = Facts['tree'];
type Launch = Facts['launches'][number];

/** The order in which buffers stand, whatever the order in which they are used. */
const BUFFERS = ['input', 'work', 'temp', 'temp2', 'output'];
const BRANCH_HEIGHT = 30;
const LINE = 16;
const INDENT = 22;
const LANE_WIDTH = 108;
const WIDEST_LANE = 240;

/** Where the parts of a picture go. */
interface Layout {
  /** Above the rows: the names of the buffers, where they stand in columns. */
  readonly header: number;
  /** The width of the text: of all of it where buffers are below the text, not beside it. */
  readonly text: number;
  readonly isNarrow: boolean;
}

const WIDE: Layout = { header: 28, text: 500, isNarrow: false };
const NARROW: Layout = { header: 4, text: 0, isNarrow: true };

interface Row {
  readonly depth: number;
  readonly top: number;
  readonly height: number;
  readonly name: string;
  readonly details: readonly string[];
  readonly launch: Launch | undefined;
}

/** @param room width to fill, where the picture does not need more */
export function planPicture(facts: Facts, room: number): SVGSVGElement {
  const used = facts.launches.flatMap(({ from, to }) => [from, to]);
  const lanes = [...new Set(used)].sort((a, b) => BUFFERS.indexOf(a) - BUFFERS.indexOf(b));
  const layout = room < WIDE.text + LANE_WIDTH * lanes.length ? NARROW : WIDE;
  const { text, header, isNarrow } = layout;
  const rows = rowsOf(facts, layout);
  const last = rows.at(-1);
  const height = last ? last.top + last.height + 8 : header;
  const laneWidth = Math.min(WIDEST_LANE, Math.floor((room - text) / lanes.length));
  const laneAt = (name: string) => text + laneWidth * (lanes.indexOf(name) + 0.5);
  const width = isNarrow ? room : text + laneWidth * lanes.length;
  const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
  const flow = facts.launches.map(({ from, to }) => `${from} to ${to}`).join(', ');
  picture.append(svg('title', {}, `The ${facts.direction} plan: ${flow}`));
  for (const row of rows) {
    if (row.launch)
      picture.append(svg('rect', { class: 'row', x: 0, y: row.top, width, height: row.height - 6, rx: 6 }));
  }
  if (!isNarrow) picture.append(...columns(lanes, laneAt, header, height));
  rows.forEach((row, n) => {
    const left = 10 + row.depth * INDENT;
    picture.append(...elbow(rows, n), svg('text', { class: 'name', x: left, y: row.top + 19 }, row.name));
    row.details.forEach((detail, line) => {
      picture.append(svg('text', { x: left, y: row.top + 37 + LINE * line }, detail));
    });
    if (!row.launch) return;
    const at = row.top + (isNarrow ? row.height - 26 : 40);
    picture.append(...arrow(row.launch, at, laneAt));
    if (isNarrow) picture.append(...columns([...new Set([row.launch.from, row.launch.to])], laneAt, at - 12, at + 12));
  });
  return picture;
}

/** The names of buffers, and a line down from each. */
function columns(lanes: readonly string[], laneAt: (name: string) => number, from: number, to: number): SVGElement[] {
  return lanes.flatMap((name) => {
    const at = laneAt(name);
    return [
      svg('text', { class: 'name', x: at, y: from - 12, 'text-anchor': 'middle' }, name),
      svg('line', { class: 'lane', x1: at, x2: at, y1: from, y2: to - 8 }),
    ];
  });
}

function rowsOf({ tree, launches }: Facts, { header, isNarrow }: Layout): Row[] {
  const rows: Row[] = [];
  let next = 0;
  let top = header;
  const walk = (node: Node, depth: number) => {
    const launch = node.children.length === 0 ? launches[next++] : undefined;
    const details = launch ? detailsOf(launch, isNarrow) : [];
    const height = launch ? 42 + LINE * details.length + (isNarrow ? 52 : 0) : BRANCH_HEIGHT;
    const lengths = shape(node.length);
    const name = launch ? `${node.scheme}, ${node.title}` : `${node.scheme}, ${node.title}: ${lengths}`;
    rows.push({ depth, top, height, name, details, launch });
    top += height;
    for (const child of node.children) walk(child, depth + 1);
  };
  walk(tree, 0);
  return rows;
}

/** Two lines, or more and shorter ones. */
function detailsOf(launch: Launch, isNarrow: boolean): string[] {
  const { lengths, radices, transformsPerGroup, groups, blocks, threads, lanesAlong, twiddles } = launch;
  const product = lengths.map((length, d) => `${length} = ${radices[d]?.join('·') || '1'}`).join(' by ');
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  const how = [product, `lanes along the ${lanesAlong}`, ...(twiddles ? [`twiddles of ${twiddles}`] : [])];
  const much = [
    `${many(transformsPerGroup, 'transform')} a group`,
    `${many(groups, 'group')}${blocks ? ` × ${blocks} blocks` : ''} × ${many(threads, 'thread')}`,
  ];
  return isNarrow ? [...how, ...much] : [how.join(', '), much.join(', ')];
}

function shape(length: readonly number[]): string {
  return length.filter((count) => count > 1).join(' × ') || '1';
}

/** The line from a node to its parent: the nearest row above that is less deep. */
function elbow(rows: readonly Row[], n: number): SVGElement[] {
  const row = rows[n];
  const parent = rows.slice(0, n).findLast(({ depth }) => row && depth === row.depth - 1);
  if (!row || !parent) return [];
  const x = 14 + parent.depth * INDENT;
  return [svg('path', { class: 'branch', d: `M${x} ${parent.top + 25}V${row.top + 14}H${x + INDENT - 8}` })];
}

/** From the buffer that is read to the one that is written; a loop where they are the same. */
function arrow({ from, to, bytesRead }: Launch, y: number, laneAt: (name: string) => number): SVGElement[] {
  const [start, end] = [laneAt(from), laneAt(to)];
  const label = { x: (start + end) / 2, y: y - 8, 'text-anchor': 'middle' };
  if (start === end) {
    return [
      svg('path', { class: 'flow', d: `M${start} ${y - 12}c34 -6 34 30 7 24` }),
      svg('path', { class: 'head', d: `M${start} ${y + 12}l10 -6v12z` }),
      svg('text', { x: start - 8, y: y + 4, 'text-anchor': 'end' }, bytesText(bytesRead)),
    ];
  }
  const way = Math.sign(end - start);
  return [
    svg('path', { class: 'flow', d: `M${start} ${y}H${end - 9 * way}` }),
    svg('path', { class: 'head', d: `M${end} ${y}l${-10 * way} -6v12z` }),
    svg('circle', { class: 'head', cx: start, cy: y, r: 3.5 }),
    svg('text', label, bytesText(bytesRead)),
  ];
}
