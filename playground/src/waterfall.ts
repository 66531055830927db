/** Spectra one below the other, the latest on top, along the axis of the plot above. */
import { colour } from './heatmap.ts';

export interface Span {
  /** Hertz. */
  readonly from: number;
  readonly to: number;
  readonly logarithmic: boolean;
}

export class Waterfall {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly floor: number;
  /** Which bins each column shows: from, to. */
  private columns: (readonly [number, number])[] = [];
  private row: ImageData | undefined;
  private shown = '';

  /** @param floor the level that is black, in decibels; 0 is brightest */
  constructor(canvas: HTMLCanvasElement, floor: number) {
    const context = canvas.getContext('2d');
    if (!context) throw new Error('This browser draws nothing on a canvas.');
    this.canvas = canvas;
    this.context = context;
    this.floor = floor;
  }

  /** Lies below an element from now on. What was shown of other frequencies goes. @param spacing hertz from bin to bin */
  place(over: HTMLElement, { from, to, logarithmic }: Span, spacing: number): void {
    const { canvas } = this;
    const width = Math.max(1, Math.round(over.clientWidth));
    const [outer, inner] = [canvas.parentElement!.getBoundingClientRect(), over.getBoundingClientRect()];
    canvas.style.marginLeft = `${Math.max(0, inner.left - outer.left)}px`;
    canvas.style.width = `${width}px`;
    const shown = JSON.stringify([width, from, to, logarithmic, spacing]);
    if (shown === this.shown) return;
    this.shown = shown;
    canvas.width = width;
    this.row = this.context.createImageData(width, 1);
    this.context.fillStyle = `rgb(${colour(0).join()})`;
    this.context.fillRect(0, 0, width, canvas.height);
    const least = Math.max(from, 1);
    const hertzAt = (x: number) =>
      logarithmic ? least * (to / least) ** (x / width) : from + ((to - from) * x) / width;
    const binAt = (x: number) => hertzAt(x) / spacing;
    this.columns = Array.from({ length: width }, (_, x) => [binAt(x), binAt(x + 1)] as const);
  }

  add(levels: Float32Array): void {
    const { canvas, context, row, floor } = this;
    if (!row) return;
    this.columns.forEach(([from, to], x) => {
      const first = Math.max(0, Math.round(from));
      let level = levels[Math.min(levels.length - 1, first)] ?? floor;
      for (let k = first + 1; k < to && k < levels.length; k++) level = Math.max(level, levels[k]!);
      row.data.set([...colour((level - floor) / -floor), 255], 4 * x);
    });
    context.drawImage(canvas, 0, 0, canvas.width, canvas.height - 1, 0, 1, canvas.width, canvas.height - 1);
    context.putImageData(row, 0, 0);
  }
}
