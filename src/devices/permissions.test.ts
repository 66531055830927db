/** The permissions that are queried in a runtime that grants none. Stand-ins for Deno's functions throw as Deno's own do. */
import os from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { listDevices, openDevice } from '../index.ts';

/** Environment variables of devices; variables that the test runner reads are left out. */
const VARIABLES = /^(OMNIFFT|CUDA|ROCM|HIP|VK|XDG)_/;

class NotCapable extends Error {
  override readonly name = 'NotCapable';
}

function forbid(what: string): never {
  throw new NotCapable(`Requires access to "${what}"`);
}

function denoWithout(permissions: readonly string[]): void {
  const querySync = ({ name }: { name: string }) => ({ state: permissions.includes(name) ? 'prompt' : 'granted' });
  vi.stubGlobal('Deno', { permissions: { querySync } });
  vi.stubGlobal('navigator', { hardwareConcurrency: 2, gpu: { requestAdapter: async () => null } });
  vi.spyOn(os, 'cpus').mockImplementation(() => forbid('cpus'));
  const { env } = process;
  vi.spyOn(process, 'env', 'get').mockReturnValue(
    new Proxy(env, {
      get: (target, name) => (VARIABLES.test(String(name)) ? forbid(String(name)) : target[String(name)]),
    }),
  );
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('without permissions the CPU works, and other devices are listed with what they need', async () => {
  denoWithout(['read', 'ffi', 'env', 'sys']);
  const infos = Object.fromEntries((await listDevices()).map((info) => [info.kind, info]));
  expect(infos.cpu).toMatchObject({ available: true, name: 'CPU' });
  expect(infos.webgpu).toMatchObject({ available: false, reason: expect.stringContaining('no adapter') });
  for (const kind of ['cuda', 'hip', 'opencl'] as const) {
    expect(infos[kind]).toMatchObject({
      available: false,
      reason: expect.stringContaining('--allow-read and --allow-ffi'),
    });
    await expect(openDevice(kind)).rejects.toMatchObject({
      code: 'device-unavailable',
      message: expect.stringContaining('--allow-ffi'),
    });
  }
  const device = await openDevice('auto');
  expect(device.kind).toBe('cpu');
  const plan = await device.plan({ size: [4] });
  expect(await plan.forward(new Float32Array(8).fill(1))).toEqual(Float32Array.of(4, 4, 0, 0, 0, 0, 0, 0));
  device.close();
});

it('a single permission that lacks is named alone', async () => {
  denoWithout(['ffi', 'env', 'sys']);
  await expect(openDevice('opencl')).rejects.toThrow(/only with --allow-ffi\.$/);
});

it('a device that fails in a way of its own is listed with that, and no other one suffers', async () => {
  vi.stubGlobal('navigator', {
    get gpu(): never {
      return forbid('gpu');
    },
  });
  const infos = await listDevices();
  expect(infos.find(({ kind }) => kind === 'cpu')).toMatchObject({ available: true });
  expect(infos.find(({ kind }) => kind === 'webgpu')).toMatchObject({
    available: false,
    reason: expect.stringContaining('Requires access'),
  });
});

it('a kind of device that there is not is refused with those that are here', async () => {
  const infos = (await listDevices()).filter(({ available }) => !available);
  const refused = openDevice('gpu' as 'cpu');
  await expect(refused).rejects.toMatchObject({ code: 'unknown-device', message: expect.stringContaining("'cpu'") });
  const { message } = (await refused.catch((error: Error) => error)) as Error;
  for (const { kind } of infos) expect(message).not.toContain(kind);
  expect(message).toContain("Did you mean 'auto'?");
});
