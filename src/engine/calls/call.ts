/**
 * A call that has been checked and bound: its data, the program, and the copies before and after.
 *
 * A transform of 64 points takes 80 ns, so repeating a call must not cost more than that again. A view always shows the same
 * memory, which can only be freed or transferred: for the same arrays nothing else is checked. Other host arrays are copied
 * through the same memory of the device, so the program stays bound to it and only the arrays are checked.
 */
import type { Backend, BoundProgram, DeviceBuffer, RealArray } from '../../devices/device.ts';
import type { ElementRuns, HostArray, PlanarData } from '../../problem/index.ts';
import { arrayClass, arrayLength, bufferOf, copyInto } from '../../problem/input/bytes.ts';
import { type ComplexData, type Data, type SideFacts, sideExtents } from '../arguments/arguments.ts';
import { mayChange } from '../arguments/read-data.ts';
import { type MemoryAccess, quiet, refuseHazard } from './call-hazards.ts';
import { fromDevice, moveResult, stagingArray, toDevice } from './result-staging.ts';
import type { Copy, PlacedPart } from './staging.ts';

export interface CallParts {
  readonly input: ComplexData;
  readonly output: ComplexData;
  readonly from: readonly PlacedPart[];
  /** The written parts; in place, the same list as `from`. */
  readonly to: readonly PlacedPart[];
  readonly read: SideFacts;
  readonly written: SideFacts;
  readonly program: BoundProgram;
  /** The buffers that the program is bound to, each of which others may free. */
  readonly buffers: readonly DeviceBuffer[];
  /** The operands (arrays of callbacks, or a kernel) as the caller gave them. */
  readonly arrays: readonly unknown[];
  /** The places of the operands. */
  readonly operands: readonly { readonly part: PlacedPart; readonly facts: SideFacts }[];
}

export class Call {
  input: ComplexData;
  output: ComplexData;
  readonly program: BoundProgram;
  readonly copiesIn: readonly Copy[];
  readonly copiesOut: readonly Copy[];
  /** The elements of the result's arrays, if these also hold other numbers, which the caller may change during the call. */
  readonly runs: ElementRuns | undefined;
  /** The operands (arrays of callbacks, or a kernel) as the caller gave them. */
  readonly arrays: readonly unknown[];
  /** Whether nothing has to be copied. */
  readonly direct: boolean;
  /** Whether copies go to or from memory that host code cannot see. */
  readonly staged: boolean;
  private readonly sides: Pick<CallParts, 'from' | 'to' | 'read' | 'written' | 'operands'>;
  private readonly buffers: readonly DeviceBuffer[];
  /** The planes of planar sides at the time of the call: the caller may put other planes into the same object later. */
  private readonly planes: {
    readonly input: PlanarData<Data> | undefined;
    readonly output: PlanarData<Data> | undefined;
  };
  /** Whether an argument is a list or descriptor, into which the caller may put another buffer later. */
  private readonly mutable: boolean;
  /** Set if each side is one host array, and operands are single arrays or device memory. */
  private readonly pair: HostPair | undefined;
  /** Set if in addition there is exactly one copy in and one copy out. */
  private readonly one: HostPair | undefined;
  /** True for most calls: there is nothing to copy or `one` is set, the input and output objects identify the call, and it can run at once. */
  readonly simple: boolean;

  constructor({ input, output, from, to, read, written, program, buffers, arrays, operands }: CallParts) {
    this.input = input;
    this.output = output;
    this.program = program;
    this.buffers = buffers;
    this.arrays = arrays;
    this.sides = { from, to, read, written, operands };
    this.planes = { input: givenPlanes(from), output: givenPlanes(to) };
    const source = copiesOfParts(from);
    const target = from === to ? source : copiesOfParts(to);
    // If host code does not see the memory, all of it is copied back, gaps between elements included. These are copied in as
    // well, so that the device never copies memory that nobody has written.
    const unseen = written.runs && from !== to ? target.filter(({ view }) => !view) : [];
    this.copiesIn = [...source, ...copiesOfParts(operands.map(({ part }) => part)), ...unseen];
    this.copiesOut = target;
    this.runs = written.runs;
    this.direct = this.copiesIn.length === 0 && target.length === 0;
    this.staged = [...this.copiesIn, ...target].some(({ view }) => !view);
    const parts = operands.map(({ part }) => part);
    this.mutable = [...from, ...to, ...parts].some(({ given }) => mayChange(given));
    const isPlanar = this.planes.input !== undefined || this.planes.output !== undefined;
    const isFixed = !isPlanar && parts.every(({ given }) => !mayChange(given));
    this.pair = isFixed ? hostPair(source[0], target[0], copiesOfParts(parts)) : undefined;
    const single = this.copiesIn.length === 1 && target.length === 1 && !this.staged && !this.runs;
    this.one = single ? this.pair : undefined;
    const told = !isPlanar && parts.length === 0 && !this.mutable;
    this.simple = told && (this.direct || this.one !== undefined) && program.runSync !== undefined;
  }

  /** The data of a call that waits, as a new object, since the caller may put other planes into the old one. */
  get data(): { readonly input: ComplexData; readonly output: ComplexData } {
    const { from, to } = this.sides;
    const input = callerData(from);
    return { input, output: this.output === this.input ? input : callerData(to) };
  }

  /** The host arrays that the call reads and writes. */
  get hostAccesses(): MemoryAccess[] {
    const accesses = (copies: readonly Copy[], writes: boolean) =>
      copies.map(({ host: { buffer, byteOffset, byteLength } }): MemoryAccess => {
        return { of: buffer, start: byteOffset, end: byteOffset + byteLength, writes };
      });
    return [...accesses(this.copiesIn, false), ...accesses(this.copiesOut, true)];
  }

  /** The device memory that the call reads and writes. */
  get deviceAccesses(): MemoryAccess[] {
    const { from, to, read, written, operands } = this.sides;
    const accesses = (parts: readonly PlacedPart[], facts: SideFacts, writes: boolean) =>
      parts.flatMap(({ device, copy }) =>
        copy ? [] : sideExtents(device, facts, '').map((extent): MemoryAccess => ({ ...extent, writes })),
      );
    return [
      ...accesses(from, read, false),
      ...operands.flatMap(({ part, facts }) => accesses([part], facts, false)),
      ...accesses(to, written, true),
    ];
  }

  /** Whether the call with its copies can finish before it returns: host code sees the memory, and the device is idle. */
  get immediate(): boolean {
    return !this.staged && this.program.immediate === true;
  }

  /** Whether all memory of a simple call still exists. */
  get whole(): boolean {
    const { one } = this;
    if (this.isFreed) return false;
    if (!one) return true;
    try {
      return one.from.host.length === one.from.view!.length && one.to.host.length === one.to.view!.length;
    } catch {
      // The caller has since put a getter on an array that throws. The full check does not use it.
      return false;
    }
  }

  /** Whether any of the device memory has been freed. */
  private get isFreed(): boolean {
    for (let n = 0; n < this.buffers.length; n++) if (this.buffers[n]!.freed) return true;
    return false;
  }

  /** Runs a simple call on the calling thread. */
  runSimply(backend: Backend): void {
    const { one } = this;
    if (one) {
      backend.finishSync?.();
      one.from.view!.set(one.from.host);
    }
    this.program.runSync!();
    if (one) copyInto(one.to.host, one.to.view!);
  }

  /** Whether a new call has the same arguments as this one, and all their memory still exists. */
  repeats(input: ComplexData, output: ComplexData | undefined, arrays: readonly unknown[]): boolean {
    if (input !== this.input || output !== this.output || this.mutable) return false;
    if (!this.hasArrays(arrays) || !this.whole) return false;
    try {
      if (!this.direct && !this.one) {
        for (const { host, view } of this.copiesIn) if (host.length !== view?.length) return false;
        for (const { host, view } of this.copiesOut) if (host.length !== view?.length) return false;
      }
      const { planes } = this;
      return isSamePlanes(input, planes.input) && isSamePlanes(output, planes.output);
    } catch {
      return false;
    }
  }

  /** Whether the operands are the same objects. */
  private hasArrays(arrays: readonly unknown[]): boolean {
    return arrays === this.arrays || arrays.every((array, n) => array === this.arrays[n]);
  }

  /**
   * Puts other host arrays in the place of this call's, with the same memory of the device.
   * @returns false, with nothing changed, if the arrays need the full check.
   */
  adopt(input: ComplexData, output: ComplexData | undefined, arrays: readonly unknown[], backend: Backend): boolean {
    const { pair } = this;
    if (pair === undefined || !this.hasArrays(arrays) || this.isFreed) return false;
    const { from, to, readLength, writtenLength, operands } = pair;
    try {
      // Only `locate` reads properties of the arrays that a caller can fake: a fake leads to the full check, or to a needless copy.
      if (arrayClass(input) !== pair.name || arrayLength(input) !== readLength || backend.locate(input as RealArray)) {
        return false;
      }
      if (from === to) {
        if (input !== output) return false;
      } else {
        if (arrayClass(output) !== pair.name || arrayLength(output) !== writtenLength) return false;
        if (backend.locate(output as RealArray) || bufferOf(input) === bufferOf(output)) return false;
      }
      for (const { host, view } of operands) {
        if (host.length !== view?.length || bufferOf(host) === bufferOf(output)) return false;
      }
    } catch {
      return false;
    }
    this.input = from.host = input as HostArray;
    this.output = to.host = output as HostArray;
    return true;
  }

  /** Drops the references to the caller's arrays. @returns whether the call can still adopt others; if not, it is of no further use. */
  forget(): boolean {
    const { pair, sides } = this;
    if (pair) {
      this.input = this.output = pair.from.host = pair.to.host = RELEASED_ARRAY;
      for (const part of [...sides.from, ...sides.to]) part.given = RELEASED_ARRAY;
    }
    return this.direct || pair?.operands.length === 0;
  }
}

/** The stand-in for released arrays. No caller can pass this array, so comparisons with it fail. */
const RELEASED_ARRAY = new Float32Array(0);

interface HostPair {
  readonly from: Copy;
  readonly to: Copy;
  /** Class of the arrays. */
  readonly name: string | undefined;
  readonly readLength: number;
  readonly writtenLength: number;
  /** Operands that are host arrays. */
  readonly operands: readonly Copy[];
}

function hostPair(from: Copy | undefined, to: Copy | undefined, operands: readonly Copy[]): HostPair | undefined {
  if (!from?.view || !to?.view) return undefined;
  const lengths = { readLength: from.view.length, writtenLength: to.view.length };
  return { from, to, name: arrayClass(from.view), ...lengths, operands };
}

function copiesOfParts(parts: readonly PlacedPart[]): Copy[] {
  return parts.flatMap(({ copy }) => (copy ? [copy] : []));
}

function givenPlanes(parts: readonly PlacedPart[]): PlanarData<Data> | undefined {
  const [re, im] = parts;
  return re && im ? ({ re: re.given, im: im.given } as PlanarData<Data>) : undefined;
}

function callerData(parts: readonly PlacedPart[]): ComplexData {
  return givenPlanes(parts) ?? (parts[0]!.given as ComplexData);
}

function isSamePlanes(data: ComplexData | undefined, planes: PlanarData<Data> | undefined): boolean {
  return (
    planes === undefined || ((data as PlanarData<Data>).re === planes.re && (data as PlanarData<Data>).im === planes.im)
  );
}

/**
 * Runs a call on the calling thread: copies in, runs, copies out. Earlier calls end first.
 * @throws FftError `aliased-buffers` where an earlier call that was not awaited has yet to write memory of this one, or to
 * read what this one would write.
 */
export function runNow(call: Call, backend: Backend): void {
  if (!quiet()) refuseHazard({ device: backend, accesses: [...call.hostAccesses, ...call.deviceAccesses] });
  if (call.simple) return call.runSimply(backend);
  if (call.staged) return runStaged(call, backend);
  const { copiesIn, copiesOut, program, runs } = call;
  if (copiesIn.length > 0) backend.finishSync?.();
  for (const { host, view } of copiesIn) (view as RealArray).set(host);
  program.runSync!();
  for (const { host, view } of copiesOut) moveResult(host, view as RealArray, runs);
}

/** Like `runNow`, with copies by the device, because host code does not see its memory. */
function runStaged({ copiesIn, copiesOut, program, runs }: Call, backend: Backend): void {
  const staged = copiesOut.map(stagingArray);
  for (const copy of copiesIn) backend.uploadSync!(copy.device, toDevice(copy));
  program.runSync!();
  for (const [n, { device }] of copiesOut.entries()) backend.downloadSync!(device, staged[n]!);
  for (const [n, copy] of copiesOut.entries()) moveResult(copy.host, fromDevice(copy, staged[n]!), runs);
}
