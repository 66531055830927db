/** Devices in browsers with other engines than Node's: other compilers of WebAssembly and WGSL, clocks and workers. */
import { expect, it } from 'vitest';
import type { EngineReport } from './pages/engine.ts';
import { engines, reportFrom } from './support/engines.ts';

const LIMIT = 120_000;

it.each(engines)(
  '$name transforms exactly on the processor, with threads, on the audio thread, and by WebGPU if it has it',
  async (engine) => {
    const report = await reportFrom<EngineReport | { failure: string }>(engine, 'test/browser/pages/engine.ts', LIMIT);
    if (!report) return;
    if ('failure' in report) throw new Error(report.failure);
    const { agent, accuracy, threads, filter, webgpu } = report;
    console.info(`${accuracy.problems} problems in ${agent}`);
    expect(accuracy.complaints).toEqual([]);
    expect(accuracy.problems).toBeGreaterThan(15);
    expect(threads).toMatchObject({ isolated: true, threads: 2 });
    expect(threads.worst).toBeLessThan(1e-6);
    const [passed, cut] = [...filter.matchAll(/Hz: (\S+) dB/g)].map(([, level]) => Number(level));
    expect(passed).toBeCloseTo(0, 0);
    expect(cut).toBeLessThan(-60);
    if (!engine.webgpu) return;
    if ('missing' in webgpu) {
      if (process.env.CI) throw new Error(`${engine.name} has no WebGPU here: ${webgpu.missing}`);
      return console.warn(`SKIPPED, WebGPU in ${engine.name}: ${webgpu.missing}`);
    }
    expect(webgpu.accuracy.complaints).toEqual([]);
    expect(webgpu.resizable).toBeCloseTo(8, 4);
    expect(new Set(webgpu.loss)).toEqual(new Set(['device-lost']));
    expect(webgpu.refusals).toEqual(['resolved', 'destroyed', 'foreign-buffer', 'invalid-encoder']);
  },
  LIMIT + 30_000,
);
