/** Errors by length as a picture: both axes logarithmic, a line for each set, and what is allowed. */
import { escapeXml, INK, MUTED, text } from '../picture/svg.ts';

export interface Line {
  readonly name: string;
  /** Both above 0, in the order of x. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Not measured: drawn thin. */
  readonly bound?: true;
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

/** @param title stands above, @param about below it */
export function errorChart(title: string, about: string, lines: readonly Line[]): string {
  const all = lines.flatMap(({ points }) => points);
  const xs = all.map(([x]) => Math.log2(x));
  const ys = all.map(([, y]) => Math.log10(y));
  const [x0, x1] = [Math.floor(Math.min(...xs)), Math.max(Math.ceil(Math.max(...xs)), Math.floor(Math.min(...xs)) + 1)];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.max(Math.ceil(Math.max(...ys)), Math.floor(Math.min(...ys)) + 1)];
  const [right, bottom] = [WIDTH - PLOT.right, HEIGHT - PLOT.bottom];
  const at = ([x, y]: readonly [number, number]): string => {
    const across = PLOT.left + ((Math.log2(x) - x0) / (x1 - x0)) * (right - PLOT.left);
    const down = bottom - ((Math.log10(y) - y0) / (y1 - y0)) * (bottom - PLOT.top);
    return `${across.toFixed(1)},${down.toFixed(1)}`;
  };
  const ticks = [
    ...range(x0, x1).map((x) => {
      const [across] = at([2 ** x, 10 ** y0])
        .split(',')
        .map(Number) as [number];
      return `${rule(across, bottom, across, PLOT.top)}${text(across, bottom + 26, String(2 ** x), { size: 17, anchor: 'middle' })}`;
    }),
    ...range(y0, y1).map((y) => {
      const down = Number(at([2 ** x0, 10 ** y]).split(',')[1]);
      return `${rule(PLOT.left, down, right, down)}${text(PLOT.left - 12, down + 6, `1e${y}`, { size: 17, anchor: 'end' })}`;
    }),
  ];
  const curves = lines.map(({ name, points, bound }, n) => {
    const colour = bound ? MUTED : COLOURS[n % COLOURS.length]!;
    const down = PLOT.top + 20 + 30 * n;
    const style = `fill="none" stroke="${colour}" stroke-width="${bound ? 1.5 : 2.5}"${bound ? ' stroke-dasharray="7 6"' : ''}`;
    return [
      `<polyline class="line" points="${points.map(at).join(' ')}" ${style}><title>${escapeXml(name)}</title></polyline>`,
      `<line x1="${right + 24}" y1="${down - 6}" x2="${right + 60}" y2="${down - 6}" ${style}/>`,
      text(right + 70, down, name, { size: 18 }),
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(PLOT.left, 42, title, { size: 26, weight: 600 }),
    text(PLOT.left, 70, about, { size: 17, fill: MUTED }),
    ...ticks,
    ...curves,
    text((PLOT.left + right) / 2, HEIGHT - 22, 'Length', { size: 19, anchor: 'middle' }),
    '</svg>',
  ].join('\n');
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${INK}" stroke-opacity="0.12"/>`;
}

/** About ten marks at the most. */
function range(from: number, to: number): number[] {
  const step = Math.max(1, Math.ceil((to - from) / 10));
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);
}
