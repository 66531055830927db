/**
 * Compiled kernels and filled tables of one device, shared by everything that asks for the same ones.
 *
 * An entry that no plan uses any more stays for the next plan like it, up to a budget; the least recently used goes
 * first. That makes a plan the device has seen cheap without letting ten thousand different plans pile up.
 */
import type { Backend, Binding, CompiledKernel, DeviceBuffer } from '../devices/device.ts';
import type { Kernel, Table } from '../ir/index.ts';
import { unitRoot } from '../numeric/roots.ts';
import { FftError } from '../problem/index.ts';

interface Entry<T> {
  readonly value: T;
  readonly cost: number;
  uses: number;
}

/** Counts uses; forgets unused entries, oldest first, beyond a budget. */
class Shelf<T> {
  private readonly entries = new Map<string, Entry<T>>();
  private readonly budget: number;
  private readonly drop: (value: T) => void;
  private idle = 0;

  constructor(budget: number, drop: (value: T) => void) {
    this.budget = budget;
    this.drop = drop;
  }

  take(key: string, make: () => { value: T; cost: number }): T {
    let entry = this.entries.get(key);
    if (entry) {
      if (entry.uses === 0) this.idle -= entry.cost;
      this.entries.delete(key);
    } else entry = { ...make(), uses: 0 };
    entry.uses++;
    this.entries.set(key, entry);
    return entry.value;
  }

  release(key: string): void {
    const entry = this.entries.get(key);
    if (!entry || --entry.uses > 0) return;
    this.idle += entry.cost;
    this.trim(this.budget);
  }

  /** Forgets unused entries until they cost no more than `budget`. */
  trim(budget: number): void {
    for (const [key, entry] of this.entries) {
      if (this.idle <= budget) return;
      if (entry.uses > 0) continue;
      this.idle -= entry.cost;
      this.entries.delete(key);
      this.drop(entry.value);
    }
  }
}

/** Unused kernels that are kept. */
const KERNEL_BUDGET = 128;
/** Bytes of unused tables that are kept. */
const TABLE_BUDGET = 16 * 2 ** 20;

export class KernelCache {
  private readonly backend: Backend;
  private readonly kernels: Shelf<CompiledKernel>;
  private readonly tables: Shelf<DeviceBuffer>;

  constructor(backend: Backend) {
    this.backend = backend;
    this.kernels = new Shelf(KERNEL_BUDGET, (kernel) => backend.discard(kernel));
    this.tables = new Shelf(TABLE_BUDGET, (buffer) => buffer.free());
  }

  kernel(key: string, build: () => Kernel): CompiledKernel {
    return this.kernels.take(key, () => ({ value: this.backend.compile(build()), cost: 1 }));
  }

  table(table: Table): Binding {
    const make = () => {
      const buffer = this.backend.allocate(table.length * (table.type === 'f32' ? 4 : 8));
      try {
        fill(this.backend, buffer, table);
      } catch (error) {
        buffer.free();
        throw error;
      }
      return { value: buffer, cost: buffer.bytes };
    };
    return { buffer: this.tables.take(table.key, make), byteOffset: 0 };
  }

  release(kernelKey: string, tables: readonly Table[]): void {
    this.kernels.release(kernelKey);
    for (const table of tables) this.tables.release(table.key);
  }

  /** Gives back all that no plan uses. */
  clear(): void {
    this.kernels.trim(0);
    this.tables.trim(0);
  }
}

function fill(backend: Backend, buffer: DeviceBuffer, table: Table): void {
  const direct = buffer.view?.(table.type);
  const data = direct ?? (table.type === 'f32' ? new Float32Array(table.length) : new Float64Array(table.length));
  const roots = [...table.roots()];
  // Passes ask for roots of orders that divide the longest one's: one generator serves them all.
  const order = roots.reduce((largest, { q }) => Math.max(largest, q), 1);
  const longest = unitRoot(order);
  const value = new Float64Array(4);
  for (const { p, q, re, im } of roots) {
    if (order % q === 0) longest.at(p * (order / q), value);
    else unitRoot(q).at(p, value);
    data[re] = value[0]!;
    data[im] = value[2]!;
  }
  if (!direct) backend.upload({ buffer, byteOffset: 0 }, data).catch(() => undefined);
}

/** For code that must not go on after something that cannot happen. */
export function impossible(what: string): never {
  throw new FftError('internal-error', `${what}: this is a mistake in omnifft, please report it.`);
}
