/**
 * The tests that NumPy and SciPy ship for their own transforms, over `omnifft/numpy/sync`, and for signals, over `omnifft/signal`: omnifft_bridge/ puts our functions
 * in place of theirs and runs them. What cannot pass is listed in omnifft_bridge/exceptions.txt, with reasons.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { missing } from '../support/optional.ts';
import { findPython } from '../support/programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const exhaustive = process.env.OMNIFFT_EXHAUSTIVE === '1';
const MINUTE = 60_000;

/** What became of each test, by its name, and how often it has called omnifft. */
type Report = Readonly<Record<string, { readonly outcome: string; readonly message: string; readonly calls: number }>>;

const folder = mkdtempSync(join(tmpdir(), 'omnifft-bridge-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a suite. @throws Error with the end of what pytest printed where it could not run */
async function reportOf(python: string, suite: string): Promise<Report> {
  const report = join(folder, `${suite}.json`);
  const path = [here, process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', NODE: process.execPath };
  const all = exhaustive ? ['--omnifft-all'] : [];
  const options = ['-q', '--tb=short', '--omnifft-report', report, ...all];
  const child = spawn(python, ['-m', 'omnifft_bridge', suite, ...options], { cwd: folder, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said = (said + text).slice(-4000)));
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  // 0: all passed; 1: some failed, of which the report says more.
  if (status !== 0 && status !== 1) throw new Error(`pytest ended with ${status}: ${said}`);
  return JSON.parse(readFileSync(report, 'utf8'));
}

const python = findPython('hypothesis, pytest, numpy.fft.tests, scipy.fft.tests');
missing('suites', python ? undefined : 'no python3 on the PATH has them, with pytest');
// Those of signals are not the same tests in each version: what does not pass is listed of this one.
const olderPython = findPython("pytest, scipy.signal.tests; assert scipy.__version__.startswith('1.10.')");

describe.runIf(olderPython)('over omnifft/signal', () => {
  it("scipy.signal's own tests pass, but for those that are listed, which fail", {
    timeout: exhaustive ? 60 * MINUTE : 10 * MINUTE,
  }, async () => {
    const all = Object.entries(await reportOf(olderPython!, 'scipy.signal'));
    const failed = all.filter(([, { outcome }]) => outcome === 'failed');
    expect(Object.fromEntries(failed.map(([name, { message }]) => [name, message]))).toEqual({});
    // Some only ask what SciPy says of arguments, before anything is called.
    expect(all.filter(([, { outcome, calls }]) => outcome === 'passed' && calls > 0).length).toBeGreaterThan(350);
  });
});

describe.runIf(python)('over omnifft', () => {
  it.each([
    { suite: 'numpy.fft', least: exhaustive ? 80 : 40 },
    { suite: 'scipy.fft', least: exhaustive ? 4900 : 400 },
  ])(
    "$suite's own tests pass, but for those that are listed, which fail",
    { timeout: exhaustive ? 60 * MINUTE : 10 * MINUTE },
    async ({ suite, least }) => {
      const all = Object.entries(await reportOf(python!, suite));
      const failed = all.filter(([, { outcome }]) => outcome === 'failed');
      expect(Object.fromEntries(failed.map(([name, { message }]) => [name, message]))).toEqual({});
      // A test that asks nothing of omnifft says nothing about it.
      const passed = all.filter(([, { outcome }]) => outcome === 'passed');
      expect(passed.filter(([, { calls }]) => calls === 0).map(([name]) => name)).toEqual([]);
      expect(passed.length).toBeGreaterThan(least);
    },
  );
});
