/** Compiles OpenCL C and SPIR-V by `ocloc`, Intel's offline compiler, which needs no device. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FftError } from '../../problem/errors.ts';
import { BUILD_OPTIONS } from '../opencl/api.ts';

/**
 * Compiles a kernel.
 * @param source OpenCL C, or SPIR-V of OpenCL's flavour.
 * @param device the target under ocloc's name: `dg2`, `pvc`, `tgllp`.
 * @throws FftError `compile-failed` with the compiler's messages, `device-unavailable` if it is not installed
 */
export function compileWithOcloc(source: string | Uint8Array, name: string, device: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-ocloc-'));
  try {
    const isText = typeof source === 'string';
    const file = join(folder, isText ? 'kernel.cl' : 'kernel.spv');
    writeFileSync(file, source);
    const places = ['-file', file, '-out_dir', folder, '-output', 'code', '-output_no_suffix'];
    // The binary need not contain the SPIR-V, because the caller keeps it beside the binary.
    const language = isText ? ['-options', BUILD_OPTIONS] : ['-spirv_input', '-exclude_ir'];
    const words = ['compile', ...places, '-device', device, ...language];
    const { error, status, stdout, stderr } = spawnSync('ocloc', words, { encoding: 'utf8', cwd: folder });
    if (error) throw missingOcloc(error);
    const code = readdirSync(folder).find((each) => /^code(\.bin)?$/.test(each));
    if (status === 0 && code !== undefined) return new Uint8Array(readFileSync(join(folder, code)));
    const log = `${stdout}${stderr}`.trim();
    throw new FftError('compile-failed', `ocloc refused kernel ${name} for ${device}: ${log}`, {
      cause: new Error(log),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function missingOcloc(cause: Error): FftError {
  const install =
    "Install Intel's compute runtime (on Debian the package intel-opencl-icd), or compile on a device itself.";
  return new FftError(
    'device-unavailable',
    `ocloc, Intel's offline compiler, does not start: ${cause.message}. ${install}`,
    {
      cause,
    },
  );
}
