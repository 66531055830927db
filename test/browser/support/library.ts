/** The library for browsers, as it is deployed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDigest } from '../../../scripts/build-digest.mjs';
import { bundleBrowser, root } from '../../../scripts/bundle-browser.mjs';

/**
 * Files of the library by their name: the ones that `npm run build` has made where they are of these very sources, which they
 * say, since bundling them again takes ten seconds; bundled now where they are not.
 */
export async function libraryFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
  const folder = join(root, 'dist', 'browser');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const built = new Map<string, Uint8Array>(names.map((name) => [name, readFileSync(join(folder, name))]));
  const digest = buildDigest(root);
  const isOfTheseSources = [...built.values()].some((contents) => Buffer.from(contents).includes(digest));
  return isOfTheseSources ? built : (await bundleBrowser()).files;
}
