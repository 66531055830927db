/** The commands that write transforms for later use (`build`, `aot-generate`, `offline-generate`, `device-function`), and their error messages. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openDevice } from '../index.ts';
import { workplace } from './fixture.ts';

const { folder, omnifft, inside } = workplace();

describe('build', () => {
  it('writes a module of at most 6 KiB for one length, which runs by itself', async () => {
    expect(await omnifft('build', '1024', '-o', 'one.mjs')).toMatchObject({ code: 0, stderr: '' });
    const script = readFileSync(join(folder, 'one.mjs'));
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(5.25 * 1024);
    await inside('build', 'r2c:512', '-o', 'real.mjs');
    expect(gzipSync(readFileSync(join(folder, 'real.mjs')), { level: 9 }).length).toBeLessThan(6 * 1024);
    const { fft1024 } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'one.mjs')).href);
    const output = fft1024().forward(new Float32Array(2048).fill(1));
    expect([...output.subarray(0, 4)]).toEqual([1024, 1024, 0, 0]);
  });

  it('names what it writes, with code and declarations beside it', async () => {
    const all = ['8', 'r2c:6', 'dct2:4x4*3', 'mine={"size":[5],"layout":"planar"}'];
    const { code, stdout } = await inside('build', ...all, '--relaxed', '--separate', '--json', '-o', 'all.js');
    expect(code).toBe(0);
    const { transforms, files } = JSON.parse(stdout);
    expect(transforms).toEqual(['fft8', 'r2c6', 'dct2_4x4_batch3', 'mine']);
    expect(files.map(({ file }: { file: string }) => file)).toEqual([
      'all.js',
      'all.d.ts',
      'all.wasm',
      'all.relaxed.wasm',
    ]);
    expect(readFileSync(join(folder, 'all.d.ts'), 'utf8')).toContain('readonly re: Float32Array');
    expect(WebAssembly.validate(readFileSync(join(folder, 'all.wasm')))).toBe(true);
  });

  it('writes features of presets beside transforms, in 12 KiB for Whisper', async () => {
    expect(await omnifft('build', 'log-mel:whisper', '-o', 'whisper.mjs')).toMatchObject({ code: 0, stderr: '' });
    expect(gzipSync(readFileSync(join(folder, 'whisper.mjs')), { level: 9 }).length).toBeLessThan(12 * 1024);
    const { logMelWhisper } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'whisper.mjs')).href);
    const { data, shape } = logMelWhisper(new Float32Array(1000));
    expect([shape, data.every((level: number) => level === data[0])]).toEqual([[80, 3000], true]);
    // The feature of silence: the logarithm of the least power is −10.
    expect(data[0]).toBeCloseTo((-10 + 4) / 4, 5);
    await omnifft('build', '8', 'bands=log-mel:kaldi', '-o', 'both.mjs');
    const both = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'both.mjs')).href);
    expect(both.fft8().forward(new Float32Array(16).fill(1))[0]).toBe(8);
    expect(both.bands(new Float32Array(560).fill(1)).shape).toEqual([2, 23]);
  });

  it('writes modules for WebGPU', async () => {
    const { code } = await inside('build', 'r2c:48', '--target', 'wgsl', '-o', 'gpu.mjs');
    expect(code).toBe(0);
    expect(readFileSync(join(folder, 'gpu.d.mts'), 'utf8')).toContain('encoder: GPUCommandEncoder');
    const { r2c48 } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'gpu.mjs')).href);
    expect([r2c48.inputBytes, r2c48.outputBytes]).toEqual([192, 200]);
  });

  it.each([
    ['two transforms of one name', ['8', '8', '-o', 'x.mjs'], 2, /would be called fft8/],
    ['the name of a function of the module', ['decoded=8', '-o', 'x.mjs'], 2, /called decoded/],
    ['a word of the language as a name', ['class=8', '--target', 'wgsl', '-o', 'x.mjs'], 2, /called class/],
    ['the name of what every module has', ['Math=8', '-o', 'x.mjs'], 2, /called Math/],
    ['features of one name', ['mel=8', 'mel=log-mel:ast', '-o', 'x.mjs'], 2, /would be called mel/],
    ['features that nobody knows', ['log-mel:wisper', '-o', 'x.mjs'], 2, /wisper/],
    ['features for a GPU', ['log-mel:ast', '--target', 'wgsl', '-o', 'x.mjs'], 2, /--target wasm/],
    ['a convolution', ['{"size":[8],"convolution":{}}', '-o', 'x.mjs'], 1, /prepared where it runs/],
    ['a transform that nobody knows', ['r3c:8', '-o', 'x.mjs'], 2, /transform/],
    ['WebAssembly for a GPU', ['8', '--target', 'wgsl', '--relaxed', '-o', 'x.mjs'], 2, /--relaxed .* --target wasm/],
    ['doubles on WebGPU', ['dcfo8', '--target', 'wgsl', '-o', 'x.mjs'], 1, /no double precision/],
    ['no output', ['8'], 2, /output/],
    ['a file of another kind', ['8', '-o', 'x.wasm'], 2, /\.mjs/],
  ])('refuses %s, and writes nothing', async (_what, args, code, message) => {
    expect(await inside('build', ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect(existsSync(join(folder, 'x.mjs'))).toBe(false);
  });
});

describe('aot-generate', () => {
  it('writes plans that a device takes', async () => {
    const { code, stdout } = await inside(
      ...['aot-generate', 'scfo8*3', 'dct2:6', '--profile', 'wasm-cpu', '-o', 'plans.fft', '--json'],
    );
    expect(code).toBe(0);
    const bundle = readFileSync(join(folder, 'plans.fft'));
    // Plans for processors with one thread, and with several.
    expect(JSON.parse(stdout)).toEqual({ plans: 4, file: 'plans.fft', bytes: bundle.length });
    const device = await openDevice('cpu', { threads: 1 });
    const plan = await device.plan('scfo8*3', { from: bundle });
    expect((await plan.forward(new Float32Array(48).fill(1))).subarray(0, 4)).toEqual(Float32Array.of(8, 8, 0, 0));
    device.close();
  });

  it.each([
    ['no device', ['8'], 2, /--device .* or a --profile/],
    ['a device and a profile', ['8', '-d', 'cpu', '--profile', 'h200'], 2, /--device .* or a --profile/],
    ['a profile that nobody knows', ['8', '--profile', 'h300'], 2, /no profile 'h300'/],
    [
      'an architecture of another maker',
      ['8', '--profile', 'h200', '--architecture', 'gfx90a'],
      2,
      /--architecture.*sm_90/,
    ],
    ['WebGPU', ['8', '--profile', 'm2'], 1, /build --target wgsl/],
    ['a convolution', ['{"size":[8],"convolution":{}}', '--profile', 'wasm-cpu'], 1, /convolutions cannot/],
  ])('refuses %s, and writes nothing', async (_what, args, code, message) => {
    const said = await inside('aot-generate', ...args, '-o', 'x.fft');
    expect(said).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect(existsSync(join(folder, 'x.fft'))).toBe(false);
  });
});

describe('offline-generate', () => {
  it('writes kernels with host programs', async () => {
    const written = await inside('offline-generate', 'mine=scfo16', 'r2c:8', '--profile', 'h200', '-o', 'host.cu');
    expect(written).toMatchObject({ code: 0, stdout: expect.stringMatching(/^mine, r2c8: host\.cu .*, host\.h/) });
    expect(readFileSync(join(folder, 'host.h'), 'utf8')).toContain('cudaError_t mine_forward(');
    expect(readFileSync(join(folder, 'host.cu'), 'utf8')).toContain('#include "host.h"');
    await inside('offline-generate', 'scfo16', '--profile', 'webgpu-default', '-o', 'host.ts');
    expect(readFileSync(join(folder, 'host.ts'), 'utf8')).toContain('export const fft16: {');
  });

  it.each([
    ['a file of another language', ['8', '--profile', 'arc', '-o', 'x.cu'], 2, /opencl ends in \.c or \.cpp/],
    ['no profile', ['8', '-o', 'x.cu'], 2, /--profile/],
    ['a language without a host program', ['8', '--profile', 'h200', '--language', 'spirv', '-o', 'x.cu'], 1, /SPIR-V/],
    [
      'a convolution',
      ['{"size":[8],"convolution":{}}', '--profile', 'h200', '-o', 'x.cu'],
      1,
      /prepared where it runs/,
    ],
  ])('refuses %s, and writes nothing', async (_what, args, code, message) => {
    expect(await inside('offline-generate', ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect([existsSync(join(folder, 'x.cu')), existsSync(join(folder, 'x.h'))]).toEqual([false, false]);
  });
});

describe('device-function', () => {
  it('writes a function with what its caller has to know', async () => {
    const { code, stdout } = await inside('device-function', '256', '--profile', 'h200', '--language', 'cuda');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\/\/ Call: fft256_forward\(x, shared, t\);/);
    expect(stdout).toContain('void fft256_forward(float2 *x, void *shared, const int t) {');
  });

  it('writes a file, and tells the rest as JSON', async () => {
    const requested = ['r2c:64', '--profile', 'webgpu-default', '--language', 'wgsl', '--inverse', '--name', 'back'];
    const { code, stdout } = await inside('device-function', ...requested, '--lines', '2', '--json', '-o', 'back.wgsl');
    expect(code).toBe(0);
    const { name, direction, tables } = JSON.parse(stdout);
    expect({ name, direction }).toEqual({ name: 'back', direction: 'inverse' });
    expect(tables[0].data.length).toBeGreaterThan(0);
    expect(readFileSync(join(folder, 'back.wgsl'), 'utf8')).toContain('fn back(');
  });

  it.each([
    ['a language that nobody knows', ['8', '--profile', 'h200', '--language', 'glsl'], 2, /cuda, hip, opencl, wgsl/],
    ['a processor', ['8', '--device', 'cpu', '--language', 'cuda'], 1, /threads that share memory/],
    ['several axes', ['8x8', '--profile', 'h200', '--language', 'cuda'], 1, /one axis/],
    ['no language', ['8', '--profile', 'h200'], 2, /language/],
  ])('refuses %s', async (_what, args, code, message) => {
    expect(await inside('device-function', ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
  });
});
