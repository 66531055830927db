/** The playground's server and a browser that looks at it, for one test file. */
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from './chromium.ts';
import { serve } from './server.ts';

/** Playwright's, and headers that every answer has instead of the server's own; an empty one goes. */
type PageOptions = Parameters<Browser['newPage']>[0] & { readonly headers?: Readonly<Record<string, string>> };

export interface Site {
  readonly url: string;
  /** A page at a path of the site. What goes wrong in it is kept in `faults`. */
  open(path: string, options?: PageOptions): Promise<{ page: Page; faults: string[] }>;
  /**
   * Opens a page, runs a module of the test's own in it, and waits for the global that it makes.
   * @throws Error with what went wrong in the page, where it makes none
   */
  run(module: string, global: string, options?: PageOptions): Promise<{ page: Page; faults: string[] }>;
  close(): Promise<void>;
}

/** In a page: what one can press and is less than 24 pixels high or wide (WCAG 2.2, 2.5.8), its label counted in. */
export function smallTargets(): string[] {
  return Array.from(document.querySelectorAll<HTMLElement>('a, button, input, select, textarea, summary'))
    .filter((element) => {
      const boxes = [element, ...((element as HTMLInputElement).labels ?? [])].map((part) =>
        part.getBoundingClientRect(),
      );
      const most = (side: 'width' | 'height') => Math.max(...boxes.map((box) => box[side]));
      return boxes[0]!.width > 0 && Math.min(most('width'), most('height')) < 24;
    })
    .map(({ tagName, id, textContent }) => `${tagName} ${id || textContent}`);
}

/**
 * @param entries modules of the test's own, as `serve` takes them
 * @returns undefined where there is no browser
 */
export async function openSite(entries?: Readonly<Record<string, string>>): Promise<Site | undefined> {
  const browser = await openBrowser();
  if (!browser) return undefined;
  const server = await serve(entries);
  const site: Site = {
    url: server.url,
    async open(path, { headers, ...options } = {}) {
      const page = await browser.newPage(options);
      if (headers) {
        await page.route('**/*', async (route) => {
          try {
            const response = await route.fetch();
            const changed = Object.entries({ ...response.headers(), ...headers }).filter(([, value]) => value !== '');
            await route.fulfill({ response, headers: Object.fromEntries(changed) });
          } catch (error) {
            // What a page that is closed still asks for gets no answer.
            if (!page.isClosed()) throw error;
          }
        });
      }
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      page.on('response', (response) => {
        if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
      });
      await page.goto(server.url + path);
      return { page, faults };
    },
    async run(module, global, options) {
      const { page, faults } = await site.open('examples/browser/', options);
      await page.addScriptTag({ url: `${server.url}dist/browser/${module}.js`, type: 'module' });
      try {
        await page.waitForFunction((name) => name in globalThis, global, { timeout: 20_000 });
      } catch (cause) {
        throw new Error(`The page did not run ${module}.js: ${faults.join('; ') || cause}`, { cause });
      }
      return { page, faults };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
  return site;
}
