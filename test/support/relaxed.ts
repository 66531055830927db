/** Relaxed SIMD in engines that keep it behind a flag: V8 until Node 22. */
import { setFlagsFromString } from 'node:v8';
import { hasRelaxedSimd } from '../../src/devices/cpu/host.ts';

/** From here on in this process. @throws Error where the engine does not know it at all */
export function enableRelaxedSimd(): void {
  if (!hasRelaxedSimd()) setFlagsFromString('--experimental-wasm-relaxed-simd');
  if (!hasRelaxedSimd()) throw new Error(`Node ${process.version} has no relaxed SIMD.`);
}
