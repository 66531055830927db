/** Code of kernels for one device, kept by the text that it was compiled from and by what compiled it. */
import { type CodeStore, keyOf } from '../code-cache/store.ts';
import type { CodeFacts } from '../device.ts';

/** Compiled code, and whether the compiler has made it just now: what was kept may be refused after all, and is compiled anew then. */
export interface KernelCode {
  readonly bytes: Uint8Array;
  readonly fresh: boolean;
}

export class Binaries {
  private readonly store: CodeStore | undefined;
  private readonly facts: CodeFacts;

  /** @param facts what code depends on beside its text. */
  constructor(store: CodeStore | undefined, facts: CodeFacts) {
    this.store = store;
    this.facts = facts;
  }

  /** Whether code is kept at all: some drivers compile a second time to hand out a binary, which nobody would read then. */
  get keepsCode(): boolean {
    return this.store !== undefined;
  }

  /** The kept binary of a source, a text or SPIR-V; undefined if there is none. */
  find(source: string | Uint8Array): KernelCode | undefined {
    const { store } = this;
    const bytes = store?.get(keyOf('binary', store, [this.facts, textOf(source)]));
    return bytes && { bytes, fresh: false };
  }

  /** Keeps what a source was compiled to. */
  keep(source: string | Uint8Array, bytes: Uint8Array): KernelCode {
    const { store } = this;
    if (bytes.length > 0) store?.put(keyOf('binary', store, [this.facts, textOf(source)]), bytes);
    return { bytes, fresh: true };
  }
}

/** One character for each byte. */
function textOf(source: string | Uint8Array): string {
  return typeof source === 'string' ? source : new TextDecoder('latin1').decode(source);
}
