/** The package as a program in Node finds it: entries that export what their sources do. `npm test` has built it. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presetNames } from '../src/signal/features/feature-presets.ts';

/**
 * Bytes that installing the package may take, as README promises: filters took 0.2e6 of them, programs of patterns 0.12e6, Vulkan with its
 * own SPIR-V, features of speech and convolvers of streams 0.35e6, non-uniform transforms 0.1e6, adjoints 0.06e6, spectral layers 0.05e6, plans and source written ahead of time 0.08e6, Level Zero and Metal's language 0.04e6, device functions and worlds of GPUs 0.12e6, code for Level Zero and phases of built modules 0.01e6,
 * kernels of the presets of speech features 0.21e6.
 */
const MOST_BYTES = 4.98e6;
/** Bytes that its tarball may have: non-uniform transforms, adjoints, spectral layers and device functions took some 0.02e6 of them each, kernels of presets 0.148e6. */
const MOST_PACKED = 1.525e6;

type Targets = string | { readonly types: string; readonly default: string };

const root = new URL('../', import.meta.url);
const { exports, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string;
  exports: Record<string, Targets>;
};
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [{ name, target }],
);

const readme = readFileSync(new URL('README.md', root), 'utf8');

/** What npm prints. @throws Error where it fails, with what it says. */
function npm(args: readonly string[], folder: string): string {
  const settings = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' } as const;
  const { status, stdout, stderr } = spawnSync('npm', [...args], settings);
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stdout;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { path: string; size: number }[];
  readonly size: number;
  readonly unpackedSize: number;
}

const folder = mkdtempSync(join(tmpdir(), 'omnifft-bare-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The tarball that npm makes of the working tree as it is built, in `folder`, and what npm says of it. */
let packed: Packed;
beforeAll(() => {
  [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], fileURLToPath(root)));
});

describe('the package', () => {
  it.each(entries)('$name exports what its source does', async ({ target }) => {
    const built = (await import(new URL(target.default, root).href)) as object;
    const source = (await import(
      new URL(target.default.replace('/dist/', '/src/').replace(/js$/, 'ts'), root).href
    )) as object;
    expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
    expect(Object.keys(built).length).toBeGreaterThan(0);
    expect(readFileSync(new URL(target.types, root), 'utf8')).toContain('export');
  });

  it('has its version, one copy of what its entries share, and classes that keep their names', async () => {
    const [main, sync, numpy] = (await Promise.all(
      ['.', './sync', './numpy'].map((name) => {
        const { target } = entries.find((entry) => entry.name === name)!;
        return import(new URL(target.default, root).href);
      }),
    )) as [typeof import('../src/index.ts'), typeof import('../src/sync.ts'), typeof import('../src/numpy/index.ts')];
    expect(main.version).toBe(version);
    expect(sync.FftError).toBe(main.FftError);
    expect(main.FftError.name).toBe('FftError');
    const device = sync.openCpuSync();
    const plan = device.planSync('scfo8');
    expect([device.constructor.name, plan.constructor.name]).toEqual(['Device', 'Plan']);
    plan.destroy();
    await device.close();
    await expect(numpy.fft(new Float32Array(3), { n: 0 })).rejects.toBeInstanceOf(main.FftError);
  });

  it.each(['browser', 'node'] as const)('gives who takes one function no more than that: %s', async (platform) => {
    const { outputFiles } = await build({
      stdin: { contents: "export { fftshift } from 'omnifft/numpy';", resolveDir: fileURLToPath(root) },
      ...{ bundle: true, write: false, minify: true, format: 'esm', platform, logLevel: 'error' },
    });
    // What checks the arguments, and its messages, among them the names that other libraries have for options.
    expect(outputFiles[0]!.contents.length).toBeLessThan(12_300);
    expect(outputFiles[0]!.text).not.toMatch(/coalescedBytes|four-step|WebAssembly/);
    expect(outputFiles[0]!.text).toContain('fftshift');
  });

  it('leaves bundlers no import that they could not follow', () => {
    const folder = fileURLToPath(new URL('dist', root));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    const open = files.flatMap((name) => {
      const code = readFileSync(join(folder, name), 'utf8');
      return [...code.matchAll(/\bimport\(([^)]*)\)/g)].map(([, request = '']) => `${name}: ${request.trim()}`);
    });
    const unknown = open.filter((place) => !/: ["']\.{1,2}\//.test(place));
    expect(unknown.filter((place) => !place.includes('webpackIgnore: true'))).toEqual([]);
    // Node's own modules, and packages that need not be there.
    expect(unknown.length).toBeGreaterThan(0);
  });

  it('brings no other package along, and is small', () => {
    const { files, size, unpackedSize } = packed;
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(new URL('package.json', root), 'utf8'),
    );
    expect([dependencies, optionalDependencies]).toEqual([undefined, undefined]);
    for (const name of Object.keys(peerDependencies)) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
    // On the disk each file takes whole blocks.
    const blocks = files.reduce((sum, file) => sum + Math.ceil(file.size / 4096), 0);
    console.info(`${size} bytes packed, ${unpackedSize} unpacked, ${4096 * blocks} on the disk`);
    expect(4096 * blocks).toBeLessThan(MOST_BYTES);
    expect(size).toBeLessThan(MOST_PACKED);
    const paths = files.map(({ path }) => path);
    expect(paths).toContain('dist/index.js');
    expect(paths.filter((path) => /\.map$|-notes|\.test\.|^docs\/.*[^d]$/.test(path))).toEqual([]);
  });

  it.each(['dist', 'dist/browser'])('has kernels for every preset of speech features in %s', (path) => {
    const folder = fileURLToPath(new URL(path, root));
    const packedFiles = packed.files.map((file) => file.path);
    const code = readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    for (const preset of presetNames) {
      const loaded = code.match(
        new RegExp(`['"]?${preset}['"]?: ?\\(\\) ?=> ?import\\(['"]\\./(chunk-[\\w-]+\\.js)['"]`),
      )?.[1];
      expect(loaded, preset).toBeDefined();
      expect(packedFiles).toContain(`${path}/${loaded}`);
      expect(readFileSync(join(folder, loaded!), 'utf8')).toMatch(/["'`][A-Za-z0-9+/]{9000,}=*["'`]/);
    }
  });

  it('has a README whose links lead to what the package has in it', () => {
    const links = [...readme.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
    const inside = links.filter((target) => !/^https?:/.test(target));
    expect(inside.length).toBeGreaterThan(20);
    const paths = packed.files.map(({ path }) => path);
    expect(inside.filter((target) => !paths.includes(target))).toEqual([]);
  });

  describe('installed where nothing else is', () => {
    const omnifft = (...args: string[]) =>
      spawnSync(process.execPath, [join(folder, 'node_modules', 'omnifft', 'dist', 'cli', 'main.js'), ...args], {
        cwd: folder,
        encoding: 'utf8',
      });

    it('needs nothing of a registry', () => {
      writeFileSync(join(folder, 'package.json'), '{"private":true}');
      npm(
        [
          'install',
          '--prefix',
          folder,
          '--offline',
          '--no-audit',
          '--no-fund',
          '--ignore-scripts',
          join(folder, packed.filename),
        ],
        folder,
      );
      expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['omnifft']);
    });

    it('runs the programs of its README', () => {
      const programs = [...readme.matchAll(/^```js\n(import .*?)^```$/gms)].map(([, code = '']) => code);
      expect(programs.length).toBeGreaterThan(0);
      for (const [n, code] of programs.entries()) {
        writeFileSync(join(folder, `${n}.mjs`), code);
        const { status, stderr } = spawnSync(process.execPath, [`${n}.mjs`], { cwd: folder, encoding: 'utf8' });
        expect({ status, stderr }, code).toEqual({ status: 0, stderr: '' });
      }
      const commands = [...readme.matchAll(/^npx omnifft (explain .*?)(?: +#.*)?$/gm)].map(([, line = '']) => line);
      expect(commands.length).toBeGreaterThan(1);
      for (const line of commands) {
        const args = line.split(' ').map((word) => word.replaceAll("'", ''));
        expect(omnifft(...args), line).toMatchObject({ status: 0, stderr: '' });
      }
    });

    it('has a command that says what pictures and other devices need', () => {
      const guitar = fileURLToPath(new URL('examples/data/guitar.wav', root));
      expect(omnifft('explain', 'scfo1024', '--device', 'cpu')).toMatchObject({ status: 0, stderr: '' });
      expect(omnifft('spectrogram', guitar, '-o', 'guitar.png')).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/npm install @resvg\/resvg-wasm @fontsource\/inter'.*\[missing-package\]\n$/),
      });
      expect(omnifft('explain', 'scfo8', '--device', 'opencl').stderr).toMatch(/npm install koffi/);
    });
  });
});
