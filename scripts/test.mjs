// The whole check of a working tree: lint and format, the import matrix, types, then every test.
//
//   node scripts/test.mjs [--exhaustive] [arguments for vitest …]
//
// All steps run even when one fails, so that one run shows everything that is wrong. The last line is
// `N passed, N failed`; a failed step counts as one failure.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const report = join(root, 'out', 'tests.json');
const extra = process.argv.slice(2).filter((argument) => argument !== '--exhaustive');
if (process.argv.includes('--exhaustive')) process.env.OMNIFFT_EXHAUSTIVE = '1';

/** Runs the command of an installed package with this very Node; true when it succeeded. */
function tool(packageName, command, arguments_) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const script = join(folder, typeof bin === 'string' ? bin : bin[command]);
  return spawnSync(process.execPath, [script, ...arguments_], { cwd: root, stdio: 'inherit' }).status === 0;
}

const checks = [
  ['lint and format', () => tool('@biomejs/biome', 'biome', ['check', '--error-on-warnings'])],
  ['import matrix', () => tool('dependency-cruiser', 'depcruise', ['--config', '.dependency-cruiser.cjs', 'src'])],
  ['types', () => tool('typescript', 'tsc', ['-p', 'tsconfig.json'])],
];
const broken = checks.filter(([, run]) => !run()).map(([name]) => name);

mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true });
const finished = tool('vitest', 'vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...extra,
]);

const { passed, failed } = count();
for (const name of broken) console.error(`Failed: ${name} (see above)`);
console.log(`${passed} passed, ${failed + broken.length} failed`);
process.exitCode = finished && failed === 0 && broken.length === 0 ? 0 : 1;

function count() {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that could not even be loaded has no tests to fail: it counts as one failure.
  const unloaded = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = numFailedTests + unloaded;
  return { passed: numPassedTests, failed: finished ? failed : Math.max(failed, 1) };
}
