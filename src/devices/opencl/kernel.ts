/** A kernel, and the program that the driver builds from it. */
import type { SpirvProgram } from '../../emit/spirv/index.ts';
import type { SpmdProgram } from '../../emit/spmd/tree/program.ts';
import type { Kernel } from '../../ir/index.ts';
import { FftError } from '../../problem/errors.ts';
import type { KernelSource } from '../common/kernel.ts';
import type { CompileOptions, PackedKernel } from '../device.ts';
import { packedSpirv, requireGroupFits, SpmdKernel, withoutComputedTables } from '../native/kernel.ts';
import { immovableBytes } from '../native/structs.ts';
import { BUILD_OPTIONS, type Handle, INFO } from './api.ts';
import type { ClDriver } from './driver.ts';
import { clFailure } from './errors.ts';
import { clProgram, clSpirvProgram } from './program.ts';

type Builder = Pick<ClDriver, 'cl' | 'context' | 'device' | 'binaries' | 'addressOf'>;
type ClProgram = SpmdProgram | SpirvProgram;

export class ClKernel extends SpmdKernel<ClProgram> {
  private readonly builder: Builder;
  private readonly built: Handle;

  /**
   * @param code a binary from an earlier process, built for a device like this one; empty if there is none.
   * @throws FftError `compile-failed` with the compiler's log, `device-limit`, `out-of-memory`, `device-lost`
   */
  constructor(kernel: KernelSource, program: ClProgram, builder: Builder, code: Uint8Array = new Uint8Array()) {
    super(kernel, program);
    this.builder = builder;
    refuseLargeGroups(this.program, kernel.name, builder);
    this.built = (code.length > 0 && loaded(code, builder)) || builtOrKept(program.source, kernel.name, builder);
  }

  /** Creates a `cl_kernel`, which the caller releases. A `cl_kernel` holds its arguments, so every binding needs its own. */
  instance(): Handle {
    const requested = { what: `Making kernel ${this.kernel.name}`, otherwise: 'compile-failed' } as const;
    return this.builder.cl.make('clCreateKernel', requested, this.built, this.program.entry);
  }

  override pack(whole: boolean): PackedKernel {
    const { outline, program } = this;
    if (program.language !== 'spirv') return super.pack(whole);
    return packedSpirv(outline, program, whole ? this.binary() : new Uint8Array());
  }

  unload(): void {
    this.builder.cl.raw.clReleaseProgram(this.built);
  }

  protected binary(): Uint8Array {
    return binaryOf(this.built, this.builder);
  }
}

/**
 * Writes a kernel in the language that its driver is given. @throws FftError as `ClKernel`, and `device-limit` if the language cannot express the
 * kernel
 */
export function writtenClKernel(kernel: Kernel, driver: ClDriver, options: CompileOptions): ClKernel {
  const program = driver.spirv ? clSpirvProgram(kernel, options) : clProgram(kernel, options);
  return new ClKernel(withoutComputedTables(kernel, options.computedRoots ?? false), program, driver);
}

/** The program from the kept binary of the same source, or built from the source. */
function builtOrKept(source: ClProgram['source'], name: string, builder: Builder): Handle {
  const kept = builder.binaries.find(source);
  const known = kept && loaded(kept.bytes, builder);
  if (known) return known;
  const built = buildClKernel(source, name, builder);
  if (builder.binaries.keepsCode) builder.binaries.keep(source, binaryOf(built, builder));
  return built;
}

/** A program from a binary; undefined if the driver rejects it. */
function loaded(code: Uint8Array, { cl, context, device, addressOf }: Builder): Handle | undefined {
  // The driver reads the binary in place, so it is copied to the beginning of memory that the JavaScript engine does not move.
  const memory = immovableBytes(code);
  const [devices, sizes] = [new BigUint64Array([device]), new BigUint64Array([BigInt(code.length)])];
  const places = new BigUint64Array([addressOf(memory.buffer)]);
  let program: Handle;
  try {
    program = cl.make('clCreateProgramWithBinary', undefined, context, 1, devices, sizes, places, new Int32Array(1));
  } catch {
    return undefined;
  }
  if ((cl.raw.clBuildProgram(program, 1, devices, BUILD_OPTIONS, null, null) as number) === 0) return program;
  cl.raw.clReleaseProgram(program);
  return undefined;
}

/** The binary of a program; empty if the driver gives none, or the context has several devices. */
function binaryOf(program: Handle, { cl, addressOf }: Builder): Uint8Array {
  const get = cl.raw.clGetProgramInfo;
  const size = new BigUint64Array(1);
  if (cl.number('program', program, INFO.programDevices) !== 1) return new Uint8Array();
  if ((get(program, INFO.binarySizes, 8, size, null) as number) !== 0) return new Uint8Array();
  const code = new Uint8Array(new ArrayBuffer(Number(size[0])));
  const places = new BigUint64Array([addressOf(code.buffer)]);
  return (get(program, INFO.binaries, 8, places, null) as number) === 0 ? code : new Uint8Array();
}

/** Builds a program. @throws FftError `compile-failed` with the compiler's log, `out-of-memory`, `device-lost` */
export function buildClKernel(
  source: string | Uint8Array,
  name: string,
  { cl, context, device }: Pick<Builder, 'cl' | 'context' | 'device'>,
): Handle {
  const requested = { what: `Compiling kernel ${name}`, otherwise: 'compile-failed' } as const;
  const isText = typeof source === 'string';
  const program = isText
    ? cl.make('clCreateProgramWithSource', requested, context, 1, [source], null)
    : cl.spirvProgram(context, source, requested);
  const devices = new BigUint64Array([device]);
  const status = cl.raw.clBuildProgram(program, 1, devices, isText ? BUILD_OPTIONS : '', null, null) as number;
  if (status === 0) return program;
  const log = cl.buildLog(program, device);
  cl.raw.clReleaseProgram(program);
  const error = clFailure('clBuildProgram', status, requested);
  if (error.code !== 'compile-failed' || log === '') throw error;
  throw new FftError('compile-failed', `${error.message} The compiler said: ${log}`, { cause: new Error(log) });
}

/**
 * Kernels declare the size of their groups, so the compiler limits each kernel's registers to what fits, and only the device's own limit is checked.
 * (NVIDIA's driver reports 256 for a compiled kernel, whatever the kernel declares.)
 * @throws FftError `device-limit` if the device cannot run groups as large as the kernel's.
 */
function refuseLargeGroups(program: ClProgram, name: string, { cl, device }: Builder): void {
  const threads = cl.number('device', device, INFO.maxWorkGroupSize) ?? 0;
  const sharedBytes = cl.number('device', device, INFO.localBytes) ?? 0;
  requireGroupFits(program, name, { threads, sharedBytes });
}
