/** The commands about plans and devices: `explain`, `devices`, `bench`, `verify`. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noOpenCl } from '../../test/support/opencl.ts';
import { repeated } from '../../test/support/optional.ts';
import { compileModule } from '../devices/cpu/relaxed.ts';
import { listDevices } from '../index.ts';
import { workplace } from './fixture.ts';

const { folder, omnifft, inside, put } = workplace();
/** Available kinds of devices whose memory the host cannot access. */
const others = (await listDevices()).flatMap(({ kind, available }) => (available && kind !== 'cpu' ? [kind] : []));

describe('explain', () => {
  it('prints the plan as text and as JSON', async () => {
    const text = await omnifft('explain', 'scfo1024*16', '--device', 'cpu');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('1024');
    const json = await inside('explain', '{"size": [1024], "batches": 16}', '--json', '--device', 'cpu');
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toBeTypeOf('object');
  });

  it('writes kernels that compile', async () => {
    const { code, stderr } = await inside('explain', 'dcfo1000', '--device', 'cpu', '--source', 'kernels');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const files = readdirSync(join(folder, 'kernels'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      expect(name).toMatch(/^forward-.*\.wasm$/);
      const bytes = new Uint8Array(readFileSync(join(folder, 'kernels', name)));
      expect(compileModule(bytes), name).toBeInstanceOf(WebAssembly.Module);
    }
    expect(await inside('explain', 'dcfo1000', '--source', put('file', new Uint8Array(1)))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is a file of that name.*\[unwritable-output\]/),
    });
  });

  it('draws the plan of a device or a profile, and prints it', async () => {
    for (const device of [
      ['--device', 'cpu'],
      ['--profile', 'h200', '--json'],
    ]) {
      const name = `${device[1]}.SVG`;
      const told = await inside('explain', 'scfo1009', ...device);
      expect(await inside('explain', 'scfo1009', ...device, '--svg', name)).toEqual(told);
      const drawn = readFileSync(join(folder, name), 'utf8');
      expect(drawn).toMatch(/^<svg .*>FFT of 1009 points, on [^<]+<.*<\/svg>\n$/s);
      const both = await omnifft('explain', 'scfo1009', ...device, '--svg', '-');
      expect(both).toEqual({ code: 0, stdout: drawn, stderr: told.stdout });
    }
    const refused = await inside('explain', 'scfo1009', '--svg', 'nowhere/plan.svg');
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/\[unwritable-output\]/) });
  });

  it('plans for devices that are not there, and writes each kernel once', async () => {
    const extensions = { h200: 'cu', mi250x: 'hip', arc: 'cl', 'webgpu-default': 'wgsl', 'wasm-cpu': 'wasm' };
    for (const [profile, extension] of Object.entries(extensions)) {
      const size = profile === 'wasm-cpu' ? 2 ** 20 : 2 ** 16;
      const problem = JSON.stringify({ size: [size], directions: 'forward' });
      const { code, stdout, stderr } = await inside('explain', problem, '--profile', profile, '--source', profile);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('(profile)');
      const files = readdirSync(join(folder, profile));
      expect(files.every((name) => name.startsWith('forward-') && name.endsWith(`.${extension}`))).toBe(true);
      const launches = Number(/forward: (\d+) launch/.exec(stdout)?.[1]);
      expect(files.length).toBe(launches);
      expect(new Set(files.map((name) => readFileSync(join(folder, profile, name), 'latin1'))).size).toBe(launches);
    }
    const other = await inside('explain', 'scfo64', '--profile', 'h200', '--language', 'opencl', '--source', 'other');
    expect(other.code).toBe(0);
    expect(readdirSync(join(folder, 'other'))).toEqual(['forward-stockham64.cl']);
  });
});

describe('devices', () => {
  it('lists every kind, with a reason where it is missing', async () => {
    const { code, stdout } = await inside('devices', '--json');
    expect(code).toBe(0);
    const devices = JSON.parse(stdout) as {
      kind: string;
      available: boolean;
      reason?: string;
      devices?: { name: string }[];
    }[];
    expect(devices.find(({ kind }) => kind === 'cpu')).toMatchObject({ available: true });
    for (const { available, reason } of devices) expect(available || (reason ?? '').length > 0).toBe(true);
    for (const { available, devices: own = [] } of devices) {
      expect(available ? own.length : 1).toBeGreaterThan(0);
      for (const { name } of own) expect(name).not.toBe('');
    }
    const table = await inside('devices');
    for (const { kind } of devices) expect(table.stdout).toMatch(new RegExp(`^${kind} +(available|missing) `, 'm'));
  });

  it.skipIf(noOpenCl)('lists OpenCL as the tests know it', () => {
    expect(others).toContain('opencl');
  });
});

describe.skipIf(repeated)('bench', () => {
  it('times each problem', async () => {
    const problems = ['scfo256*64', 'dcbo1000', 'scfi128x32', 'srfo1000*8'];
    const { code, stdout, stderr } = await omnifft('bench', ...problems, '--json', '--device', 'cpu');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = JSON.parse(stdout) as Record<string, number | string>[];
    expect(results.map(({ problem }) => problem)).toEqual(problems);
    expect(results.map(({ direction }) => direction)).toEqual(['forward', 'inverse', 'forward', 'forward']);
    for (const { seconds, gflops, gigabytes, samples, copyFraction, peer } of results) {
      expect(Number(copyFraction)).toBeGreaterThan(0);
      expect(peer).toBe(undefined);
      expect(seconds).toBeGreaterThan(1e-9);
      expect(Number(samples)).toBeGreaterThanOrEqual(5);
      expect(Number(gflops)).toBeGreaterThan(0);
      expect(Number(gigabytes)).toBeGreaterThan(0);
    }
    // 5 N log2 N for 64 transforms of 256 points, and 8 bytes a point in and out.
    const first = results[0];
    expect(Number(first?.gflops) * Number(first?.seconds)).toBeCloseTo((5 * 64 * 256 * 8) / 1e9, 12);
    expect(Number(first?.gigabytes) * Number(first?.seconds)).toBeCloseTo((2 * 64 * 256 * 8) / 1e9, 12);
    // For reals half of that; 4 bytes a point in and 8 a bin out.
    const last = results[3];
    expect(Number(last?.gflops) * Number(last?.seconds)).toBeCloseTo((2.5 * 8000 * Math.log2(1000)) / 1e9, 12);
    expect(Number(last?.gigabytes) * Number(last?.seconds)).toBeCloseTo((8 * (4 * 1000 + 8 * 501)) / 1e9, 12);
    expect((await inside('bench', 'scfo64')).stdout).toMatch(/scfo64 +forward .*s .*GFLOP\/s .*GB\/s .* of copy/);
  });

  it.each(others)('times devices whose memory the host cannot see: %s', async (kind) => {
    const planar = '{"size": [60, 4], "layout": "planar", "placement": "in-place", "batches": 2}';
    const { code, stdout, stderr } = await inside('bench', 'scfo64*8', planar, '--device', kind, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = JSON.parse(stdout) as Record<string, number>[];
    expect(results).toHaveLength(2);
    for (const { seconds, copyFraction } of results) {
      expect(seconds).toBeGreaterThan(1e-9);
      expect(copyFraction).toBeGreaterThan(0);
    }
  });

  it('times lengths of large primes, and one that takes no time', async () => {
    const problems = ['scfo1', 'scfo1009*4', 'dcfo17x19'];
    const { code, stdout, stderr } = await inside('bench', ...problems, '--device', 'cpu', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = JSON.parse(stdout) as Record<string, number>[];
    expect(results.map(({ gflops }) => gflops! > 0)).toEqual([false, true, true]);
    expect((await inside('bench', 'scfo1', '--device', 'cpu')).stdout).not.toMatch(/NaN|Infinity/);
  });

  it('times a suite, lists them, and says what it does not know', async () => {
    const suite = ['bench', '--suite', '7', '--count', '3', '--megabytes', '1', '--device', 'cpu'];
    const { code, stdout } = await inside(...suite, '--json', '--svg', 'speed');
    expect(code).toBe(0);
    const { rows, left } = JSON.parse(stdout) as { rows: { size: number[]; seconds: number }[]; left: unknown[] };
    expect(rows[0]?.size).toEqual([17, 17]);
    expect(rows.length + left.length).toBe(3);
    expect(readFileSync(join(folder, 'speed', 'single-nd-primes.svg'), 'utf8')).toMatch(/^<svg.*<\/svg>$/s);
    expect((await inside('bench', '--suite', 'list')).stdout).toMatch(/single-1d +0 +single +25 problems/);
    for (const wrong of [[], ['--suite', 'fast'], ['scfo64', '--suite', '0'], ['scfo64', '--svg', 'x']]) {
      expect(await inside('bench', ...wrong)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  it('compares only with what is known for a device', async () => {
    expect(await inside('bench', 'scfo64', '--device', 'cpu', '--peer', 'cufft')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cpu.*\[unsupported-feature\]\n$/),
    });
    expect(await inside('bench', 'scfo64', '--peer', 'mkl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cufft'),
    });
  });
});

describe.skipIf(repeated)('verify', () => {
  it('measures errors, draws them, and says what it does not know', async () => {
    const { code, stdout, stderr } = await inside(
      ...[
        'verify',
        '--suite',
        'precision',
        '--no-peers',
        '--most',
        '4',
        '--rounds',
        '1',
        '--device',
        'cpu',
        '--json',
        '--svg',
        'errors',
      ],
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Record<'set' | 'precision', string>[] & { maximum: number; bound: number }[];
    expect(new Set(rows.map(({ precision }) => precision))).toEqual(
      new Set(['half', 'single', 'double', 'double-double']),
    );
    expect(new Set(rows.map(({ set }) => set)).size).toBe(12);
    for (const { maximum, bound } of rows) expect(maximum).toBeLessThanOrEqual(bound);
    expect(readFileSync(join(folder, 'errors', 'precision-double.svg'), 'utf8')).toMatch(/^<svg.*<\/svg>$/s);
    expect(
      (await inside('verify', '--most', '2', '--precision', 'single', '--rounds', '1', '--no-peers')).stdout,
    ).toMatch(/c2c, powers of two +single +2 +forward +\S+ +\S+ +0\.\d\d/);
    expect((await inside('verify', '--suite', 'speed')).code).toBe(2);
  });

  it("tries VkFFT's samples by number, several axes too", async () => {
    const sample = [
      'verify',
      '--suite',
      '15',
      '--most',
      '64',
      '--rounds',
      '1',
      '--no-peers',
      '--device',
      'cpu',
      '--json',
    ];
    const { code, stdout } = await inside(...sample);
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Record<'set' | 'precision' | 'size', unknown>[];
    expect(new Set(rows.map(({ set }) => set))).toEqual(new Set(['r2c, one axis', 'r2c, two axes']));
    expect(new Set(rows.map(({ precision }) => precision))).toEqual(new Set(['single']));
    expect(rows.map(({ size }) => size)).toContainEqual([8, 8]);
    const own = [
      'verify',
      '--lengths',
      '4x3x2',
      '--transforms',
      'c2c',
      '--rounds',
      '1',
      '--no-peers',
      '--device',
      'cpu',
    ];
    expect((await inside(...own)).stdout).toMatch(/c2c +half +4x3x2 +forward/);
  });

  it("takes transforms, lengths and batches of one's own", async () => {
    const own = ['--transforms', 'dct2', 'r2c', '--lengths', '12', '5', '--batches', '3'];
    const { code, stdout } = await inside(
      ...['verify', ...own, '--precision', 'double', '--rounds', '1', '--no-peers', '--device', 'cpu', '--json'],
    );
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Record<'set' | 'length' | 'batches' | 'direction', unknown>[];
    expect(rows.map(({ set, length, batches, direction }) => [set, length, batches, direction])).toEqual(
      ['dct2', 'r2c'].flatMap((set) =>
        [12, 5].flatMap((length) => ['forward', 'inverse'].map((direction) => [set, length, 3, direction])),
      ),
    );
    for (const wrong of [
      ['--transforms', 'dct5'],
      ['--lengths', '0'],
      ['--batches', 'few'],
      ['--lengths', '8', '--most', '9'],
      ['--lengths', '8x'],
      ['--suite', '20'],
      ['--suite', '11', '--precision', 'double'],
    ])
      expect((await inside('verify', ...wrong)).code, wrong.join(' ')).toBe(2);
  });
});
