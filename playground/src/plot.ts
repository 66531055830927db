/** A curve over two axes as SVG, drawn again when its place changes width. */
import { html, svg } from './dom.ts';
import { short, ticks } from './numbers.ts';

export interface PlotAxis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

export interface LinePlot {
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  /** Evenly spread from x.from to x.to. */
  readonly values: ArrayLike<number>;
  /** A value to point at. */
  readonly marked?: { readonly index: number; readonly text: string };
}

const HEIGHT = 260;
const MARGIN = { left: 58, right: 16, top: 12, bottom: 42 };
const observers = new WeakMap<Element, ResizeObserver>();

/** Draws into a figure, now and at every new width. */
export function showPlot(figure: HTMLElement, plot: LinePlot): void {
  clearFigure(figure);
  const holder = html('div');
  figure.append(html('figcaption', {}, plot.title), holder);
  let drawn = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.floor(figure.clientWidth);
    if (width === drawn || width === 0) return;
    drawn = width;
    holder.replaceChildren(draw(plot, width));
  });
  observer.observe(figure);
  observers.set(figure, observer);
}

/** Takes away what a figure shows, and what keeps it up to date. */
export function clearFigure(figure: HTMLElement): void {
  observers.get(figure)?.disconnect();
  observers.delete(figure);
  figure.replaceChildren();
}

function draw({ title, x, y, values, marked }: LinePlot, width: number): SVGSVGElement {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const toX = (value: number) => MARGIN.left + ((value - x.from) / (x.to - x.from || 1)) * (right - MARGIN.left);
  const toY = (value: number) => {
    const clipped = Math.min(y.to, Math.max(y.from, value));
    return bottom - ((clipped - y.from) / (y.to - y.from || 1)) * (bottom - MARGIN.top);
  };
  const picture = svg('svg', { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: 'img', 'aria-label': title });
  for (const value of ticks(x.from, x.to, (right - MARGIN.left) / 90)) {
    const at = toX(value);
    picture.append(
      svg('line', { class: 'grid', x1: at, x2: at, y1: MARGIN.top, y2: bottom }),
      svg('text', { x: at, y: bottom + 16, 'text-anchor': 'middle' }, short(value, 5)),
    );
  }
  for (const value of ticks(y.from, y.to, 5)) {
    const at = toY(value);
    picture.append(
      svg('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: at, y2: at }),
      svg('text', { x: MARGIN.left - 6, y: at + 4, 'text-anchor': 'end' }, short(value)),
    );
  }
  const middle = (MARGIN.top + bottom) / 2;
  picture.append(
    svg('text', { x: (MARGIN.left + right) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, x.label),
    svg('text', { x: 12, y: middle, 'text-anchor': 'middle', transform: `rotate(-90 12 ${middle})` }, y.label),
    svg('path', { class: 'curve', d: pathOf(values, toX, toY, x, right - MARGIN.left) }),
  );
  if (marked) {
    const step = (x.to - x.from) / Math.max(1, values.length - 1);
    const at = toX(x.from + marked.index * step);
    const height = toY(values[marked.index] ?? 0);
    const leftward = at > width * 0.6;
    picture.append(
      svg('circle', { class: 'marker', cx: at, cy: height, r: 3.5 }),
      svg(
        'text',
        {
          class: 'marked',
          x: at + (leftward ? -8 : 8),
          y: Math.max(MARGIN.top + 10, height + 4),
          'text-anchor': leftward ? 'end' : 'start',
        },
        marked.text,
      ),
    );
  }
  return picture;
}

/** A point for each value; where many share a column of pixels, the least and the greatest of them. */
function pathOf(
  values: ArrayLike<number>,
  toX: (value: number) => number,
  toY: (value: number) => number,
  { from, to }: PlotAxis,
  columns: number,
): string {
  const step = (to - from) / Math.max(1, values.length - 1);
  const point = (index: number) => `${toX(from + index * step).toFixed(1)},${toY(values[index] ?? 0).toFixed(1)}`;
  const points: string[] = [];
  const perColumn = values.length / columns;
  if (perColumn <= 2) for (let k = 0; k < values.length; k++) points.push(point(k));
  else {
    for (let column = 0; column < columns; column++) {
      const first = Math.floor(column * perColumn);
      let [low, high] = [first, first];
      for (let k = first; k < Math.min(values.length, Math.floor((column + 1) * perColumn)); k++) {
        if ((values[k] ?? 0) < (values[low] ?? 0)) low = k;
        if ((values[k] ?? 0) > (values[high] ?? 0)) high = k;
      }
      points.push(...(low < high ? [point(low), point(high)] : [point(high), point(low)]));
    }
  }
  return points.length === 0 ? '' : `M${points.join('L')}`;
}
