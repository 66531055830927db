/**
 * Compiled code in a page's own database (IndexedDB). Only the build for browsers has this store. Its contents are trusted, because only pages of the
 * same origin can write to the database, and such a page can run any code anyway.
 */
import { buildDigest, type CodeStore } from './store.ts';

const VALUES = 'values';
/** The record of a value: its size in bytes, and the time of its last use. */
const FACTS = 'facts';
/** The most bytes of all values together. Above it the least recently used values are deleted. */
const MOST_BYTES = 64 * 2 ** 20;
const KEPT_FRACTION = 0.75;

interface Facts {
  readonly key: string;
  readonly bytes: number;
  readonly used: number;
}

/** Opens the database; undefined where the page may not have one. */
export async function openDatabase(name: string, version: string): Promise<CodeStore | undefined> {
  if (typeof indexedDB !== 'object') return undefined;
  try {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(VALUES);
      opening.result.createObjectStore(FACTS, { keyPath: 'key' });
    };
    const database = await requestResult(opening);
    // Another page that deletes the database need not wait for this page to close it.
    database.onversionchange = () => database.close();
    return new DatabaseStore(database, `${version}+${buildDigest ?? 'sources'}`);
  } catch {
    return undefined;
  }
}

class DatabaseStore implements CodeStore {
  readonly build: string;
  private readonly database: IDBDatabase;
  /** Values that `fetch` has read from the database and `get` has not taken yet. */
  private readonly fetched = new Map<string, Uint8Array>();

  constructor(database: IDBDatabase, build: string) {
    this.database = database;
    this.build = build;
  }

  get(key: string): Uint8Array | undefined {
    const value = this.fetched.get(key);
    this.fetched.delete(key);
    return value;
  }

  put(key: string, value: Uint8Array): void {
    this.write(key, value).catch(() => undefined);
  }

  async fetch(key: string): Promise<void> {
    try {
      const value: unknown = await requestResult(this.stores('readonly').values.get(key));
      if (!(value instanceof Uint8Array)) return;
      this.fetched.set(key, value);
      this.stores('readwrite').facts.put({ key, bytes: value.length, used: Date.now() } satisfies Facts);
    } catch {
      // A database that was deleted meanwhile has no values.
    }
  }

  private async write(key: string, value: Uint8Array): Promise<void> {
    const { values, facts } = this.stores('readwrite');
    values.put(value, key);
    facts.put({ key, bytes: value.length, used: Date.now() } satisfies Facts);
    const all = (await requestResult(facts.getAll())) as Facts[];
    let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= MOST_BYTES) return;
    for (const { key: oldest, bytes } of all.sort((a, b) => a.used - b.used)) {
      if (total <= KEPT_FRACTION * MOST_BYTES) return;
      values.delete(oldest);
      facts.delete(oldest);
      total -= bytes;
    }
  }

  private stores(mode: IDBTransactionMode): { readonly values: IDBObjectStore; readonly facts: IDBObjectStore } {
    const transaction = this.database.transaction([VALUES, FACTS], mode);
    return { values: transaction.objectStore(VALUES), facts: transaction.objectStore(FACTS) };
  }
}

function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
