/**
 * Curves: uPlot, with what all plots of the page have alike. Dragging zooms, a double click shows all again; with the keyboard
 * + and − zoom, the arrows move along, and 0 shows all.
 */

import { language } from './language.ts';

const LANGUAGE = language;

// Only now, which a statement in between sees to.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { html } from './dom.ts';
import { short, ticks } from './numbers.ts';

export interface PlotAxis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** Empty room at both ends. */
  readonly margin?: number;
}

export interface Curve {
  readonly name: string;
  /** Evenly spread from x.from to x.to; null where there is nothing to show. */
  readonly values: ArrayLike<number | null>;
  /** An axis of its own on the right, where it is not of the plot's y. */
  readonly right?: PlotAxis;
}

export interface LinePlot {
  readonly title: string;
  readonly x: PlotAxis;
  /** Without an extent: as the values need it. */
  readonly y: PlotAxis | Pick<PlotAxis, 'label'>;
  readonly curves: readonly Curve[];
  /** A logarithmic axis to the right: what lies at 0 is left out. */
  readonly logarithmic?: boolean;
  /** A value of the first curve to point at. */
  readonly marked?: { readonly index: number; readonly text: string };
  /** A bar for each value, up or down from 0, instead of a line. */
  readonly bars?: boolean;
  /** Where dragging does not zoom: told of each place from one to the next, in units of the axes. */
  readonly drag?: (from: Place, to: Place) => void;
  /** The same by the arrow keys: steps to the right, and up. */
  readonly step?: (right: number, up: number) => void;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

const HEIGHT = 260;
const COLOURS = ['--accent', '--warm'];
const BARS = uPlot.paths.bars!({ size: [0.8, 40], radius: 0 });
const clearers = new WeakMap<Element, () => void>();

/** Draws into a figure, now and at every new width. @returns the plot, for new values and for what is zoomed into. */
export function showPlot(figure: HTMLElement, plot: LinePlot): uPlot {
  clearFigure(figure);
  const keys = plot.drag
    ? 'left and right arrows choose a bar, up and down change it'
    : 'plus and minus zoom, the arrows move along, 0 shows all';
  const holder = html('div', {
    ...{ role: 'application', 'aria-roledescription': 'plot', lang: LANGUAGE, tabindex: 0 },
    'aria-label': `${plot.title}; ${keys}`,
  });
  figure.append(html('figcaption', {}, plot.title), holder);
  const width = () => Math.max(200, Math.floor(figure.clientWidth));
  const drawn = new uPlot(optionsOf(plot, width()), dataOf(plot), holder);
  if (plot.drag) startDrag(drawn, plot.drag);
  holder.addEventListener('keydown', (event) => {
    const handled = plot.drag ? stepBy(event.key, plot.step) : zoomBy(event.key, drawn, plot);
    if (handled) event.preventDefault();
  });
  const observer = new ResizeObserver(() => drawn.setSize({ width: width(), height: HEIGHT }));
  observer.observe(figure);
  clearers.set(figure, () => {
    observer.disconnect();
    drawn.destroy();
  });
  return drawn;
}

/** How far an arrow key moves along, and + and − zoom: this share of what is shown stays. */
const MOVED = 1 / 8;
const ZOOMED = 2 / 3;
const DIRECTIONS: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowDown: [0, -1],
  ArrowUp: [0, 1],
};

/** @returns whether the key means anything here */
function stepBy(key: string, step: LinePlot['step']): boolean {
  const direction = DIRECTIONS[key];
  if (!direction || !step) return false;
  step(...direction);
  return true;
}

/** The same for a plot that is zoomed. */
function zoomBy(key: string, plot: uPlot, { logarithmic }: LinePlot): boolean {
  const xs = plot.data[0];
  const { min, max } = plot.scales.x ?? {};
  if (typeof min !== 'number' || typeof max !== 'number' || xs.length < 2) return false;
  const there = (value: number) => (logarithmic ? Math.log(value) : value);
  const back = (value: number) => (logarithmic ? Math.exp(value) : value);
  const [least, most, from, to] = [xs[0]!, xs[xs.length - 1]!, min, max].map(there) as [number, number, number, number];
  const show = (start: number, length: number) => {
    const width = Math.min(length, most - least);
    const first = Math.min(most - width, Math.max(least, start));
    plot.setScale('x', { min: back(first), max: back(first + width) });
    return true;
  };
  const width = to - from;
  const [right = 0] = DIRECTIONS[key] ?? [];
  if (right !== 0) return show(from + right * MOVED * width, width);
  if (key === '0' || key === 'Escape') return show(least, most - least);
  if (key === '+' || key === '=') return show((from + to - ZOOMED * width) / 2, ZOOMED * width);
  return key === '-' && show((from + to - width / ZOOMED) / 2, width / ZOOMED);
}

/** Takes away what a figure shows, and what keeps it up to date. */
export function clearFigure(figure: HTMLElement): void {
  clearers.get(figure)?.();
  clearers.delete(figure);
  figure.replaceChildren();
}

/** The values of a plot as uPlot takes them. */
export function dataOf({ x, curves, logarithmic }: Pick<LinePlot, 'x' | 'curves' | 'logarithmic'>): uPlot.AlignedData {
  const count = curves[0]?.values.length ?? 0;
  const first = logarithmic ? 1 : 0;
  const at = Array.from({ length: Math.max(0, count - first) }, (_, n) => placeOf(x, n + first, count));
  return [at, ...curves.map(({ values }) => Array.from({ length: at.length }, (_, n) => values[n + first] ?? null))];
}

/** Follows a pointer across a plot; it may leave it, and then stands at its rim. */
function startDrag(plot: uPlot, drag: NonNullable<LinePlot['drag']>): void {
  const { over } = plot;
  const within = (value: number, most: number) => Math.min(most, Math.max(0, value));
  const placeAt = ({ clientX, clientY }: PointerEvent): Place => {
    const { left, top, width, height } = over.getBoundingClientRect();
    return {
      x: plot.posToVal(within(clientX - left, width), 'x'),
      y: plot.posToVal(within(clientY - top, height), 'y'),
    };
  };
  let last: Place | undefined;
  const moved = (event: PointerEvent) => {
    if (!last) return;
    const next = placeAt(event);
    drag(last, next);
    last = next;
  };
  over.style.touchAction = 'none';
  over.addEventListener('pointerdown', (event) => {
    over.setPointerCapture(event.pointerId);
    last = placeAt(event);
    moved(event);
  });
  over.addEventListener('pointermove', moved);
  for (const end of ['pointerup', 'pointercancel']) {
    over.addEventListener(end, () => {
      last = undefined;
    });
  }
}

function placeOf({ from, to }: PlotAxis, n: number, count: number): number {
  return count < 2 ? from : from + ((to - from) * n) / (count - 1);
}

function optionsOf({ x, y, curves, logarithmic, marked, bars, drag }: LinePlot, width: number): uPlot.Options {
  const colour = (name: string) => () => coloursOf(name);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    labelSize: 20,
    labelFont: '12px system-ui',
    font: '12px system-ui',
  };
  const { margin = 0 } = x;
  const right = curves.find((curve) => curve.right)?.right;
  const told = (_: uPlot, value: number | null) => (value === null || value === undefined ? '–' : short(value, 4));
  return {
    ...{ width, height: HEIGHT },
    scales: {
      // As far as the values go, or as was zoomed to: not on to the next power of ten.
      x: {
        time: false,
        range: (_, from, to) => [from - margin, to + margin],
        ...(logarithmic ? { distr: 3 as const } : {}),
      },
      y: 'from' in y ? { range: [y.from, y.to] } : {},
      ...(right ? { right: { range: [right.from, right.to] } } : {}),
    },
    axes: [
      {
        ...axis,
        label: x.label,
        size: 34,
        ...(logarithmic ? LOGARITHMIC_AXIS : {}),
      },
      { ...axis, label: y.label, size: 52 },
      ...(right
        ? [{ ...axis, scale: 'right', side: 1 as const, label: right.label, grid: { show: false }, size: 44 }]
        : []),
    ],
    series: [
      { label: x.label, value: told },
      ...curves.map((curve, n) => ({
        ...{ label: curve.name, value: told, width: curve.right ? 1 : 1.5, points: { show: false } },
        ...{ stroke: colour(COLOURS[n % COLOURS.length]!), scale: curve.right ? 'right' : 'y' },
        ...(bars ? { fill: colour(COLOURS[n % COLOURS.length]!), paths: BARS, points: { show: false } } : {}),
      })),
    ],
    cursor: { drag: { x: drag === undefined, y: false } },
    hooks: marked ? { draw: [(plot) => mark(plot, marked, logarithmic ? 1 : 0)] } : {},
  };
}

/** Places of a logarithmic axis: of every power of ten as many as there is room for, and even steps within one power. */
const LOGARITHMIC_AXIS: Partial<uPlot.Axis> = {
  splits: ({ width }, _, from, to) => logarithmicTicks(from, to, width - 80),
  filter: (_, splits) => splits,
  values: (_, splits) => splits.map((value) => (value >= 1000 ? `${short(value / 1000)}k` : short(value))),
};

/** @param width room, in pixels */
export function logarithmicTicks(from: number, to: number, width: number): number[] {
  const powers = Math.log10(to / Math.max(from, 1e-9));
  const room = width / powers;
  const steps = room > 130 ? [1, 2, 5] : room > 80 ? [1, 3] : [1];
  return powers < 1.2 ? ticks(from, to, Math.min(6, width / 60)) : decades(from, to, steps);
}

/** uPlot counts on from where the axis begins; a reader wants multiples of the powers of ten. */
function decades(from: number, to: number, steps: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.max(from, 1e-9)));
  const powers = Array.from({ length: Math.ceil(Math.log10(to)) - first + 1 }, (_, n) => 10 ** (first + n));
  return powers.flatMap((power) => steps.map((step) => step * power)).filter((at) => at >= from && at <= to);
}

function coloursOf(name: string): string {
  // `light-dark()` is resolved for properties that the browser knows, and for no others.
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A ring around a value, and what it says. */
function mark(plot: uPlot, { index, text }: { index: number; text: string }, first: number): void {
  const [xs, values] = plot.data as [number[], (number | null)[]];
  const value = values[index - first];
  if (value === null || value === undefined) return;
  const [left, top] = [plot.valToPos(xs[index - first]!, 'x', true), plot.valToPos(value, 'y', true)];
  const { ctx, bbox } = plot;
  if (left < bbox.left || left > bbox.left + bbox.width) return;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = coloursOf('--warm');
  ctx.lineWidth = 2 * ratio;
  ctx.beginPath();
  ctx.arc(left, top, 4 * ratio, 0, 2 * Math.PI);
  ctx.stroke();
  const isRight = left > bbox.left + bbox.width / 2;
  ctx.textAlign = isRight ? 'right' : 'left';
  ctx.font = `${12 * ratio}px system-ui`;
  ctx.fillText(text, left + (isRight ? -9 : 9) * ratio, Math.max(top, bbox.top + 12 * ratio));
  ctx.restore();
}
