/** The kernels of a plan: a button for each, and the source of the one that is chosen. */
import { bytesText } from '../../src/engine/index.ts';
import type { Plan, PlanKernel } from '../../src/index.ts';
import { byId, html } from './dom.ts';
import { wasmSummary } from './wasm-summary.ts';

const LANGUAGES: Readonly<Record<string, string>> = { wasm: 'WebAssembly', wgsl: 'WGSL' };

export function showKernels(plan: Plan): void {
  const list = byId('kernel-list');
  const kernels = plan.kernels;
  const buttons = kernels.map((kernel) => {
    const button = html('button', { type: 'button', 'aria-pressed': 'false' }, `${kernel.direction}: ${kernel.title}`);
    button.addEventListener('click', () => choose(button, kernel));
    return button;
  });
  const choose = (button: HTMLButtonElement, kernel: PlanKernel) => {
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
    showSource(kernel);
  };
  list.replaceChildren(...buttons);
  if (buttons[0] && kernels[0]) choose(buttons[0], kernels[0]);
}

function showSource({ name, language, source }: PlanKernel): void {
  const pre = byId('kernel-source');
  const text = typeof source === 'string' ? source : wasmSummary(source);
  const size = typeof source === 'string' ? new TextEncoder().encode(source).length : source.length;
  const save = html('a', { href: '#', download: `${name}.${language}` }, 'save');
  save.addEventListener('click', () => {
    const content = typeof source === 'string' ? source : source.slice();
    const url = URL.createObjectURL(new Blob([content]));
    save.href = url;
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  byId('kernel-facts').replaceChildren(`${name}, ${LANGUAGES[language] ?? language}, ${bytesText(size)}: `, save);
  pre.textContent = text;
  pre.dataset.language = language;
  pre.scrollTop = 0;
}
