/**
 * What some tests need beyond Node and the packages that always install: devices, browsers, compilers. Each is named here
 * with how to get it. Where one is missing its tests are skipped, and the run says so at its end; continuous integration,
 * which installs them, fails instead. With `OMNIFFT_TEST_HIDE=all` nothing of it is found, and nothing is expected
 * (hide.ts).
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';

/** True where everything that is optional counts as missing. */
export const hidden = Boolean(process.env.OMNIFFT_TEST_HIDE);

/**
 * True in the second run of `npm test -- --bare`, which shows what files do where everything optional is missing. What takes
 * long in them and needs nothing optional has run in the first one, and is left out.
 */
export const repeated = process.env.OMNIFFT_TEST_REPEATED === '1';

interface Optional {
  readonly name: string;
  /** How to get it, as the end of a sentence. */
  readonly install: string;
  /** The environment variable that makes its absence a failure. */
  readonly expectedBy: string;
}

const optional = {
  chromium: {
    name: 'Chromium',
    install: 'npm test installs one for Linux on x64, elsewhere name one in CHROME_PATH',
    expectedBy: 'CI',
  },
  firefox: { name: 'Firefox', install: 'on Debian: apt install firefox-esr', expectedBy: 'CI' },
  webkit: { name: 'WebKit', install: 'on Debian: apt install libwebkit2gtk-4.1-0 xvfb', expectedBy: 'CI' },
  webgpu: {
    name: 'WebGPU on the processor',
    install: 'npm test installs webgpu and @sparticuz/chromium, for Linux on x64',
    expectedBy: 'CI',
  },
  koffi: { name: 'koffi', install: 'npm test installs it where it has a binary for the system', expectedBy: 'CI' },
  opencl: {
    name: 'an OpenCL device',
    install: 'on Debian: apt install ocl-icd-libopencl1 pocl-opencl-icd',
    expectedBy: 'CI',
  },
  lavapipe: {
    name: 'lavapipe, Vulkan on the processor, with its validation layers',
    install: 'on Debian: apt install libvulkan1 mesa-vulkan-drivers vulkan-validationlayers',
    expectedBy: 'CI',
  },
  swiftshader: {
    name: 'SwiftShader, Vulkan on the processor',
    install: 'npm test installs @sparticuz/chromium, which has it, for Linux on x64',
    expectedBy: 'CI',
  },
  spirv: { name: 'the validator of SPIR-V', install: 'on Debian: apt install spirv-tools', expectedBy: 'CI' },
  spirvTranslator: {
    name: 'the translator of SPIR-V to LLVM',
    install: 'on Debian: apt install llvm-spirv-14',
    expectedBy: 'CI',
  },
  ocloc: {
    name: "Intel's offline compiler",
    install: 'on Debian: apt install intel-opencl-icd',
    expectedBy: 'CI',
  },
  levelZero: { name: 'the header of Level Zero', install: 'on Debian: apt install libze-dev', expectedBy: 'CI' },
  hiprtc: {
    name: "HIP's run-time compiler",
    install: 'on Debian: apt install libamdhip64-5 libamd-comgr2 rocm-device-libs',
    expectedBy: 'CI',
  },
  cpp: { name: 'a C and a C++ compiler', install: 'on Debian: apt install g++', expectedBy: 'CI' },
  mpi: { name: 'Open MPI and MPICH', install: 'on Debian: apt install openmpi-bin mpich', expectedBy: 'CI' },
  nvcc: { name: "CUDA's compiler", install: "NVIDIA's CUDA toolkit has it", expectedBy: 'OMNIFFT_EXPECT_NVCC' },
  python: { name: 'Python 3', install: 'on Debian: apt install python3', expectedBy: 'CI' },
  sox: { name: 'SoX', install: 'on Debian: apt install sox', expectedBy: 'CI' },
  suites: {
    name: 'the tests of NumPy and SciPy',
    install: 'on Debian: apt install python3-scipy python3-pytest python3-hypothesis',
    expectedBy: 'CI',
  },
  scipy: { name: 'SciPy', install: 'on Debian: apt install python3-scipy', expectedBy: 'OMNIFFT_EXPECT_SCIPY' },
} satisfies Record<string, Optional>;

/**
 * Says in the report that something is missing, as a test that is skipped, or fails where it is expected. To be called
 * where tests are defined. At the end of a run scripts/test.mjs lists what was skipped under such a title.
 * @param reason why it is missing; undefined where it is there
 * @returns the reason, for `skipIf`
 */
export function missing(what: keyof typeof optional, reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  const { name, install, expectedBy }: Optional = optional[what];
  const expected = Boolean(process.env[expectedBy]) && !hidden;
  test.skipIf(!expected)(`needs ${name} (${install}): ${reason}`, () => {
    throw new Error(`${name} is expected here, because ${expectedBy} is set`);
  });
  return reason;
}

/** The path of the first of some programs that is on the PATH, or in other folders. */
export function findProgram(names: readonly string[], folders: readonly string[] = []): string | undefined {
  return programsCalled(names, folders)[0];
}

/** The paths of all of them. */
export function programsCalled(names: readonly string[], folders: readonly string[] = []): string[] {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const all = hidden ? onPath : [...onPath, ...folders];
  return names.flatMap((name) => all.map((folder) => join(folder, name))).filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
