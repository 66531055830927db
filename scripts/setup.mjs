// Makes a fresh clone ready to run, and does nothing when it is: installs the locked packages when the lock file
// has changed since the last install, and builds dist/ when a source is newer than the last build.
//
//   node scripts/setup.mjs            install and build what is missing
//   node scripts/setup.mjs --build    build in any case
//
// Plain JavaScript without packages: it runs before any are installed.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.omnifft-lock');
const buildStamp = join(root, 'dist', '.built');

const [major] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`omnifft needs Node 20 or newer; this is ${process.version}.`);

inTurn(() => {
  install();
  build(process.argv.includes('--build'));
});

function install() {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const lock = createHash('sha256').update(text).digest('hex');
  if (existsSync(installStamp) && readFileSync(installStamp, 'utf8') === lock) return;
  if (!isInstalled(JSON.parse(text))) {
    say('installing packages (npm ci) …');
    npm('ci');
  }
  // Several compilers are there for the tests of types, all with a command `tsc`: this one's is the one that counts.
  npm('rebuild', 'typescript');
  writeFileSync(installStamp, lock);
}

/** Whether somebody has run npm before: it notes what it has installed, and packages for other systems are not there. */
function isInstalled(lock) {
  const notes = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(notes)) return false;
  const { packages } = JSON.parse(readFileSync(notes, 'utf8'));
  return Object.entries(lock.packages).every(
    ([path, { version, optional }]) => path === '' || (packages[path] ? packages[path].version === version : optional),
  );
}

function npm(...command) {
  // npm tells its scripts where it lives; started without npm, the one on the path has to do.
  const cli = process.env.npm_execpath;
  const arguments_ = [...command, '--no-audit', '--no-fund', '--loglevel=error'];
  const done = cli?.endsWith('.js')
    ? spawnSync(process.execPath, [cli, ...arguments_], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    : spawnSync('npm', arguments_, {
        cwd: root,
        stdio: ['ignore', 'ignore', 'inherit'],
        shell: process.platform === 'win32',
      });
  if (done.status !== 0) {
    fail(`npm ${command.join(' ')} failed: see above. It needs a network, or a filled npm cache.`);
  }
}

function build(always) {
  const bundlers = ['bundle-node.mjs', 'bundle-browser.mjs', 'bundle-types.mjs', 'merge-chunks.mjs', 'notices.mjs'];
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json'];
  const inputs = ['src', ...settings, ...bundlers.map((name) => join('scripts', name))].map((name) => join(root, name));
  if (!always && existsSync(buildStamp) && newest(inputs) <= statSync(buildStamp).mtimeMs) return;
  say('building …');
  // The stamp gets the time before the compiler read its first file, so that an edit made meanwhile counts as newer.
  const started = new Date();
  const dist = join(root, 'dist');
  const next = join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  const declarations = join(root, 'out', 'declarations');
  rmSync(declarations, { recursive: true, force: true });
  // Types, module by module and then for each entry; code for Node; code for browsers.
  for (const step of [
    [compiler, '-p', 'tsconfig.build.json', '--outDir', declarations],
    [join('scripts', 'bundle-types.mjs'), declarations, next],
    [join('scripts', 'bundle-node.mjs'), next],
    [join('scripts', 'bundle-browser.mjs'), join(next, 'browser')],
  ]) {
    const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: 'inherit' });
    if (status !== 0) fail('the build failed: see the messages above.');
  }
  writeFileSync(join(next, '.built'), '');
  utimesSync(join(next, '.built'), started, started);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** Lets one process of this folder work at a time: two installations at once destroy each other's files. */
function inTurn(work) {
  const lock = join(root, 'out', 'setup.pid');
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isRunning(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      else rmSync(lock, { force: true });
    }
  }
  process.on('exit', () => rmSync(lock, { force: true }));
  work();
}

/** Whether the process that wrote its number into a file is still there. */
function isRunning(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Latest modification time below the given files and folders; folders count too, so that a deletion is seen. */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    const stat = statSync(path);
    latest = Math.max(latest, stat.mtimeMs);
    if (stat.isDirectory()) latest = Math.max(latest, newest(readdirSync(path).map((name) => join(path, name))));
  }
  return latest;
}

function say(message) {
  console.error(`omnifft: ${message}`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
