/** Compiled kernels of one device in the cache of code. Their keys are the source and the facts of device, driver and compiler. */
import { type CodeStore, entryKey } from '../code-cache/store.ts';
import type { CodeFacts } from '../device.ts';

/** Compiled code, and whether it was compiled just now: the driver may reject kept code, which is compiled anew then. */
export interface KernelCode {
  readonly bytes: Uint8Array;
  readonly fresh: boolean;
}

export class Binaries {
  private readonly store: CodeStore | undefined;
  private readonly facts: CodeFacts;

  /** @param facts the facts that code depends on besides its source. */
  constructor(store: CodeStore | undefined, facts: CodeFacts) {
    this.store = store;
    this.facts = facts;
  }

  /** Whether code is kept at all. If not, no binary is asked for, because some drivers compile a second time to give one. */
  get keepsCode(): boolean {
    return this.store !== undefined;
  }

  /** The kept binary of a source, a text or SPIR-V; undefined if there is none. */
  find(source: string | Uint8Array): KernelCode | undefined {
    const { store } = this;
    const bytes = store?.get(entryKey('binary', store, [this.facts, textOfSource(source)]));
    return bytes && { bytes, fresh: false };
  }

  /** Keeps the compiled code of a source. */
  keep(source: string | Uint8Array, bytes: Uint8Array): KernelCode {
    const { store } = this;
    if (bytes.length > 0) store?.put(entryKey('binary', store, [this.facts, textOfSource(source)]), bytes);
    return { bytes, fresh: true };
  }
}

/** The source as text, with one character for each byte of SPIR-V. */
function textOfSource(source: string | Uint8Array): string {
  return typeof source === 'string' ? source : new TextDecoder('latin1').decode(source);
}
