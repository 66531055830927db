/** FFTW 3 through koffi, in each of the precisions that it is built for. */
import { FftError } from '../../../index.ts';
import { double, extended, type NumberFormat, quad, single, type WideFormat } from './formats.ts';
import { lineOf, type Peer, realKind, realsOnSide, type Task, type WidePeer } from './peer.ts';

/** Letters that name a build in its functions and file. */
const BUILDS = { single: 'f', double: '', 'long double': 'l', quad: 'q' } as const;
export type FftwBuild = keyof typeof BUILDS;

/** Constants of fftw3.h. */
const FORWARD = -1;
const BACKWARD = 1;
const MEASURE = 0;
const R2R = { dct1: 3, dct3: 4, dct2: 5, dct4: 6, dst1: 7, dst3: 8, dst2: 9, dst4: 10, dht: 2 } as const;
/** The limit in seconds of FFTW's planning, after which it estimates. */
const PATIENCE = 1;

type NativePointer = bigint;

interface Functions {
  readonly alloc: (bytes: number) => NativePointer;
  readonly free: (memory: NativePointer) => void;
  readonly view: (memory: NativePointer, bytes: number) => ArrayBuffer;
  readonly plan: (task: Task, input: NativePointer, output: NativePointer) => NativePointer | null;
  readonly execute: (plan: NativePointer) => void;
  readonly destroy: (plan: NativePointer) => void;
}

/** Opens a build of FFTW. @throws FftError (as a rejection) `device-unavailable` if koffi or the library is missing */
export async function openFftw(build: 'single' | 'double'): Promise<Peer> {
  return peer('FFTW', await fftwFunctions(build), { single, double }[build]);
}

/** Opens a build of FFTW in a wider format. @throws FftError (as a rejection) `device-unavailable` */
export async function openWideFftw(build: 'long double' | 'quad'): Promise<WidePeer> {
  const format: WideFormat = { 'long double': extended, quad }[build];
  if (build === 'long double' && process.arch !== 'x64') {
    throw new FftError('device-unavailable', `long double is another type on ${process.arch} than on x64.`);
  }
  return { ...peer<bigint>(`FFTW ${build}`, await fftwFunctions(build), format), round: format.round };
}

function peer<T extends number | bigint>(name: string, fftw: Functions, format: NumberFormat<T>): Peer<T> {
  return {
    name,
    has: () => true,
    async run(task, input) {
      const [read, written] = [realsOnSide(task, 'read'), realsOnSide(task, 'written')];
      const from = fftw.alloc(read * format.bytes);
      const to = fftw.alloc(written * format.bytes);
      try {
        // Planning overwrites both arrays.
        const plan = fftw.plan(task, from, to);
        if (plan === null)
          throw new FftError('unsupported-feature', `${name} has no plan for ${task.size.join('x')} points.`);
        format.write(fftw.view(from, read * format.bytes), input);
        fftw.execute(plan);
        fftw.destroy(plan);
        return format.read(fftw.view(to, written * format.bytes), written);
      } finally {
        fftw.free(from);
        fftw.free(to);
      }
    },
    close() {},
  };
}

async function fftwFunctions(build: FftwBuild): Promise<Functions> {
  const { default: koffi } = await import(/* webpackIgnore: true */ 'koffi').catch((cause: unknown) => {
    const message = "FFTW is called through the package koffi, which is not installed: run 'npm install koffi'.";
    throw new FftError('device-unavailable', message, { cause });
  });
  const file = `fftw3${BUILDS[build]}`;
  const names = {
    linux: [`lib${file}.so.3`],
    darwin: [`lib${file}.3.dylib`, `/opt/homebrew/lib/lib${file}.3.dylib`, `/usr/local/lib/lib${file}.3.dylib`],
    win32: [`lib${file}-3.dll`],
  }[process.platform as string] ?? [`lib${file}.so`];
  const library = firstLoadable(names, (name) => koffi.load(name));
  if (!library) throw new FftError('device-unavailable', `there is no ${names[0]} (Debian: ${PACKAGES[build]})`);
  const func = (name: string, result: string, ...parameters: string[]) =>
    library.func(`fftw${BUILDS[build]}_${name}`, result, parameters);
  // Parameters: rank, lengths, batches; for each side its memory, lengths, stride and distance.
  const side = ['void *', 'void *', 'int', 'int'];
  const many = ['int', 'int *', 'int', ...side, ...side];
  const [c2c, r2c, c2r, r2r] = [
    func('plan_many_dft', 'void *', ...many, 'int', 'uint'),
    func('plan_many_dft_r2c', 'void *', ...many, 'uint'),
    func('plan_many_dft_c2r', 'void *', ...many, 'uint'),
    func('plan_many_r2r', 'void *', ...many, 'int *', 'uint'),
  ];
  func('set_timelimit', 'void', 'double')(PATIENCE);
  return {
    alloc: func('malloc', 'void *', 'size_t'),
    free: func('free', 'void', 'void *'),
    view: (memory, bytes) => koffi.view(memory, bytes),
    plan(task, input, output) {
      const { transform, direction, size, batches } = task;
      const forward = direction === 'forward';
      const complex = { read: transform === 'c2c' || !forward, written: transform === 'c2c' || forward };
      const at = (memory: NativePointer, side: 'read' | 'written') => {
        const numbers = transform.startsWith('d') || !complex[side] ? 1 : 2;
        return [memory, null, 1, lineOf(task, side) / numbers];
      };
      const lengths = Int32Array.from(size).reverse();
      const all = [size.length, lengths, batches, ...at(input, 'read'), ...at(output, 'written')];
      if (transform === 'c2c') return c2c(...all, forward ? FORWARD : BACKWARD, MEASURE);
      if (transform === 'r2c') return (forward ? r2c : c2r)(...all, MEASURE);
      const kind = R2R[realKind(task) as keyof typeof R2R];
      return r2r(...all, new Int32Array(size.length).fill(kind), MEASURE);
    },
    execute: func('execute', 'void', 'void *'),
    destroy: func('destroy_plan', 'void', 'void *'),
  };
}

const PACKAGES: Readonly<Record<FftwBuild, string>> = {
  ...{
    single: 'libfftw3-single3',
    double: 'libfftw3-double3',
    'long double': 'libfftw3-long3',
    quad: 'libfftw3-quad3',
  },
};

function firstLoadable<T>(names: readonly string[], load: (name: string) => T): T | undefined {
  for (const name of names) {
    try {
      return load(name);
    } catch {
      // The next library name may be installed.
    }
  }
  return undefined;
}
