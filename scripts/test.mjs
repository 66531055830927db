// The whole check of a working tree: installs and builds what is missing, then lint and format, the import matrix, types,
// and every test. `USAGE` says how it is called.
//
// All steps run even when one fails, so that one run shows everything that is wrong. With --bare, the files that can do
// with less than there is run once more with everything optional hidden (test/support/optional.ts), as on a machine with
// nothing but Node. The last line is `N passed, N failed`, of both runs; a failed step counts as one failure.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE = `npm test                           lint and format, import rules, types, every test
npm test -- [options] [part of a path …] [options of vitest]

  npm test -- src/plan             the tests whose path has this in it, after lint, import rules and types
  npm test -- cli.test -t 'npz'    of these the ones whose title matches
  npx vitest run src/plan          tests and nothing else, once npm test has installed and built everything

  --exhaustive   every length, where samples are taken otherwise (hours)
  --bare         then the tests concerned once more, with everything hidden that they can do without: devices, browsers,
                 compilers
  --help, -h     this text

What goes on to vitest, by its own --help (npx vitest --help): -t PATTERN, --bail 1, --reporter, …

Environment:
  OMNIFFT_SEED=N         random data of a run that printed this seed
  OMNIFFT_TEST_HIDE=all  hide what --bare hides, in the only run
  CI=1                   what is optional is expected: where it is missing, its tests fail instead of being skipped
`;

const own = ['--exhaustive', '--bare', '--help', '-h'];
const given = process.argv.slice(2);
const extra = given.filter((argument) => !own.includes(argument));
if (given.includes('--help') || given.includes('-h')) {
  console.log(USAGE);
  process.exit(0);
}
if (given.includes('--exhaustive')) process.env.OMNIFFT_EXHAUSTIVE = '1';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const report = join(root, 'out', 'tests.json');

const ready = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), 'test'], { stdio: 'inherit' });
if (ready.status !== 0) process.exit(1);

/** What runs the command of an installed package with this very Node. */
function commandOf(packageName, command) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
}

/** True when the command succeeded. What it prints comes at once, at its end: several run side by side. */
function check(packageName, command, arguments_) {
  return new Promise((resolve) => {
    const run = spawn(process.execPath, [commandOf(packageName, command), ...arguments_], { cwd: root });
    const printed = [];
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => printed.push(chunk));
    run.on('close', (status) => {
      process.stdout.write(Buffer.concat(printed));
      resolve(status === 0);
    });
  });
}

const checks = [
  ['lint and format', () => check('@biomejs/biome', 'biome', ['check', '--error-on-warnings'])],
  ['import matrix', () => check('dependency-cruiser', 'depcruise', ['--config', '.dependency-cruiser.cjs', 'src'])],
  ['types', () => check('typescript', 'tsc', ['-p', 'tsconfig.json'])],
];
const succeeded = await Promise.all(checks.map(([, run]) => run()));
const broken = checks.filter((_, n) => !succeeded[n]).map(([name]) => name);

const failures = [];
const runs = [tests(['run', ...extra])];
if (given.includes('--bare')) {
  console.log('Once more, with everything optional hidden:');
  // Whatever can do with less asks optional.ts for it.
  const concerned = ['related', 'test/support/optional.ts', '--run'];
  runs.push(tests(concerned, { ...process.env, OMNIFFT_TEST_HIDE: 'all', OMNIFFT_TEST_REPEATED: '1' }));
}

// Last, where whoever sees only the end of a long run finds them.
for (const failure of failures) console.error(`Failed: ${failure}`);
for (const name of broken) console.error(`Failed: ${name} (see above)`);
const [passed, failed] = ['passed', 'failed'].map((what) => runs.reduce((sum, run) => sum + run[what], 0));
console.log(`${passed} passed, ${failed + broken.length} failed`);
process.exitCode = failed === 0 && broken.length === 0 ? 0 : 1;

/** Runs vitest and lists what is missing here. @returns how many tests passed and failed. */
function tests(arguments_, environment) {
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const vitest = [commandOf('vitest', 'vitest'), ...arguments_, ...reporters];
  const settings = { cwd: root, stdio: 'inherit', env: environment };
  const finished = spawnSync(process.execPath, vitest, settings).status === 0;
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that could not even be loaded has no tests to fail: it counts as one failure.
  const unloaded = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = numFailedTests + unloaded;
  // Titles of tests that stand for what is missing, of which several files may speak.
  const titles = testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status, title }) => status === 'skipped' && title.startsWith('needs '))
    .map(({ title }) => title);
  for (const title of new Set(titles)) console.log(`Skipped what ${title}`);
  for (const { status, name, assertionResults } of testResults) {
    const file = relative(root, name);
    if (status === 'failed' && assertionResults.length === 0) failures.push(`${file} (not loaded)`);
    for (const own of assertionResults) if (own.status === 'failed') failures.push(`${file} > ${own.fullName}`);
  }
  return { passed: numPassedTests, failed: finished ? failed : Math.max(failed, 1) };
}
