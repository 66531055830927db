/** Plans that a page keeps in a database. */
import { openDevice } from '../../../src/index.ts';

export interface KeptPage {
  tryKept(cache: boolean | string | undefined): Promise<{
    readonly results: readonly number[];
    readonly entries: number;
    /** Values that were written meanwhile. */
    readonly written: number;
  }>;
}

/** Writes of values since the page began. */
let written = 0;
const { put } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...given: Parameters<typeof put>) {
  if (this.name === 'values') written++;
  return put.apply(this, given);
};

const signal = (length: number) => Float32Array.from({ length }, (_, n) => Math.sin(n * n));

async function entriesOf(name: string): Promise<number> {
  const known = await indexedDB.databases();
  if (!known.some((database) => database.name === name)) return 0;
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const counting = opening.result.transaction('values').objectStore('values').count();
      counting.onsuccess = () => {
        opening.result.close();
        resolve(counting.result);
      };
    };
  });
}

Object.assign(globalThis, {
  async tryKept(cache) {
    const before = written;
    const device = await openDevice('cpu', { threads: 1, cache });
    const plan = await device.plan({ size: [300], transform: 'r2c' });
    const results = [...(await plan.forward(signal(300)))];
    plan.serialize();
    plan.explain();
    device.close();
    const entries = await entriesOf(typeof cache === 'string' ? cache : 'omnifft');
    return { results, entries, written: written - before };
  },
} satisfies KeptPage);
