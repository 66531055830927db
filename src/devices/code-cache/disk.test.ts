/** The folder of compiled code: `get` returns either what was put, or nothing. */
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiskLimits, DiskStore } from './disk.ts';

let folder: string;

beforeEach(() => {
  folder = join(fs.mkdtempSync(join(tmpdir(), 'omnifft-store-')), 'cache');
});
afterEach(() => {
  fs.rmSync(join(folder, '..'), { recursive: true, force: true });
});

/** A store as another process would open it, without this one's state. */
function opened(limits?: DiskLimits): DiskStore {
  return new DiskStore(folder, 'build', { fs, crypto }, limits);
}

function kept(key: string, value: Uint8Array, limits?: DiskLimits): void {
  const store = opened(limits);
  store.put(key, value);
  store.flush();
}

const entries = () => fs.readdirSync(folder).filter((name) => /^[0-9a-f]{40}$/.test(name));
const onlyEntry = () => join(folder, entries()[0]!);
const value = Uint8Array.from({ length: 1000 }, (_, n) => n * 7);

describe('the folder of compiled code', () => {
  it('gives back what was put under a key, and nothing for another one', () => {
    kept('a', value);
    expect([...opened().get('a')!]).toEqual([...value]);
    expect(opened().get('b')).toBeUndefined();
    const store = opened();
    store.put('c', value);
    expect([...store.get('c')!]).toEqual([...value]);
    store.flush();
  });

  it('writes by itself, soon', async () => {
    opened().put('a', value);
    await expect.poll(() => opened().get('a')?.length).toBe(value.length);
  });

  it('is for its owner alone', () => {
    kept('a', value);
    if (process.platform === 'win32') return expect(entries()).toHaveLength(1);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of fs.readdirSync(folder)) expect(fs.statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
  });

  it('does not take an entry of which a bit has changed, a byte is missing or one too many', () => {
    kept('a', value);
    const sound = fs.readFileSync(onlyEntry());
    for (const at of [0, 8, 39, 40, 500, sound.length - 1]) {
      const damaged = Buffer.from(sound);
      damaged[at]! ^= 1;
      fs.writeFileSync(onlyEntry(), damaged);
      expect(opened().get('a'), `byte ${at}`).toBeUndefined();
    }
    for (const bytes of [0, 7, 39, 40, sound.length - 1]) {
      fs.writeFileSync(onlyEntry(), sound.subarray(0, bytes));
      expect(opened().get('a'), `${bytes} bytes`).toBeUndefined();
    }
    fs.writeFileSync(onlyEntry(), Buffer.concat([sound, Buffer.of(0)]));
    expect(opened().get('a')).toBeUndefined();
    kept('a', value);
    expect(opened().get('a')).toHaveLength(value.length);
  });

  it('does not take an entry under the name of another one, nor one that was written with another key', () => {
    kept('a', value);
    const [a] = entries();
    kept('b', Uint8Array.of(1));
    const b = entries().find((name) => name !== a)!;
    fs.copyFileSync(join(folder, a!), join(folder, b));
    expect(opened().get('b')).toBeUndefined();
    fs.writeFileSync(join(folder, 'omnifft.key'), crypto.randomBytes(32));
    expect(opened().get('a')).toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')('does not rest on a key that others may read, and makes a new one', () => {
    kept('a', value);
    const path = join(folder, 'omnifft.key');
    fs.chmodSync(path, 0o644);
    expect(opened().get('a')).toBeUndefined();
    kept('a', value);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(opened().get('a')).toHaveLength(value.length);
    fs.writeFileSync(path, 'short');
    expect(opened().get('a')).toBeUndefined();
    kept('a', value);
    expect(opened().get('a')).toHaveLength(value.length);
  });

  it('keeps no entry that is too large, and reads none', () => {
    const limits = { total: 10_000, entry: 1100 };
    kept('a', value, limits);
    kept('b', new Uint8Array(1100), limits);
    expect(entries()).toHaveLength(1);
    expect(opened({ ...limits, entry: 1000 }).get('a')).toBeUndefined();
  });

  it('drops what was not used for longest, and nothing that is not its own', () => {
    const limits = { total: 20_000, entry: 2000 };
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(join(folder, 'notes.txt'), new Uint8Array(50_000));
    const store = opened(limits);
    const long = 1000;
    for (let n = 0; n < 30; n++) {
      store.put(`${n}`, value);
      store.flush();
      for (const name of entries()) {
        const { mtimeMs } = fs.statSync(join(folder, name));
        fs.utimesSync(join(folder, name), mtimeMs / 1000 - long, mtimeMs / 1000 - long);
      }
      // Reading an entry marks it as recently used.
      opened(limits).get('0');
    }
    const bytes = entries().reduce((sum, name) => sum + fs.statSync(join(folder, name)).size, 0);
    // The folder is scanned whenever a sixteenth of the limit has been written.
    expect(bytes).toBeLessThanOrEqual((limits.total * 17) / 16 + 2000);
    const there = Array.from({ length: 30 }, (_, n) => opened(limits).get(`${n}`) !== undefined);
    expect(there.slice(-5)).toEqual([true, true, true, true, true]);
    expect(there.slice(1, 5)).toEqual([false, false, false, false]);
    expect(fs.existsSync(join(folder, 'notes.txt'))).toBe(true);
  });

  it('clears away what a process that ended early has left', () => {
    fs.mkdirSync(folder, { recursive: true });
    const left = ['omnifft-0123456789abcdef.tmp', 'omnifft-fedcba9876543210.tmp'].map((name) => join(folder, name));
    for (const path of left) fs.writeFileSync(path, 'x');
    fs.utimesSync(left[0]!, 0, 0);
    kept('a', value);
    expect(left.map((path) => fs.existsSync(path))).toEqual([false, true]);
  });

  it('is empty where it cannot be read, and keeps nothing where it cannot be written', () => {
    fs.writeFileSync(folder, 'a file in the place of the folder');
    kept('a', value);
    expect(opened().get('a')).toBeUndefined();
    fs.rmSync(folder);
    kept('a', value);
    // Errors as on a read-only disk, because root may write in spite of permissions.
    const refuse = (): never => {
      throw Object.assign(new Error('read-only'), { code: 'EROFS' });
    };
    const readOnly = { ...fs, writeFileSync: refuse, mkdirSync: refuse, utimesSync: refuse } as unknown as typeof fs;
    fs.utimesSync(onlyEntry(), 0, 0);
    const store = new DiskStore(folder, 'build', { fs: readOnly, crypto });
    expect(store.get('a')).toHaveLength(value.length);
    store.put('b', value);
    store.flush();
    expect(entries()).toHaveLength(1);
  });

  it('takes many processes that write the same entries at the same time', async () => {
    const program = join(folder, '..', 'writer.mjs');
    await build({
      stdin: { contents: WRITER, resolveDir: import.meta.dirname, loader: 'ts' },
      ...{ bundle: true, format: 'esm', platform: 'node', outfile: program, logLevel: 'error' },
    });
    const run = () =>
      new Promise((resolve) => spawn(process.execPath, [program, folder], { stdio: 'inherit' }).on('exit', resolve));
    expect(await Promise.all([run(), run(), run()])).toEqual([0, 0, 0]);
    const store = opened();
    for (let n = 0; n < 20; n++)
      expect(
        store.get(`${n}`)?.every((byte) => byte === n),
        `${n}`,
      ).toBe(true);
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

/** Writes and reads twenty entries repeatedly, then ends at once with entries still queued. */
const WRITER = `
  import crypto from 'node:crypto';
  import fs from 'node:fs';
  import { DiskStore } from './disk.ts';
  for (let round = 0; round < 10; round++) {
    const store = new DiskStore(process.argv[2]!, 'build', { fs, crypto });
    for (let n = 0; n < 20; n++) {
      const found = store.get(String(n));
      if (found && (found.length !== 5000 + n || found.some((byte) => byte !== n))) process.exit(1);
      store.put(String(n), new Uint8Array(5000 + n).fill(n));
    }
    if (round < 9) store.flush();
  }
  process.exit(0);
`;
