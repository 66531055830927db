/**
 * `plan.enqueue`: one direction of a plan over memory that the caller manages, appended to the device's work.
 */
import { FftError } from '../problem/index.ts';
import {
  type ComplexData,
  type Data,
  deviceExtent,
  extentsOf,
  type Part,
  partsOf,
  refuseOverlap,
  type SideFacts,
  scratchBinding,
} from './arguments.ts';
import { checkOptions } from './options.ts';
import type { SideBinding } from './program.ts';
import type { RunnerHost } from './runner.ts';

/** Memory for `enqueue`. */
export interface EnqueueOptions {
  readonly input?: ComplexData;
  readonly output?: ComplexData;
  /**
   * VkFFT's main buffer, at least `plan.bytes.work` bytes: intermediate results go here, so that the input is only read
   * and the output only written by the last launch.
   */
  readonly work?: Data;
  /** Scratch of `plan.bytes.temp` bytes instead of the plan's own. */
  readonly temp?: Data;
}

const OPTIONS = {
  works: ['input', 'output', 'work', 'temp'],
  planned: ['kernel', 'offsets', 'encoder', 'stream', 'queue'],
};

/**
 * @returns a promise of completion.
 * @throws FftError at once, before anything is appended: `unknown-field`, `unsupported-feature`, `missing-buffer`,
 * `foreign-buffer`, `buffer-too-small`, `aliased-buffers`, `destroyed`
 */
export function enqueue(host: RunnerHost, options: EnqueueOptions): Promise<void> {
  const { backend, read, written, inPlace } = host;
  host.check();
  checkOptions(options, OPTIONS, 'enqueue');
  const { input, output, work, temp } = options;
  const from = input ?? (inPlace ? output : undefined);
  const to = output ?? (inPlace ? input : undefined);
  if (!from || !to) {
    throw new FftError(
      'missing-buffer',
      `enqueue needs ${from ? 'output' : 'input'}: memory of this device, from device.alloc.`,
    );
  }
  const source = partsOf(from, read, 'input', backend);
  const target = partsOf(to, written, 'output', backend);
  if (![...source, ...target].every(({ device }) => device)) {
    throw new FftError(
      'foreign-buffer',
      'enqueue takes memory of this device only; use forward or inverse for host arrays.',
    );
  }
  const ownExtents = [...extentsOf(target, written, 'output')];
  if (inPlace) refuseTwoPlaces(source, target, read, written);
  else ownExtents.unshift(...extentsOf(source, read, 'input'));
  const program = host.program(work !== undefined);
  const workBytes = host.workBytes;
  const workAt = work === undefined ? undefined : scratchBinding(work, workBytes, 'work', backend);
  const { tempBytes } = program;
  const ownTemp = () => (tempBytes === 0 ? undefined : { buffer: host.temp(tempBytes), byteOffset: 0 });
  const tempAt = temp === undefined ? ownTemp() : scratchBinding(temp, tempBytes, 'temp', backend);
  refuseOverlap([
    ...ownExtents,
    ...(workAt ? [deviceExtent(workAt, workBytes, 'work')] : []),
    ...(tempAt ? [deviceExtent(tempAt, tempBytes, 'temp')] : []),
  ]);
  const bound = program.bind({ input: sideBinding(source), output: sideBinding(target), work: workAt, temp: tempAt });
  const done = bound.run();
  bound.release();
  // Nobody has to wait here: a failure that nobody asked about must not end the process.
  done.catch(() => undefined);
  return done;
}

/** @throws FftError `aliased-buffers` where both sides of an in-place plan are not the same memory. */
function refuseTwoPlaces(source: readonly Part[], target: readonly Part[], read: SideFacts, written: SideFacts): void {
  const to = extentsOf(target, written, 'output');
  const apart = extentsOf(source, read, 'input').some(({ of, start }, n) => of !== to[n]!.of || start !== to[n]!.start);
  if (apart) {
    throw new FftError('aliased-buffers', "This plan is 'in-place': input and output must be the same memory.");
  }
}

function sideBinding(parts: readonly Part[]): SideBinding {
  return { re: parts[0]!.device!, im: parts[1]?.device };
}
