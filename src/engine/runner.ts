/**
 * Runs one direction of a plan: checks the arguments, binds memory, copies host arrays in and out.
 *
 * Binding is remembered for the memory of the last call, so that a call with the same device arrays is two comparisons
 * and the launches.
 */
import type { Backend, Binding, BoundProgram, DeviceBuffer, RealArray } from '../devices/device.ts';
import { FftError } from '../problem/index.ts';
import {
  type ComplexData,
  deviceExtent,
  extentsOf,
  isPlanar,
  type Part,
  type PlanarData,
  partsOf,
  refuseDetached,
  refuseOverlap,
  type SideFacts,
  scratchBinding,
} from './arguments.ts';
import type { EnqueueOptions } from './plan.ts';
import type { DirectionProgram, SideBinding } from './program.ts';

export interface RunnerHost {
  readonly backend: Backend;
  readonly read: SideFacts;
  readonly written: SideFacts;
  readonly inPlace: boolean;
  program(throughWork: boolean): DirectionProgram;
  temp(bytes: number): DeviceBuffer;
  /** @throws FftError `destroyed` */
  check(): void;
  inOrder<T>(task: () => Promise<T>): Promise<T>;
}

/** Device memory and views of it that stand in for host arrays. */
interface Staging {
  readonly buffers: readonly DeviceBuffer[];
  readonly views: readonly (RealArray | undefined)[];
}

/** A call, checked and bound. */
interface Prepared {
  readonly input: ComplexData;
  readonly output: ComplexData;
  /** Copies of what planar sides held: the caller may put other planes into the same object. */
  readonly planes: { readonly input: PlanarData | undefined; readonly output: PlanarData | undefined };
  readonly program: BoundProgram;
  readonly buffers: readonly DeviceBuffer[];
  /** Host arrays to copy in before and out after. */
  readonly copiesIn: readonly Copy[];
  readonly copiesOut: readonly Copy[];
}

interface Copy {
  readonly host: RealArray;
  readonly device: Binding;
  readonly view: RealArray | undefined;
}

export class Runner {
  private readonly host: RunnerHost;
  private last: Prepared | undefined;
  private staged: { read?: Staging; written?: Staging } = {};

  constructor(host: RunnerHost) {
    this.host = host;
  }

  sync(input: ComplexData, output: ComplexData | undefined): ComplexData {
    const { last } = this;
    if (last !== undefined && last.input === input && last.output === output && isPlain(last) && hasItsPlanes(last)) {
      last.program.runSync!();
      return output;
    }
    const call = this.prepare(input, output);
    if (!call.program.runSync) {
      throw new FftError(
        'unsupported-feature',
        'This device cannot run on the calling thread; use the asynchronous forward and inverse.',
      );
    }
    for (const { host, view } of call.copiesIn) view!.set(host);
    call.program.runSync();
    for (const { host, view } of call.copiesOut) host.set(view!);
    return call.output;
  }

  async async(input: ComplexData, output: ComplexData | undefined): Promise<ComplexData> {
    const { backend, inOrder } = this.host;
    // Checked at once, so that what is wrong is said before anything waits.
    const checked = this.check(input, output);
    return inOrder(async () => {
      const call = this.bindChecked(checked);
      // The caller's arrays may have been transferred away while the call waited.
      for (const { host } of [...call.copiesIn, ...call.copiesOut]) refuseDetached(host, 'An array of a waiting call');
      for (const { host, device } of call.copiesIn) await backend.upload(device, host);
      await call.program.run();
      for (const { host, device } of call.copiesOut) {
        refuseDetached(host, 'output');
        await backend.download(device, host);
      }
      return call.output;
    });
  }

  enqueue({ input, output, work, temp }: EnqueueOptions): Promise<void> {
    const { backend, read, written, inPlace } = this.host;
    this.host.check();
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
    for (const { device } of [...source, ...target]) {
      if (!device)
        throw new FftError(
          'foreign-buffer',
          'enqueue takes memory of this device only; use forward or inverse for host arrays.',
        );
    }
    this.checkPlacement(source, target);
    const program = this.host.program(work !== undefined);
    const workBytes = written.length * written.realBytes * (written.layout === 'planar' ? 2 : 1);
    const workAt = work === undefined ? undefined : scratchBinding(work, workBytes, 'work', backend);
    const tempAt =
      temp === undefined ? this.ownTemp(program) : scratchBinding(temp, program.tempBytes, 'temp', backend);
    refuseOverlap([
      ...(inPlace ? [] : extentsOf(source, read, 'input')),
      ...extentsOf(target, written, 'output'),
      ...(workAt ? [deviceExtent(workAt, workBytes, 'work')] : []),
      ...(tempAt ? [deviceExtent(tempAt, program.tempBytes, 'temp')] : []),
    ]);
    const bound = program.bind({ input: sideBinding(source), output: sideBinding(target), work: workAt, temp: tempAt });
    return bound.run().finally(() => bound.release());
  }

  release(): void {
    this.last?.program.release();
    this.last = undefined;
    for (const staging of [this.staged.read, this.staged.written]) staging?.buffers.forEach((buffer) => buffer.free());
    this.staged = {};
  }

  private prepare(input: ComplexData, output: ComplexData | undefined): Prepared {
    return this.bindChecked(this.check(input, output));
  }

  private check(input: ComplexData, output: ComplexData | undefined) {
    const { backend, read, written, inPlace } = this.host;
    this.host.check();
    const source = partsOf(input, read, 'input', backend);
    if (inPlace) {
      if (output !== undefined && output !== input) {
        throw new FftError(
          'aliased-buffers',
          "This plan is 'in-place': pass one array, or plan with placement 'out-of-place'.",
        );
      }
      if (source.length > 1) refuseOverlap(extentsOf(source, read, 'input'));
      return { input, output: input, source, target: source };
    }
    const result = output ?? newData(written);
    const target = partsOf(result, written, 'output', backend);
    this.checkPlacement(source, target);
    return { input, output: result, source, target };
  }

  private checkPlacement(source: readonly Part[], target: readonly Part[]): void {
    const { read, written, inPlace } = this.host;
    const from = extentsOf(source, read, 'input');
    const to = extentsOf(target, written, 'output');
    if (!inPlace) return refuseOverlap([...from, ...to]);
    if (from.some((extent, n) => extent.of !== to[n]!.of || extent.start !== to[n]!.start)) {
      throw new FftError('aliased-buffers', "This plan is 'in-place': input and output must be the same memory.");
    }
    refuseOverlap(from);
  }

  private bindChecked({ input, output, source, target }: ReturnType<Runner['check']>): Prepared {
    this.host.check();
    const { read, written, inPlace } = this.host;
    const known = this.last;
    const onDevice = [...source, ...target].every(({ device }) => device);
    if (
      known &&
      onDevice &&
      known.input === input &&
      known.output === output &&
      isAlive(known) &&
      hasItsPlanes(known)
    ) {
      return known;
    }
    const from = this.place(source, read, 'read');
    const to = inPlace ? from : this.place(target, written, 'written');
    const program = this.host.program(false);
    const temp = this.ownTemp(program);
    const bound = program.bind({ input: sideBinding(from), output: sideBinding(to), temp });
    const copies = (parts: readonly PlacedPart[]) => parts.flatMap(({ copy }) => (copy ? [copy] : []));
    const call: Prepared = {
      input,
      output,
      planes: { input: copyPlanes(input), output: copyPlanes(output) },
      program: bound,
      buffers: [...from, ...to].map(({ device }) => device.buffer).concat(temp ? [temp.buffer] : []),
      // What lies between strided elements belongs to the caller: it goes along and comes back as it was.
      copiesIn: [...copies(from), ...(inPlace || !written.gaps ? [] : copies(to))],
      copiesOut: copies(to),
    };
    this.last?.program.release();
    this.last = call;
    return call;
  }

  /** Where each part is on the device; host arrays get a stand-in there. */
  private place(parts: readonly Part[], facts: SideFacts, which: 'read' | 'written'): PlacedPart[] {
    if (parts.every(({ device }) => device)) return parts.map(({ device }) => ({ device: device! }));
    const staging = (this.staged[which] ??= this.stage(facts, parts.length));
    return parts.map(({ device, host }, n) => {
      if (device) return { device };
      const stand = { buffer: staging.buffers[n]!, byteOffset: 0 };
      return { device: stand, copy: { host: host!, device: stand, view: staging.views[n] } };
    });
  }

  private stage(facts: SideFacts, count: number): Staging {
    const buffers: DeviceBuffer[] = [];
    try {
      for (let n = 0; n < count; n++) buffers.push(this.host.backend.allocate(facts.length * facts.realBytes));
    } catch (error) {
      for (const buffer of buffers) buffer.free();
      throw error;
    }
    return { buffers, views: buffers.map((buffer) => buffer.view?.(facts.type).subarray(0, facts.length)) };
  }

  private ownTemp({ tempBytes }: DirectionProgram): Binding | undefined {
    return tempBytes === 0 ? undefined : { buffer: this.host.temp(tempBytes), byteOffset: 0 };
  }
}

interface PlacedPart {
  readonly device: Binding;
  readonly copy?: Copy;
}

function sideBinding(parts: readonly { readonly device?: Binding | undefined }[]): SideBinding {
  return { re: parts[0]!.device!, im: parts[1]?.device };
}

function isAlive({ buffers }: Prepared): boolean {
  for (const buffer of buffers) if (buffer.freed) return false;
  return true;
}

function copyPlanes(data: ComplexData): PlanarData | undefined {
  return isPlanar(data) ? { re: data.re, im: data.im } : undefined;
}

/** The objects that planar data came in hold the same planes as they did. */
function hasItsPlanes({ input, output, planes }: Prepared): boolean {
  const same = (now: PlanarData, then: PlanarData) => now.re === then.re && now.im === then.im;
  return (
    (!planes.input || same(input as PlanarData, planes.input)) &&
    (!planes.output || same(output as PlanarData, planes.output))
  );
}

/** Nothing to copy, and all memory still there. */
function isPlain(call: Prepared): boolean {
  return (
    call.copiesOut.length === 0 && call.copiesIn.length === 0 && call.program.runSync !== undefined && isAlive(call)
  );
}

function newData(facts: SideFacts): ComplexData {
  const make = () => {
    try {
      return facts.type === 'f32' ? new Float32Array(facts.length) : new Float64Array(facts.length);
    } catch (cause) {
      throw new FftError(
        'out-of-memory',
        `A result of ${facts.length * facts.realBytes} bytes does not fit in host memory.`,
        { cause },
      );
    }
  };
  return facts.layout === 'planar' ? { re: make(), im: make() } : make();
}
