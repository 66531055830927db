/**
 * Compiled code in files of one folder, a file for each key, shared by all processes of a user.
 * A file begins with a mark and an HMAC of its own name and contents. The key of the HMAC is in the same folder, in a file that only its owner may
 * read. A file that was damaged, truncated, renamed, or written without that key counts as missing. Files are written under temporary names and then
 * renamed, so that other processes see either the whole file or none.
 */
import type { CodeStore } from './store.ts';

/** The modules of Node that the store uses. */
export interface NodeModules {
  readonly fs: typeof import('node:fs');
  readonly crypto: typeof import('node:crypto');
}

export interface DiskLimits {
  /** The most bytes of all entries together. Above it the least recently used entries are deleted. */
  readonly total: number;
  /** The most bytes of one entry. A larger entry is not kept. */
  readonly entry: number;
}

const USUAL_LIMITS: DiskLimits = { total: 256 * 2 ** 20, entry: 16 * 2 ** 20 };

const KEY_FILE = 'omnifft.key';
const KEY_BYTES = 32;
const MARK = 'omnifft1';
const MAC_BYTES = 32;
/** Bytes of the header: a multiple of 8, so that numbers in the value are aligned. */
const HEADER_BYTES = MARK.length + MAC_BYTES;
/** Names of entries: the first 160 bits of the SHA-256 of their key. */
const ENTRY_NAME = /^[0-9a-f]{40}$/;
const TEMPORARY_NAME = /^omnifft-[0-9a-f]{16}\.tmp$/;
/** The resolution, in milliseconds, of the time of last use, which is an entry's file time: uses within it do not touch the file again. */
const TOUCH_MILLISECONDS = 3_600_000;
/** The age, in milliseconds, from which on a temporary file is taken to be left behind by a process that ended early. */
const ABANDONED_MILLISECONDS = 3_600_000;
/** The fraction of the size limit that is left filled after old entries have been removed. */
const KEPT_FRACTION = 0.75;
/** The permission bits of the group and of all other users. */
const OTHERS = 0o077;

export class DiskStore implements CodeStore {
  readonly build: string;
  private readonly folder: string;
  private readonly node: NodeModules;
  private readonly limits: DiskLimits;
  private readonly pending = new Map<string, Uint8Array>();
  private secret: Uint8Array | undefined;
  /** Bytes written since the folder was last scanned; undefined before the first scan. */
  private written: number | undefined;
  private readonly flushAtExit = (): void => this.flush();

  constructor(folder: string, build: string, node: NodeModules, limits: DiskLimits = USUAL_LIMITS) {
    this.folder = folder;
    this.build = build;
    this.node = node;
    this.limits = limits;
    try {
      this.secret = this.readSecret();
    } catch {
      // An entry that cannot be read counts as missing.
    }
  }

  get(key: string): Uint8Array | undefined {
    const name = this.nameOf(key);
    try {
      return this.pending.get(name) ?? this.read(name);
    } catch {
      return undefined;
    }
  }

  /** Queues an entry, which is written after the caller has gone on, and at the latest when the process ends. */
  put(key: string, value: Uint8Array): void {
    if (value.length + HEADER_BYTES > this.limits.entry) return;
    if (this.pending.size === 0) {
      process.on('exit', this.flushAtExit);
      setTimeout(this.flushAtExit, 0);
    }
    this.pending.set(this.nameOf(key), value);
  }

  /** Writes the queued entries. */
  flush(): void {
    process.off('exit', this.flushAtExit);
    const entries = [...this.pending];
    this.pending.clear();
    for (const [name, value] of entries) {
      try {
        this.write(name, value);
      } catch {
        // The disk is full or read-only: an entry that cannot be kept is compiled again next time.
        return;
      }
    }
  }

  private nameOf(key: string): string {
    return this.node.crypto.createHash('sha256').update(key).digest('hex').slice(0, 40);
  }

  private read(name: string): Uint8Array | undefined {
    const { fs, crypto } = this.node;
    const path = `${this.folder}/${name}`;
    const facts = fs.statSync(path, { throwIfNoEntry: false });
    if (!facts?.isFile() || facts.size < HEADER_BYTES || facts.size > this.limits.entry) return undefined;
    const secret = this.secretKey(false);
    if (!secret) return undefined;
    const bytes = fs.readFileSync(path);
    if (bytes.length !== facts.size || bytes.toString('latin1', 0, MARK.length) !== MARK) return undefined;
    // Node returns a Buffer, whose `slice` and `toString` differ from a Uint8Array's.
    const value = new Uint8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, bytes.length - HEADER_BYTES);
    if (!crypto.timingSafeEqual(bytes.subarray(MARK.length, HEADER_BYTES), this.mac(secret, name, value))) {
      return undefined;
    }
    if (Date.now() - facts.mtimeMs > TOUCH_MILLISECONDS) this.touch(path);
    return value;
  }

  private touch(path: string): void {
    try {
      const now = new Date();
      this.node.fs.utimesSync(path, now, now);
    } catch {
      // The folder is read-only.
    }
  }

  private write(name: string, value: Uint8Array): void {
    const secret = this.secretKey(true);
    if (!secret) return;
    const bytes = new Uint8Array(HEADER_BYTES + value.length);
    bytes.set(new TextEncoder().encode(MARK));
    bytes.set(this.mac(secret, name, value), MARK.length);
    bytes.set(value, HEADER_BYTES);
    this.replace(name, bytes);
    if (this.written === undefined || (this.written += bytes.length) > this.limits.total / 16) this.trim();
  }

  /** Replaces a file as a whole by renaming; only its owner may read the new file. */
  private replace(name: string, bytes: Uint8Array): void {
    const { fs, crypto } = this.node;
    fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.folder}/omnifft-${crypto.randomBytes(8).toString('hex')}.tmp`;
    try {
      fs.writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
      fs.renameSync(temporary, `${this.folder}/${name}`);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
  }

  private mac(secret: Uint8Array, name: string, value: Uint8Array): Uint8Array {
    return this.node.crypto.createHmac('sha256', secret).update(name).update(value).digest();
  }

  /**
   * The HMAC key of this folder. If two processes make a key at the same time, the later one stays, and entries that were written with the other one
   * are invalid.
   * @param make whether to make a key if the folder has no valid one.
   */
  private secretKey(make: boolean): Uint8Array | undefined {
    if (this.secret) return this.secret;
    const found = this.readSecret();
    if (found || !make) return (this.secret = found);
    this.replace(KEY_FILE, this.node.crypto.randomBytes(KEY_BYTES));
    return (this.secret = this.readSecret());
  }

  /** The key from its file; undefined if other users can read the file or own it. */
  private readSecret(): Uint8Array | undefined {
    const { fs } = this.node;
    const path = `${this.folder}/${KEY_FILE}`;
    const facts = fs.lstatSync(path, { throwIfNoEntry: false });
    if (!facts?.isFile() || facts.size !== KEY_BYTES) return undefined;
    // Windows has neither user numbers nor permission bits; its folder belongs to the user anyway.
    const user = process.getuid?.();
    if (user !== undefined && (facts.uid !== user || (facts.mode & OTHERS) !== 0)) return undefined;
    return fs.readFileSync(path);
  }

  /** Deletes the least recently used entries if all together are too large, and the temporary files of processes that ended early. */
  private trim(): void {
    const { fs } = this.node;
    this.written = 0;
    const entries: { path: string; bytes: number; used: number }[] = [];
    for (const name of fs.readdirSync(this.folder)) {
      const path = `${this.folder}/${name}`;
      const facts = ENTRY_NAME.test(name) || TEMPORARY_NAME.test(name) ? statOf(fs, path) : undefined;
      if (!facts) continue;
      if (ENTRY_NAME.test(name)) entries.push({ path, bytes: facts.size, used: facts.mtimeMs });
      else if (Date.now() - facts.mtimeMs > ABANDONED_MILLISECONDS) fs.rmSync(path, { force: true });
    }
    let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= this.limits.total) return;
    entries.sort((a, b) => a.used - b.used);
    for (const { path, bytes } of entries) {
      if (total <= KEPT_FRACTION * this.limits.total) return;
      fs.rmSync(path, { force: true });
      total -= bytes;
    }
  }
}

/** Another process may have deleted the file meanwhile. */
function statOf(fs: NodeModules['fs'], path: string): import('node:fs').Stats | undefined {
  return fs.statSync(path, { throwIfNoEntry: false });
}
