/** Vulkan on a GPU host that has a driver but nothing to find it by: the loader out of the archive, and the driver by its usual name. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** NVIDIA's driver by the library that needs no display: the one that its own file names finds no X server in a container, and refuses. */
const NVIDIA = { file_format_version: '1.0.1', ICD: { library_path: 'libEGL_nvidia.so.0', api_version: '1.3.0' } };

/** To be called before anything asks for Vulkan. What the environment says stays. */
export async function prepareVulkan(): Promise<void> {
  const { default: koffi } = await import('koffi');
  const brought = join(dirname(fileURLToPath(import.meta.url)), 'libvulkan.so.1');
  try {
    koffi.load('libvulkan.so.1');
  } catch {
    // Under this name it is there from now on.
    if (existsSync(brought)) koffi.load(brought, { global: true });
  }
  const { env } = process;
  if (env.VK_DRIVER_FILES || env.VK_ICD_FILENAMES || env.VK_ADD_DRIVER_FILES || !existsSync('/dev/nvidiactl')) return;
  const file = join(mkdtempSync(join(tmpdir(), 'omnifft-vulkan-')), 'nvidia_icd.json');
  writeFileSync(file, JSON.stringify(NVIDIA));
  env.VK_DRIVER_FILES = file;
}
