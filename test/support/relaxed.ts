/** Relaxed SIMD in engines that keep it behind a flag: V8 until Node 22. */
import { setFlagsFromString } from 'node:v8';
import { hasRelaxedSimd } from '../../src/devices/cpu/host.ts';
import { encodeModule, FunctionAssembler } from '../../src/emit/wasm/encoder.ts';

/** From here on in this process. @throws Error where the engine does not know it at all */
export function enableRelaxedSimd(): void {
  if (!hasRelaxedSimd()) setFlagsFromString('--experimental-wasm-relaxed-simd');
  if (!hasRelaxedSimd()) throw new Error(`Node ${process.version} has no relaxed SIMD.`);
}

/** Whether a multiply-add is rounded once here: on processors that have none the engine multiplies, rounds and adds. */
export function roundsOnce(): boolean {
  // (1 + u)² − 1 = 2u + u², whose last term is lost where the square is rounded.
  const u = 2 ** -28;
  const f = new FunctionAssembler(0);
  f.i32(0);
  for (const value of [1 + u, 1 + u, -1]) f.vector('f64', value);
  f.op('f64x2.relaxed_madd');
  f.memory('v128.store', 0);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const module = new WebAssembly.Module(encodeModule(f.finish(), 0, { initial: 1, maximum: 1, shared: false }));
  (new WebAssembly.Instance(module, { env: { memory } }).exports.run as () => void)();
  return new Float64Array(memory.buffer)[0] !== 2 * u;
}
