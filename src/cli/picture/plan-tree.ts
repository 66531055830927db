/**
 * The left half of a plan's picture: its tree, with a box for each node, indented below its parent. A launch is a card with the stages of its kernel.
 */

import type { NodeFacts } from '../../engine/explaining/explain.ts';
import {
  absentText,
  type LaunchFacts,
  type LaunchPart,
  launchParts,
  lengthsText,
} from '../../engine/explaining/launch-facts.ts';
import type { Plan } from '../../index.ts';
import { box, flow, INK, MUTED, type Rectangle, type TextStyle, text, widthOf, wrap } from './svg.ts';

export type DirectionFacts = ReturnType<Plan['toJSON']>['directions'][number];

/** A node of the tree with its position. */
export interface TreeRow {
  readonly depth: number;
  readonly box: Rectangle;
  /** The launch with its number, counted from 1; absent for nodes that are not launches. */
  readonly launch?: { readonly number: number; readonly facts: LaunchFacts };
  readonly parts: readonly string[];
}

export const STAGE_COLOURS: Readonly<Record<LaunchPart['kind'], { fill: string; stroke: string; what: string }>> = {
  memory: { fill: '#eceff4', stroke: '#aab3c2', what: 'memory' },
  passes: { fill: '#dbe8fb', stroke: '#6f9ad8', what: 'passes, with their radices' },
  product: { fill: '#e9e0f7', stroke: '#a287d3', what: 'multiplication of each point' },
  move: { fill: '#fdecc8', stroke: '#d9a441', what: 'points moved or left out' },
};
const NAME: TextStyle = { size: 17, weight: 600 };
const CHIP: TextStyle = { size: 15 };
const DETAIL: TextStyle = { size: 14.5, fill: MUTED };
/** The separator of facts about a launch. */
const DOT = ' · ';
const INDENT = 30;
const PADDING = 16;
const GAP = 16;
const BRANCH_HEIGHT = 42;
const CHIP_HEIGHT = 28;
const CHIP_GAP = 18;
const LINE = 22;

/** Lays out the tree. @param area its `height` is ignored */
export function treeRows({ tree, launches }: DirectionFacts, area: Pick<Rectangle, 'x' | 'y' | 'width'>): TreeRow[] {
  const rows: TreeRow[] = [];
  let top = area.y;
  let number = 0;
  const walk = (node: NodeFacts, depth: number) => {
    const corner = { x: area.x + depth * INDENT, y: top, width: area.width - depth * INDENT };
    const row =
      node.children.length > 0 ? branch(node, corner, depth) : card(launches[number]!, ++number, corner, depth);
    rows.push(row);
    top += row.box.height + GAP;
    for (const child of node.children) walk(child, depth + 1);
  };
  walk(tree, 0);
  return rows;
}

/** Lines from each node to the nodes under it. */
export function branches(rows: readonly TreeRow[]): string[] {
  return rows.flatMap((row, n) => {
    const parent = rows.slice(0, n).findLast(({ depth }) => depth === row.depth - 1);
    if (!parent) return [];
    const x = parent.box.x + INDENT / 2;
    const y = row.box.y + Math.min(row.box.height, BRANCH_HEIGHT) / 2;
    const path = `M${x} ${parent.box.y + parent.box.height}V${y}H${row.box.x}`;
    return [`<path class="branch" d="${path}" fill="none" stroke="#aab3c2" stroke-width="2"/>`];
  });
}

function branch(
  { scheme, title, parts, length }: NodeFacts,
  corner: Omit<Rectangle, 'height'>,
  depth: number,
): TreeRow {
  const place = { ...corner, height: BRANCH_HEIGHT };
  const y = place.y + 27;
  const cut = parts ? [`${parts.reduce((a, b) => a * b, 1)} = ${parts.join(' × ')}`] : [];
  const what = [title, ...cut].join(', ');
  const drawn = [
    box(place, { kind: 'node', fill: '#ffffff', stroke: '#aab3c2', radius: 8 }),
    text(place.x + PADDING, y, scheme, NAME),
    text(place.x + PADDING + widthOf(scheme, NAME) + 14, y, what, { ...CHIP, fill: MUTED }),
    text(place.x + place.width - PADDING, y, lengthsText(length), { ...CHIP, anchor: 'end' }),
  ];
  return { depth, box: place, parts: drawn };
}

function card(launch: LaunchFacts, number: number, corner: Omit<Rectangle, 'height'>, depth: number): TreeRow {
  const left = corner.x + PADDING;
  const room = corner.width - 2 * PADDING;
  const chips = stageChips(launchParts(launch), left, corner.y + 48, room);
  const lines = detailsOf(launch)
    .flatMap((items) => wrap(items.join(DOT), room, DETAIL, DOT))
    .flatMap((line) => wrap(line, room, DETAIL));
  const place = { ...corner, height: chips.bottom - corner.y + 8 + LINE * lines.length + 8 };
  const parts = [
    box(place, { kind: 'launch', fill: '#fafbfd', stroke: '#8d98aa', radius: 10 }),
    badge(left + 11, corner.y + 25, number),
    text(left + 34, corner.y + 31, launch.title, NAME),
    text(corner.x + corner.width - PADDING, corner.y + 31, launch.kernel, { ...DETAIL, anchor: 'end' }),
    ...chips.parts,
    ...lines.map((line, n) => text(left, chips.bottom + 22 + LINE * n, line, DETAIL)),
  ];
  return { depth, box: place, launch: { number, facts: launch }, parts };
}

/** The number of a launch, on its card and on its arrow. */
export function badge(x: number, y: number, number: number): string {
  const label = text(x, y + 5, String(number), { size: 14, weight: 600, fill: '#ffffff', anchor: 'middle' });
  return `<circle class="badge" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="12" fill="${INK}"/>${label}`;
}

function stageChips(stages: readonly LaunchPart[], left: number, top: number, room: number) {
  const widths = stages.map((stage) => widthOf(stage.text, CHIP) + 20);
  const places = flow(widths, room, CHIP_GAP);
  const parts = stages.flatMap(({ kind, text: label }, n) => {
    const { line, start } = places[n]!;
    const place = { x: left + start, y: top + line * (CHIP_HEIGHT + 8), width: widths[n]!, height: CHIP_HEIGHT };
    const { fill, stroke } = STAGE_COLOURS[kind];
    const middle = place.y + CHIP_HEIGHT / 2;
    return [
      box(place, { kind: 'stage', fill, stroke, radius: 6 }),
      text(place.x + place.width / 2, middle + 5, label, { ...CHIP, anchor: 'middle' }),
      ...(n + 1 < stages.length ? [chevron(place.x + place.width + CHIP_GAP / 2, middle)] : []),
    ];
  });
  return { parts, bottom: top + (places.at(-1)!.line + 1) * (CHIP_HEIGHT + 8) - 8 };
}

function chevron(x: number, y: number): string {
  return `<path d="M${(x - 2.5).toFixed(1)} ${y - 5}l5 5l-5 5" fill="none" stroke="${MUTED}" stroke-width="1.8"/>`;
}

/** The texts about a launch; those in one list share a line if there is room. */
function detailsOf(launch: LaunchFacts): string[][] {
  const { lengths, padded, fused, transformsPerGroup, groups, blocks, threads, lanesAlong, batch, memory, operands } =
    launch;
  const zeros = (['input', 'output'] as const).flatMap((side) =>
    operands[side].absent.map((block) => `${side === 'input' ? 'not read' : 'not written'}: ${absentText(block)}`),
  );
  const cluster = blocks ? ` × ${counted(blocks, 'block')}` : '';
  return [
    [
      `tile ${lengths.join(' × ')}, ${counted(transformsPerGroup, 'transform')} per group`,
      `${counted(groups, 'group')}${cluster} × ${counted(threads, 'thread')}`,
      `lanes along ${lanesAlong}`,
      ...(padded ? [`a cyclic convolution of ${padded} points`] : []),
    ],
    [`batch ${batch.join(' × ')}`, `${memory.input} → ${memory.output}`],
    ...(fused.length > 0 ? [[`fused: ${fused.join(', ')}`]] : []),
    ...(zeros.length > 0 ? [zeros] : []),
  ];
}

export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
