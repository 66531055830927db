import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { encodeModule, FunctionAssembler, type MemoryOp, repetition } from './encoder.ts';

const random = randomFor('emit/wasm/encoder');
const LIMITS = { initial: 1, maximum: 2, shared: false };

/** Assembles a function, runs it over one page of memory and returns that. */
function run(parameters: number, emit: (asm: FunctionAssembler) => void, ...values: number[]): DataView {
  const asm = new FunctionAssembler(parameters);
  emit(asm);
  const bytes = encodeModule([{ name: 'run', parameters, body: asm.finish() }], LIMITS);
  expect(WebAssembly.validate(bytes)).toBe(true);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  (exports.run as (...values: number[]) => void)(...values);
  return new DataView(memory.buffer);
}

describe('the assembler', () => {
  it('writes an empty function', () => {
    expect(run(0, () => {}).getUint8(0)).toBe(0);
    expect(run(7, () => {}, 1, 2, 3, 4, 5, 6, 7).byteLength).toBe(65536);
  });

  it('adds a function that calls it as often as wanted, with zeros', () => {
    const asm = new FunctionAssembler(2);
    // Adds 1 to the number at 8 + both arguments.
    for (const address of [8, 8]) {
      asm.i32(address);
      for (const argument of [0, 1]) {
        asm.get(argument);
        asm.op('i32.add');
      }
    }
    asm.memory('f64.load', 0);
    asm.float('f64', 1);
    asm.op('f64.add');
    asm.memory('f64.store', 0);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    const first = { name: 'run', parameters: 2, body: asm.finish() };
    const module = new WebAssembly.Module(encodeModule([first, repetition(first)], LIMITS));
    const { run, repeat } = new WebAssembly.Instance(module, { env: { memory } }).exports as Record<
      string,
      (...values: number[]) => void
    >;
    run!(8, 16);
    repeat!(7);
    repeat!(1);
    expect([...new Float64Array(memory.buffer, 0, 6)]).toEqual([0, 8, 0, 0, 1, 0]);
  });

  it('encodes integers of every size', () => {
    const edges = [
      0,
      1,
      -1,
      63,
      64,
      -64,
      -65,
      127,
      128,
      8191,
      8192,
      -8193,
      2 ** 20,
      -(2 ** 27),
      2 ** 31 - 1,
      -(2 ** 31),
    ];
    const all = [...edges, ...Array.from({ length: 200 }, () => random.bits() | 0), 2 ** 31, 2 ** 32 - 8];
    for (const value of all) {
      // The number is used as an address from which another one brings it back to 16.
      const memory = run(0, (asm) => {
        asm.i32(value);
        asm.i32(16 - (value | 0));
        asm.op('i32.add');
        asm.float('f64', 1.5);
        asm.memory('f64.store', 0);
      });
      expect(memory.getFloat64(16, true)).toBe(1.5);
    }
  });

  it('encodes offsets and numbers of locals of every length', () => {
    for (const offset of [0, 1, 100, 127, 128, 255, 16383, 16384, 65528]) {
      const memory = run(
        1,
        (asm) => {
          asm.get(0);
          asm.float('f64', offset + 0.25);
          asm.memory('f64.store', offset);
        },
        0,
      );
      expect(memory.getFloat64(offset, true)).toBe(offset + 0.25);
    }
    const memory = run(
      1,
      (asm) => {
        const locals = Array.from({ length: 300 }, (_, i) =>
          asm.local((['i32', 'f32', 'f64', 'v128'] as const)[i % 4] as 'i32'),
        );
        expect(locals).toEqual(locals.map((_, i) => i + 1));
        const double = locals[298] as number;
        asm.float('f64', 7);
        asm.set(double);
        asm.get(0);
        asm.get(double);
        asm.memory('f64.store', 8);
      },
      0,
    );
    expect(memory.getFloat64(8, true)).toBe(7);
  });

  it('encodes constants exactly', () => {
    const values = [
      0,
      -0,
      1,
      -1,
      Math.PI,
      5e-324,
      Number.MAX_VALUE,
      Number.POSITIVE_INFINITY,
      random.unit(),
      -random.unit(),
    ];
    for (const value of values) {
      const memory = run(0, (asm) => {
        asm.i32(0);
        asm.float('f64', value);
        asm.memory('f64.store', 0);
        asm.i32(0);
        asm.float('f32', value);
        asm.memory('f32.store', 8);
        asm.i32(0);
        asm.vector('f64', value);
        asm.memory('v128.store', 16);
        asm.i32(0);
        asm.vector('f32', value);
        asm.memory('v128.store', 32);
      });
      for (const at of [0, 16, 24]) expect(memory.getFloat64(at, true)).toBe(value);
      for (const at of [8, 32, 36, 40, 44]) expect(memory.getFloat32(at, true)).toBe(Math.fround(value));
    }
  });

  it.each(['add', 'sub', 'mul'] as const)('%s in every shape', (name) => {
    const [a, b] = [random.unit(), random.unit()].map(Math.fround) as [number, number];
    const want = name === 'add' ? a + b : name === 'sub' ? a - b : a * b;
    const memory = run(0, (asm) => {
      asm.i32(0);
      asm.float('f64', a);
      asm.float('f64', b);
      asm.op(`f64.${name}`);
      asm.op('f64.neg');
      asm.memory('f64.store', 0);
      asm.i32(0);
      asm.float('f32', a);
      asm.float('f32', b);
      asm.op(`f32.${name}`);
      asm.memory('f32.store', 8);
      asm.i32(0);
      asm.vector('f64', a);
      asm.vector('f64', b);
      asm.op(`f64x2.${name}`);
      asm.memory('v128.store', 16);
      asm.i32(0);
      asm.vector('f32', a);
      asm.vector('f32', b);
      asm.op(`f32x4.${name}`);
      asm.vector('f32', -0);
      asm.op('v128.xor');
      asm.memory('v128.store', 32);
    });
    expect([memory.getFloat64(0, true), memory.getFloat64(24, true)]).toEqual([-want, want]);
    expect([memory.getFloat32(8, true), memory.getFloat32(44, true)]).toEqual([Math.fround(want), -Math.fround(want)]);
  });

  it('loads and stores single lanes', () => {
    const memory = run(0, (asm) => {
      const [from, to] = [asm.local('v128'), 256];
      asm.i32(0);
      asm.float('f64', 3);
      asm.memory('f64.store', 64);
      asm.vector('f64', 1);
      asm.set(from);
      asm.i32(0);
      asm.get(from);
      asm.memory('v128.load64_lane', 64, 1);
      asm.set(from);
      const store = (name: MemoryOp, at: number, lane?: number) => {
        asm.i32(0);
        asm.get(from);
        asm.memory(name, at, lane);
      };
      store('v128.store', to);
      store('v128.store64_lane', to + 16, 1);
      store('v128.store32_lane', to + 24, 3);
    });
    expect([256, 264, 272].map((at) => memory.getFloat64(at, true))).toEqual([1, 3, 3]);
    expect(memory.getUint32(280, true)).toBe(memory.getUint32(268, true));
  });

  it('shuffles bytes of two vectors', () => {
    const order = Array.from({ length: 16 }, () => random.integer(0, 31));
    const memory = run(0, (asm) => {
      const [a, b] = [asm.local('v128'), asm.local('v128')];
      const fill = (local: number, first: number) => {
        asm.i32(0);
        asm.memory('v128.load', first);
        asm.set(local);
      };
      for (let word = 0; word < 4; word++) {
        const bytes = new Uint8Array(8).map((_, i) => 8 * word + i);
        asm.i32(0);
        asm.float('f64', new Float64Array(bytes.buffer)[0] as number);
        asm.memory('f64.store', 8 * word);
      }
      fill(a, 0);
      fill(b, 16);
      asm.i32(0);
      asm.get(a);
      asm.get(b);
      asm.shuffle(order);
      asm.memory('v128.store', 64);
    });
    expect(order.map((_, i) => memory.getUint8(64 + i))).toEqual(order);
  });

  it('loops until a branch is not taken, and puts a prologue first', () => {
    const memory = run(
      1,
      (asm) => {
        const [counter, step, sum] = [asm.local('i32'), asm.local('f64'), asm.local('f64')];
        asm.loop();
        asm.get(sum);
        asm.get(step);
        asm.op('f64.add');
        asm.set(sum);
        asm.get(counter);
        asm.i32(1);
        asm.op('i32.add');
        asm.tee(counter);
        asm.get(0);
        asm.op('i32.lt_s');
        asm.branchIf(0);
        asm.end();
        asm.i32(0);
        asm.get(sum);
        asm.memory('f64.store', 0);
        asm.first(() => {
          asm.float('f64', 2.5);
          asm.set(step);
        });
      },
      10,
    );
    expect(memory.getFloat64(0, true)).toBe(25);
  });

  it('imports shared memory where it is told to', () => {
    const none = { name: 'run', parameters: 0, body: new FunctionAssembler(0).finish() };
    const bytes = encodeModule([none, { ...none, name: 'other' }], { initial: 1, maximum: 65535, shared: true });
    const module = new WebAssembly.Module(bytes);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65535, shared: true });
    expect(() => new WebAssembly.Instance(module, { env: { memory } })).not.toThrow();
    const alone = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    expect(() => new WebAssembly.Instance(module, { env: { memory: alone } })).toThrow(WebAssembly.LinkError);
    const names = WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]);
    expect(names).toEqual([
      ['run', 'function'],
      ['other', 'function'],
    ]);
  });
});
