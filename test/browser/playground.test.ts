/** The playground, driven as a person would: typing, choosing, reading what the page says. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSite, smallTargets } from './support/site.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = `${root}out/playground`;
const RATE = 48_000;

let page: Page;
let faults: string[] = [];

const site = await openSite();

beforeAll(async () => {
  if (!site) return;
  mkdirSync(pictures, { recursive: true });
  ({ page, faults } = await site!.open('', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }));
  await idle();
}, 120_000);

afterAll(() => site?.close());

/** Until the page has done what was asked of it last. */
async function idle(): Promise<void> {
  await page.waitForFunction(() => document.body.dataset.state === 'idle', undefined, { timeout: 60_000 });
}

/** Types a problem and presses Enter. */
async function ask(text: string): Promise<void> {
  await page.fill('#problem', text);
  await page.press('#problem', 'Enter');
  await idle();
}

async function choose(kind: 'cpu' | 'webgpu'): Promise<void> {
  await page.check(`#device-${kind}`);
  await idle();
}

async function setSignal(source: string, values: Readonly<Record<string, number>> = {}): Promise<void> {
  await page.selectOption('#source', source);
  await idle();
  for (const [name, value] of Object.entries(values)) {
    await page.fill(`#parameter-${name}`, String(value));
    await page.press(`#parameter-${name}`, 'Tab');
    await idle();
  }
}

/** What a plot says of the place that the pointer is at, in the middle. */
async function readCursor(figure: string): Promise<string> {
  await page.locator(`${figure} .u-over`).hover();
  return (await page.locator(`${figure} .u-legend`).innerText()).replace(/\s+/g, ' ');
}

/** What the page says, as numbers and text. */
function read() {
  return page.evaluate(() => {
    const text = (id: string) => document.getElementById(id)?.textContent ?? '';
    const data = (id: string) => document.getElementById(id)?.dataset ?? {};
    return {
      peak: text('peak'),
      bin: data('peak').bin,
      error: Number(data('error').error),
      bound: Number(data('error').bound),
      plan: text('plan-text'),
      source: text('kernel-source'),
      language: data('kernel-source').language,
      problem: text('problem-error'),
      position: data('problem-error').position,
      shown: document.body.dataset.shown,
      stale: 'stale' in document.body.dataset,
      speeds: Array.from(document.querySelectorAll<HTMLElement>('#speed tbody tr')).map(({ dataset }) => ({
        what: dataset.what,
        milliseconds: Number(dataset.milliseconds),
        gigaflops: Number(dataset.gigaflops),
      })),
    };
  });
}

describe.skipIf(!site)('the playground', () => {
  it('opens on a signal that goes on, and says where its tones are', async () => {
    const { page: fresh, faults: wrong } = await site!.open('', { viewport: { width: 1280, height: 900 } });
    await fresh.waitForFunction(() => Number(document.body.dataset.live) > 2, undefined, { timeout: 60_000 });
    const bottom = (await fresh.locator('#waterfall').boundingBox())!;
    expect(bottom.y + bottom.height).toBeLessThan(900);
    const strongest = async () => Number(/([\d.]+) (k?)Hz/.exec(await fresh.locator('#live-peak').innerText())?.[1]);
    await expect.poll(async () => Math.abs((await strongest()) - 880)).toBeLessThan(24);
    await fresh.locator('#live-tone').fill('500');
    await fresh.waitForFunction(() =>
      /4\d\d|5\d\d\.?\d* Hz/.test(document.getElementById('live-peak')?.textContent ?? ''),
    );
    const before = await fresh.evaluate(() => Number(document.body.dataset.live));
    await fresh.check('#live-phase');
    await fresh.uncheck('#live-log');
    await fresh.selectOption('#live-source', 'microphone');
    await fresh.waitForFunction((n) => Number(document.body.dataset.live) > n, before + 3);
    // Dragging zooms, and the waterfall goes along; a double click shows all.
    const over = fresh.locator('#live-spectrum .u-over');
    const box = (await over.boundingBox())!;
    await fresh.mouse.move(box.x + 100, box.y + 50);
    await fresh.mouse.down();
    await fresh.mouse.move(box.x + 300, box.y + 50, { steps: 4 });
    await fresh.mouse.up();
    await over.dblclick();
    // So do keys.
    await fresh.locator('#live-spectrum [role=application]').focus();
    const ticksShown = async () => (await fresh.locator('.frequencies text').allTextContents()).join();
    const all = await ticksShown();
    for (let n = 0; n < 6; n++) await fresh.keyboard.press('+');
    // The axis is drawn with the next picture, which may be long in coming.
    await expect.poll(ticksShown).not.toBe(all);
    const part = await ticksShown();
    await fresh.keyboard.press('ArrowRight');
    await expect.poll(ticksShown).not.toBe(part);
    await fresh.keyboard.press('0');
    await expect.poll(ticksShown).toBe(all);
    // A narrower window shows the same rows, along a narrower axis.
    await fresh.selectOption('#live-source', 'sliders');
    const rows = await fresh.evaluate(() => Number(document.body.dataset.live));
    await fresh.waitForFunction((n) => Number(document.body.dataset.live) > n, rows + 8);
    await fresh.check('#live-still');
    const bright = () =>
      fresh.evaluate(() => {
        const canvas = document.getElementById('waterfall') as HTMLCanvasElement;
        const { data } = canvas.getContext('2d')!.getImageData(0, 2, canvas.width, 1);
        return [canvas.width, Math.max(...data.filter((_, n) => n % 4 === 1))] as const;
      });
    const [wide, shone] = await bright();
    await fresh.setViewportSize({ width: 900, height: 900 });
    await fresh.waitForFunction(
      (width) => (document.getElementById('waterfall') as HTMLCanvasElement).width < width,
      wide,
    );
    expect(shone).toBeGreaterThan(150);
    await expect.poll(async () => (await bright())[1]).toBeGreaterThan(150);
    await fresh.uncheck('#live-still');
    // What the picture means is said: time, decibels, and what sliders are at.
    expect(await fresh.locator('.times text').allTextContents()).toContain('now');
    expect(await fresh.locator('#waterfall-key').innerText()).toMatch(/−110 dB\s+0 dB: a sine of amplitude 1/);
    expect(await fresh.locator('#live-spectrum figcaption').innerText()).toContain('0 dB: a sine of amplitude 1');
    expect(await fresh.locator('#live-tone + output').innerText()).toBe('500 Hz');
    // Any length will do.
    await fresh.fill('#live-size', '1999');
    await fresh.press('#live-size', 'Enter');
    await fresh.locator('#live-code summary').click();
    await expect.poll(() => fresh.locator('#live-code pre').innerText()).toMatch(/size: \[1999\], transform: 'r2c'/);
    await fresh.waitForFunction(() =>
      /4\d\d|5\d\d\.?\d* Hz/.test(document.getElementById('live-peak')?.textContent ?? ''),
    );
    await fresh.fill('#live-size', '1');
    await fresh.press('#live-size', 'Enter');
    expect(await fresh.locator('#live-code pre').innerText()).toContain('1999');
    expect(wrong).toEqual([]);
    await fresh.close();
  }, 60_000);

  it('makes a signal of bins that one types or drags', async () => {
    const type = async (name: string, value: number) => {
      await page.fill(`#bins-${name}`, String(value));
      await page.press(`#bins-${name}`, 'Enter');
    };
    /** The sample that the pointer is at, and its value. */
    const sample = async () =>
      [...(await readCursor('#bins-signal')).replaceAll('−', '-').matchAll(/(?:sample|value):? ?(-?[\d.]+)/g)].map(
        ([, value]) => Number(value),
      ) as [number, number];
    await page.click('#bins-shapes [value=nothing]');
    await type('length', 45);
    await type('bin', 3);
    await type('amplitude', 0.75);
    await type('phase', 30);
    const [t, value] = await sample();
    expect(value).toBeCloseTo(0.75 * Math.cos((2 * Math.PI * 3 * t) / 45 + Math.PI / 6), 3);
    // A frequency of 0 is one number for all samples: a line across the lowest bin, and nothing else.
    await type('amplitude', 0);
    const over = (await page.locator('#bins-spectrum .u-over').boundingBox())!;
    await page.mouse.move(over.x + 1, over.y + over.height - 1);
    await page.mouse.down();
    await page.mouse.move(over.x + 1, over.y + over.height / 3, { steps: 3 });
    await page.mouse.up();
    const drawn = Number(await page.inputValue('#bins-amplitude'));
    expect(await page.inputValue('#bins-bin')).toBe('0');
    expect(drawn).toBeGreaterThan(0.5);
    expect((await sample())[1]).toBeCloseTo(drawn, 2);
    await page.locator('#bins-spectrum [role=application]').focus();
    for (const key of ['ArrowRight', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
    expect([await page.inputValue('#bins-bin'), await page.inputValue('#bins-amplitude')]).toEqual(['1', '0.1']);
    await type('amplitude', 0);
    expect(await page.locator('#bins-code pre').textContent()).toContain("size: [45], transform: 'r2c'");
    expect(faults).toEqual([]);
  });

  it('takes the stripes out of a picture by painting over two spots of its spectrum', async () => {
    /** How much neighbouring pixels of what is left differ. */
    const roughness = () =>
      page.evaluate(() => {
        const canvas = document.getElementById('image-out') as HTMLCanvasElement;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, 256, 40);
        let sum = 0;
        for (let n = 4; n < data.length; n += 4) if (n % 1024) sum += Math.abs(data[n]! - data[n - 4]!);
        return sum / (256 * 40);
      });
    await page.waitForFunction(() => Number(document.body.dataset.image) > 0);
    const striped = await roughness();
    const spectrum = page.locator('#image-spectrum');
    await spectrum.scrollIntoViewIfNeeded();
    const { x, y, width } = (await spectrum.boundingBox())!;
    await page.mouse.click(x + (width * (128 + 44)) / 256, y + (width * (128 + 28)) / 256);
    await page.waitForFunction(() => Number(document.body.dataset.image) > 1);
    expect(striped).toBeGreaterThan(20);
    expect(await roughness()).toBeLessThan(striped / 5);
    await page.click('#image-all');
    expect(await roughness()).toBeCloseTo(striped, 0);
    // The same by the keyboard: the brush starts beside the middle.
    await spectrum.focus();
    const [right, down] = [(44 - 16) / 2, 28 / 2];
    for (let n = 0; n < right; n++) await page.keyboard.press('ArrowRight');
    for (let n = 0; n < down; n++) await page.keyboard.press('ArrowDown');
    expect(await roughness()).toBeCloseTo(striped, 0);
    await page.keyboard.press('Space');
    expect(await roughness()).toBeLessThan(striped / 5);
    await page.click('#image-all');
    expect(faults).toEqual([]);
  });

  it('convolves a picture with a kernel that one drags, on both devices alike', async () => {
    const pixels = (id: string) =>
      page.evaluate((canvas) => {
        const { data } = (document.getElementById(canvas) as HTMLCanvasElement)
          .getContext('2d')!
          .getImageData(0, 0, 256, 256);
        return Array.from({ length: 256 * 256 }, (_, n) => data[4 * n]!);
      }, id);
    const shown = (what: string) =>
      page.waitForFunction((text) => document.body.dataset.filter === text, what, { timeout: 60_000 });
    const rough = (grey: readonly number[]) =>
      grey.reduce((sum, value, n) => sum + (n % 256 ? Math.abs(value - grey[n - 1]!) : 0), 0);
    await shown('blur 3 cpu');
    const picture = rough(await pixels('filter-in'));
    const blurred = rough(await pixels('filter-out'));
    expect(blurred).toBeLessThan(picture / 2);
    const result = page.locator('#filter-out');
    await result.scrollIntoViewIfNeeded();
    const { x, y, width } = (await result.boundingBox())!;
    await page.mouse.move(x + width / 8, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 20, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => /^blur (7\.[5-9]|8(\.\d)?) cpu$/.test(document.body.dataset.filter ?? ''));
    expect(rough(await pixels('filter-out'))).toBeLessThan(blurred);
    const wide = await page.inputValue('#filter-width');
    await page.selectOption('#filter-kind', 'sharpen');
    await shown(`sharpen ${wide} cpu`);
    const cpu = await pixels('filter-out');
    expect(rough(cpu)).toBeGreaterThan(picture);
    await page.selectOption('#filter-device', 'webgpu');
    await shown(`sharpen ${wide} webgpu`);
    const gpu = await pixels('filter-out');
    expect(Math.max(...gpu.map((value, n) => Math.abs(value - cpu[n]!)))).toBeLessThanOrEqual(1);
    expect(faults).toEqual([]);
  }, 90_000);

  it.each([
    ['1024', '1024 forward cpu', '{"size":[1024],"batches":1}'],
    ['96 x 64 * 2', '96x64 forward cpu', '{"size":[96,64],"batches":2}'],
  ])('takes %s alone, and shows the program for it', async (text, shown, problem) => {
    await choose('cpu');
    await ask(text);
    const said = await read();
    expect(said).toMatchObject({ problem: '', shown });
    expect(said.error).toBeLessThanOrEqual(said.bound);
    expect(await page.locator('#plan-code pre').textContent()).toContain(`device.plan(${problem})`);
  });

  it('has shared memory, and lists the devices that browsers have', async () => {
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(await page.locator('#devices input').evaluateAll((inputs) => inputs.map((input) => input.id))).toEqual([
      'device-cpu',
      'device-webgpu',
    ]);
    expect(await page.locator('#missing').textContent()).toMatch(/cuda: .*\bNode\b/);
  });

  it.each([
    ['scfo1009', 1e-5],
    ['dcfo17*3', 1e-13],
    ['scfo101x19', 1e-5],
    ['scfo1', 1e-6],
    ['dcbi1', 1e-14],
    ['srfo1009*3', 1e-5],
    ['drfi24x10', 1e-13],
    ['srbo1', 1e-6],
  ] as const)(
    'takes %s, whose length has large primes or is 1, or whose numbers are real',
    async (problem, most) => {
      await choose('cpu');
      await setSignal('tones', { first: 3000, second: 9000, level: -20 });
      await ask(problem);
      const said = await read();
      expect(said).toMatchObject({ problem: '', stale: false });
      expect(said.error).toBeLessThanOrEqual(said.bound);
      expect(said.bound).toBeLessThan(most);
      expect(said.peak).toMatch(/^bin .* amplitude [\d.]+/);
      expect(await page.locator('#spectrum-plot').innerHTML()).not.toMatch(/NaN|Infinity/);
      expect(await page.locator('#plan-picture').innerHTML()).not.toMatch(/NaN|Infinity/);
      expect(said.speeds.length).toBeGreaterThan(1);
      expect(faults).toEqual([]);
    },
    60_000,
  );

  it.each([
    ['cpu', 'wasm', /^\(module\n[\s\S]*v128\.load[\s\S]*f32x4\.\w+[\s\S]*v128\.store/],
    ['webgpu', 'wgsl', /@compute @workgroup_size/],
  ] as const)(
    'plans, runs, checks and times a descriptor on %s',
    async (kind, language, source) => {
      await choose(kind);
      await setSignal('tones', { first: 3000, second: 9000, level: -20 });
      await ask('scfo256*4');
      const said = await read();
      expect(said).toMatchObject({ problem: '', shown: `256 forward ${kind}` });
      expect(said.bin).toBe(String((3000 * 256) / RATE));
      expect(said.peak).toMatch(/^bin 16 of 256: 3 kHz, amplitude 0\.909/);
      expect(said.error).toBeGreaterThan(0);
      expect(said.error).toBeLessThanOrEqual(said.bound);
      expect(said.bound).toBeLessThan(1e-6);
      expect(said.plan).toContain(`(${kind})`);
      expect(said.plan).toMatch(/stockham axis 0: input → output/);
      expect(said.language).toBe(language);
      expect(said.source).toMatch(source);
      const words = await page.locator('#plan-picture svg text').allTextContents();
      expect(words).toEqual(expect.arrayContaining(['input', 'output', 'stockham, axis 0']));
      expect(said.speeds.map(({ what }) => what)).toEqual(expect.arrayContaining([`omnifft, ${kind}`, 'fft.js']));
      for (const { milliseconds, gigaflops } of said.speeds) {
        expect(milliseconds).toBeGreaterThan(0);
        expect(gigaflops * milliseconds * 1e6).toBeCloseTo(5 * 256 * 4 * 8, 3);
      }
      expect(await readCursor('#spectrum-plot')).toMatch(/^frequency \(kHz\):? ?[\d.]+ ?amplitude \(dB\):? ?−?[\d.]+$/);
      await page.screenshot({ path: `${pictures}/${kind}.png`, fullPage: true });
      expect(faults).toEqual([]);
    },
    120_000,
  );

  it('shows the spectrum of a real transform as that of a complex one, for half the work', async () => {
    await choose('cpu');
    await setSignal('tones', { first: 3000, second: 9000, level: -20 });
    await ask('srfo256*4');
    const said = await read();
    expect(said).toMatchObject({ problem: '', shown: '256 forward cpu', bin: '16' });
    expect(said.peak).toMatch(/^bin 16 of 256: 3 kHz, amplitude 0\.909/);
    expect(said.speeds.map(({ what }) => what)).toEqual(expect.arrayContaining(['omnifft, cpu', 'fft.js']));
    for (const { milliseconds, gigaflops } of said.speeds) {
      expect(gigaflops * milliseconds * 1e6).toBeCloseTo(2.5 * 256 * 4 * 8, 3);
    }
    expect(faults).toEqual([]);
  }, 60_000);

  it('draws the tree and the buffers of a plan of several launches', async () => {
    await choose('cpu');
    await ask('{ "size": [1048576], "directions": "forward" }');
    const words = await page.locator('#plan-picture svg text').allTextContents();
    expect(words).toEqual(expect.arrayContaining(['input', 'output', 'four-step, axis 0: 1048576']));
    expect(await page.locator('#plan-picture .flow').count()).toBe(await page.locator('#kernel-list button').count());
    const { error, bound, bin } = await read();
    expect(error).toBeLessThanOrEqual(bound);
    expect(bin).toBe(String((3000 * 1048576) / RATE));
  });

  it('shows images for two axes, the inverse in place, and double precision there and back', async () => {
    await ask('scbi96x60*2');
    const inverse = await read();
    expect(inverse).toMatchObject({ problem: '', shown: '96x60 inverse cpu' });
    expect(inverse.error).toBeLessThanOrEqual(inverse.bound);
    expect(await page.locator('#spectrum-plot canvas').count()).toBe(1);
    await ask('{ "size": [1000], "precision": "double", "layout": "planar", "strides": { "input": [1, 3, 3000] } }');
    const double = await read();
    expect(double.shown).toBe('1000 forward cpu');
    expect(double.error).toBeGreaterThan(0);
    expect(double.error).toBeLessThanOrEqual(double.bound);
    expect(double.bound).toBeLessThan(1e-14);
  });

  it('takes cosines and sines', async () => {
    await setSignal('tones', { first: 3000, second: 9000, level: -20 });
    const problems = [
      '{ "size": [64, 64], "transform": ["dct2", "dst4"], "batches": 2 }',
      '{ "size": [1000], "transform": "dct2", "precision": "double" }',
    ];
    for (const problem of problems) {
      await ask(problem);
      const shown = await read();
      expect(shown.problem, problem).toBe('');
      expect(shown.error, problem).toBeLessThanOrEqual(shown.bound);
      expect(shown.error, problem).toBeGreaterThan(0);
    }
  });

  it('says of a plan that the device has made before that it is one', async () => {
    await choose('cpu');
    const time = async (problem: string) => {
      await ask(problem);
      return page.locator('#plan-time').textContent();
    };
    expect(await time('scfo56')).not.toContain('remembered');
    expect(await time('scfo63')).not.toContain('remembered');
    expect(await time('scfo56')).toContain('remembered');
  });

  it('takes every kind of signal', async () => {
    await ask('scfo480');
    await setSignal('impulse', { at: 7 });
    // Every bin is as strong as every other; the first that a mirror image doubles is shown.
    expect((await read()).peak).toMatch(/^bin 1 of 480: 100 Hz, amplitude 0\.004167/);
    await setSignal('chirp', { from: 1000, to: 5000 });
    const chirp = Number((await read()).bin);
    expect(chirp).toBeGreaterThanOrEqual((1000 * 480) / RATE);
    expect(chirp).toBeLessThanOrEqual((5000 * 480) / RATE);
    await setSignal('noise', { seed: 5 });
    const noise = await read();
    expect(noise.error).toBeGreaterThan(0);
    expect(noise.error).toBeLessThanOrEqual(noise.bound);

    await page.selectOption('#source', 'file');
    await page.setInputFiles('#file', `${root}examples/data/guitar.wav`);
    await page.waitForFunction(() => /samples/.test(document.getElementById('signal-note')?.textContent ?? ''));
    await idle();
    const file = await read();
    expect(file.peak).not.toBe(noise.peak);
    expect(file.error).toBeLessThanOrEqual(file.bound);

    await page.selectOption('#source', 'microphone');
    await page.fill('#seconds', '0.2');
    await page.click('#record');
    // Chromium's pretended microphone: beeps.
    await page.waitForFunction(() => /9600 samples/.test(document.getElementById('signal-note')?.textContent ?? ''));
    await idle();
    const { error, bound } = await read();
    expect(error).toBeLessThanOrEqual(bound);

    expect(faults).toEqual([]);
  });

  it('says beside the field what is wrong, and where', async () => {
    await setSignal('tones', { first: 3000 });
    await ask('scfo10q4');
    const descriptor = await read();
    expect(descriptor.position).toBe('6');
    expect(descriptor.problem).toMatch(/wrong at position 6: expected another digit.*invalid-descriptor/);
    expect(descriptor.stale).toBe(true);
    expect(await page.getAttribute('#problem', 'aria-invalid')).toBe('true');
    expect(await page.locator('#problem-error pre').textContent()).toBe('scfo10q4\n      ▲');

    await ask('{ "size": [1024, 0], "batches": 1.5 }');
    expect((await read()).problem).toMatch(/size\[1\] is 0.*invalid-size.*batches is 1\.5.*invalid-batches/);
    await ask('{ "size": [1024 }');
    expect((await read()).problem).toMatch(/This is not JSON/);
    await choose('webgpu');
    await ask('{ "size": [8], "precision": "double-double" }');
    expect((await read()).problem).toMatch(/unsupported-precision/);

    await choose('cpu');
    await ask('scfo64');
    const mended = await read();
    expect(mended.problem).toBe('');
    expect(mended.stale).toBe(false);
    expect(mended.shown).toBe('64 forward cpu');
    expect(mended.bin).toBe('4');
    expect(faults).toEqual([]);
  });

  it('works with the keyboard, on a narrow screen and in the dark', async () => {
    const { page: phone, faults: wrong } = await site!.open('#scfo128x64', {
      viewport: { width: 375, height: 740 },
      colorScheme: 'dark',
    });
    // The language of Chromium where the system's is C or POSIX, which `Intl` refuses.
    await phone.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true });
    });
    await phone.reload();
    await phone.waitForFunction(() => document.body.dataset.state === 'idle', undefined, { timeout: 60_000 });
    expect(await phone.inputValue('#problem')).toBe('scfo128x64');
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
    const cut = await phone.evaluate(() =>
      Array.from(document.querySelectorAll('button, input, select, textarea, canvas, .u-over'))
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.scroll'))
        .map(({ id, className }) => id || className),
    );
    expect(cut).toEqual([]);
    expect(await phone.evaluate(smallTargets)).toEqual([]);
    const seen: string[] = [];
    await phone.focus('#theme');
    for (let n = 0; n < 60; n++) {
      seen.push(await phone.evaluate(() => document.activeElement?.id ?? ''));
      await phone.keyboard.press('Tab');
    }
    expect(seen).toEqual(expect.arrayContaining(['theme', 'problem', 'device-cpu', 'threads', 'run']));
    await phone.focus('#theme');
    await phone.keyboard.press('Enter');
    expect(await phone.evaluate(() => document.documentElement.dataset.theme)).toBe('light');
    await phone.keyboard.press('Enter');
    await phone.screenshot({ path: `${pictures}/phone.png`, fullPage: true });
    expect(wrong).toEqual([]);
    await phone.close();
  });
});

describe.skipIf(!site)('the page of programs', () => {
  it('shows, rewrites, compiles, runs and checks each of its programs', { timeout: 120_000 }, async () => {
    const { page, faults } = await site!.open('playground/programs.html', { viewport: { width: 375, height: 740 } });
    const idle = () =>
      page.waitForFunction(() => document.body.dataset.state === 'idle', undefined, { timeout: 60_000 });
    const text = (id: string) => page.locator(`#${id}`).innerText();
    await idle();
    const names = await page
      .locator('#sample option')
      .evaluateAll((all) => all.map((one) => one.getAttribute('value')!));
    expect(names.length).toBeGreaterThanOrEqual(5);
    for (const rewritten of [false, true]) {
      await page.setChecked('#rewritten', rewritten);
      for (const name of names) {
        await page.selectOption('#sample', name);
        await idle();
        const what = `${name}, rewritten: ${rewritten}`;
        expect(await text('program-problem'), what).toBe('');
        expect(await text('program-source'), what).toContain(`export const ${name} = program(`);
        expect(await text('kernel-source'), what).toContain('(module');
        expect(await text('program-error'), what).toMatch(/^(0|[\d.]+ × 10⁻(⁶|⁷|⁸|⁹|¹\S))$/);
        expect(await text('time'), what).toMatch(/^[\d.]+ (ns|µs|ms|s)$/);
        expect(await page.locator('#outcome-plot canvas').count(), what).toBe(1);
      }
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
    expect(await page.evaluate(smallTargets)).toEqual([]);
    await page.screenshot({ path: `${pictures}/programs.png`, fullPage: true });
    // A profile has kernels, and runs nothing.
    await page.selectOption('#target', 'h200');
    await idle();
    expect(await text('kernel-source')).toContain('__global__');
    expect(await text('time')).toContain('not here');
    expect(faults).toEqual([]);
    await page.close();
  });
});
