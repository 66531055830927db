/** Spectra one below the other, the latest on top, along the axis of the plot above; with the time at the left, and a key. */
import { byId, html, svg } from './dom.ts';
import { colour, gradient } from './heatmap.ts';
import { short, ticks } from './numbers.ts';
import { logarithmicTicks } from './plot.ts';

export interface Span {
  /** Hertz. */
  readonly from: number;
  readonly to: number;
  readonly logarithmic: boolean;
}

/** A spectrum that was shown, kept so that it can be drawn again at another size or zoom. */
interface Row {
  /** Decibels. */
  readonly levels: Float32Array;
  /** Hertz from bin to bin. */
  readonly spacing: number;
  /** Seconds. */
  readonly at: number;
}

/** Rows between two looks at the time axis: their rhythm hardly changes. */
const ROWS_PER_LOOK = 15;
const AXIS_HEIGHT = 18;

export class Waterfall {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly floor: number;
  private readonly times = svg('svg', { class: 'times', 'aria-hidden': 'true' });
  private readonly frequencies = svg('svg', { class: 'frequencies', height: AXIS_HEIGHT, 'aria-hidden': 'true' });
  /** The latest first. */
  private readonly rows: Row[] = [];
  private span: Span = { from: 0, to: 1, logarithmic: false };
  private columns: { readonly spacing: number; readonly ends: Float64Array } = {
    spacing: 0,
    ends: new Float64Array(),
  };
  private shown = '';
  private sinceLook = 0;

  /** @param floor the level that is darkest, in decibels; 0 is brightest */
  constructor(canvas: HTMLCanvasElement, floor: number) {
    const context = canvas.getContext('2d');
    if (!context) throw new Error('This browser draws nothing on a canvas.');
    this.canvas = canvas;
    this.context = context;
    this.floor = floor;
    canvas.before(this.times);
    canvas.after(this.frequencies);
    byId('waterfall-key').replaceChildren(
      `${short(floor)} dB`,
      html('span', { class: 'ramp', style: `background: ${gradient()}` }),
      '0 dB: a sine of amplitude 1, which is full scale',
    );
  }

  /** Lies below an element from now on, and shows what it has shown along the new axis. */
  place(over: HTMLElement, span: Span): void {
    const { canvas, times, frequencies } = this;
    const width = Math.max(1, Math.round(over.clientWidth));
    const [outer, inner] = [canvas.parentElement!.getBoundingClientRect(), over.getBoundingClientRect()];
    const left = Math.max(0, Math.round(inner.left - outer.left));
    const shown = JSON.stringify([width, left, span]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.span = span;
    for (const element of [canvas, frequencies]) element.style.marginLeft = `${left}px`;
    canvas.style.width = `${width}px`;
    times.style.width = `${left}px`;
    times.setAttribute('height', String(canvas.height));
    frequencies.setAttribute('width', String(width));
    canvas.width = width;
    this.columns = { spacing: 0, ends: new Float64Array() };
    this.context.fillStyle = `rgb(${colour(0).join()})`;
    this.context.fillRect(0, 0, width, canvas.height);
    this.rows.forEach((row, y) => this.draw(row, y));
    this.sayFrequencies(width);
    this.sayTimes();
  }

  /** @param spacing hertz from bin to bin @param at seconds */
  add(levels: Float32Array, spacing: number, at: number): void {
    const { canvas, context, rows } = this;
    const last = rows.length < canvas.height ? undefined : rows.pop();
    const kept = last?.levels.length === levels.length ? last.levels : new Float32Array(levels.length);
    kept.set(levels);
    const row = { levels: kept, spacing, at };
    rows.unshift(row);
    context.drawImage(canvas, 0, 0, canvas.width, canvas.height - 1, 0, 1, canvas.width, canvas.height - 1);
    this.draw(row, 0);
    if (++this.sinceLook >= ROWS_PER_LOOK) this.sayTimes();
  }

  private draw({ levels, spacing }: Row, y: number): void {
    const { canvas, context, floor } = this;
    const ends = this.endsOf(spacing);
    const pixels = context.createImageData(canvas.width, 1);
    for (let x = 0; x < canvas.width; x++) {
      const first = Math.max(0, Math.round(ends[x]!));
      let level = levels[Math.min(levels.length - 1, first)] ?? floor;
      for (let k = first + 1; k < ends[x + 1]! && k < levels.length; k++) level = Math.max(level, levels[k]!);
      pixels.data.set([...colour((level - floor) / -floor), 255], 4 * x);
    }
    context.putImageData(pixels, 0, y);
  }

  /** Where columns begin and end, in bins. */
  private endsOf(spacing: number): Float64Array {
    if (this.columns.spacing !== spacing) {
      const { width } = this.canvas;
      const ends = Float64Array.from({ length: width + 1 }, (_, x) => this.hertzAt(x / width) / spacing);
      this.columns = { spacing, ends };
    }
    return this.columns.ends;
  }

  private hertzAt(share: number): number {
    const { from, to, logarithmic } = this.span;
    const least = Math.max(from, 1);
    return logarithmic ? least * (to / least) ** share : from + (to - from) * share;
  }

  private sayFrequencies(width: number): void {
    const { from, to, logarithmic } = this.span;
    const least = Math.max(from, 1);
    const placeOf = (hertz: number) =>
      logarithmic ? Math.log(hertz / least) / Math.log(to / least) : (hertz - from) / (to - from);
    const values = logarithmic ? logarithmicTicks(least, to, width) : ticks(from, to, width / 80);
    this.frequencies.replaceChildren(
      ...values.map((hertz) => {
        const share = placeOf(hertz);
        const anchor = share < 0.04 ? 'start' : share > 0.96 ? 'end' : 'middle';
        const text = hertz >= 1000 ? `${short(hertz / 1000)}k` : short(hertz);
        return svg('text', { x: share * width, y: 13, 'text-anchor': anchor }, text);
      }),
    );
  }

  /** Whole seconds ago, beside the rows of that age. */
  private sayTimes(): void {
    this.sinceLook = 0;
    const { rows, times } = this;
    const [latest, oldest] = [rows[0], rows.at(-1)];
    const marks = latest && oldest ? ticks(0, latest.at - oldest.at, 4) : [0];
    const right = Number.parseFloat(times.style.width) - 6;
    times.replaceChildren(
      ...marks.map((age) => {
        const y = Math.max(0, latest ? rows.findIndex(({ at }) => latest.at - at >= age) : 0);
        return svg(
          'text',
          { x: right, y: Math.max(11, y + 4), 'text-anchor': 'end' },
          age === 0 ? 'now' : `−${short(age)} s`,
        );
      }),
    );
  }
}
