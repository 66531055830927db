/**
 * Relaxed SIMD, which is where vectors have multiply-adds: whether the engine knows it, and how code with it is compiled.
 *
 * Node 22 and current browsers have it. The engine of Node 20 has the same instructions behind a flag. That is set for
 * the moment in which a kernel is compiled: nothing else in the process meets it, and V8, which tells caches of compiled
 * scripts apart by its flags, finds these as they were.
 */
import { builtin } from './host.ts';

/** A function that multiplies vectors and adds to the product. */
const PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7b, 1, 0x7b, 3, 2, 1, 0, 10, 13, 1, 11, 0, 0x20, 0, 0x20, 0,
  0x20, 0, 0xfd, 0x85, 0x02, 0x0b,
]);

const FLAG = 'experimental-wasm-relaxed-simd';
/** The version with the flag; the next one has the instructions without it. Others complain about unknown flags. */
const FLAGGED = /^11\.3\./;

/** Another thread that compiles may reset the flag just before the compiler reads it here. */
const ATTEMPTS = 20;

/** Whether kernels may multiply and add at once. WebKitGTK 2.50 has no such instructions. */
export function hasRelaxedSimd(): boolean {
  return isStandard() || withFlag(isStandard);
}

/** A module that may have such instructions. @throws WebAssembly.CompileError */
export function compileModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  const compile = () => new WebAssembly.Module(bytes);
  if (!flags() || isStandard()) return compile();
  for (let attempt = 1; ; attempt++) {
    try {
      return withFlag(compile);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
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

/** The engine's flags, where it has the one in question. */
function flags(): typeof import('node:v8') | undefined {
  if (typeof process === 'undefined' || !FLAGGED.test(process.versions?.v8 ?? '')) return undefined;
  return builtin('node:v8');
}
