/**
 * A plan with memory of its device for what it reads and what it makes. Numbers are written where the plan reads them and
 * results made of what it wrote: no array of the caller's is looked at a second time, and none is made but the result.
 */
import type { Device, DeviceMemory, Plan } from '../../engine/index.ts';
import { copyInto } from '../../problem/input/bytes.ts';
import { copyOfFloats, type Floats } from '../arrays/memory.ts';
import type { DenseProblem } from './problem.ts';
import type { WorkStep } from './work.ts';

/** Memory of one side, and how host code sees it. */
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

  /** @param problem of one direction. @throws FftError those of `planSync` */
  constructor(device: Device, problem: DenseProblem) {
    this.device = device;
    this.plan = device.planSync(problem);
  }

  /**
   * @returns a new array
   * @throws FftError `out-of-memory`, and those of `forwardSync`
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
