/** A plan as a picture in SVG: for each direction the tree with its launches, and beside it the buffers that they use. */

import { chunkText, paddingText, reasonText, transformKinds } from '../../engine/explaining/explain.ts';
import { bytesText } from '../../engine/index.ts';
import type { Plan } from '../../index.ts';
import { candidateTable, MARGIN } from './candidate-table.ts';
import { drawLanes, LANE_WIDTH, lanesOf } from './plan-lanes.ts';
import { branches, counted, type DirectionFacts, STAGE_COLOURS, treeRows } from './plan-tree.ts';
import { box, escapeXml, MUTED, type TextStyle, text, widthOf, wrap } from './svg.ts';

type PlanJson = ReturnType<Plan['toJSON']>;

const TREE_WIDTH = 860;
const TREE_GAP = 24;
const LANES_AT = MARGIN + TREE_WIDTH + TREE_GAP;
/** The height of a direction's heading without its notes. */
const HEAD = 52;
const NOTE_LINE = 22;
const TITLE: TextStyle = { size: 30, weight: 600 };
const SUBTITLE: TextStyle = { size: 17, fill: MUTED };
const HEADING: TextStyle = { size: 23, weight: 600 };
const NOTE: TextStyle = { size: 15, fill: MUTED };

/** Draws a plan. @param facts `plan.toJSON()` @returns an SVG file */
export function planSvg(facts: PlanJson): string {
  const inPlace = facts.problem.placement === 'in-place';
  const most = Math.max(...facts.directions.map(({ launches }) => lanesOf(launches, inPlace, 0).length));
  // A direction's heading needs the width of two lanes, even if there is only one.
  const width = LANES_AT + LANE_WIDTH * Math.max(most, 2) + MARGIN;
  const parts: string[] = [];
  let y = 34;
  for (const [lines, style] of [
    [wrap(titleOf(facts), width - 2 * MARGIN, TITLE), TITLE],
    [wrap(subtitleOf(facts), width - 2 * MARGIN, SUBTITLE), SUBTITLE],
  ] as const) {
    for (const line of lines) {
      y += style.size * 1.2;
      parts.push(text(MARGIN, y, line, style));
      y += style.size * 0.3;
    }
  }
  for (const direction of facts.directions) {
    const drawn = drawDirection(direction, inPlace, y + 34, width);
    parts.push(...drawn.parts);
    y = drawn.bottom;
  }
  const table = candidateTable(facts.candidates, y + 34);
  parts.push(...table.parts, ...stageLegend(table.bottom + 30));
  const height = table.bottom + 86;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.ceil(height)}" viewBox="0 0 ${width} ${Math.ceil(height)}" role="img">`,
    `<title>${escapeXml(titleOf(facts))}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function titleOf({ problem, device }: PlanJson): string {
  const { size, batches } = problem;
  const many = batches > 1 ? `, ${batches} batches` : '';
  return `FFT of ${size.join(' × ')} points${many}, on ${device.name}`;
}

function subtitleOf({ problem, device, bytes }: PlanJson): string {
  const { precision, storage, edgeStorage, placement } = problem;
  const stored = storage === precision ? '' : `${storage} in memory`;
  const edges = edgeStorage === storage ? '' : `${edgeStorage} in input and output`;
  return [
    ...[transformKinds(problem), `${precision} precision`, stored, edges, placement, device.kind],
    ...[`tables ${bytesText(bytes.tables)}`, `temp ${bytesText(bytes.temp)}`],
  ]
    .filter(Boolean)
    .join(' · ');
}

function drawDirection(facts: DirectionFacts, inPlace: boolean, top: number, width: number) {
  const { direction, launches, chunks, turns, bytesMoved, assignment } = facts;
  const name = direction === 'forward' ? 'Forward' : 'Inverse';
  const launchCount = `${launches.length} launch${launches.length === 1 ? '' : 'es'}`;
  const best = `${counted(assignment.criteria.buffers, 'buffer')}, the best of ${counted(assignment.candidates, 'assignment')}${reasonText(assignment.decidedBy)}`;
  const used = wrap(`${best}${paddingText(assignment.padding)}`, TREE_WIDTH, NOTE);
  const chunked = chunks > 1 ? wrap(`${launchCount}${chunkText(chunks, turns)}`, TREE_WIDTH, NOTE) : [];
  const notes = [...used, ...chunked];
  const rows = treeRows(facts, { x: MARGIN, y: top + HEAD + NOTE_LINE * notes.length, width: TREE_WIDTH });
  const last = rows.at(-1)!.box;
  const bottom = last.y + last.height + 18;
  const lanes = lanesOf(launches, inPlace, LANES_AT);
  const area = { x: LANES_AT, y: top, width: width - LANES_AT - MARGIN, height: bottom - top };
  return {
    bottom,
    parts: [
      `<path d="M${MARGIN} ${top - 16}H${width - MARGIN}" stroke="#d5dae3" stroke-width="1.5"/>`,
      text(MARGIN, top + 24, name, HEADING),
      text(MARGIN + widthOf(name, HEADING) + 14, top + 24, `${launchCount}, ${bytesText(bytesMoved)} moved`, SUBTITLE),
      ...notes.map((line, n) => text(MARGIN, top + 50 + NOTE_LINE * n, line, NOTE)),
      ...branches(rows),
      ...rows.flatMap(({ parts }) => parts),
      ...drawLanes(lanes, rows, inPlace, area),
    ],
  };
}

/** The legend of stages' colours and of the thick parts of lanes. */
function stageLegend(y: number): string[] {
  const keys = Object.values(STAGE_COLOURS).map(({ fill, stroke, what }) => ({
    what,
    drawn: (x: number) => box({ x, y: y + 1, width: 26, height: 16 }, { kind: 'key', fill, stroke, radius: 4 }),
  }));
  const held = (x: number) => `<path d="M${x} ${y + 9}h26" stroke="${MUTED}" stroke-width="5"/>`;
  let x = MARGIN;
  return [...keys, { what: 'holds what is read later', drawn: held }].flatMap(({ what, drawn }) => {
    const left = x;
    x += 34 + widthOf(what, NOTE) + 22;
    return [drawn(left), text(left + 34, y + 14, what, NOTE)];
  });
}
