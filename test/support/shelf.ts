/** A store of compiled code in this process's memory, in the place of a folder. */
import type { CodeStore } from '../../src/devices/code-cache/store.ts';

export class Shelf implements CodeStore {
  readonly build = 'test';
  readonly entries = new Map<string, Uint8Array>();

  get(key: string): Uint8Array | undefined {
    return this.entries.get(key);
  }

  put(key: string, value: Uint8Array): void {
    this.entries.set(key, value.slice());
  }

  /** Keys of one kind of entries: `plan`, `binary` … */
  keys(what: string): string[] {
    return [...this.entries.keys()].filter((key) => key.startsWith(`["${what}"`));
  }
}
