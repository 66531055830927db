/** Kernels that call device functions, and what runs them: CUDA's on the processor, OpenCL's on PoCL, WGSL's on SwiftShader. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { create as createOpenClBackend } from '../../src/devices/opencl/index.ts';
import { buildClKernel } from '../../src/devices/opencl/kernel.ts';
import type { SpmdProgram } from '../../src/emit/spmd/tree/program.ts';
import {
  type DeviceFunction,
  type DeviceFunctionLanguage,
  type DeviceFunctionTable,
  openProfile,
  type RegisterLayout,
} from '../../src/index.ts';

/** A kernel as a test wrote it, or a document. */
export interface CallerKernel {
  readonly language: DeviceFunction['language'];
  readonly source: string;
  readonly entry: string;
  /** Threads of a group. */
  readonly threads: number;
  readonly groups: number;
  /** Whether each of its arrays is written; tables follow. */
  readonly written: readonly boolean[];
}

/** As emitters describe what they write. */
export function asProgram({ language, source, entry, threads, groups, written }: CallerKernel): SpmdProgram {
  return {
    ...{ language, source, entry, threads, groups: [groups, 1, 1], launches: 1, launchSize: groups, cluster: 1 },
    ...{ sharedBytes: 0, alignments: [], bindings: written.map((own) => ({ written: own })) },
  };
}

/** What a register holds, as an expression in t and j: the function of the source, or a table. */
function elementOf(layout: RegisterLayout, side: string, language: DeviceFunction['language']) {
  if (layout.function) return { text: '', call: `${layout.function}(t, j)` };
  const all = layout.elements.flat();
  const at = `${side}_elements[t * ${layout.registers} + j]`;
  if (language === 'wgsl') {
    const numbers = all.map((element) => (element < 0 ? '4294967295u' : `${element}u`)).join(', ');
    return {
      text: `const ${side}_elements = array<u32, ${all.length}>(${numbers});\n`,
      call: at.replace(/(\d+) \+/, '$1u +'),
    };
  }
  const space = language === 'opencl' ? '__constant' : 'static __device__ const';
  return { text: `${space} int ${side}_elements[${all.length}] = {${all.join(', ')}};\n`, call: at };
}

/** A kernel that transforms lines of packed arrays, so many in each group. */
export function callerOf(
  fn: DeviceFunction,
  {
    lengths,
    lines,
    groups,
  }: { readonly lengths: readonly [number, number]; readonly lines: number; readonly groups: number },
): CallerKernel {
  const { language, threads } = fn;
  const [from, to] = [elementOf(fn.input, 'in', language), elementOf(fn.output, 'out', language)];
  const text = language === 'wgsl' ? wgslCaller : cCaller;
  const tables = language === 'cuda' || language === 'hip' ? 0 : fn.tables.length;
  return {
    ...{ language, entry: `call_${fn.name}`, threads: threads * lines, groups },
    source: `${fn.source}${from.text}${to.text}${text(fn, lengths, lines, [from.call, to.call])}`,
    written: [false, true, ...new Array<boolean>(tables).fill(false)],
  };
}

type Texts = readonly [string, string];

function cCaller(
  fn: DeviceFunction,
  [read, written]: readonly [number, number],
  lines: number,
  [from, to]: Texts,
): string {
  const { name, threads, sharedBytes, input, output, inPlace, tables, call } = fn;
  const isCl = fn.language === 'opencl';
  const global = isCl ? '__global ' : '';
  const passed = tables
    .map(({ name }) => `, ${global}const float2 *${name}`)
    .join('')
    .replaceAll('float2', input.type === 'double' || output.type.startsWith('double') ? 'double2' : 'float2');
  const head = isCl
    ? `__kernel __attribute__((reqd_work_group_size(${threads * lines}, 1, 1))) void`
    : 'extern "C" __global__ void';
  const memory = isCl
    ? `__local ulong memory[${Math.max(1, (lines * sharedBytes) / 8)}];`
    : 'extern __shared__ __align__(16) unsigned char shared_bytes[];';
  const shared = `(${isCl ? '__local ' : ''}unsigned char *)${isCl ? 'memory' : 'shared_bytes'} + ${sharedBytes} * (thread / ${threads})`;
  return `
${head} call_${name}(${global}const ${input.type} *input, ${global}${output.type} *output${isCl ? passed : ''}) {
  ${memory}
  const int thread = ${isCl ? 'get_local_id(0)' : 'threadIdx.x'};
  const int t = thread % ${threads};
  const int line = ${isCl ? 'get_group_id(0)' : 'blockIdx.x'} * ${lines} + thread / ${threads};
  ${isCl ? '__local ' : ''}void *shared = ${shared};
  ${input.type} x[${inPlace ? Math.max(input.registers, output.registers) : input.registers}];
  ${inPlace ? '' : `${output.type} y[${output.registers}];`}
  for (int j = 0; j < ${input.registers}; j++) if (${from} >= 0) x[j] = input[line * ${read} + ${from}];
  ${call}
  for (int j = 0; j < ${output.registers}; j++) if (${to} >= 0) output[line * ${written} + ${to}] = ${inPlace ? 'x' : 'y'}[j];
}
`;
}

function wgslCaller(
  fn: DeviceFunction,
  [read, written]: readonly [number, number],
  lines: number,
  [from, to]: Texts,
): string {
  const { name, threads, input, output, inPlace, call } = fn;
  return `
@group(0) @binding(0) var<storage, read> input_: array<${input.type}>;
@group(0) @binding(1) var<storage, read_write> output_: array<${output.type}>;
@compute @workgroup_size(${threads * lines})
fn call_${name}(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let t = thread % ${threads}u;
  let line = thread / ${threads}u;
  let own = block.x * ${lines}u + line;
  var x: array<${input.type}, ${inPlace ? Math.max(input.registers, output.registers) : input.registers}>;
  ${inPlace ? '' : `var y: array<${output.type}, ${output.registers}>;`}
  for (var j = 0u; j < ${input.registers}u; j++) { if (${from} < ${read}u) { x[j] = input_[own * ${read}u + ${from}]; } }
  ${call}
  for (var j = 0u; j < ${output.registers}u; j++) { if (${to} < ${written}u) { output_[own * ${written}u + ${to}] = ${inPlace ? 'x' : 'y'}[j]; } }
}
`;
}

/** Runs kernels in OpenCL C on whatever device there is. */
export class ClRunner {
  private readonly backend: Awaited<ReturnType<typeof createOpenClBackend>>;

  private constructor(backend: Awaited<ReturnType<typeof createOpenClBackend>>) {
    this.backend = backend;
  }

  static async open(): Promise<ClRunner> {
    return new ClRunner(await createOpenClBackend());
  }

  /** @param arrays memory of its arguments, which changes */
  run({ source, entry, threads, groups }: CallerKernel, arrays: readonly ArrayBufferView[]): void {
    const { driver } = this.backend as unknown as { driver: import('../../src/devices/opencl/driver.ts').ClDriver };
    const { cl, context, stream } = driver;
    const kernel = cl.make('clCreateKernel', undefined, buildClKernel(source, entry, driver), entry);
    const memories = arrays.map((array, position) => {
      const memory = cl.make('clCreateBuffer', undefined, context, 1, array.byteLength, null);
      cl.call('clEnqueueWriteBuffer', undefined, stream, memory, 1, 0, array.byteLength, array, 0, null, null);
      cl.call('clSetKernelArg', undefined, kernel, position, 8, new BigUint64Array([memory]));
      return memory;
    });
    const [all, group] = [
      BigUint64Array.of(BigInt(threads * groups), 1n, 1n),
      BigUint64Array.of(BigInt(threads), 1n, 1n),
    ];
    driver.launch({ kernel, globalSize: all, localSize: group }, stream);
    for (const [n, array] of arrays.entries()) {
      cl.call('clEnqueueReadBuffer', undefined, stream, memories[n], 1, 0, array.byteLength, array, 0, null, null);
      cl.raw.clReleaseMemObject(memories[n]);
    }
  }

  close(): void {
    this.backend.close();
  }
}

/** The contents of tables as arguments. */
export function tableData(tables: readonly DeviceFunctionTable[]): ArrayBufferView[] {
  for (const { data } of tables) expect(data.length).toBeGreaterThan(0);
  return tables.map(({ data }) => data);
}

const text = readFileSync(fileURLToPath(new URL('../../docs/device-functions.md', import.meta.url)), 'utf8');
/** The kernels of docs/device-functions.md in a language; those in HIP are those in CUDA. */
export const documentedKernels = (language: string) =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, own]) => own === language).map(([, , code]) => code!);

/** The functions that the document names. */
export async function documentedFunctions(language: DeviceFunctionLanguage): Promise<Record<string, DeviceFunction>> {
  const device = await openProfile(language === 'wgsl' ? 'webgpu-default' : 'h200');
  const complex = await device.plan({ size: [256], normalize: true });
  const real = await device.plan({ size: [512], transform: 'r2c', normalize: true });
  const short = await device.plan({ size: [8] });
  const direction = 'inverse';
  const [there, back] = language === 'wgsl' ? [at(3), { ...at(4), shared: 'fft_ping' }] : [{}, {}];
  const functions = {
    fft: complex.deviceFunction({ language, name: 'fft', ...there }),
    ifft: complex.deviceFunction({ language, name: 'ifft', direction, ...back }),
    rfft: real.deviceFunction({ language, name: 'rfft' }),
    irfft: real.deviceFunction({ language, name: 'irfft', direction }),
    fft8: short.deviceFunction({ language, name: 'fft8' }),
  };
  device.close();
  return functions;
}

const at = (binding: number) => ({ binding: { group: 0, binding } });
