/** Charts of lines or dots over length: a logarithmic horizontal axis, and a vertical axis that is logarithmic or starts at 0. */
import { ticks } from 'd3-array';
import { escapeXml, INK, MUTED, text, widthOf } from './svg.ts';

export interface ChartLine {
  readonly name: string;
  /** Points with ascending x, which is positive; y is positive, too, on a logarithmic axis. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Whether the line is a bound instead of a measurement: thin and dashed. */
  readonly bound?: true;
  /** Whether the line is another library's: dotted. */
  readonly beside?: true;
  /** Whether to draw a dot for each point instead of a line. */
  readonly dots?: true;
}

export interface Chart {
  readonly title: string;
  /** The subtitle. */
  readonly about: string;
  /** The labels of the axes. */
  readonly across: string;
  readonly up?: string;
  /** Whether the vertical axis starts at 0 instead of being logarithmic. */
  readonly fromZero?: true;
  readonly lines: readonly ChartLine[];
}

const [WIDTH, HEIGHT] = [1200, 760];
const PLOT = { left: 120, top: 90, right: 300, bottom: 80 } as const;
const [RIGHT, BOTTOM] = [WIDTH - PLOT.right, HEIGHT - PLOT.bottom];

/** Colours that are distinct on white, also for colour-blind people (Okabe and Ito 2008), and three more. */
const COLOURS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#000000',
  '#7f7f7f',
  '#8c564b',
  '#6a3d9a',
  '#b2182b',
];

/** An axis: the positions of values from 0 to 1, and the tick marks. */
interface Scale {
  readonly at: (value: number) => number;
  readonly marks: readonly { readonly value: number; readonly label: string }[];
}

export function chart({ title, about, across, up, fromZero, lines }: Chart): string {
  const all = lines.flatMap(({ points }) => points);
  const [x, y] = [lengthScale(all.map(([at]) => at)), (fromZero ? linear : powersOfTen)(all.map(([, value]) => value))];
  const left = (value: number) => PLOT.left + x.at(value) * (RIGHT - PLOT.left);
  const down = (value: number) => BOTTOM - y.at(value) * (BOTTOM - PLOT.top);
  const middle = (PLOT.top + BOTTOM) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    `<title>${escapeXml(title)}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(PLOT.left, 42, title, { size: 26, weight: 600 }),
    text(PLOT.left, 70, about, { size: 17, fill: MUTED }),
    ...x.marks.map(({ value, label }) => {
      const at = left(value);
      return `${rule(at, BOTTOM, at, PLOT.top)}${text(at, BOTTOM + 26, label, { size: 17, anchor: 'middle' })}`;
    }),
    ...y.marks.map(({ value, label }) => {
      const at = down(value);
      return `${rule(PLOT.left, at, RIGHT, at)}${text(PLOT.left - 12, at + 6, label, { size: 17, anchor: 'end' })}`;
    }),
    ...lines.map((line, n) => (line.dots ? dots : curve)(line, n, ([at, value]) => [left(at), down(value)])),
    text((PLOT.left + RIGHT) / 2, HEIGHT - 22, across, { size: 19, anchor: 'middle' }),
    ...(up === undefined
      ? []
      : [text(36, middle, up, { size: 19, anchor: 'middle', transform: `rotate(-90 36 ${middle})` })]),
    '</svg>',
  ].join('\n');
}

function lengthScale(values: readonly number[]): Scale {
  const { from, to, at } = logarithmic(values.map(Math.log2));
  const label = (x: number) => (to > 13 ? `2${superscript(x)}` : String(2 ** x));
  return { at: (x) => at(Math.log2(x)), marks: axisMarks(from, to).map((x) => ({ value: 2 ** x, label: label(x) })) };
}

function powersOfTen(values: readonly number[]): Scale {
  const { from, to, at } = logarithmic(values.map(Math.log10));
  return { at: (y) => at(Math.log10(y)), marks: axisMarks(from, to).map((y) => ({ value: 10 ** y, label: `1e${y}` })) };
}

/** The range of a logarithmic axis, from one whole power of ten to another, at least two apart. */
function logarithmic(exponents: readonly number[]): { from: number; to: number; at: (exponent: number) => number } {
  const from = Math.floor(exponents.reduce((least, one) => Math.min(least, one)));
  const to = Math.max(Math.ceil(exponents.reduce((most, one) => Math.max(most, one))), from + 1);
  return { from, to, at: (exponent) => (exponent - from) / (to - from) };
}

function linear(values: readonly number[]): Scale {
  const most = 1.05 * values.reduce((largest, one) => Math.max(largest, one));
  return { at: (y) => y / most, marks: ticks(0, most, 8).map((value) => ({ value, label: String(value) })) };
}

/** Maps a point to its position in the picture. */
type Projection = (point: readonly [number, number]) => readonly [number, number];

/** A line with its name beside the plot. */
function curve({ name, points, bound, beside }: ChartLine, n: number, at: Projection): string {
  const colour = bound ? MUTED : COLOURS[n % COLOURS.length]!;
  const y = heightOfName(n);
  const dashes = bound ? ' stroke-dasharray="7 6"' : beside ? ' stroke-dasharray="2 4"' : '';
  const style = `fill="none" stroke="${colour}" stroke-width="${bound ? 1.5 : 2.5}"${dashes}`;
  return [
    `<polyline class="line" points="${points.map((point) => at(point).map(tenths).join(',')).join(' ')}" ${style}><title>${escapeXml(name)}</title></polyline>`,
    `<line x1="${RIGHT + 24}" y1="${y - 6}" x2="${RIGHT + 60}" y2="${y - 6}" ${style}/>`,
    legendEntry(name, y),
  ].join('');
}

/** Dots with their name beside the plot. */
function dots({ name, points }: ChartLine, n: number, at: Projection): string {
  const y = heightOfName(n);
  const circles = [...points.map(at), [RIGHT + 42, y - 6] as const].map(
    ([across, up]) => `<circle cx="${tenths(across)}" cy="${tenths(up)}" r="3"/>`,
  );
  return `<g class="dots" fill="${COLOURS[n % COLOURS.length]}" fill-opacity="0.6">${circles.join('')}</g>${legendEntry(name, y)}`;
}

function heightOfName(n: number): number {
  return PLOT.top + 20 + 30 * n;
}

function legendEntry(name: string, y: number): string {
  const room = WIDTH - RIGHT - 80;
  return text(RIGHT + 70, y, name, { size: Math.min(18, (18 * room) / widthOf(name, { size: 18 })) });
}

function tenths(value: number): string {
  return value.toFixed(1);
}

function superscript(exponent: number): string {
  return [...String(exponent)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map(tenths);
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${INK}" stroke-opacity="0.12"/>`;
}

/** Tick marks, about ten at most. */
function axisMarks(from: number, to: number): number[] {
  const step = Math.max(1, Math.ceil((to - from) / 10));
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);
}
