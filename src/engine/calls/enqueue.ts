/**
 * `plan.enqueue`: one direction of a plan over memory that the caller manages, appended to the device's work.
 *
 * The memory of each direction's last call is remembered and not checked again (`EnqueuedCall`).
 */

import type { Backend, Binding, BoundProgram, DeviceBuffer, EncodeTarget, Stretch } from '../../devices/device.ts';
import { show } from '../../problem/errors.ts';
import { FftError } from '../../problem/index.ts';
import {
  adoptedBuffer,
  type ComplexData,
  checkedParts,
  type Data,
  deviceExtents,
  extentsOf,
  type Part,
  refuseOverlap,
  type SideFacts,
  scratchBinding,
  sideExtents,
} from '../arguments/arguments.ts';
import { DeviceMemory } from '../arguments/memory.ts';
import { type Arrays, boundOperands, operandParts, readArrays, readFactorAnd } from '../arguments/operands.ts';
import { readOptions } from '../arguments/options.ts';
import { type Given, mayChange, readData, readMemory } from '../arguments/read-data.ts';
import type { ProgramBindings, Runnable, SideBinding } from '../programs/program.ts';
import { hasHazard, type MemoryAccess, type OrderedCall, quiet, refuseHazard, runInOrder } from './call-hazards.ts';
import { type RunnerHost, sideBinding } from './runner.ts';

/** Memory for one run of a direction: memory of the device, or the caller's own (`ForeignMemory`). */
export interface MemoryOptions<Input = ComplexData, Output = ComplexData> {
  /** Memory that the direction reads: `length` elements (`bytes` bytes) of that side of the plan, `offsets` added; two planes if it is planar. */
  readonly input?: Input;
  /** Memory that the direction writes, likewise. */
  readonly output?: Output;
  /**
   * VkFFT's main buffer, at least `plan.bytes.work` bytes: intermediate results go here, so that the input is only read
   * and the output only written by the last launch.
   */
  readonly work?: Data;
  /** Scratch of `plan.bytes.temp` bytes instead of the plan's own. */
  readonly temp?: Data;
  /**
   * Elements before the data in each array of a side: complex numbers of an interleaved side, reals of a planar or a real one. They
   * add to the problem's own `offsets`. For `convolve`, `kernel` is the number of complex numbers before the spectrum.
   */
  readonly offsets?: { readonly input?: number; readonly output?: number; readonly kernel?: number };
  /** Memory of the arrays that the direction's callbacks load from, by their names in `callbacks.arrays`. */
  readonly arrays?: Arrays;
  /** For `convolve`: a prepared kernel; or, if the problem says `convolution.kernelSpectrum: 'user'`, memory with a spectrum. */
  readonly kernel?: Data;
  /** For the adjoint of a convolution with respect to its kernel: the signal. */
  readonly signal?: ComplexData;
}

/** Memory for `enqueue`, and the encoder, stream or queue to append to, as the kind of device has it. */
export interface EnqueueOptions<Input = ComplexData, Output = ComplexData> extends MemoryOptions<Input, Output> {
  /** `webgpu`: a `GPUCommandEncoder` or `GPUComputePassEncoder` of the plan's device, which the caller ends and submits; `vulkan`: a `VkCommandBuffer`, `level-zero`: a `ze_command_list_handle_t`, likewise. */
  readonly encoder?: unknown;
  /** `cuda`, `hip`: a stream of the caller. */
  readonly stream?: unknown;
  /** `opencl`: a command queue of the caller. */
  readonly queue?: unknown;
}

export const MEMORY_OPTIONS = ['input', 'output', 'work', 'temp', 'offsets', 'arrays', 'kernel', 'signal'] as const;
const TARGETS: readonly EncodeTarget[] = ['encoder', 'stream', 'queue'];
const OPTIONS = { works: [...MEMORY_OPTIONS, ...TARGETS] };

/**
 * Appends one direction of a plan to a device's work. It waits for earlier waiting calls that use the same memory; work for the caller's
 * own encoder, stream or queue cannot wait, and is refused then.
 * @returns a promise of completion; if the work was appended to the caller's own, the promise only says that it was accepted.
 * @throws FftError at once, before anything is appended: `unknown-field`, `unsupported-feature`, `missing-buffer`,
 * `foreign-buffer`, `buffer-too-small`, `buffer-usage`, `misaligned-buffer`, `aliased-buffers`, `destroyed`,
 * `invalid-encoder`, `invalid-argument`, `wrong-array-type`, `wrong-length`, `detached-array`, `direction-not-planned`,
 * `device-closed`, `device-lost`
 */
export function enqueue(host: RunnerHost, options: EnqueueOptions): Promise<void> {
  host.check();
  const own = readQuickly(options) ?? readOptions(options, OPTIONS, 'enqueue');
  const name = encodeTarget(own);
  if (name !== undefined) requireTarget(host.backend, name);
  const requested = enqueuedMemory(host, own, 'enqueue');
  const checked = checkedOnce(host, requested, 'enqueue');
  const call = quiet() ? undefined : orderedCall(host, checked);
  if (call && name !== undefined) refuseHazard(call);
  const bound = checked.program.bind(checked.places);
  if (call && hasHazard(call)) return unattended(defer(host, requested, bound, call));
  try {
    if (name === undefined) return unattended(bound.run());
    return unattended(Promise.resolve(bound.encode!(own[name])));
  } finally {
    bound.release();
  }
}

const NO_OPTIONS: { readonly [name in keyof Required<EnqueueOptions>]: undefined } = {
  ...{ input: undefined, output: undefined, work: undefined, temp: undefined, offsets: undefined },
  ...{ arrays: undefined, kernel: undefined, signal: undefined },
  ...{ encoder: undefined, stream: undefined, queue: undefined },
};

/** Like `readOptions`, but cheaper for plain objects with known names, because `enqueue` is called often for short work. */
function readQuickly(options: EnqueueOptions): EnqueueOptions | undefined {
  try {
    if (Object.getPrototypeOf(options) !== Object.prototype) return undefined;
    // Absent fields are set to undefined, so that none is inherited from a prototype.
    const own: { -readonly [name in keyof EnqueueOptions]: unknown } = { ...NO_OPTIONS };
    for (const name of Object.keys(options) as (keyof EnqueueOptions)[]) {
      if (!Object.hasOwn(NO_OPTIONS, name)) return undefined;
      own[name] = options[name];
    }
    return own as EnqueueOptions;
  } catch {
    return undefined;
  }
}

/** Enqueues a call when its hazards are over. @param bound keeps memory alive that the caller frees in the meantime. */
function defer(host: RunnerHost, requested: EnqueuedMemory, bound: BoundProgram, call: OrderedCall): Promise<void> {
  const run = async () => {
    // In the meantime the plan may have been destroyed or got other temp memory, and memory may have been freed.
    host.resume();
    const { program, places } = checkedOnce(host, requested, 'enqueue');
    const again = program.bind(places);
    const done = again.run();
    again.release();
    await done;
  };
  return runInOrder(call, run).finally(() => bound.release());
}

/** @throws FftError `invalid-argument` */
export function encodeTarget(options: Pick<EnqueueOptions, EncodeTarget>): EncodeTarget | undefined {
  let name: EncodeTarget | undefined;
  for (const target of TARGETS) {
    if (options[target] === undefined) continue;
    if (name) {
      throw new FftError('invalid-argument', `enqueue was given both ${name} and ${target}; one of them is enough.`);
    }
    name = target;
  }
  return name;
}

/** @throws FftError `unsupported-feature` if the device appends to another kind of object, or to its own work only. */
export function requireTarget({ kind, target }: Backend, name: EncodeTarget): void {
  if (name === target) return;
  const instead = target
    ? `takes '${target}' instead of '${name}'`
    : `appends to its own work only; leave out '${name}'`;
  throw new FftError('unsupported-feature', `enqueue on a ${kind} device ${instead}.`, { path: `enqueue.${name}` });
}

/** Marks a promise as handled, so that its rejection does not end the process if the caller ignores it. */
export function unattended(done: Promise<void>): Promise<void> {
  done.catch(() => undefined);
  return done;
}

/** The memory of a call, with defaults for the options that were left out. */
interface EnqueuedMemory {
  readonly input: Given;
  readonly output: Given;
  readonly work: unknown;
  readonly temp: unknown;
  readonly skip: { readonly input: number; readonly output: number; readonly kernel: number };
  /** The arrays of callbacks, or a kernel, in the order of the direction's operands. */
  readonly arrays: readonly unknown[];
}

/** The memory of a call after all checks. */
interface EnqueuedCall {
  readonly program: Runnable;
  readonly places: ProgramBindings;
  readonly skip: EnqueuedMemory['skip'];
  readonly ownTemp: boolean;
}

/** The last checked call of each direction. The key is `host.written`, an object that each direction of each plan has to itself. */
const lastChecked = new WeakMap<SideFacts, EnqueuedCall>();

/**
 * Checks the memory of a call that runs at once and binds the direction to it.
 * @param what the call, in messages.
 * @throws FftError the fault of the memory; `aliased-buffers` also if the call would have to wait for an earlier one.
 */
export function bindMemory(host: RunnerHost, options: MemoryOptions, what: string): BoundProgram {
  const checked = checkedOnce(host, enqueuedMemory(host, options, what), what);
  if (!quiet()) refuseHazard(orderedCall(host, checked));
  return checked.program.bind(checked.places);
}

/** @param options copied fields, which the caller cannot change any more */
function enqueuedMemory(host: RunnerHost, options: MemoryOptions, what: string): EnqueuedMemory {
  const { inPlace } = host;
  const { input, output, work, temp } = options;
  const from = input ?? (inPlace ? output : undefined);
  const to = output ?? (inPlace ? input : undefined);
  if (!from || !to) {
    const missing = inPlace ? 'input or output' : [from ? [] : 'input', to ? [] : 'output'].flat().join(' and ');
    throw new FftError('missing-buffer', `${what} needs ${missing}: memory of this device, from device.alloc.`);
  }
  const skip = offsetsOf(options, host, what);
  const read = readData(from, 'input');
  return {
    input: read,
    output: from === to ? read : readData(to, 'output'),
    work: readMemory(work, 'work'),
    temp: readMemory(temp, 'temp'),
    skip,
    arrays: host.readKernel
      ? readFactorAnd(options[host.factor!], options.arrays, host, what)
      : readArrays(callbackArraysOf(options, what), host, what),
  };
}

/** @throws FftError `invalid-argument` where a transform is given a kernel */
function callbackArraysOf({ arrays, kernel, signal }: MemoryOptions, what: string): Arrays | undefined {
  if (kernel === undefined && signal === undefined) return arrays;
  const given = kernel === undefined ? 'signal' : 'kernel';
  throw new FftError('invalid-argument', `${what} was given a ${given}, which only 'convolve' takes; leave it out.`);
}

function checkedOnce(host: RunnerHost, requested: EnqueuedMemory, what: string): EnqueuedCall {
  const { written } = host;
  let checked = lastChecked.get(written);
  if (!checked || !repeats(host, requested, checked)) {
    checked = checkedCall(host, requested, what);
    if (isLasting(requested)) lastChecked.set(written, checked);
  }
  return checked;
}

/** The accesses of a call. The plan's own temp memory is left out: all calls share it, and the device runs them in order. */
function orderedCall(
  { backend, read, written, workBytes, operands }: RunnerHost,
  { program, places: { input, output, work, temp, operands: loaded }, ownTemp }: EnqueuedCall,
): OrderedCall {
  const accesses = (stretches: readonly Stretch[], writes: boolean) =>
    stretches.map((stretch): MemoryAccess => ({ ...stretch, writes }));
  const scratch = (place: Binding | undefined, bytes: number) => (place ? deviceExtents(place, bytes, '') : []);
  const side = ({ re, im }: SideBinding, facts: SideFacts) =>
    [re, im].flatMap((place) => (place ? sideExtents(place, facts, '') : []));
  const loads = operands.flatMap(({ bound, facts }) => sideExtents(loaded!.get(bound)!, facts, ''));
  const temps = ownTemp ? [] : scratch(temp, program.tempBytes);
  return {
    device: backend,
    accesses: [
      ...accesses([...side(input, read), ...loads], false),
      ...accesses([...side(output, written), ...scratch(work, workBytes), ...temps], true),
    ],
  };
}

/** Whether memory can be recognised by identity at the next call. Views, lists and descriptors cannot, and are checked each time. */
function isLasting({ input, output, work, temp, arrays }: EnqueuedMemory): boolean {
  return [...input, ...output, work, temp, ...arrays].every((part) => !(ArrayBuffer.isView(part) || mayChange(part)));
}

/** Whether the same memory was checked already and still exists: nothing else about a buffer can change. */
function repeats(
  host: RunnerHost,
  requested: EnqueuedMemory,
  { program, places, skip, ownTemp }: EnqueuedCall,
): boolean {
  const { backend, operands } = host;
  const { input, output, work, temp, arrays } = requested;
  return (
    skip.input === requested.skip.input &&
    skip.output === requested.skip.output &&
    skip.kernel === requested.skip.kernel &&
    ownTemp === (temp === undefined) &&
    isSide(input, places.input, 'input', backend) &&
    isSide(output, places.output, 'output', backend) &&
    isBuffer(work, places.work?.buffer, 'work', backend) &&
    operands.every(({ what, bound }, n) => isBuffer(arrays[n], places.operands!.get(bound)!.buffer, what, backend)) &&
    (ownTemp
      ? program.tempBytes === 0 || host.temp(program.tempBytes) === places.temp!.buffer
      : isBuffer(temp, places.temp?.buffer, 'temp', backend))
  );
}

function isSide(given: Given, { re, im }: SideBinding, what: string, backend: Backend): boolean {
  if (im === undefined) return given.length === 1 && isBuffer(given[0], re.buffer, what, backend);
  return isBuffer(given[0], re.buffer, `${what}.re`, backend) && isBuffer(given[1], im.buffer, `${what}.im`, backend);
}

function isBuffer(value: unknown, buffer: DeviceBuffer | undefined, what: string, backend: Backend): boolean {
  if (value === undefined || buffer === undefined) return value === buffer;
  if (buffer.freed || buffer.failure) return false;
  const own = DeviceMemory.bufferOf(value);
  if (own) return own === buffer;
  return !ArrayBuffer.isView(value) && adoptedBuffer(value, what, backend) === buffer;
}

/** Checks the memory of a call. @throws FftError the fault of the memory. */
function checkedCall(
  host: RunnerHost,
  { input: from, output: to, work, temp, skip, arrays }: EnqueuedMemory,
  what: string,
): EnqueuedCall {
  const { backend, read, written, inPlace, operands } = host;
  const source = checkedParts(from, read, 'input', backend, skip.input);
  const target = checkedParts(to, written, 'output', backend, skip.output);
  const loaded = operandParts(arrays, operands, extentsOf(target, written, 'output'), backend, skip.kernel);
  if (![...source, ...target, ...loaded].every(({ device }) => device)) {
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
  const scratch = [
    ...(workAt ? deviceExtents(workAt, workBytes, 'work') : []),
    ...(tempAt ? deviceExtents(tempAt, tempBytes, 'temp') : []),
  ];
  refuseOverlap([...ownExtents, ...scratch]);
  if (scratch.length > 0) operandParts(arrays, operands, scratch, backend, skip.kernel);
  const bindings = loaded.map(({ device }) => device!);
  const places = {
    ...{ input: sideBinding(source), output: sideBinding(target), work: workAt, temp: tempAt },
    operands: boundOperands(operands, bindings),
  };
  return { program, places, skip, ownTemp: temp === undefined };
}

const NO_OFFSETS = { input: 0, output: 0, kernel: 0 };

/** @throws FftError `unknown-field`, `invalid-argument` */
export function offsetsOf(
  { offsets }: Pick<MemoryOptions, 'offsets'>,
  { inPlace, factor }: Pick<RunnerHost, 'inPlace' | 'factor'>,
  what: string,
): EnqueuedMemory['skip'] {
  if (offsets === undefined) return NO_OFFSETS;
  const works = ['input', 'output', ...(factor === 'kernel' ? ['kernel'] : [])];
  const { input, output, kernel = 0 } = readOptions(offsets, { works }, `${what}.offsets`);
  for (const [side, offset] of Object.entries({ input, output, kernel })) {
    if (offset === undefined || (Number.isSafeInteger(offset) && offset >= 0)) continue;
    throw new FftError(
      'invalid-argument',
      `${what}.offsets.${side} is ${show(offset)}; it counts elements, from 0 up.`,
    );
  }
  // In place, the offset of one side holds for both.
  return inPlace
    ? { input: input ?? output ?? 0, output: output ?? input ?? 0, kernel }
    : { input: input ?? 0, output: output ?? 0, kernel };
}

/** @throws FftError `aliased-buffers` where both sides of an in-place plan are not the same memory. */
function refuseTwoPlaces(source: readonly Part[], target: readonly Part[], read: SideFacts, written: SideFacts): void {
  const whole = (parts: readonly Part[], { length, bytes }: SideFacts) =>
    parts.flatMap(({ device }) => deviceExtents(device!, length * bytes, ''));
  const to = whole(target, written);
  const apart = whole(source, read).some(({ of, start }, n) => of !== to[n]!.of || start !== to[n]!.start);
  if (apart) {
    throw new FftError('aliased-buffers', "This plan is 'in-place': input and output must be the same memory.");
  }
}
