/** What plans and devices leave behind. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Device, openDevice } from '../../src/index.ts';

/** The largest piece of memory that a device would still give. */
function largestPiece(device: Device): number {
  let [fits, fails] = [0, 2 ** 33];
  while (fails - fits > 4096) {
    const bytes = Math.floor((fits + fails) / 2);
    try {
      device.alloc(bytes).free();
      fits = bytes;
    } catch {
      fails = bytes;
    }
  }
  return fits;
}

/** For a child process: well beyond what it takes on a busy machine. */
const LIMIT = 300_000;

/** What a program of this folder prints. It ends with the test that waits for it. */
async function printedBy(program: string, ...flags: readonly string[]): Promise<Record<string, number>> {
  const given = ['--expose-gc', ...flags, '--import', 'tsx', fileURLToPath(new URL(program, import.meta.url))];
  const { stdout } = await promisify(execFile)(process.execPath, given, { timeout: LIMIT - 5000 });
  return JSON.parse(stdout);
}

describe('memory', () => {
  it('5000 plans made and destroyed leave the process within 6 MB of where it was', {
    timeout: LIMIT,
  }, async () => {
    // The young generation of the engine's own heap grows with use and does not shrink: it is kept small here.
    const { before, filled, after } = await printedBy('churn.ts', '--max-semi-space-size=2');
    expect(filled).toBeGreaterThan(before! / 2);
    expect(after! - filled!).toBeLessThan(6 * 2 ** 20);
  });

  it('plans made and destroyed without a turn of the event loop are not held until one', {
    timeout: LIMIT,
  }, async () => {
    const { before, after } = await printedBy('sync.ts');
    // Each one held would be about 64 KB, and there are 250 of them.
    expect(after! - before!).toBeLessThan(4 * 2 ** 20);
  });

  it('streams of frames leave nothing behind, and make nothing on the way', { timeout: LIMIT }, async () => {
    const young = ['--min-semi-space-size=128', '--max-semi-space-size=128'];
    const { frames, garbage, grown, isNumber } = await printedBy('stream.ts', ...young);
    expect(frames).toBeGreaterThanOrEqual(100_000);
    expect(isNumber).toBe(1);
    // An object for each frame would be 16 bytes at least; what there is comes from the engine's compiler.
    expect(garbage).toBeLessThan(12);
    expect(grown).toBeLessThan(500_000);
  });

  it('a frame of 1024 reals is transformed without an object being made', { timeout: LIMIT }, async () => {
    const { garbage, isNumber } = await printedBy('frame.ts', '--min-semi-space-size=64', '--max-semi-space-size=64');
    expect(isNumber).toBe(1);
    // An object for each call would be 16 bytes at least; what there is comes from the engine's compiler.
    expect(garbage).toBeLessThan(8);
  });

  it('destroyed plans give their device memory back', async () => {
    const device = await openDevice('cpu', { threads: 1 });
    // The first plan leaves kernels, tables and scratch in the caches.
    const use = async (): Promise<void> => {
      const plan = await device.plan({ size: [2 ** 17], precision: 'double', placement: 'in-place' });
      expect(plan.bytes.temp).toBeGreaterThan(0);
      await plan.inverse(await plan.forward(new Float64Array(2 ** 18)));
      plan.destroy();
    };
    await use();
    const room = largestPiece(device);
    for (let round = 0; round < 3; round++) await use();
    expect(largestPiece(device)).toBe(room);
    device.close();
  });

  it('closing a device destroys its plans and frees its memory', async () => {
    const device = await openDevice('cpu', { threads: 2 });
    const plans = [await device.plan({ size: [64] }), await device.plan({ size: [2 ** 16, 4] })];
    const memory = [device.alloc(1000), device.alloc(2 ** 24)];
    device.close();
    for (const plan of plans) expect(() => plan.explain()).toThrow(expect.objectContaining({ code: 'destroyed' }));
    for (const each of memory) expect(() => each.array).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });

  it('hundreds of devices can be opened and closed one after another', { timeout: 120_000 }, async () => {
    for (let n = 0; n < 100; n++) {
      const device = await openDevice('cpu', { threads: n % 20 === 0 ? 2 : 1 });
      const plan = await device.plan({ size: [16], directions: 'forward' });
      const result = await plan.forward(new Float32Array(32).fill(1));
      expect(result[0]).toBe(16);
      device.close();
    }
  });
});
