/** A kernel of the IR, built by the driver's compiler. */
import { emitOpencl } from '../../emit/opencl/index.ts';
import type { SpmdProgram } from '../../emit/spmd/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import { written } from '../common/kernel.ts';
import type { CompileOptions } from '../device.ts';
import { SpmdKernel } from '../native/kernel.ts';
import { type Handle, INFO } from './api.ts';
import type { ClDriver } from './driver.ts';
import { failure } from './errors.ts';

const BUILD_OPTIONS = '-cl-std=CL1.2';

type Builder = Pick<ClDriver, 'cl' | 'context' | 'device'>;

export class ClKernel extends SpmdKernel {
  private readonly builder: Builder;
  private readonly built: Handle;

  /** @throws FftError `compile-failed` with the compiler's log, `device-limit`, `out-of-memory`, `device-lost` */
  constructor(kernel: Kernel, builder: Builder, { maxGroups, computedRoots = false }: CompileOptions) {
    // Every global has an offset: `cl_mem` objects have no addresses to add one to.
    const globals = kernel.globals.map((_, binding) => ({ pieces: [{ binding }] }));
    const arrangement = { globals, bindings: globals.length, offsets: true };
    const most = maxGroups === undefined ? {} : { maxGroups };
    const emit = () => emitOpencl(kernel, { arrangement, computedRoots, ...most });
    super(kernel, written(kernel, 'OpenCL C', emit), computedRoots);
    this.builder = builder;
    refuseLargeGroups(this.program, kernel.name, builder);
    this.built = build(this.program.source, kernel.name, builder);
  }

  /** A `cl_kernel` of its own: arguments stay with it, so every binding has one. The caller releases it. */
  instance(): Handle {
    const asked = { what: `Making kernel ${this.kernel.name}`, otherwise: 'compile-failed' } as const;
    return this.builder.cl.make('clCreateKernel', asked, this.built, this.program.entry);
  }

  unload(): void {
    this.builder.cl.raw.clReleaseProgram(this.built);
  }
}

/** @throws FftError `compile-failed` with the compiler's log, `out-of-memory`, `device-lost` */
export function build(source: string, name: string, { cl, context, device }: Builder): Handle {
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
function refuseLargeGroups({ threads, sharedBytes }: SpmdProgram, name: string, { cl, device }: Builder): void {
  const mostThreads = cl.number('device', device, INFO.maxWorkGroupSize) ?? 0;
  const mostBytes = cl.number('device', device, INFO.localBytes) ?? 0;
  if (threads <= mostThreads && sharedBytes <= mostBytes) return;
  throw new FftError(
    'device-limit',
    `A group of kernel ${name} takes ${threads} threads and ${sharedBytes} bytes of local memory; ` +
      `the device has ${mostThreads} and ${mostBytes}.`,
  );
}
