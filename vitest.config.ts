import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { hideAsTold } from './test/support/hide.ts';

const exhaustive = process.env.OMNIFFT_EXHAUSTIVE === '1';
hideAsTold(fileURLToPath(new URL('.', import.meta.url)));

/** Rooms that compute and nothing else: their files leave nothing behind, and share the modules that a worker has loaded. */
const pure = ['numeric', 'ir', 'problem', 'plan', 'kernels'].map((room) => `src/${room}/**/*.test.ts`);
const others = ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'];

/** Files of half a minute and more come first: one of them that came last would leave the other cores idle. */
const LONG =
  /\/(accuracy|memory|bridge|browser)\/|\/(hip\/compile|opencl\/language|computed-roots|signal\/devices|sync-calls|explain-bench)\.test/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'others', include: others, exclude: pure } },
    ],
    globalSetup: ['test/support/pocl-cache.ts'],
    // What an earlier run has kept must not stand in for what is tested. PoCL's loops over the items of a group compile in
    // half the time without being unrolled for vectors.
    env: { OMNIFFT_CACHE: 'off', POCL_WORK_GROUP_METHOD: 'loops' },
    sequence: { sequencer: LongFirst },
    // A test that asserts nothing cannot fail; what is polled for may be long in coming on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 10_000 } },
    // Kernels are compiled and warmed up inside tests, on machines that may have two slow cores.
    testTimeout: exhaustive ? 1_800_000 : 180_000,
    hookTimeout: 60_000,
    // All cores: by default one is left free, which on two cores doubles the time.
    maxWorkers: '100%',
  },
});
