/** Steps that are bound to memory: pipelines, bind groups and how many groups each of them runs. */
import { FftError } from '../../problem/errors.ts';
import { requireAligned } from '../alignment.ts';
import type { Argument, Binding, BoundProgram, Step } from '../device.ts';
import { arrange } from './arrangement.ts';
import { type Compiler, type Variant, WebGpuKernel } from './kernel.ts';
import type { WebGpuBuffer, WebGpuMemory } from './memory.ts';
import { hasMethod, type Limits } from './options.ts';
import { milliseconds } from './timing.ts';
import { reasonOf, refusal } from './work.ts';

/** What programs need of their device. */
export interface Machine extends Compiler {
  readonly memory: WebGpuMemory;
  /** A uniform buffer with these numbers. */
  offsets(values: readonly number[]): GPUBuffer;
}

interface BoundStep {
  readonly variant: Variant;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
}

export class WebGpuProgram implements BoundProgram {
  private readonly machine: Machine;
  private readonly steps: BoundStep[] = [];
  private readonly buffers = new Set<WebGpuBuffer>();
  /** Set until WebGPU has judged what was made for this program. */
  private verdict: Promise<void> | undefined;
  private failure: FftError | undefined;
  private released = false;

  constructor(machine: Machine, steps: readonly Step[], slots: readonly (Binding | undefined)[]) {
    this.machine = machine;
    const judged = machine.work.judged(['validation', 'out-of-memory'], () => {
      for (const [number, step] of steps.entries()) this.steps.push(this.bind(step, number, slots));
    });
    this.verdict = judged.then((error) => {
      this.verdict = undefined;
      if (error) this.failure = refusal(error, 'launch-failed', 'WebGPU refused the buffers of a call');
    });
  }

  run(): Promise<void> {
    const { work } = this.machine;
    try {
      this.requireUsable();
      const judged = work.judged(['validation'], () => {
        const encoder = work.gpu.createCommandEncoder();
        const pass = encoder.beginComputePass();
        this.record(pass);
        pass.end();
        work.gpu.queue.submit([encoder.finish()]);
      });
      return work.track(this.outcome(judged, work.gpu.queue.onSubmittedWorkDone()));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The caller's encoder or pass must be of the same `GPUDevice`. */
  encode(target: unknown): Promise<void> {
    const { work } = this.machine;
    this.requireUsable();
    const isPass = hasMethod(target, 'dispatchWorkgroups');
    if (!isPass && !hasMethod(target, 'beginComputePass')) {
      throw new FftError(
        'invalid-encoder',
        'encoder must be a GPUCommandEncoder or a GPUComputePassEncoder that has not ended yet.',
      );
    }
    let thrown: unknown;
    const judged = work.judged(['validation'], () => {
      try {
        const pass = isPass ? (target as GPUComputePassEncoder) : (target as GPUCommandEncoder).beginComputePass();
        this.record(pass);
        if (!isPass) pass.end();
      } catch (error) {
        thrown = error;
      }
    });
    const ended = (cause: unknown) => {
      return new FftError('invalid-encoder', `The encoder takes no more commands: ${reasonOf(cause)}`, { cause });
    };
    if (thrown) throw ended(thrown);
    const accepted = judged.then((error) => {
      if (error) throw ended(error);
    });
    return work.track(this.settled().then(() => accepted));
  }

  async time(repeats: number): Promise<number> {
    this.requireUsable();
    const { work } = this.machine;
    await work.track(this.settled());
    return work.track(milliseconds(work, repeats, (pass) => this.record(pass)));
  }

  release(): void {
    this.released = true;
  }

  private record(pass: GPUComputePassEncoder): void {
    for (const { variant, pipeline, group } of this.steps) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...variant.program.groups);
    }
  }

  /** Ends with what went wrong, or when the work has run. */
  private async outcome(judged: Promise<GPUError | undefined>, done: Promise<unknown>): Promise<void> {
    done.catch(() => undefined);
    await this.settled();
    const error = await judged;
    if (error) throw refusal(error, 'launch-failed', 'The GPU refused a launch');
    await done;
  }

  /** Resolves when WebGPU has judged memory, pipelines and bind groups. */
  private async settled(): Promise<void> {
    const verdicts = [this.verdict];
    for (const { verdict } of this.buffers) verdicts.push(verdict);
    for (const { variant } of this.steps) verdicts.push(variant.verdict);
    if (verdicts.some((verdict) => verdict)) await Promise.all(verdicts);
    this.requireSound();
  }

  /** @throws FftError what is known to be wrong. */
  private requireSound(): void {
    for (const { failure } of this.buffers) if (failure) throw failure;
    for (const { variant } of this.steps) if (variant.failure) throw variant.failure;
    if (this.failure) throw this.failure;
  }

  private requireUsable(): void {
    this.machine.work.requireOpen();
    if (this.released) {
      throw new FftError('destroyed', 'This program was released and cannot run any more; bind it anew.');
    }
    this.requireSound();
    for (const { freed } of this.buffers) {
      if (freed) throw new FftError('destroyed', 'Device memory that this program is bound to was freed.');
    }
  }

  private bind(step: Step, number: number, slots: readonly (Binding | undefined)[]): BoundStep {
    const { machine } = this;
    const { kernel } = step;
    if (!(kernel instanceof WebGpuKernel) || kernel.compiler !== machine || kernel.discarded) {
      throw new FftError('internal-error', `Step ${number} has no kernel of this device that is in use.`);
    }
    const { globals, tables, name } = kernel.kernel;
    const wanted = globals.length + tables.length;
    if (step.arguments.length !== wanted) {
      const given = step.arguments.length;
      throw new FftError('internal-error', `Kernel ${name} takes ${wanted} arrays, ${given} were bound.`);
    }
    const places = step.arguments.map((argument, n) => {
      const array = n < globals.length ? globals[n]! : tables[n - globals.length]!;
      return this.place(argument, slots, array.name, name);
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
    if (arrangement.offsets) resources.push({ buffer: machine.offsets(offsets) });
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    return {
      variant,
      pipeline: variant.now(),
      group: machine.work.gpu.createBindGroup({ layout: variant.layout, entries }),
    };
  }

  private place(
    argument: Argument,
    slots: readonly (Binding | undefined)[],
    array: string,
    kernel: string,
  ): { buffer: WebGpuBuffer; byteOffset: number } {
    const binding = 'fixed' in argument ? argument.fixed : slots[argument.slot];
    if (!binding) throw new FftError('missing-buffer', `Nothing is bound for array ${array} of kernel ${kernel}.`);
    const { buffer } = binding;
    if (!this.machine.memory.owns(buffer)) {
      throw new FftError('foreign-buffer', `What is bound for array ${array} is no memory of this device.`);
    }
    if (buffer.failure) throw buffer.failure;
    if (buffer.freed) throw new FftError('destroyed', `The memory bound for array ${array} was freed.`);
    const byteOffset = binding.byteOffset + ('fixed' in argument ? 0 : argument.byteOffset);
    this.buffers.add(buffer);
    return { buffer, byteOffset };
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
