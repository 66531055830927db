/**
 * Steps and the memory that they work on: pipelines and bind groups, made once for equal memory and shared by all programs
 * that are bound to it. What is recorded and when is up to the program (program.ts).
 */

import { FftError } from '../../problem/errors.ts';
import { requireAligned } from '../alignment.ts';
import { type BoundArgument, boundArguments } from '../bindings.ts';
import type { Binding, Step } from '../device.ts';
import { arrange } from './arrangement.ts';
import { type Compiler, type Variant, WebGpuKernel } from './kernel.ts';
import type { WebGpuBuffer, WebGpuMemory } from './memory.ts';
import type { Limits } from './options.ts';
import { refusal } from './work.ts';

/** What programs need of their device. */
export interface Machine extends Compiler {
  readonly memory: WebGpuMemory;
  /** A uniform buffer with these numbers. */
  offsets(values: readonly number[]): GPUBuffer;
}

type Slots = readonly (Binding | undefined)[];

interface BoundStep {
  readonly kernel: WebGpuKernel;
  readonly variant: Variant;
  readonly pipeline: GPUComputePipeline;
  /** One for each dispatch. */
  readonly groups: readonly GPUBindGroup[];
}

export class BoundSteps {
  private readonly machine: Machine;
  private readonly slots: Slots;
  private readonly steps: readonly BoundStep[];
  private readonly buffers: readonly WebGpuBuffer[];
  /** Set until WebGPU has judged what was made here. */
  private verdict: Promise<void> | undefined;
  private failure: FftError | undefined;
  /** Everything here was judged and found sound: from then on memory can only be freed. */
  private sound = false;

  /** @throws FftError `internal-error`, `missing-buffer`, `foreign-buffer`, `misaligned-buffer`, `destroyed`, `device-limit` */
  constructor(machine: Machine, steps: readonly Step[], slots: Slots) {
    this.machine = machine;
    this.slots = [...slots];
    const bound: BoundStep[] = [];
    const buffers = new Set<WebGpuBuffer>();
    const judged = machine.work.judged(['validation', 'out-of-memory'], () => {
      for (const [number, step] of steps.entries()) bound.push(this.bind(step, number, slots, buffers));
    });
    this.steps = bound;
    this.buffers = [...buffers];
    this.verdict = judged.then((error) => {
      this.verdict = undefined;
      if (error) this.failure = refusal(error, 'launch-failed', 'WebGPU refused the buffers of a call');
    });
  }

  /** Whether binding to this memory once more would come to the same. */
  serves(slots: Slots): boolean {
    if (this.failure || slots.length !== this.slots.length) return false;
    for (let n = 0; n < slots.length; n++) {
      const [one, other] = [this.slots[n], slots[n]];
      if (one?.buffer !== other?.buffer || one?.byteOffset !== other?.byteOffset) return false;
    }
    for (const { freed } of this.buffers) if (freed) return false;
    for (const { kernel, variant } of this.steps) if (kernel.discarded || variant.failure) return false;
    return true;
  }

  record(pass: GPUComputePassEncoder): void {
    for (const { variant, pipeline, groups } of this.steps) {
      pass.setPipeline(pipeline);
      for (const group of groups) {
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(...variant.program.groups);
      }
    }
  }

  /** @throws FftError what is known to be wrong. */
  requireUsable(): void {
    if (!this.sound) this.requireSound();
    for (const { freed } of this.buffers) {
      if (freed) throw new FftError('destroyed', 'Device memory that this program is bound to was freed.');
    }
  }

  /** What WebGPU says of a use of these steps, after what it says of the steps themselves. @throws FftError (as a rejection) */
  judge(use: Promise<GPUError | null>): Promise<GPUError | null> {
    return this.sound ? use : this.settled().then(() => use);
  }

  /** Resolves when WebGPU has judged memory, pipelines and bind groups. */
  async settled(): Promise<void> {
    if (this.sound) return;
    const verdicts = [this.verdict];
    for (const { verdict } of this.buffers) verdicts.push(verdict);
    for (const { variant } of this.steps) verdicts.push(variant.verdict);
    await Promise.all(verdicts);
    this.requireSound();
    this.sound = true;
  }

  private requireSound(): void {
    for (const { failure } of this.buffers) if (failure) throw failure;
    for (const { variant } of this.steps) if (variant.failure) throw variant.failure;
    if (this.failure) throw this.failure;
  }

  private bind(step: Step, number: number, slots: Slots, buffers: Set<WebGpuBuffer>): BoundStep {
    const { machine } = this;
    const { kernel } = step;
    if (!(kernel instanceof WebGpuKernel) || kernel.compiler !== machine || kernel.discarded) {
      throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
    }
    const { globals, tables, name } = kernel.kernel;
    const places = boundArguments(step, slots).map((argument) => {
      const place = this.place(argument);
      buffers.add(place.buffer);
      return place;
    });
    const { segments, arrangement, offsets } = arrange(
      places.slice(0, globals.length).map((place, n) => ({ ...place, ...kernel.uses[n]! })),
      tables.length,
      machine.limits,
      name,
    );
    const variant = kernel.variant(arrangement);
    for (const [n, { byteOffset }] of places.entries()) requireAligned(kernel.kernel, variant.program, n, byteOffset);
    const resources: GPUBufferBinding[] = segments.map(({ gpu, ...range }) => ({ buffer: gpu, ...range }));
    for (const { buffer, byteOffset } of places.slice(globals.length)) {
      requireOneBinding(buffer, machine.limits, name);
      resources.push({ buffer: buffer.pieces[0]!.gpu, offset: byteOffset, size: buffer.bytes - byteOffset });
    }
    const { launches, launchSize } = variant.program;
    const groups = Array.from({ length: launches }, (_, n) => {
      // What is given at launch: where globals begin, then the first group.
      const given = [...(arrangement.offsets ? offsets : []), ...(launches > 1 ? [n * launchSize] : [])];
      const uniforms = given.length > 0 ? [{ buffer: machine.offsets(given) }] : [];
      const entries = [...resources, ...uniforms].map((resource, binding) => ({ binding, resource }));
      return machine.work.gpu.createBindGroup({ layout: variant.layout, entries });
    });
    return {
      kernel,
      variant,
      pipeline: variant.now(),
      groups,
    };
  }

  private place({ buffer, byteOffset, what }: BoundArgument): { buffer: WebGpuBuffer; byteOffset: number } {
    if (!this.machine.memory.owns(buffer)) {
      throw new FftError('foreign-buffer', `What is bound for ${what} is no memory of this device.`);
    }
    if (buffer.failure) throw buffer.failure;
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for ${what} was freed.`);
    return { buffer, byteOffset };
  }
}

/** Bindings of the same steps that are remembered: a few calls that take turns. */
const REMEMBERED = 8;

/** Which steps are bound to which memory. Nothing is kept alive by being remembered: neither memory nor bind groups. */
export class Bindings {
  private readonly machine: Machine;
  private readonly known = new WeakMap<readonly Step[], WeakRef<BoundSteps>[]>();

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** @throws FftError as `BoundSteps` */
  of(steps: readonly Step[], slots: Slots): BoundSteps {
    let recent = this.known.get(steps);
    if (!recent) this.known.set(steps, (recent = []));
    for (const remembered of recent) {
      const bound = remembered.deref();
      if (bound?.serves(slots)) return bound;
    }
    const bound = new BoundSteps(this.machine, steps, slots);
    recent.unshift(new WeakRef(bound));
    if (recent.length > REMEMBERED) recent.pop();
    return bound;
  }
}

/** @throws FftError `device-limit` where a table exceeds one binding. */
function requireOneBinding({ bytes, pieces }: WebGpuBuffer, limits: Limits, kernel: string): void {
  const { maxStorageBufferBindingSize, maxBufferSize } = limits;
  if (pieces.length === 1 && bytes <= maxStorageBufferBindingSize) return;
  throw new FftError(
    'device-limit',
    `A table of kernel ${kernel} has ${bytes} bytes; the device allows maxStorageBufferBindingSize = ` +
      `${maxStorageBufferBindingSize} and maxBufferSize = ${maxBufferSize}.`,
  );
}
