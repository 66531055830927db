/** What browsers of the tests look at: the playground and the examples as they are deployed, and modules of a test's own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { buildPlayground, writeBeside } from '../../../playground/build.mjs';
import { bundleBrowser, libraryEntries } from '../../../scripts/bundle-browser.mjs';
import { libraryFiles } from './library.ts';

export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves static files with Vite, as `vite preview` does.
 * @param entries modules of the test's own, beside the library in /dist/browser/. The playground is there where they are not
 *   given: with none, the library and the examples alone.
 */
export async function serve(entries?: Readonly<Record<string, string>>): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-site-'));
  if (!entries) await buildPlayground(folder, await libraryFiles());
  else if (Object.keys(entries).length === 0) writeBeside(folder, await libraryFiles());
  else {
    // Test support asks the environment for seeds and scope; pages have none.
    const define = { 'process.env': '{}' };
    const { files } = await bundleBrowser({ entries: { ...libraryEntries, ...entries }, define });
    writeBeside(folder, files);
  }
  const configFile = fileURLToPath(new URL('../../../playground/vite.config.mjs', import.meta.url));
  const server = await preview({ configFile, logLevel: 'error', build: { outDir: folder }, preview: { port: 0 } });
  return {
    url: server.resolvedUrls!.local[0]!,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
