/** Exchange of files between NumPy and omnifft in both directions, bit by bit. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { missing } from '../../test/support/optional.ts';
import { findPython, runProgram } from '../../test/support/programs.ts';
import { randomFor, seedFor } from '../../test/support/random.ts';
import type { NpyArray } from './arrays/npy-array.ts';
import { readNpy, writeNpy } from './files/npy.ts';
import { readNpz, writeNpz } from './files/npz.ts';

const KINDS = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16'];

/** Writes arrays of random bits, in every type, byte order and order of axes, with their contents in C order and in omnifft's types beside them. */
const WRITE = `
import sys, json, numpy
folder, seed = sys.argv[1], int(sys.argv[2])
random = numpy.random.default_rng(seed)
arrays, wanted, notes = {}, {}, []
for kind in ${JSON.stringify(KINDS)}:
    for byte_order in '<>':
        for order in 'CF':
            dtype = numpy.dtype(byte_order + kind)
            shape = tuple(random.integers(1, 5, random.integers(0, 5)))
            count = int(numpy.prod(shape, dtype=int))
            if dtype.kind == 'b': flat = random.integers(0, 2, count)
            else: flat = numpy.frombuffer(random.bytes(count * dtype.itemsize), dtype)
            a = numpy.array(flat.astype(dtype).reshape(shape), order=order)
            name = f'a{len(notes)}'
            target = {'b': 'f8', 'i': 'f8', 'u': 'f8', 'f': 'f4' if dtype.itemsize <= 4 else 'f8', 'c': dtype.str[1:]}[dtype.kind]
            numpy.save(f'{folder}/{name}.npy', a)
            with numpy.errstate(invalid='ignore'):
                numpy.ascontiguousarray(a).astype('<' + target).tofile(f'{folder}/{name}.bin')
            arrays[name] = a
            notes.append([name, [int(n) for n in shape], numpy.dtype(target).name, a.flags.f_contiguous])
numpy.savez(folder + '/plain.npz', **arrays)
numpy.savez_compressed(folder + '/packed.npz', **arrays)
json.dump(notes, open(folder + '/notes.json', 'w'))
`;

/** Reads arrays by NumPy, as raw bytes with a description. */
const READ = `
import sys, json, numpy
folder = sys.argv[1]
notes = []
for file in ['plain.npz', 'packed.npz']:
    with numpy.load(f'{folder}/{file}') as archive:
        assert archive.zip.testzip() is None
        for name in archive.files:
            a = archive[name]
            a.tofile(f'{folder}/{file}.{name}.bin')
            notes.append([file, name, list(a.shape), a.dtype.name])
a = numpy.load(folder + '/single.npy')
a.tofile(folder + '/single.npy.bin')
print(json.dumps(notes))
`;

describe('NumPy', () => {
  const python = findPython('numpy');
  missing('scipy', python ? undefined : 'no python3 on the PATH has NumPy');
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-files-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const bytesOf = ({ data }: NpyArray) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const at = (name: string) => readFileSync(join(folder, name));

  it.runIf(python)('writes arrays of every kind and order that are read, alone and in archives', async () => {
    runProgram(python!, ['-c', WRITE, folder, String(seedFor('numpy files'))]);
    const notes = JSON.parse(at('notes.json').toString()) as [string, number[], string, boolean][];
    expect(notes).toHaveLength(4 * KINDS.length);
    expect(notes.some(([, shape, , fortran]) => fortran && shape.length > 1)).toBe(true);
    const archives = [await readNpz(at('plain.npz')), await readNpz(at('packed.npz'))];
    for (const archive of archives) expect(Object.keys(archive)).toEqual(notes.map(([name]) => name));
    for (const [name, shape, dtype] of notes) {
      const wanted = at(`${name}.bin`);
      for (const array of [readNpy(at(`${name}.npy`)), ...archives.map((archive) => archive[name]!)]) {
        expect({ shape: array.shape, dtype: array.dtype }, name).toEqual({ shape, dtype });
        expectSame(bytesOf(array), wanted, array.data, name);
      }
    }
  });

  it.runIf(python)('reads what is written, alone and in archives', async () => {
    const random = randomFor('numpy files, written');
    const arrays: Record<string, NpyArray> = {};
    for (const dtype of ['float32', 'float64', 'complex64', 'complex128'] as const) {
      const shape = Array.from({ length: random.integer(0, 4) }, () => random.integer(1, 5));
      const length = shape.reduce((count, n) => count * n, dtype.startsWith('c') ? 2 : 1);
      const data = dtype === 'float32' || dtype === 'complex64' ? new Float32Array(length) : new Float64Array(length);
      arrays[`größe ${dtype}`] = { data: data.map(random.unit), shape, dtype };
    }
    const first = Object.values(arrays)[0]!;
    writeFileSync(join(folder, 'single.npy'), writeNpy(first));
    writeFileSync(join(folder, 'plain.npz'), await writeNpz(arrays));
    writeFileSync(join(folder, 'packed.npz'), await writeNpz(arrays, { compressed: true }));
    const notes = JSON.parse(runProgram(python!, ['-c', READ, folder])) as [string, string, number[], string][];
    expect(notes).toEqual(
      ['plain.npz', 'packed.npz'].flatMap((file) =>
        Object.entries(arrays).map(([name, { shape, dtype }]) => [file, name, shape, dtype]),
      ),
    );
    for (const [file, name] of notes) expect(at(`${file}.${name}.bin`)).toEqual(bytesOf(arrays[name]!));
    expect(at('single.npy.bin')).toEqual(bytesOf(first));
  });
});

/** Compares bit by bit, except for NaNs, which have many bit patterns. */
function expectSame(given: Buffer, wanted: Buffer, data: Float32Array | Float64Array, name: string): void {
  expect(given.length, name).toBe(wanted.length);
  const size = data.BYTES_PER_ELEMENT;
  for (let k = 0; k < data.length; k++) {
    const [ours, theirs] = [given, wanted].map((bytes) => bytes.subarray(k * size, (k + 1) * size)) as [Buffer, Buffer];
    if (ours.equals(theirs)) continue;
    const value = size === 4 ? theirs.readFloatLE() : theirs.readDoubleLE();
    expect([data[k], value], `${name}[${k}]`).toEqual([Number.NaN, Number.NaN]);
  }
}
