/**
 * Profiles of well-known devices, for planning without them. What a maker publishes comes from data sheets and programming guides, named beside each
 * profile; the rest is taken from `gpuProfile` or `webGpuProfile`.
 */
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { OfflineLanguage } from '../offline/languages.ts';
import { cpuProfile } from './cpu.ts';
import { type DriverAttribute, profileFromDriver } from './driver.ts';
import { gpuProfile, OPENCL_RESIDENT_GROUPS, softwareProfile, webGpuProfile } from './gpu.ts';
import type { ProfileName } from './names.ts';

export interface NamedProfile {
  readonly profile: DeviceProfile;
  /** The language of the device's kernels. */
  readonly language: OfflineLanguage;
  /** The compiler's name for the processor, if it has one. */
  readonly architecture?: string;
}

const KIB = 2 ** 10;
const GB = 1e9;
const GIB = 2 ** 30;

/** The profile that follows from a driver's facts, as it does on the device itself. */
function profileOfFacts(
  name: string,
  memory: number,
  multiprocessors: number,
  facts: Partial<Record<DriverAttribute, number>>,
): DeviceProfile {
  const attribute = (what: DriverAttribute) => (what === 'multiprocessors' ? multiprocessors : (facts[what] ?? 0));
  return profileFromDriver({ name, memory, attribute });
}

/**
 * CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": shared memory of a multiprocessor, of which the system reserves 1
 * KiB for each block; 48 KiB for a block without opting in; 64 K registers; 1024 threads in a block, 32 in a warp.
 */
const cuda = (major: number, kib: number) => ({
  warpSize: 32,
  maxThreads: 1024,
  sharedPerBlock: 48 * KIB,
  sharedPerBlockOptin: (kib - 1) * KIB,
  sharedPerMultiprocessor: kib * KIB,
  registersPerMultiprocessor: 64 * 1024,
  major,
  // Clusters exist since compute capability 9.0.
  clusters: major >= 9 ? 1 : 0,
});
const hopper = cuda(9, 228);
const ampere = cuda(8, 164);
const ada = cuda(8, 100);

/**
 * AMD's table of GPU hardware specifications: wavefronts of 64 threads and 64 KiB of local data share in a compute unit,
 * which HIP gives to one block as a whole; 1024 threads in a block (HIP documentation).
 */
const cdna = { warpSize: 64, maxThreads: 1024, sharedPerBlock: 64 * KIB, sharedPerMultiprocessor: 64 * KIB };

/** Intel Arc A770: 32 Xe cores, 16 GB, no double precision in hardware; OpenCL offers 64 KiB and 1024 work-items. */
const arc: NamedProfile = {
  language: 'opencl',
  architecture: 'dg2',
  profile: {
    ...gpuProfile,
    name: 'Intel Arc A770',
    // Sub-groups have 8, 16 or 32 threads; the profile assumes 16.
    lockstepBytes: 64,
    sharedBytes: 64 * KIB,
    residentBytes: OPENCL_RESIDENT_GROUPS * 64 * KIB,
    maxThreads: 1024,
    multiprocessors: 32,
    maxBytes: 16 * GB,
    precisions: ['single'],
  },
};

export const namedProfiles = {
  /** NVIDIA H200 data sheet: 132 multiprocessors, 141 GB; compute capability 9.0. */
  h200: {
    language: 'cuda',
    architecture: 'sm_90',
    profile: profileOfFacts('NVIDIA H200', 141 * GB, 132, hopper),
  },
  /** NVIDIA H100 (SXM) data sheet: 132 multiprocessors, 80 GB; compute capability 9.0. */
  h100: {
    language: 'cuda',
    architecture: 'sm_90',
    profile: profileOfFacts('NVIDIA H100', 80 * GB, 132, hopper),
  },
  /** NVIDIA A100 data sheet: 108 multiprocessors, 80 GB; compute capability 8.0. */
  a100: {
    language: 'cuda',
    architecture: 'sm_80',
    profile: profileOfFacts('NVIDIA A100', 80 * GB, 108, ampere),
  },
  /** NVIDIA Ada architecture paper: RTX 4090 with 128 multiprocessors, 24 GB; compute capability 8.9. */
  rtx4090: {
    language: 'cuda',
    architecture: 'sm_89',
    profile: profileOfFacts('NVIDIA GeForce RTX 4090', 24 * GB, 128, ada),
  },
  /** One of the two dies of an AMD Instinct MI250X, which is what HIP opens: 110 compute units, half of 128 GiB. */
  mi250x: {
    language: 'hip',
    architecture: 'gfx90a',
    profile: profileOfFacts('AMD Instinct MI250X, one die', 64 * GIB, 110, cdna),
  },
  /** AMD Instinct MI300X: 304 compute units, 192 GiB. */
  mi300x: {
    language: 'hip',
    architecture: 'gfx942',
    profile: profileOfFacts('AMD Instinct MI300X', 192 * GIB, 304, cdna),
  },
  'arc-a770': arc,
  arc,
  /** Apple M2, 10 GPU cores; Metal feature set tables: 32 KiB of threadgroup memory, 1024 threads; SIMD groups of 32. */
  m2: {
    language: 'msl',
    profile: {
      ...webGpuProfile,
      name: 'Apple M2',
      sharedBytes: 32 * KIB,
      maxThreads: 1024,
      multiprocessors: 10,
    },
  },
  /** The limits that the WebGPU specification guarantees on every device; the rest is taken from `webGpuProfile`. */
  'webgpu-default': {
    language: 'wgsl',
    profile: {
      ...webGpuProfile,
      name: 'WebGPU, default limits',
      sharedBytes: 16 * KIB,
      maxThreads: 256,
    },
  },
  /** SwiftShader as it reports itself to Dawn: 32 KiB of workgroup memory, 256 invocations, subgroups of 4. */
  swiftshader: {
    language: 'wgsl',
    profile: {
      ...webGpuProfile,
      ...softwareProfile,
      name: 'SwiftShader',
      lockstepBytes: 16,
      sharedBytes: 32 * KIB,
      maxThreads: 256,
    },
  },
  /** The device `cpu` with one thread. */
  'wasm-cpu': {
    language: 'wasm',
    profile: { ...cpuProfile, name: 'WebAssembly, one thread', multiprocessors: 1 },
  },
} as const satisfies Readonly<Record<ProfileName, NamedProfile>>;
