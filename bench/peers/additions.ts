/**
 * No library but a bound: as many vector additions of doubles as a transform needs at least, in registers, with nothing
 * to load, shuffle or multiply. What is faster than this has wider vectors than WebAssembly.
 */
import { encodeModule, FunctionAssembler } from '../../src/emit/wasm/encoder.ts';
import type { Subject } from '../subject.ts';

/** Additions side by side, so that none waits for another, and how often they are repeated in the loop. */
const CHAINS = 12;
const REPEATED = 8;
const LANES = 2;

/**
 * Additions of real numbers in the split-radix algorithm with four multiplications and two additions to a complex
 * product (H. Sorensen, M. Heideman, S. Burrus: On computing the split-radix FFT, 1986): as many as FFTW's codelets have.
 */
export function fewestAdditions(n: number): number {
  const m = Math.log2(n);
  return Math.round((8 / 3) * n * m - (16 / 9) * n + 2 - (2 / 9) * (-1) ** m);
}

/** A function that adds so many times. All lengths share it, so that the engine has optimised it for all of them. */
async function adder(): Promise<(rounds: number) => void> {
  const f = new FunctionAssembler(1);
  const sums = Array.from({ length: CHAINS }, () => f.local('v128'));
  const one = f.local('v128');
  f.vector('f64', 1e-9);
  f.set(one);
  for (const [k, sum] of sums.entries()) {
    f.vector('f64', k);
    f.set(sum);
  }
  f.loop();
  for (let n = 0; n < REPEATED; n++) {
    for (const sum of sums) {
      f.get(sum);
      f.get(one);
      f.op('f64x2.add');
      f.set(sum);
    }
  }
  f.get(0);
  f.i32(1);
  f.op('i32.sub');
  f.tee(0);
  f.branchIf(0);
  f.end();
  // Kept, or the engine would leave them out.
  for (const [k, sum] of sums.entries()) {
    f.i32(16 * k);
    f.get(sum);
    f.memory('v128.store', 0);
  }
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const code = encodeModule(f.finish(), 1, { initial: 1, maximum: 1, shared: false });
  const { instance } = await WebAssembly.instantiate(code, { env: { memory } });
  return instance.exports.run as (rounds: number) => void;
}

let made: ReturnType<typeof adder> | undefined;

export async function additions(n: number): Promise<Pick<Subject, 'name' | 'time' | 'close'>> {
  made ??= adder();
  const run = await made;
  const share = fewestAdditions(n) / (LANES * CHAINS * REPEATED);
  return {
    name: 'additions alone',
    time(calls) {
      const rounds = Math.max(1, Math.round(share * calls));
      const start = performance.now();
      run(rounds);
      return ((performance.now() - start) * 1000 * share) / rounds;
    },
    close() {},
  };
}
