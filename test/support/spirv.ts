/**
 * SPIR-V of OpenCL's flavour without a device that takes it: translated to LLVM's own intermediate language, which PoCL takes as a
 * binary, and compiled by Intel's offline compiler.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { loadKoffi } from '../../src/devices/native/library.ts';
import { type Handle, OpenCl } from '../../src/devices/opencl/api.ts';
import { findProgram, missing } from './optional.ts';

const program = findProgram(['llvm-spirv-14']);
/** Why SPIR-V cannot be translated here. */
export const noTranslator = missing('spirvTranslator', program ? undefined : 'there is no llvm-spirv-14');

const ocloc = findProgram(['ocloc']);
/** Why Intel's compiler cannot be asked here. */
export const noOcloc = missing('ocloc', ocloc ? undefined : 'there is no ocloc');

/** Runs a program on a file that holds some SPIR-V. @returns what it says against that, and what it writes. */
function run(
  path: string,
  wordsOf: (from: string, to: string, folder: string) => string[],
  source: Uint8Array,
): { readonly fault: string | undefined; readonly result?: Uint8Array } {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-spirv-'));
  try {
    const [from, to] = [join(folder, 'kernel.spv'), join(folder, 'result')];
    writeFileSync(from, source);
    const { status, stdout, stderr } = spawnSync(path, wordsOf(from, to, folder), { encoding: 'utf8' });
    if (status !== 0) return { fault: `${stdout}${stderr}` };
    return { fault: undefined, ...(existsSync(to) ? { result: new Uint8Array(readFileSync(to)) } : {}) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What PoCL's compiler reads. */
function translated(source: Uint8Array): Uint8Array<ArrayBuffer> {
  const { fault, result } = run(program!, (from, to) => ['-r', '--spirv-target-env=CL1.2', from, '-o', to], source);
  if (!result) throw new Error(`llvm-spirv refuses the kernel: ${fault}`);
  const bytes = new Uint8Array(new ArrayBuffer(result.length));
  bytes.set(result);
  return bytes;
}

/** What Intel's compiler has against a kernel. @param device as ocloc calls it. */
export function oclocFault(source: Uint8Array, device: string): string | undefined {
  const wordsOf = (from: string, _: string, folder: string) => [
    'compile',
    '-spirv_input',
    '-file',
    from,
    '-device',
    device,
    '-out_dir',
    folder,
    '-output',
    'code',
  ];
  return run(ocloc!, wordsOf, source).fault;
}

/** From now on every OpenCL device says that it takes SPIR-V, and does. @returns what ends that. */
export async function takingSpirv(): Promise<() => void> {
  const koffi = await loadKoffi();
  const says = vi.spyOn(OpenCl.prototype, 'takesSpirv').mockReturnValue(true);
  const takes = vi.spyOn(OpenCl.prototype, 'spirvProgram').mockImplementation(function (
    this: OpenCl,
    context: Handle,
    source: Uint8Array,
  ) {
    const [device] = this.platforms().flatMap((platform) => this.devices(platform));
    const code = translated(source);
    const [devices, sizes] = [new BigUint64Array([device!]), new BigUint64Array([BigInt(code.length)])];
    const places = new BigUint64Array([koffi.address(code.buffer)]);
    return this.make('clCreateProgramWithBinary', undefined, context, 1, devices, sizes, places, null);
  });
  return () => {
    says.mockRestore();
    takes.mockRestore();
  };
}
