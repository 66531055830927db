/** What pages allow and forbid: shared memory, run-time compilation, worker threads. */
import { afterAll, describe, expect, it } from 'vitest';
import type { GuidesPage } from './pages/guides.ts';
import type { KeptPage } from './pages/kept.ts';
import type { ThreadsPage } from './pages/threads.ts';
import type { WebGpuPage } from './pages/webgpu.ts';
import { openSite } from './support/site.ts';

const site = await openSite({
  threads: 'test/browser/pages/threads.ts',
  webgpu: 'test/browser/pages/webgpu.ts',
  guides: 'test/browser/pages/guides.ts',
  kept: 'test/browser/pages/kept.ts',
});

afterAll(() => site?.close());

/** A transform that is worth several threads, in a page with other headers. */
async function transformIn(headers: Readonly<Record<string, string>>) {
  const { page } = await site!.run('threads', 'tryThreads', { headers });
  const report = await page.evaluate(() => (globalThis as unknown as ThreadsPage).tryThreads());
  // Requests for the scripts of worker threads may still be under way. Closing the page disposes of their answers, and the handlers fail.
  await page.unrouteAll({ behavior: 'wait' });
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

describe.skipIf(!site)('what a page keeps', () => {
  it('is nothing, or plans in a database where that is asked for, which compute the same', async () => {
    const { page } = await site!.run('kept', 'tryKept');
    const tryKept = (cache: boolean | string | undefined) =>
      page.evaluate((given) => (globalThis as unknown as KeptPage).tryKept(given), cache);
    const plain = await tryKept(undefined);
    expect(plain.entries).toBe(0);
    for (const cache of [true, 'own']) {
      const first = await tryKept(cache);
      expect(first.written).toBe(1);
      await expect.poll(async () => (await tryKept(cache)).entries).toBe(1);
      const later = await tryKept(cache);
      expect(later.written).toBe(0);
      expect([first.results, later.results]).toEqual([plain.results, plain.results]);
    }
    await page.close();
  });
});

describe.skipIf(!site)('the guides', () => {
  it('draw tables in a language that Intl refuses, and print what programs say as people read it', async () => {
    const { page, faults } = await site!.run('guides', 'guides');
    const said = await page.evaluate(async () => {
      const { drawFigures, runPrograms, text } = (globalThis as unknown as GuidesPage).guides;
      Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true });
      const guide = document.createElement('div');
      const rows = [8, 16, 32].map((n) => `<tr><td>${n}</td><td>${n / 8}</td></tr>`).join('');
      const program = "import { version } from 'omnifft';\nconsole.log(typeof version, [1, 2]);";
      guide.innerHTML = `<table><tr><th>length</th><th>GB/s</th></tr>${rows}</table>
        <div class="language-js"><pre><code></code></pre></div>`;
      guide.querySelector('code')!.textContent = program;
      document.body.append(guide);
      await drawFigures(guide);
      runPrograms(guide, '/dist/browser/');
      const code = guide.querySelector('code')!.getBoundingClientRect();
      const button = guide.querySelector<HTMLElement>('.run')!;
      const output = guide.querySelector<HTMLElement>('.output')!;
      const covers = button.getBoundingClientRect().top < code.bottom;
      button.click();
      while (!('done' in output.dataset)) await new Promise((resolve) => setTimeout(resolve, 5));
      const matrix = { data: Float32Array.of(1, 0, -2.5, 1 / 3), shape: [2, 2], dtype: 'float32' };
      const bins = { data: Float64Array.of(1, -2, 0, 3), shape: [2], dtype: 'complex128' };
      return {
        plots: guide.querySelectorAll('.uplot').length,
        covers,
        ran: output.textContent,
        printed: [matrix, bins, { f: Float64Array.of(0, 0.25), t: 'now' }, new Uint8Array(20)].map(text),
      };
    });
    expect(faults).toEqual([]);
    expect(said).toEqual({
      plots: 1,
      covers: false,
      ran: 'string [1, 2]\n',
      printed: [
        'float32, shape [2, 2]\n[[1, 0],\n [-2.5, 0.333333]]',
        'complex128, shape [2]\n[1 − 2i, 0 + 3i]',
        "{ f: Float64Array(2) [0, 0.25], t: 'now' }",
        `Uint8Array(20) [${'0, '.repeat(16)}…]`,
      ],
    });
    await page.close();
  }, 60_000);
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
