import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { hideAsTold } from './test/support/hide.ts';

const exhaustive = process.env.OMNIFFT_EXHAUSTIVE === '1';
hideAsTold(fileURLToPath(new URL('.', import.meta.url)));

const every = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];

/**
 * Rooms whose test files leave nothing behind in a process. They share the modules that a worker has loaded, and run on code that is
 * compiled already, which takes three quarters of the time.
 */
const sharing = [
  ...['numeric', 'ir', 'problem', 'layout', 'plan', 'kernels', 'emit', 'engine', 'patterns'],
  ...['lift', 'nufft', 'numpy', 'signal'],
].map((room) => `src/${room}/**/*.test.ts`);
const shared = [...sharing, 'test/accuracy/**/*.test.ts', 'test/properties/**/*.test.ts'];

/** Files of these rooms that need a process of their own: they mock modules, or load HIP's compiler, which does not go with PoCL. */
const alone = ['test/accuracy/{adders,plain}.test.ts', 'src/lift/compilers.test.ts'];

/** Files of half a minute and more come first: one of them that came last would leave the other cores idle. */
const LONG =
  /\/(accuracy|memory|bridge|browser)\/|\/(hip\/compile|opencl\/language|computed-roots|signal\/devices|sync-calls|explain-bench)\.test/;

/** Files with processes of their own come before those that share one: a worker goes on only with a file that shares it. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId, project }: TestSpecification) =>
      (project.config.isolate ? 0 : 2) + (LONG.test(moduleId) ? 0 : 1);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: shared, exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
      { extends: true, test: { name: 'others', include: every, exclude: shared } },
    ],
    globalSetup: ['test/support/pocl-cache.ts'],
    // What an earlier run has kept must not stand in for what is tested. PoCL's loops over the items of a group compile in
    // half the time without being unrolled for vectors.
    env: { OMNIFFT_CACHE: 'off', POCL_WORK_GROUP_METHOD: 'loops' },
    sequence: { sequencer: InOrder },
    // A test that asserts nothing cannot fail; what is polled for may be long in coming on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 10_000 } },
    // Kernels are compiled and warmed up inside tests, on machines that may have two slow cores.
    testTimeout: exhaustive ? 1_800_000 : 180_000,
    hookTimeout: 60_000,
    // All cores: by default one is left free, which on two cores doubles the time.
    maxWorkers: '100%',
  },
});
