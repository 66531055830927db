// Makes a clone ready for a command, and does nothing when it is: installs the locked packages that the command needs and
// that are not there yet, and builds of dist/ what the command needs where a source is newer than the last build.
//
//   node scripts/setup.mjs [command] [--build]
//
// The command is one of `commands` below; without one, `build`. With --build it builds in any case.
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

/** What `npm run build` makes: modules for Node, modules for browsers, types. `npm start` needs only the first. */
const everything = ['node', 'browser', 'types'];

/**
 * Every workspace: a folder whose package.json lists what its commands need, and the megabytes that this takes, roughly, for
 * whoever waits. All is installed into one node_modules/, where every folder finds it.
 */
const megabytes = { scripts: 60, test: 350, playground: 40, bench: 90, docs: 120 };
const all = Object.keys(megabytes);

/** For each command the workspaces that it needs, and the parts of dist/. */
const commands = {
  start: { workspaces: ['scripts'], parts: ['node'] },
  build: { workspaces: ['scripts'], parts: everything },
  // The tests run the pages and the peers of the benchmark, and types are checked in every folder.
  test: { workspaces: all, parts: everything },
  check: { workspaces: all, parts: [] },
  bench: { workspaces: ['scripts', 'bench'], parts: everything },
  playground: { workspaces: ['scripts', 'playground'], parts: everything },
  docs: { workspaces: ['scripts', 'playground', 'docs'], parts: everything },
  screenshots: { workspaces: ['scripts', 'test', 'playground'], parts: everything },
  bundle: { workspaces: ['scripts', 'test', 'bench'], parts: everything },
};

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const installStamp = join(modules, '.omnifft-installed');
const buildStamp = join(root, 'dist', '.built');

const [major] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`omnifft needs Node 20 or newer; this is ${process.version}.`);
const [command = 'build'] = process.argv.slice(2).filter((argument) => argument !== '--build');
const needs = commands[command];
if (!needs) fail(`there is no command ${command}; there are ${Object.keys(commands).join(', ')}.`);

inTurn(() => {
  install(needs.workspaces);
  if (needs.parts.length > 0) build(needs.parts, process.argv.includes('--build'));
});

/** npm removes what it is not told to keep: workspaces that were installed before stay so. */
function install(workspaces) {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const lock = createHash('sha256').update(text).digest('hex');
  const last = existsSync(installStamp) ? JSON.parse(readFileSync(installStamp, 'utf8')) : { workspaces: [] };
  const wanted = all.filter((name) => workspaces.includes(name) || last.workspaces.includes(name));
  if (last.lock === lock && wanted.length === last.workspaces.length) return;
  if (!isInstalled(JSON.parse(text), wanted)) {
    const size = wanted.reduce((sum, name) => sum + megabytes[name], 0);
    say(`installing packages, once: ${wanted.join(', ')} (npm ci, some ${size} MB on the disk) …`);
    npm('ci', ...wanted.map((name) => `--workspace=${name}`));
  }
  // Several compilers are there for the tests of types, all with a command `tsc`: this one's is the one that counts.
  if (wanted.includes('test')) npm('rebuild', 'typescript');
  writeFileSync(installStamp, JSON.stringify({ lock, workspaces: wanted }));
}

/** Whether somebody has run npm before: it notes what it has installed. */
function isInstalled(lock, workspaces) {
  const notes = join(modules, '.package-lock.json');
  if (!existsSync(notes)) return false;
  const { packages } = JSON.parse(readFileSync(notes, 'utf8'));
  const version = (path) => packages[path]?.version;
  const wanted = workspaces.flatMap((name) => Object.keys(lock.packages[name].dependencies));
  return (
    wanted.every((name) => version(`node_modules/${name}`) === lock.packages[`node_modules/${name}`].version) &&
    Object.keys(packages).every((path) => version(path) === (lock.packages[path] ?? packages[path]).version)
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
    fail(`npm ${command[0]} failed: see above. It needs a network, or a filled npm cache.`);
  }
}

/** Builds some parts of dist/, which then has no others: parts of different ages would not fit together. */
function build(parts, always) {
  const bundlers = [
    'bundle-node',
    'bundle-browser',
    'build-digest',
    'built-presets',
    'merge-chunks',
    'lazy-modules',
    'bundle-types',
    'notices',
  ];
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json'];
  const inputs = ['src', ...settings, ...bundlers.map((name) => join('scripts', `${name}.mjs`))];
  const isFresh =
    existsSync(buildStamp) && newest(inputs.map((name) => join(root, name))) <= statSync(buildStamp).mtimeMs;
  const built = isFresh ? readFileSync(buildStamp, 'utf8').split(' ') : [];
  if (!always && parts.every((part) => built.includes(part))) return;
  say(`building dist/ (${parts.join(', ')}) …`);
  // The stamp gets the time before the compiler read its first file, so that an edit made meanwhile counts as newer.
  const started = new Date();
  const dist = join(root, 'dist');
  const next = join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  for (const step of parts.flatMap((part) => stepsOf(part, next))) {
    const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: 'inherit' });
    if (status !== 0) fail('the build failed: see the messages above.');
  }
  writeFileSync(join(next, '.built'), parts.join(' '));
  utimesSync(join(next, '.built'), started, started);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** Programs with their arguments that make a part of dist/ in a folder. */
function stepsOf(part, folder) {
  if (part === 'node') return [[join('scripts', 'bundle-node.mjs'), folder]];
  if (part === 'browser') return [[join('scripts', 'bundle-browser.mjs'), join(folder, 'browser')]];
  // Types, module by module and then for each entry.
  const declarations = join(root, 'out', 'declarations');
  rmSync(declarations, { recursive: true, force: true });
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  return [
    [compiler, '-p', 'tsconfig.build.json', '--outDir', declarations],
    [join('scripts', 'bundle-types.mjs'), declarations, folder],
  ];
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
