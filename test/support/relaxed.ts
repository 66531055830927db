/** Multiply-adds in WebAssembly. */
import { compileModule } from '../../src/devices/cpu/relaxed.ts';
import { encodeModule, FunctionAssembler } from '../../src/emit/wasm/encoder.ts';

/** Node before 20.16 does not hand out its modules at once: multiply-adds stay behind their flag there. */
export const hasMultiplyAdds = typeof process.getBuiltinModule === 'function';

/** The bytes of a multiply-add and of one whose product is negative. */
const INSTRUCTIONS = {
  single: { madd: [0xfd, 0x85, 0x02], nmadd: [0xfd, 0x86, 0x02] },
  double: { madd: [0xfd, 0x87, 0x02], nmadd: [0xfd, 0x88, 0x02] },
};

/** Which of them a module has. */
export function relaxedInstructions(module: Uint8Array, precision: 'single' | 'double'): string[] {
  const source = Buffer.from(module);
  return Object.entries(INSTRUCTIONS[precision])
    .filter(([, bytes]) => source.includes(Buffer.from(bytes)))
    .map(([name]) => name);
}

/** How many of either there are. (Constants that look like one count, too.) */
export function multiplyAdds(module: Uint8Array, precision: 'single' | 'double'): number {
  const source = Buffer.from(module).toString('latin1');
  return Object.values(INSTRUCTIONS[precision]).reduce(
    (sum, bytes) => sum + source.split(Buffer.from(bytes).toString('latin1')).length - 1,
    0,
  );
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
  const module = compileModule(
    encodeModule([{ name: 'run', parameters: 0, body: f.finish() }], { initial: 1, maximum: 1, shared: false }),
  );
  (new WebAssembly.Instance(module, { env: { memory } }).exports.run as () => void)();
  return new Float64Array(memory.buffer)[0] !== 2 * u;
}
