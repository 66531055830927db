/**
 * Runs one direction of a plan: checks the arguments, binds memory, copies host arrays in and out.
 *
 * The program stays bound to the memory of the last call and the call is remembered (call.ts), so that calls alike cost
 * little more than the launches.
 */
import type { Backend, Binding, BoundProgram, DeviceBuffer, RealArray } from '../../devices/device.ts';
import type { PlanTask } from '../../plan/planner.ts';
import { refuseDetached } from '../../problem/bytes.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import {
  type ComplexData,
  extentsOf,
  type Part,
  partsOf,
  refuseOverlap,
  type SideFacts,
} from '../arguments/arguments.ts';
import { boundOperands, type DirectionOperand, givesTheSame, operandParts, readCall } from '../arguments/operands.ts';
import { isSame, readData } from '../arguments/read-data.ts';
import type { Runnable, SideBinding } from '../programs/program.ts';
import { Call, runNow } from './call.ts';
import { hasHazard, type OrderedCall, quiet, runInOrder, whilePending } from './call-hazards.ts';
import {
  ARRAY_OF_WAITING_CALL,
  fromDevice,
  moveResult,
  newArray,
  requireWhole,
  stagingArray,
  toDevice,
} from './result-staging.ts';
import { Staging } from './staging.ts';

export interface RunnerHost {
  readonly backend: Backend;
  readonly problem: Problem;
  readonly direction: PlanTask;
  /** What the caller calls it: an adjoint's `forward` may be the inverse of its problem. */
  readonly name: PlanTask;
  readonly read: SideFacts;
  readonly written: SideFacts;
  readonly inPlace: boolean;
  /** Arrays that callbacks load from; or the kernel of a convolution. */
  readonly operands: readonly DirectionOperand[];
  /** Of a convolution: a kernel that was prepared for it, or what else it takes; one for each operand. @throws FftError `missing-buffer`, `wrong-kernel` */
  readonly readKernel?: (value: unknown, what: string) => readonly unknown[];
  /** What callers know that by, where they give it among the options of a call. */
  readonly factor?: 'kernel' | 'signal';
  /** Whether `async` and `sync` are given it in the place of options. */
  readonly factorAlone?: boolean;
  /** What `work` has to hold: the tensor, packed. */
  readonly workBytes: number;
  program(throughWork: boolean): Runnable;
  temp(bytes: number): DeviceBuffer;
  /** @throws FftError `destroyed` */
  check(): void;
  /** Checked before a call that has waited continues. @throws FftError `device-closed`, `destroyed` */
  resume(): void;
}

/** A program and the memory it is bound to. */
interface BoundMemory {
  readonly program: BoundProgram;
  readonly places: readonly Binding[];
}

/** Runs a function after the current iteration of the event loop; on the audio thread, which has no timers, after the current callback. */
const later: (act: () => void) => void =
  typeof setTimeout === 'function' ? (act) => setTimeout(act, 0) : (act) => void Promise.resolve().then(act);

/** Arguments that have been checked. */
interface CheckedCall {
  readonly input: ComplexData;
  readonly output: ComplexData;
  readonly source: readonly Part[];
  /** The same list as `source` in place. */
  readonly target: readonly Part[];
  /** Arrays of callbacks as they were given, already checked. */
  readonly arrays: readonly unknown[];
  readonly operands: readonly Part[];
}

export class Runner {
  private readonly host: RunnerHost;
  private readonly staging: {
    readonly read: Staging;
    readonly written: Staging;
    /** One for each array. */
    readonly operands: readonly Staging[];
  };
  private bound: BoundMemory | undefined;
  /** Of calls that wait only one without host arrays is remembered: others are bound anew anyway. */
  private last: Call | undefined;
  /** Set while `forget` is to come. */
  private forgetting = false;

  constructor(host: RunnerHost) {
    this.host = host;
    const { backend, read, written, operands } = host;
    this.staging = {
      read: new Staging(backend, read),
      written: new Staging(backend, written),
      operands: operands.map(({ facts }) => new Staging(backend, facts)),
    };
  }

  sync(input: ComplexData, given: ComplexData | undefined, options: unknown): ComplexData {
    const { last } = this;
    // Short, so that the engine compiles it together with what it calls.
    if (
      last?.simple &&
      input === last.input &&
      given === last.output &&
      options === undefined &&
      quiet() &&
      last.whole
    ) {
      last.runSimply(this.host.backend);
      return given;
    }
    return this.syncAnew(input, given, options);
  }

  private syncAnew(input: ComplexData, given: ComplexData | undefined, options: unknown): ComplexData {
    const { host } = this;
    const arrays = this.read(options, 'Sync');
    const output = given ?? (host.inPlace ? input : newData(host.written));
    const call = this.remembered(input, output, arrays) ?? this.bind(this.check(input, output, arrays));
    this.remember(call);
    if (!call.program.runSync) {
      throw new FftError(
        'unsupported-feature',
        'This device cannot run on the calling thread; use the asynchronous forward and inverse.',
      );
    }
    runNow(call, host.backend);
    return call.output;
  }

  /**
   * Submits everything at once: the device runs what it is given in order. Only a call that shares a host array with an earlier one
   * waits until that has ended, unless both only read it, and so do calls on device memory that a waiting call uses
   * (call-hazards.ts). What would be over anyway before this returns takes the shorter way of calls that do not wait.
   * @throws FftError at once, before anything is submitted.
   */
  async(input: ComplexData, given: ComplexData | undefined, options: unknown): Promise<ComplexData> {
    const { last, host } = this;
    const output = given ?? (host.inPlace ? input : undefined);
    const arrays = this.read(options, '');
    if (last?.direct && quiet() && last.repeats(input, output, arrays)) {
      return last.program.run().then(() => last.output);
    }
    const call = this.atOnce(input, output, arrays) ?? this.bind(this.check(input, output, arrays));
    if (call.immediate && quiet()) {
      this.remember(call);
      runNow(call, host.backend);
      return Promise.resolve(call.output);
    }
    this.last = call.direct ? call : undefined;
    return this.submit(call);
  }

  /** The arrays of a call, checked. @param how it is called, after the direction. */
  private read(options: unknown, how: 'Sync' | ''): readonly unknown[] {
    const { host, last } = this;
    return last && givesTheSame(options, last.arrays, host)
      ? last.arrays
      : readCall(options, host, `${host.name}${how}`);
  }

  /** The previous call adapted to new data, if it can finish at once. */
  private atOnce(input: ComplexData, given: ComplexData | undefined, arrays: readonly unknown[]): Call | undefined {
    if (!this.last?.immediate || !quiet()) return undefined;
    return this.remembered(input, given ?? newData(this.host.written), arrays);
  }

  private remembered(input: ComplexData, output: ComplexData, arrays: readonly unknown[]): Call | undefined {
    const { last } = this;
    return last?.repeats(input, output, arrays) || last?.adopt(input, output, this.host.backend) ? last : undefined;
  }

  private remember(call: Call): void {
    this.last = call;
    if (call.direct || this.forgetting) return;
    this.forgetting = true;
    later(() => this.forget());
  }

  release(): void {
    this.bound?.program.release();
    this.bound = this.last = undefined;
    this.staging.read.release();
    this.staging.written.release();
    for (const staging of this.staging.operands) staging.release();
  }

  /** Releases the caller's arrays soon: successive calls may reuse the remembered call, but the plan must not keep the arrays alive. */
  private forget(): void {
    this.forgetting = false;
    if (this.last && !this.last.forget()) this.last = undefined;
  }

  private submit(call: Call): Promise<ComplexData> {
    const { backend: device } = this.host;
    const { hostAccesses, staged } = call;
    if (!quiet()) {
      const all = { device, accesses: [...hostAccesses, ...call.deviceAccesses] };
      if (hasHazard(all)) return this.defer(call, all);
    }
    // Staged copies to the device have read host arrays when they are submitted.
    const accesses = staged ? hostAccesses.filter(({ writes }) => writes) : hostAccesses;
    if (accesses.length === 0) return this.carryOut(call);
    return whilePending({ device, accesses, orderedByDevice: !staged }, () => this.carryOut(call));
  }

  private defer({ arrays, data, output }: Call, ordered: OrderedCall): Promise<ComplexData> {
    return runInOrder(ordered, async () => {
      this.host.resume();
      await this.carryOut(this.bind(this.check(data.input, data.output, arrays)));
      return output;
    });
  }

  private async carryOut({ copiesIn, copiesOut, runs, program, output }: Call): Promise<ComplexData> {
    const { backend } = this.host;
    const outputs = copiesOut.map(({ host }) => host);
    const whole = () => requireWhole(outputs, this.host.written.length);
    const move = (into: RealArray, from: RealArray) => {
      whole();
      moveResult(into, from, runs);
    };
    const staged = copiesOut.map((copy) => (copy.view ? undefined : stagingArray(copy)));
    const submit = () => [
      ...copiesIn.map((copy) => backend.upload(copy.device, toDevice(copy))),
      program.run(),
      ...copiesOut.map(({ device, host, view }, n) =>
        view ? backend.download(device, host, move) : backend.download(device, staged[n]!),
      ),
    ];
    const work = backend.together ? backend.together(submit) : submit();
    try {
      await Promise.all(work);
    } catch (error) {
      // The caller's arrays may have been transferred away meanwhile: that is what went wrong, then.
      const watched = [...copiesIn.filter(({ view }) => view), ...copiesOut];
      if (!(error instanceof FftError)) for (const { host } of watched) refuseDetached(host, ARRAY_OF_WAITING_CALL);
      throw error;
    }
    // Where host code sees the device's memory results are there already, but the caller looks for them in vain.
    whole();
    staged.forEach((array, n) => array && moveResult(outputs[n]!, fromDevice(copiesOut[n]!, array), runs));
    return output;
  }

  private check(input: ComplexData, given: ComplexData | undefined, arrays: readonly unknown[]): CheckedCall {
    const { backend, read, written, inPlace, operands } = this.host;
    this.host.check();
    const others = (parts: readonly Part[]) => ({
      arrays,
      operands: operandParts(arrays, operands, extentsOf(parts, written, 'output'), backend),
    });
    const from = readData(input, 'input');
    const source = partsOf(from, read, 'input', backend);
    if (inPlace) {
      if (given !== input && !isSame(readData(given, 'output'), from)) {
        throw new FftError(
          'aliased-buffers',
          "This plan is 'in-place': pass one array, or plan with placement 'out-of-place'.",
        );
      }
      if (source.length > 1) refuseOverlap(extentsOf(source, read, 'input'));
      return { input, output: input, source, target: source, ...others(source) };
    }
    const output = given ?? newData(written);
    const target = partsOf(readData(output, 'output'), written, 'output', backend);
    refuseOverlap([...extentsOf(source, read, 'input'), ...extentsOf(target, written, 'output')]);
    return { input, output, source, target, ...others(target) };
  }

  private bind({ input, output, source, target, arrays, operands }: CheckedCall): Call {
    const from = this.staging.read.place(source);
    const to = source === target ? from : this.staging.written.place(target);
    const direction = this.host.program(false);
    const { tempBytes } = direction;
    const temp = tempBytes === 0 ? undefined : { buffer: this.host.temp(tempBytes), byteOffset: 0 };
    const placed = operands.map((part, n) => this.staging.operands[n]!.place([part])[0]!);
    const places = [...from, ...to, ...placed].map(({ device }) => device).concat(temp ?? []);
    if (!this.bound || !sameBindings(this.bound.places, places)) {
      const program = direction.bind({
        ...{ input: sideBinding(from), output: sideBinding(to), temp },
        operands: boundOperands(
          this.host.operands,
          placed.map(({ device }) => device),
        ),
      });
      this.bound?.program.release();
      this.bound = { program, places };
    }
    const { program } = this.bound;
    const buffers = places.map(({ buffer }) => buffer);
    const { read, written } = this.host;
    const others = placed.map((part, n) => ({ part, facts: this.host.operands[n]!.facts }));
    return new Call({ input, output, from, to, read, written, program, buffers, arrays, operands: others });
  }
}

/** Where the arrays of a side lie, once each of them has memory of the device. */
export function sideBinding(parts: readonly Pick<Part, 'device'>[]): SideBinding {
  return { re: parts[0]!.device!, im: parts[1]?.device };
}

function sameBindings(a: readonly Binding[], b: readonly Binding[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ buffer, byteOffset }, n) => buffer === b[n]!.buffer && byteOffset === b[n]!.byteOffset)
  );
}

function newData({ type, length, layout }: SideFacts): ComplexData {
  const make = () => newArray(type, length);
  return layout === 'planar' ? { re: make(), im: make() } : make();
}
