/**
 * cuFFT, to compare with: in this very process, in the device's context and stream, on the same buffers, between the same
 * events. What it is given is where it reads and writes; it makes its own work memory.
 */
import { FftError } from '../../problem/errors.ts';
import type { PeerProblem, PeerProgram } from '../device.ts';
import { openLibrary } from '../native/library.ts';
import type { NativeHost } from '../native/program.ts';
import type { CudaDriver } from './driver.ts';
import { toolkitNames, windows } from './toolkit.ts';

export interface CufftPlan {
  /** Appends one transform to the stream. */
  run(input: bigint, output: bigint): void;
  close(): void;
}

export interface Cufft {
  readonly version: string;
  /** @throws FftError `unsupported-feature`, `out-of-memory` where cuFFT refuses. The device's context must be current. */
  plan(problem: PeerProblem, stream: bigint): CufftPlan;
}

/** The number of each type of transform and the function that runs it: between complex numbers, from reals, to reals. */
const KINDS = {
  single: { complex: [0x29, 'C2C'], forward: [0x2a, 'R2C'], inverse: [0x2c, 'C2R'] },
  double: { complex: [0x69, 'Z2Z'], forward: [0x6a, 'D2Z'], inverse: [0x6c, 'Z2D'] },
} as const;
const SIGNS = { forward: -1, inverse: 1 } as const;
const OUT_OF_MEMORY = [2];

/** @throws FftError (as a rejection) `device-unavailable` */
export async function openCufft(): Promise<Cufft> {
  const files = windows
    ? ['cufft64_12.dll', 'cufft64_11.dll', 'cufft64_10.dll']
    : ['libcufft.so.12', 'libcufft.so.11', 'libcufft.so.10', 'libcufft.so'];
  const library = await openLibrary({
    names: toolkitNames(files, 'cufft'),
    what: 'cuFFT',
    install: 'Install the CUDA toolkit with cuFFT, and set CUDA_PATH to it where it is in a place of its own.',
  });
  const planMany = library.func('cufftPlanMany', 'int', [
    ...['void *', 'int', 'void *', 'void *', 'int', 'int', 'void *', 'int', 'int', 'int', 'int'],
  ]);
  const setStream = library.func('cufftSetStream', 'int', ['int', 'void *']);
  const destroy = library.func('cufftDestroy', 'int', ['int']);
  const getVersion = library.func('cufftGetVersion', 'int', ['void *']);
  const version = new Int32Array(1);
  checkStatus('cufftGetVersion', getVersion(version));
  return {
    version: String(version[0]),
    plan({ size, precision, batches, direction, real }, stream) {
      const lengths = Int32Array.from([...size].reverse());
      const points = size.reduce((product, length) => product * length, 1);
      const handle = new Int32Array(1);
      const layout = [null, 1, points] as const;
      const [type, name] = KINDS[precision][real ? direction : 'complex'];
      const run = library.func(`cufftExec${name}`, 'int', ['int', 'void *', 'void *', ...(real ? [] : ['int'])]);
      checkStatus('cufftPlanMany', planMany(handle, lengths.length, lengths, ...layout, ...layout, type, batches));
      const plan = handle[0]!;
      const close = () => checkStatus('cufftDestroy', destroy(plan));
      const set = setStream(plan, stream);
      if (set !== 0) close();
      checkStatus('cufftSetStream', set);
      const sign = real ? [] : [SIGNS[direction]];
      return { run: (input, output) => checkStatus('cufftExec', run(plan, input, output, ...sign)), close };
    },
  };
}

/** @throws FftError (as a rejection) `device-unavailable`, `unsupported-feature`, `out-of-memory` */
export async function bindCufft(
  host: NativeHost & { readonly driver: CudaDriver },
  problem: PeerProblem,
  input: bigint,
  output: bigint,
): Promise<PeerProgram> {
  const { driver } = host;
  const enter = () => {
    host.requireOpen();
    host.drain();
    host.enter();
  };
  const cufft = await openCufft();
  enter();
  const plan = cufft.plan(problem, driver.stream);
  const submit = async (work: () => void) => {
    enter();
    work();
    driver.synchronize(driver.stream);
  };
  return {
    time: (repeats) => driver.timed(repeats, submit, () => plan.run(input, output)),
    release() {
      try {
        host.enter();
        plan.close();
      } catch {
        // The device was closed or lost: its memory is gone, the plan's too.
      }
    },
  };
}

function checkStatus(what: string, status: unknown): void {
  if (status === 0) return;
  const code = OUT_OF_MEMORY.includes(Number(status)) ? 'out-of-memory' : 'unsupported-feature';
  throw new FftError(code, `cuFFT refused: ${what} ended with status ${String(status)}.`);
}
