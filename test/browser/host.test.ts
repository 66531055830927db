/** What pages allow and forbid: shared memory, run-time compilation, worker threads. */
import { afterAll, describe, expect, it } from 'vitest';
import type { ThreadsPage } from './pages/threads.ts';
import type { WebGpuPage } from './pages/webgpu.ts';
import { openSite } from './support/site.ts';

const site = await openSite({ threads: 'test/browser/pages/threads.ts', webgpu: 'test/browser/pages/webgpu.ts' });

afterAll(() => site?.close());

/** A transform that is worth several threads, in a page with other headers. */
async function transformIn(headers: Readonly<Record<string, string>>) {
  const { page } = await site!.run('threads', 'tryThreads', { headers });
  const report = await page.evaluate(() => (globalThis as unknown as ThreadsPage).tryThreads());
  await page.close();
  return report;
}

describe.skipIf(!site)('the CPU device in a page', () => {
  it('has threads where memory can be shared', async () => {
    const { isolated, threads, worst } = await transformIn({});
    expect({ isolated, threads }).toEqual({ isolated: true, threads: 2 });
    expect(worst).toBeLessThan(1e-6);
  });

  it('has one thread where it cannot', async () => {
    const { isolated, threads, worst } = await transformIn({
      'cross-origin-opener-policy': '',
      'cross-origin-embedder-policy': '',
    });
    expect({ isolated, threads }).toEqual({ isolated: false, threads: 1 });
    expect(worst).toBeLessThan(1e-6);
  });

  it('works alone where worker threads are forbidden', async () => {
    const { isolated, threads, worst } = await transformIn({ 'content-security-policy': "worker-src 'none'" });
    expect({ isolated, threads }).toEqual({ isolated: true, threads: 2 });
    expect(worst).toBeLessThan(1e-6);
  });

  it('says so where compilation is forbidden', async () => {
    const policy = "script-src 'self' 'unsafe-inline'";
    const { available, reason, refused } = await transformIn({ 'content-security-policy': policy });
    expect(available).toBe(false);
    expect(reason).toContain("'wasm-unsafe-eval'");
    expect(refused?.code).toBe('device-unavailable');
    expect(refused?.message).toContain("'wasm-unsafe-eval'");
  });
});

describe.skipIf(!site)('WebGPU in a page', () => {
  it('takes arrays whose memory can change its size', async () => {
    const { page } = await site!.run('webgpu', 'webGpu');
    expect(await page.evaluate(() => (globalThis as unknown as WebGpuPage).webGpu.tryResizable())).toBeCloseTo(8, 4);
    await page.close();
  }, 60_000);

  it('tells what is wrong with memory and encoders', async () => {
    const { page } = await site!.run('webgpu', 'webGpu');
    const codes = await page.evaluate(() => (globalThis as unknown as WebGpuPage).webGpu.tryRefusals());
    expect(codes).toEqual(['resolved', 'destroyed', 'foreign-buffer', 'invalid-encoder']);
    await page.close();
  }, 60_000);

  it('tells calls that wait for it that the device is lost', async () => {
    const { page } = await site!.run('webgpu', 'webGpu');
    const codes = await page.evaluate(() => (globalThis as unknown as WebGpuPage).webGpu.tryLoss());
    expect(new Set(codes)).toEqual(new Set(['device-lost']));
    await page.close();
  }, 60_000);
});
