/** What pages load later: every kind of problem gets what it needs, and computes what it computes where all is at hand. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import * as signal from '../../src/signal/index.ts';
import { randomFor, uniform } from '../support/random.ts';
import { libraryFiles } from './support/library.ts';

const problems: Readonly<Record<string, library.ProblemInput | string>> = {
  complex: { size: [64] },
  'complex in planes': { size: [64], layout: 'planar' },
  'a batch of columns': { size: [1, 60], batches: 3, placement: 'in-place' },
  'as many points as tiles of memory are for': { size: [2 ** 17], placement: 'in-place' },
  'a descriptor': 'scfo64*3',
  'real, and several axes': { size: [12, 5], transform: 'r2c' },
  'real of odd length': { size: [45], transform: 'r2c', batches: 3 },
  cosines: { size: [9], transform: 'dct2' },
  'large prime': { size: [263] },
  'several uploads': { size: [2 ** 16], unordered: true },
  'double-double of a large prime': { size: [139], precision: 'double-double' },
  'reals convolved': { size: [32], transform: 'r2c', convolution: {} },
  'block of zeros': { size: [64], zeroPadding: { space: [{ from: 16, to: 64 }] } },
  'strides of its own': { size: [8, 8], strides: { input: [1, 1, 10, 80] } },
  knobs: { size: [256], tuning: { groupedBatch: 4 } },
  debugging: { size: [30], debug: true },
  callback: { size: [16], callbacks: { forward: { load: (x, { re, im }) => ({ re: im, im: x.neg(re) }) } } },
};

const folders: string[] = [];
let files: ReadonlyMap<string, Uint8Array>;

beforeAll(async () => {
  files = await libraryFiles();
});

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** The build for browsers, for a page that has loaded nothing yet. */
function freshPage() {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-parts-'));
  folders.push(folder);
  for (const [name, contents] of files) writeFileSync(join(folder, name), contents);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return async (file: string) => (await import(/* @vite-ignore */ pathToFileURL(join(folder, file)).href)) as Page;
}

type Page = typeof library & { openCpuSync(): library.Device };

/** All that a plan says of itself and computes at once. */
function saysAndComputes(plan: library.Plan, data: Float64Array) {
  const input = plan.problem.precision === 'single' ? Float32Array.from(data) : data;
  const { tables, temp } = plan.bytes;
  const said = [plan.explain(), plan.serialize(), tables, temp];
  if (plan.problem.layout.input !== 'planar')
    return [...said, Array.from(plan.forwardSync(input as never) as Float32Array)];
  const { length } = plan.input;
  const planes = { re: input.slice(0, length), im: input.slice(length, 2 * length) };
  const { re, im } = plan.forwardSync(planes as never) as { re: Float32Array; im: Float32Array };
  return [...said, Array.from(re), Array.from(im)];
}

async function compare(planned: (problem: library.ProblemInput) => library.Plan | Promise<library.Plan>) {
  const device = await library.openDevice('cpu', { threads: 1 });
  const random = randomFor('parts of the library');
  for (const [name, problem] of Object.entries(problems)) {
    const expected = await device.plan(problem as library.ProblemInput);
    const reals = expected.input.bytes / (expected.problem.precision === 'single' ? 4 : 8);
    const data = uniform(random, reals);
    const plan = await planned(problem as library.ProblemInput);
    expect(saysAndComputes(plan, data), name).toEqual(saysAndComputes(expected as library.Plan, data));
  }
  device.close();
}

describe('parts of the library in a page', () => {
  it('are loaded by the problem that needs them', async () => {
    const page = await freshPage()('omnifft.js');
    const device = await page.openDevice('cpu', { threads: 1 });
    expect(() => device.planSync({ size: [64], transform: 'r2c' })).toThrow(/await device\.plan\(\).*openCpuSync/);
    expect(device.planSync({ size: [64] }).output.length).toBe(64);
    // What cannot be said of a problem is known without the code for it.
    expect(() => page.formatDescriptor(problems.callback as library.ProblemInput)).toThrow(/cannot express callbacks/);
    await compare(async (problem) => (await device.plan(problem)) as library.Plan);
    expect(device.planSync({ size: [64], transform: 'r2c' }).output.length).toBe(33);

    const saved = (await device.plan({ size: [360] })).serialize();
    expect((await device.plan({ size: [360] }, { from: saved })).serialize()).toBe(saved);
    const measured = await device.plan({ size: [64], strategy: 'measure' });
    expect(await measured.measure('forward', { repeats: 2 })).toBeGreaterThan(0);
    device.close();
  });

  it('are loaded for threads, too', async () => {
    const page = await freshPage()('omnifft.js');
    const [there, here] = await Promise.all([page, library].map((from) => from.openProfile('h200')));
    for (const problem of [{ size: [1024] }, { size: [64, 64], precision: 'double-double' }] as const) {
      expect((await there!.plan(problem)).kernels).toEqual((await here!.plan(problem)).kernels);
    }
  });

  it('that streams need are there with them, and no others', async () => {
    const load = freshPage();
    const [page, { StftStream }] = [await load('omnifft.js'), (await load('signal.js')) as object as typeof signal];
    const device = await page.openDevice('cpu', { threads: 1 });
    const here = await library.openDevice('cpu', { threads: 1 });
    const random = randomFor('streams of a page');
    for (const size of [64, 45, 1009, 2 * 2011]) {
      const samples = Float32Array.from(uniform(random, size));
      const spectra = [
        new StftStream({ device, nperseg: size }),
        new signal.StftStream({ device: here, nperseg: size }),
      ].map((stream) => {
        const frames: number[][] = [];
        stream.push(samples, (spectrum) => frames.push(Array.from(spectrum)));
        stream.destroy();
        return frames;
      });
      expect(spectra[0], String(size)).toEqual(spectra[1]);
      expect(spectra[0]).toHaveLength(1);
    }
    const from = (await device.plan({ size: [360], transform: 'r2c', directions: 'forward' })).serialize();
    expect(new StftStream({ device, nperseg: 360, from }).bins).toBe(181);
    expect(() => device.planSync({ size: [32], convolution: {} })).toThrow(/not been loaded/);
    device.close();
    here.close();
  });

  it('are all there for who cannot wait', async () => {
    const device = (await freshPage()('sync.js')).openCpuSync();
    await compare((problem) => device.planSync(problem) as library.Plan);
    device.close();
  });
});
