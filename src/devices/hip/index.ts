/** AMD GPUs: the HIP driver API, and HIPRTC to compile at run time. The backend is the one of CUDA. */
import { join } from 'node:path';
import { type GpuKind, type GpuOptions, gpuAvailability, openGpu } from '../cuda/open.ts';
import { candidatePaths, namedPaths, windows } from '../cuda/toolkit.ts';
import type { Availability, Backend } from '../device.ts';
import type { LibraryRequest } from '../native/library.ts';
import { environmentVariable } from '../permissions.ts';

const install =
  'Install ROCm, or on Debian the packages libamdhip64-5 and rocm-device-libs; set ROCM_PATH where ROCm is in a place of its own.';

/** HIPRTC was part of the HIP runtime before it became a library of its own. */
const runtimes = windows
  ? ['amdhip64_7.dll', 'amdhip64_6.dll', 'amdhip64.dll']
  : ['libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so.5', 'libamdhip64.so'];
const compilers = windows
  ? ['hiprtc0701.dll', 'hiprtc0604.dll', 'hiprtc0602.dll']
  : ['libhiprtc.so.7', 'libhiprtc.so.6', 'libhiprtc.so.5', 'libhiprtc.so'];

/** How to open AMD GPUs; tests use parts of it. */
export const hip: GpuKind = {
  driver: {
    kind: 'hip',
    title: 'HIP',
    prefix: 'hip',
    otherNames: {
      DeviceGetCount: 'hipGetDeviceCount',
      MemAlloc: 'hipMalloc',
      MemFree: 'hipFree',
      MemHostAlloc: 'hipHostMalloc',
      MemFreeHost: 'hipHostFree',
      StreamCreate: 'hipStreamCreateWithFlags',
      EventCreate: 'hipEventCreateWithFlags',
      LaunchKernel: 'hipModuleLaunchKernel',
      // Kernels may use all shared memory without opting in.
      FuncSetAttribute: null,
    },
    attributes: {
      maxThreads: 56,
      sharedPerBlock: 74,
      // The attribute for opt-in shared memory has no meaning on AMD's hardware, and some releases return wrong values for it.
      sharedPerMultiprocessor: 10002,
      // The register file is left out: blocks share it by other rules than CUDA's.
      warpSize: 87,
      multiprocessors: 63,
      major: 23,
      minor: 61,
    },
    lost: [4, 214, 700, 702, 709, 710, 719, 999],
    // A launch has fewer than 2³² threads in x, in groups of up to 1024.
    mostGroups: 2 ** 22 - 1,
    errorNameIsResult: true,
    // hipFFT wraps rocFFT and has cuFFT's function names.
    fft: { peer: 'rocfft', title: 'rocFFT', prefix: 'hipfft', handle: 'void *', library: rocfft },
  },
  driverLibrary: { names: inPrefixes(runtimes), what: 'The HIP runtime', install },
  compiler: { title: 'HIPRTC', prefix: 'hiprtc', results: ['Code'] },
  compilerLibrary: () => ({ names: inPrefixes([...compilers, ...runtimes]), what: 'HIPRTC', install }),
  // Without an option HIPRTC compiles for the current device.
  compilerOptions: () => ['--std=c++17'],
};

export function availability(): Promise<Availability> {
  return gpuAvailability(hip);
}

/**
 * Opens an AMD GPU.
 * @throws FftError (as a rejection) `device-unavailable`, `invalid-argument`
 */
export function create(options: GpuOptions = {}): Promise<Backend> {
  return openGpu(hip, options);
}

/** How to load comgr, the compiler library behind HIPRTC. */
export function comgr(): LibraryRequest {
  const files = windows ? ['amd_comgr.dll', 'amd_comgr0602.dll'] : ['libamd_comgr.so.3', 'libamd_comgr.so.2'];
  return { names: inPrefixes(files), what: "AMD's code object manager", install };
}

function rocfft(): LibraryRequest {
  const files = windows ? ['hipfft.dll'] : ['libhipfft.so.0', 'libhipfft.so'];
  return { names: inPrefixes(files), what: 'rocFFT', install: 'Install hipFFT with rocFFT, as ROCm has it.' };
}

/** Paths of files in ROCm's folders, followed by the plain file names for the loader. */
function inPrefixes(files: readonly string[]): string[] {
  const roots = namedPaths([...['ROCM_PATH', 'HIP_PATH'].map(environmentVariable), '/opt/rocm']);
  return candidatePaths(
    roots.map((root) => join(root, windows ? 'bin' : 'lib')),
    files,
  );
}
