/** The examples do what they say: pages in Chromium, scripts in Node. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { softwareDriver } from '../../src/devices/webgpu/software.ts';
import { noWebGpu } from '../support/webgpu.ts';
import { openSite, smallTargets } from './support/site.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const site = await openSite({});

afterAll(() => site?.close());

/** An example on a phone: it says what it shows, leads back, and has room there. */
async function openOn(path: string, query = '') {
  const opened = await site!.open(`examples/${path}/${query}`, { viewport: { width: 375, height: 740 } });
  const { page } = opened;
  expect((await page.locator('h1 ~ p').first().innerText()).length).toBeGreaterThan(100);
  expect(await page.getAttribute('a[href="../../playground/"]', 'href')).toBe('../../playground/');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
  expect(await page.evaluate(smallTargets)).toEqual([]);
  return opened;
}

/** What an example writes into its page. */
async function resultOf(path: string, query = ''): Promise<string> {
  const { page, faults } = await openOn(path, query);
  const waiting = page.waitForFunction(() => document.querySelector('#result')?.textContent !== '…', undefined, {
    timeout: 30_000,
  });
  await waiting.catch((error) => faults.push(String(error)));
  const text = await page.locator('#result').innerText();
  expect(faults).toEqual([]);
  await page.close();
  return text;
}

describe.skipIf(!site)('examples in a browser', () => {
  it('a plain module: the harmonics of a square wave', async () => {
    const levels = [...(await resultOf('browser')).matchAll(/harmonic \d: ([\d.]+)/g)].map(([, level]) =>
      Number(level),
    );
    const expected = [1, 0, 3, 0, 5].map((n) => (n === 0 ? 0 : 4 / (Math.PI * n)));
    expect(levels.length).toBe(5);
    // Sampled edges are a little off the ideal ones.
    levels.forEach((level, n) => expect(Math.abs(level - expected[n]!), `harmonic ${n + 1}`).toBeLessThan(2e-3));
  });

  it('an AudioWorklet that gets a plan: what is above the cutoff is gone', async () => {
    const levels = [...(await resultOf('audio-worklet')).matchAll(/(\d+) Hz: (\S+) dB/g)];
    const [low, high] = levels.map(([, , level]) => Number(level));
    expect(Math.abs(low!)).toBeLessThan(0.2);
    expect(high).toBeLessThan(-60);
  });

  it('a hall on the audio thread: what comes of a click is its impulse response', async () => {
    const lines = [...(await resultOf('reverb')).matchAll(/: (\S+) and (\S+) dB, response (\S+) and (\S+) dB/g)];
    expect(lines.length).toBe(4);
    for (const [, left, right, ...response] of lines) {
      for (const [k, level] of [left, right].entries()) expect(Number(level)).toBeCloseTo(Number(response[k]), 0);
    }
  });

  it('an ocean whose waves are as high as their spectrum says, drawn', async () => {
    const { page, faults } = await openOn('ocean', '?still');
    const result = page.locator('#result');
    await page.waitForFunction(() => document.querySelector('#result')?.textContent !== '…', undefined, {
      timeout: 60_000,
    });
    const [, rms, expected] = /of ([\d.]+) m \(rms\), by their spectrum ([\d.]+) m/.exec(await result.innerText())!;
    expect(Number(rms)).toBeGreaterThan(0.2);
    expect(Math.abs(Number(rms) - Number(expected))).toBeLessThanOrEqual(0.0011);
    const shades = await page.evaluate(() => {
      const canvas = document.querySelector('canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const row = (y: number) =>
        new Set(Array.from({ length: canvas.width }, (_, x) => data[4 * (y * canvas.width + x) + 1])).size;
      return { sky: row(10), water: row(Math.round(0.55 * canvas.height)) };
    });
    // The sky is of one colour, the water of many.
    expect(shades.sky).toBe(1);
    expect(shades.water).toBeGreaterThan(10);
    expect(faults).toEqual([]);
    await page.close();
  }, 90_000);

  it('a waterfall of spectra from the audio thread', async () => {
    const { page, faults } = await openOn('waterfall');
    // Ten seconds of 48 000 samples, 1024 from frame to frame.
    await page.waitForFunction(() =>
      /^46[78] spectra of 1025/.test(document.querySelector('#result')?.textContent ?? ''),
    );
    const hertz = Number(/at (\d+) Hz/.exec(await page.locator('#result').innerText())?.[1]);
    expect(hertz).toBeGreaterThan(100);
    expect(hertz).toBeLessThan(700);
    expect(faults).toEqual([]);
    await page.close();
  });

  it("a transform in a program's own WebGPU pipeline", async () => {
    expect(await resultOf('webgpu-pipeline')).toMatch(/^64 of 64 right: 5 8 11 /);
  });

  it('a texture without its stripes in another texture', async () => {
    const levels = Number(/right to ([\d.]+) of 255 levels/.exec(await resultOf('texture', '?still'))?.[1]);
    // Both textures are rounded to bytes.
    expect(levels).toBeLessThanOrEqual(1.5);
  });
});

/** Runs a script with Node on the software adapter. */
function run(script: string, environment: Record<string, string>): Promise<{ exit: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`examples/${script}`], {
      cwd: root,
      env: { ...process.env, ...environment },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (exit) => resolve({ exit, output }));
  });
}

describe('examples on the CPU, which fail where the result is wrong', () => {
  it.each([
    ['poisson.mjs', /the largest error is \d\.\de-[678]\n/],
    ['deblur.mjs', /error 0\.\d+ blurred, 0\.\d+ restored/],
    ['phase-correlation.mjs', /moved by 23, -17\n/],
    ['magnet.mjs', /middle of the sphere is -0\.333\d M/],
    ['matched-filter.mjs', /12\.30 m, .*\n {2}21\.00 m, .*\n {2}37\.50 m/],
  ])('%s', async (script, said) => {
    const { exit, output } = await run(script, {});
    expect(output).toMatch(said);
    expect(exit).toBe(0);
  });
});

describe.skipIf(noWebGpu)('examples in Node', () => {
  it('node-webgpu.mjs', async () => {
    const { exit, output } = await run('node-webgpu.mjs', { OMNIFFT_SOFTWARE_GPU: '1' });
    expect(output).toMatch(/Strongest bins on .*: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16\n/);
    expect(exit).toBe(0);
  });

  it('webgpu-pipeline/node.mjs', async () => {
    const { driver, loader } = await softwareDriver();
    const { exit, output } = await run('webgpu-pipeline/node.mjs', {
      VK_DRIVER_FILES: driver,
      LD_LIBRARY_PATH: loader.slice(0, loader.lastIndexOf('/')),
    });
    expect(output).toMatch(/64 of 64 right: 5 8 11 /);
    expect(exit).toBe(0);
  });
});
