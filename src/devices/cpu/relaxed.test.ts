import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { hasMultiplyAdds, relaxedInstructions } from '../../../test/support/relaxed.ts';
import { openWith } from '../../../test/support/transforms.ts';
import { compileModule, hasRelaxedSimd } from './relaxed.ts';

/** The validity as other scripts of the process see it. */
const before = WebAssembly.validate(probe());

describe.runIf(hasMultiplyAdds)('relaxed SIMD', () => {
  it.each(['single', 'double'] as const)('is what kernels are made of in Node, in %s precision', async (precision) => {
    const device = await openWith({}, 1);
    try {
      const plan = await device.plan({ size: [960], precision });
      expect(relaxedInstructions(plan.kernels[0]!.source as Uint8Array, precision)).toEqual(['madd', 'nmadd']);
    } finally {
      device.close();
    }
  });

  it('is there for our modules only where a flag stands before it', () => {
    expect(hasRelaxedSimd()).toBe(true);
    expect(compileModule(probe())).toBeInstanceOf(WebAssembly.Module);
    expect(WebAssembly.validate(probe())).toBe(before);
  });

  it('says what is wrong with a module, and resets the flag', () => {
    expect(() => compileModule(probe().fill(0xff, 30))).toThrow(WebAssembly.CompileError);
    expect(WebAssembly.validate(probe())).toBe(before);
  });

  it('is there while another thread sets and resets the flag', async () => {
    // Only the engine of Node 20 has the flag; elsewhere there is nothing to reset.
    const source = `
    const { setFlagsFromString } = require('node:v8');
    const { parentPort } = require('node:worker_threads');
    const flagged = process.versions.v8.startsWith('11.3.');
    parentPort.postMessage('ready');
    const end = Date.now() + 20_000;
    while (Date.now() < end) {
      for (const no of ['', 'no-']) if (flagged) setFlagsFromString('--' + no + 'experimental-wasm-relaxed-simd');
      const next = performance.now() + 0.5;
      while (performance.now() < next);
    }`;
    const worker = new Worker(source, { eval: true });
    try {
      await new Promise((resolve) => worker.once('message', resolve));
      for (let n = 0; n < 2000; n++) {
        // A custom section with a number makes the module new: V8 caches compiled modules.
        const bytes = new Uint8Array([...probe(), 0, 5, 0, n & 255, n >> 8, 0, 0]);
        expect(compileModule(bytes)).toBeInstanceOf(WebAssembly.Module);
      }
    } finally {
      await worker.terminate();
    }
  });

  it('is done without where the flag cannot be had for long enough', async () => {
    const device = await openWith({}, 1);
    const { Module } = WebAssembly;
    WebAssembly.Module = class extends Module {
      constructor(bytes: BufferSource) {
        if (relaxedInstructions(bytes as Uint8Array, 'single').length > 0) {
          throw new WebAssembly.CompileError('no such instruction');
        }
        super(bytes as Uint8Array<ArrayBuffer>);
      }
    };
    try {
      const plan = await device.plan({ size: [960] });
      expect(relaxedInstructions(plan.kernels[0]!.source as Uint8Array, 'single')).toEqual([]);
      expect((await plan.forward(new Float32Array(1920).fill(1)))[0]).toBe(960);
    } finally {
      WebAssembly.Module = Module;
      device.close();
    }
  });
});

/** A function that multiplies vectors and adds to the product. */
function probe(): Uint8Array<ArrayBuffer> {
  return new Uint8Array([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7b, 1, 0x7b, 3, 2, 1, 0, 10, 13, 1, 11, 0, 0x20, 0, 0x20, 0,
    0x20, 0, 0xfd, 0x85, 0x02, 0x0b,
  ]);
}
