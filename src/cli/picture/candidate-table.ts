/** The table of candidates below a plan's tree: the price of each, and the parts that it is the sum of. */
import { differenceText, splitsText } from '../../engine/explaining/explain.ts';
import type { Plan } from '../../index.ts';
import { MUTED, type TextStyle, text, widthOf } from './svg.ts';

type Candidates = ReturnType<Plan['toJSON']>['candidates'];
type CandidateRow = Candidates['list'][number];

/** The left and right margin of a picture. */
export const MARGIN = 44;
const HEADING: TextStyle = { size: 19, weight: 600 };
const CELL: TextStyle = { size: 15 };
const LINE = 24;

/** The width of the column of names. */
const NAMES = 330;
/** The columns, with the position of their right edge if names take `NAMES`. */
const COLUMNS: readonly { readonly name: string; readonly end: number; readonly of: (one: CandidateRow) => string }[] =
  [
    { name: 'launches', end: 440, of: ({ launches }) => String(launches) },
    { name: 'price', end: 520, of: ({ price }) => price.toFixed(2) },
    { name: 'trips', end: 600, of: ({ parts }) => parts.trips.toFixed(2) },
    { name: 'passes', end: 680, of: ({ parts }) => parts.passes.toFixed(2) },
    { name: 'start', end: 750, of: ({ parts }) => parts.start.toFixed(2) },
    { name: 'rest', end: 820, of: ({ parts }) => parts.rest.toFixed(2) },
  ];
const DIFFERENCE_END = 930;
const TIME_END = 1030;

/** Draws the table. @param y the upper edge */
export function candidateTable(
  { unit, list }: Candidates,
  y: number,
): { readonly parts: string[]; readonly bottom: number } {
  const plan = list.find(({ chosen }) => chosen);
  const widest = Math.max(...list.map(({ splits }) => widthOf(splitsText(splits), { ...CELL, weight: 600 })));
  const shift = Math.max(0, widest - NAMES);
  const cell = (end: number, line: number, content: string, style: TextStyle = CELL) =>
    text(end + shift, y + 24 + LINE * line, content, { ...style, anchor: 'end' });
  const muted = { ...CELL, fill: MUTED };
  const timed = list.some(({ milliseconds }) => milliseconds !== undefined);
  const head = [
    text(MARGIN, y + 24, `Candidates, in ${unit}`, HEADING),
    ...COLUMNS.map(({ name, end }) => cell(end, 0, name, muted)),
    ...(timed ? [cell(TIME_END, 0, 'ms', muted)] : []),
  ];
  const rows = list.flatMap((one, n) => {
    const style: TextStyle = one.chosen ? { ...CELL, weight: 600 } : CELL;
    return [
      text(MARGIN, y + 24 + LINE * (n + 1), splitsText(one.splits), style),
      ...COLUMNS.map(({ end, of }) => cell(end, n + 1, of(one), style)),
      cell(DIFFERENCE_END, n + 1, one === plan || !plan ? 'chosen' : differenceText(one, plan), style),
      ...(one.milliseconds === undefined ? [] : [cell(TIME_END, n + 1, one.milliseconds.toPrecision(3), style)]),
    ];
  });
  return { parts: [...head, ...rows], bottom: y + 24 + LINE * list.length };
}
