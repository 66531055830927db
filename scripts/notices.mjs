// Copies of packages carry their licences, as comments that other bundlers keep.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {Uint8Array} contents of a bundled file
 * @param {string[]} inputs paths of what went into it
 * @param {string} root folder with `node_modules`
 * @returns {Uint8Array} the file, with the licences of the packages among them at its end
 */
export function withNotices(contents, inputs, root) {
  const packages = inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const notices = [...new Set(packages)].map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const { license, author, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    // Some packages have no such file, only the name of the licence.
    const named = [license, author?.name ?? author, homepage].filter((text) => typeof text === 'string').join(', ');
    return `/*! ${name}\n${file ? readFileSync(join(folder, file), 'utf8').trim() : named}\n*/\n`;
  });
  return notices.length === 0 ? contents : Buffer.concat([contents, Buffer.from(`\n${notices.join('')}`)]);
}
