/**
 * Bound steps: the pipelines and bind groups of steps with their memory, made once for equal memory and shared by all programs
 * that are bound to it. The program decides when to record them (program.ts).
 */

import { FftError } from '../../problem/errors.ts';
import { type BoundStep, boundSteps, buffersOf, type ProgramHost, requireAligned } from '../common/program.ts';
import type { Binding, ProgramStep } from '../device.ts';
import { arrange } from './arrangement.ts';
import type { Compiler, Variant, WebGpuKernel } from './kernel.ts';
import type { WebGpuBuffer } from './memory.ts';
import type { Limits } from './options.ts';
import { refusal } from './work.ts';

/** Services of the device for its programs. */
export interface WebGpuHost extends Compiler, ProgramHost<WebGpuBuffer, WebGpuKernel> {
  /** A uniform buffer with these numbers. */
  offsets(values: readonly number[]): GPUBuffer;
}

type Slots = readonly (Binding | undefined)[];

/** A step that is ready to be recorded. */
interface WebGpuStep {
  readonly kernel: WebGpuKernel;
  readonly variant: Variant;
  readonly pipeline: GPUComputePipeline;
  /** The bind group of each dispatch. */
  readonly groups: readonly GPUBindGroup[];
}

export class BoundSteps {
  private readonly host: WebGpuHost;
  private readonly slots: Slots;
  private readonly steps: readonly WebGpuStep[];
  readonly buffers: readonly WebGpuBuffer[];
  /** The promise of WebGPU's validation of the pipelines and bind groups; set until it settles. */
  private verdict: Promise<void> | undefined;
  private failure: FftError | undefined;
  /** Whether validation has succeeded: from then on the only possible fault is freed memory. */
  private sound = false;

  /** @throws FftError `internal-error`, `missing-buffer`, `foreign-buffer`, `misaligned-buffer`, `destroyed`, `device-limit` */
  constructor(host: WebGpuHost, steps: readonly ProgramStep[], slots: Slots) {
    this.host = host;
    this.slots = [...slots];
    const bound = boundSteps(host, steps, slots);
    this.buffers = [...buffersOf(bound)];
    const ready: WebGpuStep[] = [];
    const judged = host.work.judged(['validation', 'out-of-memory'], () => {
      for (const step of bound) ready.push(this.ready(step));
    });
    this.steps = ready;
    this.verdict = judged.then((error) => {
      this.verdict = undefined;
      if (error) this.failure = refusal(error, 'launch-failed', 'WebGPU refused the buffers of a call');
    });
  }

  /** Whether binding to this memory again would give the same steps. */
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

  /**
   * Waits for WebGPU to validate the bound steps, then for the result of one use of them. @returns WebGPU's error of that use, or null
   * @throws FftError (as a rejection) if a step itself is invalid
   */
  judge(use: Promise<GPUError | null>): Promise<GPUError | null> {
    return this.sound ? use : this.settled().then(() => use);
  }

  /** Resolves when WebGPU has validated memory, pipelines and bind groups. */
  async settled(): Promise<void> {
    if (this.sound) return;
    const verdicts = [this.verdict];
    for (const { verdict } of this.buffers) verdicts.push(verdict);
    for (const { variant } of this.steps) verdicts.push(variant.verdict);
    await Promise.all(verdicts);
    this.requireSound();
    this.sound = true;
  }

  /** Throws the error that validation has found in the bound steps, if it has found one. @throws FftError */
  requireSound(): void {
    if (this.sound) return;
    for (const { failure } of this.buffers) if (failure) throw failure;
    for (const { variant } of this.steps) if (variant.failure) throw variant.failure;
    if (this.failure) throw this.failure;
  }

  private ready({ kernel, arrays }: BoundStep<WebGpuBuffer, WebGpuKernel>): WebGpuStep {
    const { host } = this;
    const { globals, tables, name } = kernel.kernel;
    const { segments, arrangement, offsets } = arrange(
      arrays.slice(0, globals.length).map((array, n) => ({ ...array, ...kernel.uses[n]! })),
      tables.length,
      host.limits,
      name,
    );
    const variant = kernel.variant(arrangement);
    for (const [n, array] of arrays.entries()) requireAligned(array, variant.program, n, array.byteOffset);
    const resources: GPUBufferBinding[] = segments.map(({ gpu, ...range }) => ({ buffer: gpu, ...range }));
    for (const { buffer, byteOffset } of arrays.slice(globals.length)) {
      requireOneBinding(buffer, host.limits, name);
      resources.push({ buffer: buffer.pieces[0]!.gpu, offset: byteOffset, size: buffer.bytes - byteOffset });
    }
    const { launches, launchSize } = variant.program;
    const groups = Array.from({ length: launches }, (_, n) => {
      // The arguments of a launch: the beginnings of globals, then the first group.
      const given = [...(arrangement.offsets ? offsets : []), ...(launches > 1 ? [n * launchSize] : [])];
      const uniforms = given.length > 0 ? [{ buffer: host.offsets(given) }] : [];
      const entries = [...resources, ...uniforms].map((resource, binding) => ({ binding, resource }));
      return host.work.gpu.createBindGroup({ layout: variant.layout, entries });
    });
    return {
      kernel,
      variant,
      pipeline: variant.now(),
      groups,
    };
  }
}

/** The most bindings of the same steps that are remembered, enough for a few alternating calls. */
const BINDINGS_KEPT = 8;

/** The remembered bindings of steps to memory. They keep neither memory nor bind groups alive. */
export class Bindings {
  private readonly host: WebGpuHost;
  private readonly known = new WeakMap<readonly ProgramStep[], WeakRef<BoundSteps>[]>();

  constructor(host: WebGpuHost) {
    this.host = host;
  }

  /** @throws FftError as `BoundSteps` */
  of(steps: readonly ProgramStep[], slots: Slots): BoundSteps {
    let recent = this.known.get(steps);
    if (!recent) this.known.set(steps, (recent = []));
    for (const remembered of recent) {
      const bound = remembered.deref();
      if (bound?.serves(slots)) return bound;
    }
    const bound = new BoundSteps(this.host, steps, slots);
    recent.unshift(new WeakRef(bound));
    if (recent.length > BINDINGS_KEPT) recent.pop();
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
