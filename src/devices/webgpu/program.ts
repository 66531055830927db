/** Programs of bound steps, which are submitted at once, timed, or appended to the caller's encoder. */
import { FftError, reasonOf } from '../../problem/errors.ts';
import { DeviceProgram, requireRepeats } from '../common/program.ts';
import type { BoundSteps, WebGpuHost } from './bound.ts';
import type { WebGpuBuffer } from './memory.ts';
import { hasMethod } from './options.ts';
import { milliseconds } from './timing.ts';
import { type GpuWork, refusal } from './work.ts';

const ENCODER_ENDED = 'The encoder takes no more commands';

export class WebGpuProgram extends DeviceProgram<WebGpuBuffer> {
  private readonly work: GpuWork;
  /** The bound steps, which other programs may share. */
  private readonly steps: BoundSteps;

  constructor(host: WebGpuHost, steps: BoundSteps) {
    super(host, steps.buffers);
    this.work = host.work;
    this.steps = steps;
  }

  run(): Promise<void> {
    const { work, steps } = this;
    try {
      this.requireUsable();
      const judged = work.submit((pass) => steps.record(pass));
      const done = work.submitted();
      return work.track(
        steps.judge(judged).then((error) => {
          if (error) throw refusal(error, 'launch-failed', 'The GPU refused a launch');
          return done;
        }),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The caller's encoder or pass must be of the same `GPUDevice`. Each WebGPU call has an error scope of its own: a scope over several
   * calls would catch errors of the caller's calls in between, and the caller's own scopes could not be nested with it.
   */
  encode(target: unknown): Promise<void> {
    const { work, steps } = this;
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
        steps.record(pass);
        if (!isPass) pass.end();
      } catch (error) {
        thrown = error;
      }
    });
    if (thrown) throw new FftError('invalid-encoder', `${ENCODER_ENDED}: ${reasonOf(thrown)}`, { cause: thrown });
    return work.track(
      steps.judge(judged).then((error) => {
        if (error) throw refusal(error, 'invalid-encoder', ENCODER_ENDED);
      }),
    );
  }

  async time(repeats: number): Promise<number> {
    requireRepeats(repeats);
    this.requireUsable();
    const { work, steps } = this;
    await work.track(steps.settled());
    return work.track(milliseconds(work, repeats, (pass) => steps.record(pass)));
  }

  protected override requireUsable(): void {
    this.work.requireOpen();
    this.steps.requireSound();
    super.requireUsable();
  }
}
