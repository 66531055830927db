/** Whole transforms in Chromium, on the CPU and on WebGPU (SwiftShader), against the reference. */
import { afterAll, describe, expect, it } from 'vitest';
import { seedFor } from '../support/random.ts';
import type { AccuracyPage } from './pages/accuracy.ts';
import { openSite } from './support/site.ts';

const site = await openSite({ accuracy: 'test/browser/pages/accuracy.ts' });

afterAll(() => site?.close());

describe.skipIf(!site)('in a browser', () => {
  it.each(['cpu', 'webgpu'] as const)(
    '%s is as exact as the suite demands',
    async (kind) => {
      const { page, faults } = await site!.run('accuracy', 'accuracyOn');
      const report = await page.evaluate(
        ([kind, seed]) => (globalThis as unknown as AccuracyPage).accuracyOn(kind, seed),
        [kind, seedFor(`browser ${kind}`)] as const,
      );
      console.info(`${report.problems} problems on ${report.device} in the browser`);
      expect(report.complaints).toEqual([]);
      expect(report.problems).toBeGreaterThan(15);
      expect(faults).toEqual([]);
      await page.close();
    },
    300_000,
  );
});
