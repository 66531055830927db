/** Inputs of the command line: files of any size, read piece by piece, and pipes. */
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../test/support/random.ts';
import { readNpy, writeNpy } from '../numpy/files/npy.ts';
import { sampleArray, workplace } from './fixture.ts';
import { fileSource, readWith } from './inputs.ts';

const { folder, omnifft, put } = workplace();
const random = randomFor('inputs');

describe('a file', () => {
  it('is read from anywhere, however little the system gives at a time', () => {
    const bytes = Uint8Array.from({ length: 200_000 }, () => random.integer(0, 255));
    const few = (_: number, into: Uint8Array, offset: number, length: number, position: number) => {
      const count = Math.min(length, random.integer(1, 70_000), Math.max(0, bytes.length - position));
      into.set(bytes.subarray(position, position + count), offset);
      return count;
    };
    const source = fileSource(0, bytes.length, few as never);
    for (let call = 0; call < 300; call++) {
      const at = random.integer(0, 210_000);
      const length = random.pick([0, 1, 24, 70_000, 150_000]);
      expect(Buffer.from(source.read(at, length)).equals(bytes.subarray(at, at + length))).toBe(true);
    }
  });

  it('that becomes shorter gives what is left', () => {
    const source = fileSource(0, 100, (() => 0) as never);
    expect(source.read(10, 20).length).toBe(0);
  });

  it('that cannot be read is named', async () => {
    const path = put('there.bin', new Uint8Array(10));
    const broken = () => {
      throw Object.assign(new Error('input/output error'), { code: 'EIO' });
    };
    await expect(readWith(path, broken)).rejects.toMatchObject({
      code: 'unreadable-input',
      message: `Cannot read ${path}: input/output error.`,
    });
  });
});

/** A sparse file, whose holes take no space on the disk. */
function sparse(name: string, size: number, parts: readonly (readonly [number, Uint8Array])[]): string {
  const path = join(folder, name);
  writeFileSync(path, '');
  truncateSync(path, size);
  const file = openSync(path, 'r+');
  for (const [at, bytes] of parts) writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
  expect(statSync(path).size).toBe(size);
  return path;
}

describe('files of more than 4 GiB', () => {
  const far = 5 * 2 ** 30;

  it('an array with other things behind it', async () => {
    const array = sampleArray([6, 5], 'complex64');
    const input = sparse('long.npy', far, [[0, writeNpy(array)]]);
    const { code, stderr } = await omnifft('transform', input, '-o', 'forward.npy', '--device', 'cpu');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await omnifft('transform', 'forward.npy', '-o', 'back.npy', '-i')).code).toBe(0);
    const back = readNpy(readFileSync(join(folder, 'back.npy')));
    back.data.forEach((value, k) => {
      expect(value).toBeCloseTo(array.data[k]!, 5);
    });
  });

  it('a recording behind a chunk of that size: RF64', async () => {
    const recording = readFileSync(new URL('../../examples/data/guitar.wav', import.meta.url));
    // RIFF, its size, WAVE; then `fmt ` with 16 bytes, and `data`.
    expect([recording.toString('latin1', 12, 16), recording.readUInt32LE(16)]).toEqual(['fmt ', 16]);
    const data = recording.indexOf('data', 36, 'latin1');
    const samples = recording.subarray(data + 8, data + 8 + recording.readUInt32LE(data + 4));
    const head = Buffer.alloc(12 + 36 + 24 + 8);
    head.write('RF64\xff\xff\xff\xffWAVEds64', 'latin1');
    head.writeUInt32LE(28, 16);
    head.writeBigUInt64LE(BigInt(samples.length), 28);
    recording.copy(head, 48, 12, 36);
    head.write('junk', 72);
    // Chunks of 32 bits reach 4 GiB less 2 bytes each.
    const junk = 2 ** 32 - 2;
    head.writeUInt32LE(junk, 76);
    const second = Buffer.from('junk____');
    second.writeUInt32LE(2 ** 30, 4);
    const start = head.length + junk + 8 + 2 ** 30;
    const announced = Buffer.from('data\xff\xff\xff\xff', 'latin1');
    const parts = [
      [0, head],
      [head.length + junk, second],
      [start, announced],
      [start + 8, samples],
    ] as const;
    const input = sparse('long.wav', start + 8 + samples.length, parts);
    const { code, stdout, stderr } = await omnifft('spectrogram', input, '-o', 'long.png', '--json', '--device', 'cpu');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const frames = (count: number) => 1 + Math.floor((count - 1024) / 256);
    const channels = recording.readUInt16LE(22);
    expect(JSON.parse(stdout).frames).toBe(frames(samples.length / (channels * 2)));
  });
});
