/**
 * A device as users hold it: plans and memory.
 */
import type { Backend, DeviceKind } from '../devices/device.ts';
import { type DirectionPlan, planDirection } from '../plan/planner.ts';
import type { DeviceProfile } from '../plan/profile.ts';
import { type Direction, FftError, normalizeProblem, type Problem, type ProblemInput } from '../problem/index.ts';
import { KernelCache } from './cache.ts';
import { DeviceMemory } from './memory.ts';
import { Plan, type PlanHost } from './plan.ts';
import { DirectionProgram } from './program.ts';
import { parseSavedPlan } from './saved.ts';

export interface PlanOptions {
  /** Text from `plan.serialize()` for the same problem and device: planning is skipped. */
  readonly from?: string;
}

/** Direction plans that a device remembers: pure data, a few kilobytes each. */
const REMEMBERED = 256;

export class Device {
  private readonly backend: Backend;
  private readonly cache: KernelCache;
  private readonly plans = new Set<Plan>();
  private readonly remembered = new Map<string, DirectionPlan>();
  private closed = false;

  /** @internal Made by `openDevice`. */
  constructor(backend: Backend) {
    this.backend = backend;
    this.cache = new KernelCache(backend);
  }

  get kind(): DeviceKind {
    return this.backend.kind;
  }

  /** For people. */
  get name(): string {
    return this.backend.name;
  }

  /** What the planner knows about the device. */
  get profile(): DeviceProfile {
    return this.backend.profile;
  }

  /**
   * Plans a transform: chooses its decomposition, writes and compiles its kernels, and warms them up.
   *
   * @param problem the problem, or a bbfft descriptor such as `scfo1024*16`.
   * @throws FftError (as a rejection): what is wrong with the problem, `out-of-memory`, `compile-failed`, `device-closed`.
   */
  async plan(problem: ProblemInput | string, options: PlanOptions = {}): Promise<Plan> {
    this.check();
    const normal = normalizeProblem(problem);
    if (options.from !== undefined) {
      for (const [direction, saved] of parseSavedPlan(options.from, normal, this.backend)) {
        this.remember(planKey(normal, direction, false), saved);
      }
    }
    const host: PlanHost = {
      backend: this.backend,
      program: (of, direction, throughWork) => this.program(of, direction, throughWork),
      forget: (plan) => this.plans.delete(plan),
    };
    const plan = new Plan(host, normal);
    this.plans.add(plan);
    const kernels = plan.compiledKernels;
    try {
      await this.backend.warmUp(kernels);
    } catch (error) {
      plan.destroy();
      throw error;
    }
    return plan;
  }

  /**
   * Allocates device memory.
   * @param bytes at least; `plan.input.bytes` and `plan.output.bytes` say what a plan needs.
   * @param precision of the numbers that `memory.array` shows, where the host can see the memory.
   * @throws FftError `invalid-argument`, `out-of-memory`, `device-closed`
   */
  alloc(bytes: number, precision: 'single' | 'double' = 'single'): DeviceMemory {
    this.check();
    if (!Number.isSafeInteger(bytes) || bytes <= 0) {
      throw new FftError(
        'invalid-argument',
        `alloc was asked for ${String(bytes)} bytes; it takes a positive whole number.`,
      );
    }
    if (precision !== 'single' && precision !== 'double') {
      throw new FftError(
        'invalid-argument',
        `alloc was asked for precision ${String(precision)}; it takes 'single' or 'double'.`,
      );
    }
    return new DeviceMemory(this.backend.allocate(bytes), precision === 'single' ? 'f32' : 'f64');
  }

  /** Resolves when all work that was enqueued has run. */
  async finish(): Promise<void> {
    this.check();
    await this.backend.finish();
  }

  /** Destroys all plans and memory of the device. A second call does nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const plan of [...this.plans]) plan.destroy();
    this.cache.clear();
    this.remembered.clear();
    this.backend.close();
  }

  private check(): void {
    if (this.closed)
      throw new FftError('device-closed', 'This device has been closed; open another with openDevice().');
  }

  private program(problem: Problem, direction: Direction, throughWork: boolean): DirectionProgram {
    this.check();
    const key = planKey(problem, direction, throughWork);
    let plan = this.remembered.get(key);
    if (plan) this.remembered.delete(key);
    else plan = planDirection(problem, direction, this.backend.profile, throughWork);
    this.remember(key, plan);
    return new DirectionProgram(plan, problem, this.backend, this.cache);
  }

  /** Keeps a plan as the most recent one; the oldest is forgotten. */
  private remember(key: string, plan: DirectionPlan): void {
    this.remembered.set(key, plan);
    if (this.remembered.size <= REMEMBERED) return;
    for (const oldest of this.remembered.keys()) {
      this.remembered.delete(oldest);
      return;
    }
  }
}

function planKey(problem: Problem, direction: Direction, throughWork: boolean): string {
  return `${direction}${throughWork}${JSON.stringify(problem)}`;
}
