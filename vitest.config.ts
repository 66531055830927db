import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { hideAsTold } from './test/support/hide.ts';

const exhaustive = process.env.OMNIFFT_EXHAUSTIVE === '1';
hideAsTold(fileURLToPath(new URL('.', import.meta.url)));

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    // A test that asserts nothing cannot fail; what is polled for may be long in coming on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 10_000 } },
    // Kernels are compiled and warmed up inside tests, on machines that may have two slow cores.
    testTimeout: exhaustive ? 1_800_000 : 60_000,
    hookTimeout: 60_000,
    // All cores: by default one is left free, which on two cores doubles the time.
    maxWorkers: '100%',
  },
});
