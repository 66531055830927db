/** Features of the JavaScript host: modules of Node, number of processors, cross-origin isolation, SIMD. */
import { reasonOf } from '../../problem/errors.ts';
import type { Availability } from '../device.ts';
import { askSystem } from '../permissions.ts';
import { importModule } from './import.ts';

/** A module of Node, or a package installed there; undefined elsewhere. */
export async function nodeModule<T>(name: string): Promise<T | undefined> {
  const known = builtin<T>(name);
  if (known || typeof process === 'undefined' || !process.versions?.node) return known;
  return importModule<T>(name);
}

/** Like `nodeModule`, without waiting; undefined also in Node before 20.16. */
export function builtin<T>(name: string): T | undefined {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return undefined;
  return process.getBuiltinModule(name) as T | undefined;
}

/** The most threads: a worker pool counts busy workers in ten bits (worker.ts). */
export const MOST_THREADS = 1023;

/** Threads that can run at the same time. */
export async function processorCount(): Promise<number> {
  const told = globalThis.navigator?.hardwareConcurrency;
  if (told) return told;
  const os = await nodeModule<typeof import('node:os')>('node:os');
  return os?.availableParallelism() ?? 1;
}

/** True where memory can be shared with worker threads (browsers: on cross-origin isolated pages). */
export function canShareMemory(): boolean {
  return typeof SharedArrayBuffer === 'function' && globalThis.crossOriginIsolated !== false;
}

/** A function that adds two vectors: refused where SIMD is missing or compilation is forbidden. */
const SIMD_PROBE = [
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7b, 1, 0x7b, 3, 2, 1, 0, 10, 11, 1, 9, 0, 0x20, 0, 0x20, 0,
  0xfd, 0xe4, 0x01, 0x0b,
];

/**
 * Whether a processor has adders besides its multiply-add units, as Zen has: two of each kind (AMD, Software
 * Optimization Guides for families 17h, 19h and 1Ah, on the floating-point unit). Browsers do not tell the processor's name.
 */
export function hasSeparateAdders(processor: string): boolean {
  return /\b(EPYC|Ryzen|Hygon)\b/i.test(processor);
}

/** Whether WebAssembly SIMD can be compiled here, and the processor's name where it may be asked. Takes microseconds. */
export function cpuAvailability(): Availability {
  const os = builtin<typeof import('node:os')>('node:os');
  const name = askSystem({ name: 'sys', kind: 'cpus' }, () => os?.cpus()[0]?.model.trim()) || 'CPU';
  const reason = whyNoSimd();
  const memory = askSystem({ name: 'sys', kind: 'systemMemoryInfo' }, () => os?.totalmem());
  const devices = [{ name, ...(memory ? { memory } : {}), driver: 'WebAssembly' }];
  return reason === undefined ? { available: true, name, devices } : { available: false, reason, name };
}

function whyNoSimd(): string | undefined {
  if (typeof WebAssembly !== 'object') {
    return "this JavaScript engine has no WebAssembly, for which the CPU device writes its kernels (React Native's Hermes has none)";
  }
  const bytes = new Uint8Array(SIMD_PROBE);
  try {
    if (!WebAssembly.validate(bytes)) return 'WebAssembly has no SIMD here';
    new WebAssembly.Module(bytes);
    return undefined;
  } catch (error) {
    const said = reasonOf(error);
    if (/\bCSP\b|content security policy/i.test(said)) return "the content security policy lacks 'wasm-unsafe-eval'";
    return `WebAssembly must not be compiled at run time here, which the CPU device rests on (${said})`;
  }
}
