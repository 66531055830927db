/**
 * What pages have and Node has not, for peers that are written for pages: `navigator.gpu` and the constants of WebGPU.
 * The entry is the very one that omnifft uses, so all find the same adapter. It must be there before a peer is imported.
 */
import { findGpu, softwareByDefault } from '../../src/devices/webgpu/host.ts';

/**
 * Devices of omnifft are opened before this: afterwards they would take the process for a browser.
 * @returns what takes it all away again.
 */
export async function provideWebGpu(): Promise<() => void> {
  const { globals } = await import('webgpu');
  const gpu = await findGpu(softwareByDefault());
  const given = Object.entries(globals).filter(([name]) => !(name in globalThis));
  for (const [name, value] of given) Object.defineProperty(globalThis, name, { value, configurable: true });
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const value = { gpu, userAgent: `Node.js/${process.versions.node}`, hardwareConcurrency: 1 };
  Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  return () => {
    for (const [name] of given) delete (globalThis as Record<string, unknown>)[name];
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else delete (globalThis as Record<string, unknown>).navigator;
  };
}
