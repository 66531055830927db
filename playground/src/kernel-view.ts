/** Kernels: a button for each, and the source of the one that is chosen. */

import type { PlanKernel } from 'omnifft';
import { bytesText } from '../../src/engine/explaining/explain.ts';
import { byId, html } from './dom.ts';
import { wasmText } from './wasm-text.ts';

const LANGUAGES: Readonly<Record<string, string>> = { wasm: 'WebAssembly', wgsl: 'WGSL' };

/** A kernel of a plan or of a program. */
interface Kernel extends Pick<PlanKernel, 'name' | 'language' | 'source'> {
  /** On its button. */
  readonly label: string;
}

/** Texts take a moment to make: the last one asked for is shown. */
let wanted: Kernel | undefined;

export async function showKernels(kernels: readonly Kernel[]): Promise<void> {
  const list = byId('kernel-list');
  const buttons = kernels.map((kernel) => {
    const button = html('button', { type: 'button', 'aria-pressed': 'false' }, kernel.label);
    button.addEventListener('click', () => choose(button, kernel));
    return button;
  });
  const choose = (button: HTMLButtonElement, kernel: Kernel) => {
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
    return showSource(kernel);
  };
  list.replaceChildren(...buttons);
  if (buttons[0] && kernels[0]) await choose(buttons[0], kernels[0]);
}

async function showSource(kernel: Kernel): Promise<void> {
  wanted = kernel;
  const { name, language, source } = kernel;
  const text = typeof source === 'string' ? source : await wasmText(source);
  if (wanted !== kernel) return;
  const size = typeof source === 'string' ? new TextEncoder().encode(source).length : source.length;
  const links =
    typeof source === 'string'
      ? [saving(source, `${name}.${language}`)]
      : [saving(source.slice(), `${name}.wasm`), ' ', saving(text, `${name}.wat`)];
  const pre = byId('kernel-source');
  byId('kernel-facts').replaceChildren(
    `${LANGUAGES[language] ?? language}, ${bytesText(size)}, ${text.split('\n').length} lines: `,
    ...links,
  );
  pre.textContent = text;
  pre.dataset.language = language;
  pre.scrollTop = 0;
}

/** A link that saves something as a file. */
function saving(content: BlobPart, file: string): HTMLElement {
  const link = html('a', { href: '#', download: file }, file);
  link.addEventListener('click', () => {
    const url = URL.createObjectURL(new Blob([content]));
    link.href = url;
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  return link;
}
