/** The command line as a user meets it: commands, options and error messages. Tests of where it writes are in outputs.test.ts. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { NpyArray } from '../numpy/arrays/npy-array.ts';
import { readNpy, writeNpy } from '../numpy/files/npy.ts';
import { readNpz, writeNpz } from '../numpy/files/npz.ts';
import { sampleArray, workplace } from './fixture.ts';

const guitar = fileURLToPath(new URL('../../examples/data/guitar.wav', import.meta.url));
const { folder, omnifft, inside, put } = workplace();
const first = sampleArray([4, 6], 'float64');
const second = sampleArray([5, 3], 'complex64');
const twoArrays = await writeNpz({ first, second });
const emptyArchive = await writeNpz({});

/** A recording of one channel. */
function floatWav(samples: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(44 + 4 * samples.length);
  bytes.write('RIFF');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  for (const [at, value] of [
    [16, 16],
    [24, 8000],
    [28, 32000],
    [40, 4 * samples.length],
  ] as const) {
    bytes.writeUInt32LE(value, at);
  }
  for (const [at, value] of [
    [20, 3],
    [22, 1],
    [32, 4],
    [34, 32],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.write('data', 36);
  samples.forEach((sample, k) => bytes.writeFloatLE(sample, 44 + 4 * k));
  return bytes;
}

/** Direct sums over one row-major axis of interleaved complex data. */
function direct(data: ArrayLike<number>, shape: readonly number[], axis: number, sign: number): Float64Array {
  const length = shape[axis] ?? 1;
  const inner = shape.slice(axis + 1).reduce((product, extent) => product * extent, 1);
  const result = new Float64Array(data.length);
  for (let start = 0; start < data.length / 2; start++) {
    const k = Math.floor(start / inner) % length;
    const base = start - k * inner;
    for (let n = 0; n < length; n++) {
      const angle = (sign * 2 * Math.PI * ((n * k) % length)) / length;
      const re = data[2 * (base + n * inner)] ?? 0;
      const im = data[2 * (base + n * inner) + 1] ?? 0;
      result[2 * start] = (result[2 * start] ?? 0) + re * Math.cos(angle) - im * Math.sin(angle);
      result[2 * start + 1] = (result[2 * start + 1] ?? 0) + re * Math.sin(angle) + im * Math.cos(angle);
    }
  }
  return result;
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  let error = 0;
  let size = 0;
  for (let k = 0; k < expected.length; k++) {
    error += ((actual[k] ?? Number.NaN) - (expected[k] ?? 0)) ** 2;
    size += (expected[k] ?? 0) ** 2;
  }
  expect(Math.sqrt(error / size)).toBeLessThan(tolerance);
}

/** Names of calls, which do not belong into messages of commands. */
const CALLS =
  /\b(openDevice|listDevices|openProfile|parseDescriptor|readNp[yz]|readWav|device\.plan|plan\.\w+)\b|\w\(\)/;

/** Expects a failure with a message, and the same failure as JSON. */
async function expectFailure(args: readonly string[], code: number, message: RegExp): Promise<void> {
  const { stdout, stderr, ...outcome } = await inside(...args);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/^omnifft: [^\n]+ \[[a-z-]+\]\n$/);
  expect(stderr).not.toMatch(/\s+at .*:\d+/);
  expect(stderr).not.toMatch(CALLS);
  expect({ ...outcome, stdout }).toEqual({ code, stdout: '' });
  // `help` has no result that could be JSON.
  if (args[0] === 'help') return;
  const json = await inside(...args, '--json');
  expect({ code: json.code, stdout: json.stdout }).toEqual({ code, stdout: '' });
  expect(json.stderr).toMatch(/^[^\n]+\n$/);
  const { error, ...rest } = JSON.parse(json.stderr);
  expect(rest).toEqual({});
  expect(Object.keys(error)).toEqual(['code', 'message', 'problems']);
  expect(`omnifft: ${error.message} [${error.code}]\n`).toBe(stderr);
  expect(error.problems.length).toBeGreaterThan(0);
  for (const problem of error.problems) {
    expect(Object.keys(problem)).toEqual(['code', 'message', 'path']);
    for (const text of Object.values(problem)) expect(text).toBeTypeOf('string');
  }
  expect(error.problems[0].code).toBe(error.code);
}

describe('bad usage ends with 2 and one line on stderr', () => {
  put('two.npz', Uint8Array.from(twoArrays));
  it.each<[string, string[], RegExp]>([
    ['an unknown command', ['transfrom'], /unknown command 'transfrom'/],
    [
      'an unknown command and help',
      ['transfrom', '--help'],
      /unknown command 'transfrom' \(Did you mean transform\?\)/,
    ],
    ['help for an unknown command', ['help', 'transfrom'], /unknown command 'transfrom' \(Did you mean transform\?\)/],
    ['help for what is an option', ['help', '--', '--version'], /unknown command '--version'/],
    ['an unknown option', ['devices', '--fast'], /unknown option '--fast'/],
    ['a missing argument', ['explain'], /missing required argument/],
    ['a missing output', ['transform', 'a.npy'], /required option.*--output/],
    ['a bad integer', ['spectrogram', 'a.wav', '-o', 'a.png', '--size', '1e3'], /positive integer/],
    ['bad axes', ['transform', 'a.npy', '-o', 'b.npy', '--axes', '0;1'], /Integers separated by commas/],
    ['a length of complex numbers', ['transform', 'a.npy', '-o', 'b.npy', '-i', '--length', '9'], /--real --inverse/],
    ['a length of bins', ['transform', 'a.npy', '-o', 'b.npy', '--real', '--length', '9'], /--real --inverse/],
    ['an unknown norm', ['transform', 'a.npy', '-o', 'b.npy', '--norm', 'unit'], /backward, ortho, forward/],
    ['lengths that are none', ['explain', '0x4'], /size\[0\] is 0.*\[invalid-size\]/],
    ['a bad descriptor', ['explain', 'scfo10y4'], /position 6.*\[invalid-descriptor\]/],
    ['what is nothing of all that', ['explain', '1024x'], /position 0.*1024 or 256x256.*\[invalid-descriptor\]/],
    ['bad JSON', ['explain', '{"size": [4'], /JSON.*\[invalid-usage\]/],
    ['an unknown field', ['explain', '{"size": [4], "bathces": 2}'], /batches.*\[unknown-field\]/],
    ['a bad size', ['bench', 'scfo8', '{"size": [0]}'], /\[invalid-size\]/],
    ['an unknown profile', ['explain', 'scfo8', '--profile', 'x200'], /x200.*h200.*\[unknown-device\]/],
    [
      'a language it cannot have',
      ['explain', 'scfo8', '--profile', 'h200', '--language', 'wasm'],
      /\[invalid-argument\]/,
    ],
    ['a language of a device', ['explain', 'scfo8', '--language', 'wgsl'], /--profile.*\[invalid-usage\]/],
    ['a profile and a device', ['explain', 'scfo8', '--profile', 'h200', '--device', 'cpu'], /cannot be used with/],
    ['an unknown device', ['explain', 'scfo8', '--device', 'abacus'], /abacus.*\[unknown-device\]/],
    ['a frame of no sample', ['spectrogram', guitar, '-o', 'b.png', '--size', '0'], /--size .*positive integer/],
    ['too small a picture', ['spectrogram', guitar, '-o', 'b.png', '--width', '639'], /--width .*from 640 to 8192/],
    ['too large a picture', ['spectrogram', guitar, '-o', 'b.png', '--height', '8193'], /--height .*from 400 to 8192/],
    [
      'a range of nothing',
      ['spectrogram', guitar, '-o', 'b.png', '--dynamic-range', '0'],
      /--dynamic-range .*1 to 400/,
    ],
    ['another axis', ['spectrogram', guitar, '-o', 'b.png', '--frequencies', 'bark'], /linear, log, mel/],
    ['other colours', ['spectrogram', guitar, '-o', 'b.png', '--colours', 'jet'], /magma, .*viridis, .*greys/],
    [
      'octaves of three samples',
      ['spectrogram', guitar, '-o', 'b.png', '--frequencies', 'log', '--size', '3'],
      /--frequencies log .*4 samples.*\[invalid-usage\]/,
    ],
    ['threads by the million', ['explain', 'scfo8', '-d', 'cpu', '--threads', '1000000'], /^omnifft: --threads /],
    ['no array named of two', ['transform', 'two.npz', '-o', 'b.npy'], /2 arrays, 'first', 'second'; .*--array/],
    ['an array that is not there', ['transform', 'two.npz', '-o', 'b.npy', '--array', 'x'], /no 'x' for --array/],
    ...['b.jpg', 'b.JPEG', 'b.svg', 'b.pdf', 'b.webp', 'b.png.gz', 'b.npy'].map(
      (output): [string, string[], RegExp] => [
        `a picture called ${output}`,
        ['spectrogram', guitar, '-o', output],
        /'b\..*ends in \.png, not in '\.\w+'.*\[invalid-usage\]/,
      ],
    ),
    ...['b.png', 'b.SVGZ', 'b.txt'].map((output): [string, string[], RegExp] => [
      `a picture of a plan called ${output}`,
      ['explain', 'scfo8', '--svg', output],
      /'b\..*ends in \.svg, not in '\.\w+'.*\[invalid-usage\]/,
    ]),
    ['an array called b.csv', ['transform', 'two.npz', '-o', 'b.csv'], /ends in \.npy or \.npz, not in '\.csv'/],
  ])('%s', async (_name, args, message) => {
    await expectFailure(args, 2, message);
    for (const option of ['-o', '--svg']) expect(existsSync(join(folder, args[args.indexOf(option) + 1]!))).toBe(false);
  });

  it('--json alone is JSON, too; after -- it is no option', async () => {
    expect(JSON.parse((await inside('--json')).stderr)).toMatchObject({ error: { code: 'invalid-usage' } });
    expect((await inside('explain', '--', '--json')).stderr).toMatch(/^omnifft: .*\[invalid-descriptor\]\n$/);
  });

  it('all that is wrong with a problem is listed', async () => {
    const { stderr } = await inside('explain', '{"size": [0], "batches": -1}', '--json');
    const { problems } = JSON.parse(stderr).error as { problems: { code: string; path: string }[] };
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['invalid-size', 'size[0]'],
      ['invalid-batches', 'batches'],
    ]);
  });

  it('no command at all: the help', async () => {
    const { code, stderr } = await omnifft();
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: omnifft');
  });
});

describe('failures end with 1 and one line on stderr', () => {
  const array = put('array.npy', writeNpy(sampleArray([4, 6], 'float64')));
  put('half.npy', writeNpy(sampleArray([4, 6], 'float64')).subarray(0, 200));
  put('scalar.npy', writeNpy({ data: Float64Array.of(1), shape: [], dtype: 'float64' }));
  put('empty.npy', writeNpy({ data: new Float64Array(0), shape: [0, 4], dtype: 'float64' }));
  put('nan.wav', floatWav([0, Number.NaN, 1]));
  put('short.npz', twoArrays.subarray(0, 300));
  put('none.npz', emptyArchive);
  put('music.flac', new TextEncoder().encode('fLaC____________'));
  put('text.wav', new TextEncoder().encode('this is not a recording, whatever its name says'));
  mkdirSync(join(folder, 'folder'));

  it.each<[string, string[], RegExp]>([
    [
      'a missing input',
      ['transform', 'none.npy', '-o', 'b.npy'],
      /none\.npy: there is no such file.*\[unreadable-input\]/,
    ],
    ['a folder as input', ['transform', 'folder', '-o', 'b.npy'], /it is a folder.*\[unreadable-input\]/],
    ['a truncated array', ['transform', 'half.npy', '-o', 'b.npy'], /truncated.*\[invalid-file\]/],
    ['a single number', ['transform', 'scalar.npy', '-o', 'b.npy'], /at least one axis.*\[invalid-file\]/],
    ['an output folder that is not there', ['transform', array, '-o', 'no/b.npy'], /no\/b\.npy.*\[unwritable-output\]/],
    ['a folder as output', ['spectrogram', guitar, '-o', 'folder'], /it is a folder.*\[unwritable-output\]/],
    ['a recording that is none', ['spectrogram', 'text.wav', '-o', 'b.png'], /not a WAV file.*\[invalid-file\]/],
    ['an axis without elements', ['transform', 'empty.npy', '-o', 'b.npy'], /Axis 0.*\[invalid-file\]/],
    ['a recording of no numbers', ['spectrogram', 'nan.wav', '-o', 'b.png'], /nan\.wav.*\[invalid-file\]/],
    ['frames that fit no memory', ['spectrogram', guitar, '-o', 'b.png', '--size', '4294967296'], /\[device-limit\]/],
    [
      'a transform that cannot be done',
      ['explain', '{"size":[8,8],"transform":"r2c","omit":[true,false]}'],
      /\[unsupported-feature\]/,
    ],
    ['a device that is not here', ['explain', 'scfo8', '--device', 'level-zero'], /Level Zero.*\[device-unavailable\]/],
    [
      'a precision that a device has not',
      ['explain', '{"size":[8],"precision":"double-double"}', '--profile', 'webgpu-default'],
      /--device auto finds.*\[unsupported-precision\]/,
    ],
    ['an archive cut short', ['transform', 'short.npz', '-o', 'b.npy'], /short\.npz: The archive.*\[invalid-file\]/],
    ['an archive without arrays', ['transform', 'none.npz', '-o', 'b.npy'], /no array.*\[invalid-file\]/],
    ['a recording of another kind', ['spectrogram', 'music.flac', '-o', 'b.png'], /FLAC.*ffmpeg -i INPUT.*OUTPUT\.wav/],
  ])('%s', async (_name, args, message) => {
    await expectFailure(args, 1, message);
    expect(existsSync(join(folder, 'b.npy')) || existsSync(join(folder, 'b.png'))).toBe(false);
  });
});

describe('transform', () => {
  it.each<[NpyArray['dtype'], string[], number[], boolean]>([
    ['complex128', [], [0, 1, 2], false],
    ['complex128', ['--axes', '-2'], [1], false],
    ['complex128', ['--axes', '2,0'], [0, 2], false],
    ['complex64', ['--axes', '0', '--inverse', '--norm', 'forward'], [0], true],
    ['float64', ['--axes', '1,2', '--inverse', '--norm', 'forward'], [1, 2], true],
    ['float32', ['--device', 'cpu', '--threads', '1'], [0, 1, 2], false],
  ])('%s with %j', async (dtype, args, axes, inverse) => {
    const shape = [6, 5, 8];
    const array = sampleArray(shape, dtype);
    const input = put('in.npy', writeNpy(array));
    const output = join(folder, 'out.npy');
    const { code, stdout, stderr } = await inside('transform', input, '-o', output, '--json', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const single = array.data instanceof Float32Array;
    expect(JSON.parse(stdout)).toMatchObject({ output, shape, axes, dtype: single ? 'complex64' : 'complex128' });
    let expected: ArrayLike<number> = dtype.startsWith('complex')
      ? array.data
      : Array.from({ length: 2 * array.data.length }, (_, k) => (k % 2 === 0 ? (array.data[k / 2] ?? 0) : 0));
    for (const axis of axes) expected = direct(expected, shape, axis, inverse ? 1 : -1);
    const result = readNpy(readFileSync(output));
    expect(result).toMatchObject({ shape, dtype: single ? 'complex64' : 'complex128' });
    expectClose(result.data, expected, single ? 1e-6 : 1e-14);
  });

  it.each([[[17, 1, 101]], [[1]], [[1009]]])('takes any lengths: %j', async (shape) => {
    const array = sampleArray(shape, 'complex128');
    const output = join(folder, 'any.npy');
    const args = [put('in.npy', writeNpy(array)), '-o', output, '--device', 'cpu'];
    expect(await omnifft('transform', ...args)).toMatchObject({ code: 0, stderr: '' });
    const expected = shape.reduce<ArrayLike<number>>((data, _, axis) => direct(data, shape, axis, -1), array.data);
    expectClose(readNpy(readFileSync(output)).data, expected, 1e-13);
  });

  it.each(['backward', 'ortho', 'forward'])('there and back with the norm %s', async (norm) => {
    const array = sampleArray([12, 10], 'complex128');
    const [input, middle, output] = ['a.npy', 'b2.npy', 'c.npy'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(input, writeNpy(array));
    expect((await inside('transform', input, '-o', middle, '--norm', norm)).code).toBe(0);
    expect((await inside('transform', middle, '-o', output, '--norm', norm, '-i')).code).toBe(0);
    expectClose(readNpy(readFileSync(output)).data, array.data, 1e-14);
    const energy = (data: ArrayLike<number>) => Array.from(data).reduce((sum, value) => sum + value * value, 0);
    const gain = { backward: 120, ortho: 1, forward: 1 / 120 }[norm] ?? Number.NaN;
    expect(energy(readNpy(readFileSync(middle)).data) / energy(array.data)).toBeCloseTo(gain, 8);
  });

  it.each([
    ['even', 8, []],
    ['odd', 9, ['--length', '9']],
  ] as const)('reals to half the bins and back, of %s length', async (_name, length, said) => {
    const array = sampleArray([3, length, 2], 'float32');
    const [input, middle, output] = ['real.npy', 'bins.npy', 'reals.npy'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(input, writeNpy(array));
    const axes = ['--axes', '0,1', '--device', 'cpu'];
    const there = await inside('transform', input, '-o', middle, '--real', ...axes);
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(readNpy(readFileSync(middle))).toMatchObject({ shape: [3, 5, 2], dtype: 'complex64' });
    const back = await inside('transform', middle, '-o', output, '-r', '-i', ...axes, ...said, '--json');
    expect(back).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(back.stdout)).toMatchObject({ shape: [3, length, 2], dtype: 'float32' });
    expectClose(readNpy(readFileSync(output)).data, array.data, 1e-6);
    const refused = await inside('transform', middle, '-o', join(folder, 'never.npy'), '--real');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/complex64; --real takes reals/) });
  });

  it('takes arrays out of archives, and puts results into them', async () => {
    const input = put('both.npz', twoArrays);
    const expected = direct(direct(second.data, [5, 3], 0, -1), [5, 3], 1, -1);
    const { code, stderr } = await inside('transform', input, '--array', 'second', '-o', 'out.npz', '--device', 'cpu');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = await readNpz(readFileSync(join(folder, 'out.npz')));
    expect(Object.keys(results)).toEqual(['second']);
    expect(results.second).toMatchObject({ shape: [5, 3], dtype: 'complex64' });
    expectClose(results.second!.data, expected, 1e-6);
    // The only array of an archive needs no name; an unnamed one gets NumPy's default name.
    expect((await inside('transform', 'out.npz', '-o', 'back.npy', '--inverse')).code).toBe(0);
    expectClose(readNpy(readFileSync(join(folder, 'back.npy'))).data, second.data, 1e-6);
    expect((await inside('transform', 'back.npy', '-o', 'named.NPZ')).code).toBe(0);
    const named = await readNpz(readFileSync(join(folder, 'named.NPZ')));
    expectClose(named.arr_0!.data, expected, 1e-6);
    expect((await inside('transform', 'back.npy', '-o', 'never.npy', '--array', 'second')).code).toBe(2);
  });

  it.each([['3'], ['-4'], ['0,0'], ['0,-3']])('refuses --axes %s for three axes', async (axes) => {
    const input = put('three.npy', writeNpy(sampleArray([2, 3, 4], 'float32')));
    const { code, stderr } = await inside('transform', input, '-o', 'never.npy', '--axes', axes);
    expect(stderr).toMatch(/--axes.*\[invalid-usage\]/);
    expect(code).toBe(2);
  });
});

describe('spectrogram', () => {
  it('draws a recording', async () => {
    const args = ['--size', '512', '--hop', '256', '--window', 'blackman', '--device', 'cpu'];
    const { code, stdout, stderr } = await omnifft('spectrogram', guitar, '-o', 'guitar.png', '--json', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      size: 512,
      hop: 256,
      bins: 257,
      window: 'blackman',
      output: 'guitar.png',
    });
    expect(decode(readFileSync(join(folder, 'guitar.png')))).toMatchObject({ width: 1600, height: 900 });
  });

  it.each([
    ['1009', 'transforms of 1009 points'],
    ['17', 'transforms of 17 points'],
    ['1', 'transforms of 1 point,'],
  ])('takes frames of %s samples', async (size, told) => {
    const args = ['--size', size, '--hop', '1000', '--window', 'flattop', '--device', 'cpu'];
    const { code, stdout, stderr } = await inside('spectrogram', guitar, '-o', 'guitar.png', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(told);
    expect(decode(readFileSync(join(folder, 'guitar.png')))).toMatchObject({ width: 1600, height: 900 });
  });

  it('draws pictures of other kinds and sizes', async () => {
    const style = { frequencies: 'mel', colours: 'viridis', width: 800, height: 500 };
    const args = Object.entries(style).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const more = [...args, '--dynamic-range', '60', '--json', '--device', 'cpu'];
    const { code, stdout, stderr } = await inside('spectrogram', guitar, '-o', 'guitar.png', ...more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject(style);
    expect(decode(readFileSync(join(folder, 'guitar.png')))).toMatchObject({ width: 800, height: 500 });
  });

  it('draws what is there of a recording cut short, where that is asked for, and says what is wrong', async () => {
    const short = put('short.wav', readFileSync(guitar).subarray(0, 50_001));
    await expectFailure(['spectrogram', short, '-o', 'short.png'], 1, /--truncated accept.*\[invalid-file\]/);
    const args = ['spectrogram', short, '-o', 'short.png', '--device', 'cpu', '--truncated', 'accept'];
    const { code, stderr } = await inside(...args);
    expect(stderr).toMatch(/^omnifft: warning: \S+short\.wav: The WAV file is truncated: it announces [^\n]*\n$/);
    expect(code).toBe(0);
    expect(decode(readFileSync(join(folder, 'short.png')))).toMatchObject({ width: 1600, height: 900 });
    const json = await inside(...args, '--json');
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout).warnings).toEqual([expect.stringMatching(/truncated/)]);
  });

  it('offers the windows that need no parameter', async () => {
    const { code, stderr } = await inside('spectrogram', guitar, '-o', 'never.png', '--window', 'kaiser');
    expect(code).toBe(2);
    expect(stderr).toMatch(/kaiser.*hann.*blackmanharris.*tukey.*\[invalid-usage\]/);
  });
});

describe('help and version', () => {
  it.each([['--help'], ['help'], ['help', 'transform'], ['help', 'help'], ['transform', '--help'], ['--version']])(
    '%s %s',
    async (...args) => {
      const { code, stdout, stderr } = await omnifft(...(args.filter(Boolean) as string[]));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(args.includes('--version') ? /^\d+\.\d+\.\d+\n$/ : /^Usage: omnifft/);
    },
  );
});
