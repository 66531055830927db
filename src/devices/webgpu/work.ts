/**
 * What is under way on a `GPUDevice`, and how it may fail. WebGPU judges most calls later, on its own side: error scopes
 * bring its verdicts back to the calls they belong to, and a device that goes away ends everything that waits.
 */
import { FftError, type FftErrorCode, reasonOf } from '../../problem/errors.ts';

/**
 * How long the news of a loss may be behind the failures that it brings. Firefox looks for it every 100 ms, so that it is up
 * to that late, and more where the processor is busy; whoever waits for nothing waits after a failure that nobody expects.
 */
const GRACE_MILLISECONDS = 2000;

/** Why nothing runs any more. */
interface DeviceEnd {
  readonly code: FftErrorCode;
  readonly message: string;
  readonly cause?: unknown;
}

export class GpuWork {
  readonly gpu: GPUDevice;
  private readonly waiting = new Set<(reason: unknown) => void>();
  /** Those who wait for an end that would explain a failure. */
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

  /** Rejects all that waits and all that comes; only the first end counts. */
  finish(end: DeviceEnd): void {
    if (this.end) return;
    this.end = end;
    for (const reject of this.waiting) reject(this.failure(end));
    this.waiting.clear();
    for (const heard of this.expecting) heard();
  }

  /** Resolves with the news of an end, or when it has had its time to come. */
  private news(): Promise<void> {
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

  /** The same promise, but one that is rejected when the device goes away: WebGPU itself might resolve it, or never. */
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
          // What waits for a device that goes away may hear of it before the device's own promise says so: as an error of
          // WebGPU's, or as a verdict that nobody knows the meaning of.
          const isKnown = error instanceof FftError && error.code !== 'launch-failed' && error.code !== 'device-lost';
          if (!isKnown && !this.end) await this.news();
          this.waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Waits for a verdict. @throws FftError (as a rejection) as `refusal`, and as `track` */
  accepted(verdict: Promise<GPUError | null>, what: string): Promise<void> {
    return this.track(
      verdict.then((error) => {
        if (error) throw refusal(error, 'launch-failed', what);
      }),
    );
  }

  /**
   * Does something that WebGPU judges later.
   * @returns a promise of what was wrong with it, null where nothing was.
   */
  judged(filters: readonly GPUErrorFilter[], act: () => void): Promise<GPUError | null> {
    const { gpu } = this;
    for (const filter of filters) gpu.pushErrorScope(filter);
    let verdicts: Promise<GPUError | null>[] = [];
    try {
      act();
    } finally {
      // Where the device is lost there is no verdict: `track` says so.
      verdicts = filters.map(() => gpu.popErrorScope().catch(() => null));
    }
    if (verdicts.length === 1) return verdicts[0]!;
    return Promise.all(verdicts).then((errors) => errors.find((error) => error) ?? null);
  }

  /**
   * Submits one pass.
   * @param after appends to the encoder what comes behind it.
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
   * Resolves when everything has run that is submitted before the calling code comes to an end: calls that are made in one
   * go wait together.
   */
  submitted(): Promise<void> {
    if (!this.ending) {
      const { gpu } = this;
      this.ending = Promise.resolve().then(() => {
        this.ending = undefined;
        return gpu.queue.onSubmittedWorkDone();
      });
      // Whoever waits for it hears of a failure; those whose calls have failed already do not wait.
      this.ending.catch(() => undefined);
    }
    return this.ending;
  }

  private failure({ code, message, cause }: DeviceEnd): FftError {
    return new FftError(code, message, { cause });
  }
}

/** What WebGPU says about buffers, in the words of its implementations (Dawn, wgpu, WebKit), as our codes. */
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

/** An error about a device that is gone, where that is what WebGPU says. */
export function lossIn(error: unknown): FftError | undefined {
  const message = reasonOf(error);
  if (!LOST.test(message)) return undefined;
  return new FftError('device-lost', `The GPU device was lost: ${message}`, { cause: error });
}

/** What WebGPU refused, as an error of ours. */
export function refusal(error: GPUError, code: FftErrorCode, what: string): FftError {
  const loss = lossIn(error);
  if (loss) return loss;
  const known = MEANINGS.find(([pattern]) => pattern.test(error.message));
  return new FftError(known?.[1] ?? code, `${known?.[2] ?? what}: ${reasonOf(error)}`, { cause: error });
}
