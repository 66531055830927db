/**
 * SwiftShader, a Vulkan driver that computes on the processor, for machines without a GPU. It comes from the npm package `@sparticuz/chromium`,
 * which has it for its browser. Node on Linux only.
 *
 * The package keeps it packed; it is unpacked once, into the cache of its `node_modules`.
 */
import { nodeModule } from '../cpu/host.ts';

const PACKAGE = ['@sparticuz', 'chromium'];
const DRIVER = 'vk_swiftshader_icd.json';
const LOADER = 'libvulkan.so.1';

interface SoftwareDriver {
  /** The path of the driver's manifest, for `VK_DRIVER_FILES`. */
  readonly driver: string;
  /** The path of Vulkan's loader, for systems that have none. */
  readonly loader: string;
}

/** Finds and unpacks the driver. @throws Error that says why there is none. */
export async function softwareDriver(): Promise<SoftwareDriver> {
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64') {
    throw new Error(`SwiftShader comes for Linux on x64 only, this is ${platform} on ${arch}`);
  }
  const path = (await nodeModule<typeof import('node:path')>('node:path'))!;
  const fs = (await nodeModule<typeof import('node:fs')>('node:fs'))!;
  const modules = await modulesWith(path.join(...PACKAGE, 'bin', 'swiftshader.tar.br'));
  if (!modules) throw new Error(`the package ${PACKAGE.join('/')}, which carries SwiftShader, is not installed`);
  const home = path.join(modules, ...PACKAGE);
  const { version } = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = path.join(modules, '.cache', 'omnifft', `swiftshader-${version}`);
  if (!fs.existsSync(folder)) {
    const { brotliDecompressSync } = (await nodeModule<typeof import('node:zlib')>('node:zlib'))!;
    const archive = brotliDecompressSync(fs.readFileSync(path.join(home, 'bin', 'swiftshader.tar.br')));
    // Other processes and threads may unpack at the same time, each in its own folder: the first to rename its folder wins.
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    const own = fs.mkdtempSync(`${folder}.`);
    for (const { name, bytes } of filesOf(archive)) fs.writeFileSync(path.join(own, path.basename(name)), bytes);
    try {
      fs.renameSync(own, folder);
    } catch (error) {
      fs.rmSync(own, { recursive: true, force: true });
      if (!fs.existsSync(folder)) throw error;
    }
  }
  return { driver: path.join(folder, DRIVER), loader: path.join(folder, LOADER) };
}

/** The nearest `node_modules` above this file or the working directory that holds a file. */
async function modulesWith(file: string): Promise<string | undefined> {
  const path = (await nodeModule<typeof import('node:path')>('node:path'))!;
  const { existsSync } = (await nodeModule<typeof import('node:fs')>('node:fs'))!;
  const { fileURLToPath } = (await nodeModule<typeof import('node:url')>('node:url'))!;
  const starts = import.meta.url.startsWith('file:') ? [path.dirname(fileURLToPath(import.meta.url))] : [];
  for (const start of [...starts, process.cwd()]) {
    for (let folder = start; ; folder = path.dirname(folder)) {
      const modules = path.join(folder, 'node_modules');
      if (existsSync(path.join(modules, file))) return modules;
      if (folder === path.dirname(folder)) break;
    }
  }
  return undefined;
}

/** The plain files of a tar archive (POSIX.1-1988: 512-byte headers, sizes in octal). */
function* filesOf(archive: Buffer): Iterable<{ name: string; bytes: Buffer }> {
  const text = (start: number, length: number) => {
    const field = archive.toString('latin1', start, start + length);
    const end = field.indexOf('\0');
    return end < 0 ? field : field.slice(0, end);
  };
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const kind = text(at + 156, 1);
    if (kind === '' || kind === '0') yield { name: text(at, 100), bytes: archive.subarray(at + 512, at + 512 + size) };
    at += 512 + 512 * Math.ceil(size / 512);
  }
}
