/**
 * Compiled kernels and filled tables of one device, shared by everything that asks for the same ones.
 *
 * An entry that no plan uses any more is kept for later plans, up to a budget; the least recently used entry is dropped
 * first. So planning a known problem again is cheap, and ten thousand different plans do not pile up.
 */
import type { Backend, Binding, CompiledKernel, DeviceBuffer, RealArray } from '../../devices/device.ts';
import { arrayFor } from '../../devices/host-arrays.ts';
import { storageBytes, type Table } from '../../ir/index.ts';
import { fillTable } from './tables.ts';

interface CachedEntry<T> {
  readonly value: T;
  readonly cost: number;
  uses: number;
  lastUse: number;
}

/**
 * Counts uses; forgets unused entries, oldest first, beyond a budget.
 *
 * The age of an entry is a number. Moving an entry to the end of the map at each use would work as well, but leaves a chain of
 * outgrown hash tables behind that an engine's young-generation garbage collector takes for live ones.
 */
class Shelf<T> {
  private readonly entries = new Map<string, CachedEntry<T>>();
  private readonly budget: number;
  private readonly drop: (value: T) => void;
  private idle = 0;
  private clock = 0;

  constructor(budget: number, drop: (value: T) => void) {
    this.budget = budget;
    this.drop = drop;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  peek(key: string): T | undefined {
    return this.entries.get(key)?.value;
  }

  /** Adds a value without counting a use. */
  put(key: string, value: T, cost: number): void {
    this.entries.set(key, { value, cost, uses: 0, lastUse: ++this.clock });
    this.idle += cost;
  }

  take(key: string, make: () => { value: T; cost: number }): T {
    let entry = this.entries.get(key);
    if (!entry) this.entries.set(key, (entry = { uses: 0, lastUse: 0, ...make() }));
    else if (entry.uses === 0) this.idle -= entry.cost;
    entry.uses++;
    entry.lastUse = ++this.clock;
    return entry.value;
  }

  release(key: string): void {
    const entry = this.entries.get(key);
    if (!entry || --entry.uses > 0) return;
    this.idle += entry.cost;
    this.trim(this.budget);
  }

  /** Drops a value that turned out to be unusable. Plans that still use it are not told. */
  forget(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    if (entry.uses === 0) this.idle -= entry.cost;
    this.entries.delete(key);
    this.drop(entry.value);
  }

  /** Forgets unused entries until they cost no more than `budget`. */
  trim(budget: number): void {
    if (this.idle <= budget) return;
    const unused = [...this.entries].filter(([, { uses }]) => uses === 0);
    for (const [key, { value, cost }] of unused.sort(([, a], [, b]) => a.lastUse - b.lastUse)) {
      this.idle -= cost;
      this.entries.delete(key);
      this.drop(value);
      if (this.idle <= budget) return;
    }
  }
}

/** The values asked for most recently, by key. */
export class Recent<T> {
  private readonly entries = new Map<string, { readonly value: T; lastUse: number }>();
  private readonly most: number;
  private clock = 0;

  constructor(most: number) {
    this.most = most;
  }

  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry) entry.lastUse = ++this.clock;
    return entry?.value;
  }

  /** Adds a value, and forgets the least recently used one if there are too many. */
  set(key: string, value: T): void {
    this.entries.set(key, { value, lastUse: ++this.clock });
    if (this.entries.size <= this.most) return;
    let oldest: [string, number] = ['', Number.POSITIVE_INFINITY];
    for (const [other, { lastUse }] of this.entries) if (lastUse < oldest[1]) oldest = [other, lastUse];
    this.entries.delete(oldest[0]);
  }

  clear(): void {
    this.entries.clear();
  }
}

/** A compiled kernel, and whether the caller wants its reverse direction (`Kernel.reverse`). */
export interface Compiled {
  readonly kernel: CompiledKernel;
  readonly reverse: boolean;
}

/** A kernel that the cache did not have and that was made for it. */
export interface Made extends Compiled {
  /** The key of the opposite direction, if the kernel runs both ways and is kept under both keys. */
  readonly other?: string;
}

/** The most unused kernels that are kept. */
const KERNEL_BUDGET = 128;
/** The most bytes of unused tables that are kept. */
const TABLE_BUDGET = 16 * 2 ** 20;

export class KernelCache {
  private readonly backend: Backend;
  private readonly kernels: Shelf<Compiled>;
  /** Kernels that run both ways and are kept under both keys. */
  private readonly keptTwice = new Set<CompiledKernel>();
  private readonly tables: Shelf<DeviceBuffer>;
  /** Tables whose memory is allocated but not filled. */
  private readonly empty = new Map<DeviceBuffer, Table>();
  /**
   * Contents of tables in device memory, by table key, while a plan is being made whose tables are to be written to the cache of code:
   * host code cannot read them back. `forgetContents` ends that.
   */
  private readonly contents = new Map<string, RealArray>();
  /** Tables whose contents are on their way to the device. */
  private readonly filling = new Set<Promise<void>>();
  /** Errors of copying tables to the device, by table key. */
  private readonly failures = new Map<string, unknown>();

  constructor(backend: Backend) {
    this.backend = backend;
    this.kernels = new Shelf(KERNEL_BUDGET, ({ kernel }) => {
      if (!this.keptTwice.delete(kernel)) backend.discard(kernel);
    });
    this.tables = new Shelf(TABLE_BUDGET, (buffer) => {
      this.empty.delete(buffer);
      buffer.free();
    });
  }

  /** @param make makes the kernel if the cache has none; its argument `known` tells whether the cache has a kernel for a key. */
  kernel(key: string, make: (known: (key: string) => boolean) => Made): Compiled {
    return this.kernels.take(key, () => {
      const { kernel, reverse, other } = make((key) => this.kernels.has(key));
      if (other !== undefined) {
        this.keptTwice.add(kernel);
        this.kernels.put(other, { kernel, reverse: !reverse }, 1);
      }
      return { value: { kernel, reverse }, cost: 1 };
    });
  }

  /** A kernel that fuses several kernels of a program, made by `make` if the cache has none; undefined if the device cannot fuse them. */
  pipelined(key: string, make: () => CompiledKernel | undefined): CompiledKernel | undefined {
    const made = this.kernels.has(key) ? undefined : make();
    if (!made && !this.kernels.has(key)) return undefined;
    return this.kernels.take(key, () => ({ value: { kernel: made!, reverse: false }, cost: 1 })).kernel;
  }

  /** The memory of a table. New memory is filled by `fillTables`. */
  table(table: Table): Binding {
    const make = () => {
      const buffer = this.backend.allocate(table.length * storageBytes(table.type));
      this.failures.delete(table.key);
      if (!this.backend.withoutMemory) this.empty.set(buffer, table);
      return { value: buffer, cost: buffer.bytes };
    };
    return { buffer: this.tables.take(table.key, make), byteOffset: 0 };
  }

  /**
   * Fills new tables. The host does this after all kernels have been handed to compilers, which run in the meantime.
   * @throws FftError the error of the first table that cannot be filled
   */
  fillTables(): void {
    for (const [buffer, table] of this.empty) {
      this.empty.delete(buffer);
      try {
        this.follow(table.key, this.fill(buffer, table));
      } catch (error) {
        this.fail(table.key, error);
        throw error;
      }
    }
  }

  /** Resolves when the contents of all tables are on the device. @throws FftError (as a rejection) where one is not. */
  async filled(): Promise<void> {
    await Promise.all(this.filling);
  }

  /** @throws FftError the error of a table that could not be filled: a program would compute wrong results with it. */
  requireTables(keys: Iterable<string>): void {
    this.fillTables();
    for (const key of keys) if (this.failures.has(key)) throw this.failures.get(key);
  }

  /** The contents of a table. */
  contentsOf(table: Table): RealArray {
    const known = this.tables.peek(table.key)?.view?.(table.type) ?? this.contents.get(table.key);
    if (known) return known;
    const data = arrayFor(table.type, table.length);
    fillTable(data, table);
    return data;
  }

  forgetContents(): void {
    this.contents.clear();
  }

  /** @returns the copy to the device, where one is needed. */
  private fill(buffer: DeviceBuffer, table: Table): Promise<void> | undefined {
    const direct = buffer.view?.(table.type);
    const data = direct ?? arrayFor(table.type, table.length);
    // Gaps between the numbers of a table are never read, but they would be written to the cache of code with old contents of the memory.
    if (direct && this.backend.store) data.fill(0);
    fillTable(data, table);
    if (direct) return undefined;
    if (this.backend.store) this.contents.set(table.key, data);
    return this.backend.upload({ buffer, byteOffset: 0 }, data);
  }

  private follow(key: string, upload: Promise<void> | undefined): void {
    if (!upload) return;
    const filling = upload.catch((error) => {
      this.fail(key, error);
      throw error;
    });
    this.filling.add(filling);
    const end = () => this.filling.delete(filling);
    filling.then(end, end);
  }

  private fail(key: string, error: unknown): void {
    this.failures.set(key, error);
    // The next plan that wants the table makes it anew.
    this.tables.forget(key);
  }

  release(kernelKey: string, tables: readonly Table[]): void {
    this.kernels.release(kernelKey);
    for (const table of tables) this.tables.release(table.key);
  }

  /** Drops all entries that no plan uses. */
  clear(): void {
    this.kernels.trim(0);
    this.tables.trim(0);
  }
}
