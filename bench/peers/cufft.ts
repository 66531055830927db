/**
 * Peer: cuFFT, in this very process: the same context and stream, the same buffers, the same events. What it is given
 * is where it reads and writes; it makes its own work memory.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';

export interface CufftProblem {
  /** Axes, fastest first. */
  readonly size: readonly number[];
  readonly precision: 'single' | 'double';
  readonly batches: number;
}

export interface CufftPlan {
  /** Appends one forward transform, packed and interleaved, to the stream. */
  forward(input: bigint, output: bigint): void;
  close(): void;
}

export interface Cufft {
  readonly version: string;
  /** @throws Error where cuFFT has no such plan, or no memory for it. */
  plan(problem: CufftProblem, stream: bigint): CufftPlan;
}

const TYPES = { single: 0x29, double: 0x69 } as const;
const FORWARD = -1;
const FILES = ['libcufft.so.12', 'libcufft.so.11'];

/** The library, or the reason why there is none. The caller's context must be the device's primary one, and current. */
export function openCufft(folders: readonly string[] = []): Cufft | string {
  const { CUDA_PATH, CUDA_HOME } = process.env;
  const roots = [CUDA_PATH, CUDA_HOME, '/usr/local/cuda'].filter((root): root is string => Boolean(root));
  const all = [...folders, ...roots.flatMap((root) => [join(root, 'lib64'), join(root, 'lib')])];
  const found = all.flatMap((folder) => FILES.map((file) => join(folder, file))).filter((path) => existsSync(path));
  let reason = '';
  for (const path of [...found, ...FILES]) {
    try {
      return bind(koffi.load(path));
    } catch (error) {
      reason = (error as Error).message;
    }
  }
  return `no cuFFT: ${reason}`;
}

function bind(library: ReturnType<typeof koffi.load>): Cufft {
  const planMany = library.func('cufftPlanMany', 'int', [
    ...['void *', 'int', 'void *', 'void *', 'int', 'int', 'void *', 'int', 'int', 'int', 'int'],
  ]);
  const setStream = library.func('cufftSetStream', 'int', ['int', 'void *']);
  const destroy = library.func('cufftDestroy', 'int', ['int']);
  const getVersion = library.func('cufftGetVersion', 'int', ['void *']);
  const execute = {
    single: library.func('cufftExecC2C', 'int', ['int', 'void *', 'void *', 'int']),
    double: library.func('cufftExecZ2Z', 'int', ['int', 'void *', 'void *', 'int']),
  };
  const check = (what: string, status: number) => {
    if (status !== 0) throw new Error(`${what} ended with status ${status}`);
  };
  const version = new Int32Array(1);
  check('cufftGetVersion', getVersion(version));
  return {
    version: String(version[0]),
    plan({ size, precision, batches }, stream) {
      const lengths = Int32Array.from([...size].reverse());
      const points = size.reduce((product, length) => product * length, 1);
      const handle = new Int32Array(1);
      const layout = [null, 1, points] as const;
      check(
        'cufftPlanMany',
        planMany(handle, lengths.length, lengths, ...layout, ...layout, TYPES[precision], batches),
      );
      const plan = handle[0]!;
      check('cufftSetStream', setStream(plan, stream));
      const run = execute[precision];
      return {
        forward(input, output) {
          const status = run(plan, input, output, FORWARD) as number;
          if (status !== 0) check('cuFFT', status);
        },
        close: () => check('cufftDestroy', destroy(plan)),
      };
    },
  };
}
