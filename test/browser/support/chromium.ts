/**
 * A headless Chromium with WebGPU on SwiftShader: the one inside the npm package @sparticuz/chromium, with the libraries
 * and fonts it brings, so that a bare machine needs nothing installed; else the one of the system (`CHROME_PATH`,
 * /usr/bin/chromium). The package's own program wants a newer Node, so its archives are unpacked here, once.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { hidden, missing } from '../../support/optional.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const packaged = join(root, 'node_modules/@sparticuz/chromium');
const cache = join(root, 'node_modules/.cache/omnifft');

const FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  // A test machine may have no network: without these Chromium asks for updates and fails slowly.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
];

interface Program {
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The packaged browser, unpacked. Undefined where the package is missing or this is another system. */
function packagedProgram(): Program | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(packaged)) return undefined;
  const { version } = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8')) as { version: string };
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) unpack(folder);
  return {
    path: join(folder, 'chromium'),
    environment: {
      // Libraries of the system, where it has them, go before ours.
      LD_LIBRARY_PATH: [process.env.LD_LIBRARY_PATH, systemHasNss() ? undefined : join(folder, 'lib')]
        .filter((path) => path)
        .join(':'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

function systemHasNss(): boolean {
  const known = spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' }).stdout ?? '';
  return ['libnss3.so', 'libnspr4.so', 'libexpat.so.1'].every((name) => known.includes(name));
}

/** Into a folder beside the final one, which then appears whole: several tests may do this at the same time. */
function unpack(folder: string): void {
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    const read = (name: string) => brotliDecompressSync(readFileSync(join(packaged, 'bin', `${name}.br`)));
    writeFileSync(join(partial, 'chromium'), read('chromium'), { mode: 0o755 });
    for (const name of ['swiftshader.tar', 'al2023.tar', 'fonts.tar']) {
      const done = spawnSync('tar', ['-x', '-C', partial], { input: read(name) });
      if (done.status !== 0) throw new Error(`tar cannot unpack ${name}: ${done.error ?? done.stderr}`);
    }
    const fonts = `<dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/font-cache</cachedir>`;
    writeFileSync(
      join(partial, 'fonts.conf'),
      `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${fonts}</fontconfig>`,
    );
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // Another test was faster.
    if (!existsSync(folder)) throw error;
  }
}

function systemProgram(): Program | undefined {
  const path = [process.env.CHROME_PATH, '/usr/bin/chromium'].find((candidate) => candidate && existsSync(candidate));
  return path === undefined ? undefined : { path, environment: {} };
}

/** Starts a browser. Undefined where there is none: tests in it are to be skipped. */
export async function openBrowser(): Promise<Browser | undefined> {
  const failures: string[] = [];
  for (const find of hidden ? [] : [packagedProgram, systemProgram]) {
    try {
      const program = find();
      if (!program) continue;
      return await chromium.launch({
        executablePath: program.path,
        headless: true,
        chromiumSandbox: false,
        args: FLAGS,
        env: { ...(process.env as Record<string, string>), ...program.environment },
      });
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  missing('chromium', failures.join('; ') || 'there is none');
  return undefined;
}
