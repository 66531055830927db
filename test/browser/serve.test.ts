/** The playground's server: what it gives, and what it keeps to itself. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../playground/serve.mjs';

let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  server = await serve();
});

afterAll(() => server.close());

/** Asks for a path as it stands: `fetch` would tidy it up. */
function get(path: string, method = 'GET') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const asked = request({ hostname, port, path, method }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe("the playground's server", () => {
  it('listens on this machine only', () => {
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
  });

  it.each([
    ['/playground/', 'text/html', /<title>omnifft playground/],
    ['/dist/browser/omnifft.js', 'text/javascript', /openDevice/],
    ['/examples/browser/', 'text/html', /omnifft/],
    ['/playground/style.css', 'text/css', /color-scheme/],
  ])('gives %s, isolated from other origins', async (path, type, body) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain(type);
    expect(answer.headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(answer.headers['cross-origin-embedder-policy']).toBe('require-corp');
    expect(answer.body).toMatch(body);
    const head = await get(path, 'HEAD');
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('leads to the playground, whose files lie beside it', async () => {
    const { status, headers } = await get('/');
    expect([status, headers.location]).toEqual([302, '/playground/']);
    expect(await get('/dist/browser/playground.css')).toMatchObject({ status: 200 });
  });

  it.each([
    '/package.json',
    '/examples/../package.json',
    '/examples/%2e%2e/package.json',
    '/examples/..%2fpackage.json',
    '/examples/..%5cpackage.json',
    '/playground/%00',
    '/playground',
    '/dist/browser/none.js',
    '/%',
    '//',
  ])('has nothing at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it('only reads', async () => {
    expect((await get('/', 'POST')).status).toBe(404);
  });
});
