/**
 * `plan.enqueue`: one direction of a plan over memory that the caller manages, appended to the device's work.
 */
import type { Backend, BoundProgram, EncodeTarget } from '../devices/device.ts';
import { FftError } from '../problem/index.ts';
import {
  type ComplexData,
  type Data,
  deviceExtents,
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

/** Memory for one run of a direction: memory of the device, or the caller's own (`ForeignMemory`). */
export interface MemoryOptions {
  readonly input?: ComplexData;
  readonly output?: ComplexData;
  /**
   * VkFFT's main buffer, at least `plan.bytes.work` bytes: intermediate results go here, so that the input is only read
   * and the output only written by the last launch.
   */
  readonly work?: Data;
  /** Scratch of `plan.bytes.temp` bytes instead of the plan's own. */
  readonly temp?: Data;
  /**
   * Elements before the data in each array of a side: complex numbers of an interleaved side, reals of a planar one. They
   * add to the problem's own `offsets`.
   */
  readonly offsets?: { readonly input?: number; readonly output?: number };
}

/** Memory for `enqueue`, and where the work is appended: what the kind of device takes. */
export interface EnqueueOptions extends MemoryOptions {
  /** `webgpu`: a `GPUCommandEncoder` or `GPUComputePassEncoder` of the plan's device, which the caller ends and submits. */
  readonly encoder?: unknown;
  /** `cuda`, `hip`: a stream of the caller. */
  readonly stream?: unknown;
  /** `opencl`: a command queue of the caller. */
  readonly queue?: unknown;
}

export const MEMORY_OPTIONS = ['input', 'output', 'work', 'temp', 'offsets'] as const;
const TARGETS: readonly EncodeTarget[] = ['encoder', 'stream', 'queue'];
const OPTIONS = { works: [...MEMORY_OPTIONS, ...TARGETS], planned: ['kernel'] };

/**
 * @returns a promise of completion; where the work was appended to the caller's own, of its being accepted.
 * @throws FftError at once, before anything is appended: `unknown-field`, `unsupported-feature`, `missing-buffer`,
 * `foreign-buffer`, `buffer-too-small`, `buffer-usage`, `misaligned-buffer`, `aliased-buffers`, `destroyed`,
 * `invalid-encoder`
 */
export function enqueue(host: RunnerHost, options: EnqueueOptions): Promise<void> {
  host.check();
  checkOptions(options, OPTIONS, 'enqueue');
  const [name, another] = TARGETS.filter((target) => options[target] !== undefined);
  if (another) {
    throw new FftError('invalid-argument', `enqueue was given both ${name} and ${another}; one of them is enough.`);
  }
  if (name !== undefined) requireTarget(host.backend, name);
  const bound = bindMemory(host, options, 'enqueue');
  try {
    if (name === undefined) return unattended(bound.run());
    return unattended(Promise.resolve(bound.encode!(options[name])));
  } finally {
    bound.release();
  }
}

/** @throws FftError `unsupported-feature` where the device appends to something else, or to its own work only. */
function requireTarget({ kind, target }: Backend, name: EncodeTarget): void {
  if (name === target) return;
  const instead = target
    ? `takes '${target}' instead of '${name}'`
    : `appends to its own work only; leave out '${name}'`;
  throw new FftError('unsupported-feature', `enqueue on a ${kind} device ${instead}.`, { path: `enqueue.${name}` });
}

/** Nobody has to wait for it: a failure that nobody asked about must not end the process. */
function unattended(done: Promise<void>): Promise<void> {
  done.catch(() => undefined);
  return done;
}

/**
 * Checks the memory of a call and binds the direction to it.
 * @param what the call, in messages.
 */
export function bindMemory(host: RunnerHost, options: MemoryOptions, what: string): BoundProgram {
  const { backend, read, written, inPlace } = host;
  const { input, output, work, temp } = options;
  const from = input ?? (inPlace ? output : undefined);
  const to = output ?? (inPlace ? input : undefined);
  if (!from || !to) {
    throw new FftError(
      'missing-buffer',
      `${what} needs ${from ? 'output' : 'input'}: memory of this device, from device.alloc.`,
    );
  }
  const skip = offsetsOf(options, inPlace, what);
  const source = partsOf(from, read, 'input', backend, skip.input);
  const target = partsOf(to, written, 'output', backend, skip.output);
  if (![...source, ...target].every(({ device }) => device)) {
    throw new FftError(
      'foreign-buffer',
      `${what} takes memory of this device only; use forward or inverse for host arrays.`,
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
    ...(workAt ? deviceExtents(workAt, workBytes, 'work') : []),
    ...(tempAt ? deviceExtents(tempAt, tempBytes, 'temp') : []),
  ]);
  return program.bind({ input: sideBinding(source), output: sideBinding(target), work: workAt, temp: tempAt });
}

/** @throws FftError `unknown-field`, `invalid-argument` */
/** @throws FftError `unknown-field`, `invalid-argument` */
export function offsetsOf(
  { offsets = {} }: Pick<MemoryOptions, 'offsets'>,
  inPlace: boolean,
  what: string,
): { input: number; output: number } {
  checkOptions(offsets, { works: ['input', 'output'] }, `${what}.offsets`);
  for (const [side, offset] of Object.entries(offsets)) {
    if (offset === undefined || (Number.isSafeInteger(offset) && offset >= 0)) continue;
    throw new FftError(
      'invalid-argument',
      `${what}.offsets.${side} is ${String(offset)}; it counts elements, from 0 up.`,
    );
  }
  const { input, output } = offsets;
  // In place, one of them speaks for both.
  return inPlace
    ? { input: input ?? output ?? 0, output: output ?? input ?? 0 }
    : { input: input ?? 0, output: output ?? 0 };
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
