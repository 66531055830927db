// Makes one archive that tests and times omnifft on a GPU host with nothing else on it: Node, native bindings for Linux
// x64, and programs with the library in them: those of test/device, the calibration and the command line.
//
//   node scripts/bundle.mjs     → out/bundle/ and out/omnifft-bundle.tar.xz
//
//   tar -xJf omnifft-bundle.tar.xz && cd omnifft && ./node run.mjs info
//   ./node calibrate.mjs --device cuda
//   ./node omnifft.mjs verify --device cuda
//   ./node nufft.mjs --device cuda
//   ./node lift-fft.mjs --device cuda
//   ./node gpus.mjs --gpus 4

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'out');
const bundle = join(out, 'bundle');
const archive = join(out, 'omnifft-bundle.tar.xz');
const MOST_BYTES = 60e6;

if (process.platform !== 'linux' || process.arch !== 'x64') fail('the archive is for Linux x64 and is made there.');

rmSync(bundle, { recursive: true, force: true });
mkdirSync(bundle, { recursive: true });
// Node takes the nearest package.json for what the programs are, and these for what the package is called.
const { name, version, type } = readPackage(root);
writeFileSync(join(bundle, 'package.json'), JSON.stringify({ name, version, type }));

addPackage('koffi', (path) => !/^(doc|vendor|lib)(\/|$)|\.(cc|hh|S|asm|inc|def|md|txt)$/.test(path));
addPackage('@koromix/koffi-linux-x64', (path) => !path.includes('musl'));
addPackage('webgpu', (path) => !/^(dist\/(darwin|linux-arm64|win32)|build(\/|$))/.test(path));
strip(join(bundle, 'node_modules', 'webgpu', 'dist', 'linux-x64', 'dawn.node'));

addVulkanLoader();

copyFileSync(process.execPath, join(bundle, 'node'));
chmodSync(join(bundle, 'node'), 0o755);
strip(join(bundle, 'node'));
await programs();

run(join(bundle, 'node'), [join(bundle, 'run.mjs'), 'info']);
rmSync(archive, { force: true });
const names = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--transform=s,^bundle,omnifft,`];
run('tar', [...names, '-C', out, '-cf', `${archive}.tar`, 'bundle']);
run('xz', ['-T0', '-2', '--force', `${archive}.tar`]);
run('mv', [`${archive}.tar.xz`, archive]);
const { size } = statSync(archive);
if (size > MOST_BYTES) fail(`the archive has ${size} bytes, over ${MOST_BYTES}.`);
say(`${relative(root, archive)}: ${(size / 1e6).toFixed(1)} MB`);

/** Programs with the library in them: a file for each, and what they import late in files beside it. */
async function programs() {
  const { build } = await import('esbuild');
  await build({
    entryPoints: {
      run: join(root, 'test', 'device', 'run.ts'),
      calibrate: join(root, 'bench', 'calibrate', 'main.ts'),
      omnifft: join(root, 'src', 'cli', 'main.ts'),
      nufft: join(root, 'test', 'device', 'nufft.ts'),
      'lift-fft': join(root, 'test', 'device', 'lift-fft.ts'),
      gpus: join(root, 'test', 'device', 'gpus.ts'),
    },
    outdir: bundle,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    // Some peers ask for Node's modules the old way.
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    platform: 'node',
    // What pages get of the peers that are written for pages.
    mainFields: ['module', 'main'],
    target: 'node20',
    external: ['koffi', 'webgpu'],
    logLevel: 'warning',
  });
}

function addPackage(packageName, keep = () => true) {
  const from = join(root, 'node_modules', packageName);
  if (!existsSync(from)) fail(`${packageName} is not installed: run npm install.`);
  cpSync(from, join(bundle, 'node_modules', packageName), {
    recursive: true,
    filter: (path) => keep(relative(from, path)),
  });
}

/** GPU hosts often have the driver's Vulkan, but nothing that finds it: the loader of this system goes along, where there is one. */
function addVulkanLoader() {
  const list = spawnSync('ldconfig', ['-p'], { encoding: 'utf8' }).stdout ?? '';
  const [, loader] = /libvulkan\.so\.1 .*x86-64.* => (\S+)/.exec(list) ?? [];
  if (loader) copyFileSync(loader, join(bundle, 'libvulkan.so.1'));
  else say('there is no libvulkan.so.1 here: on the GPU host Vulkan takes one of its own.');
}

function readPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Symbols for debuggers take half of the space. */
function strip(file) {
  const done = spawnSync('strip', [file], { stdio: 'ignore' });
  if (done.error) say('there is no strip: the archive will be larger.');
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail(`${command} failed${error ? `: ${error.message}` : ''}.`);
}

function say(message) {
  console.error(`omnifft: ${message}`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
