/** The programs of the guides run in the page that shows them, by the library beside it. */

/** What each entry of the package is called in dist/browser/. */
const FILES: Readonly<Record<string, string>> = {
  omnifft: 'omnifft',
  'omnifft/sync': 'sync',
  'omnifft/numeric': 'numeric',
  'omnifft/numpy': 'numpy',
  'omnifft/numpy/sync': 'numpy-sync',
  'omnifft/signal': 'signal',
  'omnifft/signal/sync': 'signal-sync',
};

/** Puts a button beside every program that needs nothing but the library. @param library where its modules are */
export function runPrograms(page: HTMLElement, library: string): void {
  for (const block of page.querySelectorAll<HTMLElement>('.language-js:not([data-program])')) {
    block.dataset.program = '';
    const code = block.querySelector('code')?.textContent ?? '';
    const module = moduleOf(code, new URL(library, location.href).href);
    if (module === undefined) continue;
    const button = Object.assign(document.createElement('button'), {
      className: 'run',
      textContent: 'Run',
      type: 'button',
    });
    const output = Object.assign(document.createElement('pre'), { className: 'output', hidden: true });
    output.setAttribute('role', 'status');
    button.addEventListener('click', () => void run(module, button, output));
    block.append(button);
    block.after(output);
  }
}

/** The program as a module for this page; undefined where a page cannot run it. */
function moduleOf(code: string, library: string): string | undefined {
  const imports = [...code.matchAll(/^import .*? from '([^']+)';$/gms)].map(([, name = '']) => name);
  if (imports.length === 0 || !imports.every((name) => name in FILES) || /\bprocess\./.test(code)) return undefined;
  const linked = code.replace(/ from '(omnifft[^']*)';/g, (_, name) => ` from '${library}${FILES[name]}.js';`);
  return linked;
}

let runs = 0;

async function run(module: string, button: HTMLButtonElement, output: HTMLPreElement): Promise<void> {
  button.disabled = true;
  output.hidden = false;
  output.textContent = '';
  const say = (...values: unknown[]) => output.append(`${values.map(text).join(' ')}\n`);
  // A console of its own: others may run meanwhile.
  const name = `omnifftConsole${runs++}`;
  Object.assign(globalThis, { [name]: { log: say, error: say, warn: say } });
  const code = `const console = globalThis.${name};\n${module}`;
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  try {
    await import(/* @vite-ignore */ url);
  } catch (error) {
    say(String(error));
  } finally {
    URL.revokeObjectURL(url);
    button.disabled = false;
    output.dataset.done = '';
  }
}

/** A value as a console shows it, long arrays cut. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = value as Float32Array;
    const shown = Array.from(numbers.slice(0, 16), (number) => String(Number(number.toPrecision(6))));
    return `${value.constructor.name}(${numbers.length}) [${shown.join(', ')}${numbers.length > 16 ? ', …' : ''}]`;
  }
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return String(value);
  }
}
