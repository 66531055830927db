/** The text of the problem field: what it asks for, and what is wrong with it. */
import { FftError, type ProblemInput } from 'omnifft';
import { lengthsAlone } from '../../src/problem/normalize/descriptor.ts';
import { html } from './dom.ts';

export const SAMPLES = [
  '1024',
  '256x256',
  'scfo1024',
  'srfo1024',
  'scfo4096*64',
  'dcfo1000*8',
  'scfo1009',
  'drfo256x256',
  'scfo1048576',
  '{ "size": [360], "batches": 10, "layout": "planar" }',
] as const;

/** What cannot even be read as a problem. */
export class UnreadableText extends Error {
  readonly position: number | undefined;

  constructor(message: string, position: number | undefined) {
    super(message);
    this.position = position;
  }
}

/**
 * A descriptor, lengths alone, or the object that JSON text describes. Whether it is a good problem is for the library to say.
 * @throws UnreadableText
 */
export function readProblem(text: string): ProblemInput | string {
  const trimmed = text.trim();
  const lengths = lengthsAlone(trimmed);
  if (lengths) return lengths;
  if (!trimmed.startsWith('{')) return trimmed;
  try {
    return JSON.parse(trimmed) as ProblemInput;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const position = /position (\d+)/.exec(message)?.[1];
    const before = text.length - text.trimStart().length;
    throw new UnreadableText(
      `This is not JSON: ${message}.`,
      position === undefined ? undefined : Number(position) + before,
    );
  }
}

/** Position in the text that an error is about, where it tells one. */
function positionOf(error: unknown, text: string): number | undefined {
  if (error instanceof UnreadableText) return error.position;
  if (!(error instanceof FftError) || error.code !== 'invalid-descriptor') return undefined;
  const position = /wrong at position (\d+)/.exec(error.message)?.[1];
  return position === undefined ? undefined : Number(position) + text.length - text.trimStart().length;
}

/** Shows an error below its field: a caret under the place, then everything that was found. */
export function showProblemError(field: HTMLTextAreaElement, area: HTMLElement, error: unknown): void {
  const text = field.value;
  const position = positionOf(error, text);
  field.setAttribute('aria-invalid', 'true');
  area.replaceChildren(...caret(text, position), ...lines(error));
  if (position === undefined) return;
  area.dataset.position = String(position);
  field.focus();
  field.setSelectionRange(position, Math.min(text.length, position + 1));
}

export function clearProblemError(field: HTMLTextAreaElement, area: HTMLElement): void {
  field.removeAttribute('aria-invalid');
  delete area.dataset.position;
  area.replaceChildren();
}

/** The line with the place, and a caret under it; nothing to point at in a text of several lines that is all wrong. */
function caret(text: string, position: number | undefined): HTMLElement[] {
  if (position === undefined) return [];
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0] ?? '';
  return [html('pre', { 'aria-hidden': 'true' }, `${line}\n${' '.repeat(position - start)}▲`)];
}

/** One line for each thing that is wrong. */
export function lines(error: unknown): HTMLElement[] {
  if (error instanceof FftError) {
    return error.problems.map(({ code, path, message }) =>
      html('p', {}, message, ' ', html('code', {}, path ? `${code}, ${path}` : code)),
    );
  }
  return [html('p', {}, error instanceof Error ? error.message : String(error))];
}
