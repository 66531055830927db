/** A kernel of the IR, built by the driver's compiler. */
import { emitOpencl } from '../../emit/opencl/index.ts';
import { tablesBeside } from '../../emit/spmd/memory.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { CompiledKernel, CompileOptions } from '../device.ts';
import { type Handle, INFO, type OpenCl } from './api.ts';
import { failure } from './errors.ts';

const BUILD_OPTIONS = '-cl-std=CL1.2';

/** Where kernels are built. */
export interface Place {
  readonly cl: OpenCl;
  readonly context: Handle;
  readonly device: Handle;
}

export class ClKernel implements CompiledKernel {
  readonly kernel: Kernel;
  readonly language = 'opencl';
  readonly emitted: SpmdProgram;
  readonly place: Place;
  private readonly program: Handle;
  private discarded = false;

  /** @throws FftError `compile-failed` with the compiler's log, `device-limit`, `out-of-memory`, `device-lost` */
  constructor(kernel: Kernel, place: Place, options: CompileOptions = {}) {
    this.kernel = options.computedRoots ? { ...kernel, tables: tablesBeside(kernel) } : kernel;
    this.place = place;
    this.emitted = emit(kernel, options);
    refuseLargeGroups(this.emitted, kernel.name, place);
    this.program = build(this.emitted.source, kernel.name, place);
  }

  get source(): string {
    return this.emitted.source;
  }

  get grid(): NonNullable<CompiledKernel['grid']> {
    return { blocks: this.emitted.groups, launches: this.emitted.launches };
  }

  /** A `cl_kernel` of its own: arguments stay with it, so every binding has one. The caller releases it. */
  instance(): Handle {
    if (this.discarded) {
      throw new FftError('internal-error', `Kernel ${this.kernel.name} was discarded and cannot be bound any more.`);
    }
    const asked = { what: `Making kernel ${this.kernel.name}`, otherwise: 'compile-failed' } as const;
    return this.place.cl.make('clCreateKernel', asked, this.program, this.emitted.entry);
  }

  discard(): void {
    if (this.discarded) return;
    this.discarded = true;
    this.place.cl.raw.clReleaseProgram(this.program);
  }
}

/** Every global has an offset: `cl_mem` objects have no addresses to add one to. @throws FftError `device-limit` */
function emit(kernel: Kernel, { maxGroups, computedRoots = false }: CompileOptions): SpmdProgram {
  const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
  const arrangement = { globals, bindings: globals.length, offsets: true };
  try {
    return emitOpencl(kernel, { arrangement, computedRoots, ...(maxGroups === undefined ? {} : { maxGroups }) });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new FftError('device-limit', `Kernel ${kernel.name} cannot be written in OpenCL C: ${cause.message}.`, {
      cause,
    });
  }
}

/** @throws FftError `compile-failed` with the compiler's log, `out-of-memory`, `device-lost` */
export function build(source: string, name: string, { cl, context, device }: Place): Handle {
  const asked = { what: `Compiling kernel ${name}`, otherwise: 'compile-failed' } as const;
  const program = cl.make('clCreateProgramWithSource', asked, context, 1, [source], null);
  const status = cl.raw.clBuildProgram(program, 1, new BigUint64Array([device]), BUILD_OPTIONS, null, null) as number;
  if (status === 0) return program;
  const log = cl.buildLog(program, device);
  cl.raw.clReleaseProgram(program);
  const error = failure('clBuildProgram', status, asked);
  if (error.code !== 'compile-failed' || log === '') throw error;
  throw new FftError('compile-failed', `${error.message} The compiler said: ${log}`, { cause: new Error(log) });
}

/**
 * Kernels declare how many threads their groups have, so the compiler leaves each the registers it needs: only what the
 * device has at all is looked at. (NVIDIA's driver answers 256 when asked about a compiled kernel, whatever it declares.)
 * @throws FftError `device-limit` where the device cannot run groups as large as the kernel's.
 */
function refuseLargeGroups({ threads, sharedBytes }: SpmdProgram, name: string, { cl, device }: Place): void {
  const mostThreads = cl.number('device', device, INFO.maxWorkGroupSize) ?? 0;
  const mostBytes = cl.number('device', device, INFO.localBytes) ?? 0;
  if (threads <= mostThreads && sharedBytes <= mostBytes) return;
  throw new FftError(
    'device-limit',
    `A group of kernel ${name} takes ${threads} threads and ${sharedBytes} bytes of local memory; ` +
      `the device has ${mostThreads} and ${mostBytes}.`,
  );
}
