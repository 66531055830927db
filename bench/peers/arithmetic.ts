/**
 * No libraries but bounds: as many vector additions, or additions and multiplications, as a transform needs, in registers,
 * with nothing to load, store or shuffle. What is faster has wider vectors than WebAssembly, adds and multiplies at once,
 * or, beside the second, makes do with less arithmetic than our passes.
 */
import { encodeModule, FunctionAssembler } from '../../src/emit/wasm/encoder.ts';
import { countOperations, Expressions } from '../../src/ir/real.ts';
import { dft } from '../../src/kernels/passes/butterfly.ts';
import { RADICES } from '../../src/plan/group/butterflies.ts';
import type { Subject } from '../subject.ts';

export type Bound = Pick<Subject, 'name' | 'time' | 'close'>;

/** Operations on real numbers. */
export interface Operations {
  readonly additions: number;
  readonly multiplications: number;
}

/**
 * Operations side by side, so that none waits for another, and how often they are repeated in the loop. As many as there are
 * registers for: three to a cycle that take four cycles each are twelve on the way.
 */
const CHAINS = 13;
const REPEATED = 8;

/**
 * Additions of real numbers in the split-radix algorithm with four multiplications and two additions to a complex
 * product (H. Sorensen, M. Heideman, S. Burrus: On computing the split-radix FFT, 1986): as many as FFTW's codelets have.
 */
export function fewestAdditions(n: number): number {
  const m = Math.log2(n);
  return Math.round((8 / 3) * n * m - (16 / 9) * n + 2 - (2 / 9) * (-1) ** m);
}

const butterflies = new Map(
  RADICES.map((radix) => {
    const x = new Expressions();
    const array = { name: 'input', space: 'global', type: 'f64' } as const;
    const load = (k: number) => x.load(array, k);
    const values = Array.from({ length: radix }, (_, k) => ({ re: load(2 * k), im: load(2 * k + 1) }));
    return [radix, countOperations(dft(x, values).flatMap(({ re, im }) => [re, im]))];
  }),
);

/** The fewest operations of any sequence of our passes: butterflies, and twiddles on all their inputs but the first. */
export function fewestOperations(n: number): Operations {
  const total = ({ additions, multiplications }: Operations) => additions + multiplications;
  const best = new Map<number, Operations>([[n, { additions: 0, multiplications: 0 }]]);
  const from = (stride: number): Operations => {
    const known = best.get(stride);
    if (known) return known;
    let result = { additions: Number.POSITIVE_INFINITY, multiplications: 0 };
    for (const [radix, own] of butterflies) {
      if ((n / stride) % radix !== 0) continue;
      const rest = from(stride * radix);
      const twiddles = stride === 1 ? 0 : radix - 1;
      const choice = {
        additions: rest.additions + (n / radix) * (own.additions + 2 * twiddles),
        multiplications: rest.multiplications + (n / radix) * (own.multiplications + 4 * twiddles),
      };
      if (total(choice) < total(result)) result = choice;
    }
    best.set(stride, result);
    return result;
  };
  return from(1);
}

type Run = (rounds: number) => void;

/** A function that repeats so many operations, multiplications spread evenly among the additions. */
async function repeater(type: 'f32' | 'f64', multiplications: number): Promise<Run> {
  const shape = type === 'f32' ? 'f32x4' : 'f64x2';
  const f = new FunctionAssembler(1);
  const values = Array.from({ length: CHAINS }, () => f.local('v128'));
  const [little, one] = [f.local('v128'), f.local('v128')];
  const set = (local: number, value: number) => {
    f.vector(type, value);
    f.set(local);
  };
  set(little, 1e-9);
  set(one, 1 + 1e-6);
  values.forEach((value, k) => set(value, k));
  f.loop();
  const count = CHAINS * REPEATED;
  for (let n = 0; n < count; n++) {
    const multiplies = Math.floor(((n + 1) * multiplications) / count) > Math.floor((n * multiplications) / count);
    const value = values[n % CHAINS]!;
    f.get(value);
    f.get(multiplies ? one : little);
    f.op(`${shape}.${multiplies ? 'mul' : 'add'}`);
    f.set(value);
  }
  f.get(0);
  f.i32(1);
  f.op('i32.sub');
  f.tee(0);
  f.branchIf(0);
  f.end();
  // Kept, or the engine would leave them out.
  for (const [k, value] of values.entries()) {
    f.i32(16 * k);
    f.get(value);
    f.memory('v128.store', 0);
  }
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const code = encodeModule([{ name: 'run', parameters: 1, body: f.finish() }], {
    initial: 1,
    maximum: 1,
    shared: false,
  });
  const { instance } = await WebAssembly.instantiate(code, { env: { memory } });
  return instance.exports.run as Run;
}

/** One function for each mixture, so that the engine has optimised it for all lengths. */
const made = new Map<string, Promise<Run>>();

async function bound(name: string, type: 'f32' | 'f64', { additions, multiplications }: Operations): Promise<Bound> {
  const count = CHAINS * REPEATED;
  const mixed = Math.round((count * multiplications) / (additions + multiplications));
  const key = `${type},${mixed}`;
  if (!made.has(key)) made.set(key, repeater(type, mixed));
  const run = await made.get(key)!;
  const share = (additions + multiplications) / ((type === 'f32' ? 4 : 2) * count);
  return {
    name,
    time(calls) {
      const rounds = Math.max(1, Math.round(share * calls));
      const start = performance.now();
      run(rounds);
      return ((performance.now() - start) * 1000 * share) / rounds;
    },
    close() {},
  };
}

/** The additions alone of a split-radix transform of 2^m points, in double precision. */
export function additionsAlone(n: number): Promise<Bound> {
  return bound('additions alone', 'f64', { additions: fewestAdditions(n), multiplications: 0 });
}

/** The arithmetic alone of passes over n points, in single precision. */
export function arithmeticAlone(n: number): Promise<Bound> {
  return bound('arithmetic alone', 'f32', fewestOperations(n));
}
