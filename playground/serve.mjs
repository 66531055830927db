// The playground, and the browser examples, on this machine:
//
//   npm run playground [-- --port 8017]      (or: node playground/serve.mjs --port 8017)
//
// Builds the page and the library from source, then serves them with the headers that make a page cross-origin isolated:
// without those a browser gives no shared memory, and the CPU device has one thread.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleBrowser, libraryEntries, root } from '../scripts/bundle-browser.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
};

const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

/**
 * @param options.port 0 (the default) takes any free one
 * @param options.entries more modules for the bundle, name → file
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serve({ port = 0, entries = {}, define = {} } = {}) {
  const { files } = await bundleBrowser({
    entries: { ...libraryEntries, playground: 'playground/src/main.ts', ...entries },
    define,
  });
  const server = createServer(async (request, response) => {
    // The page finds its files beside it.
    if (request.method === 'GET' && /^\/(\?|$)/.test(request.url ?? '/')) {
      response.writeHead(302, { ...HEADERS, Location: '/playground/' }).end();
      return;
    }
    const file =
      request.method === 'GET' || request.method === 'HEAD' ? await find(request.url ?? '/', files) : undefined;
    const { status, type, body } = file ?? { status: 404, type: 'text/plain', body: 'There is nothing here.' };
    response.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', done);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** The bundle under /dist/browser/, as a built package has it; files of playground/ and examples/ as they are. */
async function find(url, files) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  if (path.endsWith('/')) path += 'index.html';
  const bundled = path.startsWith('/dist/browser/') ? files.get(path.slice('/dist/browser/'.length)) : undefined;
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  if (bundled) return { status: 200, type, body: bundled };
  const file = join(root, normalize(path));
  if (!['playground', 'examples'].some((folder) => file.startsWith(join(root, folder) + sep))) return undefined;
  try {
    return { status: 200, type, body: await readFile(file) };
  } catch {
    return undefined;
  }
}

function portFrom(args) {
  try {
    const { port } = parseArgs({ args, options: { port: { type: 'string', default: '8017' } } }).values;
    if (/^\d+$/.test(port) && Number(port) <= 65535) return Number(port);
    throw new Error(`--port ${port} is no port; give a number from 0 to 65535 (0: any that is free).`);
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const port = portFrom(process.argv.slice(2));
  try {
    const { url } = await serve({ port });
    console.log(`Playground  ${url}`);
    console.log(`Examples    ${url}examples/browser/  ${url}examples/audio-worklet/  ${url}examples/webgpu-pipeline/`);
    console.log('Ctrl+C ends it.');
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    console.error(`Port ${port} is taken by another program; choose one with --port.`);
    process.exit(1);
  }
}
