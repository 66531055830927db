/** The playground while one works on it, as `npm run playground` serves it. What is deployed, the other tests look at. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './support/chromium.ts';

const browser = await openBrowser();
const cacheDir = mkdtempSync(join(tmpdir(), 'omnifft-vite-'));
let server: ViteDevServer;
let url: string;

beforeAll(async () => {
  const configFile = fileURLToPath(new URL('../../playground/vite.config.mjs', import.meta.url));
  server = await createServer({ configFile, cacheDir, logLevel: 'error', server: { port: 0, watch: null } });
  await server.listen();
  url = server.resolvedUrls!.local[0]!;
});

afterAll(async () => {
  await browser?.close();
  await server.close();
  rmSync(cacheDir, { recursive: true, force: true });
});

describe("the playground's server", () => {
  it('listens on this machine only', () => {
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect(server.resolvedUrls!.network).toEqual([]);
  });

  it.each([
    ['playground/', 'text/html', /<title>omnifft playground/],
    ['dist/browser/omnifft.js', 'text/javascript', /openDevice/],
    ['examples/browser/', 'text/html', /omnifft/],
    ['examples/data/guitar.wav', 'audio/wav', /^RIFF/],
  ])('gives %s, isolated from other origins', async (path, type, body) => {
    const answer = await fetch(url + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain(type);
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(answer.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    expect(await answer.text()).toMatch(body);
  });

  it('leads to the playground', async () => {
    const { status, headers } = await fetch(url, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/playground/']);
    expect((await fetch(`${url}none/`)).status).toBe(404);
  });

  it.skipIf(!browser)(
    'gives a page that runs',
    async () => {
      const page = await browser!.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      await page.goto(url);
      await page.waitForFunction(() => document.body.dataset.shown, undefined, { timeout: 60_000 });
      expect(await page.evaluate(() => [document.body.dataset.shown, crossOriginIsolated])).toEqual([
        '1024 forward cpu',
        true,
      ]);
      expect(faults).toEqual([]);
    },
    90_000,
  );
});
