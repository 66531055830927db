// Links within the documentation site, as a reader would follow them: to pages, files and places in pages.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Links of the pages below a folder that lead nowhere, each as `page → target`. @param base path that the site is served from */
export function brokenLinks(site, base = '/') {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(site, name));
  const texts = new Map(pages.map((path) => [path, readFileSync(path, 'utf8')]));
  return pages.flatMap((path) => {
    const here = new URL(base + relative(site, path), 'http://site/');
    return targetsOf(texts.get(path))
      .map((target) => new URL(target, here))
      .filter(({ host, pathname, hash }) => {
        if (host !== 'site') return false;
        const there = fileOf(site, decodeURIComponent(pathname).slice(base.length));
        return there === undefined || (hash !== '' && !hasPlace(texts.get(there), hash));
      })
      .map(({ pathname, hash }) => `${relative(site, path)} → ${pathname}${hash}`);
  });
}

function targetsOf(html) {
  return [...html.matchAll(/<(?:a|img|link|script)\s[^>]*?(?:href|src)="([^"]+)"/g)].map(([, target]) =>
    target.replaceAll('&amp;', '&'),
  );
}

/** As servers of static files find it. */
function fileOf(site, path) {
  return [join(site, path, 'index.html'), join(site, path), join(site, `${path}.html`)].find(
    (file) => existsSync(file) && statSync(file).isFile(),
  );
}

function hasPlace(html, hash) {
  return html === undefined || html.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
}
