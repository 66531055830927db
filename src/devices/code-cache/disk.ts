/**
 * Compiled code in files of one folder, a file for each key, shared by all processes of a user.
 *
 * A file begins with a mark and an HMAC of its own name and contents. The key of the HMAC is in the same folder, in a file that only
 * its owner may read: a file that was damaged, cut off, renamed, or written without that key is no entry, as if it
 * were not there. Files are written under temporary names and then renamed, so that others see all of one or nothing of it.
 */
import type { CodeStore } from './store.ts';

/** The modules of Node that the store uses. */
export interface NodeModules {
  readonly fs: typeof import('node:fs');
  readonly crypto: typeof import('node:crypto');
}

export interface DiskLimits {
  /** Bytes of all entries together: beyond that the ones not used for longest go. */
  readonly total: number;
  /** Bytes of one entry: a larger one is not kept. */
  readonly entry: number;
}

const USUAL_LIMITS: DiskLimits = { total: 256 * 2 ** 20, entry: 16 * 2 ** 20 };

const KEY_FILE = 'omnifft.key';
const KEY_BYTES = 32;
const MARK = 'omnifft1';
const MAC_BYTES = 32;
/** A multiple of 8, so that numbers in the value are aligned. */
const HEADER_BYTES = MARK.length + MAC_BYTES;
/** Names of entries: the first 160 bits of the SHA-256 of their key. */
const ENTRY_NAME = /^[0-9a-f]{40}$/;
const TEMPORARY_NAME = /^omnifft-[0-9a-f]{16}\.tmp$/;
/** The resolution, in milliseconds, of the time of last use, which is an entry's file time: uses within it do not touch the file again. */
const TOUCH_MILLISECONDS = 3_600_000;
/** The age, in milliseconds, from which on a temporary file is taken to be left behind by a process that ended early. */
const ABANDONED_MILLISECONDS = 3_600_000;
/** The fraction of the size limit that is left filled after old entries have been removed. */
const KEPT_PART = 0.75;
/** Permissions of others, and of the group. */
const OTHERS = 0o077;

export class DiskStore implements CodeStore {
  readonly build: string;
  private readonly folder: string;
  private readonly node: NodeModules;
  private readonly limits: DiskLimits;
  private readonly pending = new Map<string, Uint8Array>();
  private secret: Uint8Array | undefined;
  /** Bytes written since the folder was looked through; undefined where it never was. */
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
      // Where nothing can be read, nothing is found either.
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

  /** Written when the caller has gone on, and at the latest when the process ends. */
  put(key: string, value: Uint8Array): void {
    if (value.length + HEADER_BYTES > this.limits.entry) return;
    if (this.pending.size === 0) {
      process.on('exit', this.flushAtExit);
      setTimeout(this.flushAtExit, 0);
    }
    this.pending.set(this.nameOf(key), value);
  }

  /** Writes what waits. */
  flush(): void {
    process.off('exit', this.flushAtExit);
    const entries = [...this.pending];
    this.pending.clear();
    for (const [name, value] of entries) {
      try {
        this.write(name, value);
      } catch {
        // A full or read-only disk: what cannot be kept is compiled again.
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
    // A Buffer of Node is an array of bytes whose methods do other things.
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
      // A folder that may only be read.
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

  /** Puts a file in place, whole, for its owner alone. */
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
   * The key of this folder. Of two processes that make one at the same time the later one's stays, and what the other has
   * written until then counts for nothing.
   * @param make makes one where there is none, or none that is any good.
   */
  private secretKey(make: boolean): Uint8Array | undefined {
    if (this.secret) return this.secret;
    const found = this.readSecret();
    if (found || !make) return (this.secret = found);
    this.replace(KEY_FILE, this.node.crypto.randomBytes(KEY_BYTES));
    return (this.secret = this.readSecret());
  }

  /** One that others can read, or have put there, is none. */
  private readSecret(): Uint8Array | undefined {
    const { fs } = this.node;
    const path = `${this.folder}/${KEY_FILE}`;
    const facts = fs.lstatSync(path, { throwIfNoEntry: false });
    if (!facts?.isFile() || facts.size !== KEY_BYTES) return undefined;
    // Windows has neither; there the folder is the user's own.
    const user = process.getuid?.();
    if (user !== undefined && (facts.uid !== user || (facts.mode & OTHERS) !== 0)) return undefined;
    return fs.readFileSync(path);
  }

  /** Removes the entries that were not used for longest, where they are too many, and what processes have left that ended early. */
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
      if (total <= KEPT_PART * this.limits.total) return;
      fs.rmSync(path, { force: true });
      total -= bytes;
    }
  }
}

/** Another process may have removed it meanwhile. */
function statOf(fs: NodeModules['fs'], path: string): import('node:fs').Stats | undefined {
  return fs.statSync(path, { throwIfNoEntry: false });
}
