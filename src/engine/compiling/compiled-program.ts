/**
 * A compiled program of patterns. Its calls check their arguments, copy host arrays to the device and the result back, and run in the order
 * in which they were made.
 */
import type { Backend, Binding, BoundProgram, CompiledKernel, EncodeTarget } from '../../devices/device.ts';
import type { Inputs } from '../../patterns/language/program.ts';
import { show } from '../../problem/errors.ts';
import { FftError, type HostArray } from '../../problem/index.ts';
import {
  checkedParts,
  type Data,
  extentsOf,
  type Part,
  refuseOverlap,
  type SideFacts,
  sideExtents,
} from '../arguments/arguments.ts';
import { DeviceMemory, dispose } from '../arguments/memory.ts';
import { readOptions } from '../arguments/options.ts';
import { readMemory } from '../arguments/read-data.ts';
import {
  hasHazard,
  type MemoryAccess,
  type OrderedCall,
  quiet,
  refuseHazard,
  runInOrder,
  whilePending,
} from '../calls/call-hazards.ts';
import { encodeTarget, requireTarget, unattended } from '../calls/enqueue.ts';
import { fromDevice, moveResult, requireWhole, resultArray, stagingArray, toDevice } from '../calls/result-staging.ts';
import { type Copy, type PlacedPart, Staging } from '../calls/staging.ts';
import type { ProgramLaunches } from './code.ts';
import type { ProgramHost } from './host.ts';

/** An input of a program. */
export interface ProgramInput {
  readonly name: string;
  /** Whether the input is a single number. */
  readonly isNumber: boolean;
  readonly facts: SideFacts;
}

/** The parts of a compiled program. */
interface ProgramParts {
  readonly inputs: readonly ProgramInput[];
  readonly output: SideFacts;
  readonly code: {
    bind(places: readonly Binding[]): readonly BoundProgram[];
    readonly kernels: readonly CompiledKernel[];
    readonly launches?: ProgramLaunches | undefined;
    release(): void;
  };
}

/** The value of an input: an array, memory of the device, or a number. */
export type InputData = Data | number;

/** Memory for `enqueue`, and the encoder, stream or queue to append to, as for `plan.enqueue`. */
export interface EnqueueProgramOptions<I extends Inputs = Inputs> {
  readonly inputs: { readonly [K in keyof I]: Data };
  readonly output: Data;
  readonly encoder?: unknown;
  readonly stream?: unknown;
  readonly queue?: unknown;
}

/** A kernel of a program. */
export interface ProgramKernel {
  readonly name: string;
  readonly language: string;
  readonly source: string | Uint8Array;
}

/** Arguments that have been checked. */
interface CheckedCall {
  readonly sources: readonly Part[];
  readonly target: Part;
}

/** A call with the places of its data. */
interface PlacedCall {
  readonly parts: readonly PlacedPart[];
  readonly programs: readonly BoundProgram[];
}

const TARGETS: readonly EncodeTarget[] = ['encoder', 'stream', 'queue'];

export class CompiledProgram<I extends Inputs = Inputs> {
  private readonly host: ProgramHost;
  private readonly parts: ProgramParts;
  private readonly staging: readonly Staging[];
  /** The arguments of the last call, if all were memory of the device. */
  private known: { readonly arrays: readonly unknown[]; readonly output: unknown } | undefined;
  private bound: { readonly programs: readonly BoundProgram[]; readonly places: readonly Binding[] } | undefined;
  private destroyed = false;

  /** @internal Made by `device.compile`. */
  constructor(host: ProgramHost, parts: ProgramParts) {
    this.host = host;
    this.parts = parts;
    const facts = [...parts.inputs.map((input) => input.facts), parts.output];
    this.staging = facts.map((each) => new Staging(host.backend, each));
    host.keep(this);
  }

  /** The size of the result in reals: a complex number counts as two. */
  get output(): { readonly length: number } {
    return { length: this.parts.output.length };
  }

  /** The kernels of the program, each once, in the order in which they first run. */
  get kernels(): readonly ProgramKernel[] {
    return this.parts.code.kernels.map(({ kernel: { name }, language, source }) => ({ name, language, source }));
  }

  /** @internal The launches of the program; undefined where plans are among them. */
  get launches(): ProgramLaunches | undefined {
    return this.parts.code.launches;
  }

  /**
   * Runs the program.
   * @param inputs the inputs by name: `Float32Array`s, in double precision `Float64Array`s, or memory of the device, with rows one after
   *   another and complex numbers as re, im; a number for a single real
   * @param output the array or memory to write; default: a new array
   * @returns the output, once it holds the result
   * @throws FftError at once, before anything is written: `missing-buffer`, `unknown-field`, `wrong-length`, `wrong-array-type`,
   *   `buffer-too-small`, `aliased-buffers`, `foreign-buffer`, `detached-array`, `destroyed`, `device-closed`
   */
  run<O extends Data = HostArray>(inputs: { readonly [K in keyof I]: InputData }, output?: O): Promise<O> {
    if (this.now(inputs, output)) return Promise.resolve(output as O);
    if (this.repeats(inputs, output)) {
      return Promise.all(this.bound!.programs.map((program) => program.run())).then(() => output as O);
    }
    const { type, length } = this.parts.output;
    const arrays = this.readInputs(inputs, 'run');
    const given = output === undefined ? resultArray(type, length) : output;
    const checked = this.checked(arrays, given);
    return this.submit(checked, arrays, given) as Promise<O>;
  }

  /**
   * Appends the program to the device's work, or to the caller's own encoder, stream or queue.
   * @returns a promise of completion; if the work was appended to the caller's own, it only says that the work was accepted
   * @throws FftError as `run`, and `invalid-encoder`, `unsupported-feature`, `invalid-argument`
   */
  enqueue(options: EnqueueProgramOptions<I>): Promise<void> {
    this.check();
    const { backend } = this.host;
    const own = readOptions(options, { works: ['inputs', 'output', ...TARGETS] }, 'enqueue');
    const target = encodeTarget(own);
    if (target !== undefined) requireTarget(backend, target);
    const arrays = this.readInputs(own.inputs, 'enqueue');
    if (own.output === undefined) throw missingBuffer('enqueue', 'output', this.parts.output);
    const checked = this.checked(arrays, own.output);
    const parts = [...checked.sources, checked.target];
    if (!parts.every(({ device }) => device)) {
      throw new FftError('foreign-buffer', 'enqueue takes memory of this device only; use run for host arrays.');
    }
    const call: OrderedCall = { device: backend, accesses: this.deviceAccesses(parts) };
    if (target !== undefined) refuseHazard(call);
    const go = () => {
      const done = this.placed(checked).programs.map((program) =>
        target === undefined ? program.run() : Promise.resolve(program.encode!(own[target])),
      );
      return Promise.all(done).then(() => undefined);
    };
    if (!quiet() && hasHazard(call)) {
      return unattended(
        runInOrder(call, () => {
          this.check();
          return go();
        }),
      );
    }
    return unattended(go());
  }

  /** Frees the program's kernels and memory. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.host.letGo(this);
    this.unbind();
    for (const staging of this.staging) staging.release();
    this.parts.code.release();
  }

  /** `destroy`, for `using`. */
  [dispose](): void {
    this.destroy();
  }

  private check(): void {
    this.host.check();
    if (this.destroyed) throw new FftError('destroyed', 'This program has been destroyed; compile it again.');
  }

  private readInputs(given: unknown, what: string): readonly unknown[] {
    const { inputs } = this.parts;
    const works = inputs.map(({ name }) => name);
    if (typeof given !== 'object' || given === null) {
      const example = `{ ${works.join(', ')} }`;
      throw new FftError(
        'invalid-argument',
        `${what} takes its inputs by name, ${example}; it was given ${show(given)}.`,
      );
    }
    const own: Readonly<Record<string, unknown>> = readOptions(
      given as Record<string, unknown>,
      { works },
      `${what}.inputs`,
    );
    return inputs.map(({ name, isNumber, facts }) => {
      const value = own[name];
      if (value === undefined) throw missingBuffer(what, name, facts);
      if (typeof value !== 'number' || !isNumber) return readMemory(value, `inputs.${name}`);
      const numbers = resultArray(facts.type, facts.length);
      (numbers as Float64Array)[0] = value;
      return numbers;
    });
  }

  private checked(arrays: readonly unknown[], output: unknown): CheckedCall {
    const { backend } = this.host;
    const { inputs, output: facts } = this.parts;
    const [target] = checkedParts([readMemory(output, 'output')], facts, 'output', backend);
    const written = extentsOf([target!], facts, 'output');
    const sources = inputs.map((input, n) => {
      const what = `inputs.${input.name}`;
      const parts = checkedParts([arrays[n]], input.facts, what, backend);
      // Inputs are only read, so they may share memory with each other.
      refuseOverlap([...written, ...extentsOf(parts, input.facts, what)]);
      return parts[0]!;
    });
    return { sources, target: target! };
  }

  private placed({ sources, target }: CheckedCall): PlacedCall {
    const parts = [...sources, target].map((part, n) => this.staging[n]!.place([part])[0]!);
    const places = parts.map(({ device }) => device);
    if (!this.bound?.places.every((place, n) => isSameBinding(place, places[n]!))) {
      const programs = this.parts.code.bind(places);
      this.unbind();
      this.bound = { programs, places };
    }
    return { parts, programs: this.bound!.programs };
  }

  /** Whether a call has the arguments of the previous one, all device memory that still exists, and has nothing to wait for. */
  private repeats(inputs: object, output: unknown): boolean {
    const { known, bound } = this;
    if (!known || !bound || output !== known.output || !quiet()) return false;
    try {
      const names = this.parts.inputs;
      const given = inputs as Readonly<Record<string, unknown>>;
      if (Object.keys(given).length !== names.length) return false;
      return (
        names.every(({ name }, n) => given[name] === known.arrays[n]) &&
        bound.places.every(({ buffer }) => !buffer.freed)
      );
    } catch {
      // A getter or proxy of the caller has thrown; the full check reports it.
      return false;
    }
  }

  /**
   * @internal `run` with memory of the device as in the call before, if that can end at once.
   * @returns whether it has ended; otherwise nothing has been done
   */
  now(inputs: object, output: unknown): boolean {
    this.check();
    if (!this.repeats(inputs, output) || !this.bound!.programs.every(({ immediate }) => immediate)) return false;
    for (const program of this.bound!.programs) program.runSync!();
    return true;
  }

  private unbind(): void {
    this.known = undefined;
    for (const program of new Set(this.bound?.programs)) program.release();
    this.bound = undefined;
  }

  private deviceAccesses(parts: readonly Part[]): MemoryAccess[] {
    const { inputs, output } = this.parts;
    return parts.flatMap(({ device }, n) => {
      if (!device) return [];
      const facts = inputs[n]?.facts ?? output;
      return sideExtents(device, facts, '').map((extent): MemoryAccess => ({ ...extent, writes: n === inputs.length }));
    });
  }

  private submit(checked: CheckedCall, arrays: readonly unknown[], output: unknown): Promise<unknown> {
    const { backend } = this.host;
    const parts = [...checked.sources, checked.target];
    const hosts = parts.flatMap(({ host, device }, n): MemoryAccess[] => {
      if (!host || device) return [];
      const { buffer, byteOffset, byteLength } = host;
      return [{ of: buffer, start: byteOffset, end: byteOffset + byteLength, writes: n === parts.length - 1 }];
    });
    const all: OrderedCall = { device: backend, accesses: [...hosts, ...this.deviceAccesses(parts)] };
    if (!quiet() && hasHazard(all)) {
      return runInOrder(all, async () => {
        this.check();
        await this.carryOut(this.placed(this.checked(arrays, output)));
        return output;
      });
    }
    const call = this.placed(checked);
    this.known = [...arrays, output].every((data) => data instanceof DeviceMemory) ? { arrays, output } : undefined;
    const staged = call.parts.some(({ copy }) => copy && !copy.view);
    // A staged copy to the device has read its host array by the time it is submitted, so only writes are still pending.
    const accesses = staged ? hosts.filter(({ writes }) => writes) : hosts;
    const run = async () => {
      await this.carryOut(call);
      return output;
    };
    if (accesses.length === 0) return run();
    return whilePending({ device: backend, accesses, orderedByDevice: !staged }, run);
  }

  private async carryOut({ parts, programs }: PlacedCall): Promise<void> {
    const { backend } = this.host;
    const copiesIn = parts.slice(0, -1).flatMap(({ copy }) => copy ?? []);
    const out = parts.at(-1)!.copy;
    const host = out?.host;
    const whole = () => host && requireWhole([host], this.parts.output.length);
    const staged = out && !out.view ? stagingArray(out) : undefined;
    const submit = () => [
      ...copiesIn.map((copy: Copy) => backend.upload(copy.device, toDevice(copy))),
      ...programs.map((program) => program.run()),
      ...(out ? [download(backend, out, staged, whole)] : []),
    ];
    await Promise.all(backend.together ? backend.together(submit) : submit());
    whole();
    if (staged) moveResult(host!, fromDevice(out!, staged));
  }
}

function download(backend: Backend, out: Copy, staged: Copy['host'] | undefined, whole: () => void): Promise<void> {
  if (staged) return backend.download(out.device, staged);
  return backend.download(out.device, out.host, (into, from) => {
    whole();
    moveResult(into, from);
  });
}

function isSameBinding(a: Binding, b: Binding): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

function missingBuffer(what: string, name: string, { length, type }: SideFacts): FftError {
  return new FftError('missing-buffer', `${what} needs ${name}: ${length} numbers of type ${type}.`, { path: name });
}
