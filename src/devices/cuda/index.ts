/** NVIDIA GPUs: the CUDA driver API, and NVRTC to compile at run time. */
import type { Availability, Backend } from '../device.ts';
import type { LibraryRequest } from '../native/library.ts';
import type { DriverFunction } from './api.ts';
import { type GpuKind, type GpuOptions, gpuAvailability, openGpu } from './open.ts';
import { toolkitNames, windows } from './toolkit.ts';

/** Functions of which the plain name in the driver is an older version. */
const NEWER_VERSIONS: readonly DriverFunction[] = [
  ...(['DeviceTotalMem', 'DevicePrimaryCtxRelease', 'MemGetInfo', 'MemAlloc', 'MemFree'] as const),
  ...(['MemGetAddressRange', 'MemcpyHtoDAsync', 'MemcpyDtoHAsync', 'MemcpyDtoDAsync'] as const),
  ...(['StreamDestroy', 'StreamBeginCapture', 'EventDestroy'] as const),
];

/** How to open NVIDIA GPUs; tests replace parts of it. */
export const cuda: GpuKind = {
  driver: {
    kind: 'cuda',
    title: 'CUDA',
    prefix: 'cu',
    otherNames: Object.fromEntries(NEWER_VERSIONS.map((name) => [name, `cu${name}_v2`])),
    attributes: {
      maxThreads: 1,
      sharedPerBlock: 8,
      sharedPerBlockOptin: 97,
      sharedPerMultiprocessor: 81,
      registersPerMultiprocessor: 82,
      warpSize: 10,
      multiprocessors: 16,
      major: 75,
      minor: 76,
      clusters: 120,
    },
    lost: [4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 802, 999],
    mostGroups: 2 ** 31 - 1,
    errorNameIsResult: false,
    fft: { peer: 'cufft', title: 'cuFFT', prefix: 'cufft', handle: 'int', library: cufft },
  },
  driverLibrary: {
    names: windows ? ['nvcuda.dll'] : ['libcuda.so.1', 'libcuda.so'],
    what: 'The CUDA driver',
    install: "Install NVIDIA's driver for this GPU.",
  },
  compiler: { title: 'NVRTC', prefix: 'nvrtc', results: ['CUBIN', 'PTX'] },
  compilerLibrary: nvrtc,
  compilerOptions(compiler, { major, minor }) {
    const own = 10 * major + minor;
    const known = compiler.architectures();
    // If the compiler is older than the device, it emits PTX, which the driver compiles.
    const newest = known.filter((architecture) => architecture <= own).at(-1);
    const target = newest === undefined || newest === own ? `sm_${own}` : `compute_${newest}`;
    return [`--gpu-architecture=${target}`, '--std=c++17'];
  },
};

export function availability(): Promise<Availability> {
  return gpuAvailability(cuda);
}

/**
 * Opens an NVIDIA GPU.
 * @throws FftError (as a rejection) `device-unavailable`, `invalid-argument`
 */
export function create(options: GpuOptions = {}): Promise<Backend> {
  return openGpu(cuda, options);
}

function nvrtc(): LibraryRequest {
  const files = windows
    ? ['nvrtc64_130_0.dll', 'nvrtc64_120_0.dll', 'nvrtc64_112_0.dll']
    : ['libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so.11.2', 'libnvrtc.so'];
  return {
    names: toolkitNames(files),
    what: 'NVRTC, the run-time compiler of CUDA,',
    install: 'Install the CUDA toolkit (11.2 or newer), and set CUDA_PATH to it where it is in a place of its own.',
  };
}

function cufft(): LibraryRequest {
  const files = windows
    ? ['cufft64_12.dll', 'cufft64_11.dll', 'cufft64_10.dll']
    : ['libcufft.so.12', 'libcufft.so.11', 'libcufft.so.10', 'libcufft.so'];
  return {
    names: toolkitNames(files, 'cufft'),
    what: 'cuFFT',
    install: 'Install the CUDA toolkit with cuFFT, and set CUDA_PATH to it where it is in a place of its own.',
  };
}
