/**
 * The pictures in examples/README.md, taken of the pages themselves by the browser of the tests:
 *
 *   npm run screenshots        → docs/pictures/
 */
import { join } from 'node:path';
import { openSite } from '../test/browser/support/site.ts';
import { root } from './bundle-browser.mjs';

const folder = join(root, 'docs', 'pictures');
const site = await openSite();
if (!site) throw new Error('There is no browser to take pictures with.');

const playground = await site.open('', { viewport: { width: 880, height: 760 }, colorScheme: 'dark' });
await playground.page.waitForFunction(() => Number(document.body.dataset.live) > 150, undefined, { timeout: 90_000 });
await playground.page.locator('#live').screenshot({ path: join(folder, 'playground.png') });
const spectrum = playground.page.locator('#image-spectrum');
await spectrum.scrollIntoViewIfNeeded();
const { x, y, width } = (await spectrum.boundingBox())!;
await playground.page.mouse.click(x + (width * 172) / 256, y + (width * 156) / 256);
await playground.page.locator('#image .pictures').screenshot({ path: join(folder, 'mask.png') });

const ocean = await site.open('examples/ocean/?still', { viewport: { width: 640, height: 300 } });
await ocean.page.waitForFunction(() => document.querySelector('#result')?.textContent !== '…', undefined, {
  timeout: 60_000,
});
await ocean.page.screenshot({ path: join(folder, 'ocean.png') });

const faults = [playground, ocean].flatMap((one) => one.faults);
await site.close();
if (faults.length > 0) throw new Error(faults.join('\n'));
