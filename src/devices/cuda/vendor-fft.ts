/**
 * The FFT library of a GPU's vendor, for comparisons: in the same process, context and stream, on the same buffers, and timed between the same
 * events. The plan works on the given buffers and allocates its own work area. hipFFT has cuFFT's functions under other names.
 */
import { FftError } from '../../problem/errors.ts';
import type { PeerProblem, PeerProgram } from '../device.ts';
import { openLibrary } from '../native/library.ts';
import type { NativeHost } from '../native/program.ts';
import type { VendorFft } from './api.ts';
import type { CudaDriver } from './driver.ts';

export interface VendorFftPlan {
  /** Appends one transform to the stream. */
  run(input: bigint, output: bigint): void;
  close(): void;
}

export interface OpenVendorFft {
  readonly version: string;
  /**
   * Plans a transform. The device's context must be current.
   * @throws FftError `unsupported-feature`, `out-of-memory` if the library refuses.
   */
  plan(problem: PeerProblem, stream: bigint): VendorFftPlan;
}

/** The transform types of cuFFT, and the function that executes each: C2C, R2C, C2R. */
const KINDS = {
  single: { complex: [0x29, 'C2C'], forward: [0x2a, 'R2C'], inverse: [0x2c, 'C2R'] },
  double: { complex: [0x69, 'Z2Z'], forward: [0x6a, 'D2Z'], inverse: [0x6c, 'Z2D'] },
} as const;
const SIGNS = { forward: -1, inverse: 1 } as const;
const OUT_OF_MEMORY = [2];

/** Loads the library. @throws FftError (as a rejection) `device-unavailable` */
export async function openVendorFft({
  title,
  prefix,
  handle: type,
  library: request,
}: VendorFft): Promise<OpenVendorFft> {
  const library = await openLibrary(request());
  const named = (name: string, ...parameters: string[]) => {
    const call = library.func(`${prefix}${name}`, 'int', parameters);
    return (...args: unknown[]) => checkStatus(title, `${prefix}${name}`, call(...args));
  };
  const planMany = named(
    'PlanMany',
    'void *',
    'int',
    ...['void *', 'void *', 'int', 'int', 'void *', 'int', 'int', 'int', 'int'],
  );
  const setStream = named('SetStream', type, 'void *');
  const destroy = named('Destroy', type);
  const version = new Int32Array(1);
  named('GetVersion', 'void *')(version);
  return {
    version: String(version[0]),
    plan({ size, precision, batches, direction, real }, stream) {
      const lengths = Int32Array.from([...size].reverse());
      const points = size.reduce((product, length) => product * length, 1);
      const handle = type === 'int' ? new Int32Array(1) : new BigInt64Array(1);
      const layout = [null, 1, points] as const;
      const [code, name] = KINDS[precision][real ? direction : 'complex'];
      const run = named(`Exec${name}`, type, 'void *', 'void *', ...(real ? [] : ['int']));
      planMany(handle, lengths.length, lengths, ...layout, ...layout, code, batches);
      const plan = handle[0]!;
      const close = () => destroy(plan);
      try {
        setStream(plan, stream);
      } catch (error) {
        close();
        throw error;
      }
      const sign = real ? [] : [SIGNS[direction]];
      return { run: (input, output) => run(plan, input, output, ...sign), close };
    },
  };
}

/** Binds a plan of the library to memory. @throws FftError (as a rejection) `device-unavailable`, `unsupported-feature`, `out-of-memory` */
export async function bindVendorFft(
  fft: VendorFft,
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
  const library = await openVendorFft(fft);
  enter();
  const plan = library.plan(problem, driver.stream);
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
        // The device was closed or lost, and its memory and plans with it.
      }
    },
  };
}

function checkStatus(title: string, what: string, status: unknown): void {
  if (status === 0) return;
  const code = OUT_OF_MEMORY.includes(Number(status)) ? 'out-of-memory' : 'unsupported-feature';
  throw new FftError(code, `${title} refused: ${what} ended with status ${String(status)}.`);
}
