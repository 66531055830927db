/** Points on the device: sorted, with the weights that each has at the grid points around it. */
import type { DeviceBuffer } from '../../devices/device.ts';
import {
  CHUNK,
  chunkCount,
  interpolationKernel,
  type NonuniformShape,
  spreadKernel,
  weightLayoutOf,
  weightsKernel,
} from '../../kernels/nonuniform/index.ts';
import type { SemicircleKernel } from '../../numeric/special-functions/semicircle.ts';
import { type Bins, type SortedPoints, sortingBins, sortPoints, usualBins } from './sort.ts';
import { type BufferOrSlot, type KernelLaunch, LaunchList, type Workshop } from './workshop.ts';

/** The use of the points of a side: strengths are spread from them, or a grid is interpolated at them. */
export interface PointSide {
  readonly shape: NonuniformShape;
  readonly spreading: SemicircleKernel;
  /** A complex factor for each point, as re, im, in the caller's order of points; present if the shape has factors. */
  readonly factors?: Float64Array | undefined;
}

export class DevicePoints {
  private readonly side: PointSide;
  private readonly sorted: SortedPoints;
  private readonly bins: Bins;
  private readonly buffers: DeviceBuffer[] = [];
  private readonly memory: Record<string, DeviceBuffer> = {};
  private readonly colours: DeviceBuffer[] = [];

  /** @param axes coordinates along each axis, in radians */
  static async of(workshop: Workshop, side: PointSide, axes: readonly ArrayLike<number>[]): Promise<DevicePoints> {
    const points = new DevicePoints(workshop, side, axes);
    try {
      await points.fill(workshop);
    } catch (error) {
      points.free();
      throw error;
    }
    return points;
  }

  private constructor({ type }: Workshop, side: PointSide, axes: readonly ArrayLike<number>[]) {
    const { shape } = side;
    this.side = side;
    this.bins = sortingBins(shape.grid, usualBins(axes.length, shape.target.vectors));
    this.sorted = sortPoints(axes, {
      grid: shape.grid,
      width: shape.width,
      bins: this.bins,
      type,
      capacity: shape.capacity,
    });
  }

  /** Spreads strengths onto the grid, with one launch for each colour that has points. */
  spread(strengths: BufferOrSlot, grid: DeviceBuffer): KernelLaunch[] {
    const { perColour } = this.bins;
    const kernel = spreadKernel(this.side.shape, perColour);
    return this.colours.map((bins) => ({ kernel, memory: { ...this.memory, strengths, grid, bins } }));
  }

  interpolate(grid: DeviceBuffer, results: BufferOrSlot): KernelLaunch {
    return { kernel: interpolationKernel(this.side.shape), memory: { ...this.memory, grid, results } };
  }

  free(): void {
    for (const buffer of this.buffers.splice(0)) buffer.free();
  }

  private reals(workshop: Workshop, count: number): DeviceBuffer {
    const buffer = workshop.reals(count);
    this.buffers.push(buffer);
    return buffer;
  }

  private async table(workshop: Workshop, data: Uint32Array): Promise<DeviceBuffer> {
    const buffer = workshop.integers(data.length);
    this.buffers.push(buffer);
    await workshop.fill(buffer, data);
    return buffer;
  }

  private async fill(workshop: Workshop): Promise<void> {
    const { sorted, memory, side } = this;
    const { shape } = side;
    const { capacity, transforms } = shape;
    memory.points = await this.table(workshop, sorted.table);
    const chunks = Uint32Array.from({ length: chunkCount(capacity) }, (_, n) =>
      Math.min(CHUNK, Math.max(0, sorted.count - n * CHUNK)),
    );
    memory.chunks = await this.table(workshop, chunks);
    if (transforms > 1) {
      memory.starts = await this.table(
        workshop,
        Uint32Array.from({ length: transforms }, (_, n) => n * sorted.count),
      );
    }
    for (const bins of sorted.bins) if (bins[1]! > 0) this.colours.push(await this.table(workshop, bins));
    if (side.factors) {
      memory.factors = this.reals(workshop, 4 * capacity);
      await workshop.fill(memory.factors, this.sortedFactors(side.factors));
    }
    await this.computeWeights(workshop);
  }

  /** Factors in the sorted order of the points, each as re, im, −im, re. */
  private sortedFactors(given: Float64Array): Float32Array | Float64Array {
    const { sorted, side } = this;
    const { capacity, type } = side.shape;
    const factors = type === 'f32' ? new Float32Array(4 * capacity) : new Float64Array(4 * capacity);
    for (let n = 0; n < sorted.count; n++) {
      const from = 2 * sorted.table[2 * n + 1]!;
      const [re, im] = [given[from]!, given[from + 1]!];
      factors.set([re, im, -im, re], 4 * n);
    }
    return factors;
  }

  private async computeWeights(workshop: Workshop): Promise<void> {
    const { host } = workshop;
    const { sorted, memory, side } = this;
    const { shape, spreading } = side;
    memory.weights = this.reals(workshop, weightLayoutOf(shape).stride * shape.capacity);
    const places = workshop.reals(sorted.places.length);
    const launches = new LaunchList(host, [{ kernel: weightsKernel(shape, spreading), memory: { ...memory, places } }]);
    try {
      await workshop.fill(places, sorted.places);
      await host.cache.filled();
      for (const program of launches.bind([])) {
        await program.run();
        program.release();
      }
    } finally {
      launches.release();
      places.free();
    }
  }
}
