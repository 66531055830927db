/**
 * Runs one direction of a plan: checks the arguments, binds memory, copies host arrays in and out.
 *
 * The program stays bound to the memory of the last call and the call is remembered (call.ts), so that similar calls
 * cost little more than the launches.
 */
import type { Backend, Binding, BoundProgram, DeviceBuffer, RealArray } from '../../devices/device.ts';
import type { PlanTask } from '../../plan/planner.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { refuseDetached } from '../../problem/input/bytes.ts';
import {
  type ComplexData,
  checkedParts,
  extentsOf,
  type Part,
  refuseOverlap,
  type SideFacts,
} from '../arguments/arguments.ts';
import { boundOperands, type DirectionOperand, givesTheSame, operandParts, readCall } from '../arguments/operands.ts';
import { isSameData, readData } from '../arguments/read-data.ts';
import type { Runnable, SideBinding } from '../programs/program.ts';
import { Call, runNow } from './call.ts';
import { hasHazard, type OrderedCall, quiet, runInOrder, whilePending } from './call-hazards.ts';
import {
  ARRAY_OF_WAITING_CALL,
  fromDevice,
  moveResult,
  requireWhole,
  resultArray,
  stagingArray,
  toDevice,
} from './result-staging.ts';
import { Staging } from './staging.ts';

export interface RunnerHost {
  readonly backend: Backend;
  readonly problem: Problem;
  readonly direction: PlanTask;
  /** The name of the call: an adjoint's `forward` may run the inverse of its problem. */
  readonly name: PlanTask;
  readonly read: SideFacts;
  readonly written: SideFacts;
  readonly inPlace: boolean;
  /** The operands: arrays that callbacks load from, or the kernel of a convolution. */
  readonly operands: readonly DirectionOperand[];
  /**
   * For a convolution: checks its factor, which is a prepared kernel, a spectrum or a signal, and returns the memory of each operand.
   * @throws FftError `missing-buffer`, `wrong-kernel`
   */
  readonly readKernel?: (value: unknown, what: string) => readonly unknown[];
  /** The name of that factor among the options of a call. */
  readonly factor?: 'kernel' | 'signal';
  /** Whether `async` and `sync` are given the factor in place of options. */
  readonly factorAlone?: boolean;
  /** Bytes that `work` memory has to hold: the packed tensor. */
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
  /** The written parts; in place, the same list as `source`. */
  readonly target: readonly Part[];
  /** The operands as the caller gave them, already checked. */
  readonly arrays: readonly unknown[];
  readonly operands: readonly Part[];
}

export class Runner {
  private readonly host: RunnerHost;
  private readonly staging: {
    readonly read: Staging;
    readonly written: Staging;
    /** The staging memory of each operand. */
    readonly operands: readonly Staging[];
  };
  private bound: BoundMemory | undefined;
  /** The last call. A call that waits is remembered only if it has no host arrays, since others are bound anew anyway. */
  private last: Call | undefined;
  /** Whether `forget` is scheduled. */
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
    // This function is short so that the JavaScript engine inlines it and its callees.
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
   * Submits the call at once, since the device keeps the order of submitted work. A call waits only if it shares a host array with an earlier
   * call that has not ended, unless both only read it, or if it uses device memory of a waiting call (call-hazards.ts). Calls that can end
   * before this function returns run like synchronous ones, which is shorter.
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

  /**
   * Carries out a call of the same arguments as the last one, if it can end before this function returns.
   * @returns whether it has ended; otherwise nothing has been done, and `async` takes the call
   */
  now(input: ComplexData, output: ComplexData, options: unknown): boolean {
    const { last, host } = this;
    if (!last?.immediate || !quiet() || !last.repeats(input, output, this.read(options, ''))) return false;
    runNow(last, host.backend);
    return true;
  }

  /** The operands of a call, checked. @param how the ending of the method's name, after the direction. */
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
    return last?.repeats(input, output, arrays) || last?.adopt(input, output, arrays, this.host.backend)
      ? last
      : undefined;
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

  /** Releases the caller's arrays a little later, so that successive calls can reuse the remembered call, but arrays are not kept alive. */
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
    // A staged copy to the device has read its host array by the time it is submitted, so only writes are still pending.
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
      // If the caller has transferred an array away in the meantime, that is the cause of the error.
      const watched = [...copiesIn.filter(({ view }) => view), ...copiesOut];
      if (!(error instanceof FftError)) for (const { host } of watched) refuseDetached(host, ARRAY_OF_WAITING_CALL);
      throw error;
    }
    // If host code sees the device's memory, results have been moved already; an array that was transferred since has lost them.
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
    const source = checkedParts(from, read, 'input', backend);
    if (inPlace) {
      if (given !== input && !isSameData(readData(given, 'output'), from)) {
        throw new FftError(
          'aliased-buffers',
          "This plan is 'in-place': pass one array, or plan with placement 'out-of-place'.",
        );
      }
      if (source.length > 1) refuseOverlap(extentsOf(source, read, 'input'));
      return { input, output: input, source, target: source, ...others(source) };
    }
    const output = given ?? newData(written);
    const target = checkedParts(readData(output, 'output'), written, 'output', backend);
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

/** The binding of a side whose arrays all have memory of the device. */
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
  const make = () => resultArray(type, length);
  return layout === 'planar' ? { re: make(), im: make() } : make();
}
