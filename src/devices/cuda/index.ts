/** NVIDIA GPUs: the CUDA driver API, and NVRTC to compile at run time. */
import type { Availability, Backend } from '../device.ts';
import type { LibraryRequest } from '../native/library.ts';
import { type GpuKind, type GpuOptions, gpuAvailability, openGpu } from './open.ts';
import { toolkitNames, windows } from './toolkit.ts';

/** How NVIDIA's GPUs are found; tests put other libraries in its place. */
export const cuda: GpuKind = {
  driver: {
    kind: 'cuda',
    title: 'CUDA',
    functions: {
      init: 'cuInit',
      deviceCount: 'cuDeviceGetCount',
      device: 'cuDeviceGet',
      deviceName: 'cuDeviceGetName',
      deviceMemory: 'cuDeviceTotalMem_v2',
      attribute: 'cuDeviceGetAttribute',
      retainContext: 'cuDevicePrimaryCtxRetain',
      releaseContext: 'cuDevicePrimaryCtxRelease_v2',
      setContext: 'cuCtxSetCurrent',
      contextDevice: 'cuCtxGetDevice',
      memoryInfo: 'cuMemGetInfo_v2',
      allocate: 'cuMemAlloc_v2',
      free: 'cuMemFree_v2',
      allocateHost: 'cuMemAllocHost_v2',
      freeHost: 'cuMemFreeHost',
      addressRange: 'cuMemGetAddressRange_v2',
      copyIn: 'cuMemcpyHtoDAsync_v2',
      copyOut: 'cuMemcpyDtoHAsync_v2',
      copyAcross: 'cuMemcpyDtoDAsync_v2',
      createStream: 'cuStreamCreate',
      destroyStream: 'cuStreamDestroy_v2',
      synchronizeStream: 'cuStreamSynchronize',
      waitEvent: 'cuStreamWaitEvent',
      isCapturing: 'cuStreamIsCapturing',
      createEvent: 'cuEventCreate',
      destroyEvent: 'cuEventDestroy_v2',
      recordEvent: 'cuEventRecord',
      queryEvent: 'cuEventQuery',
      elapsed: 'cuEventElapsedTime',
      loadModule: 'cuModuleLoadData',
      unloadModule: 'cuModuleUnload',
      getFunction: 'cuModuleGetFunction',
      setFunctionAttribute: 'cuFuncSetAttribute',
      launch: 'cuLaunchKernel',
      beginCapture: 'cuStreamBeginCapture_v2',
      endCapture: 'cuStreamEndCapture',
      instantiateGraph: 'cuGraphInstantiateWithFlags',
      launchGraph: 'cuGraphLaunch',
      destroyGraph: 'cuGraphDestroy',
      destroyGraphExec: 'cuGraphExecDestroy',
      errorName: 'cuGetErrorName',
    },
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
    errors: {
      notReady: 600,
      outOfMemory: [2],
      lost: [4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 802, 999],
    },
    mostGroups: 2 ** 31 - 1,
    hostAllocTakesFlags: false,
    errorNameIsResult: false,
  },
  driverLibrary: {
    names: windows ? ['nvcuda.dll'] : ['libcuda.so.1', 'libcuda.so'],
    what: 'The CUDA driver',
    install: "Install NVIDIA's driver for this GPU.",
  },
  compiler: { title: 'NVRTC', prefix: 'nvrtc', results: ['CUBIN', 'PTX'] },
  compilerLibrary: nvrtc,
  compilerOptions(compiler, driver, device) {
    const own = 10 * driver.attribute('major', device) + driver.attribute('minor', device);
    const known = compiler.architectures();
    // A compiler older than the device leaves the last step to the driver.
    const newest = known.filter((architecture) => architecture <= own).at(-1);
    const target = newest === undefined || newest === own ? `sm_${own}` : `compute_${newest}`;
    return [`--gpu-architecture=${target}`, '--std=c++17'];
  },
};

export function cudaAvailability(): Promise<Availability> {
  return gpuAvailability(cuda);
}

/**
 * Opens an NVIDIA GPU.
 * @throws FftError (as a rejection) `device-unavailable`, `invalid-argument`
 */
export function createCudaBackend(options: GpuOptions = {}): Promise<Backend> {
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
