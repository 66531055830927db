/**
 * Relaxed SIMD, the part of WebAssembly that has multiply-adds of vectors: detecting it, and compiling code that uses it.
 *
 * Node 22 and current browsers have it. The engine of Node 20 has the same instructions behind a flag of the process. The
 * flag is set only while a kernel is compiled: no other script of this thread runs with it, and V8, which keys its caches
 * of compiled scripts by its flags, still finds them. Other threads may run with it, and may reset it.
 */
import { builtin } from './host.ts';

/** A function that multiplies vectors and adds to the product. */
const PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7b, 1, 0x7b, 3, 2, 1, 0, 10, 13, 1, 11, 0, 0x20, 0, 0x20, 0,
  0x20, 0, 0xfd, 0x85, 0x02, 0x0b,
]);

const FLAG = 'experimental-wasm-relaxed-simd';
/** The V8 version with the flag. Later versions have the instructions without it; others report an unknown flag. */
const FLAGGED = /^11\.3\./;

/** The most attempts to compile: another compiling thread may reset the flag just before the compiler reads it here. */
const ATTEMPTS = 50;

let known = false;

/** Whether kernels may use multiply-adds of vectors. WebKitGTK 2.50 has no such instructions. */
export function hasRelaxedSimd(): boolean {
  const attempts = flags() ? ATTEMPTS : 1;
  for (let attempt = 0; attempt < attempts && !known; attempt++) known = isStandard() || withFlag(isStandard);
  return known;
}

/** A module that exports `run`: a·b + c of doubles, computed with the vector instruction. */
const MULTIPLY_ADD = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c, 3, 2, 1, 0, 7, 7, 1, 3, 0x72, 0x75,
  0x6e, 0, 0, 10, 22, 1, 20, 0, 0x20, 0, 0xfd, 0x14, 0x20, 1, 0xfd, 0x14, 0x20, 2, 0xfd, 0x14, 0xfd, 0x87, 0x02, 0xfd,
  0x21, 0, 0x0b,
]);

let once: boolean | undefined;

/**
 * Whether multiply-adds of vectors round once. The standard leaves it to the engine, which follows the processor and has to round the same way
 * everywhere. If there are no such instructions, the answer does not matter.
 */
export function roundsOnce(): boolean {
  if (once !== undefined) return once;
  try {
    const { run } = new WebAssembly.Instance(compileModule(MULTIPLY_ADD)).exports as {
      readonly run: (a: number, b: number, c: number) => number;
    };
    const a = 1 + 2 ** -30;
    once = run(a, a, -(1 + 2 ** -29)) === 2 ** -60;
  } catch {
    once = false;
  }
  return once;
}

/** Compiles a module that may have such instructions. @throws WebAssembly.CompileError */
export function compileModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  const compile = () => new WebAssembly.Module(bytes);
  for (let attempts = flags() ? ATTEMPTS : 1; ; attempts--) {
    try {
      return isStandard() ? compile() : withFlag(compile);
    } catch (error) {
      if (attempts <= 1 || !(error instanceof WebAssembly.CompileError)) throw error;
    }
  }
}

function isStandard(): boolean {
  return WebAssembly.validate(PROBE);
}

function withFlag<T>(work: () => T): T {
  const v8 = flags();
  v8?.setFlagsFromString(`--${FLAG}`);
  try {
    return work();
  } finally {
    v8?.setFlagsFromString(`--no-${FLAG}`);
  }
}

/** Access to V8's flags; undefined if V8 does not have the flag, or has frozen its flags, since a change would then end the process. */
function flags(): typeof import('node:v8') | undefined {
  if (typeof process === 'undefined' || !FLAGGED.test(process.versions?.v8 ?? '')) return undefined;
  if (process.execArgv?.some((argument) => /^--freeze[-_]flags/.test(argument))) return undefined;
  return builtin('node:v8');
}
