/** The bundle for browsers: what is in it, what is not, how large it is. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleBrowser, libraryEntries, root } from '../../scripts/bundle-browser.mjs';
import * as lift from '../../src/lift/index.ts';

/**
 * Bytes, compressed, that a page loads which opens one of these devices, and one that opens both, and plans complex transforms: on
 * threads these have lazy modules of their own.
 */
const MOST_BYTES = [
  [['cpu'], [], 131_600],
  [['webgpu'], ['threads'], 154_000],
  [['cpu', 'webgpu'], ['threads'], 174_900],
] as const;
/** Bytes, compressed, of the entry that can load nothing later. */
const MOST_SYNC_BYTES = 194_800;
/** And of the one for signals, whose streams can neither. */
const MOST_SIGNAL_BYTES = 220_000;

/** And what `omnifft/lift` adds at once to a page that opens a CPU: the language, what prints, rewrites and interprets it. */
const MOST_LIFT_BYTES = 17_100;
/**
 * And what a page loads in all until its program has run, beyond a page that runs the same as plans, where a bundler splits code. Sums and windows
 * take layouts (9800 bytes), as plans of reals do.
 */
const PROGRAM_PAGES = [
  ['plusOne', '{ size: [64] }', 24_100],
  ['dotProduct', '{ size: [64] }', 39_700],
  ['filter', '{ size: [64] }', 39_700],
  ['correlation', "{ size: [64], convolution: { kernelSpectrum: 'user' } }", 29_900],
  [
    'splitStep',
    "{ size: [64], convolution: { kernelSpectrum: 'user' }, callbacks: { forward: { load: (x, { re, im }) => ({ re: im, im: re }) } } }",
    29_900,
  ],
  [
    'logMel',
    "{ size: [64], transform: 'r2c', callbacks: { forward: { store: (x, { re, im }) => x.add(re, im) } } }",
    36_300,
  ],
] as const;

const programPages = {
  plusOne: {
    source: 'program({ x: real(64) }, ({ x }) => map((a) => add(a, 1), x))',
    inputs: '{ x: new Float32Array(64) }',
  },
  dotProduct: {
    source: 'program({ v: real(64), w: real(64) }, ({ v, w }) => reduce(add, 0, map(mul, zip(v, w))))',
    inputs: '{ v: new Float32Array(64), w: new Float32Array(64) }',
  },
  filter: {
    source: `program({ x: real(64), h: real(9) }, ({ x, h }) =>
      map((w) => reduce(add, 0, map(mul, zip(w, h))), slide(9, 1, pad(4, 4, 'clamp', x))))`,
    inputs: '{ x: new Float32Array(64), h: new Float32Array(9) }',
  },
  correlation: {
    source: `program({ x: complex(64), h: complex(64) }, ({ x, h }) => ifft(map((a, b) => mul(a, conj(b)), zip(fft(x), h))))`,
    inputs: '{ x: new Float32Array(128), h: new Float32Array(128) }',
  },
  splitStep: {
    source: `program({ psi: complex(64), V: complex(64), K: complex(64) }, ({ psi, V, K }) =>
      iterate(4, (p) => ifft(map(mul, zip(K, fft(map(mul, zip(V, p)))))), psi))`,
    inputs: '{ psi: new Float32Array(128), V: new Float32Array(128), K: new Float32Array(128) }',
  },
  logMel: {
    source: `program({ signal: real(256), window: real(64), bank: real(8, 33) }, ({ signal, window, bank }) => map((frame) => {
      const power = map(norm2, rfft(map(mul, zip(frame, window))));
      return map((band) => log(max(1e-10, reduce(add, 0, map(mul, zip(band, power))))), bank);
    }, slide(64, 32, signal)))`,
    inputs: '{ signal: new Float32Array(256), window: new Float32Array(64), bank: new Float32Array(264) }',
  },
} as const;

let bundle: Awaited<ReturnType<typeof bundleBrowser>>;

/** Where it can be imported from. */
const folder = mkdtempSync(join(tmpdir(), 'omnifft-bundle-'));

beforeAll(async () => {
  bundle = await bundleBrowser();
  for (const [name, contents] of bundle.files) writeFileSync(join(folder, name), contents);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A file of the bundle and all that it loads, at once or later. */
function closure(entry: string): string[] {
  const found = new Set([entry]);
  for (const name of found) for (const { path } of bundle.metafile.outputs[name]?.imports ?? []) found.add(path);
  return [...found];
}

/** What a file of the bundle loads at once, itself included. */
function atOnce(entry: string): string[] {
  const found = new Set([entry]);
  for (const name of found) {
    for (const { path, kind } of bundle.metafile.outputs[name]?.imports ?? []) {
      if (kind === 'import-statement') found.add(path);
    }
  }
  return [...found];
}

/** The file that begins with a module, which is loaded when it is asked for. */
function chunkOf(module: string): string {
  return Object.entries(bundle.metafile.outputs).find(([, { entryPoint }]) => entryPoint === module)![0];
}

/** A package made of the bundle, where bundlers find it. @returns the folder of a page that imports it */
function pageFolder(): string {
  const page = mkdtempSync(join(tmpdir(), 'omnifft-taken-'));
  const library = join(page, 'node_modules', 'omnifft');
  mkdirSync(join(library, 'dist', 'browser'), { recursive: true });
  cpSync(join(root, 'package.json'), join(library, 'package.json'));
  for (const [file, contents] of bundle.files) writeFileSync(join(library, 'dist', 'browser', file), contents);
  return page;
}

/** The files of a page. */
function pageOf(page: string, contents: string, splitting = true) {
  return build({
    stdin: { contents, resolveDir: page, sourcefile: 'page.js' },
    absWorkingDir: page,
    outdir: join(page, 'out'),
    ...{ bundle: true, minify: true, format: 'esm', splitting, write: false, metafile: true },
  });
}

/** Bytes, compressed, of all files that a page loads until it has run. */
async function bytesLoadedBy(page: string, contents: string): Promise<number> {
  const { outputFiles } = await pageOf(page, contents);
  const out = mkdtempSync(join(page, 'run-'));
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  for (const { path, text } of outputFiles) {
    writeFileSync(join(out, basename(path)), `(globalThis.files ??= []).push(${JSON.stringify(path)});${text}`);
  }
  const told = await inWorker(
    `const { run } = await import(folder + 'stdin.js'); await run(); tell(files.join());`,
    out,
  );
  const loaded = outputFiles.filter(({ path }) => told.split(',').includes(path));
  expect(loaded.length, told).toBeGreaterThan(2);
  return loaded.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}

/** Runs code where nothing of the bundle has been loaded before. @returns 'done', or what it told or threw */
async function inWorker(code: string, files = folder): Promise<string> {
  const worker = new Worker(
    `const { parentPort, workerData: folder } = require('node:worker_threads');
    const tell = (message) => parentPort.postMessage(String(message));
    (async () => {${code}})().then(() => tell('done'), tell);`,
    { eval: true, workerData: pathToFileURL(join(files, '/')).href },
  );
  try {
    return await new Promise((resolve) => worker.once('message', resolve));
  } finally {
    await worker.terminate();
  }
}

const inputsOf = (names: readonly string[]) =>
  names.flatMap((name) => Object.keys(bundle.metafile.outputs[name]?.inputs ?? {}));

describe('the bundle for browsers', () => {
  it('has no module of Node and no npm package in it', () => {
    for (const [name, { imports }] of Object.entries(bundle.metafile.outputs)) {
      expect(
        imports.filter(({ external }) => external),
        name,
      ).toEqual([]);
    }
    const inputs = inputsOf(closure('omnifft.js'));
    expect(inputs).toContain('src/engine/plan.ts');
    const all = inputsOf(Object.keys(bundle.metafile.outputs));
    expect(all.filter((path) => path.includes('node_modules') || path.startsWith('node:'))).toEqual([]);
    for (const [name, contents] of bundle.files) {
      const text = new TextDecoder().decode(contents);
      expect(text.match(/(?:from|import\(?)\s*["'](?:node:\w+|koffi|webgpu)["']/g), name).toBeNull();
    }
  });

  it('holds the devices that browsers have, and no native one', () => {
    const devices = new Set(inputsOf(closure('omnifft.js')).map((path) => /^src\/devices\/([^/]+)\//.exec(path)?.[1]));
    expect(devices).toContain('cpu');
    expect(devices).toContain('webgpu');
    for (const native of ['cuda', 'hip', 'opencl', 'vulkan', 'level-zero', 'native']) {
      expect(devices).not.toContain(native);
    }
  });

  it.each(MOST_BYTES)('with %j open and %j loaded is at most %i bytes of gzip', (devices, groups, most) => {
    const opened = devices.flatMap((device) => atOnce(chunkOf(`src/devices/${device}/index.ts`)));
    const chunks = [...opened, ...groups.flatMap((group) => atOnce(chunkOf(`lazy:${group}`)))];
    const files = new Set([...atOnce('omnifft.js'), ...chunks]);
    const sizes = [...files].map((name) => gzipSync(bundle.files.get(name)!, { level: 9 }).length);
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    console.info(`bundle of core and ${devices.join(' and ')}: ${total} bytes of gzip in ${sizes.length} files`);
    expect(total).toBeLessThanOrEqual(most);
    expect(total).toBeGreaterThan(20_000);
  });

  it('has no other threads in it for who computes on one, and opens at once', () => {
    const names = closure('sync.js');
    const total = names.reduce((sum, name) => sum + gzipSync(bundle.files.get(name)!, { level: 9 }).length, 0);
    console.info(`bundle of omnifft/sync: ${total} bytes of gzip in ${names.length} files`);
    expect(total).toBeLessThanOrEqual(MOST_SYNC_BYTES);
    expect(inputsOf(names)).toContain('src/devices/cpu/backend.ts');
    expect(inputsOf([...names, ...atOnce(chunkOf('src/devices/cpu/index.ts'))])).not.toContain(
      'src/devices/cpu/pool.ts',
    );
  });

  it(`gives pages that take signals at most ${MOST_SIGNAL_BYTES} bytes at once`, () => {
    const names = atOnce('signal.js');
    const total = names.reduce((sum, name) => sum + gzipSync(bundle.files.get(name)!, { level: 9 }).length, 0);
    console.info(`bundle of omnifft/signal: ${total} bytes of gzip in ${names.length} files`);
    expect(total).toBeLessThanOrEqual(MOST_SIGNAL_BYTES);
  });

  it(`gives pages that have programs of patterns at most ${MOST_LIFT_BYTES} bytes more, and others nothing of that`, () => {
    const without = new Set([...atOnce('omnifft.js'), ...atOnce(chunkOf('src/devices/cpu/index.ts'))]);
    const names = atOnce('lift.js').filter((name) => !without.has(name));
    const total = names.reduce((sum, name) => sum + gzipSync(bundle.files.get(name)!, { level: 9 }).length, 0);
    console.info(`bundle of omnifft/lift: ${total} bytes of gzip more at once in ${names.length} files`);
    expect(total).toBeLessThanOrEqual(MOST_LIFT_BYTES);
    // Mel features are made by a program, and load what compiles it when they are first asked for.
    expect(
      inputsOf(atOnce('signal.js')).filter((path) => /^src\/(patterns|lift|kernels\/programs)\//.test(path)),
    ).toEqual([]);
    const others = [...new Set(['omnifft.js', 'sync.js', 'numpy.js'].flatMap(closure))];
    const known = inputsOf(others).filter((path) => /^src\/(patterns|lift|kernels\/programs)\//.test(path));
    expect(known).toEqual([]);
    expect(inputsOf(others).filter((path) => path.startsWith('src/engine/compiling/'))).toEqual([
      'src/engine/compiling/registry.ts',
    ]);
  });

  it('gives pages that run programs little more than pages that run their transforms as plans', {
    timeout: 60_000,
  }, async () => {
    const page = pageFolder();
    const opened = (inside: string) =>
      `export async function run() { const device = await openDevice('cpu', { threads: 1 }); ${inside} }`;
    const plans = new Map<string, number>();
    for (const [name, problem, most] of PROGRAM_PAGES) {
      if (!plans.has(problem)) {
        const planned = opened(`await device.plan(${problem});`);
        plans.set(problem, await bytesLoadedBy(page, `import { openDevice } from 'omnifft';${planned}`));
      }
      const { source, inputs } = programPages[name];
      const names = [...new Set(source.match(/\b[a-z]\w*(?=\()|\b(?:add|mul|norm2)\b/g))].filter(
        (word) => word in lift,
      );
      const imports = `import { openDevice } from 'omnifft'; import { ${names} } from 'omnifft/lift';`;
      const runs = `const compiled = await device.compile(${source}); await compiled.run(${inputs});`;
      const bytes = (await bytesLoadedBy(page, imports + opened(runs))) - plans.get(problem)!;
      console.info(`program of ${name}: ${bytes} bytes of gzip more than its plans`);
      expect(bytes, name).toBeLessThanOrEqual(most);
    }
    rmSync(page, { recursive: true });
  });

  it('has each entry of the package, and one copy of what they share', async () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, { browser: string }>;
    };
    const entries = Object.entries(exports).filter(([path]) => path !== './package.json');
    const files = entries.map(([, { browser }]) => browser);
    expect(files.map((file) => basename(file)).sort()).toEqual(
      Object.keys(libraryEntries)
        .map((name) => `${name}.js`)
        .sort(),
    );
    const holders = Object.entries(bundle.metafile.outputs).filter(
      ([, { inputs }]) => 'src/problem/errors.ts' in inputs,
    );
    expect(holders).toHaveLength(1);
    const [{ readWav }, { FftError }] = await Promise.all(
      ['signal.js', 'omnifft.js'].map((name) => import(/* @vite-ignore */ pathToFileURL(join(folder, name)).href)),
    );
    expect(readWav(readFileSync(join(root, 'examples', 'data', 'guitar.wav'))).channels.length).toBeGreaterThan(0);
    expect(() => readWav(new Uint8Array(10))).toThrow(FftError);
  });

  it('carries the licences of the packages that a page brings into it', async () => {
    const entries = { heatmap: 'src/cli/picture/heatmap.ts', measure: 'playground/src/measure.ts' };
    const { files } = await bundleBrowser({ entries });
    const text = (name: string) => new TextDecoder().decode(files.get(name));
    expect(text('heatmap.js')).toMatch(/\/\*! d3-scale-chromatic\n[\s\S]*Permission to use, copy/);
    // This one has no licence file, only the licence's name.
    expect(text('measure.js')).toMatch(/\/\*! fft\.js\nMIT, /);
  });

  it.each([
    ['fftshift', 'numpy', 5300, 11_900],
    ['fftfreq', 'numpy', 3950, 10_700],
    ['windowFunction', 'signal', 6000, 12_500],
    ['butter', 'signal', 6800, 13_800],
    ['sosfilt', 'signal', 7000, 14_300],
    ['findPeaks', 'signal', 6900, 14_200],
    // What is whole has the devices, and kernels of all presets, too; a page that splits code loads what it needs when it first calls.
    ['logMel', 'signal', 365_800, 20_300],
  ])(
    'gives who takes %s of omnifft/%s at most %i bytes of gzip, %i where code is split',
    async (name, entry, whole, split) => {
      const page = pageFolder();
      const contents = `export { ${name} } from 'omnifft/${entry}';`;
      const bytes: number[] = [];
      for (const splitting of [false, true]) {
        const { outputFiles, metafile } = await pageOf(page, contents, splitting);
        // What the page loads at once: devices that it never opens are files of their own.
        const loaded = new Set(
          Object.keys(metafile.outputs).filter((file) => metafile.outputs[file]!.entryPoint === 'page.js'),
        );
        for (const file of loaded) {
          for (const { path, kind } of metafile.outputs[file]!.imports)
            if (kind === 'import-statement') loaded.add(path);
        }
        const taken = outputFiles.filter(({ path }) => loaded.has(relative(page, path)));
        expect(taken.map(({ text }) => text).join()).toContain(name);
        bytes.push(taken.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0));
      }
      rmSync(page, { recursive: true });
      console.info(`${name}: ${bytes.join(' and, split, ')} bytes of gzip`);
      expect(bytes[0]).toBeLessThanOrEqual(whole);
      expect(bytes[1]).toBeLessThanOrEqual(split);
    },
  );

  it('has nothing for signals in it', () => {
    const devices = ['cpu', 'webgpu'].flatMap((device) => closure(chunkOf(`src/devices/${device}/index.ts`)));
    const inputs = inputsOf([...closure('omnifft.js'), ...closure('sync.js'), ...devices]);
    expect(inputs.filter((path) => path.startsWith('src/signal/'))).toEqual([]);
    // Nor does who transforms bit by bit get what reads recordings, or convolves.
    const streams = inputsOf(closure('signal-sync.js'));
    expect(streams).toContain('src/signal/short-time/stft-stream.ts');
    expect(
      streams.filter((path) => /^src\/signal\/(files|chirp-z|convolution\/convolve(?!r)|spectra\/density)/.test(path)),
    ).toEqual([]);
  });

  it('loads a device only when it is opened', () => {
    const inputs = inputsOf(atOnce('omnifft.js'));
    // What all devices have in common is there at once; what writes their languages is not.
    expect(
      inputs.filter((path) => /^src\/(devices\/(cpu|webgpu)\/backend|emit\/(wasm|wgsl|spmd))\b/.test(path)),
    ).toEqual([]);
  });

  it('loads profiles, and what writes languages that no browser runs, only when openProfile asks for them', () => {
    const chunks = ['cpu', 'webgpu'].flatMap((device) => closure(chunkOf(`src/devices/${device}/index.ts`)));
    const inputs = inputsOf([...atOnce('omnifft.js'), ...chunks]);
    for (const later of [
      'emit/cuda/',
      'emit/opencl/',
      'devices/offline/',
      'devices/profiles/index.ts',
      'profile-check',
    ]) {
      expect(inputs.filter((path) => path.includes(later))).toEqual([]);
    }
  });

  it('gives an AudioWorklet all it needs without import()', () => {
    for (const name of [...closure('sync.js'), ...closure('signal-sync.js')]) {
      const kinds = bundle.metafile.outputs[name]?.imports.map(({ kind }) => kind) ?? [];
      expect(
        kinds.filter((kind) => kind !== 'import-statement'),
        name,
      ).toEqual([]);
    }
  });

  // Each in a worker, where nothing has been loaded before.
  it.each([
    '{ size: [1000, 16] }',
    "{ size: [2 ** 16], placement: 'in-place', unordered: true }",
    "{ size: [60, 7], transform: 'r2c' }",
    "{ size: [24, 24], transform: ['dct1', 'dst4'] }",
    "{ size: [18], transform: 'dst1', precision: 'double' }",
    '{ size: [2 * 17 * 31] }',
    "{ size: [1031], transform: 'r2c', strategy: 'measure' }",
    "{ size: [40], precision: 'double-double', debug: true }",
    "{ size: [37], precision: 'double-double' }",
    "{ size: [64, 30], transform: 'r2c', convolution: { kernels: 2 } }",
    '{ size: [64], convolution: {}, zeroPadding: { space: [{ from: 32, to: 64 }] } }',
    '{ size: [64], callbacks: { forward: { store: (x, { re, im }) => x.add(re, im) } } }',
    "{ size: [64], transform: 'r2c', callbacks: { inverse: { load: (x, { re, im }) => ({ re: im, im: re }) } } }",
  ])('loads what a page needs to plan and run %s', { timeout: 60_000 }, async (problem) => {
    const code = `
      const { openDevice, openProfile } = await import(folder + 'omnifft.js');
      const problem = ${problem};
      const device = await openDevice('cpu', { threads: 1 });
      const plan = await device.plan(problem);
      const [task] = plan.directions;
      await plan.measure(task, { repeats: 1 });
      plan.explain();
      if (!problem.strategy) await device.plan(problem, { from: plan.serialize() });
      if (!problem.strategy) await (await openProfile('h200')).plan(problem);`;
    expect(await inWorker(code)).toBe('done');
  });

  it('loads what a page needs for a chirp z-transform', async () => {
    const code = `
      const { czt } = await import(folder + 'signal.js');
      const { data } = await czt(new Float32Array(4).fill(1), { m: 2 });
      if (Math.abs(data[0] - 4) > 1e-5) throw new Error('bin 0 is ' + data[0]);`;
    expect(await inWorker(code)).toBe('done');
  });

  it('loads what a page needs for mel features', async () => {
    const code = `
      const { logMel } = await import(folder + 'signal.js');
      const { shape } = await logMel(new Float32Array(2000).fill(1), { preset: 'whisper', nMels: 40 });
      if (shape.join() !== '40,3000') throw new Error('the shape is ' + shape);`;
    expect(await inWorker(code)).toBe('done');
  });

  it.each([
    ["{ preset: 'whisper' }", 33_000],
    ["{ preset: 'whisper-large-v3' }", 33_000],
    ["{ preset: 'kaldi' }", 35_000],
    ["{ preset: 'ast' }", 36_000],
    ["{ preset: 'torchaudio' }", 33_000],
    ['{ fs: 22050 }', 48_000],
  ])('loads no planner until it has logMel with %s', { timeout: 60_000 }, async (options, most) => {
    const page = pageFolder();
    const bytes = await bytesLoadedBy(
      page,
      `import { logMel } from 'omnifft/signal';
      export const run = async () => {
        const { data } = await logMel(new Float32Array(4000).fill(0.5), ${options});
        if (!data.every(Number.isFinite)) throw new Error('no features');
      };`,
    );
    rmSync(page, { recursive: true });
    console.info(`logMel(x, ${options}): ${bytes} bytes of gzip`);
    expect(bytes).toBeLessThanOrEqual(most);
  });

  it('loads what a page needs for a program with work-groups', async () => {
    const code = `
      const { openDevice, openProfile } = await import(folder + 'omnifft.js');
      const { complex, dft, join, map, mapWorkgroup, program, split, toLocal, transpose } = await import(folder + 'lift.js');
      const inGroup = (row) => join(transpose(toLocal((x) => map(dft, x), split(4, row))));
      const given = program({ v: complex(8, 16) }, ({ v }) => mapWorkgroup(inGroup, v));
      const device = await openDevice('cpu', { threads: 1 });
      const compiled = await device.compile(given);
      const result = await compiled.run({ v: new Float32Array(256).fill(1) });
      if (result[0] !== 4) throw new Error('the first sum is ' + result[0]);
      await (await openProfile('h200')).compile(given);`;
    expect(await inWorker(code)).toBe('done');
  });

  it('runs where there is no clock, no timer and no TextEncoder, as on the audio thread', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export * from './src/sync.ts'; export * from './src/signal/sync.ts';", resolveDir: root },
      bundle: true,
      format: 'iife',
      globalName: 'omnifft',
      target: 'es2022',
      write: false,
    });
    // A new context has the language and WebAssembly, and nothing of Node or of a page.
    const inside = createContext({});
    expect(runInContext('[typeof performance, typeof setTimeout, typeof TextEncoder]', inside)).toEqual(
      Array(3).fill('undefined'),
    );
    const spectrum = runInContext(
      `${outputFiles[0]!.text}
      const device = omnifft.openCpuSync();
      const plan = device.planSync({ size: [64] });
      const signal = new Float32Array(128);
      signal[0] = 1;
      const result = Array.from(plan.forwardSync(signal));
      device.close();
      result;`,
      inside,
    );
    const frames = runInContext(
      `const opened = omnifft.openCpuSync();
      const stream = new omnifft.StftStream({ device: opened, nperseg: 16, hopLength: 8, window: 'rectangular' });
      const sums = [];
      for (let k = 0; k < 10; k++) stream.push(new Float32Array(4).fill(k), (bins) => sums.push(bins[0]));
      opened.close();
      sums;`,
      inside,
    );
    expect(Array.from(frames as number[])).toEqual([24, 56, 88, 120]);
    // A zero may have either sign, and plus zero it has none.
    const found = Array.from(spectrum as number[], (value) => value + 0);
    expect(found).toEqual(Array.from({ length: 128 }, (_, n) => (n % 2 === 0 ? 1 : 0)));
  });
});
