/** Something by length as a picture: both axes logarithmic, a line or dots for each set, and what is allowed. */
import { escapeXml, INK, MUTED, text } from './svg.ts';

export interface Line {
  readonly name: string;
  /** Both above 0, in the order of x. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Not measured: drawn thin. */
  readonly bound?: true;
  /** A dot for each point, and no line. */
  readonly dots?: true;
}

/** What a picture says above, and how its axis upwards counts: in powers of ten, or of two, which are written out. */
export interface ChartStyle {
  readonly title: string;
  /** Stands below it. */
  readonly about: string;
  readonly up?: 10 | 2;
}

const [WIDTH, HEIGHT] = [1200, 760];
const PLOT = { left: 120, top: 90, right: 300, bottom: 80 } as const;

/** Distinct on white, for people who see few colours as well (Okabe and Ito 2008), and three more. */
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

export function lengthChart({ title, about, up = 10 }: ChartStyle, lines: readonly Line[]): string {
  const all = lines.flatMap(({ points }) => points);
  const [x0, x1] = powersAround(all.map(([x]) => Math.log2(x)));
  const height = (y: number) => Math.log(y) / Math.log(up);
  const [y0, y1] = powersAround(all.map(([, y]) => height(y)));
  const [right, bottom] = [WIDTH - PLOT.right, HEIGHT - PLOT.bottom];
  const at = ([x, y]: readonly [number, number]): readonly [number, number] => [
    PLOT.left + ((Math.log2(x) - x0) / (x1 - x0)) * (right - PLOT.left),
    bottom - ((height(y) - y0) / (y1 - y0)) * (bottom - PLOT.top),
  ];
  const ticks = [
    ...range(x0, x1).map((x) => {
      const [across] = at([2 ** x, up ** y0]);
      return `${rule(across, bottom, across, PLOT.top)}${text(across, bottom + 26, String(2 ** x), { size: 17, anchor: 'middle' })}`;
    }),
    ...range(y0, y1).map((y) => {
      const [, down] = at([2 ** x0, up ** y]);
      const label = up === 10 ? `1e${y}` : String(up ** y);
      return `${rule(PLOT.left, down, right, down)}${text(PLOT.left - 12, down + 6, label, { size: 17, anchor: 'end' })}`;
    }),
  ];
  const curves = lines.map((line, n) => {
    const colour = line.bound ? MUTED : COLOURS[n % COLOURS.length]!;
    const down = PLOT.top + 20 + 30 * n;
    const named = text(right + 70, down, line.name, { size: 18 });
    if (line.dots) {
      const places = [...line.points.map(at), [right + 42, down - 6] as const];
      return `<g class="dots" fill="${colour}" fill-opacity="0.6">${places.map(dot).join('')}</g>${named}`;
    }
    const style = `fill="none" stroke="${colour}" stroke-width="${line.bound ? 1.5 : 2.5}"${line.bound ? ' stroke-dasharray="7 6"' : ''}`;
    const points = line.points.map((point) => at(point).map(tenths).join(',')).join(' ');
    return [
      `<polyline class="line" points="${points}" ${style}><title>${escapeXml(line.name)}</title></polyline>`,
      `<line x1="${right + 24}" y1="${down - 6}" x2="${right + 60}" y2="${down - 6}" ${style}/>`,
      named,
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    `<title>${escapeXml(title)}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(PLOT.left, 42, title, { size: 26, weight: 600 }),
    text(PLOT.left, 70, about, { size: 17, fill: MUTED }),
    ...ticks,
    ...curves,
    text((PLOT.left + right) / 2, HEIGHT - 22, 'Length', { size: 19, anchor: 'middle' }),
    '</svg>',
  ].join('\n');
}

function dot([x, y]: readonly [number, number]): string {
  return `<circle cx="${tenths(x)}" cy="${tenths(y)}" r="3"/>`;
}

function tenths(value: number): string {
  return value.toFixed(1);
}

/** The whole numbers around all values, which are not the same. */
function powersAround(values: readonly number[]): readonly [number, number] {
  const low = Math.floor(Math.min(...values));
  return [low, Math.max(Math.ceil(Math.max(...values)), low + 1)];
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map(tenths);
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${INK}" stroke-opacity="0.12"/>`;
}

/** About ten marks at the most. */
function range(from: number, to: number): number[] {
  const step = Math.max(1, Math.ceil((to - from) / 10));
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);
}
