/** One device and one plan at a time, and the CPU plans in double precision that results are measured by. */
import { type Device, FftError, type OpenableKind, openDevice, type Plan, type ProblemInput } from 'omnifft';

export type Direction = 'forward' | 'inverse';

export interface Planned {
  readonly device: Device;
  readonly plan: Plan;
  /** What is shown: the only direction, or forward. */
  readonly direction: Direction;
  /** How long planning and compiling took. */
  readonly milliseconds: number;
  /** The device has made this plan before, and remembers it: planning it took no search and no compiling. */
  readonly remembered: boolean;
}

interface Opened {
  readonly key: string;
  readonly device: Device;
}

export class Session {
  private opened: Opened | undefined;
  private judge: Device | undefined;
  private plan: Plan | undefined;
  /** Problems that the open device has planned. */
  private readonly planned = new Set<string>();

  /**
   * Plans a problem on a device; the plan before is destroyed.
   * @param threads of the CPU device; its default when left out
   * @throws FftError whatever is wrong with device or problem
   */
  async make(problem: ProblemInput | string, kind: OpenableKind, threads: number | undefined): Promise<Planned> {
    const count = kind === 'cpu' ? threads : undefined;
    let device = await this.open(kind, count);
    let start = performance.now();
    let plan: Plan;
    try {
      plan = await device.plan(problem);
    } catch (error) {
      if (!(error instanceof FftError && error.code === 'device-lost')) throw error;
      // A device that is gone does not come back, but another can be opened.
      this.close();
      device = await this.open(kind, count);
      start = performance.now();
      plan = await device.plan(problem);
    }
    const milliseconds = performance.now() - start;
    this.plan?.destroy();
    this.plan = plan;
    const normal = JSON.stringify(plan.problem);
    const remembered = this.planned.has(normal);
    this.planned.add(normal);
    return { device, plan, direction: plan.directions[0] ?? 'forward', milliseconds, remembered };
  }

  /** The same problem in double precision on one thread of the CPU. The caller destroys it. */
  async reference(plan: Plan, directions: 'both' | Direction): Promise<Plan> {
    this.judge ??= await openDevice('cpu', { threads: 1 });
    const double = { precision: 'double', storage: 'double', edgeStorage: 'double' } as const;
    return this.judge.plan({ ...plan.problem, ...double, tuning: {}, directions });
  }

  private async open(kind: OpenableKind, threads: number | undefined): Promise<Device> {
    const key = `${kind} ${threads ?? ''}`;
    if (this.opened?.key === key) return this.opened.device;
    this.close();
    const device = await openDevice(kind, threads === undefined ? {} : { threads });
    this.opened = { key, device };
    return device;
  }

  private close(): void {
    this.plan?.destroy();
    this.plan = undefined;
    this.opened?.device.close();
    this.opened = undefined;
    this.planned.clear();
  }
}
