/** `.npz` files: archives put together by hand, damaged ones, and long ones. Exchange with NumPy is tested in files.test.ts. */

import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { damage } from '../../../test/support/damage.ts';
import { randomFor } from '../../../test/support/random.ts';
import { FftError } from '../../problem/errors.ts';
import type { NpyArray } from '../arrays/npy-array.ts';
import { writeNpy } from './npy.ts';
import { npzMembers, readNpz, writeNpz } from './npz.ts';
import { type ByteSource, memorySource } from './source.ts';

interface File {
  readonly name: string;
  readonly data: Uint8Array;
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly packed?: number;
  /** Whether the entry refers to the bytes of the first one. */
  readonly shared?: boolean;
}

/** Numbers of 2 or 4 bytes, little-endian: `[value, bytes]`. */
function fields(...values: readonly (readonly [number, number])[]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes);
      if (bytes === 8) field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}

/**
 * An archive of the kind that has 32 bits for sizes. (APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.)
 * @param before bytes that stand before it and are not given: with more than 32 bits of them, places have 64
 */
function archive(files: readonly File[], { comment = '', before = 0 } = {}): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = before;
  for (const { name, data, method = 0, flags = 0, crc = crc32(data), size = data.length, ...given } of files) {
    const body = method === 8 ? deflateRawSync(data) : Buffer.from(data);
    const { packed = body.length } = given;
    const long = before >= 2 ** 32;
    const place = long ? fields([1, 2], [8, 2], [at, 8]) : Buffer.alloc(0);
    const common = fields([20, 2], [flags, 2], [method, 2], [0, 2], [33, 2], [crc, 4], [packed, 4], [size, 4]);
    const local = Buffer.concat([fields([0x04034b50, 4]), common, fields([name.length, 2], [3, 2]), Buffer.from(name)]);
    if (!given.shared) locals.push(local, Buffer.from('pad'), body);
    centrals.push(
      fields([0x02014b50, 4], [20, 2]),
      common,
      fields([name.length, 2], [place.length, 2], [0, 2], [0, 2]),
    );
    const short = given.shared ? before : at;
    centrals.push(fields([0, 2], [0, 4], [long ? 0xffffffff : short, 4]), Buffer.from(name), place);
    if (!given.shared) at += local.length + 3 + body.length;
  }
  const directory = Buffer.concat(centrals);
  const count = files.length;
  const end = fields([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [directory.length, 4]);
  const tail = Buffer.concat([fields([Math.min(at, 0xffffffff), 4], [comment.length, 2]), Buffer.from(comment)]);
  const head = fields([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [count, 8], [count, 8]);
  const end64 = Buffer.concat([head, fields([directory.length, 8], [at, 8])]);
  const locator = fields([0x07064b50, 4], [0, 4], [at + directory.length, 8], [1, 4]);
  return Buffer.concat([...locals, directory, ...(before >= 2 ** 32 ? [end64, locator] : []), end, tail]);
}

async function failure(run: () => unknown): Promise<FftError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const random = randomFor('npz');
const doubles: NpyArray = { data: Float64Array.from({ length: 12 }, random.unit), shape: [3, 4], dtype: 'float64' };
const singles: NpyArray = { data: Float32Array.from({ length: 6 }, random.unit), shape: [3], dtype: 'complex64' };

describe('readNpz', () => {
  it.each([0, 8])('reads arrays that are stored or deflated: method %i', async (method) => {
    const files = [
      { name: 'first.npy', data: writeNpy(doubles), method },
      { name: 'notes.txt', data: Buffer.from('no array') },
      { name: 'second.npy', data: writeNpy(singles), method },
    ];
    for (const comment of ['', 'what PK\x05\x06 is about']) {
      const arrays = await readNpz(archive(files, { comment }));
      expect({ ...arrays }).toEqual({ first: doubles, second: singles });
    }
  });

  it('takes no name for what every object has', async () => {
    const arrays = await readNpz(archive([{ name: '__proto__.npy', data: writeNpy(doubles) }]));
    expect(Object.keys(arrays)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(arrays)).toBe(null);
    expect(Object.keys(await readNpz(archive([])))).toEqual([]);
  });

  const data = writeNpy(doubles);
  const one = (file: Partial<File>) => archive([{ name: 'a.npy', data, ...file }]);
  const whole = one({});
  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /does not start as a \.npz/],
    ['an array by itself', data, /does not start as a \.npz/],
    ['half an archive', whole.subarray(0, whole.length / 2), /no directory at its end/],
    ['an archive without its first bytes', Buffer.concat([Buffer.from('PK'), whole.subarray(100)]), /damaged/],
    ['a wrong checksum', one({ crc: 1 }), /checksum of a\.npy/],
    ['a compression of another kind', one({ method: 12 }), /method 12.*numpy\.savez/],
    ['an encrypted file', one({ flags: 1 }), /encrypted/],
    ['a size that is too large', one({ method: 8, size: data.length + 1 }), /checksum/],
    ['a size that is too small', one({ method: 8, size: data.length - 1 }), /more than the 223 bytes/],
    ['a size beyond what deflate can do', one({ method: 8, size: 2 ** 31 }), /cannot have 2147483648 bytes/],
    ['a stored size that is another', one({ size: 1 }), /cannot have 1 bytes/],
    ['more bytes than there are', one({ packed: 10_000, size: 10_000 }), /take 10000 bytes/],
    ['an array that is none', archive([{ name: 'b.npy', data: Buffer.from('text') }]), /^Array 'b': .*74 65 78 74/],
    ['an array cut short', archive([{ name: 'b.npy', data: data.subarray(0, -8) }]), /^Array 'b': .*truncated/],
  ])('refuses %s', async (_name, bytes, message) => {
    const error = await failure(() => readNpz(bytes));
    expect(error.code).toBe('invalid-file');
    expect(error.message).toMatch(message);
  });

  it('refuses files that share their bytes', async () => {
    const files = Array.from({ length: 20 }, (_, k) => ({ name: `${k}.npy`, data, shared: k > 0 }));
    expect((await failure(() => readNpz(archive(files)))).message).toMatch(/files take 4480 bytes, the archive has/);
    expect(Object.keys(await readNpz(archive(files.map((file) => ({ ...file, shared: false })))))).toHaveLength(20);
  });

  it.each([null, undefined, 'x', new ArrayBuffer(4), [1, 2]])('refuses what is no file: %s', async (given) => {
    expect((await failure(() => readNpz(given as never))).code).toBe('invalid-argument');
  });

  it('never fails otherwise, whatever the bytes', async () => {
    const files = [
      one({}),
      one({ method: 8 }),
      await writeNpz({ doubles, singles }),
      await writeNpz({ doubles, singles }, { compressed: true }),
    ];
    expect(await damage('npz damage', files, 3000, readNpz)).toBeGreaterThan(1000);
  });

  it('refuses a file that goes away while it is read', async () => {
    const bytes = await writeNpz({ doubles, singles }, { compressed: true });
    const reading = readNpz(bytes);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect((await failure(() => reading)).code).toBe('detached-array');
  });

  it('finds arrays behind more than 4 GiB', async () => {
    const before = 5 * 2 ** 30 + 7;
    const end = archive([{ name: 'far.npy', data, method: 8 }], { before });
    const source: ByteSource = {
      size: before + end.length,
      read: (at, length) => {
        const bytes = Buffer.alloc(Math.max(0, Math.min(length, before + end.length - at)));
        if (at === 0) bytes.write('PK');
        if (at + bytes.length > before) end.copy(bytes, Math.max(0, before - at), Math.max(0, at - before));
        return bytes;
      },
    };
    const [member, ...others] = npzMembers(source);
    expect(others).toEqual([]);
    expect([member?.name, await member?.read()]).toEqual(['far', doubles]);
  });
});

describe('writeNpz', () => {
  it.each([false, true])('is read back, compressed: %s', async (compressed) => {
    const zeros = { data: new Float64Array(100_000), shape: [100, 1000], dtype: 'float64' } as const;
    const arrays = { doubles, singles, zeros, 'größe/2': doubles, '': singles };
    const bytes = await writeNpz(arrays, { compressed });
    expect({ ...(await readNpz(bytes)) }).toEqual(arrays);
    expect(bytes.length < 10_000).toBe(compressed);
    expect(npzMembers(memorySource(bytes)).map(({ name }) => name)).toEqual(Object.keys(arrays));
    expect(await writeNpz(arrays, { compressed })).toEqual(bytes);
  });

  it('takes bare typed arrays, and no arrays at all', async () => {
    const { x } = await readNpz(await writeNpz({ x: Int16Array.of(1, -2) }));
    expect(x).toEqual({ data: Float64Array.of(1, -2), shape: [2], dtype: 'float64' });
    expect(Object.keys(await readNpz(await writeNpz({})))).toEqual([]);
  });

  it('refuses arrays that go away while they are written', async () => {
    const data = new Float64Array(8);
    const writing = writeNpz({ doubles, data }, { compressed: true });
    structuredClone(data.buffer, { transfer: [data.buffer] });
    expect((await failure(() => writing)).code).toBe('detached-array');
  });

  it.each<[string, unknown[], RegExp]>([
    ['nothing', [], /invalid-argument/],
    ['arrays of a class', [new (class Arrays {})()], /invalid-argument/],
    ['what cannot be read', [new Proxy({}, { ownKeys: () => Reflect.ownKeys(null as never) })], /invalid-argument/],
    ['a list', [[doubles]], /invalid-argument/],
    ['an array alone', [Float64Array.of(1)], /invalid-argument/],
    ['what is no array', [{ x: 'text' }], /wrong-array-type/],
    ['data that does not fill its shape', [{ x: { ...doubles, shape: [5] } }], /wrong-length/],
    ['a name beyond what archives hold', [{ ['x'.repeat(65532)]: doubles }], /invalid-argument/],
    ['an unknown option', [{}, { compress: true }], /unknown-field/],
    ['an option that is neither true nor false', [{}, { compressed: 'yes' }], /invalid-argument/],
  ])('refuses %s', async (_name, args, code) => {
    expect((await failure(() => writeNpz(...(args as [never])))).code).toMatch(code);
  });
});
