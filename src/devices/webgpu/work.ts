/**
 * Work in flight on a `GPUDevice`, and its failures. WebGPU validates most calls later, asynchronously: error scopes
 * bring the results back to their calls, and the loss of the device ends all that waits.
 */
import { FftError, type FftErrorCode, reasonOf } from '../../problem/errors.ts';

/**
 * The longest delay between the failures that a loss of the device causes and the report of the loss. Firefox checks every 100 ms, so the report
 * is up to that late, and later on a busy processor. Only unexpected failures wait for it in vain.
 */
const GRACE_MILLISECONDS = 2000;

/** The reason why no work runs any more. */
interface DeviceEnd {
  readonly code: FftErrorCode;
  readonly message: string;
  readonly cause?: unknown;
}

export class GpuWork {
  readonly gpu: GPUDevice;
  private readonly waiting = new Set<(reason: unknown) => void>();
  /** Callbacks that wait for an end of the device, which would explain a failure. */
  private readonly expecting = new Set<() => void>();
  private end: DeviceEnd | undefined;
  private ending: Promise<void> | undefined;

  constructor(gpu: GPUDevice) {
    this.gpu = gpu;
    void gpu.lost.then((info) => {
      const why = info.message ? `: ${info.message}` : '';
      this.finish({
        code: 'device-lost',
        message: `The GPU device was lost (${info.reason ?? 'unknown'}${why}). Open a device again and plan anew.`,
        cause: info,
      });
    });
  }

  /** @throws FftError `device-closed`, `device-lost` */
  requireOpen(): void {
    if (this.end) throw this.failure(this.end);
  }

  /** Ends the device: rejects all waiting and later work. Only the first end counts. */
  finish(end: DeviceEnd): void {
    if (this.end) return;
    this.end = end;
    for (const reject of this.waiting) reject(this.failure(end));
    this.waiting.clear();
    for (const heard of this.expecting) heard();
  }

  /** Resolves when the end of the device is reported, or when the time for such a report is over. */
  private endOrTimeout(): Promise<void> {
    return new Promise((resolve) => {
      const heard = (): void => {
        clearTimeout(timer);
        this.expecting.delete(heard);
        resolve();
      };
      const timer = setTimeout(heard, GRACE_MILLISECONDS);
      this.expecting.add(heard);
    });
  }

  /** The promise, which is also rejected when the device is lost: WebGPU itself might resolve it then, or never settle it. */
  track<T>(promise: Promise<T>): Promise<T> {
    const { end } = this;
    if (end) {
      promise.catch(() => undefined);
      return Promise.reject(this.failure(end));
    }
    return new Promise((resolve, reject) => {
      this.waiting.add(reject);
      promise.then(
        (value) => {
          this.waiting.delete(reject);
          resolve(value);
        },
        async (error) => {
          // A promise of a lost device may be rejected before the device's own `lost` promise settles, with an error of
          // WebGPU's own, or with a result whose meaning is undefined.
          const isKnown = error instanceof FftError && error.code !== 'launch-failed' && error.code !== 'device-lost';
          if (!isKnown && !this.end) await this.endOrTimeout();
          this.waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Waits for the result of an error scope. @throws FftError (as a rejection) as `refusal`, and as `track` */
  accepted(verdict: Promise<GPUError | null>, what: string): Promise<void> {
    return this.track(
      verdict.then((error) => {
        if (error) throw refusal(error, 'launch-failed', what);
      }),
    );
  }

  /**
   * Makes a call that WebGPU validates later.
   * @returns a promise of the call's error, null if there was none.
   */
  judged(filters: readonly GPUErrorFilter[], act: () => void): Promise<GPUError | null> {
    const { gpu } = this;
    for (const filter of filters) gpu.pushErrorScope(filter);
    let verdicts: Promise<GPUError | null>[] = [];
    try {
      act();
    } finally {
      // A lost device gives no result: `track` reports the loss.
      verdicts = filters.map(() => gpu.popErrorScope().catch(() => null));
    }
    if (verdicts.length === 1) return verdicts[0]!;
    return Promise.all(verdicts).then((errors) => errors.find((error) => error) ?? null);
  }

  /**
   * Submits one pass.
   * @param after appends further commands to the encoder.
   * @returns as `judged`.
   */
  submit(
    record: (pass: GPUComputePassEncoder) => void,
    timestampWrites?: GPUComputePassTimestampWrites,
    after?: (encoder: GPUCommandEncoder) => void,
  ): Promise<GPUError | null> {
    const { gpu } = this;
    return this.judged(['validation'], () => {
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass(timestampWrites ? { timestampWrites } : {});
      record(pass);
      pass.end();
      after?.(encoder);
      gpu.queue.submit([encoder.finish()]);
    });
  }

  /**
   * Resolves when all work has run that is submitted before the current task of the event loop ends: calls in one task wait
   * together.
   */
  submitted(): Promise<void> {
    if (!this.ending) {
      const { gpu } = this;
      this.ending = Promise.resolve().then(() => {
        this.ending = undefined;
        return gpu.queue.onSubmittedWorkDone();
      });
      // A caller that awaits this promise gets the failure; callers whose calls have failed already do not await it.
      this.ending.catch(() => undefined);
    }
    return this.ending;
  }

  private failure({ code, message, cause }: DeviceEnd): FftError {
    return new FftError(code, message, { cause });
  }
}

/** WebGPU's messages about buffers, as its implementations (Dawn, wgpu, WebKit) phrase them, with this library's error codes. */
const MEANINGS: readonly (readonly [RegExp, FftErrorCode, string])[] = [
  [/destroyed/i, 'destroyed', 'A buffer of this call has been destroyed'],
  [/while mapped|is mapped|still mapped/i, 'buffer-usage', 'A buffer of this call is mapped; unmap it first'],
  [
    /cannot be used with \[?(Device|Queue)|different device|another device|device mismatch|doesn't match device|not valid to use with/i,
    'foreign-buffer',
    'A buffer of this call belongs to another GPUDevice',
  ],
  [/usages?\b.*storage|storage.*\busages?\b/i, 'buffer-usage', 'A buffer of this call lacks the usage STORAGE'],
];

const LOST = /device (is|was) lost|device lost/i;

/** The error for a lost device, if WebGPU's error says that the device is lost. */
export function lossIn(error: unknown): FftError | undefined {
  const message = reasonOf(error);
  if (!LOST.test(message)) return undefined;
  return new FftError('device-lost', `The GPU device was lost: ${message}`, { cause: error });
}

/** An error of WebGPU as an `FftError`. */
export function refusal(error: GPUError, code: FftErrorCode, what: string): FftError {
  const loss = lossIn(error);
  if (loss) return loss;
  const known = MEANINGS.find(([pattern]) => pattern.test(error.message));
  return new FftError(known?.[1] ?? code, `${known?.[2] ?? what}: ${reasonOf(error)}`, { cause: error });
}
