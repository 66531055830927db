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
    // Below the program, where it covers none of it.
    block.after(button, output);
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

/** Entries of one axis, or fields of one object, that are shown. */
const SHOWN = 16;
/** Objects and lists inside one another. */
const DEPTH = 3;

/** A value as people read it: long arrays cut, arrays with a shape row by row, complex numbers as sums. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : shown(value, DEPTH);
}

function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number') return digits(value);
  if (value instanceof Error) return String(value);
  if (isNumbers(value))
    return `${value.constructor.name}(${value.length}) ${listed(Array.from(value.slice(0, SHOWN + 1), entry))}`;
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? 'a function' : String(value);
  if (isShaped(value)) return rows(value);
  if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value)) return listed(value.slice(0, SHOWN + 1).map((inner) => shown(inner, depth - 1)));
  const fields = Object.entries(value).slice(0, SHOWN + 1);
  return `{ ${cut(fields.map(([name, inner]) => `${name}: ${shown(inner, depth - 1)}`)).join(', ')} }`;
}

type Numbers = ArrayLike<number | bigint> & { slice(from: number, to: number): ArrayLike<number | bigint> };

function isNumbers(value: unknown): value is Numbers {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function entry(value: number | bigint): string {
  return typeof value === 'bigint' ? String(value) : digits(value);
}

function digits(value: number): string {
  return Object.is(value, -0) ? '0' : String(Number(value.toPrecision(6)));
}

function cut(parts: readonly string[]): readonly string[] {
  return parts.length > SHOWN ? [...parts.slice(0, SHOWN), '…'] : parts;
}

function listed(parts: readonly string[]): string {
  return `[${cut(parts).join(', ')}]`;
}

interface ShapedArray {
  readonly data: Float32Array | Float64Array;
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** What `omnifft/numpy` works on. */
function isShaped(value: object): value is ShapedArray {
  const { data, shape, dtype } = value as Partial<ShapedArray>;
  return isNumbers(data) && Array.isArray(shape) && typeof dtype === 'string';
}

/** Rows below one another, as NumPy prints them. */
function rows({ data, shape, dtype }: ShapedArray): string {
  const parts = dtype.startsWith('complex') ? 2 : 1;
  const number = (at: number) => (parts === 1 ? digits(data[at]!) : complex(data[2 * at]!, data[2 * at + 1]!));
  const level = (axis: number, at: number): string => {
    const length = shape[axis];
    if (length === undefined) return number(at);
    const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
    const most = axis + 1 < shape.length ? SHOWN / 2 : SHOWN;
    const some = Array.from({ length: Math.min(length, most) }, (_, k) => level(axis + 1, at + k * inner));
    const between = axis + 1 < shape.length ? `,\n${' '.repeat(axis + 1)}` : ', ';
    return `[${[...some, ...(length > most ? ['…'] : [])].join(between)}]`;
  };
  return `${dtype}, shape [${shape.join(', ')}]\n${level(0, 0)}`;
}

function complex(re: number, im: number): string {
  return `${digits(re)} ${im < 0 ? '−' : '+'} ${digits(Math.abs(im))}i`;
}
