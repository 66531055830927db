/** What differs between kinds of devices when work is appended, measured or bound at odd places. */
import { afterEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { noOpenCl } from '../../../test/support/opencl.ts';
import { noWebGpu } from '../../../test/support/webgpu.ts';
import { create as createCpuBackend } from '../../devices/cpu/index.ts';
import type { Backend, ProgramStep } from '../../devices/device.ts';
import { create as createOpenClBackend } from '../../devices/opencl/index.ts';
import { create as createWebGpuBackend } from '../../devices/webgpu/index.ts';
import { FftError } from '../../index.ts';
import { Device } from '../device.ts';

const N = 64;
const TARGETS = ['encoder', 'stream', 'queue'] as const;
const kinds: readonly (readonly [string, () => Promise<Backend>, string | undefined])[] = [
  ['cpu', () => createCpuBackend({ threads: 1 }), undefined],
  ['opencl', () => createOpenClBackend(), noOpenCl],
  ['webgpu', () => createWebGpuBackend({ software: true }), noWebGpu],
];

for (const [kind, open, missing] of kinds) {
  describe.skipIf(missing)(`a ${kind} device`, () => {
    let device: Device | undefined;
    afterEach(() => device?.close());

    const opened = async () => {
      const backend = await open();
      device = new Device(backend);
      return { backend, device, plan: await device.plan({ size: [N], directions: 'forward' }) };
    };

    it('takes the target of its kind, and says which that is', async () => {
      const { backend, device, plan } = await opened();
      const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
      for (const name of TARGETS) {
        let thrown: unknown;
        try {
          plan.enqueue('forward', { input, output, [name]: {} });
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(FftError);
        const { code, message } = thrown as FftError;
        expect(code).toBe(name === backend.target ? 'invalid-encoder' : 'unsupported-feature');
        if (name !== backend.target) expect(message).toContain(backend.target ?? 'its own work only');
      }
    });

    it('measures with memory of its own, whatever was in it, and of the caller', async () => {
      const { device, plan } = await opened();
      expect(await plan.measure('forward')).toBeGreaterThan(0);
      const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
      expect(await plan.measure('forward', { input, output, repeats: 3 })).toBeGreaterThan(0);
    });

    it('measures zeros where it makes the memory', async () => {
      const { backend, device, plan } = await opened();
      // Memory that is given out again is not zero by itself.
      const used = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)] as const;
      await plan.forward(new Float32Array(2 * N).fill(1), used[1]);
      await plan.forward(used[1], used[0]);
      for (const memory of used) memory.free();
      const made: ReturnType<Backend['allocate']>[] = [];
      const seen: Promise<Float32Array>[] = [];
      const { allocate } = backend;
      backend.allocate = (bytes) => {
        const buffer = allocate.call(backend, bytes);
        const free = buffer.free.bind(buffer);
        // What is in it when the measurement is over: a transform of zeros, and they themselves.
        buffer.free = () => {
          const result = new Float32Array(bytes / 4).fill(Number.NaN);
          seen.push(backend.download({ buffer, byteOffset: 0 }, result).then(() => result));
          free();
        };
        made.push(buffer);
        return buffer;
      };
      await plan.measure('forward', { repeats: 1 });
      backend.allocate = allocate;
      await backend.finish();
      expect(made).toHaveLength(2);
      expect(seen).toHaveLength(2);
      for (const result of await Promise.all(seen)) expect(result.every((value) => value === 0)).toBe(true);
    });

    it('has no other library to compare with', async () => {
      const { plan } = await opened();
      expect(await codeOf(() => plan.measure('forward', { peer: 'cufft' }))).toBe('unsupported-feature');
    });

    // Vectors of the CPU begin anywhere.
    if (kind === 'cpu') return;
    it('refuses arrays that are read in pairs and begin between two', async () => {
      const { backend, device } = await opened();
      // Too short for a table.
      const plan = await device.plan({ size: [4], directions: 'forward' });
      const [from, to] = [backend.allocate(8 * N + 8), backend.allocate(8 * N + 8)];
      const [compiled] = plan.compiledKernels;
      const { globals, tables } = compiled!.kernel;
      expect([globals.length, tables.length]).toEqual([2, 0]);
      const bind = (byteOffset: number) => {
        const step: ProgramStep = { kernel: compiled!, arguments: [0, 1].map((slot) => ({ slot, byteOffset: 0 })) };
        return codeOf(() =>
          backend.bind(
            [step],
            [
              { buffer: from, byteOffset },
              { buffer: to, byteOffset: 0 },
            ],
          ),
        );
      };
      expect(await bind(8)).toBe(undefined);
      expect(await bind(4)).toBe('misaligned-buffer');
      expect(await bind(2)).toBe('misaligned-buffer');
    });
  });
}
