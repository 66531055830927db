/** Devices in browsers with other engines than Node's: other compilers of WebAssembly and WGSL, clocks and workers. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hidden, missing } from '../support/optional.ts';
import type { EngineReport } from './pages/engine.ts';
import { engines, reportFrom } from './support/engines.ts';

const LIMIT = 120_000;

for (const engine of engines) {
  const lacking = missing(engine.name === 'Firefox' ? 'firefox' : 'webkit', engine.lacking);
  describe.skipIf(lacking)(engine.name, () => {
    let report: EngineReport;
    beforeAll(async () => {
      const found = await reportFrom<EngineReport | { failure: string }>(engine, 'test/browser/pages/engine.ts', LIMIT);
      if ('failure' in found) throw new Error(found.failure);
      report = found;
    }, LIMIT + 30_000);

    it('transforms exactly on the processor, with threads, and on the audio thread', () => {
      const { agent, accuracy, threads, filter } = report;
      console.info(`${accuracy.problems} problems in ${agent}`);
      expect(accuracy.complaints).toEqual([]);
      expect(accuracy.problems).toBeGreaterThan(15);
      expect(threads).toMatchObject({ isolated: true, threads: 2 });
      expect(threads.worst).toBeLessThan(1e-6);
      const [passed, cut] = [...filter.matchAll(/Hz: (\S+) dB/g)].map(([, level]) => Number(level));
      expect(passed).toBeCloseTo(0, 0);
      expect(cut).toBeLessThan(-60);
    });

    it.runIf(engine.webgpu)('transforms exactly by WebGPU', ({ skip }) => {
      const { webgpu } = report;
      if ('missing' in webgpu) {
        const why = `${engine.name} has no WebGPU here: ${webgpu.missing}; on Debian: apt install libvulkan1`;
        if (process.env.CI && !hidden) throw new Error(why);
        console.warn(`SKIPPED: ${why}`);
        return skip(why);
      }
      expect(webgpu.accuracy.complaints).toEqual([]);
      expect(webgpu.accuracy.problems).toBeGreaterThan(15);
      expect(webgpu.resizable).toBeCloseTo(8, 4);
      expect(new Set(webgpu.loss)).toEqual(new Set(['device-lost']));
      expect(webgpu.refusals).toEqual(['resolved', 'destroyed', 'foreign-buffer', 'invalid-encoder']);
    });
  });
}
