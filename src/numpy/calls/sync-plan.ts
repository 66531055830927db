/**
 * A plan with device memory for its input and output. Data is written directly where the plan reads it, and results are made from the memory that it
 * writes: the caller's array is read once, and only the result is allocated.
 */
import type { Device, DeviceMemory, Plan } from '../../engine/index.ts';
import { copyInto } from '../../problem/input/bytes.ts';
import { copyOfFloats, type Floats } from '../arrays/memory.ts';
import type { DenseProblem } from './problem.ts';
import type { WorkStep } from './work.ts';

/** The memory of one side, and views of it for host code. */
interface SideMemory {
  readonly memory: DeviceMemory;
  readonly array: Floats;
}

interface PlanMemory {
  readonly read: SideMemory;
  readonly written: SideMemory;
}

export class SyncPlan {
  private readonly device: Device;
  private readonly plan: Plan<DenseProblem>;
  private places: PlanMemory | undefined;

  /** @param problem with one direction. @throws FftError errors of `planSync` */
  constructor(device: Device, problem: DenseProblem) {
    this.device = device;
    this.plan = device.planSync(problem);
  }

  /**
   * Transforms data.
   * @returns a new array
   * @throws FftError `out-of-memory`, and errors of `forwardSync`
   */
  transform({ direction, fill }: WorkStep, data: Floats): Floats {
    const { read, written } = (this.places ??= this.place(direction));
    if (fill) fill(read.array, data);
    else copyInto(read.array, data);
    if (direction === 'forward') this.plan.forwardSync(read.memory, written.memory);
    else this.plan.inverseSync(read.memory, written.memory);
    return copyOfFloats(written.array);
  }

  destroy(): void {
    this.plan.destroy();
    this.places?.read.memory.free();
    this.places?.written.memory.free();
    this.places = undefined;
  }

  private place(direction: WorkStep['direction']): PlanMemory {
    const { input, output } = this.plan;
    const [read, written] = direction === 'forward' ? [input, output] : [output, input];
    const first = this.allocate(read.bytes);
    try {
      return { read: first, written: this.allocate(written.bytes) };
    } catch (error) {
      first.memory.free();
      throw error;
    }
  }

  private allocate(bytes: number): SideMemory {
    const memory = this.device.alloc(bytes, this.plan.problem.precision as 'single' | 'double');
    return { memory, array: memory.array as Floats };
  }
}
